from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat

from mcls.data import Dataset, load_card, load_dataset, resolve_options
from mcls.data.parsers import PAVIA_CLASSES
from mcls.data.variants import apply_options
from mcls.errors import McLsError


def test_vowel_defaults_to_the_training_rows() -> None:
    train, whole = load_dataset("vowel"), load_dataset("vowel", rows="all")
    assert train.X.shape == (528, 10)
    assert set(train.counts.values()) == {48}
    assert whole.X.shape == (990, 10)
    np.testing.assert_array_equal(train.X, whole.X[:528])  # the source puts the training speakers first
    assert train.options == {"rows": "train"}


def test_ecoli_with_six_classes_drops_the_two_rare_ones() -> None:
    whole, six = load_dataset("ecoli"), load_dataset("ecoli", classes=6)
    assert (whole.n, whole.n_classes) == (336, 8)
    assert (six.n, six.classes) == (332, ("cp", "im", "pp", "imU", "om", "omL"))
    kept = [i for i in range(336) if whole.classes[whole.y[i]] not in {"imL", "imS"}]
    np.testing.assert_array_equal(six.X, whole.X[kept])


def test_iris_with_two_features() -> None:
    two = load_dataset("iris", features="sepal-length+petal-width")
    assert two.feature_names == ("sepal_length", "petal_width")
    np.testing.assert_array_equal(two.X, load_dataset("iris").X[:, [0, 3]])


def test_usps_decimated_keeps_every_second_pixel() -> None:
    whole = load_dataset("usps", first=50)
    small = load_dataset("usps", resample="decimate", first=50)
    assert small.X.shape == (50, 64)
    for i in (0, 49):
        np.testing.assert_array_equal(small.X[i].reshape(8, 8), whole.X[i].reshape(16, 16)[::2, ::2])
    assert small.feature_names[8] == "x32"


def test_pavia_corner_has_the_papers_counts(shared_dir: Path) -> None:
    truth = loadmat(shared_dir / "data" / "raw" / "PaviaU_gt.mat")["paviaU_gt"]
    rows, columns = np.nonzero(truth)
    made_up = Dataset(
        name="pavia-university",
        X=np.column_stack([rows, columns]),
        y=truth[rows, columns].astype(int) - 1,
        classes=PAVIA_CLASSES,
        feature_names=("r", "c"),
        extra={"row": rows, "column": columns},
    )
    assert made_up.counts == load_card("pavia-university").classes
    corner = apply_options(made_up, {"crop": "corner"})
    with (shared_dir / "paper_tables" / "noumir2011-pavia-counts.csv").open() as table:
        published = {line["class"]: int(line["test"]) for line in csv.DictReader(table)}
    assert corner.counts == published
    np.testing.assert_array_equal(corner.X, np.column_stack([corner.extra["row"], corner.extra["column"]]))
    assert corner.X.max() < 300
    assert apply_options(made_up, {"crop": "full"}).n == 42776


def test_first_and_sample() -> None:
    iris = load_dataset("iris")
    np.testing.assert_array_equal(load_dataset("iris", first=7).X, iris.X[:7])
    assert load_dataset("iris", first=7).classes == ("setosa",)
    drawn = load_dataset("iris", sample=40, seed=3)
    assert drawn.n == 40
    assert {tuple(x) for x in drawn.X} <= {tuple(x) for x in iris.X}
    assert drawn.fingerprint == load_dataset("iris", sample=40, seed=3).fingerprint
    assert drawn.fingerprint != load_dataset("iris", sample=40, seed=4).fingerprint
    assert drawn.options == {"features": "all", "sample": 40, "seed": 3}
    assert load_dataset("iris", sample=150).fingerprint == iris.fingerprint


def test_a_draw_has_no_row_twice() -> None:
    numbered = Dataset(
        name="numbered",
        X=np.arange(30.0)[:, None],
        y=np.arange(30) % 2,
        classes=("a", "b"),
        feature_names=("i",),
    )
    for seed in range(20):
        values = apply_options(numbered, {"sample": 20, "seed": seed}).X[:, 0]
        assert np.all(np.diff(values) > 0)


def test_options_come_before_first() -> None:
    six = load_dataset("ecoli", classes=6)
    np.testing.assert_array_equal(load_dataset("ecoli", classes=6, first=300).X, six.X[:300])


@pytest.mark.parametrize(
    ("name", "options", "complaint"),
    [
        ("vowel", {"row": "all"}, "unknown option of data set vowel 'row'; did you mean 'rows'"),
        ("iris", {"rows": "all"}, "unknown option of data set iris 'rows'"),
        ("iris", {"path": "x"}, "unknown option of data set iris 'path'"),
        ("vowel", {"rows": "test"}, "rows is 'test'; it can be train or all"),
        ("ecoli", {"classes": 7}, "classes is '7'; it can be 8 or 6"),
        ("iris", {"first": 3, "sample": 3}, "first or sample, not both"),
        ("iris", {"seed": 3}, "seed belongs to sample"),
        ("iris", {"first": 0}, "first is 0; it must be a whole number from 1 up"),
        ("iris", {"first": 2.5}, "first is 2.5"),
        ("iris", {"sample": True}, "sample is True"),
        ("iris", {"sample": 5, "seed": -1}, "seed is -1; it must be a whole number from 0 up"),
        ("iris", {"first": 151}, "151 rows are asked for, the table has 150"),
        ("vowel", {"first": 529}, "529 rows are asked for, the table has 528"),
    ],
)
def test_wrong_options_say_what_is_right(name: str, options: dict, complaint: str) -> None:
    with pytest.raises(McLsError) as caught:
        load_dataset(name, **options)
    assert complaint in str(caught.value)


def test_options_can_be_checked_without_the_data() -> None:
    card = load_card("usps-esl")  # not on this machine
    assert resolve_options(card, {"resample": "decimate", "sample": 1000}) == {
        "resample": "decimate",
        "sample": 1000,
        "seed": 0,
    }
