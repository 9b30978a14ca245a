"""The published figures, typed out from the papers; they travel with the package."""

from __future__ import annotations

import csv
from functools import lru_cache

from mcls.errors import unknown_name
from mcls.resources import published_files


@lru_cache
def read(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a published table, column → text as printed.

    >>> read("honeine2013-table6-large")[0]
    {'machine': 'oneLSM', 'dataset': 'usps', 'n': '1000', 'error': '6.50', 'seconds': '462'}
    """
    files = published_files()
    if name not in files:
        raise unknown_name("published table", name, files)
    with open(files[name], encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def value(name: str, column: str, **where: str) -> float | None:
    """One published number; None where the paper has none.

    >>> value("honeine2013-table4-error", "error_mean", machine="oneLSM", dataset="iris")
    2.8
    """
    found = _index(name, tuple(where)).get(tuple(where.values()))
    return float(found[column]) if found is not None and found[column] else None


@lru_cache
def _index(name: str, columns: tuple[str, ...]) -> dict[tuple[str, ...], dict[str, str]]:
    """The values of some columns → the first row that has them."""
    index: dict[tuple[str, ...], dict[str, str]] = {}
    for row in read(name):
        index.setdefault(tuple(row[column] for column in columns), row)
    return index
