"""Probabilities from out-of-fold scores: maps fitted to the scores of a sweep, with no further fit of the machine.

Two maps, for scores F (n, ℓ) that a machine gave to rows it was not trained on:

``temperature``
    p = softmax(tF), one number t.
``matrix``
    p = softmax(tF + GV), G the centred scores beside a column of ones: multinomial logistic regression whose ridge
    draws it to the temperature, not to zero. Without that, few rows and many classes are over-fitted. The ridge is
    the number of entries of V over 60, so that a prior of the same size ‖V‖² stands behind any number of classes.

``auto`` takes the one with the smaller cross-validated log-loss on F itself.

**The predicted class is that of the scores**, and it has the largest probability. The machine's parameters were
chosen, and its error estimated, for the decision arg max F; a map that moved decisions would be a machine of which
neither is known (and there are data on which it is worse by far). The temperature keeps the order of the scores. The
matrix map may not: where another class gets a larger probability, the probabilities are replaced by the nearest ones
(in least squares) that give no class more than the predicted one: it and those above it share their mean.

``decide`` is the exception that is asked for: the matrix map as it is, and the class with the largest probability is
the predicted one. Least squares on indicators masks classes that lie between others; a linear map of honest scores can
undo that. Whether it does is a question for cross-validation, which ``mcls fit`` asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from mcls.errors import McLsError, unknown_name
from mcls.solvers.softmax import preconditioner, ridge_deviations, softmax, temperatures

Array = np.ndarray

#: The two maps, the choice between them, and the map that also decides the class.
DECIDE = "decide"
CALIBRATIONS = ("temperature", "matrix", "auto", DECIDE)
#: Folds of the scores that choose a map.
_FOLDS = 5
#: Expected ‖V‖² of the matrix map for scores of unit size; what was best on ten data sets lies between 20 and 100.
_PRIOR = 60.0
#: Scores (numbers) of problems that are fitted side by side: with their folds they stay in the processor's cache.
_TOGETHER = 2**14


@dataclass(frozen=True, eq=False)
class ProbabilityMap:
    """A fitted map from scores to probabilities, as arrays."""

    kind: str  # "temperature", "matrix" or "decide"
    slope: Array  # () or (ℓ, ℓ)
    offset: Array  # () or (ℓ,)

    @property
    def decides(self) -> bool:
        """Whether the predicted class is that of the probabilities, not that of the scores."""
        return self.kind == DECIDE

    def logits(self, F: Array) -> Array:
        """What the softmax makes probabilities of (m, ℓ), from scores F (m, ℓ)."""
        F = _comparable(np.asarray(F, dtype=np.float64))
        if self.slope.ndim == 0:
            return self.slope * (F - _finite_top(F))
        return np.where(np.isneginf(F), -np.inf, _finite(F) @ self.slope + self.offset)

    def probabilities(self, F: Array) -> Array:
        """Probabilities (m, ℓ) of the classes from scores F (m, ℓ); arg max is the predicted class."""
        Z = self.logits(F)
        classes = (Z if self.decides else np.asarray(F)).argmax(axis=1)
        return agreeing(softmax(Z.T)[0].T, classes)


#: A map, fitted to all rows, and the probabilities (n, ℓ) of these, each from a map that was fitted without it.
Fitted = tuple[ProbabilityMap, Array]
#: Scores, class codes, weights and folds, as ``calibrate`` takes them.
Problem = tuple[Array, Array, Array | None, Array | None]


def agreeing(P: Array, classes: Array) -> Array:
    """The nearest probabilities (m, ℓ) to P (m, ℓ) in which the given classes (m,) are the arg max.

    Of p_c and the larger others o_1 ≥ o_2 ≥ …, the first k are levelled to their mean with p_c; k is where that mean is
    largest. One rounding is added to p_c, so that it is first.

    >>> agreeing(np.array([[0.5, 0.3, 0.2]]), np.array([1])).round(3)
    array([[0.4, 0.4, 0.2]])
    """
    rows = np.flatnonzero(P.argmax(axis=1) != classes)
    if not len(rows):
        return P
    c, p = classes[rows], P[rows]
    at = np.arange(len(rows))
    own = p[at, c]
    p[at, c] = np.inf  # comes first, and is replaced by its value
    ordered = -np.sort(-p, axis=1)
    ordered[:, 0] = own
    level = (ordered.cumsum(axis=1) / np.arange(1, p.shape[1] + 1)).max(axis=1)
    p = np.minimum(p, level[:, None])
    p[at, c] = np.nextafter(level, 2.0)
    P = P.copy()
    P[rows] = p
    return P


def calibrate(
    F: Array, y: Array, how: str = "auto", weights: Array | None = None, folds: Array | None = None
) -> tuple[ProbabilityMap, Array]:
    """Fit a map to out-of-fold scores.

    Parameters
    ----------
    F : array (n, ℓ)
        Scores of rows that the machine was not trained on; −∞ for a class that it had not seen.
    y : array (n,)
        Class codes 0..ℓ−1.
    how : {"auto", "temperature", "matrix", "decide"}
        The map, the better of the first two, or the matrix map that also decides the class.
    weights : array (n,), optional
        Weights of the rows; a weight of 2 counts as the row twice.
    folds : array (n,), optional
        The fold 0, 1, … of each row, for the choice and for honest probabilities; five by default.

    Returns
    -------
    ProbabilityMap
        Fitted to all rows.
    array (n, ℓ)
        Probabilities of the rows themselves, each from a map fitted without the row's fold: what an honest log-loss, a
        reliability curve and conformal sets are computed from.

    Examples
    --------
    >>> F = np.array([[0.9, 0.1], [0.7, 0.2], [0.3, 0.4], [0.1, 0.8], [0.6, 0.5], [0.2, 0.6]])
    >>> found, P = calibrate(F, np.array([0, 0, 0, 1, 1, 1]), "temperature")
    >>> found.probabilities(np.array([[0.9, 0.1]])).round(2)
    array([[0.94, 0.06]])
    """
    if how not in CALIBRATIONS:
        raise unknown_name("calibration", how, CALIBRATIONS)
    kinds = ("temperature", "matrix") if how == "auto" else (how,)
    found = calibrations(F, y, kinds, weights, folds)
    return min(found.values(), key=lambda pair: log_loss(y, pair[1], weights))


def calibrations(
    F: Array, y: Array, kinds: Sequence[str], weights: Array | None = None, folds: Array | None = None
) -> dict[str, tuple[ProbabilityMap, Array]]:
    """Several kinds of maps at once, each as ``calibrate`` gives it; "matrix" and "decide" are one fit."""
    return calibrations_together([(F, y, weights, folds)], kinds)[0]


def calibrations_together(problems: Sequence[Problem], kinds: Sequence[str]) -> list[dict[str, Fitted]]:
    """What ``calibrations`` gives for each of several problems (F, y, weights, folds).

    The maps of small problems are fitted side by side, as one array: with a hundred rows each, almost all the time of
    a fit goes to calling it. Rows of weight 0 bring them to one length, and no problem sees the others.
    """
    read = [_Problem.of(*problem) for problem in problems]
    stacks: dict[tuple[int, int], list[list[int]]] = {}
    for i, one in enumerate(read):
        several = stacks.setdefault((one.F.shape[1], one.fold.max() + 1), [])
        n = max(len(one.y), *(len(read[j].y) for j in several[-1])) if several else 0
        if not several or (len(several[-1]) + 1) * n * one.F.shape[1] > _TOGETHER:
            several.append([])
        several[-1].append(i)
    found: list[dict[str, Fitted]] = [{}] * len(read)
    for several in stacks.values():
        for places in several:
            for i, of in zip(places, _fit_stack([read[i] for i in places], kinds)):
                found[i] = of
    return found


@dataclass(frozen=True)
class _Problem:
    """Scores to be calibrated, checked."""

    F: Array  # (n, ℓ)
    classes: Array  # (n,) of the largest scores
    y: Array  # (n,)
    w: Array  # (n,)
    fold: Array  # (n,)

    @classmethod
    def of(cls, F: Array, y: Array, weights: Array | None, folds: Array | None) -> _Problem:
        F = np.asarray(F, dtype=np.float64)
        if F.ndim != 2 or len(F) != len(y) or not len(F) or np.isnan(F).any() or np.isposinf(F).any():
            raise McLsError(
                f"calibration needs finite scores of every row and class (−∞ for an unknown class); got shape "
                f"{F.shape} for {len(y)} rows"
            )
        w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
        return cls(_comparable(F), F.argmax(axis=1), y, w, _folds(y) if folds is None else folds)


def _fit_stack(problems: Sequence[_Problem], kinds: Sequence[str]) -> list[dict[str, Fitted]]:
    """The maps of problems with as many classes and folds; an array of theirs has them in its first axis."""
    n, ell = max(len(one.y) for one in problems), problems[0].F.shape[1]
    F, y, w, fold = (
        np.stack([np.concatenate([of, np.zeros_like(of, shape=(n - len(of), *of.shape[1:]))]) for of in parts])
        for parts in zip(*((one.F, one.y, one.w, one.fold) for one in problems))
    )
    n_folds = fold[0].max() + 1
    of = np.repeat(np.arange(len(F)), n_folds)  # the problem of each fold that is left out
    left_out = np.where(fold[of] == np.tile(np.arange(n_folds), len(F))[:, None], 0.0, w[of])
    at = np.arange(len(F))[:, None] * n_folds + fold  # (problems, n): the place of the row's fold among them
    scores = _Scores.of(F, w)
    G, y_of = (X if len(X) == 1 else X[of] for X in (scores.G, y))
    t = temperatures(scores.G, y, w)
    t_left = temperatures(scores.G, y, left_out, start=t, tol=1e-3)
    Z = t_left[at][:, None] * scores.G  # (problems, ℓ, n)
    found: list[dict[str, Fitted]] = [{} for _ in problems]
    if "temperature" in kinds:
        P = np.swapaxes(softmax(Z)[0], 1, 2)
        for i, one in enumerate(problems):
            made = ProbabilityMap("temperature", np.asarray(t[i] / scores.size[i]), np.zeros(()))
            found[i]["temperature"] = made, agreeing(P[i, : len(one.y)], one.classes)
    if "matrix" in kinds or DECIDE in kinds:
        ridge = ell * (ell + 1) / _PRIOR
        base, base_left = t[:, None, None] * scores.G, t_left[:, None, None] * G
        near = preconditioner(scores.A, base, w, ridge)
        V = ridge_deviations(scores.A, base, y, w, ridge, np.zeros((len(F), ell, ell + 1)), 1e-6, near)
        V_left = ridge_deviations(scores.A, base_left, y_of, left_out, ridge, V[of], 1e-3, near)
        for i, V_of in enumerate(V_left.reshape(len(F), n_folds, ell, ell + 1)):
            for k, of_fold in enumerate(V_of):
                rows = np.flatnonzero(fold[i] == k)
                Z[i][:, rows] += of_fold @ scores.A[i][rows].T
        P, decided = np.swapaxes(softmax(Z)[0], 1, 2), Z.argmax(axis=1)
        for i, one in enumerate(problems):
            made, own = scores.matrix_map(i, t[i], V[i]), P[i, : len(one.y)]
            if "matrix" in kinds:
                found[i]["matrix"] = made, agreeing(own, one.classes)
            if DECIDE in kinds:
                found[i][DECIDE] = replace(made, kind=DECIDE), agreeing(own, decided[i, : len(one.y)])
    return found


def log_loss(y: Array, P: Array, weights: Array | None = None) -> float:
    """The mean of −log p of the true class, p kept within a rounding of 0 and 1."""
    eps = np.finfo(P.dtype).eps
    return float(-np.average(np.log(np.clip(P[np.arange(len(y)), y], eps, 1.0 - eps)), weights=weights))


def temperature_losses(F: Array, y: Array, weights: Array | None = None) -> Array:
    """The log-loss (points,) of scores F (points, n, ℓ), each point with the temperature that fits it best."""
    P = temperature_probabilities(F, fit_temperatures(F, y, weights))
    return np.array([log_loss(y, of_point, weights) for of_point in P])


def _comparable(F: Array) -> Array:
    """Scores of two classes as ∓ half their difference, of which alone their probabilities are to depend."""
    if F.shape[1] != 2:
        return F
    with np.errstate(invalid="ignore"):
        half = 0.5 * (F[:, 1:] - F[:, :1])
    return np.where(np.isfinite(half), np.concatenate([-half, half], axis=1), F)


def fit_temperatures(F: Array, y: Array, weights: Array | None = None) -> Array:
    """The temperature t (points,) of each grid point from its out-of-fold scores F (points, n, ℓ), all at once.

    Each is the slope of ``calibrate(F[point], y, "temperature")``.
    """
    w = np.ones(len(y)) if weights is None else weights
    G, size = _unit_size(F, w)
    return temperatures(G, y, np.broadcast_to(w, F.shape[:2])) / size


def temperature_probabilities(F: Array, t: Array) -> Array:
    """Probabilities softmax(tF) (points, m, ℓ) of scores F (points, m, ℓ) with a temperature t (points,) each."""
    Z = t[:, None, None] * (F - _finite_top(F))
    return np.swapaxes(softmax(np.swapaxes(Z, 1, 2))[0], 1, 2)


def _unit_size(F: Array, w: Array) -> tuple[Array, Array]:
    """Scores G (…, ℓ, n) of unit size, 0 for the largest of a row, and the size (…,) by which they were divided."""
    G = F - _finite_top(F)
    largest = -np.min(G, axis=(-2, -1), where=np.isfinite(G), initial=0.0, keepdims=True)
    largest[largest == 0.0] = 1.0  # equal scores
    D = _finite(F) / largest  # without it, squares of the tiny scores of a narrow kernel would be zero
    D -= D.mean(axis=-1, keepdims=True)
    spread = np.sqrt(np.average(np.square(D).mean(axis=-1), axis=-1, weights=np.broadcast_to(w, F.shape[:-1])))
    size = np.maximum(largest[..., 0, 0] * np.where(spread > 0, spread, 1.0), 1e-290)
    return np.ascontiguousarray(np.swapaxes(G, -1, -2)) / size[..., None, None], size


@dataclass(frozen=True)
class _Scores:
    """Scores of several problems brought to unit size, as both fits want them."""

    G: Array  # (problems, ℓ, n) of unit size, 0 for the largest of a row, −∞ for impossible classes
    A: Array  # (problems, n, ℓ + 1) centred scores and a column of ones
    mean: Array  # (problems, ℓ)
    size: Array  # (problems,)

    @classmethod
    def of(cls, F: Array, w: Array) -> _Scores:
        G, size = _unit_size(F, w)
        finite = _finite(F)
        mean = np.einsum("pn,pnc->pc", w, finite) / w.sum(axis=1, keepdims=True)
        centred = (finite - mean[:, None]) / size[:, None, None]
        return cls(G, np.concatenate([centred, np.ones((*centred.shape[:2], 1))], axis=2), mean, size)

    def matrix_map(self, i: int, t: float, V: Array) -> ProbabilityMap:
        slope = (t * np.eye(len(V)) + V[:, :-1].T) / self.size[i]
        return ProbabilityMap("matrix", slope, V[:, -1] - self.mean[i] @ V[:, :-1].T / self.size[i])


def _finite_top(F: Array) -> Array:
    """The largest score of each row (…, n, 1), 0 where all are −∞."""
    top = F.max(axis=-1, keepdims=True)
    return np.where(np.isneginf(top), 0.0, top)


def _finite(F: Array) -> Array:
    """Scores with the smallest of the row in the place of −∞."""
    impossible = np.isneginf(F)
    if not impossible.any():
        return F
    least = np.min(F, axis=-1, keepdims=True, where=~impossible, initial=np.inf)
    return np.where(impossible, np.where(np.isinf(least), 0.0, least), F)


def _folds(y: Array) -> Array:
    """A fold for each row (n,), the rows of a class dealt out in turn."""
    fold = np.empty(len(y), dtype=int)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % min(_FOLDS, len(y))
    return fold
