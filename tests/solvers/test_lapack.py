"""Routines that let other threads run, against their namesakes of SciPy."""

import threading
import time

import numpy as np
import pytest
from scipy.linalg import blas as scipy_blas
from scipy.linalg import lapack as scipy_lapack
from threadpoolctl import threadpool_limits

from mcls.solvers import lapack

SIZES = (3, 300)  # left to SciPy, and called by its address


def matrices(n, order):
    """A positive definite matrix (n, n), a right-hand side (n, 7), in an order or as a part of something larger."""
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n))
    A = A @ A.T + n * np.eye(n)
    B = rng.normal(size=(n, 7))
    if order == "part":
        large = np.zeros((n + 5, n + 9), order="F")
        large[2 : n + 2, 4 : n + 4] = A
        return large[2 : n + 2, 4 : n + 4], np.asfortranarray(np.vstack([B, B]))[:n]
    return np.array(A, order=order), np.array(B, order=order)


@pytest.mark.parametrize("order", ["C", "F", "part"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("lower", [0, 1])
def test_results_are_those_of_scipy(n, order, lower):
    A, B = matrices(n, order)
    kept = A.copy(), B.copy()
    L, info = lapack.dpotrf(A, lower=lower)
    expected = scipy_lapack.dpotrf(A, lower=lower)
    np.testing.assert_allclose(L, expected[0], rtol=1e-12, atol=1e-12)
    assert info == expected[1] == 0
    same = {
        "dpotrs": (L, B),
        "dpotri": (L,),
        "dtrtri": (L,),
        "dposv": (A, B),
    }
    for name, given in same.items():
        ours, theirs = getattr(lapack, name)(*given, lower=lower), getattr(scipy_lapack, name)(*given, lower=lower)
        triangle = np.tril if lower else np.triu
        for a, b in zip(ours[:-1], theirs[:-1]):
            shown = triangle if a.shape == (n, n) else np.asarray
            np.testing.assert_allclose(shown(a), shown(b), rtol=1e-10, atol=1e-12)
        assert ours[-1] == theirs[-1] == 0
    one = lapack.dpotrs(L, B[:, 0], lower=lower)[0]
    np.testing.assert_allclose(A @ one, B[:, 0], rtol=1e-8)
    for name in ("dtrsm", "dtrmm"):
        for side, trans in ((0, 0), (0, 1), (1, 0), (1, 1)):
            right = B.T if side else B
            settings = {"side": side, "lower": lower, "trans_a": trans}
            ours, theirs = (getattr(m, name)(2.0, L, right, **settings) for m in (lapack, scipy_blas))
            np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-12)
    for trans in (0, 1):
        ours, theirs = (m.dsyrk(0.5, B, trans=trans, lower=lower) for m in (lapack, scipy_blas))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(A, kept[0])
    np.testing.assert_array_equal(B, kept[1])


@pytest.mark.parametrize("n", SIZES)
def test_what_may_be_overwritten_is(n):
    A, B = matrices(n, "F")
    C = np.zeros((n, n), order="F")
    C[:] = A
    found = lapack.dsyrk(-1.0, B, beta=2.0, c=C, lower=1, overwrite_c=1)
    np.testing.assert_allclose(np.tril(found), np.tril(2 * A - B @ B.T))
    assert np.shares_memory(found, C)
    P = A.copy(order="F")
    assert np.shares_memory(lapack.dpotrf(P, lower=1, overwrite_a=1)[0], P)
    whole = np.zeros((n + 4, n + 4), order="F")
    place = whole[3 : n + 3, 1 : n + 1]
    lapack.dgemm(-1.0, B, B, 0.0, place, trans_b=1)
    np.testing.assert_allclose(place, -B @ B.T)
    lapack.dgemm(1.0, B, A, 3.0, whole[:7, :n], trans_a=1)
    assert not whole[:, n + 1 :].any()


@pytest.mark.parametrize("n", SIZES)
def test_a_matrix_that_is_not_definite_is_told(n):
    A, B = matrices(n, "F")
    A[n - 1, n - 1] = -1.0
    assert lapack.dpotrf(A, lower=1)[1] == scipy_lapack.dpotrf(A, lower=1)[1] == n
    assert lapack.dposv(A, B, lower=1)[-1] == n


def test_without_addresses_scipy_does_the_work(monkeypatch):
    for name in ("_DGEMM", "_DTRSM", "_DTRMM", "_DSYRK", "_DPOTRF", "_DPOTRS", "_DPOTRI", "_DTRTRI", "_DPOSV"):
        assert getattr(lapack, name) is not None  # this SciPy gives all of them
        monkeypatch.setattr(lapack, name, None)
    for order in ("C", "part"):
        test_results_are_those_of_scipy(300, order, 1)
    test_what_may_be_overwritten_is(300)


def test_another_thread_runs_meanwhile():
    """While one thread is in LAPACK, Python goes on in another."""
    A, _ = matrices(1500, "F")
    ticks, done = [], threading.Event()

    def work():
        lapack.dpotrf(A, lower=1)
        done.set()

    with threadpool_limits(1):
        thread = threading.Thread(target=work)
        thread.start()
        while not done.is_set():
            ticks.append(time.perf_counter())
        thread.join()
    assert len(ticks) > 3  # with the lock held there are none before the end, but for one switch
