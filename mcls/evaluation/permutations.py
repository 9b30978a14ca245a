"""Permutation tests: of a machine against chance, and of two machines against each other.

**Against chance.** If the rows said nothing about the classes, the pairs of class and fold could be dealt to the rows
in any order. Dealing them anew, folds included (so that the folds stay stratified), and cross-validating at the same
parameters gives the errors of chance. Only the right-hand sides and the rows left out change: one decomposition of the
kernel matrix, and where it pays one inverse, serves every permutation.

**Two machines.** If both were equally good, each row's two predictions could be exchanged.

In both cases p = (1 + #{as extreme as observed}) / (1 + B), which is never zero and never too small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mcls.errors import McLsError
from mcls.evaluation.folds import Fold
from mcls.evaluation.grid import OnStep, steps
from mcls.evaluation.metrics import ERROR, Metric
from mcls.evaluation.scaling import to_range
from mcls.evaluation.statistics import TestResult
from mcls.evaluation.task import Prepare, Task
from mcls.kernels import KERNEL_PARAMETERS, kernel_matrix
from mcls.machines.foreign import as_machine
from mcls.parameters import SCALE

Array = np.ndarray
#: Class codes from out-of-fold scores (n, ℓ), the classes and the fold of each row.
Decide = Callable[[Array, Array, Array], Array]


@dataclass(frozen=True)
class PermutationResult(TestResult):
    """A permutation test: the statistic observed, its p-value and what the permutations gave.

    Against chance the statistic is the error; of two machines it is the difference a − b of the metric.
    """

    permuted: tuple[float, ...] = ()

    @property
    def expected(self) -> float:
        """The mean over the permutations: what chance gives."""
        return float(np.mean(self.permuted))


def check_permutations(permutations: int) -> None:
    """Refuse what is not a number of permutations."""
    whole = isinstance(permutations, Integral) and not isinstance(permutations, bool)
    if not whole or not 1 <= permutations <= 1_000_000:
        raise McLsError(f"permutations must be a whole number from 1 to 1000000; got {permutations!r}")


def check_partition(folds: Sequence[Fold], n: int) -> None:
    """Refuse folds that do not test each of n rows once."""
    if not np.array_equal(np.sort(np.concatenate([test for _, test in folds])), np.arange(n)):
        raise McLsError("a permutation test needs folds that test every row once")


def permutation_test(
    task: Task,
    folds: Sequence[Fold],
    point: Mapping[str, Any],
    permutations: int = 1000,
    *,
    seed: int = 0,
    observed: float | None = None,
    decide: Decide | None = None,
    prepare: Prepare | None = None,
    on_step: OnStep | None = None,
) -> PermutationResult:
    """Test a machine at one grid point against chance.

    What is done to the classes as they are is done to the permuted ones: ``decide`` and ``prepare`` are as much a part
    of what is tested as the machine.

    Parameters
    ----------
    task : Task
        The machine and the data; its grid is not used.
    folds : list of (train, test)
        The folds of one partition.
    point : dict
        Parameters.
    permutations : int
        B; the smallest p-value is 1/(1 + B).
    observed : float, optional
        The error to compare with. By default that at the point on these folds. Where the point was chosen by the same
        folds that is too small, and so is p: give the error of nested cross-validation.
    decide : callable, optional
        Class codes (n,) from the out-of-fold scores (n, ℓ), the classes (n,) and the fold (n,) of each row, where that
        is more than the largest score: a map that is fitted to the scores.
    prepare : callable, optional
        Features of all rows learnt from some training rows, for each fold anew: one kernel matrix per fold and
        permutation. By default that is what ``scaling="fold"`` of the task asks for.

    Examples
    --------
    >>> from mcls import OneLSM
    >>> from mcls.data import load_dataset
    >>> from mcls.evaluation.folds import make_folds
    >>> iris = load_dataset("iris")
    >>> task = Task(OneLSM(), iris.X, iris.y, {})
    >>> permutation_test(task, make_folds(iris.y, 5, seed=0), {"gamma": 1.0, "sigma": 1.0}, 19).p
    0.05
    """
    check_permutations(permutations)
    check_partition(folds, len(task.y))
    machine, path = copy(as_machine(task.estimator)), dict(point)
    on_kernel = machine.works_on == "kernel"
    for name in [name for name in path if on_kernel and name in KERNEL_PARAMETERS]:
        setattr(machine, name, path.pop(name))
    if prepare is None and task.scaling == "fold":
        prepare = partial(_scaled_by, task.X)

    def worked_on(X: Array) -> Array:
        if not on_kernel or machine.kernel == "precomputed":
            return X
        # A width that rows decide is that of all rows: it knows no labels, and no shuffling changes it.
        width = machine.at_width_of(X, task.y, task.weights).sigma if machine.sigma == SCALE else machine.sigma
        return kernel_matrix(X, kernel=machine.kernel, sigma=width, degree=machine.degree, coef0=machine.coef0)

    settings: dict[str, Any] = {"n_classes": task.n_classes, "engine": task.engine}
    A = worked_on(task.scaled()) if prepare is None else None
    if A is not None and on_kernel and task.weights is None:
        settings["prepared"] = machine.prepare(A, often=[path])
    if task.weights is not None:
        settings["sample_weight"] = task.weights
    fold_of = np.full(len(task.y), -1)
    for k, (_, test) in enumerate(folds):
        fold_of[test] = k

    def error(order: Array) -> float:
        y, parts = task.y[order], fold_of[order]
        rows = np.arange(len(y))
        dealt = [(rows[parts != k], rows[parts == k]) for k in range(len(folds))]
        F = np.empty((len(y), task.n_classes))
        if A is not None:
            for (_, test), (of_fold,) in zip(dealt, machine.sweep(A, y, dealt, [path], **settings), strict=True):
                F[test] = of_fold
        elif prepare is not None:
            for train, test in dealt:
                ((F[test],),) = machine.sweep(worked_on(prepare(train)), y, [(train, test)], [path], **settings)
        codes = F.argmax(axis=1) if decide is None else decide(F, y, parts)
        return float(np.mean([(codes[test] != y[test]).mean() for _, test in dealt]))

    rng = np.random.default_rng(seed)
    own = error(np.arange(len(task.y))) if observed is None else observed
    found = [
        error(_dealt(task.groups, len(task.y), rng)) for _ in steps(range(permutations), "permutations", on_step)
    ]
    as_good = sum(each <= own + 1e-12 for each in found)
    return PermutationResult(own, (1 + as_good) / (1 + permutations), permuted=tuple(found))


def _scaled_by(X: Array, train: Array) -> Array:
    """Rows scaled by the ranges of some of them."""
    return to_range(X, X[train])


def _dealt(groups: Array | None, n: int, rng: np.random.Generator) -> Array:
    """A random order of the rows (n,); groups change places as a whole, with groups of their size."""
    if groups is None:
        return rng.permutation(n)
    order = np.empty(n, dtype=np.intp)
    by_size: dict[int, list[Array]] = {}
    sorted_rows = np.argsort(groups, kind="stable")
    for rows in np.split(sorted_rows, np.flatnonzero(np.diff(groups[sorted_rows])) + 1):
        by_size.setdefault(len(rows), []).append(rows)
    for members in by_size.values():
        for rows, other in zip(members, rng.permutation(len(members))):
            order[rows] = members[other]
    return order


def paired_permutation_test(
    y: ArrayLike,
    predictions_a: ArrayLike,
    predictions_b: ArrayLike,
    permutations: int = 1000,
    *,
    metric: Metric = ERROR,
    seed: int = 0,
) -> PermutationResult:
    """Test two machines on the same rows (n,) by exchanging their predictions row by row, two-sided.

    The statistic is the difference a − b of a metric of the predicted classes. With the error this is McNemar's test,
    up to the draws; other metrics, such as macro-F1, have no other exact test.

    Examples
    --------
    >>> found = paired_permutation_test([0] * 9, [1] * 7 + [0] * 2, [0] * 8 + [1], 999)
    >>> round(found.statistic, 3), found.p < 0.12  # McNemar's exact p is 0.07
    (0.667, True)
    """
    check_permutations(permutations)
    y, a, b = np.asarray(y), np.asarray(predictions_a), np.asarray(predictions_b)
    if not y.shape == a.shape == b.shape or y.ndim != 1:
        raise McLsError(f"the test needs one prediction per row, got shapes {y.shape}, {a.shape} and {b.shape}")
    if metric.need != "classes":
        raise McLsError(f"a permutation test exchanges predicted classes; '{metric.name}' needs {metric.need}")
    differ = np.flatnonzero(a != b)

    def difference(one: Array, other: Array) -> Array:
        return metric(y, one) - metric(y, other)

    own = float(difference(a[None], b[None])[0])
    if not len(differ):
        return PermutationResult(0.0, 1.0, identical=True, permuted=(0.0,) * permutations)
    rng = np.random.default_rng(seed)
    found: list[float] = []
    step = max(1, 2**22 // len(y))
    for start in range(0, permutations, step):
        swap = rng.random((min(step, permutations - start), len(differ))) < 0.5
        one, other = np.tile(a, (len(swap), 1)), np.tile(b, (len(swap), 1))
        one[:, differ] = np.where(swap, b[differ], a[differ])
        other[:, differ] = np.where(swap, a[differ], b[differ])
        found += difference(one, other).tolist()
    extreme = int((np.abs(found) >= abs(own) - 1e-12).sum())
    return PermutationResult(own, (1 + extreme) / (1 + permutations), permuted=tuple(found))
