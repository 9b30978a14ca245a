"""A model file without its machine's code: what ``mcls inspect`` tells needs no library of learning.

The values are those of the file, whose checksum fits. That they work together is tried out when a model is loaded to be
used (``mcls.models.saving``).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcls.errors import McLsError
from mcls.models.saving import read_content
from mcls.models.skops_files import is_skops
from mcls.models.state import decode_state
from mcls.models.table import TableModel


class Outline:
    """What a file says of a machine: its parameters and fitted attributes, under the name of its class."""

    calibration: str | None = None

    def __init__(self, params: dict[str, Any], fitted: dict[str, Any]) -> None:
        self.__dict__ |= params | fitted
        self.__params = params

    def get_params(self, deep: bool = False) -> dict[str, Any]:
        """The parameters."""
        return dict(self.__params)

    def importances(self) -> Any:
        """How much each column matters, where the machine says so."""
        return vars(self).get("feature_importances_")


def load_outline(path: Path | str) -> tuple[Any, dict[str, str]]:
    """A table model or a machine in outline, and the versions of the packages that wrote it."""
    if is_skops(path):
        raise McLsError(f"{path} was written by skops: read it with mcls.load")

    def make(state: Any, arrays: Any) -> Any:
        name, params, fitted = decode_state(state, arrays)
        return type(name, (Outline,), {})(params, fitted)

    return read_content(path, make)


def load_table_outline(path: Path | str) -> tuple[TableModel, dict[str, str]]:
    """The same of a model that must know a table's columns."""
    from mcls.models.saving import require_table

    model, versions = load_outline(path)
    return require_table(model, path), versions
