"""The published figures, typed out from the papers; they travel with the package."""

from __future__ import annotations

import csv
from functools import lru_cache

from mcls.errors import unknown_name
from mcls.resources import paper_tables_dir


@lru_cache
def read(name: str) -> tuple[dict[str, str], ...]:
    """The rows of a published table, column → text as printed.

    >>> read("honeine2013-table6-large")[0]
    {'machine': 'oneLSM', 'dataset': 'usps', 'n': '1000', 'error': '6.50', 'seconds': '462'}
    """
    folder = paper_tables_dir()
    if not (folder / f"{name}.csv").is_file():
        raise unknown_name("published table", name, [path.stem for path in folder.glob("*.csv")])
    with open(folder / f"{name}.csv", encoding="utf-8", newline="") as lines:
        return tuple(csv.DictReader(lines))


def figure(name: str, column: str, **where: str) -> float | None:
    """One published number; None where the paper has none.

    >>> figure("honeine2013-table4-error", "error_mean", machine="oneLSM", dataset="iris")
    2.8
    """
    for row in read(name):
        if all(row[key] == value for key, value in where.items()):
            return float(row[column]) if row[column] else None
    return None
