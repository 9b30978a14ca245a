"""Metrics: a function over arrays, a direction and a need; all points of a grid are judged at once.

The definitions are scikit-learn's in every detail, undefined cases included: where scikit-learn gives NaN
(Cohen's kappa of a single class, the area under the curve of a class without a row), these functions do too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from mcls import plugins
from mcls.errors import McLsError, unknown_name
from mcls.evaluation.costs import cost_of, least_cost_classes

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Metric:
    """One line of the registry of metrics.

    Attributes
    ----------
    name, summary : str
        What a user writes, and one line about it.
    function : callable
        ``function(y, values, weights, **parameters)`` gives (points,) from the class codes y (m,), the values that
        ``need`` names and the weights of the rows (m,) or None.
    direction : {"smaller", "larger"}
        Which values are better.
    need : {"classes", "scores", "probabilities"}
        Of what the values are: predicted codes (points, m), or scores or probabilities (points, m, ℓ).
    parameters : dict
        Further arguments of the function, such as the cost matrix.
    decide : callable, optional
        ``decide(probabilities, **parameters)`` gives the class codes (..., m) of a metric that also decides the class
        where it is the one that chooses; without it the class is the one with the largest score.
    percent : bool
        Whether tables show it in percent.

    Examples
    --------
    >>> import numpy as np
    >>> get_metric("error")(np.array([0, 1, 2]), np.array([[0, 1, 1], [0, 1, 2]]))
    array([0.33333333, 0.        ])
    """

    name: str
    function: Callable[..., Array] = field(repr=False)
    direction: Literal["smaller", "larger"]
    need: Literal["classes", "scores", "probabilities"]
    summary: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    decide: Callable[..., Array] | None = field(default=None, repr=False)
    percent: bool = False

    def __call__(self, y: Array, values: Array, sample_weight: Array | None = None) -> Array:
        """The metric of every grid point (points,)."""
        return self.function(y, values, sample_weight, **self.parameters)

    def with_parameters(self, **parameters: Any) -> Metric:
        """The same metric with some parameters given, such as ``costs``."""
        return replace(self, parameters={**self.parameters, **parameters})

    def decided(self, probabilities: Array) -> Array:
        """The classes (..., m) that the metric's own rule gives, where it has one."""
        assert self.decide is not None
        return self.decide(probabilities, **self.parameters)

    def as_loss(self, values: Array) -> Array:
        """Values of which the smallest is the best: themselves, or their negatives."""
        return values if self.direction == "smaller" else -values

    def show(self, value: float) -> str:
        """A value for people: in percent where that is how the metric is shown.

        >>> get_metric("balanced-error").show(0.0467), get_metric("auc").show(0.99)
        ('4.67 %', '0.9900')
        """
        return f"{100 * value:.2f} %" if self.percent else f"{value:.4f}"


#: Name → metric, in the order in which they are listed.
METRICS: dict[str, Metric] = {}


def register(metric: Metric) -> None:
    """Add a metric; its name must be new."""
    if metric.name.lower() in METRICS:
        raise McLsError(f"a metric named '{metric.name}' is registered already")
    METRICS[metric.name.lower()] = metric
    plugins.note("metric", metric.name)


plugins.registers(Metric, register)


def get_metric(name: str) -> Metric:
    """Look a metric up by its name, in any case.

    >>> get_metric("Macro-F1").direction
    'larger'
    """
    if name.lower() not in METRICS and not plugins.load_entry("metric", name):
        known = [metric.name for metric in METRICS.values()]
        raise unknown_name("metric", name, [*known, *plugins.entry_names("metric")])
    return METRICS[name.lower()]


def confusions(y: Array, predictions: Array, n_classes: int, weights: Array | None = None) -> Array:
    """Confusion matrices (points, ℓ, ℓ), rows true and columns predicted: the sums of the rows' weights."""
    ell, points = n_classes, len(predictions)
    cells = predictions + (y * ell + np.arange(0, points * ell * ell, ell * ell)[:, None])  # (points, m)
    if weights is None:
        counts = np.bincount(cells.ravel(), minlength=points * ell * ell)
    else:
        counts = np.bincount(
            cells.ravel(), np.broadcast_to(weights, cells.shape).ravel(), minlength=points * ell * ell
        )
    return counts.reshape(points, ell, ell)


def _confusions(y: Array, predictions: Array, weights: Array | None) -> Array:
    return confusions(y, predictions, int(max(y.max(), predictions.max())) + 1, weights)


