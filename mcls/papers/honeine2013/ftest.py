"""honeine2013, Sec. 8: the 5×2cv F-test between all machines and between all labelbooks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from mcls.evaluation.statistics import TestResult, ftest_5x2cv
from mcls.reporting.paper import TableSpec, run_command
from mcls.reporting.studies import Studies, StudyRow, lacking
from mcls.reporting.table import NOTHING, Entry, Table, make, number, words

STUDY = "honeine2013-ftest"
ALPHA = 0.05
_PROPOSED = ("oneLSM", "voLSSVM", "voRLS-beta", "voRLS-f", "voSVM")


def test(a: StudyRow, b: StudyRow) -> TestResult | None:
    """The F-test of two rows; None unless both have all their halves."""
    first, second = a.halves, b.halves
    if first is None or second is None:
        return None
    return ftest_5x2cv(first, second, a.results[0]["predictions"]["shape"][0])


def p_entry(result: TestResult | None, source: str = "") -> Entry:
    """A p-value, marked when equality is rejected; ``identical`` for machines that never differed.

    ``undefined`` where the test has no answer.
    """
    if result is None:
        return words(NOTHING, "weak")
    if result.undefined:
        return words("undefined", "weak")
    if result.identical:
        return Entry("identical", 1.0, source, "weak")
    text = "< 0.001" if result.p < 0.001 else f"{result.p:.3f}"
    return Entry(text, result.p, source, "bad" if result.differs(ALPHA) else "")


def ftest(studies: Studies) -> list[Table]:
    """One matrix of p-values per data set, the labelbooks of each machine, and the paper's claims."""
    study = studies[STUDY]
    labels = [entry.label for entry in study.config.datasets]
    tables = [_matrix(studies, dataset) for dataset in labels]
    return [*tables, _labelbooks(studies, labels), _claims(studies, labels)]


def _matrix(studies: Studies, dataset: str) -> Table:
    """Every machine with its first labelbook against every other."""
    found = list(studies[STUDY].find(dataset=dataset))
    machines = {figures.row.machine: figures for figures in reversed(found)}
    chosen = [machines[name] for name in dict.fromkeys(f.row.machine for f in found)]
    rows = []
    for a in chosen:
        tests = [words("") if a is b else p_entry(test(a, b), b.anchor) for b in chosen]
        rows.append([words(a.row.machine), number(a.line.mean, source=a.anchor), *tests])
    return make(
        f"honeine2013-ftest-{dataset}",
        f"honeine2013, Sec. 8: {dataset}, p-values of the 5x2cv F-test",
        ["machine", "error", *(f.row.machine for f in chosen)],
        rows,
        [
            "error: mean over the ten halves, in percent. Labelbook alignment. p below 0.05 rejects equality "
            f"(f > 4.74). Of {len(list(combinations(chosen, 2)))} tests of equal machines, one in twenty falls below.",
        ],
        studies.quick,
        lacking=lacking(found, run_command("honeine2013", "ftest", studies)),
    )


def _books(studies: Studies, dataset: str, machine: str) -> list[StudyRow]:
    return list(studies[STUDY].find(dataset=dataset, machine=machine))


_BOOKS = ("alignment", "pm1", "indicators", "consistency")


