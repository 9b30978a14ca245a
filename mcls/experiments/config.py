"""The schema of an experiment's YAML file."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    create_model,
    field_validator,
    model_validator,
)

from mcls.errors import McLsError, unknown_name
from mcls.specs import format_options, format_spec, parse_spec, split_grid, split_list

if TYPE_CHECKING:
    from mcls.data.formats import ColumnRules, TableFormat

TABLE_SUFFIXES = (".csv", ".tsv", ".txt", ".data", ".gz", ".parquet", ".feather", ".arrow")

Engine = Literal["fast", "refit"]
Scaling = Literal["dataset", "fold", "standard", "none"]
Name = Annotated[str, Field(min_length=1, max_length=200)]


def _jsonable(value: Any) -> Any:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError):
        raise McLsError(f"{value!r} is neither a word, a finite number, true, false nor a list of those") from None
    return value


Options = dict[Name, Annotated[Any, AfterValidator(_jsonable)]]
Grid = dict[Name, Any]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def _listed(value: Any) -> Any:
    """One value stands for a list of one."""
    return [value] if isinstance(value, str | Mapping) else value


def _column(value: Any) -> Any:
    """A column may be called 3: what reads a config, or a command line, takes that for a number."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


ColumnName = Annotated[Name, BeforeValidator(_column)]
#: A column without a name is ''.
_AnyColumn = Annotated[str, Field(max_length=200), BeforeValidator(_column)]
Columns = Annotated[list[_AnyColumn], BeforeValidator(lambda value: _listed(_column(value))), Field(min_length=1)]