def _average(values: Array, weights: Array | None) -> Array:
    """Weighted mean over the rows (points,) of values (points, m)."""
    return values.mean(axis=1) if weights is None else _divide(values @ weights, weights.sum())


def _divide(numerator: Array, denominator: Array) -> Array:
    """The quotient, NaN for 0/0, without a warning."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return numerator / denominator


def error(y: Array, predictions: Array, weights: Array | None = None) -> Array:
    """Fraction of rows whose class is wrong: ``zero_one_loss``."""
    return _average(predictions != y, weights)


def balanced_error(y: Array, predictions: Array, weights: Array | None = None) -> Array:
    """One minus the mean recall of the classes that have a row: ``1 − balanced_accuracy_score``."""
    C = _confusions(y, predictions, weights)
    sizes = C[0].sum(axis=1)  # (ℓ,), the same at every point
    present = sizes > 0
    recalls = np.diagonal(C, axis1=1, axis2=2)[:, present] / sizes[present]
    return 1.0 - recalls.mean(axis=1) if present.any() else np.full(len(C), np.nan)


def macro_f1(y: Array, predictions: Array, weights: Array | None = None) -> Array:
    """Mean F1 of the classes that are true or predicted of some row: ``f1_score(average="macro")``."""
    C = _confusions(y, predictions, weights)
    both = C.sum(axis=1) + C.sum(axis=2)  # (points, ℓ) predicted + true
    f1 = np.nan_to_num(_divide(2.0 * np.diagonal(C, axis1=1, axis2=2), both))
    if weights is not None:  # rows of weight 0 add nothing, and yet their classes are there
        seen = confusions(y, predictions, C.shape[1])
        both = seen.sum(axis=1) + seen.sum(axis=2)
    return f1.sum(axis=1) / (both > 0).sum(axis=1)


def kappa(y: Array, predictions: Array, weights: Array | None = None) -> Array:
    """Agreement beyond chance, one minus observed over expected disagreement: ``cohen_kappa_score``."""
    C = _confusions(y, predictions, weights)
    others = 1.0 - np.eye(C.shape[1])  # sums over the other classes are exactly zero where there is nothing
    true, predicted = C.sum(axis=2), C.sum(axis=1)  # (points, ℓ)
    expected = ((true @ others) * predicted).sum(axis=1)
    return 1.0 - _divide((C * others).sum(axis=(1, 2)) * C.sum(axis=(1, 2)), expected)


def log_loss(y: Array, probabilities: Array, weights: Array | None = None) -> Array:
    """Mean of −log p of the true class, p kept within a rounding of 0 and 1: ``log_loss``."""
    p = probabilities[:, np.arange(len(y)), y]  # (points, m)
    eps = np.finfo(p.dtype).eps
    return _average(-np.log(np.clip(p, eps, 1.0 - eps)), weights)


def brier(y: Array, probabilities: Array, weights: Array | None = None) -> Array:
    """Mean of Σ_c (p_c − [c is true])², and half of it with two classes: ``brier_score_loss``."""
    p = probabilities[:, np.arange(len(y)), y]  # (points, m)
    others = np.einsum("pmc,pmc->pm", probabilities, probabilities) - p * p
    half = 0.5 if probabilities.shape[2] < 3 else 1.0
    return half * _average(others + (1.0 - p) ** 2, weights)


def top2_error(y: Array, scores: Array, weights: Array | None = None) -> Array:
    """Fraction of rows whose class is not among the two with the largest scores: ``1 − top_k_accuracy_score``.

    Equal scores are won by the class that comes last, as in scikit-learn.
    """
    own = scores[:, np.arange(len(y)), y][:, :, None]  # (points, m, 1)
    later = np.arange(scores.shape[2]) > y[:, None]  # (m, ℓ)
    ahead = (scores > own).sum(axis=2) + ((scores == own) & later).sum(axis=2)
    return _average(ahead >= 2, weights)


def auc(y: Array, scores: Array, weights: Array | None = None) -> Array:
    """Mean over the classes of the area under the ROC curve against the rest: ``roc_auc_score(multi_class="ovr")``.

    By ranks: the area of class c is the weight of the pairs of a row of c and another row that the scores of c put
    in order, equal scores counting half. Two classes have one curve: of the second class's probabilities, or, of
    scores that are not probabilities, of their difference. A class without a row, or with all of them: NaN.
    """
    classes = np.arange(scores.shape[2])
    if len(classes) == 2:
        probabilities = np.allclose(1.0, scores.sum(axis=2))
        scores = scores[:, :, 1:] if probabilities else scores[:, :, 1:] - scores[:, :, :1]
        classes = classes[1:]
    values = np.ascontiguousarray(np.moveaxis(scores, 2, 1))  # (points, ℓ, m)
    order = np.argsort(values, axis=2)
    values = np.take_along_axis(values, order, axis=2)
    inside = y[order] == classes[:, None]
    w = 1.0 if weights is None else weights[order]
    rest = (w * ~inside).cumsum(axis=2)  # weight of the other classes up to each row
    new = values[:, :, 1:] != values[:, :, :-1]
    below = rest if new.all() else _halfway(rest, new)
    inside = w * inside
    within = inside.sum(axis=2)
    areas = _divide((inside * below).sum(axis=2), within * rest[:, :, -1])  # (points, ℓ)
    return areas.mean(axis=1)


def _halfway(rest: Array, new: Array) -> Array:
    """Sums before and after each group of equal scores, averaged; ``new`` (…, m − 1) says where a group begins."""
    m = rest.shape[2]
    before, last = np.zeros(rest.shape, dtype=int), np.full(rest.shape, m)  # places in [0, *rest]
    before[:, :, 1:] = np.where(new, np.arange(1, m), 0)
    last[:, :, :-1] = np.where(new, np.arange(1, m), m)
    before = np.maximum.accumulate(before, axis=2)
    last = np.minimum.accumulate(last[:, :, ::-1], axis=2)[:, :, ::-1]
    sums = np.concatenate([np.zeros_like(rest[:, :, :1]), rest], axis=2)
    return 0.5 * (np.take_along_axis(sums, before, axis=2) + np.take_along_axis(sums, last, axis=2))


def cost(y: Array, probabilities: Array, weights: Array | None = None, costs: Array | None = None) -> Array:
    """Mean cost of the classes with the least expected cost, under a matrix (rows true, columns predicted)."""
    return _average(cost_of(y, _decide_by_cost(probabilities, costs), _given(costs)), weights)


def _decide_by_cost(probabilities: Array, costs: Array | None = None) -> Array:
    return least_cost_classes(probabilities, _given(costs))


def _given(costs: Array | None) -> Array:
    if costs is None:
        raise McLsError(
            "the metric 'cost' needs a cost matrix, rows the true and columns the predicted class: in a CSV file, for "
            "mcls.select in costs="
        )
    return costs


for _metric in (
    Metric("error", error, "smaller", "classes", "fraction of rows whose class is wrong", percent=True),
    Metric(
        *(
            "balanced-error",
            balanced_error,
            "smaller",
            "classes",
            "mean over the classes of the error of their rows",
        ),
        percent=True,
    ),
    Metric("macro-f1", macro_f1, "larger", "classes", "mean over the classes of F1, from precision and recall"),
    Metric("kappa", kappa, "larger", "classes", "agreement with the true classes beyond chance (Cohen)"),
    Metric("log-loss", log_loss, "smaller", "probabilities", "mean of -log of the true class's probability"),
    Metric("brier", brier, "smaller", "probabilities", "mean squared error of the probabilities (Brier)"),
    Metric(
        "auc", auc, "larger", "scores", "mean over the classes of the area under the ROC curve against the rest"
    ),
    Metric(
        *("top2-error", top2_error, "smaller", "scores", "fraction of rows whose class is not among the best two"),
        percent=True,
    ),
    Metric(
        *("cost", cost, "smaller", "probabilities", "mean cost of the decisions of least expected cost"),
        decide=_decide_by_cost,
    ),
):
    register(_metric)

#: What chooses where nothing else is asked for.
ERROR = METRICS["error"]


def read_metrics(given: Any, costs: Any = None) -> tuple[Metric, ...]:
    """One metric or several, by name or as they are; the cost matrix goes to ``cost``.

    >>> [metric.name for metric in read_metrics(["balanced-error", "auc"])]
    ['balanced-error', 'auc']
    """
    several = [given] if isinstance(given, str | Metric) else list(given)
    if not several:
        raise McLsError("give at least one metric, such as error")
    metrics = [metric if isinstance(metric, Metric) else get_metric(str(metric)) for metric in several]
    names = [metric.name for metric in metrics]
    for name in names:
        if names.count(name) > 1:
            raise McLsError(f"the metric '{name}' is given twice")
    if costs is not None and "cost" not in names:
        raise McLsError("a cost matrix is for the metric 'cost', which is not asked for")
    made = tuple(metric.with_parameters(costs=costs) if metric.name == "cost" else metric for metric in metrics)
    for metric in made:
        if metric.name == "cost":
            _given(metric.parameters["costs"])
    return made
