"""``mcls run``: exit codes, resuming, interruption, trouble with the disk, and mutated configs."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mcls.experiments.config import DatasetEntry, MachineEntry, schema
from mcls.experiments.records import encode
from mcls.experiments.runner import compute

from ..command import call
from ..rich_config import RICH

MAIN = "from mcls.cli.app import main; main()"
SMALL = """\
datasets: iris:sample=60
machines: [oneLSM, ovO]
folds: 3
replicates: 3
grid: {gamma: [0.25, 4], sigma: [0.5, 2]}
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "lab.yaml"
    path.write_text(SMALL)
    return path


def test_after_many_cells_it_says_how_to_test_instead_of_reading_them_again(config, tmp_path, monkeypatch):
    assert "tests against oneLSM" in call("run", config, "--out", tmp_path / "out", "-j", 1)[1]
    monkeypatch.setattr("mcls.cli.run._MOST_READ", 5)
    out = call("run", config, "--out", tmp_path / "out", "-j", 1)[1]
    assert "tests against a machine: mcls tables lab --against MACHINE" in out


def test_runs_and_resumes(config, tmp_path):
    code, out, _ = call("run", config, "--out", tmp_path / "out", "-j", 1)
    assert code == 0
    assert "6 cells computed, 0 reused, 0 failed" in out
    assert "lab: errors in percent, time of a replicate in seconds" in out
    assert "oneLSM" in out
    code, out, _ = call("run", config, "--out", tmp_path / "out", "-j", 1)
    assert "0 cells computed, 6 reused" in out
    code, out, _ = call("run", config, "--out", tmp_path / "out", "-j", 1, "--fresh")
    assert "6 cells computed, 0 reused" in out


def test_dry_run_prints_the_cells_and_writes_nothing(config, tmp_path):
    code, out, _ = call("run", config, "--out", tmp_path / "out", "--dry-run")
    assert code == 0
    assert out.count("to do") == 6
    assert "6 cells, 6 to compute" in out
    assert not (tmp_path / "out").exists()
    call("run", config, "--out", tmp_path / "out", "-j", 1)
    assert "6 cells, 0 to compute" in call("run", config, "--out", tmp_path / "out", "--dry-run")[1]


def test_both_engines_give_the_same_errors_and_it_says_when_cells_are_the_other_ones(config, tmp_path):
    call("run", config, "--out", tmp_path / "a", "-j", 1)
    code, out, _ = call("run", config, "--out", tmp_path / "b", "-j", 1, "--engine", "refit")
    assert code == 0
    assert "other engine" not in out
    for name in ("oneLSM", "ovO"):
        lines = [
            next(row for row in (tmp_path / d / "lab/summary.csv").read_text().splitlines() if name in row)
            for d in "ab"
        ]
        assert lines[0].split(",")[:-2] == lines[1].split(",")[:-2]
    out = call("run", config, "--out", tmp_path / "a", "-j", 1, "--engine", "refit")[1]
    assert "6 cells were computed by the other engine" in out


@pytest.mark.parametrize(
    "scaling, message",
    [
        ("standard", "feature 2 cannot be scaled: with values as large as 1e+300"),
        ("none", "the kernel overflows: features as large as 1e+300; scale them"),
    ],
)
def test_a_column_of_huge_numbers_fails_the_cell_in_one_line(tmp_path, scaling, message):
    rows = [f"{i % 2 + i / 100},{1e300 if i == 7 else i / 10},{'ab'[i % 2]}" for i in range(20)]
    (tmp_path / "huge.csv").write_text("\n".join(["u,v,class", *rows]))
    config = tmp_path / "huge.yaml"
    config.write_text(f"datasets: huge.csv:target=class\nmachines: oneLSM\nreplicates: 1\nscaling: {scaling}\n")
    code, out, err = call("run", config, "--out", tmp_path / "out", "-j", 1)
    assert code == 1
    assert "1 failed of 1" in out
    assert f"failed: huge oneLSM, replicate 0: {message}" in err
    assert "Warning" not in err