def _dataset_fields(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name, options = parse_spec(value)
    if looks_like_table(name):
        lists = {field: split_list(options[field]) for field in _LISTS if field in options}
        return {"path": name, **options, **lists}
    return {"name": name, "options": options} if options else {"name": name}


def _machine_fields(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    name, given = parse_spec(value)
    options, grid = split_grid(given)
    fields = {"options": options, "grid": grid}
    return {"name": name, **{field: values for field, values in fields.items() if values}}


def looks_like_table(text: str) -> bool:
    """Whether a data set is given as a path to a file rather than by name."""
    return "/" in text or text.lower().endswith(TABLE_SUFFIXES)


#: What a data set by its path may set, and one by name may not.
OF_TABLES = (
    *("target", "header", "delimiter", "decimal", "encoding"),
    *("drop", "keep", "categorical", "ordinal", "missing", "split_equal_rows", "group", "weight"),
)


#: Those that are lists of columns; on a command line plus signs stand between them.
_LISTS = ("drop", "keep", "categorical", "ordinal")


class DatasetEntry(_Strict):
    """A data set by the name of its card, or a table of the user's own by its path and, if wanted, a name for it."""

    name: Name | None = None
    options: Options = {}
    path: Name | None = None
    target: int | Name = -1
    header: bool | None = None
    drop: Columns | None = None
    keep: Columns | None = None
    delimiter: Name | None = None
    decimal: Name | None = None
    encoding: Name | None = None
    categorical: Columns | None = None
    ordinal: Columns | None = None
    missing: Literal["refuse", "impute"] = "refuse"
    split_equal_rows: bool | None = None
    group: ColumnName | None = None
    weight: ColumnName | None = None

    @model_validator(mode="after")
    def _check(self) -> DatasetEntry:
        if self.name is None and self.path is None:
            raise McLsError("give 'name' for a data set of mcls, or 'path' for a table of your own")
        if self.path is not None and self.options:
            raise McLsError(f"'options' belong to a data set by name; a table takes {', '.join(OF_TABLES)}")
        if self.path is None:
            assert self.name is not None
            for field in OF_TABLES:
                if field in self.model_fields_set:
                    raise McLsError(f"'{field}' belongs to a table by 'path'")
            from mcls.data import load_card, resolve_options

            for key, value in self.options.items():
                if not isinstance(value, str | int | float):
                    raise McLsError(f"option '{key}' takes one word or number, got {value!r}")
            resolve_options(load_card(self.name), self.options)
        assert self.form is not None  # both carriers refuse what they do not know
        assert self.rules is not None
        return self

    @property
    def form(self) -> TableFormat:
        """How the table is written."""
        from mcls.data.formats import TableFormat

        return TableFormat(self.delimiter, self.decimal, self.encoding, self.header)

    @property
    def rules(self) -> ColumnRules:
        """What its columns are for."""
        from mcls.data.formats import ColumnRules

        lists = (self.drop or (), self.keep or (), self.categorical or (), self.ordinal or ())
        return ColumnRules(*lists, missing=self.missing)

    @property
    def label(self) -> str:
        """What tables call it: the name, with the options that were given, or that of the file."""
        if self.path is not None:
            return self.name or Path(self.path).name.removesuffix(".gz").rsplit(".", 1)[0]
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
        from mcls.evaluation.parameter_grids import check_grid, check_values
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
        """The options of each machine this entry stands for: one per labelbook."""
        if self.labelbook is None:
            return [dict(self.options)]
        return [{"labelbook": book, **self.options} for book in self.labelbook]


def _metric_fields(value: Any) -> Any:
    """A name alone, ``{cost: FILE}``, or the fields themselves."""
    if isinstance(value, str):
        return {"name": value}
    if isinstance(value, Mapping) and len(value) == 1 and "name" not in value:
        ((name, costs),) = value.items()
        return {"name": name, "costs": costs}
    return value


class MetricEntry(_Strict):
    """A metric by its name; ``cost`` with the file of its matrix."""

    name: Name
    costs: Name | None = None

    @field_validator("name")
    @classmethod
    def _known(cls, name: str) -> str:
        from mcls.evaluation.metrics import get_metric

        return get_metric(name).name

    @model_validator(mode="after")
    def _check(self) -> MetricEntry:
        if self.name == "cost" and self.costs is None:
            raise McLsError("the metric 'cost' needs the file of its matrix: 'cost: costs.csv'")
        if self.name != "cost" and self.costs is not None:
            raise McLsError(f"the metric '{self.name}' takes no file; only 'cost' has a matrix")
        return self


def _known_protocol(name: str) -> str:
    from mcls.evaluation.protocols import get_protocol

    return get_protocol(name).name


class ExperimentConfig(_Strict):
    """One experiment: data sets × machines × replicates by one protocol; ``schema`` adds the protocols' settings."""

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
    metric: (
        Annotated[
            list[Annotated[MetricEntry, BeforeValidator(_metric_fields)]],
            BeforeValidator(_listed),
            Field(min_length=1),
        ]
        | None
    ) = None
    protocol: Annotated[str, AfterValidator(_known_protocol)] = "published"
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
                f"'{name}' cannot name a folder of results; use letters, digits, '-', '_' and single dots (the file's "
                "name stands for a 'name' that is not given)"
            )
        return name

    @field_validator("grid")
    @classmethod
    def _readable_grid(cls, grid: Grid) -> Grid:
        from mcls.evaluation.parameter_grids import grid_values

        for name, values in grid.items():
            grid_values(name, values)
        return grid

    @model_validator(mode="after")
    def _check(self) -> ExperimentConfig:
        from mcls.evaluation.protocols import PROTOCOLS, SETTINGS, get_protocol
        from mcls.machines.registry import get_machine

        for setting in SETTINGS:
            if setting in self.model_fields_set and setting not in self.used_settings:
                raise McLsError(f"'{setting}' has no meaning with protocol '{self.protocol}'; leave it out")
        protocol = get_protocol(self.protocol)
        count = protocol.replicates(self.settings(self.protocol))
        if protocol.fixed and self.replicates not in (None, count):
            raise McLsError(
                f"'replicates' is {self.replicates}, but protocol '{self.protocol}' has {count}; leave it out"
            )
        if self.nested and not protocol.honest:
            lacking = " or ".join(f"'{name}'" for name, each in PROTOCOLS.items() if each.honest)
            raise McLsError(f"'nested' adds the honest error to protocol {lacking} only")
        self._check_grid_names()
        _refuse_twice("metric", [entry.name for entry in self.metric or ()])
        paths = [entry.label for entry in self.datasets if entry.path is not None]
        _refuse_twice(
            "datasets",
            [entry.label for entry in self.datasets],
            "; give each table a name of its own: {path: F.csv, name: x} (compare F.csv:name=x)" * bool(paths),
        )
        _refuse_twice(
            "machines",
            [format_spec(get_machine(m.name).name, {**o, **m.grid}) for m in self.machines for o in m.variants()],
        )
        return self

    def _check_grid_names(self) -> None:
        """Every parameter of the common grid belongs to a machine of the list, and every grid is of a sane size."""
        from mcls.evaluation.parameter_grids import effective_grid
        from mcls.machines.foreign import parameters_of
        from mcls.machines.registry import get_machine

        known: dict[str, None] = {}
        for entry in self.machines:
            for options in entry.variants():
                machine = get_machine(entry.name)
                estimator = machine.create(**options)
                known |= dict.fromkeys(n for n in parameters_of(estimator) if n not in machine.params)
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
        return tuple(dict.fromkeys(name for protocol in self.protocols for name in self.settings(protocol)))

    @property
    def protocols(self) -> tuple[str, ...]:
        """The protocol, and where it is asked for the one whose honest error stands beside it."""
        from mcls.evaluation.protocols import get_protocol

        return (self.protocol, get_protocol(self.protocol).honest) if self.nested else (self.protocol,)

    @property
    def metric_names(self) -> tuple[str, ...]:
        """What is judged; the first one chooses."""
        return tuple(entry.name for entry in self.metric or ()) or ("error",)

    @property
    def costs(self) -> str | None:
        """The file of the cost matrix, where the metric ``cost`` is asked for."""
        return next((entry.costs for entry in self.metric or () if entry.costs), None)

    @property
    def n_replicates(self) -> int:
        """The number of replicates: as given, or what the protocol has by default."""
        from mcls.evaluation.protocols import get_protocol

        if self.replicates is not None:
            return self.replicates
        return get_protocol(self.protocol).replicates(self.settings(self.protocol))

    def settings(self, protocol: str) -> dict[str, Any]:
        """The settings that a protocol takes, with its defaults filled in."""
        from mcls.evaluation.protocols import get_protocol

        given = {name: getattr(self, name, None) for name in get_protocol(protocol).settings}
        return {**get_protocol(protocol).settings, **{n: v for n, v in given.items() if v is not None}}


def schema() -> type[ExperimentConfig]:
    """The schema of a config with a field for every setting of a registered protocol."""
    from mcls.evaluation.protocols import SETTINGS

    return _schema(tuple(SETTINGS.items()))


@cache
def _schema(settings: tuple[tuple[str, Callable[[Any], Any]], ...]) -> type[ExperimentConfig]:
    fields: dict[str, Any] = {name: (Annotated[Any, BeforeValidator(read)], None) for name, read in settings}
    return create_model("ExperimentConfig", __base__=ExperimentConfig, **fields)


def _refuse_twice(field: str, labels: list[str], advice: str = "") -> None:
    for label in labels:
        if labels.count(label) > 1:
            raise McLsError(f"'{field}' lists {label} twice{advice}")
