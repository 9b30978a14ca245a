"""Errors that tell the user what to do next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class McLsError(ValueError):
    """A mistake in what the user gave us: the command line prints it as one line and exits with 2."""


class ClusterError(RuntimeError):
    """A cluster cannot compute, or no longer; what is finished is kept. One line, and exit code 1."""


class PrecisionWarning(UserWarning):
    """Rounding leaves few digits of a fitted machine's scores; the text says what to change."""


def printable(text: str) -> str:
    """Text as a terminal may show it: what a file holds must not move the cursor or change colours.

    >>> printable("red\\x1b[2Jblue")
    'red�[2Jblue'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name closest to a mistyped one, or None when nothing is close.

    >>> nearest("oneLMS", ["oneLSM", "ovA"])
    'oneLSM'
    """
    by_lower = {k.lower(): k for k in known}
    close = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=0.5)
    return by_lower[close[0]] if close else None


def unknown_name(kind: str, name: str, known: Iterable[str]) -> McLsError:
    """Build the error for a name that is not in a registry, with the nearest known one.

    >>> str(unknown_name("machine", "oneLMS", ["oneLSM", "ovA"]))
    "unknown machine 'oneLMS'; did you mean 'oneLSM'? (known: oneLSM, ovA)"
    """
    known = list(known)
    guess = nearest(name, known)
    hint = f"; did you mean '{guess}'?" if guess else ""
    return McLsError(f"unknown {kind} '{name}'{hint} (known: {', '.join(known)})")
