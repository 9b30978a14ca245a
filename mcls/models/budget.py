"""How much memory there is and an exact fit needs; how many landmarks a time and a memory allow.

The latter is a cost model whose speeds are measured before it is used.

With n rows, k folds, ℓ classes, γ strengths and m landmarks, one kernel takes

    2nm kernel values, 2nm² operations for the sums, 2nmγℓ for the scores, and (k + 1)γm³/3 to solve,

and the memory for k Gram matrices, for what of them is being added up, and for some blocks of kernel values.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from math import log
from pathlib import Path

import numpy as np

from mcls.errors import McLsError
from mcls.solvers import lapack
from mcls.solvers.gram_sums import FAN
from mcls.threads import blas_threads

Array = np.ndarray

#: Numbers of landmarks to choose from.
LANDMARK_COUNTS = (100, 140, 200, 280, 400, 560, 800, 1100, 1600, 2000, 2800, 4000, 5600, 8000)
#: Landmarks of a million rows and more where neither time nor memory is given, and the most where only memory is.
USUAL, MOST = 2000, 4000
# Operations of the sums with so many landmarks; fewer rows have more landmarks for the same price.
_USUAL_OPERATIONS = 2e6 * USUAL**2
#: Widths that are tried on a sample of the rows, more or less.
STEPS = 6
#: Bytes of Python, its libraries and the sample of rows.
_BASE = 500 * 2**20
_BLOCK = 4 * 8 * 2**22  # bytes of kernel values that one thread works on
#: The kernel matrix, the ridge added to a copy of it, and its Cholesky factor: three matrices at the worst moment,
#: and two blocks of their columns while the factor is made.
MATRICES = 3
COLUMNS = 2 * 2048
_UNITS = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_SIZES = {"MB": 1e6, "GB": 1e9, "TB": 1e12, "M": 1e6, "G": 1e9}


def read_seconds(text: str) -> float:
    """Seconds of a time such as 60s, 5min or 2h.

    >>> read_seconds("90s"), read_seconds("1.5h")
    (90.0, 5400.0)
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(s|min|m|h)", text.strip())
    if found is None or not float(found[1]) > 0:
        raise McLsError(f"--budget is a time such as 60s, 10min or 2h, not '{text[:40]}'")
    return float(found[1]) * _UNITS[found[2]]


def read_bytes(text: str) -> float:
    """Bytes of an amount such as 4GB or 800MB.

    >>> read_bytes("4GB")
    4000000000.0
    """
    found = re.fullmatch(r"(\d+(?:\.\d+)?) ?(MB|GB|TB|M|G)", text.strip(), flags=re.IGNORECASE)
    if found is None or not float(found[1]) > 0:
        raise McLsError(f"--memory is an amount such as 4GB or 800MB, not '{text[:40]}'")
    return float(found[1]) * _SIZES[found[2].upper()]


@dataclass(frozen=True)
class Speed:
    """What one thread does: seconds of a kernel value, and of an operation in a product of matrices."""

    value: float
    operation: float

    @classmethod
    def measure(cls, kernel: Callable[[Array, Array], Array], X: Array, rows: int = 1024, m: int = 512) -> Speed:
        """Measure on some rows of the table, in a tenth of a second or so."""
        A, Z = (np.resize(X, (size, X.shape[1])) for size in (rows, m))
        with blas_threads(1):
            value, operation = [], []
            for _ in range(3):
                start = time.perf_counter()
                K = kernel(A, Z)
                value.append(time.perf_counter() - start)
                L = np.eye(m, order="F")
                start = time.perf_counter()
                P = lapack.dtrsm(1.0, L, np.asfortranarray(K.T), lower=1)
                lapack.dsyrk(1.0, np.asfortranarray(P))
                operation.append(time.perf_counter() - start)
        return cls(min(value) / (rows * m), min(operation) / (2 * rows * m * m))


