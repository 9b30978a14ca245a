"""``mcls store verify``: what is damaged is listed, and forgotten when asked."""

from __future__ import annotations

import pytest

from mcls.cli.app import main


def call(capsys, *args: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as ended:
        main([str(arg) for arg in args])
    return (ended.value.code, *capsys.readouterr())


def test_verify_lists_and_repairs(tmp_path, capsys):
    config = tmp_path / "lab.yaml"
    config.write_text(
        "datasets: iris:sample=60\nmachines: oneLSM\nfolds: 3\nreplicates: 3\ngrid: {gamma: 1, sigma: 1}\n"
    )
    run = ["run", config, "--out", tmp_path / "out", "-j", 1]
    call(capsys, *run)
    assert call(capsys, "store", "verify", tmp_path / "out") == (0, "3 cells sound, 0 damaged\n", "")
    damaged = sorted((tmp_path / "out/lab/cells").iterdir())[1]
    damaged.write_bytes(damaged.read_bytes().replace(b'"replicate": ', b'"replicate":  '))
    code, out, _ = call(capsys, "store", "verify", tmp_path / "out")
    assert code == 1
    assert out.splitlines()[0] == f"damaged: {damaged}: its checksum does not fit"
    assert "2 cells sound, 1 damaged, --repair removes them" in out
    code, out, _ = call(capsys, "store", "verify", tmp_path / "out", "--repair")
    assert code == 0
    assert "1 removed: run the config again" in out
    assert "1 cell computed, 2 reused, 0 failed" in call(capsys, *run)[1]
    assert call(capsys, "store", "verify", tmp_path / "out")[0] == 0


def test_a_folder_without_cells_is_one_line(tmp_path, capsys):
    code, _, err = call(capsys, "store", "verify", tmp_path)
    assert code == 2
    assert err == f"mcls: there are no cells in {tmp_path}; give a folder of results, such as results\n"