def test_a_failed_cell_is_exit_code_1_and_tried_again(config, tmp_path, monkeypatch):
    def broken(cell):
        record = compute(cell)
        if cell.machine == "ovO":
            record = {**record, "status": "failed", "error": "RuntimeError: no luck"}
        return record

    monkeypatch.setattr("mcls.experiments.runner.compute", broken)
    code, out, err = call("run", config, "--out", tmp_path / "out", "-j", 1)
    assert code == 1
    assert "3 cells computed, 0 reused, 3 failed" in out
    assert "3 failed of 3" in out
    assert "failed: iris:sample=60 ovO, replicate 0 1 2: RuntimeError: no luck" in err
    assert "Traceback" not in err
    code, _, err = call("run", config, "--out", tmp_path / "out", "-j", 1, "--fail-fast")
    assert code == 1
    assert "2 cells not run" in err
    monkeypatch.undo()
    code, out, _ = call("run", config, "--out", tmp_path / "out", "-j", 1)
    assert code == 0
    assert "3 cells computed, 3 reused, 0 failed" in out


def test_a_read_only_folder_is_one_line(config, tmp_path, monkeypatch):
    def refused(*args, **kwargs):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    out = tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr("mcls.files.open", refused, raising=False)  # what a read-only folder does, also to root
    code, _, err = call("run", config, "--out", out, "-j", 1)
    assert code == 2
    assert err.count("\n") == 1
    assert "cannot write" in err
    assert "Permission denied" in err
    assert not [p for p in out.rglob("*") if p.is_file()]


def test_a_disk_that_fills_up_keeps_what_is_done(config, tmp_path, monkeypatch):
    real, calls = os.replace, []

    def fills(source, target):
        calls.append(target)
        if len(calls) > 6:  # config.yaml, plan.json, environment.json and three cells
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(source, target)

    monkeypatch.setattr(os, "replace", fills)
    code, _, err = call("run", config, "--out", tmp_path / "out", "-j", 1)
    monkeypatch.undo()
    assert code == 2
    assert [line for line in err.splitlines() if "No space left on device" in line]
    assert "Traceback" not in err
    cells = sorted((tmp_path / "out/lab/cells").iterdir())
    assert len(cells) == 3
    assert all(json.loads(p.read_bytes())["status"] == "done" for p in cells)
    assert "3 cells computed, 3 reused" in call("run", config, "--out", tmp_path / "out", "-j", 1)[1]


