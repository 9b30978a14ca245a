"""Fixtures that several test files of this room share."""

import pytest

from mcls.data import blocks, parts


@pytest.fixture
def small_pieces(monkeypatch):
    monkeypatch.setattr(parts, "PIECE_ROWS", 700)
    monkeypatch.setattr(parts, "PIECE_BYTES", 30_000)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 256)
