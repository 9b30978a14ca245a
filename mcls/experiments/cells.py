"""Cells: data set × machine × replicate, each with a key made of everything that decides its result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from mcls.data import Dataset, load_dataset
from mcls.data.encoder import load_encoded
from mcls.errors import McLsError
from mcls.evaluation.protocols import Task, check_splits, get_protocol, split_notes
from mcls.experiments.config import DatasetEntry, ExperimentConfig, effective_grid
from mcls.experiments.specs import format_options, format_spec
from mcls.machines.labels import LabelMachine
from mcls.machines.registry import get_machine
from mcls.seeds import derive

#: Part of every key: raise it when a change in the code changes results (a protocol, an algorithm).
FORMAT = 1

#: Theorem 5 and Corollary 6: for these machines all of these labelbooks give the same classes.
_ANY_LABELBOOK = ("oneLSM", "ovA")
_EQUIVALENT = ("indicators", "pm1", "alignment", "consistency", "mincorr")
#: These machines see a labelbook through its Gram matrix alone, and min-correlation has alignment's (Prop. 3).
_GRAM_ONLY = ("voRLS-beta", "voRLS-f", "voLSSVM", "voSVM", "szedmak")


@dataclass(frozen=True)
class DatasetRef:
    """How a worker loads a data set for itself; small to send, however large the table."""

    label: str
    name: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    path: str | None = None
    target: str = "-1"
    header: bool | None = None

    def load(self) -> Dataset:
        """Load the table, once a process."""
        return _load(self)


@lru_cache(maxsize=16)
def _load(ref: DatasetRef) -> Dataset:
    if ref.path is not None:
        return load_encoded(ref.path, ref.target, ref.header)
    return load_dataset(str(ref.name), **dict(ref.options))


def identity_key(identity: Mapping[str, Any]) -> str:
    """The key of a cell from everything that decides its result."""
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode("utf-8")).hexdigest()[:24]


@dataclass(frozen=True)
class Cell:
    """One unit of work; ``key`` names its result."""

    dataset: DatasetRef
    fingerprint: str
    machine: str
    options: Mapping[str, Any]
    grid: Mapping[str, list[Any]]
    protocol: str
    settings: Mapping[str, Any]
    scaling: str
    seed: int  # of the splits; derived from the experiment's seed, the data set's name and the replicate
    replicate: int
    engine: str = "fast"
    timing: bool = False
    defaults: Mapping[str, Any] = field(default_factory=dict, compare=False)  # all parameters that JSON can hold
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", identity_key(self.identity()))

    def identity(self) -> dict[str, Any]:
        """Everything that decides the result, as JSON values. The engine decides only a measured time."""
        identity = {
            "format": FORMAT,
            "data": self.fingerprint,
            "machine": self.machine,
            "options": _canonical_numbers(self.options),
            "grid": _canonical_numbers(self.grid),
            "protocol": {"name": self.protocol, **_canonical_numbers(self.settings)},
            "scaling": self.scaling,
            "seed": self.seed,
        }
        return {**identity, "engine": self.engine} if self.timing else identity

    @property
    def title(self) -> str:
        """One line for people."""
        return f"{self.dataset.label} {format_spec(self.machine, self.options)} {self.protocol} {self.replicate}"

    def estimator(self) -> Any:
        """Make the machine; one that draws random numbers gets a seed of its own."""
        return get_machine(self.machine).create(**self.options, **self._own_seed())

    def _own_seed(self) -> dict[str, int]:
        if "random_state" not in self.defaults or "random_state" in self.options:
            return {}
        return {"random_state": derive(self.seed, self.machine) % 2**31}

    def parameters(self) -> dict[str, Any]:
        """Every parameter of the machine that is not tuned, defaults included, as far as JSON can hold it."""
        return {n: v for n, v in {**self.defaults, **self._own_seed()}.items() if n not in self.grid}

    def compute(self) -> dict[str, Any]:
        """Run the protocol; the data must still be what the key was made from."""
        data = self.dataset.load()
        if data.fingerprint != self.fingerprint:
            raise McLsError(f"{self.dataset.label} has changed since the run was planned; start the run again")
        task = Task(
            estimator=self.estimator(),
            X=data.X,
            y=data.y,
            grid=self.grid,
            scaling=self.scaling,
            engine=self.engine,
            smoother=get_machine(self.machine).smoother,
            declared_split=data.extra.get("split"),
        )
        return get_protocol(self.protocol)(task, self.seed, **self.settings)


@dataclass(frozen=True)
class Row:
    """One line of a summary: a machine on a data set, with the cell of each replicate."""

    dataset: str
    machine: str
    labelbook: str
    options: str  # what else was given, as "solver=active-set"
    protocol: str
    cells: tuple[Cell, ...]
    nested: tuple[Cell, ...] = ()

    @property
    def all_cells(self) -> tuple[Cell, ...]:
        """The cells of the protocol and of the nested estimate."""
        return self.cells + self.nested


@dataclass(frozen=True)
class Plan:
    """The rows of an experiment, and the different cells behind them in the order they are run.

    ``notes`` tell what is odd about the data without being a mistake.
    """

    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @cached_property
    def cells(self) -> list[Cell]:
        """Every different cell once, one replicate after the other so that a stopped run has whole replicates."""
        unique = {cell.key: cell for row in self.rows for cell in row.all_cells}
        order = {cell.key: i for i, cell in enumerate(unique.values())}
        return sorted(unique.values(), key=lambda c: (c.replicate, order[c.key]))

    @property
    def n_shared(self) -> int:
        """How many cells were saved because rows share provably identical work."""
        return sum(len(row.all_cells) for row in self.rows) - len(self.cells)


def plan(config: ExperimentConfig, folder: Path = Path()) -> Plan:
    """Lay an experiment out as rows and cells; loads the data sets, paths being relative to ``folder``."""
    rows: list[Row] = []
    notes: list[str] = []
    for i, entry in enumerate(config.datasets):
        ref = dataset_ref(entry, folder)
        try:
            data = ref.load()
        except McLsError as error:
            raise McLsError(f"{config.name}: datasets[{i}]: {error}") from None
        if config.train == "declared" and config.protocol == "hold-out" and "split" not in data.extra:
            raise McLsError(f"{config.name}: 'train: declared', but {ref.label} declares no training rows")
        for j, machine in enumerate(config.machines):
            for options in machine.variants():
                try:
                    rows.append(_row(config, ref, data, machine.name, options, machine.grid))
                except McLsError as error:
                    spec = format_spec(machine.name, options)
                    raise McLsError(f"{config.name}: machines[{j}]: {spec} on {ref.label}: {error}") from None
        settings = config.settings(config.protocol)
        chooses = any(len(values) > 1 for row in rows for values in row.cells[0].grid.values())
        try:
            check_splits(data.y, config.protocol, settings, data.extra.get("split"), chooses)
        except McLsError as error:
            raise McLsError(f"{config.name}: {ref.label}: {error}") from None
        notes += [f"{ref.label}: {note}" for note in split_notes(data.y, data.classes, config.protocol, settings)]
    return Plan(tuple(rows), tuple(notes))


def dataset_ref(entry: DatasetEntry, folder: Path) -> DatasetRef:
    """Turn a config's entry into what a worker needs."""
    if entry.path is not None:
        path = str((folder / entry.path).absolute())
        # As text, a number is an index unless a column is called that: what mcls fit makes of it.
        return DatasetRef(entry.label, path=path, target=str(entry.target), header=entry.header)
    return DatasetRef(entry.label, name=str(entry.name).lower(), options=tuple(sorted(entry.options.items())))


