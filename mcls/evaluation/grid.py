"""Grid search: every point of a parameter grid judged on the same folds.

Parameters of the kernel are the outer loop (one kernel matrix each); all the others are swept at a fixed
kernel matrix by the machine itself, exactly and at the price of a few factorisations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from threadpoolctl import threadpool_limits

from mcls.errors import McLsError
from mcls.evaluation.folds import Fold
from mcls.evaluation.memory import keep_freed_blocks
from mcls.evaluation.parameter_grids import expand_grid
from mcls.evaluation.scaling import to_range
from mcls.kernels import KERNEL_PARAMETERS, RADIAL, kernel_matrix, squared_distances
from mcls.machines.foreign import as_machine

if TYPE_CHECKING:
    from pandas import DataFrame

Array = np.ndarray
Item = TypeVar("Item")
Grid = Mapping[str, Any]  # parameter → values

#: Told what is being done and how much of it: ("grid points", 9, 81), or None where the total is not known.
OnStep = Callable[[str, int, int | None], None]

# Rows up to which threads share the widths or folds; beyond, they come one by one and the threads are those of BLAS.
_THREADS_UP_TO = 2000


@dataclass(frozen=True)
class GridResult:
    """What a grid search saw: all points, what each fold predicted and its error, and the choice."""

    points: list[dict[str, Any]]
    tests: list[Array]  # the rows that each fold tests
    fold_predictions: list[Array]  # (points, |test|) class codes, one array per fold
    fold_errors: Array  # (points, folds), fractions
    n_rows: int
    best: int  # index of the chosen point

    @property
    def predictions(self) -> Array:
        """Class codes (points, n) out of fold, −1 for a row that no fold tests.

        Repeated folds have no such table, since they predict a row several times: see ``fold_predictions``.
        """
        tested = np.concatenate(self.tests)
        if len(np.unique(tested)) < len(tested):
            raise McLsError("some rows are tested by several folds: take the predictions of each fold")
        merged = np.full((len(self.points), self.n_rows), -1, dtype=np.int16)
        merged[:, tested] = np.concatenate(self.fold_predictions, axis=1)
        return merged

    def joined(self, other: GridResult) -> GridResult:
        """The points of both searches, which judged them on the same folds; the choice stays."""
        return replace(
            self,
            points=self.points + other.points,
            fold_predictions=[
                np.concatenate(codes) for codes in zip(self.fold_predictions, other.fold_predictions)
            ],
            fold_errors=np.concatenate([self.fold_errors, other.fold_errors]),
        )

    @property
    def errors(self) -> Array:
        """Mean over the folds of each point's error (points,)."""
        return self.fold_errors.mean(axis=1)

    @property
    def best_point(self) -> dict[str, Any]:
        """Parameters of the chosen point."""
        return self.points[self.best]

    @property
    def best_error(self) -> float:
        """Cross-validation error of the chosen point."""
        return float(self.errors[self.best])

    def frame(self) -> DataFrame:
        """One row per point, the chosen one first: parameters, mean and spread of the error, rank, error per fold."""
        import pandas as pd

        frame = pd.DataFrame(self.points)
        frame["error"] = self.errors
        frame["spread"] = self.fold_errors.std(axis=1)
        frame["rank"] = frame["error"].rank(method="min").astype(int)
        folds = pd.DataFrame(self.fold_errors, columns=[f"fold {k}" for k in range(self.fold_errors.shape[1])])
        order = np.argsort(frame["rank"].to_numpy() - (np.arange(len(frame)) == self.best), kind="stable")
        return pd.concat([frame, folds], axis=1).iloc[order].reset_index(drop=True)


