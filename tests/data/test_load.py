from __future__ import annotations

import hashlib
import io
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat, savemat
from sklearn.datasets import load_digits

from mcls.data import card_names, load_card, load_dataset
from mcls.data.cache import RefusedError, put_in_cache
from mcls.data.load import read_shipped
from mcls.data.parsers import PAVIA_CLASSES
from mcls.errors import McLsError
from mcls.resources import datasets_dir

OFFLINE = [name for name in card_names() if load_card(name).origin in {"shipped", "generated"}]


@pytest.mark.parametrize("name", OFFLINE)
def test_what_works_offline_is_what_its_card_says(name: str, cache: Path) -> None:
    data = load_dataset(name)
    assert data.X.dtype == np.float64
    assert np.isfinite(data.X).all()
    assert data.name == name
    assert not cache.exists()  # nothing was written


def test_glass_has_nine_features(cache: Path) -> None:
    glass = load_dataset("Glass")
    assert glass.X.shape == (214, 9)
    assert glass.classes == ("1", "2", "3", "5", "6", "7")


def test_shipped_values_are_the_decimals_they_print(cache: Path) -> None:
    assert load_dataset("wine").X[0, 7] == 0.28  # printed .28
    usps = load_dataset("usps", first=200)
    np.testing.assert_array_equal(usps.X, np.round(usps.X, 4))


def test_the_cache_comes_before_the_shipped_copy(
    cache: Path, iris_raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_cache(load_card("iris"), {"iris.data": iris_raw})
    monkeypatch.setattr("mcls.data.load.datasets_dir", lambda: cache / "nowhere")
    assert load_dataset("iris").fingerprint == load_card("iris").fingerprint
    with pytest.raises(McLsError, match="the installation is incomplete"):
        load_dataset("wine")


def test_a_damaged_cached_file_gives_way_to_the_shipped_copy(cache: Path) -> None:
    put_in_cache(load_card("iris"), {"iris.data": b"<html>"})
    with pytest.warns(UserWarning, match="looks like a web page"):
        assert load_dataset("iris").fingerprint == load_card("iris").fingerprint


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("5.1,3.5,1.4,0.2,setosa", "5.1,3.5,1.4,0.3,setosa", "found fingerprint"),
        ("5.1,3.5,1.4,0.2,setosa", "5.1,3.5,1.4,0.2,virginica", "has classes"),
        ("5.1,3.5,1.4,0.2,setosa", "5.1,3.5,1.4,0.2,rose", "has classes"),
        ("5.1,3.5,1.4,0.2,setosa\n", "", "is 149 × 4, expected 150 × 4"),
        ("5.1,3.5,1.4,0.2,setosa", "5.1,3.5,1.4,setosa", "cells"),
        ("5.1,3.5,1.4,0.2,setosa", "5.1,3.5,1.4,?,setosa", "cannot be read"),
    ],
)
def test_a_changed_shipped_table_is_refused(
    old: str, new: str, complaint: str, tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (datasets_dir() / "iris.csv").read_text()
    assert old in text
    (tmp_path / "iris.csv").write_text(text.replace(old, new, 1))
    monkeypatch.setattr("mcls.data.load.datasets_dir", lambda: tmp_path)
    with pytest.raises(McLsError, match=complaint) as caught:
        load_dataset("iris")
    assert str(tmp_path / "iris.csv") in str(caught.value)


def test_a_damaged_archive_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(datasets_dir() / "letter.csv.gz", tmp_path)
    content = (tmp_path / "letter.csv.gz").read_bytes()
    (tmp_path / "letter.csv.gz").write_bytes(content[:-100])
    (tmp_path / "usps.npz").write_bytes(b"PK nothing")
    monkeypatch.setattr("mcls.data.load.datasets_dir", lambda: tmp_path)
    for name in ("letter", "usps"):
        with pytest.raises(McLsError, match="cannot be read"):
            read_shipped(load_card(name))


def test_the_digits_are_those_of_scikit_learn() -> None:
    ours, theirs = load_dataset("digits"), load_digits()
    np.testing.assert_array_equal(ours.X, theirs.data)
    np.testing.assert_array_equal(ours.y, theirs.target)
    assert ours.feature_names == tuple(theirs.feature_names)


def test_a_set_that_must_be_fetched_says_how_to_help_oneself(cache: Path) -> None:
    with pytest.raises(McLsError, match=r"cannot get zip\.train\.gz.*mcls data import usps-esl PATH"):
        load_dataset("usps-esl")


def test_pavia_from_the_cache(cache: Path, raw_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real ground truth and a made-up cube, through the cache, the parser, the card and the crop."""
    truth = loadmat(raw_dir / "PaviaU_gt.mat")["paviaU_gt"]
    rows, columns = np.indices(truth.shape)
    buffer = io.BytesIO()
    savemat(buffer, {"paviaU": np.stack([rows, columns, truth], axis=2).astype(np.uint16)})
    real = load_card("pavia-university")
    cube = real.files[0].model_copy(
        update={"bytes": len(buffer.getvalue()), "sha256": hashlib.sha256(buffer.getvalue()).hexdigest()}
    )
    card = real.model_copy(update={"files": [cube, real.files[1]], "shape": [42776, 3]})
    monkeypatch.setattr("mcls.data.load.load_card", lambda name: card)
    put_in_cache(
        card,
        {"PaviaU.mat": buffer.getvalue(), "PaviaU_gt.mat": (raw_dir / "PaviaU_gt.mat").read_bytes()},
    )
    corner = load_dataset("pavia-university")
    assert (corner.n, corner.n_classes) == (14100, 7)
    np.testing.assert_array_equal(corner.X[:, 0], corner.extra["row"])
    np.testing.assert_array_equal(corner.X[:, 1], corner.extra["column"])
    names = [PAVIA_CLASSES[int(code) - 1] for code in corner.X[:, 2]]
    assert names == [corner.classes[code] for code in corner.y]
    assert load_dataset("pavia-university", crop="full").n == 42776


def test_a_file_of_the_right_checksum_but_the_wrong_table_is_refused(
    cache: Path, iris_raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    swapped = iris_raw.replace(b"Iris-setosa", b"Iris-rose")
    real = load_card("iris")
    file = real.files[0].model_copy(update={"bytes": len(swapped), "sha256": hashlib.sha256(swapped).hexdigest()})
    card = real.model_copy(update={"files": [file]})
    put_in_cache(card, {"iris.data": swapped})
    monkeypatch.setattr("mcls.data.load.load_card", lambda name: card)
    with pytest.raises(RefusedError, match=r"iris\.data from the cache cannot be parsed"):
        load_dataset("iris")
