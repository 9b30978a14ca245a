"""The quick version of a config: the same experiment, small enough to try everything in a few minutes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mcls.evaluation.parameter_grids import effective_grid
from mcls.evaluation.protocols import get_protocol
from mcls.experiments.config import DatasetEntry, ExperimentConfig, MachineEntry
from mcls.experiments.layout import dataset_ref
from mcls.experiments.loading import config_from
from mcls.machines.registry import get_machine

REPLICATES, FOLDS, VALUES, ROWS = 2, 3, 3, 250


def quick(config: ExperimentConfig, folder: Path) -> ExperimentConfig:
    """At most two replicates, three folds, three values a parameter; a fifth of a data set above 250 rows."""
    values: dict[str, Any] = config.model_dump(exclude_unset=True)
    # A number of training rows, or of each class, is meant for the whole table.
    whole_tables = not isinstance(config.settings(config.protocol).get("train", 0.5), float)
    values["datasets"] = [
        entry.model_dump(exclude_unset=True) if whole_tables else _fewer_rows(entry, folder)
        for entry in config.datasets
    ]
    values["machines"] = [_thinned(entry, config) for entry in config.machines]
    values.pop("grid", None)
    if not get_protocol(config.protocol).fixed:
        values["replicates"] = min(config.n_replicates, REPLICATES)
    for setting in ("folds", "inner_folds"):
        if setting in config.used_settings:
            values[setting] = FOLDS
    return config_from(values, f"{config.name} (quick)")


def _fewer_rows(entry: DatasetEntry, folder: Path) -> dict[str, Any]:
    fields: dict[str, Any] = entry.model_dump(exclude_unset=True)
    n = dataset_ref(entry, folder).load().n
    if n > ROWS and entry.name is not None:
        how = "first" if "first" in entry.options else "sample"
        fields["options"] = {**entry.options, how: max(ROWS, n // 5)}
    return fields


def _thinned(entry: MachineEntry, config: ExperimentConfig) -> dict[str, Any]:
    machine, options = get_machine(entry.name), entry.variants()[0]
    grid = effective_grid(machine, machine.create(**options), options, config.grid, entry.grid)
    return {**entry.model_dump(exclude_unset=True), "grid": {name: thin(v) for name, v in grid.items()}}


def thin(values: list[Any]) -> list[Any]:
    """Three values out of many, apart from the ends.

    >>> thin([1, 2, 3, 4, 5, 6, 7, 8, 9])
    [2, 5, 8]
    """
    if len(values) <= VALUES:
        return values
    last = len(values) - 1
    return [values[round(last * (2 * i + 1) / (2 * VALUES))] for i in range(VALUES)]
