"""Many rows: certified grids, landmarks, and ``mcls fit`` against peers on the same rows."""

from __future__ import annotations

import gzip
import importlib.util
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from benchmarks.grids import CORES, GRID, load
from benchmarks.measure import Row, in_child, timed
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.kernels import gaussian, squared_distances
from mcls.machines.lsm import OneLSM
from mcls.models.fitting import fit_table
from mcls.models.streaming import judge_table
from mcls.resources import datasets_dir
from mcls.solvers import inverse, lanczos, lsm

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


def certified(n: int = 10_000, widths: tuple[float, ...] = (0.25, 1.0, 4.0)) -> Iterator[Row]:
    """The exact grid on many letters, and its labels at three widths against those of the eigendecomposition."""
    (seconds, error, labels, certain, direct), peak = in_child(certified_grid, n)
    counted = f"{certain} of {labels} labels certified, {direct} systems direct"
    note = f"peak {peak:.1f} GB; error {100 * error:.2f}; {counted}"
    yield Row("certified grid", f"letter, n={n}", "oneLSM, fast", seconds, "", None, note)
    X, y = load("letter", first=n)
    tests = [test for _, test in stratified_folds(y, 10, seed=0)]
    D2 = squared_distances(X)
    machine = OneLSM()
    folds = [(np.setdiff1d(np.arange(n), test), test) for test in tests]
    with threadpool_limits(CORES):
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
    with threadpool_limits(CORES):
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
        note = f"{seconds / fit:.2f} times one fit; error {100 * error:.2f}"
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


def fit_many(sizes: tuple[int, ...] = (4000, 16_000)) -> Iterator[Row]:
    """``mcls fit`` on n letters against peers that are installed, judged on 4000 others."""
    head, *rows = gzip.decompress((datasets_dir() / "letter.csv.gz").read_bytes()).decode().splitlines()
    for n in sizes:
        with tempfile.TemporaryDirectory() as name:
            train, test = Path(name) / "train.csv", Path(name) / "test.csv"
            train.write_text("\n".join([head, *rows[:n]]) + "\n")
            test.write_text("\n".join([head, *rows[n : n + 4000]]) + "\n")
            seconds, fitted = timed(lambda: fit_table(train, "class"))  # noqa: B023
            error = 100 * judge_table(fitted.model, test).error
            yield Row("fit", f"letter, n={n}", "mcls fit", seconds, "", None, f"test error {error:.2f}")
            if n <= 4000:
                slow, full = timed(lambda: fit_table(train, "class", grid=_whole_grid(fitted.selection)))  # noqa: B023
                note = f"test errors {error:.2f} and {100 * judge_table(full.model, test).error:.2f}"
                yield Row("fit", f"letter, n={n}", "mcls fit", seconds, "whole grid, 2500 rows", slow, note)
            X, y, X_test, y_test = _read(train, test)
            for peer, make in _peers(n).items():
                model = make()
                peer_seconds, _ = timed(lambda: model.fit(X, y))  # noqa: B023
                wrong = 100 * float(np.mean(model.predict(X_test) != y_test))
                note = f"test errors {error:.2f} and {wrong:.2f}"
                yield Row("fit", f"letter, n={n}", "mcls fit", seconds, peer, peer_seconds, note)


def _whole_grid(selection: Any) -> dict[str, list[float]]:
    unit = float(selection.best_params["sigma"])
    return {
        "sigma": [unit * 2.0 ** (0.75 * step) for step in range(-4, 5)],
        "gamma": (2.0 ** np.arange(-10, 5, 2)).tolist(),
    }


def _read(train: Path, test: Path) -> tuple[Array, Array, Array, Array]:
    frame, unseen = pd.read_csv(train), pd.read_csv(test)
    X, X_test = (f.drop(columns="class").to_numpy(float) / 7.5 - 1 for f in (frame, unseen))
    codes = np.unique(pd.concat([frame["class"], unseen["class"]]), return_inverse=True)[1]
    return X, codes[: len(X)], X_test, codes[len(X) :]


def _peers(n: int) -> dict[str, Callable[[], Any]]:
    """What is installed, each as people use it: a small grid for SVC, defaults for the others."""
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    made: dict[str, Callable[[], Any]] = {}
    if n <= 4000:
        grid = {"C": [1.0, 4.0, 16.0], "gamma": [0.125, 0.5, 2.0]}
        made["GridSearchCV(SVC), 9 points, 10 folds"] = lambda: GridSearchCV(SVC(), grid, cv=10, n_jobs=CORES)
    if importlib.util.find_spec("lightgbm"):
        from lightgbm import LGBMClassifier

        made["LightGBM, defaults"] = lambda: LGBMClassifier(verbose=-1, n_jobs=CORES)
    if importlib.util.find_spec("xgboost"):
        from xgboost import XGBClassifier

        made["XGBoost, defaults"] = lambda: XGBClassifier(n_jobs=CORES)
    return made
