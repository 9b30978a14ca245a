"""What typer is told for the whole app: flags without a type in the help, no codes where NO_COLOR is set, a wrong use
told in one line.
"""

from __future__ import annotations

import inspect
import re
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


def flowed(help_text: str) -> str:
    """A help text of one line per paragraph, for a terminal of any width, and one per example.

    Examples are told apart by commas before ``mcls``, or by a bar with three spaces on both sides.

    >>> print(flowed("One line\\nand more.\\n\\nExamples: mcls a b, mcls c   |   mcls d | head"))
    One line and more.
    <BLANKLINE>
    Examples:
      mcls a b
      mcls c
      mcls d | head
    """
    paragraphs = []
    for paragraph in inspect.cleandoc(help_text).split("\n\n"):
        title, colon, examples = paragraph.partition(":")
        if colon and title in ("Example", "Examples"):
            commands = re.split(r"\s{3}\|\s{3}|,\s+(?=mcls )", examples.strip())
            paragraphs.append("\n  ".join([f"{title}:", *(" ".join(command.split()) for command in commands)]))
        else:
            paragraphs.append(" ".join(paragraph.split()))
    return "\n\n".join(paragraphs)


def _with_flowed_help(settings: dict[str, Any]) -> dict[str, Any]:
    """The settings of a command with its help and, below it, what was given to stand at the end."""
    parts = [text for text in (settings.get("help"), settings.get("epilog")) if text]
    return {**settings, "help": flowed("\n\n".join(map(inspect.cleandoc, parts))), "epilog": None}


class _Command(TyperCommand):
    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **_with_flowed_help(settings))

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_flag_types(super().get_params(ctx))


class _Group(TyperGroup):
    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **_with_flowed_help(settings))

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
