"""``mcls compare``: do these machines differ, and where?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mcls.cli.run import Engine, Jobs, Out

if TYPE_CHECKING:
    import numpy as np

    from mcls.evaluation.statistics import FriedmanResult
    from mcls.experiments.compare import Pair


def compare(
    machines: Annotated[
        list[str], typer.Argument(metavar="A B [C]...", help="Machines, such as voSVM:labelbook=alignment.")
    ],
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help="A data set by name or a table as FILE.csv:target=COLUMN, header=false after a comma if it has "
            "none; repeat for more (default: iris wine glass vowel yeast).",
        ),
    ] = None,
    ftest: Annotated[bool, typer.Option("--ftest", help="5x2cv combined F-test (the default for two).")] = False,
    ttest: Annotated[bool, typer.Option("--ttest", help="5x2cv paired t-test.")] = False,
    mcnemar: Annotated[bool, typer.Option("--mcnemar", help="McNemar's test on one replication.")] = False,
    alpha: Annotated[float, typer.Option(min=0.0001, max=0.5, help="Level of the tests.")] = 0.05,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    seed: Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of the splits.")] = 0,
    engine: Annotated[Engine, typer.Option(help="Exact shortcuts, or one fit a fold and point.")] = Engine.fast,
    out: Out = Path("results"),
    jobs: Jobs = 0,
    fresh: Annotated[bool, typer.Option("--fresh", help="Compute everything, whatever is there.")] = False,
) -> None:
    """Compare machines by five replications of two-fold cross-validation, parameters chosen inside each half.

    Examples: mcls compare oneLSM ovA --ftest, mcls compare oneLSM sk:svm.SVC --dataset mine.csv:target=species

    Two machines: one row a data set with both errors, the test and a verdict. More: errors and average ranks
    with Friedman's test and Nemenyi's critical difference; with one data set, or a test asked for, every pair.

    Results go to DIR/compare/: cells/, shared by all comparisons, and a folder each with summary.csv and summary.md,
    and with more than two machines ranking.csv. --csv prints one table: the pairs where there are any.
    """
    from mcls.cli.run import cores, resumable
    from mcls.cli.show import print_damaged, print_failures
    from mcls.errors import McLsError
    from mcls.experiments.compare import (
        DEFAULT_DATASETS,
        comparison,
        errors,
        machine_label,
        pairs,
        ranking,
        write_ranking,
    )
    from mcls.experiments.progress import make_progress

    if len(machines) < 2:
        raise McLsError("give at least two machines to compare, such as: mcls compare oneLSM ovA")
    experiment = comparison(machines, dataset or DEFAULT_DATASETS, seed, engine.value, out)
    with resumable(experiment.store.folder):
        outcome = experiment.run(jobs=jobs or cores(), fresh=fresh, progress=make_progress())
    print_damaged(experiment.store)
    tests = [name for name, wanted in (("f", ftest), ("t", ttest), ("mcnemar", mcnemar)) if wanted]
    labels = [machine_label(text) for text in machines]
    names, table = errors(experiment, len(labels))
    result = ranking(table, alpha) if len(labels) > 2 else None
    paired = result is None or bool(tests)
    if len(labels) > 2 and not (csv and paired):
        _print_errors(names, labels, table, result, csv)
    if result is not None and not csv:
        _print_ranking(labels, result)
    elif result is None and len(labels) > 2:
        typer.echo("Friedman's test needs at least two data sets with all cells done: every pair instead", err=csv)
    if paired:
        _print_pairs(pairs(experiment, machines), tests or ["f"], alpha, csv, named=len(labels) > 2)
    typer.echo(f"see {experiment.folder / 'summary.csv'}", err=True)
    if result is not None:
        typer.echo(f"ranks and Friedman's test: see {write_ranking(experiment, labels, result)}", err=True)
    _say_untuned(machines)
    print_failures(outcome)
    if not outcome.ok:
        raise typer.Exit(1)


_TITLES = {"f": ("f", "p(f)"), "t": ("t", "p(t)"), "mcnemar": ("only A wrong", "only B wrong", "p(McNemar)")}


def _print_pairs(found: list[Pair], tests: list[str], alpha: float, csv: bool, named: bool) -> None:
    from mcls.cli.show import print_csv, print_table

    columns = ["data set", "A", "B", "error A", "error B"] if named else ["data set", found[0].a, found[0].b]
    columns += [title for test in tests for title in _TITLES[test]] + ["verdict"]
    rows = []
    for pair in found:
        row = [pair.dataset, *([pair.a, pair.b] if named else [])]
        row += ["" if e is None else f"{e:.2f}" for e in (pair.error_a, pair.error_b)]
        for test in tests:
            row += _figures(pair, test)
        rows.append([*row, pair.verdict(tests[0], alpha)])
    if csv:
        print_csv(columns, rows)
    else:
        level = f"level {alpha:g}" + (" for each pair alone" if named else "")
        print_table(f"5x2cv, errors in percent, {level}", columns, rows)


def _figures(pair: Pair, test: str) -> list[str]:
    if test == "mcnemar":
        m = pair.mcnemar
        return ["", "", ""] if m is None else [str(m.only_a_wrong), str(m.only_b_wrong), f"{m.p:.4g}"]
    result = pair.f if test == "f" else pair.t
    if result is None:
        return ["", ""]
    return ["" if result.identical else f"{result.statistic:.3f}", f"{result.p:.4g}"]


def _print_errors(
    names: list[str], labels: list[str], table: np.ndarray, result: FriedmanResult | None, csv: bool
) -> None:
    from math import isnan

    from mcls.cli.show import print_csv, print_table

    columns = ["data set", *labels]
    rows = [
        [name, *("" if isnan(e) else f"{e:.2f}" for e in line)] for name, line in zip(names, table, strict=True)
    ]
    if result is not None:
        rows.append(["average rank", *(f"{rank:.2f}" for rank in result.ranks)])
    if csv:
        print_csv(columns, rows)
    else:
        print_table("5x2cv, errors in percent", columns, rows)


def _print_ranking(labels: list[str], result: FriedmanResult) -> None:
    from itertools import combinations

    sharper = (
        f"the same order on all of them has p = {result.iman_davenport_p:.4g}, exactly"
        if result.one_order
        else f"Iman-Davenport F = {result.iman_davenport:.3f}, p = {result.iman_davenport_p:.4g}"
    )
    typer.echo(
        f"Friedman over {result.n_datasets} data sets: chi2 = {result.chi2:.3f}, p = {result.p:.4g}; {sharper}"
    )
    differing = [
        f"{labels[i]} and {labels[j]}" for i, j in combinations(range(len(labels)), 2) if result.differs(i, j)
    ]
    typer.echo(
        f"Nemenyi at {result.alpha:g}: average ranks further apart than {result.critical_difference:.2f} differ: "
        + ("; ".join(differing) or "none")
    )


def _say_untuned(machines: list[str]) -> None:
    from mcls.experiments.specs import parse_spec
    from mcls.machines.registry import get_machine

    untuned = [text for text in machines if not get_machine(parse_spec(text)[0]).grid]
    if untuned:
        typer.echo(
            f"{', '.join(untuned)}: not tuned, no grid is known; a config can give one (grid: under the machine)",
            err=True,
        )
