"""A model of a table: a fitted machine, the encoder of its columns, and the facts of its making."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from mcls.data.cells import class_of_number, parse_number
from mcls.data.encoder import Encoder, Reading
from mcls.data.frames import frame_cells
from mcls.errors import McLsError, nearest
from mcls.evaluation.conformal import ConformalSets
from mcls.evaluation.costs import check_costs, least_cost_classes
from mcls.evaluation.metrics import ERROR
from mcls.models.outlined import Outline

if TYPE_CHECKING:
    from mcls.models.selected import Selection

Array = np.ndarray

_FIT_AGAIN = "fit a machine of mcls without --no-probabilities"


def left_out(dropped: Sequence[str], *roles: str | None) -> list[str]:
    """The columns of a table that are not learnt from: those that are dropped, and those with another role."""
    return [*dropped, *(name for name in roles if name is not None)]


class ModelFacts(BaseModel):
    """Where a model comes from: the training table, the search, and what was said on the way."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    file: str
    fingerprint: str = Field(description="of the table's numbers, texts and classes")
    rows: int = Field(ge=1)
    classes: dict[str, int] = Field(min_length=1, description="rows of each class")
    machine: str
    grid: dict[str, list[JsonValue]]
    chosen: dict[str, JsonValue]
    folds: int
    seed: int
    rows_searched: int
    cv_error: float
    cv_spread: float
    cv_interval: tuple[float, float] | None = Field(None, description="95 % (Wilson); None in older models")
    nested_error: float | None = None
    nested_machines: dict[str, int] = Field(
        default_factory=dict, description="how many folds chose which machine, where each fold chose it for itself"
    )
    scaling: Literal["dataset", "fold"] = Field(
        "dataset", description="rows that scaling, encoding and imputation of the nested error come from"
    )
    notes: list[str] = Field(default_factory=list)
    confusion: list[list[int]] | None = Field(
        None, description="true × predicted out of fold, nested if that was asked for; None in older models"
    )
    dropped: list[str] = Field(
        default_factory=list, description="columns of the training table that were left out"
    )
    metric: str = Field("error", description="what chose the parameters")
    metrics: dict[str, float] = Field(
        default_factory=dict, description="cross-validated, where more was asked for"
    )
    group: str | None = Field(None, description="the column whose groups of rows were never split")
    weight: str | None = Field(None, description="the column of the rows' weights")

    @classmethod
    def of(
        cls,
        selection: Selection,
        error: float,
        *,
        dropped: Sequence[str],
        group: str | None,
        weight: str | None,
        **known: Any,
    ) -> ModelFacts:
        """What a selection says, with the error of all its folds together, and what else is known."""
        from mcls.evaluation.statistics import wilson

        return cls(
            machine=selection.machine,
            grid=selection.grid,
            chosen=selection.best_params,
            folds=selection.folds,
            rows_searched=len(selection.rows),
            cv_error=selection.error,
            cv_spread=selection.spread,
            cv_interval=wilson(error * selection.n_independent, selection.n_independent),
            nested_error=selection.nested_error,
            nested_machines=selection.nested_machines,
            dropped=left_out(dropped, group, weight),
            metric=selection.metric,
            metrics=selection.metrics if list(selection.metrics) != [ERROR.name] else {},
            group=group,
            weight=weight,
            **known,
        )

    @property
    def largest_class(self) -> str:
        """The class with the most rows; who always says it has the error to beat."""
        return max(self.classes, key=lambda name: self.classes[name])

    @property
    def baseline(self) -> float:
        """The error of always saying the largest class, on the training table."""
        return 1.0 - self.classes[self.largest_class] / self.rows


class Reads(NamedTuple):
    """What a model reads of a table, known before there is a model.

    Attributes
    ----------
    encoder : Encoder
        Columns → features.
    target : str
        The class column of the training table.
    dropped : sequence of str
        Columns of the training table that were left out.
    """

    encoder: Encoder
    target: str
    dropped: Sequence[str]

    def require(self, names: list[str]) -> None:
        """Refuse a table that lacks a column, with the nearest name it has."""
        missing = [name for name in self.encoder.names if name not in names]
        if missing:
            guess = nearest(missing[0], names)
            hint = f"; is it '{guess}'?" if guess else ""
            others = f" (and {len(missing) - 1} more of the model's columns)" if len(missing) > 1 else ""
            raise McLsError(f"column '{missing[0]}' is missing{others}{hint}")


