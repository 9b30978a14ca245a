"""Grid search: every point of a parameter grid judged on the same folds.

Parameters of the kernel are the outer loop (one kernel matrix each); all the others are swept at a fixed
kernel matrix by the machine itself, exactly and at the price of a few factorisations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, NamedTuple, TypeVar

import numpy as np
from sklearn.base import clone

from mcls.errors import McLsError
from mcls.evaluation.folds import Fold
from mcls.evaluation.grid_result import GridResult, choose, losses, near_bound
from mcls.evaluation.memory import keep_freed_blocks
from mcls.evaluation.metrics import ERROR, Metric
from mcls.evaluation.parameter_grids import expand_grid
from mcls.evaluation.scaling import to_range
from mcls.evaluation.scoring import Judged, Scoring
from mcls.kernels import KERNEL_PARAMETERS, RADIAL, kernel_matrix
from mcls.machines.foreign import as_machine
from mcls.machines.sweeping import SharedFolds, point_key
from mcls.parameters import SCALE
from mcls.threads import blas_threads, shared_by

Array = np.ndarray
Item = TypeVar("Item")
Grid = Mapping[str, Any]  # parameter → values

#: Told what is being done and how much of it: ("grid points", 9, 81), or None where the total is not known.
OnStep = Callable[[str, int, int | None], None]

# Rows up to which threads share the widths or folds; beyond, they come one by one and the threads are those of BLAS.
_THREADS_UP_TO = 2499

# Rows up to which distances are held for all widths; those of more rows take a second and a matrix of memory.
_DISTANCES_UP_TO = 8000


class FoldChoice(NamedTuple):
    """Folds that choose a point together, and the folds whose scores are kept at their best points."""

    by: Sequence[int]
    keeps: Sequence[int]


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
    metrics: Sequence[Metric] = (ERROR,),
    weights: Array | None = None,
    calibrators: Mapping[int, Sequence[int]] | None = None,
    keep_scores: bool | Sequence[FoldChoice] = False,
    exact_scores: bool = False,
    near: float = 0.0,
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
    metrics : sequence of Metric
        What is judged, the first of which chooses; ``error`` always is. ``mcls.evaluation.scoring`` says where the
        probabilities come from that some metrics need.
    weights : array (n,), optional
        Weights of the rows, in training and in the metrics: a row of weight 2 counts as two rows.
    calibrators : dict, optional
        Fold → the folds whose test scores fit its temperature. With it, only the folds that it names are judged:
        the others are there to calibrate.
    keep_scores : bool or sequence of FoldChoice
        Keep the out-of-fold scores of the best points: those of all folds, or of each choice.
    exact_scores : bool
        Whether scores are exact where classes are all that is judged; otherwise they may be as near as these need.
    near : float
        Keep them of points too whose loss is within so many standard errors of the smallest.
    n_threads : int
        Kernel widths, or folds of a machine that works on rows, at once; from 2500 rows on, parts of the work at one
        width, or threads of BLAS. Pin BLAS to one thread before: short calls with many threads are slower.
    on_step : callable, optional
        Told how many points of the grid, or with ``scaling="fold"`` how many folds, are done.
    """
    keep_freed_blocks()
    grids = [expand_grid(each) for each in ([grid] if isinstance(grid, Mapping) else grid)]
    ell = int(y.max()) + 1 if n_classes is None else n_classes
    scoring = Scoring(y, [test for _, test in folds], metrics, weights, calibrators, bool(keep_scores))
    every = range(len(scoring.judged))
    choices = [FoldChoice(every, every)] if isinstance(keep_scores, bool) else keep_scores
    judges_scores = exact_scores or any(metric.need != "classes" for metric in metrics)
    question = _Question(as_machine(machine, scoring.needs_scores), y, grids, ell, engine, weights, judges_scores)
    judged: Iterable[tuple[list[dict[str, Any]], Judged]]
    if scaling == "fold":
        parts = [
            list(question.sweeps(to_range(X, X[fold[0]]), [fold], scoring.see, 1))
            for fold in steps(folds, "folds", on_step)
        ]
        judged = ((of[0][0], scoring.judge([seen[0] for _, seen in of])) for of in zip(*parts))
        told: OnStep = _nobody
    else:
        judged = question.sweeps(X, folds, scoring.see, n_threads, scoring.judge)
        told = on_step or _nobody
    n_points = sum(prod(len(v) for v in values.values()) for values in grids)
    points: list[dict[str, Any]] = []
    found: list[Judged] = []
    kept: list[dict[int, list[Array]]] = [{} for _ in choices]
    seen: list[dict[int, float]] = [{} for _ in choices]  # the loss of each point that is kept
    bounds = [np.inf] * len(choices)
    told("grid points", 0, n_points)
    for path, part in judged:
        if part.scores is not None:
            for c, (by, keeps) in enumerate(choices):
                here = losses(metrics[0], part.values[metrics[0].name][:, by])
                n_tested = sum(len(scoring.tests[scoring.judged[f]]) for f in by)
                bounds[c] = min(bounds[c], near_bound(metrics[0], float(here.min()), n_tested, near))
                for i in [i for i, loss in seen[c].items() if loss > bounds[c]]:
                    del kept[c][i], seen[c][i]
                for i in np.flatnonzero(here <= bounds[c]).tolist():
                    kept[c][len(points) + i] = [part.scores[f][i].copy() for f in keeps]
                    seen[c][len(points) + i] = float(here[i])
        points += path
        found.append(part._replace(scores=None))
        told("grid points", len(points), n_points)
    values = {name: np.concatenate([part.values[name] for part in found]) for name in found[0].values}
    loss = losses(metrics[0], values[metrics[0].name])
    return GridResult(
        points,
        [scoring.tests[f] for f in scoring.judged],
        [np.concatenate(codes) for codes in zip(*(part.codes for part in found))],
        values,
        len(y),
        choose(points, loss, smoother),
        metrics[0],
        kept,
    )


