"""The few routines of BLAS and LAPACK that threads call side by side (``mcls.threads``).

``scipy.linalg.blas`` and ``scipy.linalg.lapack`` keep Python's global lock while they work, so two threads take as long
as one. SciPy gives other compiled code the addresses of the same routines; called there through ctypes, which lets go
of the lock, two threads take half as long. The functions here have the arguments and the results of their namesakes in
SciPy. Small matrices are left to SciPy, whose calls cost less, and so is everything where an address is not found.

A matrix whose columns are not next to each other, but each of which is in one piece (a block of a larger matrix in
Fortran order), is taken as it is, where SciPy would copy it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from scipy.linalg import blas as scipy_blas
from scipy.linalg import cython_blas, cython_lapack
from scipy.linalg import lapack as scipy_lapack

Array = np.ndarray

# Up to so many rows or columns a call of SciPy's costs less than one through ctypes, and its work is done in no time.
_SMALL = 128

_capsule = ctypes.pythonapi
_capsule.PyCapsule_GetName.restype = ctypes.c_char_p
_capsule.PyCapsule_GetName.argtypes = [ctypes.py_object]
_capsule.PyCapsule_GetPointer.restype = ctypes.c_void_p
_capsule.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]


def _routine(module: Any, name: str) -> Any:
    """A routine that is called by addresses alone, or None where SciPy does not give it as it is expected."""
    capsule = getattr(module, "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    signature = _capsule.PyCapsule_GetName(capsule)
    arguments = signature.partition(b"(")[2].rstrip(b")").split(b",")
    known = all(kind.strip() in (b"char *", b"int *") or kind.strip().endswith(b"_d *") for kind in arguments)
    if not known:
        return None  # integers of another size, say
    address = _capsule.PyCapsule_GetPointer(capsule, signature)
    return ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * len(arguments))(address)


_DGEMM, _DTRSM, _DTRMM, _DSYRK = (_routine(cython_blas, name) for name in ("dgemm", "dtrsm", "dtrmm", "dsyrk"))
_DPOTRF, _DPOTRS, _DPOTRI, _DTRTRI, _DPOSV = (
    _routine(cython_lapack, name) for name in ("dpotrf", "dpotrs", "dpotri", "dtrtri", "dposv")
)


def _fits(A: Array) -> bool:
    """Whether LAPACK can take a matrix as it is: columns of doubles in one piece each, with a step between them."""
    m, item = A.shape[0], A.itemsize
    down, along = A.strides
    return A.dtype == np.float64 and A.flags.aligned and down == item and along >= item * max(m, 1)


def _read(A: Any) -> Array:
    """A matrix (m, n) to be read."""
    A = np.asarray(A)
    return A if _fits(A) else np.asfortranarray(A, dtype=np.float64)


def _written(A: Any, overwrite: Any) -> Array:
    """A matrix (m, n) to be overwritten: itself, where that is allowed and can be, or a copy in Fortran order."""
    A = np.asarray(A)
    return A if overwrite and _fits(A) and A.flags.writeable else np.array(A, dtype=np.float64, order="F")


def _call(routine: Any, *arguments: Any) -> int:
    """Call a routine with letters, whole numbers, numbers and matrices; the last whole number is its ``info``."""
    kept: list[Any] = []
    for value in arguments:
        if isinstance(value, np.ndarray):
            kept.append(value.ctypes.data)
        elif isinstance(value, bytes):
            kept.append(ctypes.cast(ctypes.c_char_p(value), ctypes.c_void_p))
        else:
            kept.append(ctypes.byref(value))
    routine(*kept)
    last = arguments[-1]
    return last.value if isinstance(last, ctypes.c_int) else 0


def _int(value: int) -> ctypes.c_int:
    return ctypes.c_int(value)


def _step(A: Array) -> ctypes.c_int:
    """What LAPACK calls the leading dimension."""
    return ctypes.c_int(max(A.strides[1] // A.itemsize, 1))


def _triangle(lower: Any) -> bytes:
    return b"L" if lower else b"U"


def dpotrf(a: Any, lower: int = 0, clean: int = 1, overwrite_a: int = 0) -> tuple[Array, int]:
    """Cholesky's factor of a (n, n), and 0; ``clean`` sets the other triangle to zero."""
    n = len(a)
    if n <= _SMALL or _DPOTRF is None:
        return scipy_lapack.dpotrf(a, lower=lower, clean=clean, overwrite_a=overwrite_a)
    C = _written(a, overwrite_a)
    info = _call(_DPOTRF, _triangle(lower), _int(n), C, _step(C), _int(0))
    if clean:
        for j in range(n):
            C[slice(0, j) if lower else slice(j + 1, None), j] = 0.0
    return C, info


def dpotrs(c: Any, b: Any, lower: int = 0, overwrite_b: int = 0) -> tuple[Array, int]:
    """Solution x of ax = b by the factor c of a."""
    n = len(c)
    if n <= _SMALL or _DPOTRS is None:
        return scipy_lapack.dpotrs(c, b, lower=lower, overwrite_b=overwrite_b)
    C, b = _read(c), np.asarray(b)
    X = _written(b.reshape(n, -1), overwrite_b)
    info = _call(_DPOTRS, _triangle(lower), _int(n), _int(X.shape[1]), C, _step(C), X, _step(X), _int(0))
    return X.reshape(b.shape), info