def _labelbooks(studies: Studies, datasets: Sequence[str]) -> Table:
    """One row per machine and data set: the error with each labelbook, and the pair that differs most."""
    rows, undefined = [], []
    for machine in ("voLSSVM", "voRLS-beta", "voRLS-f", "voSVM", "szedmak"):
        for dataset in datasets:
            books = {each.row.labelbook: each for each in _books(studies, dataset, machine)}
            tests = [(a, b, test(books[a], books[b])) for a, b in combinations(books, 2)]
            known = [(a, b, result) for a, b, result in tests if result is not None]
            row = [words(machine), words(dataset), *(_error(books.get(book)) for book in _BOOKS)]
            if len(known) < len(tests):
                rows.append([*row, number(None), words("not complete", "weak"), words("")])
                continue
            undefined += [result for *_, result in known if result.undefined]
            # Without an answer is after every p, and before p = 1 of machines that never differed.
            a, b, least = min(known, key=lambda each: (1.0, 0) if each[2].undefined else (each[2].p, 1))
            rejected = sum(result.differs(ALPHA) for _, _, result in known)
            between = "" if least.identical else f"{a}, {b}"
            share = f"{rejected} of {sum(not result.undefined for *_, result in known)}"
            rows.append([*row, p_entry(least, books[b].anchor), words(between), words(share)])
    return make(
        "honeine2013-ftest-labelbooks",
        "honeine2013, Sec. 8: does the labelbook matter? Errors, and the smallest p of the 5x2cv F-test",
        ["machine", "data set", *_BOOKS, "smallest p", "between", "equality rejected"],
        rows,
        [
            "Errors: mean over the ten halves, in percent. min-correlation has alignment's Gram matrix and gives the "
            "same classes (Prop. 3). Szedmak's model is degenerate with pm1 and indicators, so two labelbooks are left "
            "to compare.",
            *_undefined_note(undefined),
        ],
        studies.quick,
        lacking=lacking(studies[STUDY].figures, run_command("honeine2013", "ftest", studies)),
    )


def _error(found: StudyRow | None) -> Entry:
    return words("degenerate", "weak") if found is None else number(found.line.mean, source=found.anchor)


def _claims(studies: Studies, datasets: Sequence[str]) -> Table:
    study = studies[STUDY]
    proposed = [
        test(a, b)
        for dataset in datasets
        for a, b in combinations([f for f in study.find(dataset=dataset) if f.row.machine in _PROPOSED], 2)
    ]
    szedmak = [test(a, b) for dataset in datasets for a, b in combinations(_books(studies, dataset, "szedmak"), 2)]
    same = [
        test(a, b)
        for dataset in datasets
        for a in study.find(dataset=dataset, machine="oneLSM")
        for b in study.find(dataset=dataset, machine="ovA")
    ]
    rows = []
    undefined = [r for r in (*proposed, *szedmak, *same) if r is not None and r.undefined]
    for claim, results, wanted in (
        ("no significant difference between the proposed machines, whatever the label", proposed, "equal"),
        ("Szedmak's depends on the label coding", szedmak, "different"),
        ("oneLSM and OvA are one classifier", same, "identical"),
    ):
        known = [r for r in results if r is not None and not r.undefined]
        rejected = sum(r.differs(ALPHA) for r in known)
        identical = sum(r.identical for r in known)
        holds = {
            "equal": rejected <= ALPHA * len(known),
            "different": rejected > ALPHA * len(known),
            "identical": identical == len(known),
        }[wanted]
        verdict = words("confirmed" if holds else "not confirmed", "good" if holds else "bad")
        if None in results:
            verdict = words("not complete", "weak")
        rows.append(
            [
                words(claim),
                number(len(known), 0),
                number(rejected, 0),
                number(identical, 0),
                verdict,
            ]
        )
    return make(
        "honeine2013-ftest-claims",
        "honeine2013, Sec. 8: what the paper concludes from the test",
        ["claim", "tests", "equality rejected", "identical", "verdict"],
        rows,
        [
            "At level 0.05, one test of equal machines in twenty rejects: more than that share speaks for a "
            "difference, fewer for none. Szedmak's model with the two labelbooks that would differ most is degenerate "
            "and cannot be tested.",
            *_undefined_note(undefined),
        ],
        studies.quick,
        lacking=lacking(study.figures, run_command("honeine2013", "ftest", studies)),
    )


def _undefined_note(undefined: Sequence[TestResult]) -> list[str]:
    """One note that says how many tests have no answer and why, and that they are not counted; none without any."""
    return [f"Not counted: {len(undefined)} undefined tests ({undefined[0].undefined})."] if undefined else []


FTEST = TableSpec("ftest", "the statistical test of Sec. 8", (STUDY,), ftest)