def sweep_points(
    machine: Any,
    X: Array,
    y: Array,
    points: Sequence[Mapping[str, Any]],
    folds: Sequence[Fold],
    n_classes: int,
    weights: Array | None = None,
    n_threads: int = 1,
) -> Iterator[tuple[list[int], list[Array]]]:
    """Yield indices of points that share a kernel, and their out-of-fold scores (points, |test|, ℓ) of each fold.

    The points are a machine's parameters; those that would make it work on something else are refused.
    """
    keep_freed_blocks()
    free = {*KERNEL_PARAMETERS, *machine.swept}
    for rest in {point_key(r): r for p in points if (r := {k: v for k, v in p.items() if k not in free})}.values():
        if clone(machine).set_params(**rest).works_on != machine.works_on:
            raise McLsError(f"one grid cannot hold machines that work on kernels and on rows: {rest}")
    kernels = [point["kernel"] for point in points if isinstance(point.get("kernel"), str)]
    if any((kernel == "precomputed") != machine.kernel_is_given for kernel in kernels):
        raise McLsError("one grid cannot hold a precomputed kernel and others")
    where: dict[Hashable, list[int]] = {}
    for i, point in enumerate(points):
        where.setdefault(point_key(point), []).append(i)
    grids = [{name: [value] for name, value in point.items()} for point in points]
    question = _Question(machine, y, grids, n_classes, "fast", weights, judges_scores=True)
    for path, scores in question.sweeps(X, folds, list, n_threads):
        found = [where[point_key(point)] for point in path]
        places = [k for k, indices in enumerate(found) for _ in indices]
        every = len(places) == len(path)  # no point is there twice
        yield [i for indices in found for i in indices], scores if every else [of[places] for of in scores]


def _nobody(*step: Any) -> None:
    """Nobody is told."""


def steps(items: Sequence[Item], what: str, on_step: OnStep | None) -> Iterator[Item]:
    """The items one by one; ``on_step`` is told how many are done."""
    for done, item in enumerate(items):
        if on_step is not None:
            on_step(what, done, len(items))
        yield item


GridPoints = list[dict[str, Any]]


