"""Tables of papers: running what they lack, writing them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from mcls.experiments.experiment import run_together
from mcls.experiments.runner import Progress, RunOutcome
from mcls.experiments.store import write_file
from mcls.reporting.paper import NOT_RUN, TableSpec
from mcls.reporting.render import FILES
from mcls.reporting.studies import AbsentDataError, Studies, Study
from mcls.reporting.table import Table


def needed(specs: Iterable[TableSpec], studies: Studies) -> list[Study]:
    """The studies behind some tables, each once; those that time anything last, when the machine is idle again.

    Studies whose data are not on this machine are left out: their tables say how to get them.
    """
    found: dict[str, Study] = {}
    for spec in specs:
        for name in spec.studies:
            found[name] = studies[name]
        for name in spec.extra:
            try:
                found[name] = studies[name]
            except AbsentDataError:
                continue
    return sorted(found.values(), key=lambda study: study.config.timing)


def run(
    todo: Sequence[Study], jobs: int, make_progress: Callable[[], Progress], tell: Callable[[str], None]
) -> list[RunOutcome]:
    """Compute the cells that are missing: those of all studies together, but for those that are timed."""
    together: list[Study] = []
    timed: list[Study] = []
    for study in todo:
        try:
            plan, store = study.experiment.plan, study.store
        except AbsentDataError:  # run elsewhere: its plan and its cells are here, its data are not
            continue
        done = (store.brief(cell) for cell in plan.cells)
        missing = sum(brief is None or brief.status != "done" for brief in done)
        if not missing:
            study.experiment.write_plan()
            study.refresh()
            continue
        how = "one at a time, for the clock" if study.config.timing else f"{jobs} at a time"
        tell(f"{study.name}: {missing} of {len(plan.cells)} cells to compute, {how}")
        (timed if study.config.timing else together).append(study)
    outcomes = []
    if together:
        outcomes += run_together([study.experiment for study in together], jobs, make_progress())
    outcomes += [study.experiment.run(progress=make_progress()) for study in timed]
    for study in (*together, *timed):
        study.refresh()
    return outcomes


def write(tables: Iterable[Table], out: Path) -> Path:
    """Write each table as Markdown, CSV and LaTeX below ``tables/``; return that folder.

    A table that was not run here, for lack of its data, does not replace one that was run elsewhere.
    """
    folder = out / "tables"
    for table in tables:
        for suffix, render in FILES.items():
            path = folder / f"{table.name}{suffix}"
            if table.columns != NOT_RUN or not path.exists():
                write_file(path, render(table))
    return folder
