"""A board: the rows of one experiment, or of the several of a suite, as machines × data sets with their metrics."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from mcls.errors import McLsError, unknown_name
from mcls.evaluation.metrics import Metric, get_metric
from mcls.evaluation.resampling_tests import corrected_ttest, holm
from mcls.evaluation.statistics import FriedmanResult, TestResult, ftest_5x2cv
from mcls.experiments.compare import ranking
from mcls.experiments.stored import alike_machines, machine_name
from mcls.experiments.suite import SUITE_FILE, read_suite
from mcls.reporting.studies import Studies, Study, StudyRow
from mcls.terminal import in_folder

ALPHA = 0.05


@dataclass(frozen=True)
class Against:
    """A machine tested against the reference on one data set; ``p`` is corrected for the number of machines."""

    dataset: str
    machine: str
    test: TestResult
    difference: float  # of the means, as the metric is shown
    p: float
    alpha: float

    @property
    def mark(self) -> str:
        """A sign for tables: ⁺ significantly better than the reference, ⁻ worse, nothing otherwise."""
        if not self.p < self.alpha or not self.difference:
            return ""
        return "⁺" if self.difference < 0 else "⁻"


class Board:
    """Rows by data set and machine.

    Parameters
    ----------
    name : str
        Of the experiment or the suite; its pages and tables go to the folder of that name.
    studies : list of Study
        What the rows come from; a machine that two of them judge on a data set is taken from the first. Different data
        of one name are told apart by the name of the study.
    """

    def __init__(self, name: str, studies: Sequence[Study]) -> None:
        self.name = name
        self.studies = list(studies)
        self.out = studies[0].out
        self.folder = studies[0].folder if len(studies) == 1 else self.out / name

    @cached_property
    def rows(self) -> dict[tuple[str, str], StudyRow]:
        """(Data set, machine as tables name it) → row, in the order of the configs."""
        found: dict[tuple[str, str], StudyRow] = {}
        every = self._named([row for study in self.studies for row in study.figures])
        books: dict[tuple[str, str, str], set[str]] = {}
        for row in every:
            books.setdefault((row.dataset, row.row.machine, row.row.options), set()).add(row.row.labelbook)
        several = {machine for (_, machine, _), known in books.items() if len(known) > 1}
        for row in every:
            book = row.row.labelbook if row.row.machine in several else ""
            label = ", ".join(filter(None, (row.row.machine, book, row.row.options)))
            found.setdefault((row.dataset, label), row)
        return found

    @staticmethod
    def _named(every: Sequence[StudyRow]) -> list[StudyRow]:
        """The rows, those of a name that stands for different data with that of their study beside it."""
        contents: dict[str, set[str]] = {}
        for row in every:
            contents.setdefault(row.dataset, set()).add(row.row.cells[0].fingerprint)
        return [
            replace(row, dataset=f"{row.dataset} ({row.study})") if len(contents[row.dataset]) > 1 else row
            for row in every
        ]

    @property
    def datasets(self) -> list[str]:
        """The data sets in order."""
        return list(dict.fromkeys(dataset for dataset, _ in self.rows))

    @property
    def machines(self) -> list[str]:
        """The machines in order, as tables name them."""
        return list(dict.fromkeys(machine for _, machine in self.rows))

    @property
    def metrics(self) -> list[Metric]:
        """The metrics that some row was asked for."""
        names = dict.fromkeys(name for row in self.rows.values() for name in row.metrics)
        return [known_metric(name) for name in names]

    def metric(self, name: str) -> Metric:
        """A metric of this board by its name."""
        known = {metric.name.lower(): metric for metric in self.metrics}
        if name.lower() not in known:
            raise unknown_name(f"metric of {self.name}", name, [metric.name for metric in self.metrics])
        return known[name.lower()]

    def machine(self, text: str) -> str:
        """A machine of this board by its label, as a config has it, or by its name where that is enough."""
        typed: dict[str, str] = {}
        for (_, label), row in self.rows.items():
            typed.setdefault(label, machine_name(row.row))
        found = [label for label, spec in typed.items() if text.lower() in (label.lower(), spec.lower())]
        alike = alike_machines(list(typed.values()), text)
        found = found or [label for label, spec in typed.items() if spec in alike]
        if len(found) != 1:
            known = [spec if ", " in label else label for label, spec in typed.items()]
            raise unknown_name(f"machine of {self.name}", text, known)
        return found[0]

    @property
    def protocols(self) -> list[str]:
        """The protocols of the rows."""
        return list(dict.fromkeys(row.row.protocol for row in self.rows.values()))

    @property
    def command(self) -> str:
        """What runs the cells that are missing."""
        root = self.studies[0].root
        where = in_folder(root)
        if self.studies[0].quick:
            return f"mcls tables --all --quick{where}"
        return "; ".join(
            f"mcls run {shlex.quote(study.source)}{where}{' --plugin FILE.py' * study.plan.is_plugged}"
            for study in self.studies
        )

    def values(self, dataset: str, machine: str, metric: Metric) -> np.ndarray | None:
        """A metric of all replicates, as it is shown; None unless all are there."""
        row = self.rows.get((dataset, machine))
        found = row.values(metric.name) if row is not None else None
        return None if found is None else scale(metric) * np.array(found)

    def means(self, metric: Metric) -> np.ndarray:
        """Means (data sets, machines) of which the smallest is the best; NaN where something is missing."""
        found = [[self.values(d, m, metric) for m in self.machines] for d in self.datasets]
        values = [[np.nan if each is None else each.mean() for each in line] for line in found]
        return metric.as_loss(np.array(values, dtype=float))

    def ranking(self, metric: Metric, alpha: float = ALPHA) -> FriedmanResult | None:
        """Friedman's test; None with one machine, or with fewer than two data sets on which all are done."""
        return ranking(self.means(metric), alpha) if len(self.machines) > 1 else None

    def against(self, reference: str, metric: Metric, alpha: float = ALPHA) -> dict[tuple[str, str], Against]:
        """Every other machine tested against one on every data set, Holm-corrected within a data set."""
        found: dict[tuple[str, str], Against] = {}
        for dataset in self.datasets:
            base = self.rows.get((dataset, reference))
            tested = {}
            for machine in self.machines:
                row = self.rows.get((dataset, machine))
                if base is None or row is None or machine == reference:
                    continue
                if (test := compare_rows(row, base, metric)) is not None:
                    tested[machine] = test
            defined = [machine for machine, test in tested.items() if not np.isnan(test.p)]
            p = dict(zip(defined, holm([tested[machine].p for machine in defined]))) if defined else {}
            for machine, test in tested.items():
                a, b = (self.values(dataset, name, metric) for name in (machine, reference))
                if a is None or b is None:
                    continue
                difference = float(metric.as_loss(np.array(a.mean() - b.mean())))
                corrected = float(p.get(machine, np.nan))
                found[dataset, machine] = Against(dataset, machine, test, round(difference, 12), corrected, alpha)
        return found


