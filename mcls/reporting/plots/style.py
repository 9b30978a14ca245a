"""One look for all figures, and their files: PNG and SVG, the same bytes for the same data."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from mcls.experiments.store import write_file

DPI = 130  # of the PNG
#: Okabe and Ito's colours: told apart by everybody, also in grey.
OURS, PAPER, THIRD = "#0072B2", "#D55E00", "#009E73"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442", "#000000")
#: One a colour, for those who cannot tell the colours.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
#: What every figure of a quick run says.
QUICK_TITLE = " [QUICK]"

STYLE: Any = {
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "svg.fonttype": "none",  # text stays text: small, and it can be searched
    "svg.hashsalt": "mcls",
    "savefig.facecolor": "white",
}


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches; no window is ever opened."""
    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write ``name.png`` and ``name.svg`` to a folder; a PNG that was made of the very same drawing is kept."""
    png, svg = (folder / f"{name}{suffix}" for suffix in (".png", ".svg"))
    with _laid_out(figure):
        drawing = _bytes(figure, "svg", {"Date": None})
    write_file(svg, drawing)
    digest = hashlib.sha256(drawing).hexdigest()
    if not (png.is_file() and f"Source\0{digest}".encode() in png.read_bytes()):
        write_file(png, _bytes(figure, "png", {"Software": None, "Source": digest}))
    return [png, svg]


@contextlib.contextmanager
def _laid_out(figure: Figure) -> Iterator[None]:
    """Lay the figure out for an SVG here: matplotlib would draw the whole of it once more to do so."""
    engine = figure.get_layout_engine()
    FigureCanvasSVG(figure)
    if engine is not None:
        with mpl.rc_context(STYLE):
            figure.set_dpi(DPI)
            engine.execute(figure)
        figure.set_layout_engine(None)  # a place holder ("none") would be asked to draw too
    try:
        yield
    finally:
        figure.set_layout_engine(engine)


def _bytes(figure: Figure, kind: str, metadata: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
    return buffer.getvalue()
