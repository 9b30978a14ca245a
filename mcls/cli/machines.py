"""``mcls machines`` and ``mcls labelbooks``: what the registries hold."""

from __future__ import annotations

from typing import Annotated

import typer


def machines(
    name: Annotated[str | None, typer.Argument(metavar="NAME", help="Explain this machine.")] = None,
) -> None:
    """List the machines, or explain one: its problem, parameters and reference.

    Examples: mcls machines, mcls machines voSVM, mcls machines sk:svm.SVC
    """
    from mcls.machines.registry import MACHINES, get_machine

    if name is None:
        from mcls.cli.show import print_table

        print_table(None, ["machine", "what it is"], [[m.name, m.summary] for m in MACHINES.values()])
        return
    import inspect

    machine = get_machine(name)
    typer.echo(
        f"{machine.name}: {machine.summary}\nReference: {machine.reference}\nClass: {machine.cls.__name__}\n"
    )
    typer.echo(inspect.getdoc(machine.cls) or "")
    typer.echo("\nOptions and their defaults (NAME:option=value on the command line and in configs)")
    for option, default in machine.create().get_params(deep=False).items():
        fixed = " (fixed for this machine)" if option in machine.params else ""
        values = machine.grid.get(option, "")
        tuned = (
            f" (tuned over {values if isinstance(values, str) else '+'.join(map(str, values))})" if values else ""
        )
        typer.echo(f"  {option} = {default!r}{fixed}{tuned}")


def labelbooks() -> None:
    """List the labelbooks: one label vector a class.

    Example: mcls labelbooks
    """
    from mcls.cli.show import print_table
    from mcls.labelbooks import LABELBOOKS

    rows = [[book.name, book.summary, book.reference] for book in LABELBOOKS.values()]
    print_table(None, ["labelbook", "label vectors", "reference"], rows)