@pytest.mark.parametrize(
    "stop, code, word", [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated")]
)
def test_ctrl_c_and_sigterm_say_how_to_go_on(tmp_path, stop, code, word):
    config = tmp_path / "lab.yaml"
    config.write_text(SMALL.replace("replicates: 3", "replicates: 2000"))
    command = [sys.executable, "-c", MAIN, "run", str(config), "--out", str(tmp_path / "out"), "-j", "2"]

    def hear() -> None:  # a background job of a shell is started deaf to Ctrl-C, and so would this process be
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipe = subprocess.PIPE
    process = subprocess.Popen(
        command, stdout=pipe, stderr=pipe, text=True, start_new_session=True, preexec_fn=hear
    )
    cells = tmp_path / "out/lab/cells"
    while process.poll() is None and len(list(cells.glob("*.json"))) < 3:
        time.sleep(0.01)
    os.killpg(process.pid, stop)  # as a terminal or a service manager does: to the workers too
    _, err = process.communicate(timeout=60)
    assert process.returncode == code
    last = err.strip().splitlines()[-1]
    assert last.startswith(f"mcls: {word}; finished cells are kept in ")
    assert last.endswith("the same command goes on from there")
    assert "Traceback" not in err
    assert not list(cells.glob(".*"))


def test_a_damaged_cell_is_named_and_computed_again(config, tmp_path):
    call("run", config, "--out", tmp_path / "out", "-j", 1)
    path = min((tmp_path / "out/lab/cells").iterdir())
    record = json.loads(path.read_bytes())
    record["result"]["chosen"] = None
    del record["sha256"]
    path.write_bytes(encode(record))
    for command, told in (
        (["--dry-run"], "6 cells, 1 to compute"),
        (["-j", 1], "1 cell computed, 5 reused, 0 failed"),
    ):
        code, out, err = call("run", config, "--out", tmp_path / "out", *command)
        assert code == 0
        assert told in out
        (line,) = [line for line in err.splitlines() if line.startswith("note: ")]
        assert line.startswith(f"note: {path} is damaged and counts as missing: result.chosen: ")
    assert "note" not in call("run", config, "--out", tmp_path / "out", "-j", 1)[2]


@pytest.mark.parametrize(
    "args, expected",
    [
        (["run", "irsi"], "mcls: unknown config 'irsi'; did you mean 'iris'?"),
        (["run", "no/such.yaml"], "mcls: there is no file no/such.yaml"),
        (
            ["run", "iris", "--backend", "dask", "--scheduler", "gopher://x"],
            "no Dask scheduler answers at gopher://x",
        ),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(args, expected, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if "dask" in args:
        pytest.importorskip("distributed", reason="the extra mcls[dask] is not installed")
    code, _, err = call(*args)
    assert code == 2
    assert expected in err
    assert err.count("\n") == 1


# Mutated configs ------------------------------------------------------------------------------------------

FIELDS = {*schema().model_fields, *DatasetEntry.model_fields, *MachineEntry.model_fields}

junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=8),
    st.sampled_from(
        ["2^-4..2^4", "2^9..2^1", "0^-1", "1e999", "2^1e9", "iris", "irsi", "wine:first=20", "oneLMS", "voSVM", "x.csv",
         "a:b=c", "nested", "hold-out", "..", "a/b", ".nan", "sk:SVC", "alignment", "linear", "precomputed"]
    ),
    st.lists(st.one_of(st.integers(-3, 3), st.text(max_size=3)), max_size=3),
    st.dictionaries(st.text(max_size=5), st.integers(0, 3), max_size=2),
    st.dates(),
)  # fmt: skip


def places(value, here=()):
    """Every place inside a nested value, as the keys that lead to it."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*here, key)
        yield from places(child, (*here, key))


@st.composite
def mutated(draw):
    """The rich config with one to three values replaced, removed, renamed or doubled: YAML and renamed keys."""
    values, renamed = json.loads(json.dumps(RICH)), set()
    for _ in range(draw(st.integers(1, 3))):
        *path, last = draw(st.sampled_from(sorted(places(values), key=str)))
        inside = values
        for key in path:
            inside = inside[key]
        how = draw(st.sampled_from(["replace", "remove", "rename", "double"]))
        if how == "replace":
            inside[last] = draw(junk)
        elif how == "remove":
            del inside[last]
        elif isinstance(inside, list):
            inside.append(inside[last])
        else:
            key = draw(st.one_of(st.text(max_size=6), st.just(f"{last}s"), st.sampled_from(sorted(FIELDS))))
            renamed.add(key)
            inside[key] = inside[last] if how == "double" else inside.pop(last)
    return yaml.safe_dump(values, allow_unicode=True), renamed


@st.composite
def garbled(draw):
    """The rich config's text with some characters taken out, put in or exchanged."""
    text = yaml.safe_dump(RICH)
    for _ in range(draw(st.integers(1, 4))):
        i = draw(st.integers(0, len(text) - 1))
        text = text[:i] + draw(st.text(max_size=3)) + text[i + draw(st.integers(0, 3)) :]
    return text


def validate(path: Path, text: str) -> str | None:
    """Validate a text: None when it is accepted, otherwise the one line that refuses it."""
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    code, _, err = call("validate", path)
    if code == 0:
        return None
    assert code == 2, err
    assert err.startswith("mcls: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err
    assert path.name in err or "lab: datasets[" in err
    return err


many = settings(
    max_examples=40,  # make stress has thousands
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@many
@given(mutation=mutated())
def test_mutated_configs_are_accepted_or_refused_by_field(tmp_path, monkeypatch, mutation):
    monkeypatch.chdir(tmp_path)
    text, renamed = mutation
    refusal = validate(tmp_path / "rich.yaml", text)
    if refusal is not None:
        shown = " ".join(refusal.split())
        assert any(field in shown for field in FIELDS | {"not valid YAML", "is not the name of a field"}) or any(
            " ".join(key.split()) in shown for key in renamed
        ), refusal


@many
@given(text=garbled())
def test_garbled_configs_are_accepted_or_refused_in_one_line(tmp_path, monkeypatch, text):
    monkeypatch.chdir(tmp_path)
    validate(tmp_path / "rich.yaml", text)


def test_the_rich_config_itself_is_accepted(tmp_path):
    assert validate(tmp_path / "rich.yaml", yaml.safe_dump(RICH)) is None


def test_another_study_of_the_same_name_is_told(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, data in (("a", "iris:sample=60"), ("b", "wine:sample=60")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "study.yaml").write_text(
            f"datasets: '{data}'\nmachines: ovO\nfolds: 2\nreplicates: 1\ngrid: {{gamma: 1, sigma: 1}}\n"
        )
    assert "note" not in call("run", Path("a/study.yaml"), "-j", 1)[2]
    assert "note" not in call("run", Path("a/study.yaml"), "-j", 1)[2]
    err = call("run", Path("b/study.yaml"), "-j", 1)[2]
    assert "results/study had the results of iris: those cells are kept" in err
