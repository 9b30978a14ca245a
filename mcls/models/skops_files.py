"""Estimators of scikit-learn in the files of skops: arrays and JSON, and only the types that skops itself trusts."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

from mcls.errors import McLsError
from mcls.files import require_file, write_atomic, zip_names

_SUFFIX = ".skops"


def is_skops(path: Path | str) -> bool:
    """Whether a file is one of skops, by its name."""
    return Path(path).suffix.lower() == _SUFFIX


def is_skops_file(path: Path) -> bool:
    """Whether a file is one of skops, by its name and its content."""
    return is_skops(path) and "schema.json" in zip_names(path)


def require_skops() -> ModuleType:
    """The input and output of skops, or the advice to install it."""
    try:
        import skops.io
    except ImportError:
        raise McLsError("a .skops file needs the package skops: pip install 'mcls[skops]'") from None
    return skops.io


def write_skops(content: Any, path: Path) -> None:
    """Save a fitted classifier of scikit-learn; one that skops would not trust when it is read is refused."""
    write_atomic(path, dump_skops(content))


def dump_skops(content: Any) -> bytes:
    """The bytes of the file."""
    io = require_skops()
    made: bytes = io.dumps(content)
    if foreign := io.get_untrusted_types(data=made):
        raise McLsError(f"this model needs {foreign[0]}, which skops does not trust: no model file holds it")
    return made


def read_skops(path: Path) -> Any:
    """Load it; a file with any type that skops does not trust by itself is refused, and so is a packed one."""
    io = require_skops()
    require_file(path)
    try:
        with zipfile.ZipFile(path) as archive:
            if any(member.compress_type != zipfile.ZIP_STORED for member in archive.infolist()):
                raise McLsError("its parts are compressed")
        if foreign := io.get_untrusted_types(file=path):
            raise McLsError(f"it asks for {str(foreign[0])[:80]}, which is not scikit-learn's")
        return io.load(path, trusted=[])
    except Exception as error:  # whatever the values of a file cause, it is the file that is wrong
        raise McLsError(f"{path} holds no usable model: {error or type(error).__name__}") from None
