"""Telling how far work has come: a live line in a terminal, plain lines elsewhere, nothing where it is short."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from mcls.terminal import echo, make_console

if TYPE_CHECKING:
    from mcls.experiments.cells import Cell
    from mcls.experiments.store import Record

#: Seconds of work before anything is shown, between two plain lines, and between two looks of the live line.
PATIENCE = 2.0
_BETWEEN_LINES = 5.0
_BETWEEN_LOOKS = 0.1


class Steps:
    """What is being done and how far it is; whoever does the work calls it with each step.

    A thread of its own does the showing, so that a single long step is not silent either.

    Examples
    --------
    >>> with Steps() as on_step:
    ...     on_step("grid points", 9, 81)
    ...     on_step.line()
    '9/81 grid points, 0 s, 0 s left'
    """

    def __init__(self, what: str = "reading the table") -> None:
        self._began = time.monotonic()
        self._over = threading.Event()
        self._watcher = threading.Thread(target=self._show, daemon=True)
        self._done, self._since_of = 0, dict[str, float]()
        self._restart(what)

    def __enter__(self) -> Steps:
        self._watcher.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._watcher.join()

    def __call__(self, what: str, done: int = 0, total: int | None = None, remark: str = "") -> None:
        """Take note of a step: ``done`` of ``total`` things, or of a number that is not known."""
        if what != self._what:
            self._restart(what)
        elif done < self._done:
            self._since_of.pop(what)
            self._restart(what)
        self._done, self._total, self._remark = done, total, remark

    def line(self) -> str:
        """The state in words; the time left is that of what is being done now."""
        now = time.monotonic()
        parts = [f"{self._done}/{self._total} {self._what}" if self._total else self._what]
        if self._done and not self._total:
            parts = [f"{self._done} {self._what}"]
        parts += [self._remark] * bool(self._remark)
        parts.append(f"{now - self._began:.0f} s")
        if self._total and self._done:
            parts.append(f"{(now - self._since) * (self._total - self._done) / self._done:.0f} s left")
        return ", ".join(parts)

    def _restart(self, what: str) -> None:
        self._what, self._done, self._total, self._remark = what, 0, None, ""
        self._since = self._since_of.setdefault(what, time.monotonic())  # also of what goes on after a pause

    def _show(self) -> None:
        if self._over.wait(PATIENCE):
            return
        with contextlib.suppress(OSError, ValueError):  # standard error is closed: nobody looks
            (self._show_live if sys.stderr.isatty() else self._show_lines)()

    def _show_lines(self) -> None:
        over = False
        while not over:
            print(self.line(), file=sys.stderr, flush=True)
            over = self._over.wait(_BETWEEN_LINES)

    def _show_live(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn

        columns: tuple[Any, ...] = (BarColumn(bar_width=20), TextColumn("{task.description}", markup=False))
        # Standard output may be data: it must not be drawn into the picture.
        bar = Progress(*columns, console=make_console(stderr=True), transient=True, redirect_stdout=False)
        with bar:
            task = bar.add_task("")
            while True:
                over = self._over.wait(_BETWEEN_LOOKS)
                bar.update(task, description=self.line(), completed=self._done, total=self._total)
                if over:
                    return


class CellProgress:
    """What the runner tells of its cells; a failure at once, and outside a terminal a line at the end."""

    def start(self, total: int) -> None:
        """Begin with ``total`` cells to compute."""
        self._total, self._done, self._failed = total, 0, 0
        self._steps = Steps("cells")
        if total:
            self._steps.__enter__()
            self._steps("cells", 0, total)

    def advance(self, cell: Cell, record: Record) -> None:
        """Take note of one cell that has arrived."""
        self._done += 1
        if record["status"] == "failed":
            self._failed += 1
            echo(f"failed: {cell.title}", err=True)
        self._go_on()

    def wait(self, count: int) -> None:
        """Only cells that other runs have claimed are left, so many of them; none: there is work again."""
        if count:
            self._steps("cells of another run to wait for", count)
        else:
            self._go_on()

    def _go_on(self) -> None:
        self._steps("cells", self._done, self._total, f"{self._failed} failed")

    def stop(self) -> None:
        """End, also after an interruption."""
        if self._total:
            self._steps.__exit__()
        if self._total and self._done == self._total and not sys.stderr.isatty():
            print(self._steps.line(), file=sys.stderr, flush=True)  # for a log
