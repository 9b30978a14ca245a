"""A small table of numbers and texts."""

from __future__ import annotations

MIXED = "size,hue,kind\n" + "".join(
    f"{i % 7 + (3 if i % 2 else 0)},{'red' if i % 2 else ['green', 'blue'][i % 4 // 2]},{'ab'[i % 2]}\n"
    for i in range(40)
)
