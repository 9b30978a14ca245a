"""Which columns a model needs: how much more it errs when a column's values are dealt out anew among the rows.

This is permutation importance (Breiman 2001), measured on rows that the model has not seen. On the very table that the
model was fitted to, it is measured out of fold: machines with the same parameters are fitted to the other folds.
A column of which another tells the same has little importance: the model can do without either, not without both.
"""

from __future__ import annotations

import io
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from mcls.data.formats import TableFormat
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.files import write_atomic
from mcls.models.judging import PICTURES, check_picture
from mcls.models.streaming import is_training_table, open_table, read_chunks
from mcls.models.table import TableModel

if TYPE_CHECKING:
    from mcls.evaluation.grid import OnStep
    from mcls.models.training_rows import Say

Array = np.ndarray

FOLDS = 5


@dataclass(frozen=True)
class Explanation:
    """How much the error grows without each column.

    Attributes
    ----------
    columns : list of str
        In the order of the model.
    growth : array (columns, repeats)
        Error with the column's values dealt out anew, less the error as it is.
    error : float
        The error as it is.
    rows : int
        The rows it was measured on.
    out_of_fold : bool
        Whether they are the training table's.
    """

    columns: list[str]
    growth: Array
    error: float
    rows: int
    out_of_fold: bool

    @property
    def order(self) -> Array:
        """The columns by their mean importance, the largest first."""
        return np.argsort(-self.growth.mean(axis=1), kind="stable")

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Column titles and rows for people, in percent."""
        mean, spread = 100 * self.growth.mean(axis=1), 100 * self.growth.std(axis=1)
        rows = [[self.columns[j], f"{mean[j]:+.2f}", f"{spread[j]:.2f}"] for j in self.order]
        return ["column", "error grows by (points)", "spread"], rows

    def to_json(self) -> list[dict[str, Any]]:
        """The same as values, errors as fractions."""
        mean, spread = self.growth.mean(axis=1), self.growth.std(axis=1)
        return [
            {"column": self.columns[j], "error_growth": float(mean[j]), "spread": float(spread[j])}
            for j in self.order
        ]

    def draw(self, path: Path | str) -> None:
        """Write bars with their spread as a PNG, SVG or PDF; at most the first thirty columns."""
        import matplotlib as mpl
        from matplotlib.figure import Figure

        path = Path(path)
        check_picture(path)
        shown = self.order[:30][::-1]
        figure = Figure(figsize=(7, 1.4 + 0.28 * len(shown)), layout="constrained")
        axes = figure.add_subplot()
        mean, spread = 100 * self.growth[shown].mean(axis=1), 100 * self.growth[shown].std(axis=1)
        axes.barh(range(len(shown)), mean, xerr=spread, color="#4477aa", ecolor="#333333", capsize=2)
        names = [self.columns[j] if len(self.columns[j]) <= 32 else f"{self.columns[j][:31]}…" for j in shown]
        axes.set_yticks(range(len(shown)), [name.replace("$", r"\$") for name in names])
        axes.axvline(0, color="#333333", linewidth=0.8)
        where = "out of fold" if self.out_of_fold else "on new rows"
        axes.set(
            xlabel="points of error more without the column",
            title=f"error {100 * self.error:.2f} % of {self.rows} rows, {where}",
        )
        buffer, kind = io.BytesIO(), path.suffix.lower()
        with warnings.catch_warnings(), mpl.rc_context({"svg.hashsalt": "mcls"}):
            warnings.filterwarnings("ignore", message="Glyph")  # the font lacks a letter: it draws a box
            figure.savefig(buffer, format=kind[1:], dpi=120, metadata=PICTURES[kind])
        try:
            write_atomic(path, buffer.getvalue())
        except OSError as error:
            raise McLsError(f"cannot write {path}: {error.strerror or error}") from None


def explain_table(
    model: TableModel,
    path: Path,
    *,
    repeats: int = 10,
    rows: int = 2000,
    seed: int = 0,
    form: TableFormat | None = None,
    say: Say | None = None,
    on_step: OnStep | None = None,
) -> Explanation:
    """Measure the importance of each column of a model on a labelled table, or on a random sample of its rows."""
    rng = np.random.default_rng(seed)
    X, y = _sample(model, path, rows, rng, form, say)
    seen = is_training_table(model, path, form)
    blocks, at = [], 0  # the features of each column
    for column in model.encoder.columns:
        blocks.append(slice(at, at + len(column.feature_names)))
        at = blocks[-1].stop
    parts: list[tuple[Any, Array]] = [(model.estimator, np.arange(len(y)))]  # a machine, and rows it has not seen
    if seen:
        codes = np.unique(y, return_inverse=True)[1]
        parts = [
            (clone(model.estimator).fit(X[train], y[train]), test)
            for train, test in stratified_folds(codes, FOLDS, seed=seed)
        ]

    def wrong(changed: Array) -> int:
        return sum(int((machine.predict(changed[test]) != y[test]).sum()) for machine, test in parts)

    before = wrong(X)
    growth = np.empty((len(blocks), repeats))
    for j, block in enumerate(blocks):
        for r in range(repeats):
            changed = X.copy()
            changed[:, block] = X[rng.permutation(len(X)), block]
            growth[j, r] = (wrong(changed) - before) / len(y)
        if on_step is not None:
            on_step("columns", j + 1, len(blocks))
    return Explanation(model.encoder.names, growth, before / len(y), len(y), seen)


def _sample(
    model: TableModel, path: Path, rows: int, rng: np.random.Generator, form: TableFormat | None, say: Say | None
) -> tuple[Array, Array]:
    """Features and classes of a random sample of so many rows at most, in the order of the table."""
    layout = open_table(model.reads, path, form)
    if model.target not in layout.places:
        raise McLsError(f"{path} has no class column '{model.target}' to compare the predictions with")
    total = 0
    X, y = np.empty((0, len(model.encoder.feature_names))), np.empty(0, dtype=object)
    keys, places = np.empty(0), np.empty(0, dtype=np.int64)
    for chunk in read_chunks(model, path, layout, say):
        assert chunk.labels is not None
        names = [model.class_name(str(text), layout.decimal) for text in chunk.labels]
        X, y = np.concatenate([X, chunk.X]), np.concatenate([y, np.array(names, dtype=object)])
        keys = np.concatenate([keys, rng.random(len(names))])
        places = np.concatenate([places, total + np.arange(len(names))])
        total += len(names)
        kept = np.sort(np.argsort(keys, kind="stable")[:rows])  # the smallest of random keys
        X, y, keys, places = X[kept], y[kept], keys[kept], places[kept]
    if not total:
        raise McLsError(f"{path} has a header but no rows")
    if say is not None and total > len(y):
        say(f"measured on a random sample of {len(y)} of the {total} rows (--rows takes more)")
    return X, y.astype(str)
