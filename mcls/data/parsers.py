"""Parsers: from the bytes of a source's files to a plain table, one function per layout.

A parser knows a layout (separator, which column is the class, which is an identifier), not a data set's
names: those stand in the card. Bytes are checked against the card's sha256 before they come here.
"""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcls.data.matlab import matlab_array
from mcls.errors import McLsError

# More than any table here needs (zip.train unpacks to 14.5 MB): a bound against archives that explode.
MAX_UNPACKED = 256 * 2**20


@dataclass(frozen=True)
class ParsedTable:
    """What a parser gives: values, labels as text, and columns that are not features."""

    X: NDArray[np.float64]  # (n, d)
    labels: list[str]  # (n,)
    extra: dict[str, NDArray[Any]] = field(default_factory=dict)


def gunzip(content: bytes) -> bytes:
    """Unpack gzip in memory, at most ``MAX_UNPACKED`` bytes of it."""
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as stream:
            unpacked = stream.read(MAX_UNPACKED + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise McLsError(f"not a readable gzip file: {error}") from None
    if len(unpacked) > MAX_UNPACKED:
        raise McLsError(f"unpacks to more than {MAX_UNPACKED} bytes")
    return unpacked


def cells(content: bytes, sep: str | None) -> list[list[str]]:
    """Split text into rows of equally many cells (``sep=None``: any white space); blank lines go."""
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise McLsError(f"not a text file: {error}") from None
    rows = [line.split(sep) for line in lines if line.strip()]
    if not rows:
        raise McLsError("the file is empty")
    for number, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            raise McLsError(f"row {number} has {len(row)} cells, the first row has {len(rows[0])}")
    return rows


def floats(rows: Sequence[Sequence[str]]) -> NDArray[np.float64]:
    """Turn decimal text to float64, correctly rounded, so that every copy gives the same bits."""
    try:
        return np.array([[float(cell) for cell in row] for row in rows], dtype=np.float64)
    except ValueError as error:
        raise McLsError(str(error)) from None


def canonical(content: bytes, features: Sequence[str]) -> ParsedTable:
    """Read a shipped table: a header, ``class`` last; columns that are not features become ``extra``."""
    header, *rows = cells(content, ",")
    missing = [name for name in [*features, "class"] if name not in header]
    if missing:
        raise McLsError(f"no column {', '.join(missing)} in the header")
    wanted = [header.index(name) for name in features]
    others = [name for name in header[:-1] if name not in features]
    X = floats([[row[j] for j in wanted] for row in rows])
    extra = {name: np.array([row[header.index(name)] for row in rows]) for name in others}
    return ParsedTable(X, [row[header.index("class")] for row in rows], extra)


def delimited(
    content: bytes,
    sep: str | None = ",",
    label: int = -1,
    identifiers: int = 0,
    spell: Mapping[str, str] | None = None,
) -> ParsedTable:
    """Read a UCI table without a header.

    ``label`` is the class column (first or last), ``identifiers`` the number of leading columns that name
    a row, ``spell`` the canonical spelling of class codes.
    """
    rows = cells(content, sep)
    labels = [row[label] for row in rows]
    X = floats([row[1:] if label == 0 else row[identifiers:-1] for row in rows])
    return ParsedTable(X, [spell[name] if spell else name for name in labels])


def vowel(content: bytes) -> ParsedTable:
    """Read vowel-context.data: split (0 train, 1 test), speaker, sex, ten features, class."""
    rows = cells(content, None)
    extra = {
        "split": np.array([{"0": "train", "1": "test"}[row[0]] for row in rows]),
        "speaker": np.array([row[1] for row in rows]),
        "sex": np.array([row[2] for row in rows]),
    }
    return ParsedTable(floats([row[3:-1] for row in rows]), [row[-1] for row in rows], extra)


def usps_npz(content: bytes) -> ParsedTable:
    """Read the shipped USPS archive: pixels as int16 in ten-thousandths, digits."""
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        # A division, not a product with 1e-4: only the quotient is the double nearest to the decimal.
        pixels, digits = archive["pixels"] / 10000.0, archive["digit"]
    half = len(digits) // 2
    return ParsedTable(pixels, [str(digit) for digit in digits], _split(half, len(digits) - half))


def usps_esl(train: bytes, test: bytes) -> ParsedTable:
    """Read zip.train.gz and zip.test.gz of the ESL site: the digit, then 256 pixels, white space between."""
    parts = [np.loadtxt(io.BytesIO(gunzip(content)), dtype=np.float64, ndmin=2) for content in (train, test)]
    values = np.vstack(parts)
    split = _split(len(parts[0]), len(parts[1]))
    return ParsedTable(values[:, 1:], [str(int(digit)) for digit in values[:, 0]], split)


def _split(n_train: int, n_test: int) -> dict[str, NDArray[Any]]:
    """Name the source's own split, as vowel's table does."""
    return {"split": np.array(["train"] * n_train + ["test"] * n_test)}


PAVIA_CLASSES = (
    "Asphalt",
    "Meadows",
    "Gravel",
    "Trees",
    "Painted metal sheets",
    "Bare soil",
    "Bitumen",
    "Self-blocking bricks",
    "Shadow",
)


INDIAN_PINES_CLASSES = (
    "Alfalfa",
    "Corn-notill",
    "Corn-mintill",
    "Corn",
    "Grass-pasture",
    "Grass-trees",
    "Grass-pasture-mowed",
    "Hay-windrowed",
    "Oats",
    "Soybean-notill",
    "Soybean-mintill",
    "Soybean-clean",
    "Wheat",
    "Woods",
    "Buildings-Grass-Trees-Drives",
    "Stone-Steel-Towers",
)


def pavia(cube: bytes, truth: bytes) -> ParsedTable:
    """Read PaviaU.mat and PaviaU_gt.mat: 610 × 340 pixels with 103 bands."""
    bands, codes = matlab_array(cube, "paviaU", ndim=3), matlab_array(truth, "paviaU_gt", ndim=2)
    return scene(bands, codes, PAVIA_CLASSES)


def indian_pines(cube: bytes, truth: bytes) -> ParsedTable:
    """Read Indian_pines_corrected.npy and Indian_pines_gt.npy: 145 × 145 pixels with 200 bands."""
    return scene(_numpy_array(cube, ndim=3), _numpy_array(truth, ndim=2), INDIAN_PINES_CLASSES)


def scene(bands: NDArray[Any], codes: NDArray[Any], classes: Sequence[str]) -> ParsedTable:
    """The labelled pixels' spectra, with each pixel's row and column; code 0 means that a pixel has no label."""
    if bands.shape[:2] != codes.shape:
        raise McLsError(f"the image has {bands.shape[:2]} pixels, the ground truth {codes.shape}")
    if codes.min() < 0 or codes.max() > len(classes):
        raise McLsError(f"ground truth codes must lie between 0 and {len(classes)}")
    rows, columns = np.nonzero(codes)
    labels = [classes[int(code) - 1] for code in codes[rows, columns]]
    return ParsedTable(bands[rows, columns].astype(np.float64), labels, {"row": rows, "column": columns})


def _numpy_array(content: bytes, ndim: int) -> NDArray[Any]:
    try:
        found = np.load(io.BytesIO(content), allow_pickle=False)
    except Exception as error:  # numpy raises whatever the damaged bytes lead it to
        raise McLsError(f"not a readable NumPy file: {error}") from None
    if not isinstance(found, np.ndarray) or found.ndim != ndim or found.dtype.kind not in "uif":
        raise McLsError(f"no numeric array with {ndim} axes in the file")
    return found


PARSERS: dict[str, Callable[..., ParsedTable]] = {
    "iris": partial(
        delimited, spell={f"Iris-{name}": name for name in ("setosa", "versicolor", "virginica")}
    ),
    "comma-class-last": delimited,
    "comma-class-first": partial(delimited, label=0),
    "comma-id-class-last": partial(delimited, identifiers=1),
    "space-id-class-last": partial(delimited, sep=None, identifiers=1),
    "lenses": partial(
        delimited, sep=None, identifiers=1, spell={"1": "hard", "2": "soft", "3": "none"}
    ),
    "vowel": vowel,
    "usps-esl": usps_esl,
    "pavia": pavia,
    "indian-pines": indian_pines,
}  # fmt: skip
