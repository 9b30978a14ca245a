"""Suites: several configs that are run one after the other and shown on one leaderboard."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from mcls.errors import McLsError
from mcls.experiments.experiment import CONFIG_FILE
from mcls.experiments.store import write_file

#: In the folder of a suite's results: the experiments it is made of.
SUITE_FILE = "suite.yaml"
_FIELD = "suite"
_MOST_BYTES = 2**16


@dataclass(frozen=True)
class Suite:
    """A name, and the configs in order: paths, or names of shipped configs."""

    name: str
    configs: tuple[str, ...]


def read_suite(path: Path) -> Suite | None:
    """A suite from its file, ``suite: [a.yaml, b.yaml]``, or from a folder of configs; None if it is neither.

    A mistake in a file that is a suite is told with its name; any other file is left to the reader of configs.
    """
    if os.path.isdir(path) and path.name:
        apart = (SUITE_FILE, CONFIG_FILE)
        files = sorted(file for file in path.glob("*.y*ml") if file.name not in apart and _fields(file) is None)
        # The name of a folder becomes one of results, as that of a file that lists configs does.
        name = re.sub(r"[^\w-]+", "-", path.resolve().name).strip("-_") or _FIELD
        return Suite(name, tuple(map(str, files))) if files else None
    values = _fields(path)
    if values is None:
        return None
    if unknown := sorted(set(map(str, values)) - {_FIELD, "name"}):
        raise McLsError(
            f"{path}: a suite has 'suite' and 'name', not '{unknown[0]}'; other fields go into its configs"
        )
    listed, name = values[_FIELD], values.get("name", path.stem)
    if not isinstance(listed, list) or not listed or not all(isinstance(each, str) and each for each in listed):
        raise McLsError(f"{path}: 'suite' is a list of configs, such as [iris.yaml, wine.yaml]")
    if not isinstance(name, str) or not name.replace("-", "").replace("_", "").isalnum():
        raise McLsError(f"{path}: 'name' becomes a folder of results; use letters, digits, '-' and '_'")
    beside = [os.path.join(path.parent, each) for each in listed]
    return Suite(name, tuple(b if os.path.isfile(b) else each for b, each in zip(beside, listed)))


def _fields(path: Path) -> dict[str, Any] | None:
    """The fields of a file that lists configs; None for any other file."""
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        values = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None
    return values if isinstance(values, dict) and _FIELD in values else None


def check_names(suite: Suite, names: Sequence[str]) -> None:
    """Refuse what would share a folder of results: two configs of one name, or a config and the suite."""
    for name, count in Counter(names).items():
        if count > 1:
            raise McLsError(
                f"{suite.name}: {count} of its configs are called '{name}'; give each a 'name' of its own"
            )
        if name == suite.name:
            raise McLsError(
                f"{suite.name}: a config of it has the same name, and their pages would share a folder; give that "
                "config another 'name'"
            )


def write_suite(suite: Suite, experiments: list[str], out: Path) -> None:
    """Note below the results of which experiments a suite is made."""
    text = yaml.safe_dump({"name": suite.name, _FIELD: experiments}, sort_keys=False)
    write_file(out / suite.name / SUITE_FILE, text)