def _row(
    config: ExperimentConfig,
    ref: DatasetRef,
    data: Dataset,
    name: str,
    options: Mapping[str, Any],
    own_grid: Mapping[str, Any],
) -> Row:
    machine = get_machine(name)
    estimator = machine.create(**options)
    if isinstance(estimator, LabelMachine):
        estimator.check_labels(data.y, data.n_classes)
    grid = effective_grid(machine, estimator, options, config.grid, own_grid)
    parameters = estimator.get_params(deep=False)
    essential = essential_options(machine.name, options, parameters, share=not config.timing)
    defaults = {
        name: value
        for name, value in machine.create(**essential).get_params(deep=False).items()
        if isinstance(value, str | int | float | bool | None)
    }

    def cells(protocol: str, replicates: int) -> tuple[Cell, ...]:
        # published and nested share their folds: the difference is the selection alone.
        splits = "folds" if protocol in ("published", "nested") else protocol
        return tuple(
            Cell(
                dataset=ref,
                fingerprint=data.fingerprint,
                machine=machine.name,
                options=essential,
                grid=grid,
                protocol=protocol,
                settings=config.settings(protocol),
                scaling=config.scaling,
                seed=derive(config.seed, data.name, splits, replicate),
                replicate=replicate,
                engine=config.engine,
                timing=config.timing,
                defaults=defaults,
            )
            for replicate in range(replicates)
        )

    book = parameters.get("labelbook", "")
    return Row(
        dataset=ref.label,
        machine=machine.name,
        labelbook=book if isinstance(book, str) else "custom",
        options=format_options({k: v for k, v in options.items() if k != "labelbook"}),
        protocol=config.protocol,
        cells=cells(config.protocol, config.n_replicates),
        nested=cells("nested", config.nested),
    )


def essential_options(
    name: str, options: Mapping[str, Any], parameters: Mapping[str, Any], share: bool = True
) -> dict[str, Any]:
    """The options that decide a result: not those equal to the default, and one labelbook of equivalent ones.

    Leaving defaults out keeps keys valid when a machine gains a parameter; when a default changes, the store
    sees it in the parameters it recorded.
    ``share=False`` (for timing) keeps provably identical machines apart.
    """
    kept = {k: v.lower() if k == "labelbook" and isinstance(v, str) else v for k, v in sorted(options.items())}
    if share and parameters.get("decision", "max") == "max":
        book = str(parameters.get("labelbook")).lower()
        if name in _ANY_LABELBOOK and book in _EQUIVALENT and parameters.get("label_kernel") == "linear":
            kept["labelbook"] = "indicators"
        elif name in _GRAM_ONLY and book == "mincorr":
            kept["labelbook"] = "alignment"
    defaults = get_machine(name).defaults
    return {k: v for k, v in kept.items() if k not in defaults or defaults[k] != v}


def _canonical_numbers(value: Any) -> Any:
    """Write 4.0 as 4: the same number must give the same key however it was typed."""
    if isinstance(value, Mapping):
        return {key: _canonical_numbers(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical_numbers(v) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
