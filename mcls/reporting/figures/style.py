"""One look for all figures, and their files: PNG and SVG, the same bytes for the same data."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
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
    drawing = _bytes(figure, "svg", {"Date": None})
    write_file(svg, drawing)
    digest = hashlib.sha256(drawing).hexdigest()
    if not (png.is_file() and f"Source\0{digest}".encode() in png.read_bytes()):
        write_file(png, _bytes(figure, "png", {"Software": None, "Source": digest}))
    return [png, svg]


def _bytes(figure: Figure, kind: str, metadata: dict[str, Any]) -> bytes:
    buffer = io.BytesIO()
    with mpl.rc_context(STYLE):
        figure.savefig(buffer, format=kind, dpi=DPI, metadata=metadata)
    return buffer.getvalue()
