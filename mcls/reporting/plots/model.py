"""Figures of a fitted model: which columns matter, how few rows are enough, what labels were learned."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure

from mcls.errors import McLsError
from mcls.labelbooks import label_gram
from mcls.models.describe import column_importances
from mcls.models.saving import load
from mcls.models.table import TableModel
from mcls.reporting.plots.style import OURS, PAPER, STYLE, new_figure, save

_MOST_BARS = 30


def importance(model: Any) -> Figure:
    """One bar per column, the most important on top."""
    shares = list(column_importances(model).items())[:_MOST_BARS]
    if not shares:
        raise McLsError(
            f"{_name(model)} does not say which columns matter; rfm does: mcls fit TABLE --machine rfm"
        )
    figure = new_figure(5.5, 0.8 + 0.22 * len(shares))
    ax = figure.add_subplot()
    places = np.arange(len(shares))[::-1]
    ax.barh(places, [100 * share for _, share in shares], color=OURS)
    ax.set_yticks(places, [name for name, _ in shares])
    ax.set(xlabel="importance (%)", title="What the scores change with")
    return figure


def sparsity(model: Any) -> Figure:
    """Leave-one-out error over the number of kept rows, and the number that was chosen."""
    machine = _machine(model)
    curve = vars(machine).get("curve_")
    if curve is None:
        raise McLsError(f"{_name(model)} keeps all rows; to keep few: mcls fit TABLE --machine sparse-oneLSM")
    figure = new_figure(5.5, 3.2)
    ax = figure.add_subplot()
    ax.plot(np.arange(1, len(curve) + 1), 100 * curve, color=OURS)
    kept = len(machine.chosen_)
    label = f"{kept} of {machine.n_rows_} rows kept"
    ax.plot(kept, 100 * curve[kept - 1], "o", color=PAPER, label=label)
    ax.set(xscale="log", xlabel="rows kept", ylabel="leave-one-out error (%)")
    ax.legend()
    return figure


def labels(model: Any) -> Figure:
    """The inner products of a model's label vectors beside those of the classical labelbooks."""
    machine = _machine(model)
    learned = vars(machine).get("label_gram_")
    if learned is None:
        raise McLsError(
            f"{_name(model)} has no label vectors; to learn some: mcls fit TABLE --machine learned-oneLSM"
        )
    names = [str(name) for name in machine.classes_.tolist()]
    panels = {
        "of the model": learned,
        **{book: label_gram(book, len(names)) for book in ("indicators", "alignment")},
    }
    figure = new_figure(10.5, 3.6)
    axes = figure.subplots(1, len(panels), sharey=True)
    for ax, (title, L) in zip(axes, panels.items()):
        limit = float(np.abs(L).max())
        image = ax.imshow(L, cmap="RdBu_r", vmin=-limit, vmax=limit)
        ax.set_xticks(range(len(names)), names, rotation=90)
        ax.set_yticks(range(len(names)), names)
        ax.set_title(title)
        figure.colorbar(image, ax=ax, shrink=0.8)
    return figure


#: What a model can be drawn as.
FIGURES: dict[str, Callable[[Any], Figure]] = {"importance": importance, "sparsity": sparsity, "labels": labels}


def draw_model(kind: str, path: Path | str, folder: Path) -> list[Path]:
    """Draw a model file into a folder; its name is part of the figure's."""
    model = load(path)
    with mpl.rc_context(STYLE):
        return save(FIGURES[kind](model), folder, f"{Path(path).stem}-{kind}")


def _machine(model: Any) -> Any:
    return model.estimator if isinstance(model, TableModel) else model


def _name(model: Any) -> str:
    return type(_machine(model)).__name__
