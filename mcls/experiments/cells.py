"""Cells: data set × machine × replicate, each with a key made of everything that decides its result."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from mcls.data import Dataset, load_dataset
from mcls.data.encoding import load_encoded
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.roles import GROUP, WEIGHT
from mcls.errors import McLsError
from mcls.evaluation.folds import Array, equal_rows
from mcls.evaluation.metrics import ERROR, read_metrics
from mcls.evaluation.protocols import get_protocol
from mcls.evaluation.task import Task
from mcls.machines.registry import get_machine
from mcls.plugins import Origin, origin_of
from mcls.seeds import derive
from mcls.specs import format_spec

#: Part of every key: raise it when a change in the code changes results (a protocol, an algorithm).
FORMAT = 1


@dataclass(frozen=True)
class DatasetRef:
    """How a worker loads a data set for itself; small to send, however large the table."""

    label: str
    name: str | None = None
    options: tuple[tuple[str, Any], ...] = ()
    path: str | None = None
    target: str = "-1"
    form: TableFormat | None = None
    rules: ColumnRules | None = None
    split_equal_rows: bool = False
    group: str | None = None
    weight: str | None = None

    def load(self) -> Dataset:
        """Load the table, once per process."""
        return _load(self)


@lru_cache(maxsize=16)
def _load(ref: DatasetRef) -> Dataset:
    if ref.path is not None:
        return load_encoded(ref.path, ref.target, ref.form, ref.rules, ref.group, ref.weight)
    return load_dataset(str(ref.name), **dict(ref.options))


def groups_of_rows(ref: DatasetRef) -> Array | None:
    """Rows that are never split: those of a group column, or else equal rows."""
    return ref.load().extra[GROUP] if ref.group is not None else equal_rows_of(ref)


@lru_cache(maxsize=4)
def equal_rows_of(ref: DatasetRef) -> Array | None:
    """Equal rows of a user's table, which stay together; a data set by name keeps the folds of its papers."""
    return equal_rows(ref.load().X) if ref.path is not None and not ref.split_equal_rows else None


def identity_key(identity: Mapping[str, Any]) -> str:
    """The key of a cell from everything that decides its result."""
    return hashlib.sha256(_identity_text(identity).encode("utf-8")).hexdigest()[:24]


