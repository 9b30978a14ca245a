"""How a user's table is written (``TableFormat``) and what its columns are for (``ColumnRules``)."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from mcls.errors import McLsError, unknown_name

#: Words for characters that a shell, a config or ``FILE.csv:option=value`` would take for something else.
_WORDS = {
    "comma": ",",
    "semicolon": ";",
    "tab": "\t",
    r"\t": "\t",
    "pipe": "|",
    "space": " ",
    "point": ".",
    "dot": ".",
}
DECIMALS = (".", ",")
MISSING_RULES = ("refuse", "impute")
_ENCODING_NAME = re.compile(r"[A-Za-z0-9_-]{1,20}")
#: As Python's codecs name them. No other codec is looked for: some do not encode text at all.
ENCODINGS = (
    "utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii", "latin-1", "iso8859-2", "iso8859-5",
    "iso8859-7", "iso8859-9", "iso8859-15", "cp1250", "cp1251", "cp1252", "cp1253", "cp1254", "cp437", "cp850",
    "cp852", "cp866", "koi8-r", "mac-roman", "gb18030", "big5", "shift_jis", "euc_jp", "euc_kr",
)  # fmt: skip


@dataclass(frozen=True)
class TableFormat:
    """How a table is written; what is None is found out from the file.

    Parameters
    ----------
    delimiter : str, optional
        The character between two cells, or a word for it: comma, semicolon, tab, pipe, space.
    decimal : {".", ","}, optional
        The mark before the digits of a fraction.
    encoding : str, optional
        One of ``ENCODINGS``, or another name of it: latin1, windows-1252.
    header : bool, optional
        Whether the first row names the columns.

    Examples
    --------
    >>> TableFormat(delimiter="semicolon", decimal="comma")
    TableFormat(delimiter=';', decimal=',', encoding=None, header=None)
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    header: bool | None = None
    kind: str = field(default="text", repr=False)  # or "parquet" or "arrow": found out, never said

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _delimiter(self.delimiter))
        if self.decimal is not None:
            mark = _WORDS.get(self.decimal, self.decimal)
            if mark not in DECIMALS:
                raise McLsError(f"the decimal mark is a point or a comma, not {self.decimal!r}")
            object.__setattr__(self, "decimal", mark)
        if self.encoding is not None:
            object.__setattr__(self, "encoding", _encoding(self.encoding))
        if self.delimiter is not None and self.delimiter == self.decimal:
            raise McLsError(f"the delimiter and the decimal mark cannot both be '{self.decimal}'")

    @property
    def given(self) -> list[str]:
        """The options that say how text is written, where they were given."""
        return [name for name in ("delimiter", "decimal", "encoding") if getattr(self, name) is not None]


def _delimiter(text: str) -> str:
    mark = _WORDS.get(text, text)
    if len(mark) != 1 or mark in "\"'\r\n\0." or mark.isalnum():
        raise McLsError(
            f"the separator must be one character between cells (or comma, semicolon, tab, pipe, space), not {text!r}"
        )
    return mark


def _encoding(text: str) -> str:
    known = {codecs.lookup(name).name: name for name in ENCODINGS}
    try:
        found = codecs.lookup(text).name if _ENCODING_NAME.fullmatch(text) else ""
    except LookupError:
        found = ""
    if found not in known:
        raise unknown_name("encoding", text, ENCODINGS)
    return known[found]


@dataclass(frozen=True)
class ColumnRules:
    """What the columns of a table are for; a column is named exactly or by a pattern such as ``note*``.

    Parameters
    ----------
    drop : sequence of str
        Columns that are left out, whatever their cells hold.
    keep : sequence of str
        Columns that are used although they count the rows.
    categorical : sequence of str
        Columns of numbers that are codes: one 0/1 feature for each.
    ordinal : sequence of str
        Columns of texts with an order, each with its texts: ``size=S<M<L``.
    missing : {"refuse", "impute"}
        What to do where values are missing.

    Examples
    --------
    >>> rules = ColumnRules(drop=["note*"], ordinal=["size=S < M < L"])
    >>> rules.dropped(["size", "note 1", "note 2"], "t.csv")
    ['note 1', 'note 2']
    >>> rules.orders
    {'size': ('S', 'M', 'L')}
    """

    drop: Sequence[str] = ()
    keep: Sequence[str] = ()
    categorical: Sequence[str] = ()
    ordinal: Sequence[str] = ()
    missing: str = "refuse"
    orders: dict[str, tuple[str, ...]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("drop", "keep", "categorical", "ordinal"):  # lists too: a frozen carrier can be a key
            value = getattr(self, name)
            one = isinstance(value, str | int)  # a data frame may call its columns by numbers
            listed = (value,) if one else () if value is None else value
            object.__setattr__(self, name, tuple(map(str, listed)))
        if self.missing not in MISSING_RULES:
            raise unknown_name("rule for missing values:", str(self.missing), MISSING_RULES)
        object.__setattr__(self, "orders", dict(_order(text) for text in self.ordinal))
        if len(self.orders) < len(self.ordinal):
            raise McLsError("an ordinal column is given twice")

    @property
    def impute(self) -> bool:
        """Whether missing values are filled in."""
        return self.missing == "impute"

    def dropped(self, names: Sequence[str], path: Any) -> list[str]:
        """The columns that are left out, of those of a table."""
        return matching(self.drop, names, path)

    def as_text(self, names: Sequence[str], path: Any) -> list[str]:
        """The columns whose cells are codes or ordered texts, also where they look like numbers."""
        if unknown := [name for name in self.orders if name not in names]:
            raise unknown_name(f"column in {path}:", unknown[0], names)
        codes = matching(self.categorical, names, path)
        if both := [name for name in codes if name in self.orders]:
            raise McLsError(f"{path}: column '{both[0]}' cannot be both categorical and ordinal")
        return [*codes, *self.orders]


def matching(patterns: Sequence[str], names: Sequence[str], path: Any) -> list[str]:
    """The names that are among the patterns or match one, in their order; a pattern without any is refused."""
    for pattern in patterns:
        if not any(name == pattern or fnmatchcase(name, pattern) for name in names):
            raise unknown_name(f"column in {path}:", pattern, names)
    return [name for name in names if any(name == p or fnmatchcase(name, p) for p in patterns)]


def _order(text: str) -> tuple[str, tuple[str, ...]]:
    """Read ``size=S<M<L``; the name may hold an equals sign, the texts may not."""
    name, equals, listed = text.partition("<")[0].rpartition("=")[0], "=" in text, text
    levels = tuple(part.strip() for part in listed[len(name) + 1 :].split("<"))
    if not equals or not name.strip() or len(levels) < 2 or not all(levels) or len(set(levels)) < len(levels):
        raise McLsError(f"'{text}' is not an order of a column's texts; write COLUMN=first<second<third")
    return name.strip(), levels
