"""Adding by declaration alone, outside the source tree: every page docs/adding-*.md is run as it stands."""

from __future__ import annotations

import importlib
import re
import sys
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from mcls import labelbooks
from mcls.data import load_dataset
from mcls.evaluation import protocols
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.metrics import METRICS, get_metric
from mcls.evaluation.scaling import to_range
from mcls.machines import registry
from mcls.machines.base import BaseMachine
from mcls.machines.registry import MACHINES, Machine, Tuned
from mcls.papers import PAPERS
from mcls.parameters import Positive
from mcls.reporting import plots

from .command import call

ROOT = Path(__file__).parents[1]
REGISTRIES = (
    MACHINES,
    labelbooks.LABELBOOKS,
    METRICS,
    protocols.PROTOCOLS,
    protocols.SETTINGS,
    plots.PLOTS,
    PAPERS,
)


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in one language."""
    text = (ROOT / f"docs/adding-a-{page}.md").read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


@pytest.fixture(autouse=True)
def clean():
    """What is registered here is forgotten afterwards."""
    before = [dict(known) for known in REGISTRIES]
    yield
    for known, kept in zip(REGISTRIES, before):
        known.clear()
        known.update(kept)


@pytest.fixture
def execute(monkeypatch, tmp_path_factory):
    """Install the Python of a page as a package outside the source tree, and import it."""
    folder = tmp_path_factory.mktemp("site")
    monkeypatch.syspath_prepend(folder)

    def run(page: str, name: str = "my_package") -> types.ModuleType:
        (folder / name).mkdir()
        (folder / name / "__init__.py").write_text("\n".join(blocks(page, "python")), encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
        module = importlib.import_module(name)
        monkeypatch.setitem(sys.modules, name, module)  # and forgotten afterwards
        return module

    return run


@pytest.fixture
def module(execute):
    """The module of the page on machines, with a machine on rows beside it."""
    made = execute("machine", "my_machine")
    made.NearestMean = NearestMean
    return made


def done(*args: object) -> str:
    """Run a command that succeeds: its output."""
    code, out, err = call(*args)
    assert code == 0, err
    return out


class NearestMean(BaseMachine):
    """A machine on rows: the class whose mean, drawn to the middle of all rows by ``shrink``, is nearest."""

    checks = {"shrink": Positive()}  # noqa: RUF012

    def __init__(self, shrink=1.0):
        self.shrink = shrink

    def _fit_rows(self, X, y, n_classes):
        means = np.stack([X[y == c].mean(axis=0) for c in range(n_classes)])
        self.means_ = X.mean(axis=0) + (means - X.mean(axis=0)) / self.shrink

    def _row_scores(self, X):
        return -np.square(X[:, None, :] - self.means_).sum(axis=-1)


def run(folder: Path, text: str) -> str:
    """Run a config."""
    (folder / "lab.yaml").write_text(text)
    return done("run", folder / "lab.yaml", "-j", 1, "--out", folder / "out")


GRID = "grid: {gamma: [0.1, 1], sigma: [0.5, 2]}"
SMALL = "datasets: iris:sample=60\nmachines: %s\nfolds: 3\nreplicates: 2\n" + GRID + "\n"


def test_the_machine_of_the_page_passes_the_generic_suites(module):
    data = load_dataset("iris")
    X, y = to_range(data.X), data.y
    folds = stratified_folds(y, 5, seed=0)
    grid = {"gamma": [0.01, 1.0], "sigma": [0.1, 1.0, 8.0]}
    for machine in (module.Mine(), module.FastMine()):
        assert {r["status"] for r in check_estimator(machine, on_skip=None)} <= {"passed", "skipped"}
        fast, refit = (search(machine, X, y, grid, folds, engine=engine) for engine in ("fast", "refit"))
        assert np.array_equal(fast.predictions, refit.predictions)


@pytest.mark.parametrize("name", ["mine", "near"])
def test_a_machine_goes_through_every_command(module, tmp_path, name):
    registry.register(
        Machine("near", "my_machine:NearestMean", "the nearest mean", "none", tuned={"shrink": Tuned((1.0, 2.0))})
    )
    assert name in done("machines")
    grid = "" if name == "mine" else ", grid: {shrink: [1, 2]}"
    assert name in run(tmp_path, SMALL.replace(GRID, "") % f"[{{name: {name}{grid}}}]")
    options = ("--dataset", "iris:sample=60", "-j", 1, "--out", tmp_path / "out")
    verdict = done("compare", name, "oneLSM", *options)
    assert "identical" in verdict or name == "near"
    table, model = ROOT / "datasets" / "wine.csv", tmp_path / "m.mcls"
    done("fit", table, "--target", "class", "--machine", name, "--folds", 3, "-o", model)
    assert "prediction" in done("predict", model, table)
    assert name in done("tables", "lab", "--no-run", "--out", tmp_path / "out")
    assert done("plot", "errors", "lab", "--out", tmp_path / "out")


def test_the_machine_on_rows_passes_the_generic_suites(module):
    assert {r["status"] for r in check_estimator(NearestMean(), on_skip=None)} <= {"passed", "skipped"}


def test_the_labelbook_of_the_page(execute, tmp_path):
    B = execute("labelbook").corners(4, None)
    assert B.shape == (2, 4)
    assert "corners" in run(tmp_path, blocks("labelbook", "yaml")[0])
    out = ("--out", tmp_path / "out")
    assert "voLSSVM" in done("tables", "lab", "--no-run", *out)
    assert done("plot", "errors", "lab", *out)
    options = ("--dataset", "iris:sample=60", "-j", 1, *out)
    assert "corners" in done(
        "compare", "voLSSVM:labelbook=corners,gamma=1,sigma=1", "oneLSM:gamma=1,sigma=1", *options
    )
    table, model = ROOT / "datasets" / "wine.csv", tmp_path / "m.mcls"
    done("fit", table, "--target", "class", "--machine", "voLSSVM:labelbook=corners", "--folds", 3, "-o", model)
    assert "prediction" in done("predict", model, table)


def test_the_metric_of_the_page_goes_through_every_command(execute, tmp_path):
    execute("metric")  # its assertions
    y, codes = np.array([0, 0, 0, 1]), np.array([[0, 0, 1, 1], [0, 0, 0, 0]])
    assert np.allclose(get_metric("worst-class")(y, codes), [1 / 3, 1])
    run(tmp_path, SMALL % "[oneLSM, voLSSVM]" + "metric: [worst-class, error]\n")
    summary = pd.read_csv(tmp_path / "out/lab/summary.csv")
    assert [c for c in summary.columns if "worst-class" in c]
    options = ("--dataset", "iris:sample=60", "-j", 1, "--out", tmp_path / "out")
    assert "worst-class" in done("compare", "voLSSVM", "oneLSM", "--metric", "worst-class", *options)
    table, model = ROOT / "datasets" / "wine.csv", tmp_path / "m.mcls"
    chosen = done("fit", table, "--target", "class", "--folds", 3, "--metric", "worst-class", "-o", model)
    assert "worst-class" in chosen
    assert "worst-class" in done("evaluate", model, table)
    assert "worst-class" in done("tables", "lab", "--no-run", "--out", tmp_path / "out")
    assert done("plot", "errors", "lab", "--out", tmp_path / "out")


def test_the_protocol_of_the_page(execute, tmp_path):
    execute("protocol")
    text = blocks("protocol", "yaml")[0]
    run(tmp_path, text)
    assert "`ordered`: the first rows of each class" in (tmp_path / "out/lab/summary.md").read_text()
    assert "ordered" in done("tables", "lab", "--no-run", "--out", tmp_path / "out")
    assert done("plot", "errors", "lab", "--out", tmp_path / "out")
    (tmp_path / "bad.yaml").write_text(text.replace("0.6", "7"))
    code, _, err = call("validate", tmp_path / "bad.yaml")
    assert (code, "between 0 and 1" in err) == (2, True)


def test_the_plot_of_the_page(execute, tmp_path):
    execute("plot", "my_plot")
    run(tmp_path, SMALL % "[oneLSM]")
    assert "means" in done("plot", "--out", tmp_path / "out")
    assert "means-lab.svg" in done("plot", "means", "--out", tmp_path / "out")


def test_the_data_set_of_the_page(tmp_path, monkeypatch):
    folder = tmp_path / "datasets"
    folder.mkdir()
    for module in ("cards", "load"):
        monkeypatch.setattr(f"mcls.data.{module}.datasets_dir", lambda: folder)
    (folder / "gates.csv").write_text(blocks("data-set", "csv")[0])
    card = blocks("data-set", "yaml")[0] + done("data", "fingerprint", folder / "gates.csv")
    (folder / "gates.yaml").write_text(card)
    assert "gates: ok" in done("data", "verify")
    assert "6 rows" in " ".join(done("data", "show", "gates").split())
    assert load_dataset("gates").counts == {"different": 3, "same": 3}


def test_the_paper_of_the_page(execute, tmp_path, monkeypatch):
    figures = tmp_path / "euler1768-errors.csv"
    figures.write_text(blocks("paper", "csv")[0])
    monkeypatch.setattr("mcls.reporting.published.published_files", lambda: {figures.stem: figures})
    PAPERS["euler1768"] = execute("paper").PAPER
    out = done("tables", "euler1768", "--no-run", "--out", tmp_path / "out")
    assert "Letters" not in out
    assert "INCOMPLETE" in out
    assert "3.10" in (tmp_path / "out/tables/euler1768-errors.md").read_text()


def test_every_page_is_run():
    pages = {path.stem.removeprefix("adding-a-") for path in (ROOT / "docs").glob("adding-*.md")}
    assert pages == {"machine", "labelbook", "metric", "protocol", "plot", "data-set", "paper"}
