"""A fit to a large table that is interrupted goes on."""

import pytest

from mcls.models import large
from mcls.models.saving import dump
from tests.models.large import fit

pytestmark = pytest.mark.usefixtures("small_pieces")


def test_an_interrupted_fit_goes_on_and_ends_in_the_same_bytes(table, tmp_path, monkeypatch):
    whole = dump(fit(table).model)
    at = tmp_path / "m.mcls.passes"
    for stop in ("sum_piece", "score_piece"):
        with monkeypatch.context() as broken:
            broken.setattr(large, stop, lambda *a: (_ for _ in ()).throw(KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                fit(table, resume_at=at)
        assert at.is_file()
    told = []
    with monkeypatch.context() as counting:
        counting.setattr(large, "count_piece", None)  # the first pass is not gone through again
        assert dump(fit(table, say=told.append, resume_at=at).model) == whole
    assert told[0] == "an interrupted fit of the same table goes on"
    assert not at.exists()
    at.write_bytes(b"PK not a file of ours")
    assert dump(fit(table, resume_at=at).model) == whole
