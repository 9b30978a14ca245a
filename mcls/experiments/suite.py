"""Suites: several configs that are run one after the other and shown on one leaderboard."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

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
    if path.is_dir() and path.name:
        configs = sorted(file for file in path.glob("*.y*ml") if file.name not in (SUITE_FILE, CONFIG_FILE))
        return Suite(path.resolve().name, tuple(map(str, configs))) if configs else None
    try:
        if not path.is_file() or path.stat().st_size > _MOST_BYTES:
            return None
        values = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError):
        return None
    if not isinstance(values, dict) or _FIELD not in values:
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


def write_suite(suite: Suite, experiments: list[str], out: Path) -> None:
    """Note below the results of which experiments a suite is made."""
    text = yaml.safe_dump({"name": suite.name, _FIELD: experiments}, sort_keys=False)
    write_file(out / suite.name / SUITE_FILE, text)
