"""Symmetric linear systems: one factorisation, as many solutions, and how many digits they keep.

**Digits.** Rounding A is as good as changing it by a relative ε = 10⁻¹⁶, and the values K A⁻¹R of a kernel machine
then move by ε times the condition number of A. Scaling rows and columns changes neither Cholesky's rounding nor
that of the entries of A, so the number that counts is the condition of A scaled to a diagonal of ones: one row far
larger than the others is harmless.
"""

from __future__ import annotations

import warnings

import numpy as np
from scipy.linalg import lapack as scipy_lapack

from mcls.errors import PrecisionWarning
from mcls.solvers import lapack
from mcls.threads import n_threads, spread

Array = np.ndarray

#: Values keep eight digits or so up to this condition number; where a quick way has a worse one, another is taken.
LARGEST_CONDITION = 1e8

#: Below this reciprocal condition number a solution keeps about three digits or fewer, whatever the way to it.
SMALLEST_RCOND = 1e-13

#: OpenBLAS's Cholesky crashes with two threads on large matrices (seen from 16000 rows on; OpenBLAS issue 2562).
WHOLE_UP_TO = 8000
# Fewer rows are not worth sharing.
_SHARED_FROM = 2000


def warn_of_lost_digits() -> None:
    """Say that a fit may keep three digits or fewer. One text for all, so that Python shows it once."""
    warnings.warn(
        "the kernel matrix is so large beside the regularisation that rounding may leave three digits of the scores "
        "or fewer: scale the features, to [-1, 1] say, or regularise more (raise gamma or lambda1; lower it where "
        "it weighs the errors)",
        PrecisionWarning,
        stacklevel=2,
    )


def add_ridge(K: Array, gamma: float) -> Array:
    """K + γI of a symmetric K, a copy in Fortran order, ready for LAPACK."""
    A = np.array(K.T, order="F")  # transposed, C order is Fortran order: no entry changes its place
    A[np.diag_indices(len(A))] += gamma
    return A


class Factor:
    """Cholesky's factor of a symmetric positive definite A (n, n); of a numerically indefinite one, LU.

    An A in Fortran order is overwritten.
    """

    def __init__(self, A: Array) -> None:
        diagonal = A.diagonal().copy()
        whole = len(A) <= WHOLE_UP_TO and not (n_threads() > 1 and len(A) >= _SHARED_FROM)
        factored = lapack.dpotrf(A, lower=1, clean=0, overwrite_a=1) if whole else blocked_cholesky(A)
        self._L: Array = factored[0]
        self._diagonal = diagonal
        self._A: Array | None = None  # of a matrix that is not definite
        if factored[1]:
            self._A = np.triu(self._L, 1)  # the factor fills the lower triangle alone
            self._A += self._A.T
            self._A[np.diag_indices(len(A))] = diagonal
            self._LU, self._pivots, self._singular = scipy_lapack.dgetrf(self._A)

    def solve(self, R: Array) -> Array:
        """A⁻¹R (n, r); least squares where A is singular to the last digit."""
        if self._A is None:
            return lapack.dpotrs(self._L, R, lower=1)[0]
        if not self._singular:
            X = scipy_lapack.dgetrs(self._LU, self._pivots, R)[0]
            if np.isfinite(X).all():
                return X
        return np.linalg.lstsq(self._A, R, rcond=None)[0]

    def smallest_pivot(self) -> float:
        """The smallest pivot of A scaled to a diagonal of ones, over n; zero if A is not definite.

        It is hardly ever more than a hundred times the reciprocal condition number, and costs nothing.
        """
        if self._A is not None:
            return 0.0
        return float((self._L.diagonal() ** 2 / self._diagonal).min(initial=1.0)) / len(self._L)

    def rcond(self) -> float:
        """LAPACK's estimate of the reciprocal condition number of A, scaled to a diagonal of ones if definite."""
        if self._A is not None:
            return (
                0.0
                if self._singular
                else float(scipy_lapack.dgecon(self._LU, np.abs(self._A).sum(axis=0).max())[0])
            )
        scaled = self._L / np.sqrt(self._diagonal)[:, None]  # the factor of the scaled matrix, of a norm up to n
        return float(scipy_lapack.dpocon(scaled, len(scaled), uplo="L")[0])

    def loses_digits(self) -> bool:
        """Whether a solution keeps three digits or fewer."""
        return self.smallest_pivot() < 100 * SMALLEST_RCOND and self.rcond() < SMALLEST_RCOND


