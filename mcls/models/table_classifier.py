"""``mcls.TableClassifier``: what ``mcls fit`` does, as a scikit-learn classifier on data frames."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.frames import frame_column, is_gap
from mcls.data.roles import check_groups
from mcls.data.tables import Column, ReadTable, TextColumn
from mcls.errors import McLsError
from mcls.evaluation.folds import EQUAL_ROWS
from mcls.models.fitting import check_machine, fit_columns
from mcls.models.ranking import BEST
from mcls.models.saving import save
from mcls.models.training_rows import folds_among, read_folds
from mcls.seeds import whole_seed
from mcls.solvers.weights import check_weights

Array = np.ndarray


def _gives_probabilities(classifier: TableClassifier) -> bool:
    check_is_fitted(classifier)
    return classifier.model_.has_probabilities


def _rows(column: Any, rows: Array) -> Any:
    """Some rows of a column of a data frame or of an array."""
    return column.iloc[rows] if hasattr(column, "iloc") else column[rows]


def _refuse_gaps(y: Any) -> None:
    """Refuse a label that is missing, be it None, NaN or pandas' NA, with its row; numbers are checked elsewhere."""
    if isinstance(getattr(y, "dtype", None), np.dtype) and y.dtype.kind != "O":
        return
    gaps = [i for i, label in enumerate(np.asarray(y, dtype=object).ravel()) if is_gap(label)]
    if gaps:
        more = f", and in {len(gaps) - 1} more" * (len(gaps) > 1)
        raise McLsError(
            f"the class of row {gaps[0]} is missing{more} (Input y contains NaN); a row without its class cannot be "
            "learnt from: fill it in or leave the row out"
        )


