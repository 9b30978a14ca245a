"""Solutions of (K + γI)α = Y that a search found on the way, for the fit to the same rows that follows it.

The factor of all rows by which folds are left out also solves the whole system. For many rows the fit would repeat it,
n³/3 operations; to see whether a solution known already is the one that is wanted takes one product with K. Nobody has
to say which search and which fit belong together: a solution of another system leaves a residual.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

Array = np.ndarray

#: Fewer rows are factored in no time.
FROM_ROWS = 2500

# The last ones: a search ends beside its best point.
_MOST = 8

# Residual of a direct solution relative to ‖K‖ ‖α‖ + ‖Y‖, with room for the rounding of the residual itself.
_ROUNDING = 1e-13

_known: ContextVar[deque[tuple[float, Array]] | None] = ContextVar("known", default=None)


@contextmanager
def solutions_remembered() -> Iterator[None]:
    """Within it, ``remember`` keeps solutions and ``recall`` finds them; within another one, it is the other's."""
    if _known.get() is not None:
        yield
        return
    token = _known.set(deque(maxlen=_MOST))
    try:
        yield
    finally:
        _known.reset(token)


def remember(gamma: float, alpha: Array) -> None:
    """Keep the solution (n, r) of a well-conditioned system."""
    known = _known.get()
    if known is not None and len(alpha) >= FROM_ROWS:
        known.append((gamma, alpha))


def recall(K: Array, Y: Array, gamma: float) -> Array | None:
    """A kept solution of (K + γI)α = Y, proven by its residual, or None.

    >>> K, Y = np.eye(FROM_ROWS), np.ones((FROM_ROWS, 1))
    >>> with solutions_remembered():
    ...     remember(1.0, Y / 2)
    ...     found, other = recall(K, Y, 1.0), recall(2 * K, Y, 1.0)
    >>> found is not None, other is None
    (True, True)
    """
    for of, alpha in _known.get() or ():
        if of == gamma and alpha.shape == Y.shape:
            size = (float(np.linalg.norm(K)) + gamma) * np.abs(alpha).max() + np.abs(Y).max()
            if np.abs(K @ alpha + gamma * alpha - Y).max() <= _ROUNDING * size:
                return alpha
    return None
