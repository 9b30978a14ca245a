"""Estimators of scikit-learn in the files of skops: arrays and JSON, and only the types that skops itself trusts."""

from __future__ import annotations

import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

from mcls.errors import McLsError
from mcls.files import require_file, write_atomic

_SUFFIX = ".skops"


def is_skops(path: Path | str) -> bool:
    """Whether a file is one of skops, by its name."""
    return Path(path).suffix.lower() == _SUFFIX


def _skops() -> ModuleType:
    try:
        import skops.io
    except ImportError:
        raise McLsError("a .skops file needs the package skops: pip install 'mcls[skops]'") from None
    return skops.io


def write_skops(estimator: Any, path: Path) -> None:
    """Save a fitted estimator of scikit-learn; one that skops would not trust when it is read is refused."""
    io = _skops()
    content = io.dumps(estimator)
    if foreign := io.get_untrusted_types(data=content):
        raise McLsError(f"this model needs code beside scikit-learn's ({foreign[0]}), which no model file holds")
    write_atomic(path, content)


def read_skops(path: Path) -> Any:
    """Load it; a file with any type that skops does not trust by itself is refused, and so is a packed one."""
    io = _skops()
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
