"""``mcls plot``: listing, drawing from a store, an experiment of the user's own, mistakes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import mcls.papers  # noqa: F401  (registers the plots)
from mcls import RFM, LearnedLSM, SparseLSM, save
from mcls.reporting.plots import PLOTS

from ..command import call

pytestmark = pytest.mark.usefixtures("cache")
MADE_BY = [plot.name for plot in PLOTS.values() if plot.made_by]
SMALL = """\
datasets: iris:sample=60
machines: [oneLSM, {name: voLSSVM, labelbook: [pm1, alignment]}]
folds: 3
replicates: 1
grid: {gamma: [0.25, 4], sigma: [0.5, 2]}
"""


def test_without_a_figure_it_lists_what_there_is(tmp_path):
    (tmp_path / "lab.yaml").write_text(SMALL)
    call("run", tmp_path / "lab.yaml", "-j", 1, "--out", tmp_path)
    code, out, _ = call("plot", "--out", tmp_path)
    assert code == 0
    for name in ("grid", "errors", "labelbooks", "ranks", "codes", "regions", "growth"):
        assert name in out
    assert out.splitlines()[-1].endswith("NAME): lab")


def test_without_results_the_list_ends_with_what_to_do(tmp_path):
    code, out, err = call("plot", "--out", tmp_path / "none")
    assert code == 2
    assert "labelbooks" in out
    assert err.count("\n") == 1
    assert "there are no results in" in err


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
    assert code == 1  # nothing that needs results
    assert "labelbooks.png" in out
    assert "growth: not drawn" in err
    assert len(err.splitlines()) == len(MADE_BY)


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """A folder of results with the experiment ``mine``, whose config is gone from where it was run."""
    folder = tmp_path_factory.mktemp("lab")
    (folder / "mine.yaml").write_text(SMALL)
    assert call("run", folder / "mine.yaml", "-j", 1, "--out", folder / "results")[0] == 0
    (folder / "mine.yaml").unlink()
    return folder / "results"


def test_an_experiment_is_named_by_its_folder_of_results(lab):
    code, out, _ = call("plot", "grid", "mine", "--out", lab)
    assert code == 0
    stems = {f"mine-grid-iris-sample-60-{m}-0" for m in ("oneLSM-indicators", "voLSSVM-pm1", "voLSSVM-alignment")}
    assert {path.rsplit("/", 1)[1] for path in out.split()} == {
        f"{s}.{end}" for s in stems for end in ("png", "svg")
    }
    # As a path too, which a shell completes.
    assert call("plot", "grid", lab / "mine", "--out", lab) == (0, out, "")
    code, _, err = call("plot", "grid", "mien", "--out", lab)
    assert code == 2
    assert "unknown experiment 'mien'; did you mean 'mine'?" in err


def test_the_heat_map_of_one_machine(lab):
    args = ("plot", "grid", "mine", "--dataset", "iris:sample=60", "--out", lab)
    code, out, _ = call(*args, "--machine", "volssvm:labelbook=pm1")
    assert code == 0
    assert out.split()[1].endswith("mine-grid-iris-sample-60-voLSSVM-pm1-0.svg")
    assert "voLSSVM, pm1" in Path(out.split()[1]).read_text(encoding="utf-8")
    code, _, err = call(*args, "--machine", "ovA")
    assert code == 2
    assert "has no row 'iris:sample=60 ovA'" in err
    assert call(*args, "--replicate", "1")[2] == "mcls: mine has the replicates 0 to 0, got 1\n"


def test_the_errors_of_any_experiment(lab):
    code, out, _ = call("plot", "errors", "mine", "--out", lab)
    assert code == 0
    text = Path(out.split()[1]).read_text(encoding="utf-8")
    assert all(name in text for name in ("iris:sample=60", "oneLSM", "voLSSVM, pm1", "voLSSVM, alignment"))
    assert "the paper" not in text
    code, _, err = call("plot", "ranks", "mine", "--out", lab)
    assert code == 2
    assert "ranks need at least two machines, and two data sets" in err


def test_the_ranks_of_any_experiment(tmp_path):
    (tmp_path / "two.yaml").write_text(SMALL.replace("iris:sample=60", "[iris:sample=60, wine:sample=60]"))
    call("run", tmp_path / "two.yaml", "-j", 1, "--out", tmp_path)
    code, out, _ = call("plot", "ranks", "two", "--out", tmp_path)
    assert code == 0
    text = Path(out.split()[1]).read_text(encoding="utf-8")
    assert "over 2 data sets, published" in text
    assert "voLSSVM, alignment (" in text


@pytest.mark.parametrize("protocol, searches", [("nested", 6), ("5x2cv", 10), ("hold-out", 2)])
def test_where_each_split_chooses_for_itself_the_map_counts_the_choices(protocol, searches, tmp_path):
    settings = {"nested": "folds: 3\nreplicates: 2", "5x2cv": "", "hold-out": "replicates: 2"}[protocol]
    config = tmp_path / "lab.yaml"
    config.write_text(
        f"datasets: iris:sample=60\nmachines: oneLSM\nprotocol: {protocol}\n{settings}\ninner_folds: 3\n"
        "grid: {gamma: [0.25, 4], sigma: [0.5, 2]}\n"
    )
    call("run", config, "-j", 1, "--out", tmp_path)
    code, out, _ = call("plot", "grid", "lab", "--out", tmp_path)
    assert code == 0
    text = Path(out.split()[1]).read_text(encoding="utf-8")
    assert f"chosen by {searches} searches, {protocol}" in text
    code, out, _ = call("plot", "grid", "lab", "--replicate", 1, "--out", tmp_path)
    one = Path(out.split()[1]).read_text(encoding="utf-8")
    assert f"chosen by {searches // {'5x2cv': 5}.get(protocol, 2)} searches" in one


def test_the_config_of_init_can_be_plotted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 2 + i / 100},{i * 3 % 5},{'ab'[i % 2]}" for i in range(24)]
    (tmp_path / "my.csv").write_text("u,v,kind\n" + "\n".join(rows) + "\n")
    call("init", "my.csv", "-o", "mine.yaml")
    text = Path("mine.yaml").read_text()
    for before, after in (
        ("2^-4..2^4 ", "[1, 2] "),
        ("folds: 10", "folds: 2"),
        ("replicates: 3", "replicates: 1"),
    ):
        assert before in text
        text = text.replace(before, after)  # quicker, and the same kind of experiment
    Path("mine.yaml").write_text(text)
    assert call("run", "mine.yaml", "-j", 1)[0] == 0
    for figure, files in (("grid", 8), ("errors", 2)):
        assert f"`mcls plot {figure} mine`" in text
        code, out, _ = call("plot", figure, "mine")
        assert code == 0
        assert len(out.split()) == files


def test_rows_without_a_plane_are_left_out_and_said(tmp_path):
    (tmp_path / "lab.yaml").write_text(SMALL.replace("machines: [", "machines: ['oneLSM:sigma=1', "))
    call("run", tmp_path / "lab.yaml", "-j", 1, "--out", tmp_path)
    code, out, err = call("plot", "grid", "lab", "--out", tmp_path)
    assert code == 0
    assert len(out.split()) == 6
    assert "not drawn: oneLSM on iris:sample=60: a heat map needs two tuned parameters; tuned here: gamma" in err
    told = "mcls: say what to draw of lab: mcls plot grid|errors|ranks|intervals|sweep|confusion|regions lab\n"
    assert call("plot", "lab", "--out", tmp_path) == (2, "", told)
    code, _, err = call("plot", "grid", "lab", "--machine", "oneLSM:sigma=1", "--out", tmp_path)
    assert code == 2
    assert "a heat map needs two tuned parameters" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    "args, message",
    [
        (["heat"], "unknown figure 'heat'"),
        (["codes", "iris"], "unknown figure of an experiment 'codes' (known: grid, errors, ranks, intervals, "),
        (["ranks", "iris", "--machine", "ovA"], "--dataset, --machine and --replicate go with"),
        (["grid", "--machine", "ovA"], "--dataset, --machine, --replicate and --metric go with"),
        (["errors", "iris", "--replicate", "1"], "--replicate goes with: mcls plot grid"),
        (["errors", "iris", "--metric", "error"], "--metric goes with: mcls plot ranks"),
        (["importance"], "name the model to draw: mcls plot importance MODEL.mcls"),
        (["sparsity", "none.mcls"], "none.mcls"),
        (["errors", "iris"], "iris: no row has all its cells; to run them: mcls run iris --out"),
    ],
)
def test_mistakes_are_one_line(args, message, tmp_path):
    code, _, err = call("plot", *args, "--out", tmp_path)
    assert code == 2
    assert message in err
    assert err.count("\n") == 1


def test_a_model_is_drawn_by_what_it_has_to_say(tmp_path):
    rows = np.random.default_rng(0).uniform(-1, 1, size=(60, 3))
    for name, machine in (("rfm", RFM()), ("few", SparseLSM()), ("codes", LearnedLSM())):
        save(machine.fit(rows, rows[:, 1] > 0), tmp_path / f"{name}.mcls")
    for figure, name, other in (
        ("importance", "rfm", "few"),
        ("sparsity", "few", "rfm"),
        ("labels", "codes", "few"),
    ):
        code, out, _ = call("plot", figure, tmp_path / f"{name}.mcls", "--out", tmp_path)
        assert code == 0
        assert out.split() == [str(tmp_path / "figures" / f"{name}-{figure}.{kind}") for kind in ("png", "svg")]
        code, _, err = call("plot", figure, tmp_path / f"{other}.mcls", "--out", tmp_path)
        assert code == 2
        assert "mcls fit TABLE --machine" in err