def scale(metric: Metric) -> float:
    """What a stored figure is multiplied by to be shown."""
    return 100.0 if metric.percent else 1.0


def known_metric(name: str) -> Metric:
    """A metric by its name; one of a plug-in needs that plug-in, for which way is better."""
    try:
        return get_metric(name)
    except McLsError as error:
        raise McLsError(f"{error}; if it is a plug-in's, add --plugin FILE.py") from None


def compare_rows(row: StudyRow, base: StudyRow, metric: Metric) -> TestResult | None:
    """Test of two rows on the same splits: the 5×2cv F-test, or the corrected resampled t-test; None without splits."""
    a, b = row.split_values(metric.name), base.split_values(metric.name)
    if a is None or b is None or a.shape != b.shape or a.size < 2 or _splits(row) != _splits(base):
        return None
    if row.row.protocol == "5x2cv" and a.shape == (5, 2):
        return ftest_5x2cv(a, b, row.data.n if metric.name == "error" else None)
    return corrected_ttest(metric.as_loss(a.ravel()), metric.as_loss(b.ravel()), row.share_tested)


def _splits(row: StudyRow) -> list[tuple[object, ...]]:
    """What decides the splits of a row's cells: two studies of a suite may split one data set in different ways."""
    return [(cell.protocol, cell.settings, cell.seed, cell.grouped) for cell in row.row.cells]


def find_board(studies: Studies, text: str) -> Board:
    """The board of an experiment or a suite: by the name of its folder of results, or by its file."""
    suite = None
    if text not in studies.experiments():  # a folder of configs may have the name of an experiment
        suite = read_suite(studies.out / text / SUITE_FILE) or read_suite(Path(text))
    if suite is not None:
        return Board(suite.name, [studies.experiment(name) for name in names_of(suite.configs, studies)])
    study = studies.experiment(text)
    return Board(experiment_name(study), [study])


def names_of(configs: Iterable[str], studies: Studies) -> list[str]:
    """The experiments of a suite as ``Studies.experiment`` takes them: the folder of results where there is one."""
    known = studies.experiments()
    return [Path(text).stem if Path(text).stem in known else text for text in configs]


def experiment_name(study: Study) -> str:
    """The name of an experiment, with the folder of a comparison, of which there are many."""
    folder = Path(study.source).parent.name
    return f"{study.name}-{folder}" if study.name == "compare" and folder else study.name
