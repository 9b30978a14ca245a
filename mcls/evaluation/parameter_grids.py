"""Grids of parameters: their values as people write them, checked by the machine that they are for."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from mcls.errors import McLsError, unknown_name
from mcls.kernels import PRECOMPUTED, RADIAL
from mcls.machines.base import BaseMachine, parameter_checks
from mcls.machines.foreign import parameters_of
from mcls.parameters import SCALE, is_finite

#: More points than this in one grid is taken for a slip.
MOST_POINTS = 100_000

_NUMBER = r"[-+]?\d+(?:\.\d*)?(?:[eE][-+]?\d+)?"
_POWER = rf"(?P<base{{0}}>{_NUMBER})\^(?P<power{{0}}>{_NUMBER})"
_RANGE = re.compile(rf"\s*{_POWER.format(1)}\s*\.\.\s*{_POWER.format(2)}(?:\s+step\s+(?P<step>{_NUMBER}))?\s*")
_SINGLE = re.compile(rf"\s*{_POWER.format('')}\s*")
_MOST_VALUES = 1000


def parse_values(values: Any) -> list[Any]:
    """Values of one parameter: a range ``2^-4..2^4`` (with ``step 2`` for every second power), one value, a list.

    >>> parse_values("2^-1..2^1")
    [0.5, 1.0, 2.0]
    >>> parse_values([1, "10^2"])
    [1, 100.0]
    >>> parse_values(np.array([0.5, 2.0])), parse_values(range(1, 4))
    ([0.5, 2.0], [1, 2, 3])
    """
    if isinstance(values, np.ndarray | np.generic):
        values = values.tolist()
    if isinstance(values, list | tuple | range):
        if not values:
            raise McLsError("a parameter needs at least one value")
        return [value for item in values for value in parse_values(item)]
    if not isinstance(values, str):
        return [values]
    if match := _RANGE.fullmatch(values):
        base, last = float(match["base1"]), float(match["base2"])
        low, high, step = float(match["power1"]), float(match["power2"]), float(match["step"] or 1)
        if base != last or base <= 0:
            raise McLsError(f"'{values}': both ends of a range need one positive base, such as 2^-4..2^4")
        if high < low or step <= 0 or (high - low) / step > _MOST_VALUES:
            raise McLsError(f"'{values}': a range goes up, by a positive step, in at most {_MOST_VALUES} values")
        return [base**power for power in np.arange(low, high + 1e-9, step).tolist()]
    if match := _SINGLE.fullmatch(values):
        return [float(match["base"]) ** float(match["power"])]
    if ".." in values:
        raise McLsError(f"'{values}' is not a range; write it like 2^-4..2^4 or 10^-3..10^3 step 0.5")
    return [values]


def expand_grid(grid: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Parse the values of every parameter of a grid."""
    return {name: parse_values(values) for name, values in grid.items()}


def grid_values(name: str, values: Any) -> list[Any]:
    """Parse the values of one grid parameter: finite numbers or words."""
    try:
        parsed = parse_values(values)
    except ArithmeticError:
        raise McLsError(f"'{name}': {values!r} leaves the range of numbers") from None
    except RecursionError:
        raise McLsError(f"'{name}': the list is nested too deeply") from None
    except McLsError as error:
        raise McLsError(f"'{name}': {error}") from None
    for value in parsed:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise McLsError(f"'{name}': {value!r} is not a number or a word")
        if isinstance(value, int | float) and not is_finite(value):
            raise McLsError(f"'{name}': {value} is not a finite number")
    if len(set(parsed)) < len(parsed):
        raise McLsError(f"'{name}' lists a value twice")
    return parsed


def check_grid(estimator: Any, grid: Mapping[str, Any]) -> None:
    """Refuse a grid over parameters the estimator does not have, or over values it would refuse."""
    valid = parameters_of(estimator)
    for name in grid:
        if name not in valid:
            raise unknown_name(f"parameter of {type(estimator).__name__} in its grid:", name, valid)
    check_values(estimator, {name: grid_values(name, values) for name, values in grid.items()})


def check_values(estimator: Any, values: Mapping[str, list[Any]]) -> None:
    """Refuse values that the machine itself would refuse; a scikit-learn estimator checks when it is fitted."""
    if not isinstance(estimator, BaseMachine):
        return
    for name, candidates in values.items():
        probe = type(estimator)(**estimator.get_params(deep=False))
        for value in candidates:
            if name == "kernel" and value == PRECOMPUTED:
                raise McLsError("'kernel: precomputed' has no meaning here: an experiment knows rows alone")
            parameter_checks(type(estimator))[name](name, value)
            probe.set_params(**{name: value}).check_parameters()


def effective_grid(
    machine: Any, estimator: Any, options: Mapping[str, Any], common: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """The grid of one machine, parameters in alphabetical order.

    The registry's grid, then the experiment's, then the machine's own entry, the later one deciding. A parameter
    fixed by an option leaves the grid, and so does ``sigma`` where the kernel has no width.
    """
    parameters = parameters_of(estimator)
    merged = {**machine.grid, **{k: v for k, v in common.items() if k in parameters}, **own}
    kernel = parameters.get("kernel")
    grid = {
        name: [machine.grid_value(name, value) for value in grid_values(name, values)]
        for name, values in sorted(merged.items())
        if name not in options
        and name not in machine.params
        and not (name == "sigma" and isinstance(kernel, str) and kernel not in RADIAL and "kernel" not in merged)
    }
    if "solver" in grid:
        raise McLsError(f"a solver is not tuned but given as an option, such as {machine.name}:solver=NAME")
    if SCALE in grid.get("sigma", []):
        raise McLsError(
            f"the width that fits the rows is not tuned but given as an option: {machine.name}:sigma=scale"
        )
    check_values(estimator, grid)
    if math.prod(len(v) for v in grid.values()) > MOST_POINTS:
        raise McLsError(f"the grid of {machine.name} has more than {MOST_POINTS} points; use shorter ranges")
    return grid
