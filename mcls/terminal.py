"""What is printed: one way for text of the user's, a standard output whose reader may leave, counts in words.

No codes where NO_COLOR is set, no spaces at line ends outside a terminal.
"""

from __future__ import annotations

import errno
import io
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from mcls.errors import printable

if TYPE_CHECKING:
    from rich.console import Console

#: The shell's code for a program that writes to a pipe nobody reads (128 + SIGPIPE).
READER_LEFT = 141


def no_color() -> bool:
    """Whether the user asks for plain text (https://no-color.org)."""
    return bool(os.environ.get("NO_COLOR"))


def counted(count: int, what: str) -> str:
    """A number of things in words.

    >>> counted(1, "cell"), counted(3, "cell")
    ('1 cell', '3 cells')
    """
    return f"{count} {what}{'' if count == 1 else 's'}"


def in_folder(out: Path) -> str:
    """The option of a command that is to look into another folder of results than the usual one, ready to be pasted.

    >>> in_folder(Path("results")), in_folder(Path("my results"))
    ('', " --out 'my results'")
    """
    return "" if out == Path("results") else f" --out {shlex.quote(str(out))}"


def echo(text: object, err: bool = False) -> None:
    """Print one line; what names and files hold reaches the terminal as characters, never as its commands."""
    print(printable(str(text)), file=sys.stderr if err else sys.stdout, flush=True)


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


class _Descriptor(io.FileIO):
    """A descriptor that takes what is written to it also when that is lost, and remembers why it was."""

    trouble: OSError | None = None
    ends_the_command = False

    def write(self, data: Any) -> int:
        if self.trouble is None:
            try:
                return super().write(data)
            except OSError as error:
                self.trouble = error
        if self.ends_the_command:
            raise SystemExit(_code(self.trouble))
        return memoryview(data).nbytes


def _code(trouble: OSError) -> int:
    return READER_LEFT if trouble.errno == errno.EPIPE else 1


class _Patient(io.TextIOWrapper):
    """One of the process's own streams on such a descriptor."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self.descriptor = _Descriptor(stream.fileno(), "wb", closefd=False)
        super().__init__(
            io.BufferedWriter(self.descriptor),
            encoding=stream.encoding,
            # A letter that the encoding lacks is spelt out; it is not the end of a command.
            errors="backslashreplace" if stream.errors in ("strict", "surrogateescape") else stream.errors,
            line_buffering=stream.line_buffering,
            write_through=stream.write_through,
        )


def _patient(stream: Any, original: Any) -> Any:
    if stream is None:  # the descriptor was closed before the command began
        return open(os.devnull, "w", encoding="utf-8")
    ours = stream is original and isinstance(stream, io.TextIOWrapper) and os.name != "nt"
    return _Patient(stream) if ours else stream


@contextmanager
def patient_streams() -> Iterator[None]:
    """Let a command finish its work whatever becomes of its output: a pipe that is closed, a device that is full.

    Afterwards it ends with ``READER_LEFT``, or with 1 and a line on standard error; an error of its own keeps its code.
    Streams that a caller has put in the place of the process's are left alone.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = _patient(sys.stdout, sys.__stdout__), _patient(sys.stderr, sys.__stderr__)
    try:
        yield
    except SystemExit as end:
        sys.stdout.flush()
        trouble = sys.stdout.descriptor.trouble if isinstance(sys.stdout, _Patient) else None
        if trouble is None:
            raise
        if trouble.errno != errno.EPIPE:
            echo(f"mcls: cannot write to standard output: {trouble.strerror}", err=True)
        raise SystemExit(end.code or _code(trouble)) from None
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        sys.stdout, sys.stderr = before


@contextmanager
def data_output() -> Iterator[IO[bytes]]:
    """Standard output for data: for a reader that has left nothing remains to be done, so the command ends."""
    sys.stdout.flush()
    if not isinstance(sys.stdout, io.TextIOWrapper):  # whoever took its place wants text
        held = io.BytesIO()
        yield held
        sys.stdout.write(held.getvalue().decode("utf-8"))
        return
    descriptor = sys.stdout.descriptor if isinstance(sys.stdout, _Patient) else None
    try:
        if descriptor is not None:
            descriptor.ends_the_command = True
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    finally:
        if descriptor is not None:
            descriptor.ends_the_command = False