def _identity_text(identity: Mapping[str, Any]) -> str:
    return json.dumps(identity, sort_keys=True, separators=(",", ":"), allow_nan=False)


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
    grouped: bool = False  # equal rows stay together
    metrics: tuple[str, ...] = (ERROR.name,)  # the first one chooses
    costs: tuple[tuple[float, ...], ...] | None = None  # of the metric "cost", rows true
    defaults: Mapping[str, Any] = field(default_factory=dict, compare=False)  # all parameters that JSON can hold
    plugins: Mapping[str, str] = field(default_factory=dict)  # what of this comes from plug-ins, see plugins_of
    plugin_files: tuple[Origin, ...] = field(default=(), compare=False, repr=False)  # for other processes
    key: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", identity_key(self.identity()))

    def identity(self) -> dict[str, Any]:
        """Everything that decides the result, as JSON values. The engine decides only a measured time.

        Metrics that do not choose are not part of it: a record that lacks one is computed again (``answered_by``).
        Columns of groups and weights are part of the data's fingerprint.
        """
        identity = {
            "format": FORMAT,
            "data": self.fingerprint,
            "machine": self.machine,
            "options": _canonical_numbers(self.options),
            "grid": _canonical_numbers(self.grid),
            "protocol": {"name": self.protocol, **_canonical_numbers(self._deciding_settings())},
            "scaling": self.scaling,
            "seed": self.seed,
        }
        if self.grouped:
            identity["groups"] = "equal rows"
        if self.plugins:
            identity["plugins"] = dict(self.plugins)
        if self.metrics[0] != ERROR.name:
            identity["metric"] = self.metrics[0]
        if self.costs is not None:
            identity["costs"] = _canonical_numbers(self.costs)
        return {**identity, "engine": self.engine} if self.timing else identity

    def _deciding_settings(self) -> dict[str, Any]:
        """The settings without a single repetition, which is what there was before it could be set."""
        return {name: value for name, value in self.settings.items() if (name, value) != ("repeats", 1)}

    def replicates(self, seeds: Sequence[int]) -> tuple[Cell, ...]:
        """The cells that differ from this one in their seeds and are numbered from 0.

        A row has many, and what they share of their identity is written and hashed once: the seed is its last field.
        """
        text, end = _identity_text(self.identity()), f'"seed":{self.seed}}}'
        assert text.endswith(end)
        _ = self._untuned  # made once for all
        shared = hashlib.sha256(text.removesuffix(end).encode("utf-8"))
        made = []
        for replicate, seed in enumerate(seeds):
            digest = shared.copy()
            digest.update(f'"seed":{seed:d}}}'.encode("ascii"))
            cell = object.__new__(Cell)
            key = digest.hexdigest()[:24]
            cell.__dict__.update(self.__dict__, seed=seed, replicate=replicate, key=key)
            made.append(cell)
        return tuple(made)

    @property
    def title(self) -> str:
        """One line for people."""
        return f"{self.dataset.label} {format_spec(self.machine, self.options)} {self.protocol} {self.replicate}"

    def estimator(self) -> Any:
        """Make the machine; one that draws random numbers gets a seed of its own."""
        return get_machine(self.machine).create(**self.options, **self._own_seed())

    @cached_property
    def _untuned(self) -> tuple[list[str], dict[str, Any]]:
        """The parameters that get a seed of the cell's own, and the defaults of all that are not tuned."""
        whole = ["random_state"] if "random_state" in self.defaults else []
        steps = [n for n, value in self.defaults.items() if value is None and n.endswith("__random_state")]
        seeded = [name for name in (*whole, *steps) if name not in self.options]
        return seeded, {n: v for n, v in self.defaults.items() if n not in self.grid}

    def _own_seed(self) -> dict[str, int]:
        """Seeds for the machine, or for the steps of a Pipeline that have none."""
        seeded, _ = self._untuned
        return dict.fromkeys(seeded, derive(self.seed, self.machine) % 2**31) if seeded else {}

    def parameters(self) -> dict[str, Any]:
        """Every parameter of the machine that is not tuned, defaults included, as far as JSON can hold it."""
        seeds = {name: seed for name, seed in self._own_seed().items() if name not in self.grid}
        return {**self._untuned[1], **seeds}

    def answered_by(self, result: Mapping[str, Any]) -> bool:
        """Whether a stored result has every metric that is asked for."""
        return {ERROR.name, *result.get("metrics", {})}.issuperset(self.metrics)

    def compute(self) -> dict[str, Any]:
        """Run the protocol; the data must still be what the key was made from."""
        if plugins_of(self.machine, self.parameters(), self.protocol, self.metrics) != dict(self.plugins):
            raise McLsError("a plug-in is not the same in this process: install the same version everywhere")
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
            near=get_machine(self.machine).near,
            declared_split=data.extra.get("split"),
            groups=groups_of_rows(self.dataset),
            weights=data.extra.get(WEIGHT) if self.dataset.weight is not None else None,
            metrics=read_metrics(self.metrics, None if self.costs is None else np.array(self.costs)),
        )
        return get_protocol(self.protocol)(task, self.seed, **self.settings)


def plugins_of(
    machine: str, parameters: Mapping[str, Any], protocol: str, metrics: Sequence[str]
) -> dict[str, str]:
    """What of a cell comes from plug-ins → its version or the hash of its source, and the libraries behind it."""
    used = [("machine", machine), ("protocol", protocol), *(("metric", metric) for metric in metrics)]
    used += [("labelbook", parameters["labelbook"])] if isinstance(parameters.get("labelbook"), str) else []
    found = {f"{kind} {name}": origin.identity for kind, name in used if (origin := origin_of(kind, name))}
    return {**found, **get_machine(machine).versions}


def _canonical_numbers(value: Any) -> Any:
    """Write 4.0 as 4: the same number must give the same key however it was typed."""
    if type(value) is str or type(value) is int:
        return value
    if isinstance(value, Mapping):
        return {key: _canonical_numbers(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_canonical_numbers(v) for v in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value
