"""What can happen to a file: bytes turned, cut, put in and exchanged; values of nested data replaced by odd ones."""

from __future__ import annotations

import random
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

#: Texts that programs stumble over: odd numbers, controls, paths, markup, formulas, foreign digits and directions.
ODD_TEXTS = (
    "", " ", "?", "nan", "inf", "-inf", "1e999", "1e308", "-1e308", "5e-324", "1_000", "0x10", "1,5", "٣", "𝟛",
    "NULL", "\x00", "\x1b[2J", "\x1b]0;x\x07", "\x9b2J", "\x08\x08", "'", '"', '""', "9" * 400, "a" * 70_000,
    "=1+1", "=cmd|' /C calc'!A0", "../../x", "/etc/passwd", "\u202egpj", "\ud7ff", "é", "e\u0301", "1.5.2",
    "--1", "-", "--help", "red", "a", "%s%n", "{}", "$HOME", "`id`", "<script>alert(1)</script>", "~root/x",
    "nul", "\u2028", "\ufeff", "0", "-0", "true", "null", ".nan", "2^-4..2^4", "2^9..2^1", "0^-1", "2^1e9",
    "precomputed", "linear", "sk:SVC", "auto", "!!python/object/apply:os.system [id]", "*x", "&x", "| ", "> ",
    "[", "{", "a:b=c", "iris", "wine:first=20",
)  # fmt: skip
ODD_BYTES = (
    b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\x00", b'"', b"\r", b"\n", b"\n\n", b",", b";", b"\t", b"\x1a",
    b"\xc3\x28", b"\x1b[31m", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\x1f\x8b", b"PK\x03\x04", b"(" * 200,
    b"[" * 2000, b"9" * 400, b"-", b"e", b"1e400",
)  # fmt: skip
ODD_NUMBERS = (
    0, 1, -1, 2, 3, 7, 255, 256, 65_536, 10**7, 2**31 - 1, 2**31, 2**32, 2**63 - 1, 2**63, 10**20, -(10**20), 10**400,
    0.5, -0.5, 1e-300, 1e300, 1.7e308, 5e-324,
)  # fmt: skip


def damaged(r: random.Random, data: bytes) -> bytes:
    """Bits turned, bytes taken out, put in, exchanged, doubled or cut off, in one to four places."""
    for _ in range(r.randint(1, 4)):
        i = r.randint(0, len(data))
        j = min(len(data), i + r.choice((0, 1, 1, 2, 7, 40, 400)))
        how = r.choice(("flip", "flip", "replace", "replace", "double", "swap", "cut", "many"))
        if how == "flip" and i < len(data):
            data = data[:i] + bytes([data[i] ^ 1 << r.randrange(8)]) + data[i + 1 :]
        elif how == "replace":
            data = (
                data[:i] + (r.choice(ODD_BYTES) if r.random() < 0.7 else r.randbytes(r.randint(0, 6))) + data[j:]
            )
        elif how == "double":
            data = data[:j] + data[i:]
        elif how == "swap":
            data = data[j:] + data[:j]
        elif how == "cut":
            data = data[:i]
        elif how == "many":
            data = data[:i] + data[i:j] * r.choice((10, 100, 1000)) + data[j:]
    return data


def text(r: random.Random) -> str:
    """A text of a kind that nobody expects."""
    if r.random() < 0.8:
        return r.choice(ODD_TEXTS)
    letters = (
        chr(r.choice((r.randrange(32, 127), r.randrange(0x20, 0xD800), r.randrange(0xE000, 0x110000))))
        for _ in range(9)
    )
    return "".join(letters)[: r.randint(0, 9)]


def value(r: random.Random, depth: int = 0) -> Any:
    """A value of any kind JSON has, also deep and large ones."""
    kind = r.randrange(9)
    if kind < 3:
        return r.choice(ODD_NUMBERS)
    if kind < 5:
        return text(r)
    if kind == 5:
        return r.choice((None, True, False))
    if kind == 6 and depth < 3:
        return [value(r, depth + 1) for _ in range(r.choice((0, 1, 2, 3, 40)))]
    if kind == 7 and depth < 3:
        return {text(r)[:60]: value(r, depth + 1) for _ in range(r.choice((0, 1, 2, 3)))}
    nested: Any = []
    for _ in range(r.choice((5, 50, 200))):
        nested = [nested] if r.random() < 0.5 else {"a": nested}
    return nested


def spots(inside: Any, here: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every spot inside nested values, as the keys that lead to it."""
    children = (
        inside.items() if isinstance(inside, dict) else enumerate(inside) if isinstance(inside, list) else ()
    )
    for key, child in children:
        yield (*here, key)
        yield from spots(child, (*here, key))


def changed(r: random.Random, whole: Any, times: int = 3) -> None:
    """Replace, remove, rename, double or exchange values inside nested data, in place."""
    for _ in range(r.randint(1, times)):
        found = list(spots(whole))
        if not found:
            return
        inside, last = _at(whole, r.choice(found))
        how = r.choice(("replace", "replace", "replace", "remove", "rename", "double", "swap"))
        if how == "replace":
            inside[last] = value(r)
        elif how == "remove":
            del inside[last]
        elif how == "swap":
            other, name = _at(whole, r.choice(found))
            inside[last], other[name] = deepcopy(other[name]), deepcopy(inside[last])
        elif isinstance(inside, list):
            inside.append(inside[last])
        else:
            inside[text(r)[:60]] = inside[last] if how == "double" else inside.pop(last)


def _at(whole: Any, spot: tuple[Any, ...]) -> tuple[Any, Any]:
    for key in spot[:-1]:
        whole = whole[key]
    return whole, spot[-1]
