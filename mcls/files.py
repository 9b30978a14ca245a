"""Writing files so that a reader never sees half of one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO


def write_atomic(path: Path | str, content: bytes | str) -> None:
    """Write to a temporary file beside ``path``, flush it to the disk, then rename it into place.

    Whatever happens on the way (a full disk, a kill), ``path`` holds either its old content or the new.
    """
    with open_atomic(path) as stream:
        stream.write(content.encode("utf-8") if isinstance(content, str) else content)


@contextlib.contextmanager
def open_atomic(path: Path | str) -> Iterator[IO[bytes]]:
    """The same for content that comes in pieces: ``path`` is replaced when the block ends without an error."""
    path = Path(path)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(name, 0o644)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
