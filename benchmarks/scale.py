"""Many rows: what each way to a grid costs, certified grids, and landmarks."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.grids import CORES, GRID, load
from benchmarks.measure import Row, in_child, timed
from mcls.environment import peak_memory_gb
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.kernels import gaussian, squared_distances
from mcls.machines.lsm import OneLSM
from mcls.solvers import inverse, lanczos, lsm
from mcls.threads import shared_by

Array = np.ndarray
GAMMAS = (2.0 ** np.arange(-4, 5)).tolist()


def certified_grid(n: int) -> tuple[float, float, int, int, int]:
    """Time and error of the 9×9 grid with ten folds on n letters; labels, those certified, and γ solved directly."""
    counts = lanczos.Certified()
    real = OneLSM.certifier
    OneLSM.certifier = lambda self, n: counts if real(self, n) else None  # type: ignore[method-assign]
    try:
        with threadpool_limits(1):
            X, y = load("letter", first=n)
            folds = stratified_folds(y, 10, seed=0)
            seconds, found = timed(lambda: search(OneLSM(), X, y, GRID, folds, n_threads=CORES))
    finally:
        OneLSM.certifier = real  # type: ignore[method-assign]
    return seconds, found.best_error, counts.labels, counts.certain, counts.direct


def whole_grid(n: int) -> Row:
    """The exact grid on n letters, in a process of its own."""
    (seconds, error, labels, certain, direct), peak = in_child(certified_grid, n)
    counted = f"{certain} of {labels} labels certified, {direct} systems direct"
    note = f"peak {peak:.1f} GB; error {100 * error:.2f}; {counted}"
    return Row("certified grid", f"letter, n={n}", "oneLSM, fast", seconds, "", None, note)


def certified_all() -> Iterator[Row]:
    """The exact grid on all letters: minutes."""
    yield whole_grid(20_000)


def certified(n: int = 10_000, widths: tuple[float, ...] = (0.25, 1.0, 4.0)) -> Iterator[Row]:
    """The exact grid on many letters, and its labels at three widths against those of the eigendecomposition."""
    yield whole_grid(n)
    X, y = load("letter", first=n)
    tests = [test for _, test in stratified_folds(y, 10, seed=0)]
    D2 = squared_distances(X)
    machine = OneLSM()
    folds = [(np.setdiff1d(np.arange(n), test), test) for test in tests]
    with shared_by(CORES):
        for sigma in widths:
            K = gaussian(D2, sigma)
            ours, found = timed(lambda: machine._certified(K, y, 26, folds, GAMMAS, lanczos.Certified()))  # noqa: B023
            peer, exact = timed(lambda: lsm.sweep(K, lsm.indicators(y, 26), tests, GAMMAS))  # noqa: B023
            if found is None:
                note = "left to the decomposition"
            else:
                different = sum(int((a.argmax(2) != b.argmax(2)).sum()) for a, b in zip(found, exact))
                note = f"{different} of {n * len(GAMMAS)} labels differ"
            yield Row("certified width", f"letter, n={n}, sigma={sigma:g}", "certified", ours, "eigh", peer, note)


def costs() -> Iterator[Row]:
    """The cost model beside what is measured: seconds per 10⁹ operations of each way, on 2000 letters."""
    n, k, ell = 2000, 10, 26
    X, y = load("letter", first=n)
    tests = [test for _, test in stratified_folds(y, k, seed=0)]
    K, Y = gaussian(squared_distances(X), 1.0), lsm.indicators(y, ell)
    blocks = 10
    columns = k * ell
    spent = sum(2.0 * n * n * columns + 6.0 * n * columns * ell * j for j in range(blocks))
    with shared_by(CORES):
        for name, operations, work in (
            ("decomposition", inverse.DECOMPOSITION * n**3, lambda: np.linalg.eigh(K)),
            ("one factor per gamma", inverse.OPERATIONS * n**3, lambda: inverse.sweep(K, Y, tests, [1.0])),
            ("Lanczos blocks", spent, lambda: lanczos.sweep(K, y, ell, tests, [1e-9], np.eye(ell), blocks)),
        ):
            seconds, _ = timed(work, 2)
            note = f"{operations:.2g} operations, {operations / seconds / 1e9:.1f} per nanosecond"
            yield Row("cost model", f"letter, n={n}", name, seconds, "", None, note)
    for rows in (4000, 10_000, 20_000):
        worth = lanczos.blocks_worth(rows, ell, k, 9)
        note = f"up to {worth} Lanczos blocks before the other ways, at 9 gammas and {k} folds"
        yield Row("cost model", f"letter, n={rows}", "blocks worth", float(worth), "", None, note)


def made_up(n: int, seed: int = 0) -> tuple[Array, Array]:
    """n rows of 20 features in five classes of three clusters each."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 5, n)
    centres = np.random.default_rng(1).normal(size=(15, 20))
    return (centres[3 * y + rng.integers(0, 3, n)] + rng.normal(size=(n, 20))) / 3, y


def landmarks(n: int = 100_000, m: int = 2000) -> Iterator[Row]:
    """Ten folds of the landmark machine against one fit of it, and its labels against refitting."""
    X, y = made_up(n)
    folds = stratified_folds(y, 10, seed=0)
    for how in ("uniform", "rpcholesky"):
        machine = OneLSM(sigma=2.0, gamma=0.1, solver="nystrom", n_landmarks=m, landmarks=how)
        with threadpool_limits(CORES):
            fit, _ = timed(lambda: machine.fit(X, y))  # noqa: B023
            seconds, scores = timed(lambda: machine.sweep(X, y, folds, [{"gamma": 0.1}]))  # noqa: B023
        error = np.mean([(s[0].argmax(1) != y[test]).mean() for s, (_, test) in zip(scores, folds)])
        note = f"{seconds / fit:.2f} times one fit; error {100 * error:.2f}; peak {peak_memory_gb():.2f} GB"
        yield Row("landmark CV", f"{n} x 20, m={m}, {how}", "ten folds", seconds, "one fit", fit, note)
    X, y = X[: min(n, 5000)], y[: min(n, 5000)]
    folds = stratified_folds(y, 10, seed=0)
    points = [{"gamma": g} for g in GAMMAS]
    machine = OneLSM(sigma=2.0, solver="nystrom", n_landmarks=m // 2)
    ours, fast = timed(lambda: machine.sweep(X, y, folds, points))
    peer, refit = timed(lambda: machine.sweep(X, y, folds, points, engine="refit"))
    different = sum(int((a.argmax(2) != b.argmax(2)).sum()) for a, b in zip(fast, refit))
    note = f"{different} of {len(y) * len(points)} labels differ"
    yield Row("landmark CV", f"{len(y)} x 20, m={m // 2}", "fold Grams", ours, "refit", peer, note)
