"""``mcls.save`` and ``mcls.load``: fitted machines, and the table models of ``mcls fit``, in files."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from mcls.environment import environment
from mcls.errors import McLsError
from mcls.models.archive import pack_archive, read_archive, write_archive
from mcls.models.skops_files import dump_skops, is_skops, read_skops, write_skops
from mcls.models.state import array_index, from_state, to_state
from mcls.models.table import TableModel

Array = np.ndarray


def save(model: Any, path: Path | str) -> None:
    """Save a fitted machine, or a table model, to a file that holds numbers and text only.

    Parameters
    ----------
    model : estimator or TableModel
        Any registered machine. One that holds code (a kernel function, a scikit-learn classifier as the binary
        machine of an ECOC) is refused.
    path : Path or str
        Written whole or not at all. With the suffix ``.skops`` a fitted classifier of scikit-learn, or a table model
        of one, is saved by the package skops (``pip install 'mcls[skops]'``), which like our own format holds no code.

    Examples
    --------
    >>> import tempfile, pathlib, mcls
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "small.mcls"
    >>> machine = mcls.OneLSM(sigma=0.5).fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> mcls.save(machine, path)
    >>> mcls.load(path).predict([[1.9]])
    array(['c'], dtype='<U1')
    """
    if is_skops(path):
        write_skops(_parts(model) if isinstance(model, TableModel) else model, Path(path))
        return
    write_archive(path, *_content(model))


def dump(model: Any, path: Path | str = "") -> bytes:
    """The bytes of the file that ``save`` writes to a path."""
    return dump_skops(_parts(model)) if is_skops(path) else pack_archive(*_content(model))


def _parts(table: TableModel) -> dict[str, Any]:
    """A table model of scikit-learn as skops keeps it: the classifier, and all else as JSON."""
    text = {"table": table.to_json(), "versions": _versions()}
    return {"estimator": table.estimator, "mcls": json.dumps(text, allow_nan=False), "arrays": table.arrays()}


def _versions() -> dict[str, str]:
    return {"python": environment()["python"], **environment()["packages"]}


def _content(model: Any) -> tuple[dict[str, Any], list[Array]]:
    table = model if isinstance(model, TableModel) else None
    state, arrays = to_state(table.estimator if table else model)
    parts = table.arrays() if table else {}
    content = {
        "versions": _versions(),
        "estimator": state,
        "table": table.to_json() if table else None,
    }
    if parts:
        content["parts"] = {name: len(arrays) + i for i, name in enumerate(parts)}
    return content, [*arrays, *parts.values()]


def load(path: Path | str) -> Any:
    """Load what ``save`` or ``mcls fit`` wrote: a machine, or a :class:`~mcls.models.table.TableModel`.

    The predictions are those of the saved model bit for bit. A file that is damaged, from a newer format, or not
    consistent in itself is refused with :class:`~mcls.errors.McLsError`; nothing in a file is ever executed.
    """
    return load_with_versions(path)[0]


def load_with_versions(path: Path | str) -> tuple[Any, dict[str, str]]:
    """The model, and the versions of the packages that wrote it."""
    if is_skops(path):
        return _from_skops(Path(path))

    def make(state: Any, arrays: list[Array]) -> Any:
        machine = from_state(state, arrays)
        _try_out(machine, sum(array.size for array in arrays))
        return machine

    return read_content(path, make)


def read_content(path: Path | str, make: Callable[[Any, list[Array]], Any]) -> tuple[Any, dict[str, str]]:
    """The model whose machine ``make`` makes of its state and the arrays, and the versions."""
    content, arrays = read_archive(path)
    try:
        if set(content) - {"parts"} != {"format", "versions", "estimator", "table"}:
            raise McLsError("parts are missing or unknown")
        versions = {str(k): str(v) for k, v in content["versions"].items()}
        machine = make(content["estimator"], arrays)
        if content["table"] is None:
            return machine, versions
        parts = {str(name): arrays[array_index(at)] for name, at in content.get("parts", {}).items()}
        return TableModel.from_json(content["table"], machine, parts), versions
    except Exception as error:  # whatever the values of a file cause, it is the file that is wrong
        raise McLsError(f"{path} holds no usable model: {error or type(error).__name__}") from None


def _from_skops(path: Path) -> tuple[Any, dict[str, str]]:
    """A classifier of scikit-learn alone, or the model of a table that has one."""
    from sklearn.base import is_classifier

    content = read_skops(path)
    try:
        if not isinstance(content, dict):
            if not is_classifier(content):
                raise McLsError("it is not a classifier")
            return content, {}
        if set(content) != {"estimator", "mcls", "arrays"} or not is_classifier(content["estimator"]):
            raise McLsError("it is not a model of a table")
        text = json.loads(content["mcls"])
        model = TableModel.from_json(text["table"], content["estimator"], content["arrays"])
        model.decide(np.zeros((1, model.estimator.n_features_in_)))
        return model, {str(k): str(v) for k, v in text["versions"].items()}
    except Exception as error:  # whatever the values of a file cause, it is the file that is wrong
        raise McLsError(f"{path} holds no usable model: {error or type(error).__name__}") from None


def load_table_model(path: Path | str) -> tuple[TableModel, dict[str, str]]:
    """The same for a model that must know a table's columns."""
    model, versions = load_with_versions(path)
    return require_table(model, path), versions


def require_table(model: Any, path: Path | str) -> TableModel:
    """Refuse a bare machine."""
    if not isinstance(model, TableModel):
        raise McLsError(
            f"{path} holds a bare {type(model).__name__} that knows no columns; "
            f"use it from Python: mcls.load({str(path)!r})"
        )
    return model


def _try_out(machine: Any, held: int) -> None:
    """Predict some rows: parts that do not fit together fail now, not in the middle of a table.

    ``held`` is how many values the file's arrays have: a machine has at least one for each of its features.
    """
    d = machine.n_features_in_
    if not isinstance(d, int | np.integer) or not 1 <= d <= held:
        raise McLsError(f"it claims {d!r} features, and its arrays have {held} values")
    classes = machine.classes_
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        raise McLsError("its classes are not a list")
    rows = np.outer([0.0, 0.5, 1.0], np.ones(int(d)))
    names = getattr(machine, "feature_names_in_", None)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # that these rows have no column names, for one
        scores = np.asarray(machine.decision_function(rows))
        machine.predict(rows)
        probabilities = None if machine.calibration is None else machine.predict_proba(rows)
    if scores.shape != ((3,) if len(classes) == 2 else (3, len(classes))):
        raise McLsError("its scores do not fit its classes")
    if probabilities is not None and probabilities.shape != (3, len(classes)):
        raise McLsError("its probabilities do not fit its classes")
    if names is not None and np.shape(names) != (d,):
        raise McLsError("its features and their names are not as many")
