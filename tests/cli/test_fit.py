"""``mcls fit``: what it prints and writes, and how it ends when something is wrong."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats

import mcls
from mcls.resources import datasets_dir

from ..command import call

IRIS = str(datasets_dir() / "iris.csv")


def test_fits_prints_and_writes(tmp_path):
    code, out, _ = call("fit", IRIS, "--machine", "oneLSM", "-o", tmp_path / "m.mcls", "--folds", 5)
    assert code == 0
    lines = out.splitlines()
    assert lines[0] == "iris.csv: 150 rows, 4 columns (4 of numbers, 0 of text), 3 classes in 'class'"
    told = r"honest error [\d.]+ % \(95 %: [\d.]+–[\d.]+; nested 5-fold\), [\d.]+ % at the chosen point, "
    assert re.match(told + r"66\.67 % for always the largest class$", lines[1])
    assert lines[2].startswith("oneLSM: CV error ")
    assert "; 5 folds, 72 grid points, 150 rows;" in lines[2]
    assert "setosa" in out
    assert "recall" in out
    assert lines[-1] == f"model written to {tmp_path / 'm.mcls'}"
    assert [p.name for p in tmp_path.iterdir()] == ["m.mcls"]
    model = mcls.load(tmp_path / "m.mcls")
    assert f"CV error {100 * model.facts.cv_error:.2f} %" in lines[2]
    assert f"honest error {100 * model.facts.nested_error:.2f} %" in lines[1]


def test_repetitions_tell_their_spread(tmp_path):
    args = ["fit", IRIS, "--grid", "gamma=1,sigma=0.5+2", "--folds", 4, "-o", tmp_path / "m"]
    out = call(*args, "--repeats", 3)[1]
    assert "; nested 4-fold, 3 repetitions)" in out
    assert re.search(r"honest error of 3 repetitions: [\d.]+ to [\d.]+ %, standard deviation [\d.]+", out)
    code, _, err = call(*args[:-2], "--folds", "loo", "--repeats", 2, "-o", tmp_path / "n")
    assert code == 2
    assert "can be repeated" in err
    assert "--no-nested leaves out" in call(*args, "--repeats", 2, "--no-nested", "--force")[2]
    assert call(*args, "--repeats", 0)[0] == 2
    assert "--no-nested leaves out" in call(*args, "--scaling", "fold", "--no-nested", "--force")[2]
    assert "did you mean 'fold'" in call(*args, "--scaling", "flod", "--force")[2]
    assert "the scaling" not in call(*args, "--scaling", "fold", "--force")[1]
    assert "honest" not in call(*args, "--no-nested", "--force")[1]


def test_a_machine_is_tested_against_chance(tmp_path):
    args = ["fit", IRIS, "--grid", "gamma=1,sigma=0.5+2", "--folds", 4, "-o", tmp_path / "m", "--force"]
    out = call(*args, "--permutations", 19)[1]
    told = re.search(r"^against chance: p = 0\.05 \(19 permutations .* error is ([\d.]+) % on average", out, re.M)
    assert told is not None
    assert 55 < float(told[1]) < 80  # two of three classes are wrong by chance
    assert "against chance" not in call(*args)[1]
    assert call(*args, "--permutations", -1)[0] == 2
    assert call(*args, "--permutations", "many")[0] == 2


def test_what_the_user_should_know_of_the_search_is_told_in_a_line_each(tmp_path):
    rows = "".join(f"{i},{i % 3},{'xyz'[i // 4]}\n" for i in range(12))  # "a" counts the rows
    (tmp_path / "t.csv").write_text("a,b,kind\n" + rows)
    ranges = "gamma=2^-1..2^1,sigma=2^-9..2^-7"
    asked = ["--machine", "oneLSM", "--keep", "a", "--grid", ranges]
    code, out, err = call("fit", tmp_path / "t.csv", *asked, "-o", tmp_path / "m")
    assert code == 0
    assert "; 4 folds, 9 grid points, 12 rows;" in out
    folds, edge = err.splitlines()
    assert folds == "note: 4 folds instead of 10: no class has more than 4 rows"
    assert edge.startswith(
        "note: the choice lies at the edge of the grid (the largest gamma and the largest sigma); "
    )
    assert edge.endswith("--machine oneLSM --grid gamma=2^-1..2^5,sigma=2^-9..2^-3")
    assert [text.removeprefix("note: ") for text in (folds, edge)] == mcls.load(tmp_path / "m").facts.notes


def test_the_error_of_a_sample_says_on_how_many_rows_it_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr("mcls.models.candidates.SWEEP_ROWS", 60)
    out = call("fit", IRIS, "--nested", "--folds", 3, "--grid", "gamma=1,sigma=1", "-o", tmp_path / "m")[1]
    for line in (line for line in out.splitlines() if ": CV error" in line or line.startswith("honest error")):
        assert re.search(r" error on a sample of 60 of the 150 rows [\d.]+ %", line)
    assert "3 folds of 60 of the 150 rows, seed 0" in call("inspect", tmp_path / "m")[1]


def test_what_is_printed_with_the_nested_error_comes_from_the_same_choice(tmp_path):
    args = [
        "fit",
        IRIS,
        "--folds",
        5,
        "--grid",
        "gamma=0.01+4,sigma=0.02+0.05+3",
        "--seed",
        1,
        "-o",
        tmp_path / "m",
    ]
    flat, nested = call(*args, "--no-nested")[1], call(*args, "--force")[1]
    for out, which in ((flat, ": CV error"), (nested, "honest error")):
        error = float(re.search(rf"{which} ([\d.]+) %", out)[1])
        counts = np.array(
            [re.findall(r"\d+", line)[:3] for line in out.splitlines() if re.match(r" *[a-z]+ +\d", line)]
        )
        assert error == pytest.approx(100 * (1 - np.trace(counts.astype(int)) / 150), abs=0.01)
    assert "out-of-fold predictions, at the parameters above" in flat
    assert "out-of-fold predictions, parameters chosen inside each fold" in nested
    assert re.search(r": CV error ([\d.]+) %", nested)[1] != re.search(r"honest error ([\d.]+) %", nested)[1]


def test_an_extended_grid_is_told_and_kept(tmp_path):
    x = np.random.default_rng(0).uniform(
        0, 8, size=80
    )  # stripes in two far clusters: see tests/models/test_grids.py
    rows = "".join(f"{v + 60 * (i % 2)},{v},{'ab'[int(v // 2) % 2]}\n" for i, v in enumerate(x))
    (tmp_path / "t.csv").write_text("far,near,kind\n" + rows)
    asked = ["--machine", "oneLSM", "--folds", 5, "--nested"]
    _, out, err = call("fit", tmp_path / "t.csv", *asked, "-o", tmp_path / "m")
    told = re.search("note: the automatic grid was extended around its best point: .*", err)[0]
    assert "from all rows: the scaling, the extended grid\n" in out
    model = mcls.load(tmp_path / "m")
    assert told.removeprefix("note: ") in model.facts.notes
    kept = model.facts.grid["gamma"] + model.facts.grid["sigma"]
    assert len(kept) > 8 + 9
    assert f"{max(model.facts.grid['sigma']):.4g}" in told or f"{min(model.facts.grid['gamma']):.4g}" in told


def test_whether_there_is_a_header_may_be_said(tmp_path):
    (tmp_path / "t.csv").write_text("red,small,a\nblue,large,b\n" * 10)
    args = ["fit", tmp_path / "t.csv", "--split-equal-rows", "--grid", "gamma=1,sigma=1", "--folds", 3]
    args += ["-o", tmp_path / "m"]
    assert "--header or --no-header" in call(*args)[2]
    assert call(*args, "--no-header")[1].startswith(
        "t.csv: 20 rows, 2 columns (0 of numbers, 2 of text), 2 classes"
    )
    assert mcls.load(tmp_path / "m").target == "x2"
    assert call(*args, "--header")[1].startswith("t.csv: 19 rows")
    assert mcls.load(tmp_path / "m").target == "a"


def test_the_paper_grid_and_the_nested_error(tmp_path):
    code, out, _ = call(
        "fit",
        IRIS,
        "--machine",
        "oneLSM:gamma=0.25",
        "--grid",
        "paper",
        "--nested",
        "--folds",
        3,
        "-o",
        tmp_path / "m",
    )
    assert code == 0
    assert "3 folds, 9 grid points" in out
    assert re.search(r"oneLSM\S*: CV error [\d.]+ % \(95 %: [\d.]+–[\d.]+; 3 folds", out)
    assert re.search(r"honest error [\d.]+ % \(95 %: [\d.]+–[\d.]+; nested 3-fold\)", out)
    assert "from all rows: the scaling\n" in out
    assert mcls.load(tmp_path / "m").facts.grid["sigma"] == (2.0 ** np.arange(-4, 5)).tolist()


def test_auto_takes_no_ranges(tmp_path):
    code, _, err = call(
        "fit", datasets_dir() / "lenses.csv", "--machine", "AUTO", "--grid", "gamma=1", "-o", tmp_path / "m"
    )
    assert code == 2
    assert "ranges belong to one machine" in err


def test_auto_ranks_the_fast_machines_and_tests_the_best_two(tmp_path):
    code, out, _ = call(
        "fit", datasets_dir() / "lenses.csv", "--machine", "auto", "--nested", "--folds", 3, "-o", tmp_path / "m"
    )
    assert code == 0
    for name in ("oneLSM", "ovO", "voLSSVM", "voRLS-beta", "lssvm"):
        assert name in out
    assert "5x2cv F-test of the best two: " in out
    assert "95 %" in out.splitlines()[3]
    assert "the honest error takes from all rows: the scaling, the grid\n" in out
    assert mcls.load(tmp_path / "m").facts.machine in out


def test_landmarks_are_told(tmp_path):
    machine = "oneLSM:solver=nystrom,n_landmarks=30,gamma=0.1,sigma=1"
    code, out, _ = call("fit", IRIS, "--machine", machine, "-o", tmp_path / "m", "--folds", 3)
    assert code == 0
    assert "fitted with n_landmarks=30,solver=nystrom" in out
    assert len(mcls.load(tmp_path / "m").estimator.X_fit_) == 30


def test_the_seed_decides_the_bytes(tmp_path):
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        call("fit", IRIS, "--seed", seed, "--folds", 3, "-o", tmp_path / name)
    a, b, c = ((tmp_path / name).read_bytes() for name in "abc")
    assert a == b
    assert a != c


@pytest.mark.parametrize("folds", ["10", "loo"])
def test_the_interval_is_wilsons_and_the_baseline_stands_beside_it(tmp_path, folds):
    glass = datasets_dir() / "glass.csv"
    args = [
        "--folds",
        folds,
        "--grid",
        "gamma=0.1,sigma=0.5",
        "--split-equal-rows",
        "--no-nested",
        "--machine",
        "ovA",
    ]
    _, out, _ = call("fit", glass, "-o", tmp_path / "m", *args)
    line = out.splitlines()[1]
    facts = mcls.load(tmp_path / "m").facts
    cells = [row.split() for row in out.splitlines()]
    table = [row for row in cells if len(row) == 9 and row[0] in facts.classes]  # predictions of the six classes
    mistakes = 214 - sum(int(row[1 + i]) for i, row in enumerate(table))
    low, high = stats.binomtest(mistakes, 214).proportion_ci(method="wilson")
    assert facts.cv_interval == pytest.approx((low, high))
    assert f"% (95 %: {100 * low:.1f}–{100 * high:.1f}; " in line
    assert f"{100 * (1 - 76 / 214):.2f} % for always the largest class" in line
    assert "standard deviation" not in out


def test_copies_make_no_interval_narrower(tmp_path):
    widths = []
    for times in (1, 4):
        copied(tmp_path / "t.csv", times)
        call("fit", tmp_path / "t.csv", "-o", tmp_path / "m", "--grid", "gamma=1,sigma=1", "--folds", "loo")
        low, high = mcls.load(tmp_path / "m").facts.cv_interval
        widths.append(high - low)
    assert widths[0] == pytest.approx(widths[1], rel=0.1)


def copied(path, times):
    """Random classes, each row so many times."""
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{'xy'[i % 2]}\n" for i, (a, b) in enumerate(rng.normal(size=(60, 2)))]
    path.write_text("a,b,kind\n" + "".join(rows * times))


def test_no_row_is_judged_by_its_own_copy(tmp_path):
    copied(tmp_path / "once.csv", 1)
    copied(tmp_path / "often.csv", 3)
    errors = {}
    for name, extra in (("once", []), ("often", []), ("often", ["--split-equal-rows"])):
        model = tmp_path / f"{name}{len(extra)}.mcls"
        code, _, err = call("fit", tmp_path / f"{name}.csv", "-o", model, "--nested", "--folds", 5, *extra)
        assert code == 0
        facts = mcls.load(model).facts
        errors[model.stem] = facts.cv_error, facts.nested_error
        assert ("120 of 180 rows repeat the features of an earlier row" in err) == (model.stem == "often0")
    assert min(errors["once0"]) > 0.3
    assert min(errors["often0"]) > 0.3
    assert max(errors["often1"]) < 0.05  # copies in training: all is known


def test_auto_keeps_equal_rows_together_too(tmp_path):
    copied(tmp_path / "t.csv", 3)
    code, _, err = call("fit", tmp_path / "t.csv", "--machine", "auto", "-o", tmp_path / "m", "--folds", 3)
    assert code == 0
    assert err.count("equal rows are kept in one fold") == 1
    assert mcls.load(tmp_path / "m").facts.cv_error > 0.3


def test_classes_that_differ_in_capitals_alone_are_told(tmp_path):
    rows = "".join(f"{i % 7},{i % 5},{('yes', 'no', 'Yes')[i % 3]}\n" for i in range(30))
    (tmp_path / "t.csv").write_text("a,b,kind\n" + rows)
    args = ["fit", tmp_path / "t.csv", "-o", tmp_path / "m", "--machine", "oneLSM:gamma=1,sigma=1", "--folds", 3]
    code, _, err = call(*args, "--no-nested")
    assert code == 0
    assert "note: classes that differ in capitals or spaces alone: 'Yes' and 'yes'; are they meant" in err


def test_five_rows_are_told_what_helps(tmp_path):
    (tmp_path / "t.csv").write_text("a,kind\n1,x\n2,x\n4,y\n5,y\n7,z\n")
    args = ["fit", tmp_path / "t.csv", "-o", tmp_path / "m"]
    code, _, err = call(*args)
    assert (code, "(mcls fit --no-nested leaves the honest error out)" in err) == (2, True)
    assert call(*args, "--no-nested")[0] == 0


def test_a_column_that_counts_rows_must_be_left_out_or_kept(tmp_path):
    rows = "".join(f"{i + 1},{i % 5},{i % 7},{'xy'[i // 20]}\n" for i in range(40))  # sorted by class
    (tmp_path / "t.csv").write_text("id,a,b,kind\n" + rows)
    args = ["fit", tmp_path / "t.csv", "-o", tmp_path / "m", "--folds", 5]
    code, out, err = call(*args)
    assert (code, out) == (2, "")
    assert "column 'id' counts the rows" in err
    assert "leave it out with --drop id or use it with --keep id" in err
    assert call(*args, "--drop", "id")[0] == 0
    model = mcls.load(tmp_path / "m")
    assert [column.name for column in model.encoder.columns] == ["a", "b"]
    assert model.facts.cv_error > 0.2
    assert call(*args, "--keep", "id")[0] == 0
    assert mcls.load(tmp_path / "m").facts.cv_error < 0.1
    code, _, err = call(*args, "--drop", "a", "--drop", "b")  # the only feature left: a note will do
    assert code == 0
    assert "note: column 'id' counts the rows" in err


@pytest.mark.parametrize(
    "args, complaint",
    [
        (["no.csv"], "cannot read no.csv"),
        ([IRIS, "--target", "clas"], "did you mean 'class'?"),
        ([IRIS, "--machine", "oneLMS"], "did you mean 'oneLSM'?"),
        ([IRIS, "--machine", "oneLSM:gama=1"], "did you mean 'gamma'?"),
        (
            [IRIS, "--machine", "sk:SVC"],
            "or judge it on a table beside one of mcls: mcls compare oneLSM sk:SVC",
        ),
        ([IRIS, "--drop", "sepal"], "unknown column in"),
        ([IRIS, "--drop", "class"], "is the class column"),
        ([IRIS, "--keep", "petal_lenght"], "did you mean 'petal_length'?"),
        ([IRIS, "-o", "no/such/m.mcls"], "there is no folder no/such"),
        ([IRIS, "-o", "."], "is a folder"),
        ([IRIS, "--machine", "oneLSM:sigma=1e-200"], "between 1e-150 and 1e150, got 1e-200"),
        ([IRIS, "--grid", "sigma=2^-900..2^-890"], "sigma must be a positive number between 1e-150 and 1e150"),
        ([IRIS, "--grid", "papre"], "did you mean 'paper'?"),
        ([IRIS, "--grid", "gama=2^0..2^4"], "did you mean 'gamma'?"),
        ([IRIS, "--folds", "1"], "--folds"),
    ],
)
def test_mistakes_are_told_and_leave_nothing(args, complaint, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = call("fit", *args)
    assert (code, out) == (2, "")
    assert complaint in err
    assert "Traceback" not in err
    assert not list(tmp_path.iterdir())


def test_a_full_disk_keeps_the_old_model(tmp_path, monkeypatch):
    mcls.save(mcls.OneLSM().fit([[0.0], [1.0]], ["a", "b"]), tmp_path / "m")
    before = (tmp_path / "m").read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mcls.files.os.fsync", full)
    code, _, err = call("fit", IRIS, "--split-equal-rows", "--folds", 3, "-o", tmp_path / "m")
    assert code == 2
    assert "No space left on device" in err
    assert err.count("\n") == 1
    assert {p.name: p.read_bytes() for p in tmp_path.iterdir()} == {"m": before}


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_says_that_no_model_was_written(tmp_path):
    rng = np.random.default_rng(0)
    rows = "".join(f"{a},{b},{'xyz'[i % 3]}\n" for i, (a, b) in enumerate(rng.normal(size=(600, 2))))
    (tmp_path / "big.csv").write_text("a,b,kind\n" + rows)
    # A search that never ends, and says when it has begun.
    code = (
        "import mcls.models.searching as s\n"
        "from mcls.cli.app import main\n"
        "search = s.CandidateSearch.complete\n"
        "def slow(self, *rest, **settings):\n"
        "    print('searching', flush=True)\n"
        "    while True: search(self, *rest, **settings)\n"
        "s.CandidateSearch.complete = slow\n"
        "main()\n"
    )
    command = [sys.executable, "-c", code, "fit", str(tmp_path / "big.csv"), "-o", str(tmp_path / "m.mcls")]

    def hear() -> None:  # a background job of a shell is started deaf to Ctrl-C, and so would this process be
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, preexec_fn=hear)
    assert process.stdout.readline() == "searching\n"
    time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.splitlines()[-1] == "mcls: interrupted; no model was written; the same command starts again"
    assert [p.name for p in tmp_path.iterdir()] == ["big.csv"]


def test_help_needs_nothing_heavy():
    code = (
        "import sys, mcls.cli.app as a\n"
        "try: a.main(['fit', '--help'])\n"
        "except SystemExit: print({'numpy', 'pandas', 'sklearn'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "set()"
