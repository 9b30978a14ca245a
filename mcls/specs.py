"""Names with options, as people type them: ``voSVM:labelbook=alignment,solver=active-set``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from mcls.errors import McLsError

_INTEGER = re.compile(r"[-+]?\d{1,18}")
_PLUS = re.compile(r"(?<!\d[eE])\+")  # but not that of 1e+3
_WORDS = {"true": True, "false": False, "none": None, "null": None}


def parse_scalar(text: str) -> Any:
    """Read a value: an integer, a number, true, false, none, or else the text itself.

    >>> [parse_scalar(t) for t in ("3", "1e-3", "true", "active-set")]
    [3, 0.001, True, 'active-set']
    """
    text = text.strip()
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    if _INTEGER.fullmatch(text):
        return int(text)
    try:
        return float(text)
    except ValueError:
        return text


def parse_spec(text: str) -> tuple[str, dict[str, Any]]:
    """Split ``name:option=value,option=value``; the name may hold colons itself (``sk:RidgeClassifier``).

    >>> parse_spec("voSVM:labelbook=alignment,bias=true")
    ('voSVM', {'labelbook': 'alignment', 'bias': True})
    >>> parse_spec("sk:RidgeClassifier:alpha=2")
    ('sk:RidgeClassifier', {'alpha': 2})
    """
    name, colon, tail = text.strip().rpartition(":")
    if not colon or "=" not in tail:
        name, tail = text.strip(), ""
    name = name.strip()
    if not name:
        raise McLsError(f"'{text}' has no name; write NAME or NAME:option=value")
    options: dict[str, Any] = {}
    for part in filter(None, (p.strip() for p in tail.split(","))):
        key, equals, value = part.partition("=")
        key = key.strip()
        if not equals or not key or not value.strip():
            raise McLsError(f"'{part}' in '{text}' is not an option; write option=value")
        if key in options:
            raise McLsError(f"'{text}' gives the option '{key}' twice")
        options[key] = parse_scalar(value)
    return name, options


def split_grid(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Part options into those with one value and those to be tuned: a range ``2^-2..2^6`` or a list ``1+10+100``.

    >>> split_grid({"kernel": "rbf", "C": "2^-2..2^6", "gamma": "0.5+1e+2"})
    ({'kernel': 'rbf'}, {'C': '2^-2..2^6', 'gamma': [0.5, 100.0]})
    """
    grid: dict[str, Any] = {}
    for name, value in options.items():
        if isinstance(value, str) and len(items := _PLUS.split(value)) > 1:
            grid[name] = [parse_scalar(item) for item in items]
        elif isinstance(value, str) and (".." in value or "^" in value):
            grid[name] = value
    return {name: value for name, value in options.items() if name not in grid}, grid


def split_list(value: Any) -> Any:
    """Part ``nr+note*`` into a list of texts; what is no text, or has no plus, stays as it is.

    >>> split_list("nr+note*"), split_list("nr")
    (['nr', 'note*'], 'nr')
    """
    return value.split("+") if isinstance(value, str) and "+" in value else value


def format_spec(name: str, options: Mapping[str, Any]) -> str:
    """Write a name with options back as ``parse_spec`` reads it.

    >>> format_spec("voSVM", {"labelbook": "alignment"})
    'voSVM:labelbook=alignment'
    """
    return name if not options else f"{name}:{format_options(options)}"


def format_options(options: Mapping[str, Any]) -> str:
    """Write options as ``a=1,b=true``."""
    return ",".join(f"{key}={_format(value)}" for key, value in options.items())


def _format(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    if isinstance(value, list):
        return "+".join(_format(item) for item in value)
    return str(value)
