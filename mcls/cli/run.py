"""``mcls run``: run an experiment, or show what it would run."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from mcls.cli.options import Engine, Fresh, Jobs, Out, Scheduler, config_argument
from mcls.terminal import counted, echo, in_folder, output

if TYPE_CHECKING:
    from mcls.experiments.experiment import Experiment


class CellBackend(StrEnum):
    """Where cells are computed."""

    loky = "loky"
    dask = "dask"


#: Rows of a board, and cells behind them, up to which a run ends with the tests: they read every cell once more.
_MOST_TESTED, _MOST_READ = 12, 4000


def run(
    config: Annotated[str, config_argument("A YAML file, a folder of them, or the name of a shipped config.")],
    out: Out = Path("results"),
    jobs: Jobs = 0,
    engine: Annotated[
        Engine | None, typer.Option(help="Exact shortcuts, or one fit per fold and grid point.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the cells and stop.")] = False,
    fresh: Fresh = False,
    keep_going: Annotated[
        bool, typer.Option("--keep-going/--fail-fast", help="Go on after a failed cell, or stop there.")
    ] = True,
    backend: Annotated[CellBackend, typer.Option(help="Local processes, or a Dask cluster.")] = CellBackend.loky,
    scheduler: Scheduler = None,
) -> None:
    """Run an experiment; what is done already is kept, what failed is tried again.

    Results go to DIR/<name>/: cells/, summary.csv, summary.md, config.yaml as run, environment.json. A folder of
    configs, or a file that lists some under the word suite, is run one after the other, with a leaderboard.

    Examples: mcls run iris -j 2, mcls run mine.yaml --dry-run, mcls run suite.yaml, mcls run mine.yaml --plugin mine.py
    """
    from mcls.experiments.suite import check_names, read_suite, write_suite

    how = How(out, jobs, engine, dry_run, fresh, keep_going, backend, scheduler)
    suite = read_suite(Path(config))
    if suite is None:
        ok = _run_one(*_laid_out(config, how), how)
    else:
        laid_out = [_laid_out(each, how) for each in suite.configs]  # mistakes are told before the first is run
        names = [experiment.config.name for _, experiment in laid_out]
        check_names(suite, names)
        done = [_run_one(path, experiment, how) for path, experiment in laid_out]
        ok = all(done)
        if not dry_run:
            write_suite(suite, names, out)
            _print_leaderboard(suite.name, out)
    if not ok:
        raise typer.Exit(1)


class How(NamedTuple):
    """The options of a run."""

    out: Path
    jobs: int
    engine: Engine | None
    dry_run: bool
    fresh: bool
    keep_going: bool
    backend: CellBackend
    scheduler: str | None


def _laid_out(config: str, how: How) -> tuple[Path, Experiment]:
    """The file of a config, and its experiment."""
    from mcls.experiments.experiment import Experiment
    from mcls.experiments.loading import find_config, load_config

    path = find_config(config)
    loaded = load_config(path)
    if how.engine is not None:
        loaded = loaded.model_copy(update={"engine": how.engine.value})
    return path, Experiment.laid_out(loaded, path.parent, how.out)


def _run_one(path: Path, experiment: Experiment, how: How) -> bool:
    """Run one config and print what came out; whether all went well."""
    from mcls.cli.printing import print_damaged, print_failures, print_note, print_table
    from mcls.cli.progress import CellProgress
    from mcls.experiments.summary import table

    loaded = experiment.config
    for note in experiment.plan.notes:
        print_note(note)
    if how.dry_run:
        _print_cells(experiment)
        print_damaged(experiment.store)
        return True
    if before := experiment.replaces():
        print_note(
            f"{experiment.folder} had the results of {', '.join(before)}: those cells are kept, but its tables are now "
            f"of {path}; give one of the two another 'name'"
        )
    _keep_published(path, experiment)
    with resumable(experiment.folder):
        outcome = experiment.run(
            jobs=how.jobs or cores(),
            backend="dask" if how.scheduler else how.backend.value,
            scheduler=how.scheduler,
            fresh=how.fresh,
            keep_going=how.keep_going,
            progress=CellProgress(),
        )
    print_damaged(experiment.store)
    print_table(f"{loaded.name}: errors in percent, time of a replicate in seconds", *table(experiment.written))
    _print_tests(loaded.name, how.out, len(experiment.plan.cells))
    elsewhere = f"{outcome.elsewhere} computed by another run, " if outcome.elsewhere else ""
    echo(
        f"{counted(outcome.computed, 'cell')} computed, {elsewhere}{outcome.reused} reused, "
        f"{len(outcome.failed)} failed; see {experiment.folder / 'summary.csv'}"
    )
    echo(f"tables, figures and a page: mcls report {loaded.name}{in_folder(how.out)}")
    _note_engine(experiment, loaded.engine)
    print_failures(outcome)
    return outcome.ok


def _keep_published(config: Path, experiment: Experiment) -> None:
    """Keep figures that stand beside the config among the results: tables need no config."""
    from mcls.experiments.store import write_file
    from mcls.reporting.board_tables import PUBLISHED_FILE, PUBLISHED_SUFFIX, read_published

    beside = config.with_name(config.stem + PUBLISHED_SUFFIX)
    if beside.is_file():
        read_published(beside, [*experiment.config.metric_names, "error"])  # refuses mistakes now
        write_file(experiment.folder / PUBLISHED_FILE, beside.read_bytes())


def _print_tests(name: str, out: Path, cells: int) -> None:
    """The first machine tested against the others, where that is short; otherwise how to get it."""
    from mcls.reporting.board import find_board
    from mcls.reporting.board_tables import board_tables
    from mcls.reporting.render import print_table
    from mcls.reporting.studies import Studies

    board = find_board(Studies(out), name) if cells <= _MOST_READ else None
    if board is not None and len(board.machines) < 2:
        return
    if board is None or len(board.rows) > _MOST_TESTED:
        echo(f"tests against a machine: mcls tables {name} --against MACHINE{in_folder(out)}")
        return
    for table in board_tables(board, board.machines[0], [board.metrics[0].name]):
        if table.name.endswith("-tests"):
            with output() as console:
                print_table(table, console)


def _print_leaderboard(name: str, out: Path) -> None:
    """The tables of a suite over all its data sets, and its page."""
    from mcls.cli.report import write_page
    from mcls.reporting.board import find_board
    from mcls.reporting.board_tables import board_tables
    from mcls.reporting.render import print_table
    from mcls.reporting.studies import Studies

    board = find_board(Studies(out), name)
    for table in board_tables(board, metrics=[board.metrics[0].name])[:1]:
        with output() as console:
            print_table(table, console)
    echo(f"Written {write_page(board)}")


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
    from mcls.errors import ClusterError

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


def _print_cells(experiment: Experiment) -> None:
    from mcls.cli.printing import print_table
    from mcls.specs import format_spec

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


def _note_engine(experiment: Experiment, engine: str) -> None:
    """Say so when reused cells come from the other engine: their errors are the same, their times are not."""
    found = (experiment.store.known(cell) for cell in experiment.plan.cells)
    others = sum(1 for brief in found if brief is not None and brief.status == "done" and brief.engine != engine)
    if others:
        typer.echo(
            f"note: {others} cells were computed by the other engine, with the same errors; --fresh repeats them"
        )