@dataclass(eq=False, repr=False)
class TableClassifier(ClassifierMixin, BaseEstimator):
    """A classifier for a data frame as it comes: columns of numbers, texts, categories, truth values and dates.

    Columns become features as in ``mcls fit`` (see :mod:`mcls.data.encoder`), the parameters are chosen by exact
    cross-validation, and what was fitted is saved as a model that ``mcls predict`` takes.

    Parameters
    ----------
    machine : str
        A machine with options, ``"best"`` for the choice among a few, or ``"auto"`` for that among all fast ones.
    grid : "auto", "paper", ranges or dict
        Those of :func:`mcls.select`.
    folds : int, "loo", splitter or list of (train, test)
        Those of :func:`mcls.select`.
    seed : int
        Of everything random.
    nested : bool
        Also find the error with the parameters chosen inside each fold.
    groups : "equal rows" or None
        Whether rows with the same features are kept in one fold.
    metric : str
        What the parameters are chosen by, such as ``"balanced-error"``; see ``mcls fit --metric``.
    class_weight : None or "balanced"
        Weights of the classes.
    calibration : None, "temperature", "matrix", "auto" or "decide"
        How scores become probabilities, "auto" by default as in ``mcls fit``; with None there is no ``predict_proba``.
    scaling : None, "dataset" or "fold"
        Rows that ranges, medians and texts of the nested error come from: all, or those that each fold trains on. None
        is "fold" where values are missing.
    drop, keep, categorical, ordinal, missing
        What columns are for: see :class:`~mcls.data.formats.ColumnRules`.
    strict : bool
        Refuse a text that the training rows did not have; otherwise it counts as none of the known ones, and warns.

    Attributes
    ----------
    classes_ : array
        The labels.
    model_ : TableModel
        What ``mcls fit`` would have written.
    selection_ : Selection
        How it was chosen.

    Examples
    --------
    >>> import pandas as pd
    >>> from mcls import TableClassifier
    >>> fruit = pd.DataFrame({"weight": [120, 150, None, 160] * 5, "skin": ["rough", "smooth", "rough", "smooth"] * 5})
    >>> kind = ["kiwi", "apple"] * 10
    >>> found = TableClassifier("oneLSM:sigma=1,gamma=0.1", missing="impute", folds=2, groups=None).fit(fruit, kind)
    >>> found.predict(pd.DataFrame({"skin": ["smooth", None], "weight": [155, 119]})).tolist()
    ['apple', 'kiwi']
    """

    machine: str = BEST
    grid: Any = "auto"
    _: KW_ONLY
    folds: Any = 10
    seed: int = 0
    nested: bool = False
    groups: Any = EQUAL_ROWS
    metric: str = "error"
    class_weight: str | None = None
    calibration: str | None = "auto"
    scaling: str | None = None
    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    categorical: Sequence[str] = ()
    ordinal: Sequence[str] = ()
    missing: str = "refuse"
    strict: bool = False

    @property
    def calibrates_itself(self) -> bool:
        """Whether a fit calibrates the probabilities by its out-of-fold scores: nobody else then has to."""
        return self.calibration is not None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> TableClassifier:
        """Choose the parameters and fit.

        Parameters
        ----------
        X : DataFrame, or array-like (n, d)
            Columns without a name are x0, x1, …
        y : array-like (n,)
            Class labels.
        sample_weight : array-like (n,), optional
            Weights of the rows, in training and in every metric: a row of weight 2 counts as two rows, and one of
            weight 0 as none, in the ranges of the columns too.
        """
        rules = ColumnRules(self.drop, self.keep, self.categorical, self.ordinal, self.missing)
        check_machine(self.machine, self.grid, self.class_weight)
        table = self._table(X, reset=True)
        if y is not None:  # without any, scikit-learn says so
            _refuse_gaps(y)
        y = column_or_1d(y, warn=True)
        check_consistent_length(next(iter(table.values())), y)
        if y.dtype.kind in "fc":
            check_array(y, ensure_2d=False)
        check_classification_targets(y)
        weights = check_weights(sample_weight, len(y))
        groups, folds = self.groups, read_folds(self.folds)
        if weights is not None and not weights.all():
            present = np.flatnonzero(weights)
            groups = groups if groups is None or isinstance(groups, str) else check_groups(groups, len(y))[present]
            folds = folds_among(present, y, folds) if isinstance(folds, list) else folds
            table = {name: _rows(column, present) for name, column in table.items()}
            y, weights = y[present], weights[present]
        self.classes_, codes = np.unique(y, return_inverse=True)
        names = list(table)
        dropped = rules.dropped(names, "the table")
        used = [name for name in names if name not in dropped]
        if not self._named:  # an array that counts is as it is wanted
            rules = ColumnRules(self.drop, used, self.categorical, self.ordinal, self.missing)
        as_text = rules.as_text(used, "the table")
        columns: list[Column] = [frame_column(name, table[name], name in as_text) for name in used]
        labels = TextColumn("class", codes, tuple(str(name) for name in self.classes_.tolist()), None)
        read = ReadTable(columns, labels, dropped, TableFormat(decimal="."), [])
        settings = {"folds": folds, "seed": whole_seed(self.seed), "nested": self.nested, "groups": groups}
        settings |= {"metric": self.metric, "class_weight": self.class_weight, "calibration": self.calibration}
        settings |= {"scaling": self.scaling, "sample_weight": weights}
        fitted = fit_columns(read, Path("a data frame"), self.machine, self.grid, rules, **settings)
        self.model_, self.selection_ = fitted.model, fitted.selection
        return self

    def predict(self, X: Any) -> Array:
        """Labels of rows."""
        features = self._encode(X)
        return self.classes_[
            self._order()[1][np.searchsorted(self._order()[0], self.model_.estimator.predict(features))]
        ]

    def decision_function(self, X: Any) -> Array:
        """Scores (m, ℓ) in the order of ``classes_``; with two classes the margin (m,) of the second."""
        features = self._encode(X)
        scores = self.model_.class_scores(features)[:, np.argsort(self._order()[1])]
        return scores[:, 1] if len(self.classes_) == 2 else scores

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Probabilities (m, ℓ) in the order of ``classes_``, where the machine has them."""
        features = self._encode(X)
        made: Array = self.model_.estimator.predict_proba(features)
        return made[:, np.argsort(self._order()[1])]

    def save(self, path: Path | str) -> None:
        """Write the model as ``mcls fit`` does; labels that are not texts are written as texts."""
        check_is_fitted(self)
        save(self.model_, path)

    def __sklearn_tags__(self) -> Any:
        """A table may have texts, and where they are imputed missing values."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "impute"
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        return tags

    def _order(self) -> tuple[Array, Array]:
        """The texts of the classes as the machine sorts them, and the place of each in ``classes_``."""
        names = np.array([str(name) for name in self.classes_.tolist()])
        places = np.argsort(names)
        return names[places], places

    def _encode(self, X: Any) -> Array:
        check_is_fitted(self)
        return self.model_.encode(self._table(X, reset=False), self.strict)

    def _table(self, X: Any, reset: bool) -> dict[str, Any]:
        """Columns by name; an array's are checked as scikit-learn does."""
        if hasattr(X, "columns") and hasattr(X, "__getitem__"):  # a data frame, of pandas or another library
            for what, count in (("sample", len(X)), ("feature", len(X.columns) if reset else 1)):
                if not count:
                    shape = f"(shape=({len(X)}, {len(X.columns)}))"
                    raise ValueError(f"Found array with 0 {what}(s) {shape} while a minimum of 1 is required.")
            if reset:
                validate_data(self, X, skip_check_array=True, reset=True)
                self._named = True
            return {str(name): X[name] for name in X.columns}
        finite: Any = "allow-nan" if self.missing == "impute" else True
        kind = getattr(getattr(X, "dtype", None), "kind", None)
        X = validate_data(self, X, dtype=None, reset=reset, ensure_all_finite=False if kind == "O" else finite)
        if reset:
            self._named = False
        names = [f"x{j}" for j in range(X.shape[1])] if not self._named else list(self.feature_names_in_)
        return dict(zip(names, X.T))
