"""Models of scikit-learn in .skops files: saved, loaded, and refused where they would need other code."""

from __future__ import annotations

import zipfile

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

import mcls
from mcls.errors import McLsError

pytest.importorskip("skops")
X, Y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array(["a", "a", "b", "b"])


class Own(LogisticRegression):
    """Code that no file may bring."""


def test_a_pipeline_comes_back(tmp_path):
    fitted = make_pipeline(StandardScaler(), LogisticRegression()).fit(X, Y)
    mcls.save(fitted, tmp_path / "m.skops")
    assert (mcls.load(tmp_path / "m.skops").decision_function(X) == fitted.decision_function(X)).all()


@pytest.mark.parametrize("made", [Own(), make_pipeline(FunctionTransformer(np.loadtxt), LogisticRegression())])
def test_what_needs_other_code_is_not_saved(made, tmp_path):
    with pytest.raises(McLsError, match="needs code beside scikit-learn"):
        mcls.save(made, tmp_path / "m.skops")
    assert not (tmp_path / "m.skops").exists()


def test_what_needs_other_code_is_not_loaded(tmp_path):
    import skops.io

    skops.io.dump(Own().fit(X, Y), tmp_path / "m.skops")
    with pytest.raises(McLsError, match="which is not scikit-learn"):
        mcls.load(tmp_path / "m.skops")
    with zipfile.ZipFile(tmp_path / "z.skops", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("schema.json", "{}")
    with pytest.raises(McLsError, match="compressed"):
        mcls.load(tmp_path / "z.skops")
    (tmp_path / "x.skops").write_bytes(b"no zip")
    with pytest.raises(McLsError, match="holds no usable model"):
        mcls.load(tmp_path / "x.skops")
