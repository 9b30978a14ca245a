"""Fixtures that several test files of this room share."""

import pytest

import mcls
from mcls.data import blocks, parts
from mcls.models.fitting import fit_table
from mcls.resources import datasets_dir
from tests.models.large import made_up
from tests.models.mixed import MIXED
from tests.models.saved import X, Y


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("train") / "mixed.csv"
    path.write_text(MIXED)
    return fit_table(path, "kind", grid={"gamma": [0.1], "sigma": [1.0]}, folds=3).model


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.mcls"
    mcls.save(mcls.OneLSM(sigma=0.5).fit(X, Y), path)
    return path


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "t.parquet"
    made_up().to_parquet(path, row_group_size=75)
    return path


@pytest.fixture(scope="module")
def fitted():
    return fit_table(datasets_dir() / "iris.csv", "class", grid={"gamma": [0.1, 1.0], "sigma": [1.0]}, folds=5)


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(parts, "PIECE_ROWS", 150)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 64)
