"""Telling how a run goes: a live line in a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
import time
from typing import Any

from mcls.experiments.cells import Cell
from mcls.experiments.store import Record
from mcls.terminal import counted, make_console

_SECONDS_BETWEEN_LINES = 5.0


def make_progress() -> LiveProgress | PlainProgress:
    """The display that suits where standard error goes."""
    return LiveProgress() if sys.stderr.isatty() else PlainProgress()


class LiveProgress:
    """A bar with cells done and failed, the rate and the time left."""

    def start(self, total: int) -> None:
        """Begin with ``total`` cells to compute."""
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._console = make_console(stderr=True)
        self._bar: Any = Progress(
            BarColumn(bar_width=20),
            MofNCompleteColumn(),
            TextColumn("{task.fields[failed]} failed"),
            TextColumn("{task.fields[rate]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("{task.description}", markup=False),
            console=self._console,
        )
        self._failed, self._done, self._started = 0, 0, time.monotonic()
        self._task = self._bar.add_task("", total=total, failed=0, rate="")
        if total:
            self._bar.start()

    def advance(self, cell: Cell, record: Record) -> None:
        """Show one cell that has arrived."""
        self._done += 1
        rate = f"{self._done / max(time.monotonic() - self._started, 1e-9):.1f}/s"
        if record["status"] == "failed":
            self._failed += 1
            self._console.print(f"failed: {cell.title}", markup=False, highlight=False, style="red")
        self._bar.update(self._task, advance=1, failed=self._failed, rate=rate, description=cell.title)

    def wait(self, count: int) -> None:
        """Show that the rest is the work of other runs."""
        self._bar.update(self._task, description=f"waiting for {count} of another run")

    def stop(self) -> None:
        """Take the bar down."""
        if self._bar.live.is_started:
            self._bar.stop()


class PlainProgress:
    """A line every few seconds, one for each failure, and one at the end."""

    def start(self, total: int) -> None:
        """Begin with ``total`` cells to compute."""
        self._total, self._done, self._failed, self._waits = total, 0, 0, False
        self._started = self._told = time.monotonic()

    def advance(self, cell: Cell, record: Record) -> None:
        """Take note of one cell, and tell when it is time to."""
        self._done += 1
        if record["status"] == "failed":
            self._failed += 1
            print(f"failed: {cell.title}", file=sys.stderr)
        now = time.monotonic()
        if now - self._told >= _SECONDS_BETWEEN_LINES or self._done == self._total:
            self._told = now
            rate = self._done / max(now - self._started, 1e-9)
            left = (self._total - self._done) / rate
            print(
                f"{self._done}/{self._total} cells, {self._failed} failed, {rate:.2g} a second, {left:.0f} s left",
                file=sys.stderr,
                flush=True,
            )

    def wait(self, count: int) -> None:
        """Say once that the rest is the work of other runs."""
        if not self._waits:
            self._waits = True
            print(f"waiting for {counted(count, 'cell')} of another run", file=sys.stderr, flush=True)

    def stop(self) -> None:
        """Nothing to take down."""
