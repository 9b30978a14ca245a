"""``mcls validate``: what it says of a good config, and that it looks at the data."""

from __future__ import annotations

import pytest

from mcls.cli.app import main


def test_says_how_much_work_it_is(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["validate", "iris"])
    assert ended.value.code == 0
    out = capsys.readouterr().out
    assert "iris.yaml: ok: 1 data set, 7 machines, 10 replicates, protocol published: 70 cells" in out


@pytest.mark.parametrize(
    "table, expected",
    [
        (None, "datasets[0]"),
        ("a,b,sort\n1,2,x\n3,,y\n", "missing"),
        ("a,b,kind\n1,2,x\n3,4,y\n", "lab: datasets[0]"),
    ],
)
def test_looks_at_the_data(tmp_path, capsys, table, expected):
    if table is not None:
        (tmp_path / "t.csv").write_text(table)
    (tmp_path / "lab.yaml").write_text("datasets: {path: t.csv, target: sort}\nmachines: oneLSM\n")
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(tmp_path / "lab.yaml")])
    err = capsys.readouterr().err
    assert ended.value.code == 2
    assert expected in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("machine, named", [("szedmak", "vo-SVM"), ("voLSSVM, options: {bias: true}", "vo-LSSVM")])
@pytest.mark.parametrize("book, refused", [("pm1", True), ("indicators", True), ("alignment", False)])
def test_refuses_a_labelbook_that_the_machine_will_refuse(tmp_path, capsys, book, refused, machine, named):
    machines = f"[oneLSM, {{name: {machine}, labelbook: [consistency, {book}]}}]"
    (tmp_path / "lab.yaml").write_text(f"datasets: iris\nmachines: {machines}\n")
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(tmp_path / "lab.yaml")])
    err = capsys.readouterr().err
    assert ended.value.code == (2 if refused else 0)
    if refused:
        assert "lab: machines[1]: " in err
        assert f"labelbook={book}" in err
        assert f" on iris: the {named} with a bias is degenerate" in err
        assert err.count("\n") == 1


def test_takes_pm1_where_two_classes_make_it_sound(tmp_path, capsys):
    (tmp_path / "t.csv").write_text("a,b,kind\n" + "".join(f"{i**2},{i % 3},{'xy'[i % 2]}\n" for i in range(20)))
    (tmp_path / "lab.yaml").write_text("datasets: t.csv\nmachines: szedmak:labelbook=pm1\n")
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(tmp_path / "lab.yaml")])
    assert ended.value.code == 0
