"""Confusion matrices against scikit-learn's figures, and their picture."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image
from sklearn.metrics import confusion_matrix, precision_score, recall_score

from mcls.errors import McLsError
from mcls.models.judging import Confusion

rng = np.random.default_rng(0)
CLASSES = np.array(["a", "b", "c"])
Y, P = rng.choice(CLASSES, 200), rng.choice(CLASSES, 200)


def test_the_figures_are_scikit_learns():
    found = Confusion.of(Y, P, CLASSES)
    assert np.array_equal(found.counts, confusion_matrix(Y, P))
    assert found.error == pytest.approx(np.mean(Y != P))
    assert np.allclose(found.precision, precision_score(Y, P, average=None))
    assert np.allclose(found.recall, recall_score(Y, P, average=None))
    assert found.n == 200


def test_classes_without_rows_or_predictions_have_no_figure():
    found = Confusion(("a", "b", "new"), ("a", "b"), np.array([[2, 0], [0, 0], [1, 0]]))
    titles, rows = found.table()
    assert titles == ["true \\ predicted", "a", "b", "recall", "precision"]
    assert rows == [["a", "2", "0", "100.0", "66.7"], ["b", "0", "0", "", ""], ["new", "1", "0", "0.0", ""]]
    assert found.error == pytest.approx(1 / 3)


@pytest.mark.parametrize("names", [("a", "b"), ("$x^", "\\frac"), ("名", "long " * 20)])
def test_the_picture_is_a_png(tmp_path, names):
    Confusion(names, names, np.array([[3, 1], [0, 4]])).draw(tmp_path / "c.png")
    with Image.open(tmp_path / "c.png") as picture:
        assert picture.format == "PNG"
        assert picture.width > 300
    assert [p.name for p in tmp_path.iterdir()] == ["c.png"]


def test_a_picture_that_cannot_be_written_is_one_line(tmp_path):
    with pytest.raises(McLsError, match="cannot write"):
        Confusion.of(Y, P, CLASSES).draw(tmp_path / "no" / "c.png")