@dataclass(frozen=True)
class Work:
    """What there is to do for one kernel.

    Attributes
    ----------
    rows, folds, classes, strengths : int
        Their numbers.
    jobs, threads : int
        Threads that work at once, and those that share the sums of one piece.
    pieces : int
        Pieces of the table: sums of several wait to be added up.
    reading : float
        Seconds of reading the table once.
    sample : int
        Rows that widths are tried on before.
    """

    rows: int
    folds: int
    classes: int
    strengths: int
    jobs: int
    threads: int
    pieces: int
    reading: float = 0.0
    sample: int = 0

    def seconds(self, m: int, speed: Speed) -> float:
        """The time of one kernel with m landmarks, and of the widths that are tried before."""
        n = self.rows + STEPS * self.sample
        operations = 2 * n * m * m + 2 * n * m * self.strengths * self.classes
        solving = (self.folds + 1 + STEPS * bool(self.sample)) * self.strengths * m**3 / 3
        spread = (2 * n * m * speed.value + operations * speed.operation) / self.jobs
        return 2 * self.reading + spread + solving * speed.operation

    def bytes(self, m: int) -> float:
        """The most memory that m landmarks take, in the process that has most to hold."""
        gram = 8.0 * self.folds * m * m
        levels = 1 + int(log(max(self.pieces, 1), FAN))
        solving = 6 * 8.0 * m * m
        return _BASE + gram * (1 + 0.5 * (1 + levels)) + solving + self.threads * _BLOCK


def require_memory(work: Work, m: int, allowed: float | None) -> None:
    """Refuse landmarks that do not fit, before the work begins."""
    needed, free = work.bytes(m), min(float(available_bytes()), allowed or np.inf)
    if needed > free:
        told = f"{m} landmarks and {work.folds} folds need {needed / 1e9:.1f} GB, and {free / 1e9:.1f} GB are "
        told += "free" if allowed is None else "allowed"
        raise McLsError(f"{told}: use fewer landmarks (--machine oneLSM:n_landmarks=1000), or fewer folds")


def usual_landmarks(rows: int) -> int:
    """How many landmarks so many rows have where neither time nor memory is given.

    >>> usual_landmarks(25_000), usual_landmarks(400_000), usual_landmarks(10**9)
    (4000, 2800, 2000)
    """
    return max(m for m in LANDMARK_COUNTS if m <= USUAL or (m <= MOST and 2 * rows * m * m <= _USUAL_OPERATIONS))


def affordable_landmarks(
    work: Work, kernels: int, seconds: float | None, memory: float | None, speed: Speed | None
) -> tuple[int, int]:
    """The largest number of landmarks within a time and a memory, and how many of the kernels are tried with it.

    All kernels where at least ``LANDMARK_COUNTS[2]`` landmarks can be afforded for each, one otherwise.
    """
    free = min(float(available_bytes()), memory or np.inf)
    fitting = [m for m in LANDMARK_COUNTS if work.bytes(m) <= free]
    if not fitting:
        raise McLsError(
            f"even {LANDMARK_COUNTS[0]} landmarks need {work.bytes(LANDMARK_COUNTS[0]) / 1e9:.1f} GB, and "
            f"{free / 1e9:.1f} GB are {'free' if memory is None else 'allowed by --memory'}"
        )
    if seconds is None:
        most = usual_landmarks(work.rows) if memory is None else MOST
        return max(m for m in fitting if m <= most), kernels
    assert speed is not None
    for count in sorted({kernels, 1}, reverse=True):
        least = LANDMARK_COUNTS[2] if count > 1 else LANDMARK_COUNTS[0]
        quick = [m for m in fitting if m >= least and count * work.seconds(m, speed) <= seconds]
        if quick:
            return max(quick), count
    needed = work.seconds(LANDMARK_COUNTS[0], speed)
    raise McLsError(
        f"the time that is left of --budget ({max(seconds, 0):.0f} s) is too little for {LANDMARK_COUNTS[0]} "
        f"landmarks, which need about {needed:.0f} s more: give a longer one, or fewer rows"
    )


def exact_fit_bytes(n: int) -> int:
    """Bytes that fitting a kernel machine exactly to n rows takes at its worst moment."""
    return 8 * n * (MATRICES * n + COLUMNS)


def available_bytes() -> int:
    """Memory that is available now: what the system has free, or what a container is allowed, if that is less."""
    candidates = []
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        candidates += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")]
    except (OSError, ValueError, IndexError):
        pass
    for limit in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            candidates.append(int(Path(limit).read_text(encoding="ascii")))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    if not candidates:
        candidates.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(candidates)
