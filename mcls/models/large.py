"""``mcls fit`` for tables that are read piece by piece: landmarks, chosen and cross-validated on all rows.

Passes over the table, whose order and sums are those of ``mcls.models.passes``:

1. ranges, texts, classes and a sample of 20,000 rows. On the sample it is found which width of the kernel is worth the
   passes over the table (``mcls.models.large_search``), and landmarks are chosen from its rows.
2. For this width, or each kernel of a grid that was given: the Gram sums of every fold, which give all γ.
3. Then the classes of all rows out of fold: the error that is printed is that of the machine that is saved.

The folds choose among few points and also judge: with this many rows that is optimistic by less than the interval.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from mcls.data.blocks import NotNumbers
from mcls.data.encoder import Encoder
from mcls.data.encoding import learn_from_facts, learning_notes
from mcls.data.formats import ColumnRules, TableFormat
from mcls.data.parts import Parts, Piece, open_parts
from mcls.data.statistics import (
    Classes,
    Counts,
    check_roles,
    column_facts,
    count_piece,
    find_classes,
    merge_pieces,
)
from mcls.data.tables import Column, NumberColumn, alike_notes, text_column
from mcls.errors import McLsError
from mcls.evaluation.folds import EQUAL_ROWS
from mcls.evaluation.grid import OnStep
from mcls.evaluation.metrics import ERROR, Metric, read_metrics
from mcls.evaluation.parameter_grids import effective_grid
from mcls.kernels import KERNEL_PARAMETERS
from mcls.machines.lsm import OneLSM
from mcls.models import budget, grids
from mcls.models.candidates import named_machine
from mcls.models.grids import Point
from mcls.models.large_result import Large, PassResults, Tried
from mcls.models.large_search import CORES, KernelSearch, Sample, Worth
from mcls.models.passes import Job, Scored, Scorer, Together, kernel_of, make_landmarks, score_piece, sum_piece
from mcls.models.resuming import Checkpoint, fingerprint_of
from mcls.models.spreading import Here, Workers
from mcls.models.table import Check, Reads, left_out
from mcls.models.training_rows import Say
from mcls.solvers.calibration import DECIDE
from mcls.solvers.gram_sums import Kernel, Sums, fold_coefficients, whole_coefficients
from mcls.solvers.landmarks import choose_landmarks
from mcls.solvers.weights import check_class_names, class_factors
from mcls.specs import format_spec, parse_spec
from mcls.threads import blas_threads

Array = np.ndarray

#: Share of what is left of a budget that is planned with.
_PLANNED = 0.8
#: Strengths that a budget reckons with.
_STRENGTHS = 8


@dataclass(frozen=True)
class LargeSettings:
    """What was asked for; see ``mcls.models.fitting.fit_table``."""

    machine: str = "oneLSM"
    grid: Any = "auto"
    folds: int | str = 10
    seed: int = 0
    groups: Any = EQUAL_ROWS
    metric: Any = ERROR.name
    costs: Any = None
    calibration: str | None = "auto"
    repeats: int = 1
    permutations: int = 0
    scaling: str | None = None
    seconds: float | None = None
    memory: float | None = None


def why_not(settings: LargeSettings) -> str | None:
    """Why a table cannot be read piece by piece with these settings; None where it can."""
    name = parse_spec(settings.machine)[0]
    if name.lower() == "auto":
        return "machines are not ranked: name one"
    estimator = named_machine(settings.machine)[1]
    if type(estimator) is not OneLSM or parse_spec(settings.machine)[1].get("solver") == "exact":
        return "only oneLSM with landmarks can be fitted"
    if DECIDE in (settings.calibration, estimator.calibration):
        return "scores decide the class, not a calibrated map"
    if settings.costs is not None or any(m.need != "classes" for m in read_metrics(settings.metric, None)):
        return "parameters are chosen by metrics of classes alone, such as error or balanced-error"
    if not isinstance(settings.folds, int):
        return "folds are given by their number"
    if settings.permutations:
        return "there is no test against chance"
    if settings.scaling == "fold":
        return "columns are scaled by all rows"
    return "folds are not repeated" if settings.repeats > 1 else None


class FirstPass(NamedTuple):
    """What the first pass found."""

    job: Job
    sample: Sample
    rows: int
    notes: list[str]


class _Fit:
    """One fit, pass by pass."""

    def __init__(
        self, parts: Parts, rules: ColumnRules, settings: LargeSettings, workers: Workers, progress: Checkpoint,
        say: Say | None, on_step: OnStep | None,
    ) -> None:  # fmt: skip
        self.began = time.monotonic()
        self.parts, self.rules, self.settings = parts, rules, settings
        self.workers, self.progress = workers, progress
        self.entry, self.estimator, self.options = named_machine(settings.machine)
        self.metrics: tuple[Metric, ...] = read_metrics(settings.metric, None)
        self.pieces: list[Piece] = parts.pieces()
        self._say, self.on_step = say, on_step
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        """Keep a note, and tell it."""
        self.notes.append(text)
        if self._say is not None:
            self._say(text)

    def _told(self, what: str) -> Callable[[int], None]:
        def done(count: int) -> None:
            if self.on_step is not None:
                self.on_step(what, count, len(self.pieces))

        done(0)
        return done

    # The first pass -----------------------------------------------------------------------------------------

    def read(self) -> FirstPass:
        """Count the table, or take what an interrupted fit has counted."""
        kept = self.progress.get("table")
        if kept is None:
            self._keep(*self._count())
            kept = self.progress.get("table")
            assert kept is not None
        values, arrays = kept
        encoder = Encoder.model_validate(values["encoder"])
        classes = Classes(tuple(values["classes"]), arrays["rows"], values["codes"])
        job = self._job(replace(self.parts, kinds=values["kinds"]), encoder, classes)
        sample = Sample(arrays["X"], arrays["y"], arrays["folds"], arrays.get("weights"))
        for note in values["notes"]:
            self.note(note)
        return FirstPass(job, sample, int(arrays["rows"].sum()), values["notes"])

    def _count(self) -> tuple[Parts, Counts]:
        parts = self.parts
        while True:
            done = self._told("pieces of the table counted")
            shared = self.workers.share(_same, parts), self.settings.seed
            found = self.workers.each(count_piece, self.pieces, shared, done)
            try:
                return parts, merge_pieces(found, self.pieces, parts)
            except NotNumbers as odd:  # seen late: read it as text from the beginning
                parts = parts.with_text(odd.column)

    def _keep(self, parts: Parts, counts: Counts) -> None:
        check_roles(counts, parts)
        encoder = learn_from_facts(column_facts(counts, parts.features), parts.title, self.rules, parts.decimal)
        found = find_classes(counts, parts)
        # The machine's classes are sorted as texts, whatever the order in which people count.
        names, place = np.unique(found.names, return_inverse=True)
        rows = np.bincount(place, found.rows, minlength=len(names)).astype(np.int64)
        classes = Classes(tuple(names.tolist()), rows, {t: int(place[c]) for t, c in found.codes.items()})
        notes = [*parts.notes, *learning_notes(encoder), *alike_notes(classes.names)]
        if any(facts.gaps is not None for facts in column_facts(counts, parts.features)):
            notes.append(f"missing numbers are filled in with the median of a sample of {len(counts.keys)} rows")
        job = self._job(parts, encoder, classes)
        columns = {name: _as_column(name, cells) for name, cells in counts.sample.items()}
        sample, _ = job.encoded([columns[name] for name in encoder.names], columns, counts.keys)
        if len(np.unique(sample.folds)) < 2:
            together = "groups" if parts.group is not None else "different rows"
            raise McLsError(f"{parts.title}: too few {together}: they are all in one fold; use more folds")
        arrays = {"rows": rows, "X": sample.X, "y": sample.y, "folds": sample.folds}
        if sample.weights is not None:
            arrays["weights"] = sample.weights
        values = {"encoder": encoder.model_dump(mode="json", exclude_none=True), "classes": list(classes.names),
                  "codes": classes.codes, "kinds": parts.kinds, "notes": notes}  # fmt: skip
        self.progress.put("table", values, arrays)

    def _job(self, parts: Parts, encoder: Encoder, classes: Classes) -> Job:
        together: Together = "equal rows" if self.settings.groups is not None else "nothing"
        if parts.group is not None:
            together = "group"
        factors = None
        if self.estimator.class_weight is not None:
            check_class_names(self.estimator.class_weight, classes.names)
            factors = class_factors(self.estimator.class_weight, classes.names, classes.rows.astype(float))
        return Job(parts, encoder, classes, int(self.settings.folds), self.settings.seed, together, factors)

    # What to try --------------------------------------------------------------------------------------------

    def worth(self, table: FirstPass, m: int) -> Worth:
        """The kernels to try on all rows, the best guess first, and the strengths."""
        if (given := self.given()) is not None:
            return given
        kept = self.progress.get("worth")
        if kept is None:
            together = table.job.together != "nothing"
            search = KernelSearch(
                self.estimator, self.options, table.sample, table.job.classes.names, table.rows, self.metrics[0],
                table.job.folds, table.job.seed, together, table.job.factors,
            )  # fmt: skip
            self.progress.put("worth", search.worth(m, self.on_step), {})
            kept = self.progress.get("worth")
            assert kept is not None
        return Worth(*kept[0])

    def given(self) -> Worth | None:
        """The kernels and strengths of a grid that is not automatic."""
        if self.settings.grid == "auto":
            return None
        own = grids.read_grid(self.settings.grid, self.entry, self.estimator)
        values = effective_grid(self.entry, self.estimator, self.options, {}, own)
        if odd := [name for name in values if name not in (*KERNEL_PARAMETERS, "gamma")]:
            raise McLsError(f"a large table is searched over the kernel and gamma, not over {odd[0]}")
        gammas = [float(g) for g in values.pop("gamma", [self.estimator.gamma])]
        return Worth([dict(zip(values, chosen)) for chosen in product(*values.values())], sorted(gammas))

    def landmarks(self, table: FirstPass, reading: float) -> tuple[int, int]:
        """The number of landmarks, and the most kernels that are tried with them."""
        settings, given = self.settings, self.given()
        kernels, strengths = (len(given.kernels), len(given.gammas)) if given else (1, _STRENGTHS)
        work = budget.Work(
            table.rows, table.job.folds, len(table.job.classes.names), strengths, self.workers.jobs,
            self.workers.threads, len(self.pieces), reading, 0 if given else len(table.sample.y),
        )  # fmt: skip
        if "n_landmarks" in self.options:
            m = int(self.options["n_landmarks"])
            budget.require_memory(work, min(m, table.rows), settings.memory)
            return m, kernels
        left = speed = None
        if settings.seconds is not None:
            left = _PLANNED * (settings.seconds - (time.monotonic() - self.began))
            speed = budget.Speed.measure(kernel_of(self.estimator), table.sample.X)
        m, count = budget.affordable_landmarks(work, kernels, left, settings.memory, speed)
        if settings.seconds is not None or settings.memory is not None:
            self.note(f"{m} landmarks are chosen for the time and memory given")
        return m, count

    # The other passes ---------------------------------------------------------------------------------------

    def try_kernel(self, table: FirstPass, point: Point, gammas: list[float], m: int, at: str) -> Tried:
        """Two passes: the sums at one kernel, then the classes out of fold at all strengths."""
        machine = self.estimator.set_params(**point)
        kernel, job = kernel_of(machine), table.job
        Z = choose_landmarks(machine.landmarks, kernel, table.sample.X, m, machine.random_state)
        kept = self.progress.get(f"scored {at}")
        if kept is not None:
            arrays = kept[1]
            scored = Scored(arrays["counts"], arrays["keys"], arrays["fingerprint"])
            return Tried(point, Z, arrays["whole"], arrays["folds"], arrays["N"], scored)
        L = make_landmarks(kernel, Z).L
        sums = self._sums(job, kernel, Z, at)
        if self.on_step is not None:
            self.on_step("solving", 0, None)
        # In the order in which they are read back: it decides the last digits of products, and the bytes of a model.
        solved = (f(sums, L, gammas, CORES) for f in (whole_coefficients, fold_coefficients))
        whole, folds = map(np.ascontiguousarray, solved)
        N = sums.N
        del sums
        scorer = Scorer(kernel, Z, folds, N.sum(axis=0) - N, machine)
        done = self._told(f"pieces of the table judged{at}")
        shared = [self.workers.share(_same, each) for each in (job, scorer)]
        found = self.workers.each(score_piece, self.pieces, shared, done)
        scored = reduce(Scored.plus, found)
        arrays = {"whole": whole, "folds": folds, "N": N, **scored._asdict()}
        self.progress.put(f"scored {at}", {}, arrays, instead_of=f"sums {at}")
        return Tried(point, Z, whole, folds, N, scored)

    def _sums(self, job: Job, kernel: Kernel, Z: Array, at: str) -> Sums:
        kept = self.progress.get(f"sums {at}")
        if kept is not None:
            return Sums(kept[1]["G"], kept[1]["R"], kept[1]["N"])
        done = self._told(f"pieces of the table summed{at}")
        shared = [self.workers.share(_same, job), self.workers.share(make_landmarks, kernel, Z)]
        sums = self.workers.total(sum_piece, self.pieces, shared, done)
        self.progress.put(f"sums {at}", {}, sums._asdict())
        return sums


def _same(value: Any) -> Any:
    return value


def _as_column(name: str, cells: Array) -> Column:
    """A column of the sample."""
    if cells.dtype.kind == "f":
        return NumberColumn(name, cells)
    places: dict[str, int] = {}
    codes = [places.setdefault(text, len(places)) if text else -1 for text in cells.tolist()]
    return text_column(name, np.array(codes, dtype=np.int64), list(places), None, None)


def fit_large(
    files: Sequence[Path],
    target: str | int = -1,
    settings: LargeSettings | None = None,
    *,
    form: TableFormat | None = None,
    rules: ColumnRules | None = None,
    group: str | None = None,
    weight: str | None = None,
    workers: Workers | None = None,
    resume_at: Path | None = None,
    check: Check | None = None,
    say: Say | None = None,
    on_step: OnStep | None = None,
) -> Large:
    """Fit a landmark machine to a table in one file or more, which is never in memory as a whole.

    ``resume_at`` is where what the passes have found is kept until the fit is done; ``check`` is called after the
    first pass.
    """
    settings, rules = settings or LargeSettings(), rules or ColumnRules()
    if (reason := why_not(settings)) is not None:
        raise McLsError(f"{files[0]} is read piece by piece, where {reason}")
    files = [path.absolute() for path in files]
    parts = open_parts(files, target, form, rules, group, weight)
    if weight is not None and named_machine(settings.machine)[1].class_weight is not None:
        raise McLsError(f"{files[0]} is read piece by piece, where either rows or classes have weights, not both")
    asked = {**vars(settings), "target": target, "form": str(form), "rules": str(rules), "roles": [group, weight]}
    progress = Checkpoint(resume_at, fingerprint_of(files, asked))
    fit = _Fit(parts, rules, settings, workers or Here(), progress, say, on_step)
    if progress.foreign and say is not None:
        say(f"{resume_at} is another file and is left alone: an interrupted fit will start again")
    if progress.resumed:
        fit.note("an interrupted fit of the same table goes on")
        fit.notes.pop()  # the model is the same as without the interruption
    # One BLAS thread: with more, the last digits would depend on their number.
    with blas_threads(1):
        made = _go(fit, check)
    progress.clear()
    return made


def _go(fit: _Fit, check: Check | None) -> Large:
    start = time.monotonic()
    table = fit.read()
    reading = time.monotonic() - start
    if check is not None:
        parts = table.job.parts
        check(Reads(table.job.encoder, parts.target, left_out(parts.dropped, parts.group, parts.weight)))
    m, count = fit.landmarks(table, reading)
    kernels, gammas = fit.worth(table, m)
    kernels = kernels[:count]
    tried = [
        fit.try_kernel(table, point, gammas, m, f", kernel {i + 1} of {len(kernels)}" * (len(kernels) > 1))
        for i, point in enumerate(kernels)
    ]
    found = PassResults(
        fit.entry, fit.estimator, format_spec(fit.entry.name, fit.options), fit.metrics, fit.settings.calibration,
        table.job, table.sample, table.rows, tried, gammas, fit.notes, fit.note,
    )  # fmt: skip
    return found.finish()