@dataclass(frozen=True)
class _Question:
    """What is swept: a machine over grids of parameters, for rows of known classes."""

    machine: Any
    y: Array
    grids: Sequence[Mapping[str, list[Any]]]
    n_classes: int
    engine: str
    weights: Array | None
    judges_scores: bool  # or the classes alone

    def sweeps(
        self,
        X: Array,
        folds: Sequence[Fold],
        see: Callable[[list[Array]], list[Any]],
        n_threads: int,
        judge: Callable[[list[Any]], Any] = list,
    ) -> Iterator[tuple[GridPoints, Any]]:
        """Yield grid points and what ``judge`` makes of what ``see`` keeps of the folds, kernel by kernel."""
        machine, grids = self.machine, self.grids
        folds = SharedFolds(folds)
        settings: dict[str, Any] = {
            "n_classes": self.n_classes,
            "engine": self.engine,
            "sample_weight": self.weights,
        }
        on_kernel = machine.works_on == "kernel"
        threads = n_threads > 1 and len(X) <= _THREADS_UP_TO
        paths = _paths(grids, KERNEL_PARAMETERS if on_kernel else ())
        if not on_kernel:
            ((_, path),) = paths

            def of(some: Sequence[Fold]) -> list[Any]:
                return see(machine.sweep(X, self.y, some, path, **settings))

            if threads and machine.swept and not machine.folds_together:
                with ThreadPoolExecutor(n_threads) as pool:
                    seen = [found for part in pool.map(of, [[fold] for fold in folds]) for found in part]
            else:
                with _blas_threads(n_threads):
                    seen = of(folds)
            yield path, judge(seen)
            return
        kernels = [kernel for values in grids for kernel in values.get("kernel", [machine.kernel])]
        measures = {RADIAL[kernel].distances for kernel in kernels if isinstance(kernel, str) and kernel in RADIAL}
        D2 = {measure: measure(X) for measure in measures} if len(X) <= _DISTANCES_UP_TO else {}

        def distances(kernel: str) -> Array:
            measure = RADIAL[kernel].distances
            return D2[measure] if measure in D2 else measure(X)

        def begin(fixed: dict[str, Any], n_points: int) -> tuple[Any, Array | None, Any]:
            current = copy(machine)  # parameters are the same objects, and nothing is fitted
            for name, value in fixed.items():
                setattr(current, name, value)
            if current.kernel == "precomputed":
                K = X
            elif isinstance(current.kernel, str) and current.kernel in RADIAL:
                if current.sigma == SCALE:
                    return current, None, None
                K = RADIAL[current.kernel].value(distances(current.kernel), current.sigma)
            else:
                K = kernel_matrix(X, kernel=current.kernel, degree=current.degree, coef0=current.coef0)
            if self.engine != "fast" or self.weights is not None:
                return current, K, None
            if threads:
                return current, K, current.prepare(K) if current.decomposes(len(K), n_points) else None
            return current, K, None if self.judges_scores else current.certifier(len(K))

        def end(
            fixed: dict[str, Any], path: GridPoints, begun: tuple[Any, Array | None, Any]
        ) -> tuple[GridPoints, Any]:
            current, K, prepared = begun
            if K is None:
                D = distances(current.kernel)
                scores = current.sweep_at_own_widths(X, D, self.y, folds, path, **settings)
            else:
                scores = current.sweep(K, self.y, folds, path, prepared=prepared, **settings)
            return [{**fixed, **point} for point in path], judge(see(scores))

        def finish(fixed: dict[str, Any], path: GridPoints, half: Future[Any]) -> tuple[GridPoints, Any]:
            return end(fixed, path, half.result())

        if not threads:
            certified = machine.certifier(len(X)) is not None
            with shared_by(n_threads) if certified and n_threads > 1 else _blas_threads(n_threads):
                yield from (end(fixed, path, begin(fixed, len(path))) for fixed, path in paths)
            return
        with blas_threads(1), ThreadPoolExecutor(n_threads) as pool:  # threads of BLAS would fight with these
            # Halves of a width are smaller pieces to share; few enough are under way that memory does not matter.
            begun: deque[tuple[dict[str, Any], GridPoints, Future[Any]]] = deque()
            ended = []
            for fixed, path in paths:
                begun.append((fixed, path, pool.submit(begin, fixed, len(path))))
                if len(begun) > n_threads:
                    ended.append(pool.submit(finish, *begun.popleft()))
            ended += [pool.submit(finish, *half) for half in begun]
            yield from (half.result() for half in ended)


def _blas_threads(n_threads: int) -> Any:
    """A context with that many threads of BLAS; with one, whatever the caller has set."""
    return blas_threads(n_threads) if n_threads > 1 else nullcontext()


def _paths(
    grids: Sequence[Mapping[str, list[Any]]], outer: Sequence[str]
) -> list[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """The different values of the ``outer`` parameters, each with the points that are swept there."""
    paths: dict[Hashable, tuple[dict[str, Any], dict[Hashable, dict[str, Any]]]] = {}
    for values in grids:
        path = {point_key(p): p for p in _points({n: v for n, v in values.items() if n not in outer})}
        for fixed in _points({name: v for name, v in values.items() if name in outer}):
            known = paths.setdefault(point_key(fixed), (fixed, {}))[1]
            known.update({key: point for key, point in path.items() if key not in known})
    return [(fixed, list(known.values())) for fixed, known in paths.values()]


def _points(values: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(values, combination)) for combination in product(*values.values())]
