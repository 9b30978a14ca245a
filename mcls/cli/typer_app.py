"""What typer is told for the whole app: flags without a type in the help, no codes where NO_COLOR is set, a wrong use
told in one line.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from mcls.terminal import no_color

#: What typer raises when a command line cannot be read; it may come from a click of typer's own.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]


def explain_usage(error: Any) -> str | None:
    """What is wrong with a command line and where to look, in one line; None where the help itself was asked for."""
    if type(error).__name__ == "NoArgsIsHelpError":
        typer.echo(error.ctx.get_help(), nl=False)
        return None
    text = " ".join(error.format_message().split()).rstrip(".")
    return f"{text} (see {error.ctx.command_path} --help)" if error.ctx else text


def _without_flag_types(params: list[Any]) -> list[Any]:
    """A flag takes no value, so the help names none (typer would write <bool>)."""
    for param in params:
        if getattr(param, "is_flag", False):
            param.metavar = ""
    return params


class _Command(TyperCommand):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_flag_types(super().get_params(ctx))


class _Group(TyperGroup):
    def get_params(self, ctx: Any) -> list[Any]:
        return _without_flag_types(super().get_params(ctx))


class App(typer.Typer):
    """A typer app whose commands are all of this kind."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(cls=_Group, **settings)

    def command(self, name: str | None = None, **settings: Any) -> Any:
        """Add a command, as ``typer.Typer.command`` does."""
        return super().command(name, cls=_Command, **settings)

    def __call__(self, *args: Any, **settings: Any) -> Any:
        """Run a command line; the commands are put together once per process, which takes longer than many of them."""
        return self.made(*args, **settings)

    @cached_property
    def made(self) -> Any:
        """The commands, put together."""
        return typer.main.get_command(self)


def respect_no_color() -> None:
    """Keep typer's own help plain where the user asks for it."""
    if no_color():
        from typer import rich_utils

        rich_utils.COLOR_SYSTEM = None
