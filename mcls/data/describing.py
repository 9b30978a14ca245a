"""What the card of a new data set says about its table: shape, features, classes and fingerprint."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np

from mcls.data.dataset import Dataset
from mcls.data.parsers import canonical, cells, gunzip
from mcls.errors import McLsError
from mcls.files import require_file


def describe_table(path: Path) -> str:
    """The last four fields of a card, as YAML, from a table with a header and ``class`` as its last column.

    Classes are listed in alphabetical order, numbers by size; the fingerprint depends on that order.
    """
    require_file(path)
    try:
        content = path.read_bytes()
        content = gunzip(content) if path.suffix == ".gz" else content
        header = next(iter(cells(content, ",")), [])
        if not header or header[-1] != "class":
            raise ValueError("the last column must be named 'class'")
        table = canonical(content, header[:-1])
    except OSError as error:
        raise McLsError(f"cannot read {path}: {error.strerror}") from None
    except Exception as error:  # whatever a parser makes of other files
        raise McLsError(f"{path} is not a table of a card: {error}") from None
    counts = Counter(table.labels)
    try:
        classes = sorted(counts, key=float)
    except ValueError:
        classes = sorted(counts)
    if len(classes) < 2:
        raise McLsError(f"{path} has {len(classes)} class; a data set has at least two")
    y = np.array([classes.index(label) for label in table.labels])
    data = Dataset(path.stem, table.X, y, tuple(classes), tuple(header[:-1]))
    per_class = ", ".join(f"{json.dumps(name, ensure_ascii=False)}: {counts[name]}" for name in classes)
    names = ", ".join(json.dumps(name, ensure_ascii=False) for name in data.feature_names)
    return (
        f"shape: [{data.n}, {data.d}]\n"
        f"features: [{names}]\n"
        f"classes: {{{per_class}}}\n"
        f"fingerprint: {data.fingerprint}\n"
    )
