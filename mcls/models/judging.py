"""How good predictions are: metrics, precision and recall of each class, the confusion matrix, and their picture."""

from __future__ import annotations

import io
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mcls.errors import McLsError
from mcls.evaluation.metrics import METRICS, get_metric
from mcls.files import write_atomic

Array = np.ndarray

#: Endings of a picture's file → what leaves the date and the program's name out: the same data, the same bytes.
PICTURES = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None, "Producer": None}}


def check_picture(path: Path) -> None:
    """Refuse a file whose ending names no kind of picture that we draw."""
    if path.suffix.lower() not in PICTURES:
        raise McLsError(f"{path}: a picture is drawn to a file that ends in {', '.join(PICTURES)}")


@dataclass(frozen=True)
class Confusion:
    """Counts (k, ℓ): how often each of the k true classes was given each of the ℓ classes a model knows.

    The first ℓ of the true classes are those of the model, in its order; the others it never saw. Where the model gives
    probabilities, ``y`` (m,) has the codes of the rows of known classes, and ``probabilities`` is (m, ℓ).

    Examples
    --------
    >>> found = Confusion(("a", "b"), ("a", "b"), np.array([[3, 1], [0, 4]]))
    >>> found.error
    0.125
    >>> found.recall.tolist(), found.precision.tolist()
    ([0.75, 1.0], [1.0, 0.8])
    """

    true: tuple[str, ...]
    predicted: tuple[str, ...]
    counts: Array
    y: Array | None = None
    probabilities: Array | None = None

    @classmethod
    def of(cls, y: Array, predictions: Array, classes: Array, probabilities: Array | None = None) -> Confusion:
        """From labels and predictions that are all among ``classes`` (sorted)."""
        codes = np.searchsorted(classes, y), np.searchsorted(classes, predictions)
        counts = np.zeros((len(classes), len(classes)), dtype=np.int64)
        np.add.at(counts, codes, 1)
        names = tuple(str(name) for name in classes)
        return cls(names, names, counts, None if probabilities is None else codes[0], probabilities)

    def metrics(self) -> dict[str, float]:
        """Every metric that can be computed, by name; NaN where one is not defined.

        Those of classes come from the counts, those of scores and probabilities from the rows that have some.
        """
        true, predicted = np.nonzero(self.counts)
        counts = self.counts[true, predicted].astype(float)
        found = {}
        for name, metric in METRICS.items():
            if metric.need == "classes":
                found[name] = float(metric(true, predicted[None], counts)[0])
            elif self.probabilities is not None and self.y is not None and len(self.y) and name != "cost":
                found[name] = float(metric(self.y, self.probabilities[None])[0])
        return found

    @property
    def n(self) -> int:
        """The rows judged."""
        return int(self.counts.sum())

    @property
    def mistakes(self) -> int:
        """The rows with a wrong prediction."""
        return self.n - int(np.trace(self.counts))

    @property
    def error(self) -> float:
        """Share of rows with a wrong prediction."""
        return self.mistakes / self.n

    def error_of_always(self, name: str) -> float:
        """Share of rows that would be wrong if every prediction were this class."""
        return 1.0 - float(self.counts[self.true.index(name)].sum()) / self.n if name in self.true else 1.0

    @property
    def recall(self) -> Array:
        """Share of each true class's rows that were recognised (k,); NaN for a class without rows."""
        right = np.zeros(len(self.true))
        right[: len(self.predicted)] = np.diag(self.counts)
        return _share(right, self.counts.sum(axis=1))

    @property
    def precision(self) -> Array:
        """Share of each class's predictions that were right (ℓ,); NaN for a class never predicted."""
        return _share(np.diag(self.counts), self.counts.sum(axis=0))

    def table(self) -> tuple[list[str], list[list[str]]]:
        """Column titles and rows: a true class a row, counts, then its recall and precision in percent."""
        precision = [*self.precision, *[np.nan] * (len(self.true) - len(self.predicted))]
        rows = [
            [name, *map(str, counts), _percent(r), _percent(p)]
            for name, counts, r, p in zip(self.true, self.counts, self.recall, precision)
        ]
        return ["true \\ predicted", *self.predicted, "recall", "precision"], rows

    def draw(self, path: Path | str) -> None:
        """Write the matrix as a PNG, SVG or PDF: each row shaded by its shares, with the counts in it.

        With probabilities, a reliability diagram and the ROC curves stand beside it.
        """
        import matplotlib as mpl
        from matplotlib.figure import Figure

        path = Path(path)
        check_picture(path)
        k, ell = self.counts.shape
        size = max(3.5, 0.45 * max(k, ell) + 1.5)
        panels = 1 if self.probabilities is None or self.y is None or not len(self.y) else 3
        figure = Figure(figsize=(size + 0.8 + 3.6 * (panels - 1), size), layout="constrained")
        axes, *others = figure.subplots(1, panels, width_ratios=[size, *[3.6] * (panels - 1)], squeeze=False)[0]
        if others:
            self._draw_reliability(others[0])
            self._draw_roc(others[1])
        shares = self.counts / np.maximum(self.counts.sum(axis=1, keepdims=True), 1)
        picture = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
        for i, j in zip(*np.nonzero(self.counts)):
            colour = "white" if shares[i, j] > 0.5 else "black"
            axes.text(j, i, str(self.counts[i, j]), ha="center", va="center", color=colour, fontsize=8)
        axes.set_xticks(range(ell), [_plain(name) for name in self.predicted], rotation=90 if ell > 6 else 0)
        axes.set_yticks(range(k), [_plain(name) for name in self.true])
        axes.set(xlabel="predicted", ylabel="true", title=f"{self.n} rows, error {100 * self.error:.2f} %")
        figure.colorbar(picture, ax=axes, label="share of the true class", shrink=0.8)
        buffer = io.BytesIO()
        kind = path.suffix.lower()
        with warnings.catch_warnings(), mpl.rc_context({"svg.hashsalt": "mcls"}):
            warnings.filterwarnings("ignore", message="Glyph")  # the font lacks a letter: it draws a box
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
            for (
                part
            ) in figure.axes:  # the last digits of the layout, and names made from them, differ from run to run
                part.set_position(np.round(part.get_position(original=True).bounds, 6))
            figure.savefig(buffer, format=kind[1:], dpi=120, metadata=PICTURES[kind])
        try:
            write_atomic(path, buffer.getvalue())
        except OSError as error:
            raise McLsError(f"cannot write {path}: {error.strerror or error}") from None

    def _draw_reliability(self, axes: Any) -> None:
        """How often the predicted class is right where its probability is in a tenth of the range."""
        assert self.probabilities is not None
        stated, right = self.probabilities.max(axis=1), self.probabilities.argmax(axis=1) == self.y
        tenth = np.minimum((10 * stated).astype(int), 9)
        counts = np.bincount(tenth, minlength=10)
        seen = counts > 0
        x, found = (np.bincount(tenth, of, minlength=10)[seen] / counts[seen] for of in (stated, right))
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        axes.plot(x, found, color="tab:blue", linewidth=1)
        axes.scatter(x, found, s=8 + 120 * counts[seen] / counts.sum(), color="tab:blue", clip_on=False)
        axes.set(xlabel="probability of the predicted class", ylabel="share that is right", title="reliability")
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")

    def _draw_roc(self, axes: Any) -> None:
        """The ROC curve of each class against the rest."""
        from sklearn.metrics import roc_curve

        assert self.probabilities is not None
        assert self.y is not None
        for c, name in enumerate(self.predicted):
            inside = self.y == c
            if inside.any() and not inside.all():
                false, true, _ = roc_curve(inside, self.probabilities[:, c])
                axes.plot(false, true, linewidth=1, label=_plain(name) if len(self.predicted) <= 10 else None)
        axes.plot([0, 1], [0, 1], color="0.7", linewidth=1)
        axes.set(xlabel="false positives", ylabel="true positives", title="ROC, each class against the rest")
        axes.set(xlim=(0, 1), ylim=(0, 1), aspect="equal")
        if len(self.predicted) <= 10:
            axes.legend(loc="lower right", fontsize=7)


