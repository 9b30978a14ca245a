"""``mcls run``: run an experiment, or show what it would run."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from mcls.terminal import counted, echo


class Engine(StrEnum):
    """How cross-validation is computed."""

    fast = "fast"
    refit = "refit"


class Backend(StrEnum):
    """Where cells are computed."""

    loky = "loky"
    dask = "dask"


Jobs = Annotated[
    int, typer.Option("-j", "--jobs", min=0, metavar="N", help="Processes; 0 means one a core.", show_default="0")
]
Out = Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder of results.")]


def run(
    config: Annotated[str, typer.Argument(metavar="CONFIG", help="A YAML file, or the name of a shipped config.")],
    out: Out = Path("results"),
    jobs: Jobs = 0,
    engine: Annotated[Engine | None, typer.Option(help="Exact shortcuts, or one fit a fold and point.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the cells and stop.")] = False,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything, whatever is there.")] = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going/--fail-fast", help="Go on after a failed cell, or stop there.")
    ] = True,
    backend: Annotated[Backend, typer.Option(help="Local processes, or a Dask cluster.")] = Backend.loky,
    scheduler: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Of a running Dask scheduler (implies dask).")
    ] = None,
) -> None:
    """Run an experiment; what is done already is kept, what failed is tried again.

    Results go to DIR/<name>/: cells/, summary.csv, summary.md, config.yaml as run, environment.json.

    Examples: mcls run iris -j 2, mcls run mine.yaml --dry-run, mcls run mine.yaml --engine refit --fresh
    """
    from mcls.cli.progress import CellProgress
    from mcls.cli.show import print_damaged, print_failures, print_note, print_table
    from mcls.experiments.experiment import Experiment
    from mcls.experiments.loading import find_config, load_config
    from mcls.experiments.summary import table

    path = find_config(config)
    loaded = load_config(path)
    if engine is not None:
        loaded = loaded.model_copy(update={"engine": engine.value})
    experiment = Experiment.prepare(loaded, path.parent, out)
    for note in experiment.plan.notes:
        print_note(note)
    if dry_run:
        _print_cells(experiment)
        print_damaged(experiment.store)
        return
    with resumable(experiment.folder):
        outcome = experiment.run(
            jobs=jobs or cores(),
            backend="dask" if scheduler else backend.value,
            scheduler=scheduler,
            fresh=fresh,
            keep_going=keep_going,
            progress=CellProgress(),
        )
    print_damaged(experiment.store)
    print_table(f"{loaded.name}: errors in percent, time of a replicate in seconds", *table(experiment.written))
    elsewhere = f"{outcome.elsewhere} computed by another run, " if outcome.elsewhere else ""
    echo(
        f"{counted(outcome.computed, 'cell')} computed, {elsewhere}{outcome.reused} reused, "
        f"{len(outcome.failed)} failed; see {experiment.folder / 'summary.csv'}"
    )
    _note_engine(experiment, loaded.engine)
    print_failures(outcome)
    if not outcome.ok:
        raise typer.Exit(1)


def cores() -> int:
    """The cores this process may use."""
    import joblib

    return int(joblib.cpu_count())


class _Terminated(KeyboardInterrupt):
    """SIGTERM: what Ctrl-C is, from another process."""


def _terminate(number: int, frame: FrameType | None) -> None:
    raise _Terminated


@contextlib.contextmanager
def resumable(folder: Path) -> Iterator[None]:
    """Say after Ctrl-C, SIGTERM or the loss of a cluster that nothing is lost, and end."""
    from mcls.experiments.cluster import ClusterError

    before = signal.getsignal(signal.SIGTERM)
    is_main = threading.current_thread() is threading.main_thread()
    if is_main:
        signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    except (KeyboardInterrupt, ClusterError) as error:
        what, code = "interrupted", 130
        if isinstance(error, _Terminated):
            what, code = "terminated", 143
        elif isinstance(error, ClusterError):
            what, code = str(error), 1
        echo(f"mcls: {what}; finished cells are kept in {folder}: the same command goes on from there", err=True)
        raise SystemExit(code) from None
    finally:
        if is_main:
            signal.signal(signal.SIGTERM, before)


def _print_cells(experiment: object) -> None:
    from mcls.cli.show import print_table
    from mcls.experiments.experiment import Experiment
    from mcls.specs import format_spec

    assert isinstance(experiment, Experiment)
    store = experiment.store
    rows = []
    for cell in experiment.plan.cells:
        brief = store.brief(cell)
        state = "to do" if brief is None else "to try again" if brief.status == "failed" else "done"
        points = 1
        for values in cell.grid.values():
            points *= len(values)
        machine = format_spec(cell.machine, cell.options)
        rows.append(
            [cell.key, cell.dataset.label, machine, cell.protocol, str(cell.replicate), str(points), state]
        )
    print_table(None, ["cell", "data set", "machine", "protocol", "replicate", "points", "state"], rows)
    shared = experiment.plan.n_shared
    also = f" ({shared} more rows share them: provably identical work)" if shared else ""
    typer.echo(f"{counted(len(rows), 'cell')}{also}, {sum(row[-1] != 'done' for row in rows)} to compute")


def _note_engine(experiment: object, engine: str) -> None:
    """Say so when reused cells come from the other engine: their errors are the same, their times are not."""
    from mcls.experiments.experiment import Experiment

    assert isinstance(experiment, Experiment)
    found = (experiment.store.known(cell) for cell in experiment.plan.cells)
    others = sum(1 for brief in found if brief is not None and brief.status == "done" and brief.engine != engine)
    if others:
        typer.echo(
            f"note: {others} cells were computed by the other engine, with the same errors; --fresh repeats them"
        )
