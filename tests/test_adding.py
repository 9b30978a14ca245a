"""Adding by declaration alone, outside the source tree: the page on machines as it stands, and one of each kind."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.estimator_checks import check_estimator

import mcls.papers  # noqa: F401  (registers its plots before ours)
from mcls import labelbooks
from mcls.cli.app import main
from mcls.data import load_dataset
from mcls.evaluation import protocols
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.protocols import Protocol
from mcls.evaluation.scaling import to_range
from mcls.machines import registry
from mcls.machines.base import BaseMachine
from mcls.machines.registry import MACHINES, Machine, Tuned
from mcls.parameters import Positive
from mcls.reporting import plots
from mcls.reporting.studies import Studies

PAGE = Path(__file__).parents[1] / "docs" / "adding-a-machine.md"
REGISTRIES = (MACHINES, labelbooks.LABELBOOKS, protocols.PROTOCOLS, plots.PLOTS)


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


def by_thirds(rows, seed, settings):
    return stratified_folds(rows.y, 3, seed, rows.groups)


def judge_thirds(task, seed, settings, splits):
    return protocols.published.judge(task, seed, {"folds": 3}, splits)


def pictures(studies):
    from matplotlib.figure import Figure

    yield "dot-one", Figure(figsize=(1, 1))
    yield "dot-two", None


@pytest.fixture(autouse=True)
def module(monkeypatch):
    """The module of the page; what is registered here is forgotten afterwards."""
    before = [dict(known) for known in REGISTRIES]
    made = types.ModuleType("my_machine")
    monkeypatch.setitem(sys.modules, "my_machine", made)
    exec("\n".join(re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)), vars(made))
    made.NearestMean, made.pictures = NearestMean, pictures
    yield made
    for known, kept in zip(REGISTRIES, before):
        known.clear()
        known.update(kept)


def call(capsys, *args):
    with pytest.raises(SystemExit) as ended:
        main([str(arg) for arg in args])
    out, err = capsys.readouterr()
    assert ended.value.code in (0, None), err
    return out


def run(capsys, folder, machines, protocol="published"):
    config = folder / "lab.yaml"
    folds = "folds: 3\n" if protocol == "published" else ""
    grid = "grid: {gamma: [0.1, 1], sigma: [0.5, 2]}\n" if "shrink" not in machines else ""
    config.write_text(
        f"datasets: iris:sample=60\nmachines: {machines}\nprotocol: {protocol}\nreplicates: 2\n{folds}{grid}"
    )
    return call(capsys, "run", config, "-j", 1, "--out", folder / "out")


def test_the_machine_of_the_page_passes_the_generic_suites(module):
    data = load_dataset("iris")
    X, y = to_range(data.X), data.y
    folds = stratified_folds(y, 5, seed=0)
    grid = {"gamma": [0.01, 1.0], "sigma": [0.1, 1.0, 8.0]}
    for machine in (module.Mine(), module.FastMine()):
        assert {r["status"] for r in check_estimator(machine, on_skip=None)} <= {"passed", "skipped"}
        fast, refit = (search(machine, X, y, grid, folds, engine=engine) for engine in ("fast", "refit"))
        assert np.array_equal(fast.predictions, refit.predictions)


def test_the_machine_of_the_page_goes_through_every_command(capsys, tmp_path):
    assert "mine" in call(capsys, "machines")
    assert "mine" in run(capsys, tmp_path, "[mine, oneLSM]")
    options = ("--dataset", "iris:sample=60", "-j", 1, "--out", tmp_path / "out")
    assert "identical" in call(capsys, "compare", "mine", "oneLSM", *options)
    table, model = Path(__file__).parents[1] / "datasets" / "wine.csv", tmp_path / "m.mcls"
    call(capsys, "fit", table, "--target", "class", "--machine", "mine", "--folds", 3, "-o", model)
    assert "prediction" in call(capsys, "predict", model, table)
    assert call(capsys, "plot", "errors", "lab", "--out", tmp_path / "out")


def test_a_machine_on_rows_a_labelbook_a_protocol_and_a_plot(capsys, tmp_path):
    registry.register(
        Machine("near", "my_machine:NearestMean", "the nearest mean", "none", tuned={"shrink": Tuned((1.0, 2.0))})
    )
    assert "near" in run(capsys, tmp_path, "[{name: near, grid: {shrink: [1, 2]}}]")
    double = labelbooks.Labelbook("double", "twice the indicators", "none", lambda ell, counts: 2 * np.eye(ell))
    labelbooks.register(double)
    assert "double" in run(capsys, tmp_path, "['voLSSVM:labelbook=double']")
    protocols.register(
        Protocol(
            "thirds", "three folds", by_thirds, judge_thirds, replicates=lambda settings: 4, seed_group="folds"
        )
    )
    run(capsys, tmp_path, "[oneLSM]", protocol="thirds")
    assert "`thirds`: three folds." in (tmp_path / "out/lab/summary.md").read_text()
    plots.register(plots.Plot("dot", "a dot", "my_machine:pictures", section="overview"))
    drawn = plots.draw(plots.PLOTS["dot"], Studies(tmp_path / "out"))
    assert [len(files) for files in drawn.values()] == [2, 0]
    assert "dot-one.svg" in call(capsys, "plot", "dot", "--out", tmp_path / "out")
