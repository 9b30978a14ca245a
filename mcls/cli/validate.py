"""``mcls validate``: check a config without running it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from mcls.cli.options import Json, config_argument
from mcls.cli.printing import print_note
from mcls.terminal import counted, echo


def validate(
    config: Annotated[str, config_argument("A YAML file, a folder of them, or the name of a shipped config.")],
    as_json: Json = False,
) -> None:
    """Check a config and its data, and say how much work it is; of a folder, or a file that lists some, check each.

    Examples: mcls validate mine.yaml, mcls validate suite.yaml
    """
    from mcls.errors import McLsError
    from mcls.experiments.suite import check_names, read_suite

    suite = read_suite(Path(config))
    if suite is None:
        _validate_one(config, as_json)
    elif as_json:
        raise McLsError(f"{config} is several configs; --json takes one of them")
    else:
        check_names(suite, [_validate_one(each) for each in suite.configs])


def _validate_one(config: str, as_json: bool = False) -> str:
    """Check a config, say how much work it is, and return its name."""
    from mcls.experiments.experiment import Experiment
    from mcls.experiments.loading import find_config, load_config

    path = find_config(config)
    loaded = load_config(path)
    plan = Experiment.laid_out(loaded, path.parent, Path("results")).plan
    if as_json:
        from mcls.cli.documents import print_json

        content = {
            "config": str(path),
            "name": loaded.name,
            "datasets": [entry.label for entry in loaded.datasets],
            "machines": len(plan.rows) // len(loaded.datasets),
            "replicates": loaded.n_replicates,
            "protocol": loaded.protocol,
            "cells": len(plan.cells),
            "notes": list(plan.notes),
        }
        print_json("validate", content)
        return loaded.name
    for note in plan.notes:
        print_note(note)
    amounts = [
        (len(loaded.datasets), "data set"),
        (len(plan.rows) // len(loaded.datasets), "machine"),
        (loaded.n_replicates, "replicate"),
    ]
    size = ", ".join(counted(*amount) for amount in amounts)
    echo(f"{path}: ok: {size}, protocol {loaded.protocol}: {counted(len(plan.cells), 'cell')}")
    return loaded.name