def choose(points: Sequence[Mapping[str, Any]], errors: Array, smoother: Mapping[str, int] | None = None) -> int:
    """Index of the smallest error. Ties go to the smoothest model: the widest kernel first, then the strongest
    regularisation (``smoother`` gives each parameter's direction), then the first in the order of the grid.
    """
    smoother = smoother or {}
    names = sorted(smoother, key=lambda name: name not in KERNEL_PARAMETERS)  # stable: kernel parameters first
    ties = np.flatnonzero(errors <= errors.min() + 1e-12).tolist()

    def smoothness(i: int) -> tuple[float, ...]:
        values = [(name, points[i][name]) for name in names if name in points[i]]
        # Among numbers a word, such as scikit-learn's gamma="scale", comes last.
        return tuple(
            -np.inf if isinstance(value, str) else smoother[name] * float(value) for name, value in values
        )

    return max(ties, key=lambda i: (smoothness(i), -i))


def search(
    machine: Any,
    X: Array,
    y: Array,
    grid: Grid | Sequence[Grid],
    folds: Sequence[Fold],
    *,
    engine: str = "fast",
    scaling: str = "none",
    smoother: Mapping[str, int] | None = None,
    n_classes: int | None = None,
    n_threads: int = 1,
    on_step: OnStep | None = None,
) -> GridResult:
    """Cross-validate a machine at every point of a grid.

    Parameters
    ----------
    machine : estimator
        One of ours, or any scikit-learn classifier.
    X, y : arrays (n, d), (n,)
        Features, already scaled unless ``scaling="fold"``, and class codes 0..ℓ−1.
    grid : dict or list of dict
        Parameter → values, as ``parse_values`` reads them; of several grids, every point once.
    folds : list of (train, test)
        Index arrays; the same for every point. They may overlap.
    engine : {"fast", "refit"}
        The machine's exact sweep, or a fit at every fold and point.
    n_threads : int
        Kernel widths, or folds of a machine that works on rows, at once; with more than 2000 rows, threads of BLAS.
        Pin BLAS to one thread before: short calls with many threads are slower.
    on_step : callable, optional
        Told how many points of the grid, or with ``scaling="fold"`` how many folds, are done.
    """
    keep_freed_blocks()
    grids = [expand_grid(each) for each in ([grid] if isinstance(grid, Mapping) else grid)]
    ell = int(y.max()) + 1 if n_classes is None else n_classes
    tests = [test for _, test in folds]
    points: list[dict[str, Any]] = []
    codes: list[Array]  # (points, |test|) each
    if scaling == "fold":
        parts = [
            search(machine, to_range(X, X[f[0]]), y, grids, [f], engine=engine, n_classes=ell)
            for f in steps(folds, "folds", on_step)
        ]
        points, codes = parts[0].points, [part.fold_predictions[0] for part in parts]
    else:
        told = on_step or (lambda *step: None)
        n_points = sum(prod(len(v) for v in values.values()) for values in grids)
        told("grid points", 0, n_points)
        found = []
        for fixed, path, predicted in _sweeps(machine, X, y, grids, folds, ell, engine, n_threads):
            points += [{**fixed, **point} for point in path]
            found.append(predicted.astype(np.int16))
            told("grid points", len(points), n_points)
        codes = np.split(np.concatenate(found), np.cumsum([len(test) for test in tests])[:-1], axis=1)
    errors = np.stack([(c != y[test]).mean(axis=1) for c, test in zip(codes, tests, strict=True)], axis=1)
    return GridResult(points, tests, codes, errors, len(y), choose(points, errors.mean(axis=1), smoother))


def steps(items: Sequence[Item], what: str, on_step: OnStep | None) -> Iterator[Item]:
    """The items one by one; ``on_step`` is told how many are done."""
    for done, item in enumerate(items):
        if on_step is not None:
            on_step(what, done, len(items))
        yield item


