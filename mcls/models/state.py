"""A fitted machine as plain values and back: parameters and fitted attributes, of a strict list of types.

Plain are None, truth values, numbers, text, lists, tuples and dictionaries of them, and NumPy arrays and scalars.
Of objects, only the registered machines themselves and the classes of ``_PARTS`` are known, by their names; reading
one back sets attributes and calls nothing that comes from the file. What holds anything else (a kernel function of
the user's, a scikit-learn classifier) is refused when it is saved.
"""

from __future__ import annotations

import importlib
import math
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from mcls import plugins
from mcls.errors import McLsError
from mcls.machines.registry import MACHINES, Machine

Array = np.ndarray

#: Helpers that a fitted machine may hold: class name → module. Their attributes are plain values.
_PARTS = {"BinaryMachines": "mcls.coding.binary", "ProbabilityMap": "mcls.solvers.calibration"}
_NOT_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def machine_class(name: str) -> Any:
    """The class of a registered machine by its name; nothing else can be named."""
    return find_machine(name).cls


def find_machine(name: str) -> Machine:
    """The registry's line of the machine whose class has this name."""
    for machine in MACHINES.values():
        if machine.target.rpartition(":")[2] == name:
            if origin := plugins.origin_of("machine", machine.name):
                raise McLsError(
                    f"{machine.name} comes from the plug-in {origin}: a model of it would need that code, and a model "
                    "file holds numbers and text only; mcls compare and mcls run judge it without a model"
                )
            return machine
    raise McLsError(f"{str(name)[:80]!r} is not a machine of this mcls")


def check_labelbook(book: Any) -> None:
    """Refuse a labelbook of a plug-in: the model would need its code."""
    if isinstance(book, str) and (origin := plugins.origin_of("labelbook", book)):
        raise McLsError(
            f"the labelbook '{book}' comes from the plug-in {origin}: a model of it would need that code, and a model "
            "file holds numbers and text only"
        )


def to_state(estimator: Any) -> tuple[dict[str, Any], list[Array]]:
    """JSON values and the arrays they refer to."""
    name = type(estimator).__name__
    try:
        known = machine_class(name) is type(estimator)
    except McLsError:
        known = False
    if not known:
        raise McLsError(
            f"only a registered machine can be saved, and {name} is not one (mcls machines lists them)"
            f"{_inside(estimator)}"
        )
    arrays: list[Array] = []
    params = estimator.get_params(deep=False)
    check_labelbook(params.get("labelbook"))
    fitted = {key: value for key, value in vars(estimator).items() if key not in params}
    if "classes_" not in fitted:
        raise McLsError(f"this {name} is not fitted: there is nothing to save")
    return {
        "class": name,
        "params": {key: _encode(value, arrays, f"{name}.{key}") for key, value in params.items()},
        "fitted": {key: _encode(value, arrays, f"{name}.{key}") for key, value in fitted.items()},
    }, arrays


def _inside(model: Any) -> str:
    """What of a search or a table classifier can be saved, where it holds a fitted machine or a table model."""
    machines = {machine.target.rpartition(":")[2] for machine in MACHINES.values()}
    for name in ("model_", "best_estimator_", "estimator"):
        inner = getattr(model, name, None)
        kind = type(inner).__name__
        if kind == "TableModel" or (kind in machines and hasattr(inner, "classes_")):
            return f"; save its {name}, a {kind}"
    return ""


