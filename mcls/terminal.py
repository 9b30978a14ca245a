"""What is printed: counts in words; no codes where NO_COLOR is set, no spaces at line ends outside a terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console


def no_color() -> bool:
    """Whether the user asks for plain text (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


def counted(count: int, what: str) -> str:
    """A number of things in words.

    >>> counted(1, "cell"), counted(3, "cell")
    ('1 cell', '3 cells')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def make_console(**settings: Any) -> Console:
    """A console with rich's settings; NO_COLOR leaves out bold and dim too, which rich alone would keep."""
    from rich.console import Console

    return Console(color_system=None if no_color() else "auto", **settings)


@contextmanager
def output(**settings: Any) -> Iterator[Console]:
    """A console on standard output; what goes to a file or a pipe is not padded to its width."""
    console = make_console(**settings)
    if console.is_terminal:
        yield console
        return
    with console.capture() as captured:
        yield console
    sys.stdout.write("\n".join(line.rstrip() for line in captured.get().split("\n")))
