"""What is printed: plain where NO_COLOR asks for it, and without padding outside a terminal."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import mcls
from mcls.cli.app import main
from mcls.cli.printing import print_table
from mcls.models.fitting import fit_table
from mcls.resources import datasets_dir
from mcls.terminal import READER_LEFT, echo, make_console, output

pty = pytest.importorskip("pty", reason="a terminal to print to")


def in_a_terminal(*args: str, **variables: str) -> str:
    """What a command prints to a terminal."""
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    environment |= {"TERM": "xterm-256color", "COLUMNS": "100", **variables}
    command = [sys.executable, "-m", "mcls", *args]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment):
        os.close(theirs)
        read = b""
        while True:
            try:
                part = os.read(ours, 65536)
            except OSError:  # the other end is closed
                part = b""
            if not part:
                break
            read += part
    os.close(ours)
    return read.decode()


@pytest.mark.parametrize("command", [["--help"], ["data", "list"], ["labelbooks"]], ids=" ".join)
def test_no_color_leaves_no_codes_at_all(command):
    plain = in_a_terminal(*command, NO_COLOR="1")
    assert len(plain) > 100
    assert "\x1b" not in plain
    if command != ["labelbooks"]:  # its table has no style to begin with
        assert "\x1b[1" in in_a_terminal(*command)


@pytest.mark.parametrize(
    "command",
    [["data", "list"], ["data", "show", "iris"], ["machines"], ["tables"], ["tables", "noumir2011", "--no-run"]],
    ids=" ".join,
)
def test_nothing_is_padded_outside_a_terminal(command, capsys, tmp_path):
    with pytest.raises(SystemExit) as ended:
        main([*command, *(["--out", str(tmp_path)] if "--no-run" in command else [])])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.split("\n")
    assert len(lines) > 5
    assert [line for line in lines if line != line.rstrip()] == []


def test_the_columns_stay_where_they_are(capsys):
    print_table("a title", ["word", "number"], [["x", "1"], ["longer", "22.5"]])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines[2::2]] == [["word", "number"], ["x", "1"], []]
    assert len({len(line) for line in (lines[2], lines[4], lines[5])}) == 1  # numbers end where their title does


def test_a_terminal_gets_its_codes_unless_no_color_is_set(monkeypatch, capsys):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    for variable, codes in (("", True), ("1", False)):
        monkeypatch.setenv("NO_COLOR", variable)
        with output() as console:
            console.print("word", style="bold red")
        assert ("\x1b" in capsys.readouterr().out) == codes
        assert (make_console(stderr=True).color_system is not None) == codes


IRIS = str(datasets_dir() / "iris.csv")
FIT = ["fit", IRIS, "--target", "class", "--machine", "oneLSM:gamma=1,sigma=1", "--folds", "2", "-o", "m.mcls"]
CONFIG = "datasets: iris\nmachines: oneLSM\nfolds: 2\nreplicates: 2\ngrid: {gamma: [1], sigma: [1]}\n"


def with_a_closed_pipe(*args: str, both: bool = False, **settings: Any) -> subprocess.CompletedProcess[str]:
    """A command whose standard output (and error, with ``both``) nobody reads, as in ``mcls … | true``."""
    ours, theirs = os.pipe()
    os.close(ours)
    command = [sys.executable, "-m", "mcls", *args]
    try:
        return subprocess.run(
            command, stdout=theirs, stderr=theirs if both else subprocess.PIPE, text=True, check=False, **settings
        )
    finally:
        os.close(theirs)


@pytest.mark.parametrize("both", [False, True])
def test_a_closed_pipe_costs_no_model(tmp_path, both):
    done = with_a_closed_pipe(*FIT, both=both, cwd=tmp_path)
    assert done.returncode == READER_LEFT == 141
    assert not [line for line in (done.stderr or "").splitlines() if not line.startswith("note: ")]
    assert mcls.load(tmp_path / "m.mcls").facts.rows == 150


def test_a_closed_pipe_costs_no_results(tmp_path):
    (tmp_path / "lab.yaml").write_text(CONFIG)
    done = with_a_closed_pipe("run", "lab.yaml", "-j", "1", both=True, cwd=tmp_path)
    assert done.returncode == READER_LEFT
    assert len(list((tmp_path / "results/lab/cells").iterdir())) == 2
    assert (tmp_path / "results/lab/summary.md").is_file()


@pytest.mark.parametrize("command", [["data", "list"], ["--help"]], ids=" ".join)
def test_a_closed_pipe_is_no_traceback(command):
    done = with_a_closed_pipe(*command)
    assert (done.returncode, done.stderr) == (READER_LEFT, "")


def test_a_mistake_keeps_its_code(tmp_path):
    done = with_a_closed_pipe("data", "show", "irsi")
    assert done.returncode == 2
    assert "did you mean 'iris'?" in done.stderr


@pytest.fixture
def trained(tmp_path):
    """A folder with a model in it."""
    mcls.save(fit_table(IRIS, "class", "oneLSM:gamma=1,sigma=1", folds=2).model, tmp_path / "m.mcls")
    return tmp_path


def test_predicting_for_nobody_ends_at_once(trained):
    head, *rows = Path(IRIS).read_text().splitlines()
    bad = "\n".join([head, *rows * 40, "1,2,3,x,setosa"])  # reached only by one who goes on to the end
    (trained / "new.csv").write_text(bad)
    done = with_a_closed_pipe("predict", "m.mcls", "new.csv", cwd=trained)
    assert (done.returncode, done.stderr) == (READER_LEFT, "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device that is always full")
@pytest.mark.parametrize("command", [FIT, ["predict", "m.mcls", IRIS], ["data", "list"]], ids=lambda c: c[0])
def test_a_full_device_is_one_line_after_the_work(trained, command):
    if command is FIT:
        (trained / "m.mcls").unlink()
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mcls", *command],
            stdout=full,
            stderr=subprocess.PIPE,
            cwd=trained,
            check=False,
        )
    assert done.returncode == 1
    told = [line for line in done.stderr.splitlines() if not line.startswith(b"note: ")]
    assert told == [b"mcls: cannot write to standard output: No space left on device"]
    if command is FIT:
        assert mcls.load(trained / "m.mcls").facts.rows == 150


def test_streams_that_were_closed_before_the_start(tmp_path):
    command = " ".join(map(shlex.quote, [sys.executable, "-m", "mcls", *FIT]))
    assert subprocess.run(["sh", "-c", f"{command} >&- 2>&-"], cwd=tmp_path, check=False).returncode == 0
    assert mcls.load(tmp_path / "m.mcls").facts.rows == 150


@pytest.mark.parametrize("encoding", ["ascii", "ascii:surrogateescape"])  # the second is that of LC_ALL=POSIX
def test_letters_that_the_encoding_lacks_are_spelt_out(encoding):
    command = [sys.executable, "-m", "mcls", "data", "show", "iris"]
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert r"150 rows \xd7 4 features" in done.stdout


def test_one_line_stays_one_line_without_commands_to_the_terminal(capsys):
    echo("a\x1b[2J\nb\r")
    echo(Path("c\x07"), err=True)
    assert capsys.readouterr() == ("a�[2J�b�\n", "c�\n")


HOSTILE = "x\x1b]0;mine\x07\x1b[2J"


@pytest.mark.parametrize(
    "command", ["fit", "predict", "evaluate", "inspect", "init", "validate", "run", "compare"]
)
def test_file_names_cannot_write_to_the_terminal(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table, model, config = f"{HOSTILE}.csv", f"{HOSTILE}.mcls", f"{HOSTILE}.yaml"
    Path(table).write_text("u,v,kind\n" + "".join(f"{i % 5},{i * 7 % 24 / 2},{'ab'[i % 2]}\n" for i in range(24)))
    machine = ["--machine", "oneLSM:gamma=1,sigma=1", "--folds", "2"]
    Path(config).write_text(
        f"name: lab\ndatasets: [{{path: {json.dumps(table)}}}]\nmachines: oneLSM\nfolds: 2\n"
        "replicates: 1\ngrid: {gamma: [1], sigma: [1]}\n"
    )
    if command == "run":

        def fails(cell: object) -> None:
            raise ValueError(f"in {HOSTILE}")

        monkeypatch.setattr("mcls.experiments.cells.Cell.compute", fails)
    args = {
        "fit": ["fit", table, *machine, "-o", model],
        "predict": ["predict", model, table, "-o", f"{HOSTILE}-out.csv"],
        "evaluate": ["evaluate", model, table, "--picture", f"{HOSTILE}.png"],
        "inspect": ["inspect", model],
        "init": ["init", table, "-o", f"{HOSTILE}2.yaml"],
        "validate": ["validate", config],
        "run": ["run", config, "-j", "1", "--out", HOSTILE],
        "compare": ["compare", "oneLSM:sigma=1", "ovA:sigma=1", "--dataset", table, "-j", "1", "--out", HOSTILE],
    }
    codes = []
    for each in (["fit"] if command in ("predict", "evaluate", "inspect") else []) + [command]:
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main(args[each])
        codes.append(ended.value.code)
    assert set(codes) == {1 if command == "run" else 0}
    out, err = capsys.readouterr()
    assert "x�" in out + err
    assert not {"\x1b", "\x07"} & set(out + err)
    if command == "run":
        assert "failed: x�" in err
