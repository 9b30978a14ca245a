"""The picture shows the matrix, cell by cell."""

import subprocess
import sys

import numpy as np

from mcls.coding.matrices import all_pairs
from mcls.coding.plot import draw


def test_picture_holds_the_entries_and_the_names(tmp_path):
    M = all_pairs(4)
    ax = draw(M, class_names=["a", "b", "c", "d"])
    assert np.array_equal(ax.images[0].get_array(), M)
    assert [t.get_text() for t in ax.get_yticklabels()] == ["a", "b", "c", "d"]
    assert len(ax.get_xticks()) == 6
    ax.figure.savefig(tmp_path / "matrix.png")
    assert (tmp_path / "matrix.png").stat().st_size > 1000


def test_drawing_into_given_axes():
    from matplotlib.figure import Figure

    axes = Figure().subplots()
    assert draw(all_pairs(3), ax=axes) is axes


def test_matplotlib_is_not_imported_before_drawing():
    code = "import sys, mcls.coding.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
