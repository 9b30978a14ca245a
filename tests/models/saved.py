"""Rows of iris, and a model file whose content is changed."""

from __future__ import annotations

import numpy as np

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.models.archive import read_archive, write_archive

IRIS = load_dataset("iris")


X = to_range(IRIS.X)[::3]


Y = np.array(IRIS.classes)[IRIS.y][::3]


def rewrite(path, change):
    """The same file with its content changed and a checksum that fits."""
    content, arrays = read_archive(path)
    change(content, arrays)
    write_archive(path, content, arrays)