def _check_columns(columns: Mapping[str, Any]) -> None:
    """Refuse single values, two columns of one name, and columns that are not equally long."""
    lengths = {}
    for name, column in columns.items():
        dimensions = getattr(column, "ndim", 1)
        if dimensions > 1:
            raise McLsError(f"column '{name}' is there more than once")
        if isinstance(column, str) or dimensions == 0 or not hasattr(column, "__iter__"):
            raise McLsError(
                f"column '{name}' is a single value; one row is a table of one row, as frame.iloc[[0]]"
            )
        if hasattr(column, "__len__"):
            lengths[len(column)] = name
    if len(lengths) > 1:
        (m, first), (n, second) = list(lengths.items())[:2]
        raise McLsError(f"column '{first}' has {m} values and column '{second}' {n}: they must be equally long")


#: Is told what the model will read before it is fitted, and may refuse.
Check = Callable[[Reads], None]


@dataclass(frozen=True, repr=False)
class TableModel:
    """What ``mcls fit`` makes and ``mcls.load`` returns: predicts the class of rows given by named columns.

    Attributes
    ----------
    estimator : fitted machine
        It sees encoded features.
    encoder : Encoder
        Columns → features.
    target : str
        The class column of the training table.
    facts : ModelFacts
        The training data, the parameters and the errors found.
    conformal : ConformalSets or None
        What sets of classes are made from, where the model has probabilities.
    costs : array (ℓ, ℓ) or None
        The cost matrix by which the class is decided, where the metric ``cost`` chose the parameters.
    """

    estimator: Any
    encoder: Encoder
    target: str
    facts: ModelFacts
    conformal: ConformalSets | None = None
    costs: Array | None = None

    def __post_init__(self) -> None:
        if self.costs is not None:
            check_costs(self.costs, len(self.classes))
            if not self.has_probabilities:
                raise McLsError("it decides by costs and has no probabilities")
        width = len(self.encoder.feature_names)
        if width != self.estimator.n_features_in_:
            raise McLsError(f"its columns give {width} features, its machine has {self.estimator.n_features_in_}")
        if not all(isinstance(name, str) for name in self.classes):
            raise McLsError("its classes are not text")

    def __repr__(self) -> str:
        facts = self.facts
        nested = "" if facts.nested_error is None else f", nested_error={facts.nested_error:.4g}"
        return (
            f"TableModel({facts.machine}: '{self.target}' of {len(self.classes)} classes from "
            f"{len(self.encoder.names)} columns, {facts.rows} rows of {facts.file}, error={facts.cv_error:.4g}{nested})"
        )

    @property
    def classes(self) -> list[str]:
        """The classes, in the order of the scores."""
        return self.estimator.classes_.tolist()

    @property
    def reads(self) -> Reads:
        """What it reads of a table."""
        return Reads(self.encoder, self.target, self.facts.dropped)

    def predict(self, table: Any) -> Array:
        """Classes of the rows of a table: a pandas DataFrame, any mapping of column names to columns, or an array.

        Columns with names may come in any order, others are ignored. Those of a 2-D array-like are the training
        table's, in its order, without the class.
        """
        return self.decide(self.encode(table))

    def predict_proba(self, table: Any) -> Array:
        """Probabilities (m, ℓ) of the ``classes`` for the rows of a table, given as to ``predict``."""
        return self.probabilities(self.encode(table))

    def predict_set(self, table: Any, coverage: float = 0.9) -> list[tuple[str, ...]]:
        """The classes that each row may have, so that the truth is among them with the wanted probability.

        See ``mcls.evaluation.conformal`` for what is guaranteed.
        """
        return self.class_sets(self.encode(table), coverage)

    @property
    def has_probabilities(self) -> bool:
        """Whether the model gives probabilities."""
        if isinstance(self.estimator, Outline):
            return self.estimator.calibration is not None
        from mcls.machines.foreign import gives_probabilities

        return gives_probabilities(self.estimator)

    def probabilities(self, X: Array) -> Array:
        """Probabilities (m, ℓ) of encoded rows."""
        if not self.has_probabilities:
            raise McLsError(f"this model has no probabilities; {_FIT_AGAIN}")
        return self.estimator.predict_proba(X)

    def decide(self, X: Array) -> Array:
        """Classes (m,) of encoded rows: the largest score, or the least expected cost."""
        if self.costs is None:
            return self.estimator.predict(X)
        return self.estimator.classes_[least_cost_classes(self.probabilities(X), self.costs)]

    def class_sets(self, X: Array, coverage: float) -> list[tuple[str, ...]]:
        """Conformal sets of classes of encoded rows, the most probable class first."""
        P = self.probabilities(X)
        if self.conformal is None:
            raise McLsError(f"this model has no calibration of sets; {_FIT_AGAIN}")
        names = self.estimator.classes_
        sets = self.conformal.sets(P, coverage)
        order = np.argsort(-P, axis=1, kind="stable")
        return [tuple(names[row[chosen[row]]].tolist()) for row, chosen in zip(order, sets)]

    def class_scores(self, X: Array) -> Array:
        """Score of each class (m, ℓ); with two classes, the margin of the second and its negative."""
        from mcls.machines.foreign import class_scores

        return class_scores(self.estimator, X)

    def encode(self, table: Any, strict: bool = False) -> Array:
        """Features (m, d) of a table, in any of the forms that ``predict`` takes.

        A text that the training table did not hold counts as none of the known ones, and warns; ``strict`` refuses it.
        """
        if not hasattr(table, "keys"):
            table = self._named(table)
        keys = {str(key): key for key in table.keys()}  # noqa: SIM118  (a DataFrame iterates over other things)
        self.reads.require(list(keys))
        log = Reading(strict=strict)
        columns = {name: table[keys[name]] for name in self.encoder.names}
        _check_columns(columns)
        X = self.encoder.encode({name: frame_cells(column) for name, column in columns.items()}, log)
        if log.reasons:
            row, (column, why) = min(log.reasons.items())
            raise McLsError(f"row {row}, column '{column}': {why}")
        if note := log.unknown_note():
            warnings.warn(note, UserWarning, stacklevel=3)
        return X

    def _named(self, array: Any) -> dict[str, Any]:
        """The columns of a 2-D array-like under the names of the training table."""
        names = self.encoder.names
        expected = f"expected a DataFrame or a 2-D array with {len(names)} columns ({', '.join(names[:8])}"
        expected += ", …)" if len(names) > 8 else ")"
        try:
            cells = np.asarray(array, dtype=object)  # numbers and texts side by side stay what they are
        except ValueError:
            raise McLsError(f"{expected}, got rows of different lengths") from None
        if cells.ndim != 2 or cells.shape[1] != len(names):
            raise McLsError(f"{expected}, got the shape {cells.shape}")
        return dict(zip(names, cells.T))

    def class_name(self, text: str, decimal: str = ".") -> str:
        """A cell of the class column as the model names it: where classes are numbers, 1.0 is 1."""
        value = parse_number(text, decimal)
        if value is None or not all(parse_number(name) is not None for name in self.classes):
            return text
        return class_of_number(value)

    def to_json(self) -> dict[str, Any]:
        """What the model file holds beside the machine."""
        return {
            "target": self.target,
            "encoder": self.encoder.model_dump(mode="json", exclude_none=True),
            "facts": self.facts.model_dump(mode="json"),
        }

    @classmethod
    def from_json(
        cls, content: Any, estimator: Any, arrays: Mapping[str, Array] = MappingProxyType({})
    ) -> TableModel:
        """Undo ``to_json``; values that do not fit raise ValueError."""
        if set(content) != {"target", "encoder", "facts"} or not isinstance(content["target"], str):
            raise McLsError("its table part is not complete")
        encoder = Encoder.model_validate(content["encoder"])
        facts = ModelFacts.model_validate(content["facts"])
        truths = arrays.get("conformal")
        if truths is not None and (truths.ndim != 1 or truths.dtype != np.float64 or not len(truths)):
            raise McLsError("its calibration of sets is not a list of numbers")
        if truths is not None and (np.isnan(truths).any() or (truths[1:] < truths[:-1]).any()):
            raise McLsError("its calibration of sets is not sorted")
        weights = arrays.get("conformal_weights")
        if weights is not None and (
            truths is None or weights.shape != truths.shape or weights.dtype != np.float64
        ):
            raise McLsError("the weights of its calibration of sets do not fit")
        if weights is not None and not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
            raise McLsError("the weights of its calibration of sets are not weights")
        conformal = None if truths is None else ConformalSets(truths, weights)
        return cls(estimator, encoder, content["target"], facts, conformal, arrays.get("costs"))

    def arrays(self) -> dict[str, Array]:
        """What the model file holds of it as arrays."""
        kept = {"costs": self.costs}
        if self.conformal is not None:
            kept = {"conformal": self.conformal.truths, "conformal_weights": self.conformal.weights, **kept}
        return {name: array for name, array in kept.items() if array is not None}
