"""Large tables piece by piece against the landmark machine in memory: the same classes, folds and coefficients."""

import numpy as np
import pytest

from mcls import OneLSM
from mcls.data import parts, scanning, statistics
from mcls.data.encoder import Reading
from mcls.data.encoding import read_values
from mcls.data.tables import read_table
from mcls.errors import McLsError
from mcls.models import large_search
from mcls.models.fitting import fit_table
from mcls.models.large import LargeSettings, fit_large, why_not
from mcls.models.large_search import KernelSearch
from mcls.models.passes import Job
from mcls.models.saving import dump, load, save
from mcls.models.spreading import Here
from mcls.models.streaming import is_training_table
from mcls.solvers import lsm, nystrom
from tests.models.large import MACHINE, fit, made_up

pytestmark = pytest.mark.usefixtures("small_pieces")


def encoded(path, model):
    """The rows in memory, encoded by the model, and their classes."""
    read = read_table(path, "kind")
    columns = {column.name: column for column in read.columns}
    values = read_values([columns[name] for name in model.encoder.names], model.encoder)
    return model.encoder.features(values, Reading()), np.array(read.labels.levels)[read.labels.codes]


@pytest.mark.parametrize(
    "roles",
    [
        {},
        {"group": "who"},
        {"weight": "count"},
        {"settings": {"groups": None}},
        {"machine": f"{MACHINE},class_weight=balanced"},
    ],
    ids=str,
)
def test_it_is_the_landmark_machine_of_all_rows_cross_validated_on_its_folds(table, roles, monkeypatch):
    keys = []
    real = Job.encoded
    monkeypatch.setattr(Job, "encoded", lambda self, *a: keys.append(real(self, *a)) or keys[-1])
    made = fit(table, workers=Here(1), **roles)
    model = made.model
    X, names = encoded(table, model)
    machine = model.estimator
    classes, y = np.unique(names, return_inverse=True)
    assert machine.classes_.tolist() == classes.tolist()
    w = read_table(table, "kind").columns[-1].values if "weight" in roles else None
    fitted = OneLSM(**{**machine.get_params(), "calibration": None})
    # Classes are weighed by their counts in all rows, in every fold.
    learned = w if "machine" not in roles else (len(y) / (3 * np.bincount(y)))[y]
    fitted._fit_landmarks(X, y, 3, machine.X_fit_, *([] if learned is None else [learned]))
    assert np.array_equal(fitted._row_scores(X).argmax(1), machine._row_scores(X).argmax(1))
    assert np.abs(fitted._row_scores(X) - machine._row_scores(X)).max() < 1e-6
    # The folds of the last pass, which has read every row once.
    rows = []
    while sum(len(r.y) for r in rows) < len(y):
        rows.insert(0, keys.pop()[0])
    folds = np.concatenate([r.folds for r in rows])
    assert np.array_equal(np.concatenate([r.X for r in rows]), X)
    splits = [(np.flatnonzero(folds != f), np.flatnonzero(folds == f)) for f in range(4)]
    assert all(len(test) > 150 for _, test in splits)
    scores = nystrom.sweep(
        machine._kernel, X, lsm.indicators(y, 3), machine.X_fit_, splits, [machine.gamma], 64, learned
    )
    predicted = np.empty(len(y), dtype=int)
    for (_, test), of in zip(splits, scores):
        predicted[test] = of[0].argmax(1)
    counts = np.zeros((3, 3))
    np.add.at(counts, (y, predicted), 1.0 if w is None else w)
    assert np.array_equal(made.confusion.counts, counts)
    if not roles:  # equal rows share a fold
        assert np.array_equal(folds[:40], folds[-40:])
    assert made.selection.error == pytest.approx(
        np.mean([np.average((predicted != y)[t], weights=None if w is None else w[t]) for _, t in splits])
    )


def test_rows_and_classes_cannot_both_have_weights(table):
    with pytest.raises(McLsError, match="not both"):
        fit(table, machine=f"{MACHINE},class_weight=balanced", weight="count")


@pytest.mark.parametrize(
    ("role", "cells", "complaint"),
    [
        ("weight", ["1"] * 939 + ["heavy"], "must hold weights, which are numbers; the row at line 941 has 'h"),
        ("weight", ["1"] * 939 + [""], "the weight of a row is missing in column 'role': the row at line 941"),
        ("weight", ["0"] * 940, r"column 'role': every (sample_)?weight is zero"),
        ("group", ["a"] * 939 + [""], "the group of a row is missing in column 'role': the row at line 941"),
        ("group", ["7"] * 940, "column 'role' holds one group only"),
        ("group", ["a"] * 940, "column 'role' holds one group only"),
    ],
)
def test_groups_and_weights_that_are_none_are_refused_as_in_memory(tmp_path, monkeypatch, role, cells, complaint):
    monkeypatch.setattr(parts, "_SCANNED", 1)
    monkeypatch.setattr(scanning, "CHUNK_ROWS", 100)  # what the last row has is seen late
    made_up().assign(role=cells).to_csv(tmp_path / "t.csv", index=False)
    for read in (fit, lambda path, **roles: fit_table(path, "kind", "oneLSM", **roles)):
        with pytest.raises(McLsError, match=complaint):
            read(tmp_path / "t.csv", **{role: "role"})


