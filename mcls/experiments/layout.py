"""Laying an experiment out: from a config to the plan of its rows and cells. Only here are its data sets loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from mcls.data import Dataset
from mcls.data.roles import GROUP, WEIGHT
from mcls.errors import McLsError
from mcls.evaluation.costs import read_costs
from mcls.evaluation.folds import count_equal_rows, require_groups
from mcls.evaluation.parameter_grids import effective_grid
from mcls.evaluation.protocols import Rows, check_splits, get_protocol, split_notes
from mcls.evaluation.task import named_weights
from mcls.experiments.cells import Cell, DatasetRef, equal_rows_of, groups_of_rows, plugins_of
from mcls.experiments.config import DatasetEntry, ExperimentConfig
from mcls.experiments.plan import Plan, PlannedData, PlanRow
from mcls.machines.foreign import as_machine, parameters_of
from mcls.machines.labels import LabelMachine
from mcls.machines.registry import get_machine
from mcls.plugins import loaded_files
from mcls.seeds import derive
from mcls.specs import format_options, format_spec


def plan(config: ExperimentConfig, folder: Path = Path()) -> Plan:
    """Lay an experiment out as rows and cells; loads the data sets, paths being relative to ``folder``."""
    rows: list[PlanRow] = []
    notes: list[str] = []
    datasets: dict[str, PlannedData] = {}
    for i, entry in enumerate(config.datasets):
        ref = dataset_ref(entry, folder)
        try:
            data = ref.load()
            costs = read_costs(folder / config.costs, data.classes) if config.costs is not None else None
            named_weights(data.extra.get(WEIGHT), data.n, f"{ref.path}: column '{ref.weight}'")
            for protocol in config.protocols:
                require_groups(config.settings(protocol).get("folds"), data.extra.get(GROUP))
        except McLsError as error:
            raise McLsError(f"{config.name}: datasets[{i}]: {error}") from None
        groups = groups_of_rows(ref)
        datasets[ref.label] = PlannedData.of(data)
        notes += [f"{ref.label}: {note}" for note in data.notes]
        made: list[tuple[PlanRow, Mapping[str, Any]]] = []
        for j, machine in enumerate(config.machines):
            for options in machine.variants():
                try:
                    row = _row(config, ref, data, machine.name, options, machine.grid, costs)
                except McLsError as error:
                    spec = format_spec(machine.name, options)
                    raise McLsError(f"{config.name}: machines[{j}]: {spec} on {ref.label}: {error}") from None
                made.append((row, machine.grid))
        rows += _told_apart(made)
        settings = config.settings(config.protocol)
        split_rows = Rows(data.y, groups, data.extra.get("split"))
        chooses = any(len(values) > 1 for row in rows for values in row.cells[0].grid.values())
        try:
            check_splits(split_rows, config.protocol, settings, chooses)
        except McLsError as error:
            raise McLsError(f"{config.name}: {ref.label}: {error}") from None
        if groups is not None and ref.group is None:
            notes.append(
                f"{ref.label}: {count_equal_rows(data.y, groups)}; equal rows are kept in one fold "
                "(split_equal_rows: true beside the table's path lets them be split)"
            )
        odd = split_notes(split_rows, data.classes, config.protocol, settings)
        notes += [f"{ref.label}: {note}" for note in odd]
    return Plan(tuple(rows), tuple(notes), datasets)


def _told_apart(made: Sequence[tuple[PlanRow, Mapping[str, Any]]]) -> list[PlanRow]:
    """The rows of a data set: those that differ in their grids alone have theirs among the options that are shown."""
    rows = []
    for row, grid in made:
        names = (row.machine, row.labelbook, row.options)
        twins = (other for other, _ in made if (other.machine, other.labelbook, other.options) == names)
        if grid and any(twin.cells[0].grid != row.cells[0].grid for twin in twins):
            row = replace(row, options=",".join(filter(None, (row.options, format_options(grid)))))
        rows.append(row)
    return rows


def dataset_ref(entry: DatasetEntry, folder: Path) -> DatasetRef:
    """Turn a config's entry into what a worker needs."""
    if entry.path is not None:
        path = str((folder / entry.path).absolute())
        # As text, a number is an index unless a column is called that: what mcls fit makes of it.
        return DatasetRef(
            entry.label,
            path=path,
            target=str(entry.target),
            form=entry.form,
            rules=entry.rules,
            split_equal_rows=bool(entry.split_equal_rows),
            group=entry.group,
            weight=entry.weight,
        )
    return DatasetRef(entry.label, name=str(entry.name).lower(), options=tuple(sorted(entry.options.items())))


