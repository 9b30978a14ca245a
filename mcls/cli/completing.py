"""What a shell completes: names of machines, data sets, configs and experiments; nothing here imports what learns."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import typer

Found = list[tuple[str, str]]  # a word, and what it is


def _starting(words: Iterable[tuple[str, str]], typed: str) -> Found:
    """Those that begin with what was typed."""
    return [(word, what) for word, what in words if word.startswith(typed)]


def machine_names(incomplete: str) -> Found:
    """Machines of the registry, and those of installed plug-ins."""
    from mcls.machines.registry import MACHINES
    from mcls.plugins import entry_names

    known = {name: machine.summary for name, machine in MACHINES.items()}
    return _starting((dict.fromkeys(entry_names("machine"), "a plug-in") | known).items(), incomplete)


def machine_names_or_auto(incomplete: str) -> Found:
    """The same with ``best`` and ``auto``."""
    several = [("best", "the best of a few, by default"), ("auto", "the best of the fast machines, tested")]
    return [*_starting(several, incomplete), *machine_names(incomplete)]


def dataset_names(incomplete: str) -> Found:
    """Data sets with a card, and those of installed plug-ins."""
    from mcls.data.cards import card_names
    from mcls.plugins import entry_names

    return _starting([(name, "") for name in [*card_names(), *entry_names("data set")]], incomplete)


def dataset_names_or_tables(incomplete: str) -> Found:
    """The same, and tables in files."""
    return [*dataset_names(incomplete), *_files(incomplete, (".csv", ".tsv", ".parquet"))]


def config_names(incomplete: str) -> Found:
    """Shipped configs, and YAML files."""
    from mcls.experiments.loading import shipped_configs

    shipped = _starting([(name, "shipped with mcls") for name in shipped_configs()], incomplete)
    return [*shipped, *_files(incomplete, (".yaml", ".yml"))]


def experiment_names(ctx: typer.Context, incomplete: str) -> Found:
    """Experiments with results in the folder of ``--out``, then configs."""
    out = Path(ctx.params.get("out") or "results")
    run = sorted(path.parent.name for path in out.glob("*/plan.json"))
    found = _starting([(name, f"in {out}") for name in run], incomplete)
    return [*found, *(config for config in config_names(incomplete) if config[0] not in run)]


def papers_and_experiments(ctx: typer.Context, incomplete: str) -> Found:
    """Papers, then experiments."""
    from mcls.resources import published_files

    papers = dict.fromkeys(path.parents[1].name for path in published_files().values())
    found = _starting([(name, "a paper") for name in papers], incomplete)
    return [*found, *experiment_names(ctx, incomplete)]


def _files(incomplete: str, endings: tuple[str, ...]) -> Found:
    """Files with one of these endings, and folders, that begin with what was typed."""
    folder, _, start = incomplete.rpartition("/")
    place = Path(folder or ("/" if incomplete.startswith("/") else "."))
    try:
        inside = sorted(place.iterdir())
    except OSError:
        return []
    fitting = [path for path in inside if path.name.startswith(start) and not path.name.startswith(".")]
    before = f"{folder}/" if "/" in incomplete else ""
    return [
        (f"{before}{path.name}{'/' if path.is_dir() else ''}", "")
        for path in fitting
        if path.is_dir() or path.suffix.lower() in endings
    ]
