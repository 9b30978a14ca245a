"""``mcls plot``: listing, drawing from a store, an experiment of the user's own, mistakes."""

from __future__ import annotations

import contextlib
import io

import pytest

import mcls.papers  # noqa: F401  (registers the plots)
from mcls.cli.app import main
from mcls.reporting.plots import PLOTS

pytestmark = pytest.mark.usefixtures("cache")
MADE_BY = [plot.name for plot in PLOTS.values() if plot.made_by]
SMALL = """\
datasets: iris:sample=60
machines: [oneLSM, {name: voLSSVM, labelbook: [pm1, alignment]}]
folds: 3
replicates: 1
grid: {gamma: [0.25, 4], sigma: [0.5, 2]}
"""


def call(*args: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main([str(a) for a in args])
    code = ended.value.code
    return (code if isinstance(code, int) else 0), out.getvalue(), err.getvalue()


def test_without_a_figure_it_lists_what_there_is():
    code, out, _ = call("plot")
    assert code == 0
    for name in ("grid", "errors", "labelbooks", "ranks", "codes", "regions", "growth"):
        assert name in out


def test_draws_into_the_folder_of_results(tmp_path):
    code, _, _ = call("plot", "labelbooks", "--out", tmp_path)
    assert code == 0
    assert (tmp_path / "figures" / "labelbooks.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "figures" / "labelbooks.svg").stat().st_size > 1000


@pytest.mark.parametrize("figure", MADE_BY)
def test_a_figure_without_its_data_is_a_mistake_that_names_the_command(figure, tmp_path):
    code, out, err = call("plot", figure, "--out", tmp_path)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert "not drawn" in err
    command = err.strip().split("to make them: ")[1]
    if figure == "growth":
        assert command == "make bench"
        return
    program, *words = command.split()
    assert program == "mcls"
    assert call(*words, "--no-run")[0] == 0
    assert (tmp_path / "tables").is_dir()  # the command works in the same folder


def test_all_draws_what_there_is_and_says_what_there_is_not(tmp_path):
    code, out, err = call("plot", "all", "--out", tmp_path)
    assert code == 0
    assert "labelbooks.png" in out
    assert "growth: not drawn" in err
    assert len(err.splitlines()) == len(MADE_BY)


def test_the_heat_map_of_an_experiment_of_one_s_own(tmp_path):
    config = tmp_path / "lab.yaml"
    config.write_text(SMALL)
    call("run", config, "-j", 1, "--out", tmp_path)
    args = ("plot", "grid", config, "--dataset", "iris:sample=60", "--out", tmp_path)
    code, out, _ = call(*args, "--machine", "volssvm:labelbook=pm1")
    assert code == 0
    assert "grid-iris-sample-60-voLSSVM-labelbook-pm1-0.svg" in out
    text = next((tmp_path / "figures").glob("*.svg")).read_text(encoding="utf-8")
    assert "voLSSVM, pm1" in text
    code, _, err = call(*args, "--machine", "ovA")
    assert code == 2
    assert "has no row 'iris:sample=60 ovA'" in err


@pytest.mark.parametrize(
    "changes, message",
    [
        (
            "protocol: nested",
            "a heat map needs one grid search over all rows, as 'protocol: published' makes it; "
            "lab has 'protocol: nested'",
        ),
        ("protocol: 5x2cv", "lab has 'protocol: 5x2cv'"),
        ("grid: {gamma: [1, 2]}", "a heat map needs two tuned parameters; tuned here: gamma"),
    ],
)
def test_an_experiment_without_a_plane_of_errors_is_told_what_is_needed(changes, message, tmp_path):
    config = tmp_path / "lab.yaml"
    config.write_text(f"datasets: iris:sample=60\nmachines: 'oneLSM:kernel=linear'\n{changes}\n")
    call("run", config, "-j", 1, "--out", tmp_path)
    args = ("--dataset", "iris:sample=60", "--machine", "oneLSM", "--out", tmp_path)
    code, _, err = call("plot", "grid", config, *args)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "args, message",
    [
        (["heat"], "unknown figure 'heat'"),
        (["ranks", "iris"], "a config goes with: mcls plot grid"),
        (["grid", "--machine", "ovA"], "--dataset and --machine go with"),
    ],
)
def test_mistakes_are_one_line(args, message, tmp_path):
    code, _, err = call("plot", *args, "--out", tmp_path)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1
