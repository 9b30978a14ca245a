"""Cells: keys that hold exactly what decides a result, and provably identical work done once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mcls.data import load_dataset
from mcls.evaluation.folds import equal_rows, stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.scaling import to_range
from mcls.experiments.cells import identity_key
from mcls.experiments.layout import plan
from mcls.experiments.loading import config_from
from mcls.machines.registry import get_machine

from .small import make_experiment


def plan_of(folder: Path = Path(), **values):
    base = {"name": "lab", "datasets": "iris", "machines": "oneLSM", "replicates": 2}
    return plan(config_from({**base, **values}, "lab"), folder)


def keys(**values) -> list[str]:
    return [cell.key for cell in plan_of(**values).cells]


@pytest.mark.parametrize(
    "change",
    [
        {"datasets": "wine"},
        {"datasets": "iris:sample=100"},
        {"machines": "ovO"},
        {"machines": "oneLSM:labelbook=fisher"},
        {"machines": "oneLSM:kernel=linear"},
        {"machines": "oneLSM:gamma=1"},
        {"grid": {"gamma": [1, 2]}},
        {"machines": {"name": "oneLSM", "grid": {"sigma": 1}}},
        {"folds": 5},
        {"protocol": "nested"},
        {"protocol": "half-split"},
        {"scaling": "fold"},
        {"seed": 1},
        {"timing": True},
    ],
)
def test_what_decides_the_result_changes_every_key(change):
    assert not set(keys()) & set(keys(**change))


@pytest.mark.parametrize(
    "change",
    [
        {"engine": "refit"},
        {"name": "other"},
        {"description": "words"},
        {"machines": "ONELSM"},
        {"machines": "oneLSM:labelbook=indicators"},
        {"machines": "oneLSM:labelbook=PM1"},
        {"machines": "oneLSM:labelbook=mincorr"},
        {"grid": {"gamma": "2^-4..2^4"}},
        {"grid": {"gamma": [0.0625, 0.125, 0.25, 0.5, 1, 2, 4, 8, 16]}},
    ],
)
def test_what_does_not_decide_the_result_keeps_the_keys(change):
    assert keys() == keys(**change)


@pytest.mark.parametrize("change", [{}, {"timing": True}, {"metric": "balanced-error"}, {"nested": 2}])
def test_the_cells_of_a_row_have_the_keys_that_each_has_by_itself(change):
    for row in plan_of(**change).rows:
        for cell in row.all_cells:
            assert replace(cell).key == cell.key == identity_key(cell.identity())
        assert [cell.replicate for cell in row.cells] == [0, 1]


def test_engine_counts_where_time_is_measured():
    assert not set(keys(timing=True)) & set(keys(timing=True, engine="refit"))


def test_adding_a_machine_or_data_set_changes_no_other_cell():
    assert set(keys()) <= set(keys(machines=["ovO", "oneLSM"], datasets=["wine", "iris"], replicates=3))


def test_published_and_nested_share_their_folds():
    row = plan_of(nested=1).rows[0]
    assert row.cells[0].seed == row.nested[0].seed
    assert len({cell.seed for cell in row.cells}) == 2


def test_equivalent_labelbooks_are_one_cell_and_others_are_not():
    books = ["pm1", "indicators", "alignment", "consistency", "mincorr"]
    for name, different in [("oneLSM", 1), ("ovA", 1), ("voLSSVM", 4), ("voRLS-f", 4)]:
        laid = plan_of(machines={"name": name, "labelbook": books}, replicates=1)
        assert [row.labelbook for row in laid.rows] == books
        assert len(laid.cells) == different
        assert laid.n_shared == 5 - different
    # Where time is measured, each is run; and Fisher's book is not a one-per-class book.
    assert len(plan_of(machines={"name": "oneLSM", "labelbook": books}, replicates=1, timing=True).cells) == 5
    assert plan_of(machines={"name": "oneLSM", "labelbook": ["pm1", "fisher"]}, replicates=1).n_shared == 0
    # Another decision rule is not covered by the theorem.
    entry = {"name": "voLSSVM", "labelbook": ["alignment", "mincorr"], "options": {"decision": "nearest"}}
    assert plan_of(machines=entry, replicates=1).n_shared == 0


@pytest.mark.parametrize(
    "name, books",
    [
        ("oneLSM", ["pm1", "indicators", "alignment", "consistency", "mincorr"]),
        ("ovA", ["pm1", "indicators", "mincorr"]),
        ("voLSSVM", ["alignment", "mincorr"]),
        ("voRLS-beta", ["alignment", "mincorr"]),
        ("voRLS-f", ["alignment", "mincorr"]),
    ],
)
def test_shared_work_is_really_identical(name, books):
    wine = load_dataset("wine")
    X, folds = to_range(wine.X), stratified_folds(wine.y, 5, 0)
    grid = {"gamma": [0.25, 4.0], "sigma": [0.5, 2.0]}
    found = [search(get_machine(name).create(labelbook=b), X, wine.y, grid, folds) for b in books]
    for other in found[1:]:
        assert np.array_equal(found[0].predictions, other.predictions)


def test_a_header_may_be_said_and_does_not_enter_the_key(tmp_path):
    rows = [f"{i % 7},{i / 9:.2f},{'ab'[i % 2]}" for i in range(1, 31)]
    (tmp_path / "my.csv").write_text("u,v,kind\n" + "\n".join(rows) + "\n")
    (tmp_path / "bare.csv").write_text("\n".join(rows) + "\n")
    found, said = (plan_of(tmp_path, datasets={"path": "my.csv", **more}) for more in ({}, {"header": True}))
    assert [cell.key for cell in said.cells] == [cell.key for cell in found.cells]
    assert plan_of(tmp_path, datasets="bare.csv:header=false").cells[0].dataset.load().n == 30
    assert plan_of(tmp_path, datasets="bare.csv:header=true").cells[0].dataset.load().n == 29


def copied(path, times):
    """Random classes, each row so many times: a narrow kernel remembers the copies."""
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{'xy'[i % 2]}\n" for i, (a, b) in enumerate(rng.normal(size=(40, 2)))]
    path.write_text("a,b,kind\n" + "".join(rows * times))


def test_equal_rows_of_a_table_stay_together_and_are_part_of_the_key(tmp_path):
    copied(tmp_path / "once.csv", 1)
    copied(tmp_path / "often.csv", 3)
    settings = {"machines": "oneLSM", "folds": 5, "replicates": 1, "grid": {"gamma": [0.01], "sigma": [0.01]}}
    once, often = (plan_of(tmp_path, datasets=f"{name}.csv", **settings) for name in ("once", "often"))
    assert once.notes == ()
    assert "groups" not in once.cells[0].identity()
    (note,) = often.notes
    assert note.startswith(
        "often: 80 of 120 rows repeat the features of an earlier row, none of them with another"
    )
    assert often.cells[0].identity()["groups"] == "equal rows"
    assert often.cells[0].compute()["error"] > 0.3
    entry = {"path": "often.csv", "split_equal_rows": True}
    split = plan_of(tmp_path, datasets=[entry], **settings)
    assert "groups" not in split.cells[0].identity()
    assert split.cells[0].compute()["error"] < 0.1


def test_a_data_set_by_name_keeps_the_folds_of_its_papers():
    tae = plan_of(datasets="tae").cells[0]  # which has equal rows
    assert equal_rows(tae.dataset.load().X) is not None
    assert "groups" not in tae.identity()


ONE = {"datasets": ["iris:sample=60"], "machines": ["oneLSM"], "replicates": 2}


def test_keys_change_only_where_another_metric_chooses(tmp_path):
    def keys(**changes):
        return [cell.key for cell in make_experiment(tmp_path, **{**ONE, **changes}).plan.cells]

    assert keys() == keys(metric="error") == keys(metric=["error", "auc", "log-loss"])
    assert keys() != keys(metric="balanced-error")
    assert keys(metric="balanced-error") == keys(metric=["Balanced-Error", "error"])
