"""What the text of a cell means: a number, a date, a code, or nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

MISSING = frozenset({"", "?", "na", "n/a", "#n/a", "nan", "null"})  # not "none": that is a class of lenses
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+(?:[eE][+-]?\d+)?")
DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+(?:[eE][+-]?\d+)?")
_WHOLE = re.compile(r"([+-]?\d+)\.0+")
_TIME = r"(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
#: Order of year, month and day → how a date is written.
DATES = {
    "ymd": re.compile(r"(?P<y>\d{4})(?P<mark>[-/.])(?P<m>\d{1,2})(?P=mark)(?P<d>\d{1,2})" + _TIME),
    "dmy": re.compile(r"(?P<d>\d{1,2})(?P<mark>[-/.])(?P<m>\d{1,2})(?P=mark)(?P<y>\d{4})" + _TIME),
    "mdy": re.compile(r"(?P<m>\d{1,2})(?P<mark>[-/.])(?P<d>\d{1,2})(?P=mark)(?P<y>\d{4})" + _TIME),
}
_EPOCH = datetime(1970, 1, 1)


def is_missing(text: str) -> bool:
    """Whether a cell stands for a value that is not known."""
    return len(text) <= 4 and text.lower() in MISSING


def parse_number(text: str, decimal: str = ".") -> float | None:
    """The number that a cell holds, or None.

    >>> parse_number("1.5"), parse_number("1,5", ","), parse_number("1.500", ","), parse_number("1_000")
    (1.5, 1.5, None, None)
    """
    # float() also takes 1_000, which no table means as a number; with a decimal comma a point may mark thousands.
    if "_" in text or (decimal == "," and "." in text):
        return None
    try:
        return float(text.replace(",", ".") if decimal == "," else text)
    except ValueError:
        return None


def parse_numbers(cells: Sequence[str], decimal: str = ".") -> NDArray[np.float64] | None:
    """The numbers of many cells (m,), NaN where one is missing; None if any cell is text. As ``parse_number``."""
    texts = cells
    if decimal == ",":
        if any("." in cell for cell in cells):
            return None
        texts = [cell.replace(",", ".") for cell in cells]
    try:
        values = np.array(list(map(float, texts)))
    except ValueError:
        try:
            values = np.array([float("nan") if is_missing(cell) else float(cell) for cell in texts])
        except ValueError:
            return None
    return None if "_" in "".join(cells) else values


def plain_code(text: str) -> str:
    """A code as it is known: programs that keep whole numbers as fractions write 3 as 3.0.

    >>> plain_code("3.0"), plain_code("007"), plain_code("red")
    ('3', '007', 'red')
    """
    whole = _WHOLE.fullmatch(text)
    return whole[1] if whole else text


def class_of_number(value: float) -> str:
    """The name of a class, or of a code, that is a number.

    >>> class_of_number(1.0), class_of_number(2.5)
    ('1', '2.5')
    """
    return str(int(value)) if value.is_integer() else repr(value)


def parse_date(text: str, order: str) -> float | None:
    """Days since 1970 of a date, with or without a time of day as it is on the clock; None if it is not a date.

    >>> parse_date("2024-01-31 12:00", "ymd"), parse_date("31.1.2024", "dmy"), parse_date("31/1/2024", "mdy")
    (19753.5, 19753.0, None)
    """
    found = DATES[order].fullmatch(text)
    if found is None:
        return None
    hour, minute, second = (int(part or 0) for part in found.groups()[-3:])
    try:
        moment = datetime(int(found["y"]), int(found["m"]), int(found["d"]), hour, minute, second)
    except ValueError:
        return None
    return (moment - _EPOCH).total_seconds() / 86400


def date_order(texts: Sequence[str]) -> str | None:
    """How dates are written: ``ymd``, ``dmy``, ``mdy``, ``unclear`` (01/02/2024 alone), or None if they are not dates.

    >>> date_order(["2024-01-31"]), date_order(["01/31/2024", "02/01/2024"]), date_order(["01/02/2024"])
    ('ymd', 'mdy', 'unclear')
    """
    if not texts or not texts[0][:1].isdigit():
        return None
    possible = [order for order in DATES if all(parse_date(text, order) is not None for text in texts)]
    if len(possible) == 2:  # nobody puts a point after a month that stands before its day
        return "dmy" if all("." in text[:3] for text in texts) else "unclear"
    return possible[0] if possible else None
