"""A picture of a coding matrix: white for +1, black for −1, grey for 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw(M: np.ndarray, ax: Axes | None = None, class_names: Sequence[str] | None = None) -> Axes:
    """Draw a coding matrix (k, l), one row per class and one column per binary problem; return the axes.

    >>> from mcls.coding.matrices import one_vs_all
    >>> draw(one_vs_all(3)).get_xlabel()
    'binary problem'
    """
    from matplotlib.figure import Figure  # matplotlib is slow to import, and few users draw

    k, l = M.shape  # noqa: E741 - the letter of the paper
    if ax is None:
        ax = Figure(figsize=(1.5 + 0.3 * l, 1.0 + 0.3 * k), layout="constrained").subplots()
    ax.imshow(M, cmap="gray", vmin=-1, vmax=1, aspect="equal", interpolation="nearest")
    ax.set_xticks(range(l), [str(s + 1) for s in range(l)])
    ax.set_yticks(range(k), [str(r) for r in (range(1, k + 1) if class_names is None else class_names)])
    # Thin lines between the cells, so that neighbouring cells of one colour can be counted.
    ax.set_xticks(np.arange(l + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(k + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="tab:blue", linewidth=0.5)
    ax.tick_params(which="minor", length=0)
    ax.set_xlabel("binary problem")
    ax.set_ylabel("class")
    return ax
