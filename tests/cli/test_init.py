"""``mcls init``: a starter that runs, for awkward file names too."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from mcls.cli.app import main
from mcls.experiments.experiment import Experiment
from mcls.experiments.loading import load_config


def call(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(args))
    return int(ended.value.code or 0)


def write_table(path: Path) -> None:
    rows = [f"{i % 7},{i * 3 % 5},{'ab'[i % 2]}" for i in range(40)]
    path.write_text("u,v,kind: 'of' #1\n" + "\n".join(rows) + "\n")


@pytest.mark.parametrize("name", ["my.csv", 'we"ird # näme: x.csv', "{a}.csv"])
def test_the_starter_is_valid_and_commented(tmp_path, monkeypatch, capsys, name):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / name)
    assert call("init", name, "--target", "kind: 'of' #1", "-o", "lab.yaml") == 0
    assert "mcls run lab.yaml" in capsys.readouterr().out
    text = (tmp_path / "lab.yaml").read_text()
    assert text.count("#") > 10
    config = load_config(tmp_path / "lab.yaml")
    assert config.protocol == "nested"
    assert config.datasets[0].path == name
    assert len(Experiment.laid_out(config, tmp_path, tmp_path).plan.rows) == 4


def test_paths_are_relative_to_the_config_and_the_default_name_is_the_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "lab").mkdir()
    write_table(tmp_path / "data/my table.csv")
    assert call("init", "data/my table.csv", "-o", "lab/x.yaml") == 0
    assert yaml.safe_load((tmp_path / "lab/x.yaml").read_text())["datasets"][0]["path"] == "../data/my table.csv"
    assert call("init", "data/my table.csv") == 0
    assert (tmp_path / "my-table.yaml").is_file()
    assert call("validate", "my-table.yaml") == 0
    # What is there is never overwritten.
    before = (tmp_path / "my-table.yaml").read_bytes()
    assert call("init", "data/my table.csv") == 2
    assert "exists already" in capsys.readouterr().err
    assert (tmp_path / "my-table.yaml").read_bytes() == before


@pytest.mark.parametrize("stem", ["2024", "true", "null"])
def test_a_name_that_yaml_reads_as_something_else(tmp_path, monkeypatch, stem):
    monkeypatch.chdir(tmp_path)
    write_table(tmp_path / f"{stem}.csv")
    assert call("init", f"{stem}.csv") == 0
    assert load_config(tmp_path / f"{stem}.yaml").name == stem


def test_bad_tables_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert call("init", "none.csv") == 2
    write_table(tmp_path / "my.csv")
    assert call("init", "my.csv", "--target", "kinds") == 2
    assert "kinds" in capsys.readouterr().err
    assert sorted(p.name for p in tmp_path.iterdir()) == ["my.csv"]


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("u,kind\n1,a\n2,a\n", "my.csv: column 'kind' holds one class only: 'a'"),
        ("u,kind\n", "my.csv has a header but no rows"),
        ("u,kind\n1,a\n2,b\n", "every class here has one"),
    ],
)
def test_what_mcls_fit_refuses_is_refused(tmp_path, monkeypatch, capsys, text, complaint):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.csv").write_text(text)
    said = []
    for command in ("init", "fit"):
        assert call(command, "my.csv") == 2
        said.append(capsys.readouterr().err)
    assert said[0] == said[1]
    assert complaint in said[0]
    assert [p.name for p in tmp_path.iterdir()] == ["my.csv"]


def test_whether_there_is_a_header_goes_into_the_config(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "words.csv").write_text(
        "red,small,a\nblue,large,b\nred,large,a\nblue,small,b\n" * 5
    )  # no numbers tell
    assert call("init", "words.csv") == 2
    assert "--header or --no-header" in capsys.readouterr().err
    for option, header, rows in (("--no-header", False, 20), ("--header", True, 19)):
        assert call("init", "words.csv", option, "-o", f"of{rows}.yaml") == 0
        assert load_config(tmp_path / f"of{rows}.yaml").datasets[0].header is header
        assert f"# {rows} rows" in (tmp_path / f"of{rows}.yaml").read_text()
        assert call("validate", f"of{rows}.yaml") == 0
        # Two different rows of each class cannot be kept apart and be chosen from.
        assert load_config(tmp_path / f"of{rows}.yaml").datasets[0].split_equal_rows is True
    assert "header:" not in _starter_of_a_plain_table(tmp_path)


def _starter_of_a_plain_table(folder: Path) -> str:
    write_table(folder / "my.csv")
    assert call("init", "my.csv") == 0
    return (folder / "my.yaml").read_text()


def test_columns_of_text_are_taken_as_mcls_fit_takes_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 7},{('red', 'blue', 'green')[i % 3]},{'ab'[i % 2]}" for i in range(40)]
    (tmp_path / "my.csv").write_text("size,hue,kind\n" + "\n".join(rows) + "\n")
    assert call("init", "my.csv", "--target", "kind") == 0
    assert "# 40 rows, 4 features, 2 classes" in (tmp_path / "my.yaml").read_text()
    assert call("validate", "my.yaml") == 0
    capsys.readouterr()
    # A column that cannot be learnt from is told with what to do.
    (tmp_path / "named.csv").write_text(
        "size,who,kind\n" + "\n".join(f"{i**2},n{i},{'ab'[i % 2]}" for i in range(40))
    )
    assert call("init", "named.csv", "--target", "kind") == 2
    assert "column 'who' has 40 different texts in 40 rows" in (err := capsys.readouterr().err)
    assert "leave it out with --drop who" in err
    assert call("init", "named.csv", "--target", "kind", "--drop", "who", "-o", "less.yaml") == 0
    assert load_config(tmp_path / "less.yaml").datasets[0].drop == ["who"]
    assert call("validate", "less.yaml") == 0


def test_equal_rows_and_columns_that_count_rows_go_into_the_config(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{i % 3},{i % 5},{'ab'[i % 2]}" for i in range(60)]
    (tmp_path / "my.csv").write_text("id,p,q,kind\n" + "\n".join(rows) + "\n")
    assert call("init", "my.csv") == 2
    assert "--drop id or use it with --keep id" in capsys.readouterr().err
    assert call("init", "my.csv", "--keep", "id", "-o", "kept.yaml") == 0
    assert load_config(tmp_path / "kept.yaml").datasets[0].keep == ["id"]
    assert "split_equal_rows" not in (tmp_path / "kept.yaml").read_text()
    assert call("init", "my.csv", "--drop", "id") == 0
    assert "split_equal_rows: false  # 45 of 60 rows repeat" in (tmp_path / "my.yaml").read_text()
    capsys.readouterr()
    assert call("run", "my.yaml", "--dry-run") == 0
    assert "my: 45 of 60 rows repeat the features of an earlier row" in capsys.readouterr().err
