"""A model file without its machine's code: what ``mcls inspect`` tells needs no library of learning.

The values are those of the file, whose checksum fits. That they work together is tried out when a model is loaded to be
used (``mcls.models.saving``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcls.models.outlined import Outline
from mcls.models.saving import load_with_versions, read_content, require_table
from mcls.models.skops_files import is_skops
from mcls.models.state import decode_state
from mcls.models.table import TableModel


def load_outline(path: Path | str) -> tuple[Any, dict[str, str]]:
    """A table model or a machine in outline, and the versions of the packages that wrote it."""
    if is_skops(path):
        return load_with_versions(path)  # an estimator of scikit-learn's, whose class is in the file

    def make(state: Any, arrays: Any) -> Any:
        name, params, fitted = decode_state(state, arrays)
        return type(name, (Outline,), {})(params, fitted)

    return read_content(path, make)


def load_table_outline(path: Path | str) -> tuple[TableModel, dict[str, str]]:
    """The same of a model that must know a table's columns."""
    model, versions = load_outline(path)
    return require_table(model, path), versions