def decode_state(state: Any, arrays: list[Array]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """The class of a machine by name, its parameters and its fitted attributes."""
    if set(state) != {"class", "params", "fitted"}:
        raise McLsError("no machine is described")
    name = str(state["class"])
    find_machine(name)
    for key in state["fitted"]:
        if not key.isidentifier() or not key.endswith("_") or key.startswith("_"):
            raise McLsError(f"{key[:80]!r} is not a fitted attribute")
    params, fitted = (
        {key: _decode(value, arrays) for key, value in state[part].items()} for part in ("params", "fitted")
    )
    if params.get("calibration") is not None and type(fitted.get("probability_map_")).__name__ != "ProbabilityMap":
        raise McLsError("the map of its probabilities is missing")
    return name, params, fitted


def from_state(state: Any, arrays: list[Array]) -> Any:
    """Make the machine again. Raises all sorts of errors on values that are not a state; see ``saving.load``."""
    name, params, fitted = decode_state(state, arrays)
    cls = machine_class(name)
    unknown = set(params) - set(cls._get_param_names())
    if unknown:
        raise McLsError(f"{cls.__name__} has no parameter '{min(unknown)[:80]}' in this mcls")
    machine = cls(**params)
    machine.check_parameters()
    for key, value in fitted.items():
        setattr(machine, key, value)
    return machine


def _encode(value: Any, arrays: list[Array], where: str) -> Any:
    if value is None or (isinstance(value, bool | str | int) and not isinstance(value, np.generic)):
        return value
    if isinstance(value, np.generic):
        return {"scalar": _store(np.asarray(value), arrays, where)}
    if isinstance(value, float):
        return value if math.isfinite(value) else {"float": str(value)}
    if isinstance(value, np.ndarray):
        if value.dtype == object and value.ndim == 1:  # labels of any kind, such as text from pandas
            return {"objects": [_encode(item, arrays, where) for item in value]}
        return {"array": _store(value, arrays, where)}
    if isinstance(value, list):
        return [_encode(item, arrays, where) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_encode(item, arrays, where) for item in value]}
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _encode(item, arrays, where) for key, item in value.items()}}
    if isinstance(value, dict):  # weights of classes, whatever their labels
        return {"pairs": [[_encode(part, arrays, where) for part in pair] for pair in value.items()]}
    kind = type(value).__name__
    if _PARTS.get(kind) == type(value).__module__:
        return {"part": kind, "state": {k: _encode(v, arrays, f"{where}.{k}") for k, v in vars(value).items()}}
    what = "a function" if callable(value) and not hasattr(value, "fit") else f"an object of class {kind}"
    raise McLsError(f"{where} is {what}, and a model file holds numbers and text only, no code")


def _store(array: Array, arrays: list[Array], where: str) -> int:
    if array.dtype.kind not in "biufU":
        raise McLsError(f"{where} is an array of {array.dtype}, which a model file does not hold")
    arrays.append(array)
    return len(arrays) - 1


def _decode(value: Any, arrays: list[Array]) -> Any:
    if isinstance(value, list):
        return [_decode(item, arrays) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"part", "state"}:
        return _part(value["part"], {key: _decode(item, arrays) for key, item in value["state"].items()})
    ((tag, content),) = value.items()
    if tag == "array":
        return arrays[array_index(content)]
    if tag == "scalar":
        return arrays[array_index(content)][()]
    if tag == "float":
        return _NOT_FINITE[content]
    if tag == "dict":
        return {key: _decode(item, arrays) for key, item in content.items()}
    items = [_decode(item, arrays) for item in content]
    if tag == "tuple":
        return tuple(items)
    if tag == "pairs":
        return dict(items)
    if tag == "objects":
        made = np.empty(len(items), dtype=object)
        made[:] = items
        return made
    raise McLsError(f"values of kind {tag[:80]!r} are not known")


def array_index(content: Any) -> int:
    """The number of an array in a model file."""
    if not isinstance(content, int) or isinstance(content, bool) or content < 0:
        raise McLsError("an array is not given by its number")
    return content


def _part(name: Any, attributes: dict[str, Any]) -> Any:
    if name not in _PARTS:
        raise McLsError(f"objects of class {str(name)[:80]!r} are not known")
    cls = getattr(importlib.import_module(_PARTS[name]), name)
    if is_dataclass(cls) and attributes.keys() != {field.name for field in fields(cls)}:
        raise McLsError(f"the attributes of {name} are not those that it has")
    made = cls.__new__(cls)
    for key, value in attributes.items():
        if not key.isidentifier() or key.startswith("_"):
            raise McLsError(f"{key[:80]!r} is not an attribute of {name}")
        vars(made)[key] = value  # also of a frozen class
    return made
