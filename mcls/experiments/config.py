"""The schema of an experiment's YAML file."""

from __future__ import annotations

import inspect
import json
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)

from mcls.errors import McLsError, unknown_name
from mcls.experiments.specs import format_options, format_spec, parse_spec

#: More points than this in one grid is taken for a slip.
MOST_POINTS = 100_000

TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".data", ".gz")

Engine = Literal["fast", "refit"]
Protocol = Literal["published", "nested", "half-split", "hold-out", "5x2cv"]
Scaling = Literal["dataset", "fold", "standard", "none"]
Name = Annotated[str, Field(min_length=1, max_length=200)]
#: A fraction, the first so many rows, so many random rows of each class, or the split that the source declares.
Train = (
    Annotated[float, Field(gt=0, lt=1)]
    | Annotated[int, Field(ge=1)]
    | Annotated[list[Annotated[int, Field(ge=1)]], Field(min_length=2)]
    | Literal["declared"]
)


def _parse_folds(value: Any) -> int | str:
    from mcls.evaluation.folds import parse_folds

    return parse_folds(value)


#: A number of folds, or "loo": one a row.
Folds = Annotated[int | str, BeforeValidator(_parse_folds)]


def _jsonable(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise McLsError(f"{value!r} is neither a word, a finite number, true, false nor a list of those") from None
    return value


Options = dict[Name, Annotated[Any, AfterValidator(_jsonable)]]
Grid = dict[Name, Any]

#: Settings that only some protocols have.
_SETTINGS: dict[str, tuple[str, ...]] = {
    "published": ("folds",),
    "nested": ("folds", "inner_folds"),
    "half-split": ("inner_folds",),
    "hold-out": ("train", "inner_folds"),
    "5x2cv": ("inner_folds",),
}
_DEFAULT_INNER_FOLDS = {"nested": 10, "half-split": 5, "hold-out": 10, "5x2cv": 10}


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _listed(value: Any) -> Any:
    """One value stands for a list of one."""
    return [value] if isinstance(value, str | Mapping) else value


def _dataset_fields(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name, options = parse_spec(value)
    if looks_like_table(name):
        return {"path": name, **options}
    return {"name": name, "options": options} if options else {"name": name}


def _machine_fields(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name, options = parse_spec(value)
    return {"name": name, "options": options} if options else {"name": name}


def looks_like_table(text: str) -> bool:
    """Whether a data set is given as a path to a file rather than by name."""
    return "/" in text or text.lower().endswith(TABLE_SUFFIXES)


class DatasetEntry(_Strict):
    """A data set by the name of its card, or a table of the user's own by its path."""

    name: Name | None = None
    options: Options = {}
    path: Name | None = None
    target: int | Name = -1
    header: bool | None = None

    @model_validator(mode="after")
    def _check(self) -> DatasetEntry:
        if (self.name is None) == (self.path is None):
            raise McLsError(
                "give 'name' for a data set of mcls or 'path' for a table of your own (one of the two)"
            )
        if self.path is not None and self.options:
            raise McLsError("'options' belong to a data set by name; a table takes 'target' and 'header'")
        if self.name is not None:
            for field in ("target", "header"):
                if field in self.model_fields_set:
                    raise McLsError(f"'{field}' belongs to a table by 'path'")
            from mcls.data import load_card, resolve_options

            for key, value in self.options.items():
                if not isinstance(value, str | int | float):
                    raise McLsError(f"option '{key}' takes one word or number, got {value!r}")
            resolve_options(load_card(self.name), self.options)
        return self

    @property
    def label(self) -> str:
        """What tables call it: the name, with the options that were given."""
        if self.path is not None:
            return Path(self.path).name.removesuffix(".gz").rsplit(".", 1)[0]
        name = str(self.name).lower()
        return f"{name}:{format_options(self.options)}" if self.options else name


class MachineEntry(_Strict):
    """A machine with options; several labelbooks stand for one machine each."""

    name: Name
    labelbook: Annotated[list[Name], BeforeValidator(_listed), Field(min_length=1)] | None = None
    options: Options = {}
    grid: Grid = {}

    @model_validator(mode="after")
    def _check(self) -> MachineEntry:
        from mcls.machines.registry import get_machine

        machine = get_machine(self.name)
        if self.labelbook is not None and "labelbook" in self.options:
            raise McLsError("give the labelbook once: as 'labelbook' or among the 'options'")
        for options in self.variants():
            estimator = machine.create(**options)
            check_values(machine.create(), {k: [v] for k, v in options.items()})
            check_grid(estimator, self.grid)
        for name in self.grid:
            if name in self.options:
                raise McLsError(f"'{name}' is fixed by the options and listed in the grid; keep one of the two")
        return self

    def variants(self) -> list[dict[str, Any]]:
        """The options of each machine this entry stands for: one a labelbook."""
        if self.labelbook is None:
            return [dict(self.options)]
        return [{"labelbook": book, **self.options} for book in self.labelbook]


class ExperimentConfig(_Strict):
    """One experiment: data sets × machines × replicates by one protocol."""

    name: Annotated[str, Field(max_length=100)]
    description: str = ""
    datasets: Annotated[
        list[Annotated[DatasetEntry, BeforeValidator(_dataset_fields)]],
        BeforeValidator(_listed),
        Field(min_length=1),
    ]
    machines: Annotated[
        list[Annotated[MachineEntry, BeforeValidator(_machine_fields)]],
        BeforeValidator(_listed),
        Field(min_length=1),
    ]
    protocol: Protocol = "published"
    folds: Folds = 10
    inner_folds: Folds | None = None
    train: Train = 0.5
    nested: Annotated[int, Field(ge=0, le=1000)] = 0
    grid: Grid = {}
    scaling: Scaling = "dataset"
    seed: Annotated[int, Field(ge=0, le=2**32 - 1)] = 0
    replicates: Annotated[int, Field(ge=1, le=10_000)] | None = None
    engine: Engine = "fast"
    timing: bool = False

    @field_validator("name")
    @classmethod
    def _safe_name(cls, name: str) -> str:
        # The name becomes a folder below --out: letters and digits first, no separator, no "..".
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name) or ".." in name:
            raise McLsError(
                f"'{name}' cannot name a folder of results; use letters, digits, '-', '_' and single dots"
            )
        return name

    @field_validator("grid")
    @classmethod
    def _readable_grid(cls, grid: Grid) -> Grid:
        for name, values in grid.items():
            grid_values(name, values)
        return grid

    @model_validator(mode="after")
    def _check(self) -> ExperimentConfig:
        for setting in ("folds", "inner_folds", "train"):
            if setting in self.model_fields_set and setting not in self.used_settings:
                raise McLsError(f"'{setting}' has no meaning with protocol '{self.protocol}'; leave it out")
        if self.protocol == "5x2cv" and self.replicates not in (None, 5):
            raise McLsError(f"'replicates' is {self.replicates}, but protocol '5x2cv' has five; leave it out")
        if self.nested and self.protocol != "published":
            raise McLsError("'nested' adds the honest error to protocol 'published' only")
        self._check_grid_names()
        _refuse_twice("datasets", [entry.label for entry in self.datasets])
        _refuse_twice(
            "machines", [format_spec(m.name, o) for m in self.machines if not m.grid for o in m.variants()]
        )
        return self

    def _check_grid_names(self) -> None:
        """Every parameter of the common grid belongs to a machine of the list, and every grid is of a sane size."""
        from mcls.machines.registry import get_machine

        known: dict[str, None] = {}
        for entry in self.machines:
            for options in entry.variants():
                machine = get_machine(entry.name)
                estimator = machine.create(**options)
                known |= dict.fromkeys(n for n in estimator.get_params(deep=False) if n not in machine.params)
                try:
                    effective_grid(machine, estimator, options, self.grid, entry.grid)
                except McLsError as error:
                    raise McLsError(f"'grid' of {machine.name}: {error}") from None
        for name in self.grid:
            if name not in known:
                raise unknown_name("parameter in 'grid':", name, known)

    @property
    def used_settings(self) -> tuple[str, ...]:
        """The settings that have a meaning here."""
        return _SETTINGS["nested"] if self.protocol == "published" and self.nested else _SETTINGS[self.protocol]

    @property
    def n_replicates(self) -> int:
        """The number of replicates: as given, five for 5x2cv, one for a split that is fixed, else ten."""
        if self.replicates is not None:
            return self.replicates
        if self.protocol == "5x2cv":
            return 5
        fixed = (self.protocol == "hold-out" and not isinstance(self.train, float | list)) or (
            self.protocol == "published" and self.folds == "loo"
        )
        return 1 if fixed else 10

    def settings(self, protocol: str) -> dict[str, Any]:
        """The settings that a protocol takes, with its defaults filled in."""
        values = {
            "folds": self.folds,
            "inner_folds": self.inner_folds or _DEFAULT_INNER_FOLDS.get(protocol),
            "train": self.train,
        }
        return {name: values[name] for name in _SETTINGS[protocol]}


def _refuse_twice(field: str, labels: list[str]) -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise McLsError(f"'{field}' lists {label} twice")


def grid_values(name: str, values: Any) -> list[Any]:
    """Parse the values of one grid parameter: finite numbers or words."""
    from mcls.evaluation.grid import parse_values

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
        if isinstance(value, int | float) and not _is_finite(value):
            raise McLsError(f"'{name}': {value} is not a finite number")
    if len(set(parsed)) < len(parsed):
        raise McLsError(f"'{name}' lists a value twice")
    return parsed


def _is_finite(value: float) -> bool:
    """Whether a number fits into a float; a whole number may be too long for ``math.isfinite``."""
    return abs(value) <= sys.float_info.max


def check_grid(estimator: Any, grid: Mapping[str, Any]) -> None:
    """Refuse a grid over parameters the estimator does not have, or over values it would refuse."""
    valid = estimator.get_params(deep=False)
    for name in grid:
        if name not in valid:
            raise unknown_name(f"parameter of {type(estimator).__name__} in its grid:", name, valid)
    check_values(estimator, {name: grid_values(name, values) for name, values in grid.items()})


def check_values(estimator: Any, values: Mapping[str, list[Any]]) -> None:
    """Refuse values of another kind than the parameter's default, and those the estimator's own check refuses.

    A scikit-learn estimator checks for itself when it is fitted.
    """
    if not hasattr(estimator, "_check_parameters"):
        return
    defaults = estimator.get_params(deep=False)
    signature = inspect.signature(type(estimator).__init__).parameters
    for name, candidates in values.items():
        takes_none = "None" in str(signature[name].annotation)
        probe = type(estimator)(**defaults)
        for value in candidates:
            if value is not None or not takes_none:
                _check_kind(name, value, defaults[name])
            setattr(probe, name, value)
            probe._check_parameters()


def _check_kind(name: str, value: Any, default: Any) -> None:
    if isinstance(default, bool):
        if not isinstance(value, bool):
            raise McLsError(f"'{name}' is true or false, got {value!r}")
    elif isinstance(default, int | float):
        if isinstance(value, bool) or not isinstance(value, int | float) or not _is_finite(value):
            raise McLsError(f"'{name}' takes a finite number, got {value!r}")
        if isinstance(default, int) and value != int(value):
            raise McLsError(f"'{name}' takes a whole number, got {value!r}")
        if name == "sigma":
            from mcls.kernels import check_width

            check_width(name, value)
    elif isinstance(default, str) and name != "labelbook" and not isinstance(value, str):
        raise McLsError(f"'{name}' takes a word, got {value!r}")
    if name == "kernel":
        from mcls.kernels import KERNELS

        usable = [kernel for kernel in KERNELS if kernel != "precomputed"]
        if value not in usable:
            raise unknown_name("kernel", str(value), usable)
    if name == "labelbook" and isinstance(value, str):
        from mcls.labelbooks import get_labelbook

        get_labelbook(value)


def effective_grid(
    machine: Any, estimator: Any, options: Mapping[str, Any], common: Mapping[str, Any], own: Mapping[str, Any]
) -> dict[str, list[Any]]:
    """The grid of one machine, parameters in alphabetical order.

    The registry's grid, then the experiment's, then the machine's own entry, the later one deciding. A parameter
    fixed by an option leaves the grid, and so does ``sigma`` where the kernel has no width.
    """
    parameters = estimator.get_params(deep=False)
    merged = {**machine.grid, **{k: v for k, v in common.items() if k in parameters}, **own}
    kernel = parameters.get("kernel")
    grid = {
        name: grid_values(name, values)
        for name, values in sorted(merged.items())
        if name not in options
        and name not in machine.params
        and not (name == "sigma" and isinstance(kernel, str) and kernel != "gaussian" and "kernel" not in merged)
    }
    check_values(estimator, grid)
    if math.prod(len(v) for v in grid.values()) > MOST_POINTS:
        raise McLsError(f"the grid of {machine.name} has more than {MOST_POINTS} points; use shorter ranges")
    return grid
