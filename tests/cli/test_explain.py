"""``mcls explain``: the columns that matter are found, on rows that the model has not seen."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.models.explaining import explain_table
from mcls.models.fitting import fit_table

from ..command import call

POINT = "oneLSM:gamma=0.1,sigma=1"


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explain")
    rng = np.random.default_rng(0)
    for name, n in (("train.csv", 120), ("new.csv", 300)):
        noise, x, hue = rng.normal(size=n), rng.normal(size=n), rng.choice(["r", "g"], n)
        kind = np.where((x > 0) ^ (hue == "r"), "a", "b")
        lines = [f"{a:.3f},{b:.3f},{c},{d}" for a, b, c, d in zip(noise, x, hue, kind)]
        (folder / name).write_text("noise,x,hue,kind\n" + "\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def model(place):
    return fit_table(place / "train.csv", "kind", POINT, folds=3).model


def test_the_command(place, model, tmp_path):
    import mcls

    mcls.save(model, tmp_path / "m.mcls")
    args = ("explain", tmp_path / "m.mcls", place / "new.csv", "--repeats", "2", "--rows", "50")
    code, out, err = call(*args, "--picture", tmp_path / "i.svg")
    assert code == 0, err
    assert "rows of another table" in out
    assert "random sample of 50 of the 300 rows" in err
    first = (tmp_path / "i.svg").read_bytes()
    assert call(*args, "--picture", tmp_path / "i.svg")[0] == 0
    assert (tmp_path / "i.svg").read_bytes() == first
    for more, complaint in (
        (["--picture", tmp_path / "i.bmp"], "ends in .png"),
        (["--repeats", "0"], "--repeats"),
        (["--rows", "1"], "--rows"),
        (["--decimal", "x"], "decimal mark"),
    ):
        code, out, err = call(*args, *more)
        assert (code, out, complaint in err) == (2, "", True)
    (tmp_path / "t.csv").write_text("noise,x,hue\n1,2,r\n")
    with pytest.raises(McLsError, match="no class column 'kind'"):
        explain_table(model, tmp_path / "t.csv")