def _row(
    config: ExperimentConfig,
    ref: DatasetRef,
    data: Dataset,
    name: str,
    options: Mapping[str, Any],
    own_grid: Mapping[str, Any],
    costs: Any = None,
) -> PlanRow:
    machine = get_machine(name)
    estimator = machine.create(**options)
    if WEIGHT in data.extra:
        as_machine(estimator).training_weights(data.y, range(data.n_classes), data.extra[WEIGHT])  # or refuses
    if isinstance(estimator, LabelMachine):
        estimator.check_labels(data.y, data.n_classes)
    grid = effective_grid(machine, estimator, options, config.grid, own_grid)
    parameters = parameters_of(estimator)
    essential = essential_options(machine.name, options, estimator, share=not config.timing)
    defaults = {
        name: value
        for name, value in parameters_of(machine.create(**essential)).items()
        if isinstance(value, str | int | float | bool | None)
    }

    def cells(protocol: str, replicates: int) -> tuple[Cell, ...]:
        splits = get_protocol(protocol).seed_group or protocol
        settings = config.settings(protocol)
        plugins = plugins_of(machine.name, {**defaults, **essential}, protocol, config.metric_names)
        files, metrics = loaded_files(), config.metric_names
        cost_rows = None if costs is None else tuple(map(tuple, costs.tolist()))
        grouped = ref.group is None and equal_rows_of(ref) is not None
        first = Cell(
            dataset=ref,
            fingerprint=data.fingerprint,
            machine=machine.name,
            options=essential,
            grid=grid,
            protocol=protocol,
            settings=settings,
            scaling=config.scaling,
            seed=0,
            replicate=0,
            engine=config.engine,
            timing=config.timing,
            grouped=grouped,
            metrics=metrics,
            costs=cost_rows,
            defaults=defaults,
            plugins=plugins,
            plugin_files=files,
        )
        return first.replicates([derive(config.seed, data.name, splits, i) for i in range(replicates)])

    book = parameters.get("labelbook", "")
    return PlanRow(
        dataset=ref.label,
        machine=machine.name,
        labelbook=book if isinstance(book, str) else "custom",
        options=format_options({k: v for k, v in options.items() if k != "labelbook"}),
        protocol=config.protocol,
        cells=cells(config.protocol, config.n_replicates),
        nested=cells(config.protocols[-1], config.nested),
    )


def essential_options(name: str, options: Mapping[str, Any], estimator: Any, share: bool = True) -> dict[str, Any]:
    """The options that decide a result: not those equal to the default, and one labelbook of equivalent ones.

    Leaving defaults out keeps keys valid when a machine gains a parameter; when a default changes, the store
    sees it in the parameters it recorded.
    ``share=False`` (for timing) keeps provably identical machines apart.
    """
    kept = {k: v.lower() if k == "labelbook" and isinstance(v, str) else v for k, v in sorted(options.items())}
    if share and isinstance(estimator, LabelMachine) and isinstance(estimator.labelbook, str):
        kept["labelbook"] = estimator.same_labelbook()
    defaults = get_machine(name).defaults
    return {k: v for k, v in kept.items() if k not in defaults or defaults[k] != v}
