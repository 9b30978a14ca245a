from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from mcls.data import parsers
from mcls.data.cards import card_names, load_card
from mcls.data.load import parse_files, read_shipped
from mcls.errors import McLsError

UCI = [name for name in card_names() if load_card(name).origin == "shipped" and load_card(name).files]


def test_there_are_eleven_uci_sets() -> None:
    assert len(UCI) == 11


@pytest.mark.parametrize("name", UCI)
def test_the_raw_file_gives_the_shipped_table(name: str, raw_dir: Path) -> None:
    card = load_card(name)
    raw = parse_files(card, {file.name: (raw_dir / file.name).read_bytes() for file in card.files}, "raw")
    shipped = read_shipped(card)
    np.testing.assert_array_equal(raw.X, shipped.X)
    np.testing.assert_array_equal(raw.y, shipped.y)
    assert raw.fingerprint == shipped.fingerprint == card.fingerprint


def test_usps_esl_is_what_its_card_says(raw_dir: Path) -> None:
    card = load_card("usps-esl")
    data = parse_files(card, {file.name: (raw_dir / file.name).read_bytes() for file in card.files}, "raw")
    assert data.fingerprint == card.fingerprint
    assert (data.X.min(), data.X.max()) == (-1.0, 1.0)
    assert data.X[0, 6:9].tolist() == [-1.0, -0.631, 0.862]  # as zip.train's first row prints them
    assert (data.extra["split"] == "train").sum() == 7291


def test_iris_put_together_again_is_iris(iris_raw: bytes) -> None:
    card = load_card("iris")
    assert parse_files(card, {"iris.data": iris_raw}, "memory").fingerprint == card.fingerprint


def test_delimited_layouts() -> None:
    last = parsers.delimited(b"1,2,a\n3,4,b\n\n")
    assert last.X.tolist() == [[1, 2], [3, 4]]
    assert last.labels == ["a", "b"]
    assert parsers.delimited(b"a,1,2\n", label=0).X.tolist() == [[1, 2]]
    numbered = parsers.delimited(b"id7  1  2   1\n", sep=None, identifiers=1, spell={"1": "hard"})
    assert numbered.X.tolist() == [[1, 2]]
    assert numbered.labels == ["hard"]


def test_canonical_picks_features_by_name() -> None:
    table = parsers.canonical(b"split,b,a,class\ntrain,1,2,x\ntest,3,.5,y\n", ["a", "b"])
    assert table.X.tolist() == [[2, 1], [0.5, 3]]
    assert table.extra["split"].tolist() == ["train", "test"]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "empty"),
        (b"a,class\n1,x\n1,2,x\n", "row 3 has 3 cells, the first row has 2"),
        (b"b,class\n1,x\n", "no column a"),
        (b"a,class\none,x\n", "one"),
        (b"a,class\n\xff,x\n", "not a text file"),
    ],
)
def test_damaged_tables_are_refused(content: bytes, complaint: str) -> None:
    with pytest.raises(McLsError, match=complaint):
        parsers.canonical(content, ["a"])


def test_gzip_is_bounded_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = gzip.compress(b"x" * 1000)
    assert parsers.gunzip(packed) == b"x" * 1000
    for damaged in (b"no gzip", packed[:-9], packed[:12] + b"\xff\xff\xff" + packed[15:]):
        with pytest.raises(McLsError, match="not a readable gzip file"):
            parsers.gunzip(damaged)
    monkeypatch.setattr(parsers, "MAX_UNPACKED", 999)
    with pytest.raises(McLsError, match="more than 999 bytes"):
        parsers.gunzip(packed)


def matlab(**arrays: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    savemat(buffer, arrays)
    return buffer.getvalue()


def test_pavia_takes_the_labelled_pixels_with_their_places() -> None:
    truth = np.array([[0, 1], [9, 0], [2, 0]], dtype=np.uint8)
    cube = np.arange(3 * 2 * 4, dtype=np.uint16).reshape(3, 2, 4)
    table = parsers.pavia(matlab(paviaU=cube), matlab(paviaU_gt=truth))
    assert table.labels == ["Asphalt", "Shadow", "Meadows"]
    assert table.extra["row"].tolist() == [0, 1, 2]
    assert table.extra["column"].tolist() == [1, 0, 0]
    assert table.X.tolist() == [[4, 5, 6, 7], [8, 9, 10, 11], [16, 17, 18, 19]]


@pytest.mark.parametrize(
    ("cube", "truth", "complaint"),
    [
        (b"<html>", matlab(paviaU_gt=np.ones((2, 2))), "not a readable MATLAB 5 file"),
        (matlab(other=np.ones((2, 2, 1))), matlab(paviaU_gt=np.ones((2, 2))), "no numeric array 'paviaU'"),
        (matlab(paviaU=np.ones((2, 2))), matlab(paviaU_gt=np.ones((2, 2))), "with 3 axes"),
        (matlab(paviaU=np.ones((2, 3, 1))), matlab(paviaU_gt=np.ones((2, 2))), "pixels, the ground truth"),
        (matlab(paviaU=np.ones((2, 2, 2))), matlab(paviaU_gt=np.full((2, 2), 10)), "between 0 and 9"),
        (matlab(paviaU=np.ones((2, 2, 2))), matlab(paviaU_gt=np.array([["a", "b"]], dtype=object)), "no numeric"),
    ],
    ids=[
        "html",
        "name",
        "axes",
        "pixels",
        "range",
        "objects",
    ],  # the files themselves hold the time they were made
)
def test_pavia_refuses_other_arrays(cube: bytes, truth: bytes, complaint: str) -> None:
    with pytest.raises(McLsError, match=complaint):
        parsers.pavia(cube, truth)