def _sweeps(
    machine: Any,
    X: Array,
    y: Array,
    grids: Sequence[Mapping[str, list[Any]]],
    folds: Sequence[Fold],
    n_classes: int,
    engine: str,
    n_threads: int,
) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]], Array]]:
    """Yield (kernel parameters, path points, predicted codes (path points, Σ|test|), fold after fold)."""
    machine = as_machine(machine)
    on_kernel = machine.works_on == "kernel"
    threads = n_threads > 1 and len(X) <= _THREADS_UP_TO
    paths = _paths(grids, KERNEL_PARAMETERS if on_kernel else ())
    if not on_kernel:
        ((_, path),) = paths

        def of(some: Sequence[Fold]) -> list[Array]:
            scores: list[Array] = machine.sweep(X, y, some, path, n_classes=n_classes, engine=engine)
            return scores

        if threads and machine.swept:
            with ThreadPoolExecutor(n_threads) as pool:
                scores = [found for part in pool.map(of, [[fold] for fold in folds]) for found in part]
        else:
            with _blas_threads(n_threads):
                scores = of(folds)
        yield {}, path, _codes(scores)
        return
    kernels = [kernel for values in grids for kernel in values.get("kernel", [machine.kernel])]
    D2 = squared_distances(X) if any(isinstance(kernel, str) and kernel in RADIAL for kernel in kernels) else None

    def begin(fixed: dict[str, Any]) -> tuple[Any, Array, Any]:
        current = copy(machine)  # parameters are the same objects, and nothing is fitted
        for name, value in fixed.items():
            setattr(current, name, value)
        if current.kernel == "precomputed":
            K = X
        elif D2 is not None and isinstance(current.kernel, str) and current.kernel in RADIAL:
            K = RADIAL[current.kernel](D2, current.sigma)
        else:
            K = kernel_matrix(X, kernel=current.kernel, degree=current.degree, coef0=current.coef0)
        return current, K, current.prepare(K) if threads and engine == "fast" else None

    def end(
        fixed: dict[str, Any], path: list[dict[str, Any]], begun: tuple[Any, Array, Any]
    ) -> tuple[dict[str, Any], list[dict[str, Any]], Array]:
        current, K, prepared = begun
        scores = current.sweep(K, y, folds, path, n_classes=n_classes, engine=engine, prepared=prepared)
        return fixed, path, _codes(scores)

    def finish(
        fixed: dict[str, Any], path: list[dict[str, Any]], half: Future[Any]
    ) -> tuple[dict[str, Any], list[dict[str, Any]], Array]:
        return end(fixed, path, half.result())

    if not threads:
        with _blas_threads(n_threads):
            yield from (end(fixed, path, begin(fixed)) for fixed, path in paths)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        # Halves of a width are smaller pieces to share; few enough are under way that memory does not matter.
        begun: deque[tuple[dict[str, Any], list[dict[str, Any]], Future[Any]]] = deque()
        ended = []
        for fixed, path in paths:
            begun.append((fixed, path, pool.submit(begin, fixed)))
            if len(begun) > n_threads:
                ended.append(pool.submit(finish, *begun.popleft()))
        ended += [pool.submit(finish, *half) for half in begun]
        yield from (half.result() for half in ended)


def _blas_threads(n_threads: int) -> Any:
    """A context with that many threads of BLAS; with one, whatever the caller has set."""
    return threadpool_limits(n_threads) if n_threads > 1 else nullcontext()


def _codes(scores: Sequence[Array]) -> Array:
    """Classes with the largest of scores (points, |test|, ℓ) per fold: (points, Σ|test|), −1 where there is none."""
    joined = np.concatenate(scores, axis=1)
    codes = joined.argmax(axis=-1)
    codes[np.isneginf(joined.max(axis=-1))] = -1
    return codes


def _paths(
    grids: Sequence[Mapping[str, list[Any]]], outer: Sequence[str]
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The different values of the ``outer`` parameters, each with the points that are swept there."""
    paths: dict[tuple[Any, ...], tuple[dict[str, Any], list[dict[str, Any]]]] = {}
    for values in grids:
        path = _points({name: v for name, v in values.items() if name not in outer})
        for fixed in _points({name: v for name, v in values.items() if name in outer}):
            known = paths.setdefault(tuple(fixed.items()), (fixed, []))[1]
            known += [point for point in path if point not in known] if known else path
    return list(paths.values())


def _points(values: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(values, combination)) for combination in product(*values.values())]
