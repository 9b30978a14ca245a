"""``mcls fit``: a CSV in, a model out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcls.cli.completing import machine_names_or_auto
from mcls.cli.options import (
    Categorical,
    Decimal,
    Delimiter,
    Drop,
    Encoding,
    Force,
    Header,
    Jobs,
    Json,
    Keep,
    Missing,
    Ordinal,
    Scheduler,
    output_option,
    seed_option,
)
from mcls.cli.standard_input import tables_from_standard_input
from mcls.errors import McLsError

if TYPE_CHECKING:
    from mcls.data.formats import TableFormat
    from mcls.models.spreading import Workers
    from mcls.models.table import Reads


class ReadingBackend(StrEnum):
    """Who reads a large table."""

    threads = "threads"
    dask = "dask"


def fit(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA.csv",
            help="CSV or TSV, also gzipped, Parquet or Feather; - is standard input. Several files, a folder of them "
            "or a pattern in quotes are one table.",
            callback=tables_from_standard_input,
        ),
    ],
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="The class column: its name, or its index; -1 is the last.")
    ] = "-1",
    header: Header = None,
    machine: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="A machine, such as oneLSM:kernel=linear; best chooses among a few, auto among all that are fast.",
            autocompletion=machine_names_or_auto,
        ),
    ] = "best",
    output: Annotated[Path, output_option("The model")] = Path("model.mcls"),
    force: Force = False,
    grid: Annotated[
        str,
        typer.Option(
            metavar="auto|paper|RANGES",
            help="Widths around the median distance, extended around the choice; the grid of the machine's paper; or "
            "ranges and lists joined by commas, such as gamma=2^-8..2^2,sigma=0.5+1+2. What is left out has the grid "
            "of the paper.",
        ),
    ] = "auto",
    drop: Drop = None,
    keep: Keep = None,
    categorical: Categorical = None,
    ordinal: Ordinal = None,
    missing: Missing = "refuse",
    delimiter: Delimiter = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    split_equal_rows: Annotated[
        bool,
        typer.Option(
            "--split-equal-rows",
            help="Let rows with the same features fall into different folds: for tables of few different values.",
        ),
    ] = False,
    metric: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="What chooses the parameters: error, balanced-error, macro-f1, kappa, log-loss, brier, auc, "
            "top2-error or cost; further ones, joined by commas, are printed.",
        ),
    ] = "error",
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="COSTS.csv",
            help="The matrix of the metric cost: one row per true, one column per predicted class. It also decides the "
            "class: the one with the least expected cost.",
        ),
    ] = None,
    class_weight: Annotated[
        str | None,
        typer.Option(metavar="balanced", help="Give every class the same total weight in training."),
    ] = None,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The weight of each row, in training and in every metric: 2 counts twice."
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Rows of one group are never split between training and testing."),
    ] = None,
    probabilities: Annotated[
        bool,
        typer.Option(
            "--probabilities/--no-probabilities",
            help="Whether the model gives probabilities (mcls predict --proba), calibrated by the cross-validation.",
        ),
    ] = True,
    test: Annotated[
        Path | None,
        typer.Option("--test", metavar="TEST.csv", help="Also print the error on this labelled table."),
    ] = None,
    nested: Annotated[
        bool,
        typer.Option(
            "--nested/--no-nested",
            help="The honest error, the parameters of each fold chosen by the others; --no-nested saves its time.",
        ),
    ] = True,
    scaling: Annotated[
        str | None,
        typer.Option(
            metavar="dataset|fold",
            help="Rows that ranges, medians and texts of the honest error come from: all, or those that each fold "
            "trains on, at the price of one search per fold. Where values are missing it is fold.",
        ),
    ] = None,
    repeats: Annotated[
        int, typer.Option(min=1, max=1000, help="Partitions that the honest error is averaged over.")
    ] = 1,
    permutations: Annotated[
        int,
        typer.Option(
            min=0,
            max=1_000_000,
            metavar="N",
            help="Test the chosen machine against chance: permute the classes among the rows N times.",
        ),
    ] = 0,
    folds: Annotated[
        str,
        typer.Option(
            metavar="K", help="Folds of the cross-validation; loo leaves out one row at a time, logo one group."
        ),
    ] = "10",
    seed: Annotated[int, seed_option("Seed of folds and samples.")] = 0,
    budget: Annotated[
        str | None,
        typer.Option(metavar="60s", help="Time that the fit may take, which chooses the number of landmarks."),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(metavar="4GB", help="Memory that the fit may take, which limits that number too.")
    ] = None,
    backend: Annotated[
        ReadingBackend, typer.Option(help="Threads of this process, or a Dask cluster that reads a large table.")
    ] = ReadingBackend.threads,
    scheduler: Scheduler = None,
    jobs: Jobs = 0,
    as_json: Json = False,
) -> None:
    """Fit a machine to a table of your own, its parameters chosen by exact cross-validation.

    A column of numbers is scaled to [-1, 1]; one of text becomes one 0/1 feature for each of its texts, one of dates
    its year, month, day, day of the week and hour, as far as they change. Rows with the
    same features are kept in one fold, so that no row is judged by its own copy.

    By default the machine is the best of a few: one least-squares machine for all classes, with four kernels, or one
    per pair of them, the class decided by the scores or by a map calibrated on them. Of errors within one standard
    error of the smallest, the one with the smallest log-loss is taken.
    --machine oneLSM names one; --machine auto ranks all fast machines and tests the best two against each other. A
    classifier of scikit-learn, such as --machine sk:RidgeClassifier, is kept in a file that ends in .skops, where the
    package skops is installed.

    The first figure is the honest error: each fold is judged with the machine, the map and the parameters that the
    other folds chose, and the predictions printed are those. Its interval is where the error on as many new rows will
    lie, in 95 of 100 cases. The scaling (but see --scaling) and the automatic grid with its extension still come from
    all rows, so some optimism remains. Then come the error at the chosen point, which the same folds chose and judge,
    and that of always predicting the largest class, which is the one to beat. Equal rows are counted once in every
    interval.

    A table in several files, one of more than 20,000 rows, and one with a --budget or a --memory is read piece by
    piece and never held in memory: oneLSM is then fitted with landmarks, and cross-validated on all rows, but not
    nested. An interrupted fit goes on where a pass over the table ended.

    Probabilities and sets of classes (mcls predict --proba, --coverage) are calibrated on the scores that the
    cross-validation has at the chosen parameters, with no further fit.

    Example: mcls fit flowers.csv --target species -o flowers.mcls
    """
    from mcls.cli.documents import fit_content, print_json
    from mcls.cli.evaluate import evaluation_content, print_evaluation
    from mcls.cli.fitted import print_fitted
    from mcls.cli.outputs import STANDARD_OUTPUT, beside, check_output, interruptible, open_output
    from mcls.cli.printing import print_note
    from mcls.cli.progress import Steps
    from mcls.data.formats import ColumnRules, TableFormat
    from mcls.data.lines import is_text
    from mcls.data.parts import find_files
    from mcls.evaluation.folds import EQUAL_ROWS, parse_folds
    from mcls.files import require_file
    from mcls.models.budget import read_bytes, read_seconds
    from mcls.models.fitting import fit_table
    from mcls.models.saving import dump
    from mcls.models.skops_files import is_skops
    from mcls.models.streaming import judge_table
    from mcls.terminal import echo

    check_output(output, *find_files(tables), *([] if test is None else [test]), kind="model", force=force)
    if test is not None:
        require_file(test)
        if not test.is_file():
            raise McLsError(f"there is no file {test} to test the model on")
    try:
        count = parse_folds(folds)
    except McLsError as error:
        raise McLsError(f"--folds {error}") from None
    if repeats > 1 and not nested:
        raise McLsError("--repeats averages the honest error, which --no-nested leaves out: give one of the two")
    if scaling == "fold" and not nested:
        raise McLsError(
            "--scaling fold is about the honest error, which --no-nested leaves out: give one of the two"
        )
    seconds = None if budget is None else read_seconds(budget)
    allowed = None if memory is None else read_bytes(memory)
    form = TableFormat(delimiter, decimal, encoding, header)
    test_form = replace(form, header=None)  # the model knows whether its table had names
    if test is not None and not is_text(test, test_form):
        test_form = TableFormat()  # Parquet has no delimiter, nor the others
    to_a_file = output != STANDARD_OUTPUT and (output.is_file() or not output.exists())
    resume_at = output.with_name(f"{output.name}.passes") if to_a_file else None

    def state() -> str:
        from mcls.models.resuming import is_progress

        begun = resume_at is not None and is_progress(resume_at)
        again = f"goes on after the last whole pass, which {resume_at} holds" if begun else "starts again"
        return f"no model was written; the same command {again}"

    with interruptible(state):
        with Steps() as on_step, _workers(backend, scheduler, jobs) as workers:
            fitted = fit_table(
                tables,
                target,
                machine,
                grid,
                form=form,
                rules=ColumnRules(drop or (), keep or (), categorical or (), ordinal or (), missing),
                folds=count,
                seed=seed,
                nested=nested,
                repeats=repeats,
                permutations=permutations,
                groups=None if split_equal_rows else EQUAL_ROWS,
                metric=[name.strip() for name in metric.split(",")],
                costs=costs,
                class_weight=class_weight,
                group=group,
                weight=weight,
                calibration="auto" if probabilities else None,
                scaling=scaling,
                skops=is_skops(output),
                seconds=seconds,
                memory=allowed,
                workers=workers,
                resume_at=resume_at,
                check=None if test is None else lambda reads: _check_test(reads, test, test_form),
                say=print_note,
                on_step=on_step,
            )
        with open_output(output) as stream:
            stream.write(dump(fitted.model, output))
    with beside(output):
        judged = None if test is None else judge_table(fitted.model, test, print_note, form=test_form)
        if as_json:
            content = fit_content(fitted, output)
            if test is not None and judged is not None:
                content["test"] = evaluation_content(fitted.model, test, judged, test_form)
            print_json("fit", content)
            return
        print_fitted(fitted, automatic_grid=grid == "auto")
        if test is not None and judged is not None:
            print_evaluation(fitted.model, test, judged, test_form)
        echo(f"model written to {output}")


def _check_test(reads: Reads, test: Path, form: TableFormat) -> None:
    """Refuse before the search a test table that lacks the class or a column of the model."""
    from mcls.models.streaming import open_labelled

    try:
        open_labelled(reads, test, form)
    except McLsError as error:
        raise McLsError(f"--test {error}") from None


@contextmanager
def _workers(backend: ReadingBackend, scheduler: str | None, jobs: int) -> Iterator[Workers | None]:
    """A Dask cluster where one is asked for."""
    if backend is ReadingBackend.threads and scheduler is None:
        if jobs:
            raise McLsError("-j is the number of processes of --backend dask; give both")
        yield None
        return
    from mcls.models.dask_workers import DaskWorkers

    with DaskWorkers(scheduler, jobs or os.cpu_count() or 1) as workers:
        yield workers
