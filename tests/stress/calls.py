"""System calls that write, seen by Python's audit hooks: which files they touch."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
#: Event → where its path is among the arguments, and the folder descriptor it is relative to.
_PATHS: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((1, 3),),
    "os.symlink": ((1, 2),),
    "os.remove": ((0, 1),),
    "os.mkdir": ((0, 2),),
    "os.rmdir": ((0, 1),),
    "os.chmod": ((0, 2),),
    "os.truncate": ((0, None),),
    "fcntl.flock": ((0, None),),
    "fcntl.lockf": ((0, None),),
}


def touched(event: str, args: Sequence[Any]) -> list[str]:
    """The absolute paths that an audit event is about to change; none if it writes nothing.

    A link's last part is not followed where the call would not follow it: renaming replaces the link itself.
    """
    if event == "open":
        path, _, flags = args
        return [] if not flags & _WRITING else _resolved(path, None, follow=True)
    return [
        name
        for at, folder in _PATHS.get(event, ())
        for name in _resolved(args[at], None if folder is None else args[folder], follow=event == "os.truncate")
    ]


def _resolved(path: Any, folder: int | None, follow: bool) -> list[str]:
    if isinstance(path, int):
        path, follow = f"/proc/self/fd/{path}", True
    text = os.fsdecode(path)
    if folder is not None and folder >= 0 and not os.path.isabs(text):
        text = os.path.join(f"/proc/self/fd/{folder}", text)
    if follow:
        return [os.path.realpath(text)]
    return [os.path.join(os.path.realpath(os.path.dirname(text) or "."), os.path.basename(text))]