# Columns that a blocked factor makes at once.
_BLOCK = 512


def solve_spd(A: Array, R: Array) -> Array:
    """Solve AX = R for a symmetric positive definite A (n, n), or an indefinite one; warn where digits are lost.

    An A in Fortran order is overwritten by its factor.
    """
    factor = Factor(A)
    if factor.loses_digits():
        warn_of_lost_digits()
    return factor.solve(R)


def independent_rows(A: Array) -> tuple[Array, Array]:
    """U (m, r) with orthonormal columns and UᵀA (r, n) of full row rank, so that UᵀAβ = 0 says Aβ = 0.

    The label vectors of a zero-sum labelbook are dependent, and a solver needs r = rank(A) of their rows only. A
    multiplier ν of UᵀA is the multiplier Uν of A.
    """
    U, s, _ = np.linalg.svd(A, full_matrices=False)
    U = U[:, s > 1e-10 * max(float(s.max(initial=0.0)), np.finfo(float).tiny)]
    return U, U.T @ A


def blocked_cholesky(A: Array, block: int = _BLOCK) -> tuple[Array, int]:
    """Lower factor L (n, n) of A = LLᵀ by blocks of columns, and 0; or what there is and 1 if A is not definite.

    An A in Fortran order is overwritten. Threads share the rows of a block (``mcls.threads``).

    For the rows I and columns J of a block, with all columns P to the left of J: A_IJ − L_IP L_JPᵀ = L_IJ L_JJᵀ. The
    upper triangle is left as it was in A.
    """
    L = np.asfortranarray(A)
    n = len(L)
    for start in range(0, n, block):
        J = slice(start, min(start + block, n))
        below = [slice(i, min(i + block, n)) for i in range(start, n, block)]
        if start:

            def update(I: slice, J: slice = J) -> None:  # noqa: E741
                if I == J:
                    L[J, J] -= np.tril(L[J, : J.start] @ L[J, : J.start].T)
                    return
                lapack.dgemm(-1.0, L[I, : J.start], L[J, : J.start], 1.0, L[I, J], trans_b=1)

            spread(update, below)
        L_JJ, info = lapack.dpotrf(L[J, J], lower=1, clean=0)
        if info:
            return L, 1
        L[J, J] = L_JJ

        def solve(I: slice, J: slice = J, L_JJ: Array = L_JJ) -> None:  # noqa: E741
            _put(L[I, J], lapack.dtrsm(1.0, L_JJ, L[I, J], side=1, lower=1, trans_a=1, overwrite_b=1))

        spread(solve, below[1:])
    return L, 0


def invert_factor(L: Array, block: int = _BLOCK) -> Array:
    """L⁻¹ (n, n) in the place of a lower triangular L in Fortran order, whose upper triangle is not looked at.

    From the last block of columns to the first: with X the inverse of what is below and to the right of block J, and
    I its rows, X_IJ = −X L_IJ L_JJ⁻¹. Threads share the rows.
    """
    n = len(L)
    for start in reversed(range(0, n, block)):
        J = slice(start, min(start + block, n))
        L_JJ = np.tril(L[J, J])
        below = [slice(i, min(i + block, n)) for i in range(J.stop, n, block)]
        P = np.empty((n - J.stop, J.stop - start), order="F")

        def solve(I: slice, J: slice = J, L_JJ: Array = L_JJ, P: Array = P) -> None:  # noqa: E741
            P[I.start - J.stop : I.stop - J.stop] = lapack.dtrsm(-1.0, L_JJ, L[I, J], side=1, lower=1)

        def multiply(I: slice, J: slice = J, P: Array = P) -> None:  # noqa: E741
            own = P[I.start - J.stop : I.stop - J.stop]
            _put(L[I, J], own)
            _put(L[I, J], lapack.dtrmm(1.0, L[I, I], L[I, J], lower=1, overwrite_b=1))
            if I.start > J.stop:
                lapack.dgemm(1.0, L[I, J.stop : I.start], P[: I.start - J.stop], 1.0, L[I, J])

        spread(solve, below)
        spread(multiply, reversed(below))  # the longest products first
        L[J, J] = lapack.dtrtri(L_JJ, lower=1)[0]
    return L


def _put(place: Array, values: Array) -> None:
    """Write values to their place, unless they were computed there."""
    if not np.may_share_memory(place, values):
        place[...] = values