def show_metrics(metrics: Mapping[str, float]) -> str:
    """Metrics in one line.

    >>> show_metrics({"balanced-error": 0.05, "auc": 0.99, "kappa": float("nan")})
    'balanced-error 5.00 %, auc 0.9900, kappa not defined'
    """
    shown = ((name, "not defined" if np.isnan(v) else get_metric(name).show(v)) for name, v in metrics.items())
    return ", ".join(f"{name} {value}" for name, value in shown)


def show_error(error: float, interval: tuple[float, float] | None, *facts: str) -> str:
    """An error in percent, with its 95 % interval and what else is known of it.

    >>> show_error(0.0467, (0.0228, 0.0932), "10 folds")
    '4.67 % (95 %: 2.3–9.3; 10 folds)'
    """
    known = [*([] if interval is None else [f"95 %: {show_interval(interval)}"]), *facts]
    return f"{100 * error:.2f} % ({'; '.join(known)})"


def show_interval(interval: tuple[float, float]) -> str:
    """An interval of an error in percent."""
    return "–".join(f"{100 * end:.1f}" for end in interval)


def _share(part: Array, whole: Array) -> Array:
    return np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0)


def _percent(share: float) -> str:
    return "" if np.isnan(share) else f"{100 * share:.1f}"


def _plain(name: str) -> str:
    """A class name as it is: a dollar sign would start mathematics."""
    shown = name if len(name) <= 24 else f"{name[:23]}…"
    return shown.replace("$", r"\$")
