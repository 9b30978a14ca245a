"""Cohn–Kanade faces: a folder the user supplies, one sub-folder an expression, small grey images in it."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mcls.data.parsers import ParsedTable
from mcls.errors import McLsError
from mcls.files import require_file

SUFFIXES = (".pgm", ".png")


def read_faces(folder: Path) -> ParsedTable:
    """Read ``folder/EXPRESSION/*.pgm|*.png``, 40×30 grey images: 1200 grey values from 0 to 255 per row."""
    if not folder.is_dir():
        raise McLsError(f"{folder} is not a folder; expected one sub-folder an expression, with images in each")
    images: list[NDArray[np.float64]] = []
    labels: list[str] = []
    for sub in sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith(".")):
        for path in sorted(path for path in sub.iterdir() if path.suffix.lower() in SUFFIXES):
            images.append(_grey(path))
            labels.append(sub.name)
    if len(set(labels)) < 2:
        raise McLsError(
            f"{folder} holds images of {len(set(labels))} expressions; expected at least two sub-folders, "
            f"one an expression, with {' or '.join(SUFFIXES)} images of 40×30 pixels in each"
        )
    shapes = {image.shape for image in images}
    if len(shapes) > 1:
        raise McLsError(f"{folder} mixes images of 40×30 and 30×40 pixels")
    return ParsedTable(np.array([image.ravel() for image in images]), labels)


def _grey(path: Path) -> NDArray[np.float64]:
    from PIL import Image, UnidentifiedImageError

    try:
        require_file(path)
        with Image.open(path) as image:  # reads the header only
            if sorted(image.size) != [30, 40]:
                width, height = image.size
                raise McLsError(f"{path} has {width}×{height} pixels; expected 40×30")
            return np.asarray(image.convert("L"), dtype=np.float64)
    except (UnidentifiedImageError, OSError, SyntaxError) as error:
        raise McLsError(f"{path} is not a readable image: {error}") from None


def pack(table: ParsedTable) -> bytes:
    """Put a table of faces into one npz, for the cache."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, grey=table.X.astype(np.uint8), label=np.array(table.labels))
    return buffer.getvalue()


def unpack(path: Path) -> ParsedTable:
    """Read what ``pack`` wrote."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            return ParsedTable(archive["grey"].astype(np.float64), [str(label) for label in archive["label"]])
    except Exception as error:  # numpy and zipfile raise whatever the damaged bytes lead them to
        raise McLsError(f"{path} is damaged ({error}); import the folder again") from None
