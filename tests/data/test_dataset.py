from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from mcls.data import Dataset


@pytest.fixture
def data() -> Dataset:
    return Dataset(
        name="tiny",
        X=np.array([[0.5, -1.0], [0.1, 2.0], [3.0, 4.0]]),
        y=np.array([0, 1, 2]),
        classes=("a", "b", "ç"),
        feature_names=("p", "q"),
        extra={"split": np.array(["train", "test", "test"]), "row": np.array([4, 5, 6])},
    )


def test_the_fingerprint_is_a_fixed_function_of_the_content(data: Dataset) -> None:
    # Written down once: a change of this value would orphan every stored result.
    assert data.fingerprint == "3197b37eba51a0c337f23aff4a5e3c4370a9e3afdd379a579de943d27dabf20f"
    assert pickle.loads(pickle.dumps(data)).fingerprint == data.fingerprint
    assert replace(data, name="other", options={"rows": "all"}).fingerprint == data.fingerprint
    assert replace(data, X=np.asfortranarray(data.X), y=data.y.astype(np.int8)).fingerprint == data.fingerprint


@pytest.mark.parametrize(
    "change",
    [
        {"X": np.array([[0.5, -1.0], [0.1, 2.0], [3.0, np.nextafter(4.0, 5.0)]])},
        {"y": np.array([1, 0, 2])},
        {"classes": ("a", "b", "c")},
        {"feature_names": ("p", "r")},
        {"extra": {"split": np.array(["train", "train", "test"]), "row": np.array([4, 5, 6])}},
        {"extra": {"split": np.array(["train", "test", "test"])}},
    ],
)
def test_the_fingerprint_sees_every_part(data: Dataset, change: dict) -> None:
    assert replace(data, **change).fingerprint != data.fingerprint


def test_minus_zero_is_zero(data: Dataset) -> None:
    plus, minus = (replace(data, X=np.full((3, 2), zero)) for zero in (0.0, -0.0))
    assert plus.fingerprint == minus.fingerprint


def test_rows_take_their_extra_columns_along_and_empty_classes_go(data: Dataset) -> None:
    part = data.take_rows(data.extra["split"] == "test")
    assert part.classes == ("b", "ç")
    assert part.y.tolist() == [0, 1]
    assert part.X.tolist() == [[0.1, 2.0], [3.0, 4.0]]
    assert part.extra["row"].tolist() == [5, 6]
    assert data.take_rows([2, 0]).X.tolist() == [[3.0, 4.0], [0.5, -1.0]]


def test_features_are_taken_in_the_given_order(data: Dataset) -> None:
    part = data.take_features([1, 0])
    assert part.feature_names == ("q", "p")
    assert part.X[0].tolist() == [-1.0, 0.5]


def test_sizes_and_counts(data: Dataset) -> None:
    assert (data.n, data.d, data.n_classes) == (3, 2, 3)
    assert data.counts == {"a": 1, "b": 1, "ç": 1}
    assert repr(data) == "Dataset(tiny: 3 × 2, 3 classes)"


def test_nobody_can_change_it(data: Dataset) -> None:
    with pytest.raises(ValueError, match="read-only"):
        data.X[0, 0] = 7.0
    with pytest.raises(AttributeError):
        data.name = "else"  # type: ignore[misc]


@pytest.mark.parametrize(
    "change",
    [
        {"X": np.zeros(3)},
        {"X": np.zeros((2, 2))},
        {"feature_names": ("p",)},
        {"y": np.array([0, 0, 2])},  # class 1 has no row
        {"y": np.array([0, 1, 3])},
        {"extra": {"row": np.array([1])}},
    ],
)
def test_parts_that_do_not_fit_are_refused(data: Dataset, change: dict) -> None:
    with pytest.raises(ValueError):
        replace(data, **change)
