"""``--json``: what a command found as one JSON document on standard output; ``docs/json.md`` has the keys.

Errors are not documents: they are one line on standard error, with exit code 2, and nothing on standard output.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mcls.evaluation.resampling_tests import Effect
    from mcls.evaluation.statistics import FriedmanResult
    from mcls.experiments.compare import Comparison, Pair
    from mcls.experiments.stored import StoredComparison
    from mcls.models.fitting import Fitted
    from mcls.models.judging import Confusion
    from mcls.models.table import TableModel

#: Raised where a key changes its meaning or goes; new keys may come at any time.
VERSION = 1


def print_json(kind: str, content: Mapping[str, Any]) -> None:
    """Print a document of a kind; what is not finite is null."""
    document = {"schema": f"mcls.{kind}/{VERSION}", **content}
    sys.stdout.write(json.dumps(_plain(document), ensure_ascii=True, indent=2, allow_nan=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if hasattr(value, "tolist"):  # NumPy's scalars and arrays
        return _plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def model_content(model: TableModel) -> dict[str, Any]:
    """What a table model is."""
    parameters = model.estimator.get_params(deep=False)
    return {
        "machine": model.facts.machine,
        "parameters": parameters,
        "target": model.target,
        "columns": [column.model_dump(mode="json", exclude_none=True) for column in model.encoder.columns],
        "features": len(model.encoder.feature_names),
        "facts": model.facts.model_dump(mode="json"),
    }


def confusion_content(found: Confusion) -> dict[str, Any]:
    """Counts, and recall and precision of each class."""
    precision = [*found.precision.tolist(), *[None] * (len(found.true) - len(found.predicted))]
    classes = [
        {"class": name, "rows": int(counts.sum()), "recall": recall, "precision": p}
        for name, counts, recall, p in zip(found.true, found.counts, found.recall.tolist(), precision)
    ]
    return {
        "true": list(found.true),
        "predicted": list(found.predicted),
        "counts": found.counts,
        "classes": classes,
    }


def fit_content(fitted: Fitted, path: Any) -> dict[str, Any]:
    """What ``mcls fit`` found."""
    ranking = None
    if fitted.ranking is not None:
        ranking = [
            {"machine": r.machine, "error": r.error, "seconds": r.seconds, "parameters": r.best_params}
            for r in fitted.ranking.machines
        ]
    chance, test = None, fitted.selection.chance
    if test is not None:
        chance = {
            "error": test.statistic,
            "p": test.p,
            "permutations": len(test.permuted),
            "expected": test.expected,
        }
    return {
        "model": str(path),
        **model_content(fitted.model),
        "grid_points": len(fitted.selection.results),
        "confusion": confusion_content(fitted.confusion),
        "ranking": ranking,
        "chance": chance,
        "nested_metrics": fitted.selection.nested_metrics or None,
        "test": None,
    }


def comparison_content(experiment: Comparison, further: StoredComparison | None = None) -> dict[str, Any]:
    """What ``mcls compare`` found: errors in percent or values of another metric, and further tests of the pairs."""
    names, table = experiment.values()
    return {
        "machines": [{"name": label, "tuned": label == title} for label, title in experiment.titles.items()],
        "datasets": list(names),
        "metric": experiment.metric.name,
        "errors": table,
        "alpha": experiment.alpha,
        "pairs": [_pair_content(pair, experiment.alpha) for pair in experiment.pairs()],
        "ranking": _ranking_content(experiment.ranking()),
        "further": None if further is None else stored_content(further),
        "folder": str(experiment.folder),
    }


def _ranking_content(result: FriedmanResult | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {
        "average_ranks": list(result.ranks),
        "chi2": result.chi2,
        "p": result.p,
        "critical_difference": result.critical_difference,
    }


def stored_content(found: StoredComparison) -> dict[str, Any]:
    """What ``mcls compare --from`` found: values of the metric, every pair, and the tests over data sets."""
    pairs = [
        {
            **{
                "dataset": pair.dataset,
                "a": pair.a,
                "b": pair.b,
                "value_a": pair.value_a,
                "value_b": pair.value_b,
            },
            "f": None if pair.ftest is None or pair.ftest.undefined else pair.ftest.p,
            "corrected_t": _effect_content(pair.corrected),
            "posterior": asdict(pair.posterior),
            "permutation": None if pair.permutation is None else pair.permutation.p,
        }
        for pair in found.pairs
    ]
    place = {name: i for i, name in enumerate(found.machines)}
    over = [
        {
            **{"a": a, "b": b, "wilcoxon": _effect_content(test), "posterior": asdict(chance)},
            "holm": None if found.holm is None else found.holm[place[a], place[b]],
        }
        for a, b, test, chance in found.over
    ]
    return {
        "machines": found.machines,
        "datasets": found.datasets,
        "metric": found.metric.name,
        "values": found.table,
        "pairs": pairs,
        "over_datasets": over,
        "ranking": _ranking_content(found.ranks),
    }


def _effect_content(of: Effect) -> dict[str, Any]:
    p = None if of.undefined else of.p
    return {"difference": of.difference, "low": of.low, "high": of.high, "level": of.level, "p": p}


def _pair_content(pair: Pair, alpha: float) -> dict[str, Any]:
    tests = {}
    for name in ("f", "t", "mcnemar"):
        result = getattr(pair, name)
        p = None if result is None or result.undefined else result.p
        tests[name] = {"p": p, "verdict": pair.verdict(name, alpha)}
    errors = {"error_a": pair.value_a, "error_b": pair.value_b}
    return {"dataset": pair.dataset, "a": pair.a, "b": pair.b, **errors, "tests": tests}
