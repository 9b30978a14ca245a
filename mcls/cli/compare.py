"""``mcls compare``: do these machines differ, and where?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcls.cli.completing import dataset_names_or_tables, machine_names
from mcls.cli.options import Engine, Fresh, Jobs, Json, Out, seed_option
from mcls.terminal import counted, echo

if TYPE_CHECKING:
    from mcls.experiments.stored import StoredComparison


def compare(
    machines: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="A B [C]...",
            help="Machines, such as voSVM:labelbook=alignment or sk:SVC.",
            autocompletion=machine_names,
        ),
    ] = None,
    dataset: Annotated[
        list[str] | None,
        typer.Option(
            "--dataset",
            metavar="NAME",
            help="A data set by name, or a table as FILE.csv:target=COLUMN, with further options after commas "
            "(header=false, missing=impute, drop=COLUMN+COLUMN); repeat for more (default: iris wine glass vowel "
            "yeast).",
            autocompletion=dataset_names_or_tables,
        ),
    ] = None,
    ftest: Annotated[bool, typer.Option("--ftest", help="5x2cv combined F-test (the default for two).")] = False,
    ttest: Annotated[bool, typer.Option("--ttest", help="5x2cv paired t-test.")] = False,
    mcnemar: Annotated[bool, typer.Option("--mcnemar", help="McNemar's exact test on one replication.")] = False,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="Compare the machines of an experiment that has run: results/NAME."
        ),
    ] = None,
    metric: Annotated[
        str,
        typer.Option(
            metavar="METRIC",
            help="What chooses the parameters and is compared, as in mcls fit; with --from, a metric that the config "
            "of the experiment asks for.",
        ),
    ] = "error",
    costs: Annotated[
        Path | None,
        typer.Option(
            metavar="COSTS.csv",
            help="The matrix of the metric cost: one row per true, one column per predicted class.",
        ),
    ] = None,
    rope: Annotated[
        float | None,
        typer.Option(
            metavar="R",
            help="Region of practical equivalence: adds the corrected t-test, effect sizes with intervals and the "
            "Bayesian tests; 0.01 is one percent of error (the default with --from).",
        ),
    ] = None,
    permutations: Annotated[
        int | None,
        typer.Option(metavar="B", help="Permutation test of each pair: predictions exchanged row by row B times."),
    ] = None,
    alpha: Annotated[float, typer.Option(min=0.0001, max=0.5, help="Level of the tests.")] = 0.05,
    csv: Annotated[bool, typer.Option("--csv", help="Print CSV.")] = False,
    seed: Annotated[int, seed_option("Seed of the splits.")] = 0,
    engine: Annotated[
        Engine, typer.Option(help="Exact shortcuts, or one fit per fold and grid point.")
    ] = Engine.fast,
    out: Out = Path("results"),
    jobs: Jobs = 0,
    fresh: Fresh = False,
    as_json: Json = False,
) -> None:
    """Compare machines by five replications of two-fold cross-validation, parameters chosen inside each half.

    A range or a list among a machine's options is its grid: sk:svm.SVC:C=2^-2..2^8,gamma=0.1+1+10. The machines of
    mcls and the common classifiers of scikit-learn have one already (mcls machines NAME); "not tuned" marks the others.

    Examples: mcls compare oneLSM ovA --ftest, mcls compare oneLSM sk:svm.SVC --dataset mine.csv:target=species,
    mcls compare oneLSM:sigma=0.5+1+2 "sk:KNeighborsClassifier:n_neighbors=1+3+9,weights=distance" --dataset wine

    Two machines: one row per data set with both errors, the test and a verdict. More: errors and average ranks
    with Friedman's test and Nemenyi's critical difference; with one data set, or a test asked for, every pair.
    McNemar's test is the exact binomial one. A test without any variance to go by is undefined, and says so.

    --metric log-loss chooses the parameters of both by the log-loss of the inner folds and tests the log-losses of the
    halves: any metric of mcls fit. (McNemar's test counts wrong classes in any case.)

    --rope and --permutations add further tests on the same halves; --from makes them from the store of any experiment,
    whose folds then are what is compared (docs/statistics.md says what each test is worth).

    Results go to DIR/compare/: cells/, shared by all comparisons, and a folder each with summary.csv (every pair with
    all statistics, p-values and verdicts), machines.csv (every machine with errors, choices and times), summary.md
    (both) and with more than two machines ranking.csv. --csv prints one table: the pairs where there are any; --rope,
    --permutations and --from print theirs after an empty line each.
    """
    from mcls.cli.printing import print_csv, print_damaged, print_failures, print_note, print_table
    from mcls.cli.progress import CellProgress
    from mcls.cli.run import cores, resumable
    from mcls.errors import McLsError
    from mcls.evaluation.metrics import get_metric
    from mcls.experiments.compare import (
        DEFAULT_DATASETS,
        TESTS,
        comparison,
        pair_table,
        rank_table,
        ranking_words,
    )
    from mcls.experiments.stored import compare_planned, compare_stored

    if permutations is not None and not 1 <= permutations <= 1_000_000:
        raise McLsError(f"--permutations must be a whole number from 1 to 1000000; got {permutations}")
    if rope is not None and not 0.0 <= rope < 1e6:
        raise McLsError(f"--rope must be zero or more, such as 0.01; got {rope:g}")
    if permutations is not None and (needed := get_metric(metric).need) != "classes":
        raise McLsError(
            f"--permutations exchanges predicted classes; '{metric}' needs {needed}: leave one of them out"
        )
    wanted: dict[str, Any] = {
        "rope": 0.01 if rope is None else rope,
        "permutations": permutations or 0,
        "alpha": alpha,
    }
    machines = machines or []
    if from_ is not None:
        if dataset or ftest or ttest or mcnemar or fresh or costs is not None:
            raise McLsError(
                "--from compares what an experiment has: leave out --dataset, --costs, --fresh and the tests of 5x2cv"
            )
        found = compare_stored(from_, machines, metric=metric, **wanted)
        if not found.pairs:
            raise McLsError("no data set has all cells of two machines: run the experiment to its end first")
        if as_json:
            from mcls.cli.documents import print_json, stored_content

            print_json("compare-stored", stored_content(found))
        else:
            _print_stored(found, csv)
        if found.left_out:
            pairs = counted(found.left_out, "pair")
            print_note(f"{pairs} left out: cells are missing or failed, run the experiment to its end")
        return
    if (metric.lower() == "cost") != (costs is not None):
        raise McLsError("--metric cost and --costs COSTS.csv go together: give both or neither")
    if len(machines) < 2:
        raise McLsError("give at least two machines to compare, such as: mcls compare oneLSM ovA")
    experiment = comparison(machines, dataset or DEFAULT_DATASETS, seed, engine.value, out, alpha, metric, costs)
    for note in experiment.plan.notes:
        print_note(note)
    with resumable(experiment.store.folder):
        outcome = experiment.run(jobs=jobs or cores(), fresh=fresh, progress=CellProgress())
    print_damaged(experiment.store)
    tests = [name for name, wanted in (("f", ftest), ("t", ttest), ("mcnemar", mcnemar)) if wanted]
    titles, result = experiment.titles, experiment.ranking()
    many, paired = len(titles) > 2, result is None or bool(tests)
    further = None
    if rope is not None or permutations is not None:
        further = compare_planned(experiment.plan, experiment.store, metric=experiment.metric.name, **wanted)
    if as_json:
        from mcls.cli.documents import comparison_content, print_json

        print_json("compare", comparison_content(experiment, further))
        print_failures(outcome)
        raise typer.Exit(0 if outcome.ok else 1)
    if many and not (csv and paired):
        columns, rows = rank_table(*experiment.values(), titles, result, experiment.metric)
        if csv:
            print_csv(columns, rows)
        else:
            print_table(f"5x2cv, {experiment.unit}", columns, rows)
    if result is not None and not csv:
        for sentence in ranking_words(experiment.labels, result):
            echo(sentence)
    elif result is None and many:
        echo("Friedman's test needs at least two data sets with all cells done: every pair instead", err=csv)
    if paired:
        columns, rows = pair_table(experiment.pairs(), tests or ["f"], alpha, titles)
        if csv:
            print_csv(columns, rows)
        else:
            used = " and ".join(TESTS[test][0] for test in tests or ["f"])
            level = f"{used} at level {alpha:g}" + (" for each pair alone" if many else "")
            print_table(f"5x2cv, {experiment.unit}, {level}", columns, rows)
    if further is not None and further.pairs:  # there are none where cells have failed
        _print_stored(further, csv, more=True)
    echo(f"see {experiment.folder / 'summary.csv'}", err=True)
    if result is not None:
        echo(f"ranks and Friedman's test: see {experiment.folder / 'ranking.csv'}", err=True)
    if untuned := [label for label, title in titles.items() if label != title]:
        echo(
            f"{', '.join(untuned)}: not tuned; a range or a list gives a grid, as in sk:SVC:C=2^-2..2^8 or C=1+10",
            err=True,
        )
    print_failures(outcome)
    if not outcome.ok:
        raise typer.Exit(1)


def _print_stored(found: StoredComparison, csv: bool, more: bool = False) -> None:
    """Print the tables of stored cells; in CSV an empty line stands between two, and before the first after others."""
    from mcls.cli.printing import print_csv, print_table
    from mcls.experiments.compare import ranking_words
    from mcls.experiments.stored import stored_tables

    for i, (title, columns, rows) in enumerate(stored_tables(found, as_csv=csv)):
        if csv:
            if i or more:
                echo("")
            print_csv(columns, rows)
        else:
            print_table(title, columns, rows)
    if found.ranks is not None and not csv:
        for sentence in ranking_words(found.machines, found.ranks):
            echo(sentence)