def dpotri(c: Any, lower: int = 0, overwrite_c: int = 0) -> tuple[Array, int]:
    """The triangle of the inverse of a by its factor c."""
    n = len(c)
    if n <= _SMALL or _DPOTRI is None:
        return scipy_lapack.dpotri(c, lower=lower, overwrite_c=overwrite_c)
    C = _written(c, overwrite_c)
    return C, _call(_DPOTRI, _triangle(lower), _int(n), C, _step(C), _int(0))


def dtrtri(c: Any, lower: int = 0, unitdiag: int = 0, overwrite_c: int = 0) -> tuple[Array, int]:
    """The inverse of a triangle; the other one stays."""
    n = len(c)
    if n <= _SMALL or _DTRTRI is None:
        return scipy_lapack.dtrtri(c, lower=lower, unitdiag=unitdiag, overwrite_c=overwrite_c)
    C = _written(c, overwrite_c)
    unit = b"U" if unitdiag else b"N"
    return C, _call(_DTRTRI, _triangle(lower), unit, _int(n), C, _step(C), _int(0))


def dposv(a: Any, b: Any, lower: int = 0, overwrite_a: int = 0, overwrite_b: int = 0) -> tuple[Array, Array, int]:
    """Cholesky's factor of a (n, n) and the solution x of ax = b."""
    n = len(a)
    if n <= _SMALL or _DPOSV is None:
        return scipy_lapack.dposv(a, b, lower=lower, overwrite_a=overwrite_a, overwrite_b=overwrite_b)
    C, b = _written(a, overwrite_a), np.asarray(b)
    X = _written(b.reshape(n, -1), overwrite_b)
    info = _call(_DPOSV, _triangle(lower), _int(n), _int(X.shape[1]), C, _step(C), X, _step(X), _int(0))
    return C, X.reshape(b.shape), info


def dtrsm(
    alpha: float, a: Any, b: Any, side: int = 0, lower: int = 0, trans_a: int = 0, overwrite_b: int = 0
) -> Array:
    """αa⁻¹b for a triangular a, or αba⁻¹ with ``side=1``; ``trans_a`` takes aᵀ."""
    return _triangular(_DTRSM, scipy_blas.dtrsm, alpha, a, b, side, lower, trans_a, overwrite_b)


def dtrmm(
    alpha: float, a: Any, b: Any, side: int = 0, lower: int = 0, trans_a: int = 0, overwrite_b: int = 0
) -> Array:
    """αab for a triangular a, or αba with ``side=1``; ``trans_a`` takes aᵀ."""
    return _triangular(_DTRMM, scipy_blas.dtrmm, alpha, a, b, side, lower, trans_a, overwrite_b)


def _triangular(
    routine: Any, small: Any, alpha: float, a: Any, b: Any, side: int, lower: int, trans_a: int, overwrite_b: int
) -> Array:
    if len(a) <= _SMALL or b.size == 0 or routine is None:
        return small(alpha, a, b, side=side, lower=lower, trans_a=trans_a, overwrite_b=overwrite_b)
    A, B = _read(a), _written(b, overwrite_b)
    m, n = B.shape
    letters = (b"R" if side else b"L", _triangle(lower), b"T" if trans_a else b"N", b"N")
    _call(routine, *letters, _int(m), _int(n), ctypes.c_double(alpha), A, _step(A), B, _step(B))
    return B


def dgemm(alpha: float, a: Any, b: Any, beta: float, c: Array, trans_a: int = 0, trans_b: int = 0) -> None:
    """c (m, n) becomes αab + βc, with aᵀ or bᵀ where that is said."""
    m, n = c.shape
    k = a.shape[0 if trans_a else 1]
    if min(m, n, k) == 0 or _DGEMM is None or not _fits(c):
        c *= beta
        c += alpha * ((a.T if trans_a else a) @ (b.T if trans_b else b))
        return
    A, B = _read(a), _read(b)
    letters = (b"T" if trans_a else b"N", b"T" if trans_b else b"N")
    read = (ctypes.c_double(alpha), A, _step(A), B, _step(B))
    _call(_DGEMM, *letters, _int(m), _int(n), _int(k), *read, ctypes.c_double(beta), c, _step(c))


def dsyrk(
    alpha: float,
    a: Any,
    beta: float = 0.0,
    c: Any = None,
    trans: int = 0,
    lower: int = 0,
    overwrite_c: int = 0,
) -> Array:
    """One triangle of αaaᵀ + βc, or of αaᵀa + βc with ``trans``; without c the other one is zero."""
    n, k = a.shape[::-1] if trans else a.shape
    if max(n, k) <= _SMALL or k == 0 or _DSYRK is None:
        given = {} if c is None else {"beta": beta, "c": c, "overwrite_c": overwrite_c}
        return scipy_blas.dsyrk(alpha, a, trans=trans, lower=lower, **given)
    A = _read(a)
    C = np.zeros((n, n), order="F") if c is None else _written(c, overwrite_c)
    letters = (_triangle(lower), b"T" if trans else b"N")
    numbers = (ctypes.c_double(alpha), A, _step(A), ctypes.c_double(beta), C, _step(C))
    _call(_DSYRK, *letters, _int(n), _int(k), *numbers)
    return C