def test_there_may_be_more_groups_than_texts_of_a_feature(tmp_path, monkeypatch):
    monkeypatch.setattr(statistics, "MOST_TEXTS", 100)
    frame = made_up()
    frame.assign(who=[f"user {i}" for i in frame["who"]]).to_csv(tmp_path / "t.csv", index=False)
    assert fit(tmp_path / "t.csv", group="who").selection.n_independent == frame["who"].nunique() > 200
    with pytest.raises(McLsError, match="column 'who' has more than 100 different texts"):
        fit(tmp_path / "t.csv")


def test_groups_that_all_come_into_one_fold_are_refused(tmp_path):
    made_up().assign(role=["north", "west"] * 470).to_csv(tmp_path / "t.csv", index=False)
    with pytest.raises(McLsError, match=r"t\.csv: too few groups: they are all in one fold; use more folds"):
        fit(tmp_path / "t.csv", group="role")  # the fold of a group is drawn by its name


def test_the_model_is_saved_judged_and_known_again(table, tmp_path):
    told = []
    made = fit(table, say=told.append)
    assert list(made.model.facts.classes) == ["8", "9", "10"]
    assert sum(made.model.facts.classes.values()) == made.model.facts.rows == 940
    assert any("beside the exact machine on 940 rows: " in note for note in told)
    assert made.selection.n_independent == 900
    save(made.model, tmp_path / "m.mcls")
    again = load(tmp_path / "m.mcls")
    frame = made_up()
    assert np.array_equal(again.predict(frame), made.model.predict(frame))
    assert np.array_equal(
        again.predict_proba(frame).argmax(1), np.searchsorted(again.classes, again.predict(frame))
    )
    assert is_training_table(again, table)
    frame.sample(frac=1, random_state=0).to_csv(tmp_path / "other-order.csv", index=False)
    assert is_training_table(again, tmp_path / "other-order.csv")
    frame.assign(f0=frame["f0"] + 0.1).to_csv(tmp_path / "other.csv", index=False)
    assert not is_training_table(again, tmp_path / "other.csv")


def test_threads_and_files_of_another_kind_change_nothing_that_counts(table, tmp_path):
    one, two = (dump(fit(table, workers=Here(threads)).model) for threads in (1, 2))
    assert one == two
    made_up().to_csv(tmp_path / "t.csv", index=False)
    text = fit(tmp_path / "t.csv").model
    assert text.facts.fingerprint.encode() in one


def test_widths_are_found_for_the_landmarks_not_for_the_exact_machine(table, monkeypatch):
    monkeypatch.setattr(large_search, "EXACT_ROWS", 200)
    tried = []
    real = KernelSearch._held_out
    monkeypatch.setattr(KernelSearch, "_held_out", lambda self, k, g, m: tried.append(k) or real(self, k, g, m))
    made = fit(table, grid="auto")
    assert len(tried) >= 3
    assert made.selection.best_params["sigma"] in [point["sigma"] for point in tried]
    assert made.selection.error < 0.35
    assert made.model.facts.grid["gamma"] == sorted(made.model.facts.grid["gamma"])


def test_the_sample_is_not_the_table(table, monkeypatch):
    monkeypatch.setattr(statistics, "SAMPLE_ROWS", 300)
    for function in (statistics.merge_counts, statistics.count_piece):
        monkeypatch.setattr(function, "__defaults__", (300,))
    told = []
    made = fit(table, say=told.append)
    assert any("calibrated on a sample of 300 rows" in note for note in told)
    assert made.confusion.n == 940


def test_classes_that_somebody_typed_in_two_ways_are_told(tmp_path):
    made_up().replace({"kind": {"10": "Red", "9": "red"}}).to_csv(tmp_path / "t.csv", index=False)
    notes = fit(tmp_path / "t.csv").model.facts.notes
    assert any("capitals or spaces alone: 'Red' and 'red'" in note for note in notes)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"machine": "auto"}, "not ranked"),
        ({"machine": "ovO"}, "only oneLSM"),
        ({"machine": "oneLSM:calibration=decide"}, "scores decide"),
        ({"machine": "oneLSM:solver=exact"}, "only oneLSM"),
        ({"metric": "log-loss"}, "metrics of classes"),
        ({"folds": "loo"}, "by their number"),
        ({"repeats": 3}, "not repeated"),
    ],
    ids=str,
)
def test_what_cannot_be_done_piece_by_piece_is_told(table, settings, reason):
    assert reason in why_not(LargeSettings(**settings))
    with pytest.raises(McLsError, match=reason):
        fit_large([table], "kind", LargeSettings(**settings))


def test_fit_table_reads_a_small_table_as_ever_and_a_large_one_piece_by_piece(table, monkeypatch):
    options = {"grid": {"sigma": [1.0], "gamma": [1.0]}, "folds": 3, "nested": False, "calibration": None}
    assert not fit_table(table, "kind", **options).model.facts.fingerprint.startswith("rows:")
    monkeypatch.setattr(parts, "MANY_ROWS", 500)
    assert fit_table(table, "kind", "oneLSM:n_landmarks=50", **options).model.facts.fingerprint.startswith("rows:")
    assert not fit_table(table, "kind", "ovA", **options).model.facts.fingerprint.startswith("rows:")
