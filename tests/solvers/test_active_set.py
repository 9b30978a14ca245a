"""The active set against the enumeration of all faces."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mcls.labelbooks import label_vectors
from mcls.solvers.qp import BoxQP, box_kkt_residual
from tests.solvers.corners import solve_box_qp
from tests.solvers.enumeration import objective, random_psd


def enumerate_faces(H, gamma, A=None):
    """Smallest objective over all 3^n faces of the box: brute force, for a handful of samples."""
    n, best = len(H), np.inf
    A = np.zeros((0, n)) if A is None else A
    for face in product((0, 1, 2), repeat=n):  # at zero, free, at γ
        face = np.asarray(face)
        f, beta = np.flatnonzero(face == 1), np.where(face == 2, gamma, 0.0)
        M = np.block([[H[np.ix_(f, f)], A[:, f].T], [A[:, f], np.zeros((len(A), len(A)))]])
        right = np.concatenate([1.0 - H[f] @ beta, -A @ beta])
        beta[f] = np.linalg.lstsq(M, right, rcond=1e-11)[0][: len(f)]
        feasible = (beta > -1e-9).all() and (beta < gamma + 1e-9).all() and np.abs(A @ beta).max(initial=0) < 1e-9
        if feasible:
            best = min(best, objective(H, beta))
    return best


@settings(deadline=None, max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 5), st.sampled_from([0.05, 0.5, 5.0]))
def test_active_set_finds_the_best_of_all_faces(seed, n, rank, gamma):
    H = random_psd(seed, n, rank) + 1e-3 * np.eye(n)
    result = solve_box_qp(H, gamma, solver="active-set")
    assert result.kkt_residual <= 1e-6
    assert objective(H, result.beta) == pytest.approx(enumerate_faces(H, gamma), rel=1e-6, abs=1e-9)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([0.05, 0.5, 5.0]))
def test_active_set_with_equalities_finds_the_best_of_all_faces(seed, gamma):
    H = random_psd(seed, 5, 3) + 1e-3 * np.eye(5)
    A = np.random.default_rng(seed).choice([-1.0, 1.0, 2.0], size=(2, 5))
    result = solve_box_qp(H, gamma, A=np.vstack([A, A.sum(axis=0)]), solver="active-set")
    assert result.kkt_residual <= 1e-6
    assert result.nu.shape == (3,)
    assert objective(H, result.beta) == pytest.approx(enumerate_faces(H, gamma, A), rel=1e-6, abs=1e-8)


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from([None, 2, 4]), st.floats(-10, 10), st.booleans())
def test_active_set_settles_on_low_rank_and_duplicate_rows(seed, n_classes, exponent, rounded):
    """Linear kernels in few dimensions with repeated and zero rows: as good as a linear programme."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 120))
    X = rng.normal(size=(n, int(rng.integers(1, 5)))) * 10 ** rng.uniform(-1, 1)
    X = np.round(X) if rounded else X
    B = label_vectors("alignment", n_classes or 3)
    y = np.arange(n) % B.shape[1]
    H = (X @ X.T) * (B.T @ B)[np.ix_(y, y)]
    A = None if n_classes is None else B[:, y]
    qp, upper = BoxQP(H, A, solver="active-set"), np.full(n, 2.0**exponent)
    beta, nu, _ = qp.backend.solve(upper, None, None)  # its own answer, before anyone steps in
    assert box_kkt_residual(H, beta, upper, A, nu) <= 1e-6
