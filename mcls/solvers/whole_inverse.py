"""Whole inverses of A + δI by one Cholesky factor per shift, where all of each is asked for and A has no short form.

The folds of nested and of repeated cross-validation ask for every entry of M = (A + δI)⁻¹ (``mcls.solvers.spectrum``).
From an eigendecomposition of about 9n³ operations at half the speed of a product, each costs n³ more; from its own
Cholesky factor each costs n³ as well, and nothing comes before.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from mcls.solvers import lapack
from mcls.solvers.linear import WHOLE_UP_TO, add_ridge
from mcls.solvers.pairs import Parts, left_out
from mcls.solvers.solved import Solved, fold_runs
from mcls.solvers.spectrum import Spectrum, asks_for_all, mirror, pair_parts

Array = np.ndarray

# Below the first number of rows LAPACK inverts at half the speed of a product, and the two ways cost the same; beyond
# the second its factor is not to be trusted (``mcls.solvers.linear``).
_FROM, _UP_TO = 800, WHOLE_UP_TO

# With more shifts than this the decomposition is the cheaper one.
_SHIFTS_UP_TO = 30

# Steps of the power method that tell the extreme eigenvalues to a few percent, which is all that a guard needs.
_STEPS = 6


@dataclass(frozen=True)
class Inverses(Spectrum):
    """A + δI for some shifts at which it is definite, as ``decomposed`` makes it for some folds.

    ``values`` are the smallest and the largest eigenvalue of A, nearly; M of the smallest shift is held.
    """

    parts: Parts | None = None  # of the folds
    A: Array | None = None  # (n, n), in the order of the parts

    @property
    def is_whole(self) -> bool:
        return True

    def solved(self, shifts: Array, R: Array, tests: Sequence[Array]) -> Iterator[tuple[slice, Solved]]:
        """As ``Spectrum.solved``, for the folds that A was put in order for."""
        assert self.A is not None
        runs = list(fold_runs(tests, 0))
        R_ordered = R if self.parts is None else R[self.parts.order]
        for i, shift in enumerate(shifts.tolist()):
            some = slice(i, i + 1)
            M = self.held[shift] if shift in self.held else _inverse(self.A, shift)
            whole = np.full((1, *self.A.shape), np.nan) if M is None else M[None]
            U = whole @ R_ordered
            if self.parts is None:
                yield some, Solved(self, shifts[some], U, runs, whole)
                continue
            e = left_out(whole, U, self.parts, float(self.conditions(shifts[some])[0]))
            yield some, Solved(self, shifts[some], U[:, self.parts.place], runs, whole, self.parts, e)


def decomposed(A: Array, shifts: Array, tests: Sequence[Array], blocks: Sequence[Array] | None = None) -> Spectrum:
    """A in the form that leaves the folds out at the least price; ``blocks`` as for ``Spectrum.of``."""
    n = len(A)
    if not (_FROM <= n <= _UP_TO and 0 < len(shifts) <= _SHIFTS_UP_TO and asks_for_all(tests, n**2)):
        return Spectrum.of(A, blocks)
    if (short := Spectrum.short(A, blocks)) is not None:
        return short
    parts, least = pair_parts(tests, n), float(np.min(shifts))
    ordered = A if parts is None else A[np.ix_(parts.order, parts.order)]
    if (M := _inverse(ordered, least)) is None:
        return Spectrum.of(A, blocks)
    values = np.array([1 / _largest(M) - least, _largest(A)])
    return Inverses(values, np.empty((n, 0)), held={least: M}, parts=parts, A=ordered)


def _inverse(A: Array, shift: float) -> Array | None:
    """M (n, n) of a symmetric A; None if A + δI is not definite."""
    L, failed = lapack.dpotrf(add_ridge(A, shift), lower=1, clean=0, overwrite_a=1)
    if failed:
        return None
    M = lapack.dpotri(L, lower=1, overwrite_c=1)[0].T
    mirror(M)
    return M


def _largest(A: Array) -> float:
    """The largest eigenvalue of a symmetric matrix in size, from below, to a few percent."""
    V = np.random.default_rng(0).standard_normal((len(A), 4))
    for _ in range(_STEPS):
        V = A @ np.linalg.qr(V)[0]
    return float(np.linalg.norm(V, 2))
