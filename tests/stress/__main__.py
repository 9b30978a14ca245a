"""``python -m tests.stress``: carry out the attacks, print the table, exit with 1 if anything failed."""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from . import (
    arguments,
    cells,
    cluster,
    configs,
    flips,
    forks,
    hardship,
    mirrors,
    models,
    moments,
    poison,
    processes,
    steps,
    tables,
    together,
)
from .attack import Attack, Result, carry_out
from .table import show, write

ATTACKS: dict[str, type[Attack]] = {
    attack.name: attack
    for attack in (
        steps.RunSteps,
        steps.FitSteps,
        steps.PredictSteps,
        steps.FetchSteps,
        moments.Moments,
        processes.Fresh,
        processes.Workers,
        tables.Tables,
        configs.Configs,
        models.Models,
        cells.Cells,
        mirrors.Mirrors,
        arguments.Arguments,
        flips.Flips,
        hardship.HardPlaces,
        together.Together,
        cluster.Cluster,
        poison.Poison,
    )
}


def main() -> int:
    """Read the command line and carry out what it asks for."""
    parser = argparse.ArgumentParser(prog="python -m tests.stress", description=__doc__)
    parser.add_argument(
        "attacks", nargs="*", metavar="ATTACK", help=f"one of {', '.join(ATTACKS)}; all by default"
    )
    parser.add_argument("--short", action="store_true", help="a few tries of each, seconds in all")
    parser.add_argument("--most", type=int, metavar="N", help="no more tries of each than this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--try", type=int, dest="number", metavar="N", help="one try, its folder kept")
    parser.add_argument("-j", "--jobs", type=int, default=2, help="tries at the same time")
    parser.add_argument("--write", type=Path, metavar="DIR", help="also write the table as CSV and Markdown")
    parser.add_argument("--show", type=Path, metavar="PAGE", help="put the table of a whole run into this page")
    chosen = parser.parse_args()
    whole = not (chosen.attacks or chosen.short or chosen.most or chosen.number is not None)
    if chosen.show and not (whole and chosen.write):
        parser.error("--show goes with --write DIR and a run of everything")
    if unknown := [name for name in chosen.attacks if name not in ATTACKS]:
        parser.error(f"there is no attack {unknown[0]}; there are {', '.join(ATTACKS)}")
    forks.import_everything()
    results = []
    for name in chosen.attacks or ATTACKS:
        result = carry_out(ATTACKS[name](), chosen.seed, chosen.jobs, chosen.short, chosen.most, chosen.number)
        results.append(result)
        _tell(result, chosen.seed)
    if chosen.write:
        write(results, chosen.write)
    if chosen.show:
        show(chosen.write, chosen.show)
    return int(any(result.failed for result in results))


def _tell(result: Result, seed: int) -> None:
    """Print what came of an attack: of each kind of fault one, and how to see it again."""
    told = f"skipped: {result.skipped}" if result.skipped else f"{result.tried} tried, {result.failed} failed"
    print(f"{result.attack.name}: {told} ({result.seconds:.0f} s, {result.cpu_seconds:.0f} s of the processor)")
    kinds: dict[str, list[tuple[int, str]]] = {}
    for number, fault in result.faults:
        kind = re.sub(r"\([^)]*\)|'[^']*'|\S*\d\S*", "", fault)[:150]  # without names and numbers
        kinds.setdefault(kind, []).append((number, fault))
    for faults in kinds.values():
        number, fault = faults[0]
        print(f"  {len(faults)} × {fault[:600]}")
        print(f"      again: python -m tests.stress {result.attack.name} --seed {seed} --try {number}")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
