"""``mcls machines`` and ``mcls labelbooks``: what the registries hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcls.cli.completing import machine_names
from mcls.cli.options import Json

if TYPE_CHECKING:
    from mcls.machines.registry import Machine


def machines(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Explain this machine.", autocompletion=machine_names)
    ] = None,
    as_json: Json = False,
) -> None:
    """List the machines, or explain one: its problem, parameters and reference.

    Examples: mcls machines, mcls machines voSVM, mcls machines sk:svm.SVC
    """
    from mcls.machines.registry import MACHINES, get_machine

    if as_json:
        from mcls.cli.documents import print_json

        chosen = list(MACHINES.values()) if name is None else [get_machine(name)]
        print_json("machines", {"machines": [_content(machine) for machine in chosen]})
        return
    if name is None:
        from mcls.plugins import entry_names

        rows = [[m.name, m.summary, _origin("machine", m.name)] for m in MACHINES.values()]
        rows += [
            [entry, f"a plug-in, loaded when it is used (mcls machines {entry})", package]
            for entry, package in entry_names("machine").items()
            if entry not in MACHINES
        ]
        _print_with_origins(["machine", "what it is"], rows)
        return
    import inspect

    from mcls.machines.foreign import parameters_of

    machine = get_machine(name)
    origin = _origin("machine", machine.name)
    typer.echo(
        f"{machine.name}: {machine.summary}\nReference: {machine.reference}\nClass: {machine.cls.__name__}\n"
        + (f"Origin: {origin}\n" if origin else "")
    )
    typer.echo(inspect.getdoc(machine.cls) or "")
    typer.echo("\nOptions and their defaults (NAME:option=value on the command line and in configs)")
    for option, default in parameters_of(machine.create()).items():
        fixed = " (fixed for this machine)" if option in machine.params else ""
        values = machine.grid.get(option, "")
        tuned = (
            f" (tuned over {values if isinstance(values, str) else '+'.join(map(str, values))})" if values else ""
        )
        typer.echo(f"  {option} = {default!r}{fixed}{tuned}")


def _content(machine: Machine) -> dict[str, Any]:
    """A machine as values."""
    return {
        "name": machine.name,
        "summary": machine.summary,
        "reference": machine.reference,
        "grid": dict(machine.grid),
        "origin": _origin("machine", machine.name) or "mcls",
    }


def labelbooks() -> None:
    """List the labelbooks: one label vector per class.

    Example: mcls labelbooks
    """
    from mcls.labelbooks import LABELBOOKS
    from mcls.plugins import entry_names

    rows = [
        [book.name, book.summary, book.reference, _origin("labelbook", book.name)] for book in LABELBOOKS.values()
    ]
    rows += [
        [entry, "a plug-in, loaded when it is used", "", package]
        for entry, package in entry_names("labelbook").items()
        if entry not in LABELBOOKS
    ]
    _print_with_origins(["labelbook", "label vectors", "reference"], rows)


def _origin(kind: str, name: str) -> str:
    """The plug-in that something comes from, in words; empty for what is part of mcls."""
    from mcls.plugins import origin_of

    return str(origin_of(kind, name) or "")


def _print_with_origins(columns: list[str], rows: list[list[str]]) -> None:
    """Print a table whose last column has the origins; without a plug-in there is no such column."""
    from mcls.cli.printing import print_table

    if any(row[-1] for row in rows):
        print_table(None, [*columns, "from"], [[*row[:-1], row[-1] or "mcls"] for row in rows])
    else:
        print_table(None, columns, [row[:-1] for row in rows])
