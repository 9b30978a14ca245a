"""MATLAB 5 files: a numeric array by its name, and such an array as the bytes of a NumPy file."""

from __future__ import annotations

import io
import struct
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mcls.errors import McLsError

_HEADER = 128  # bytes before the first element
_ROOM = 4096  # for the name and the shape of an array
_COMPRESSED = 15  # the type of an element that is packed by zlib


def matlab_array(content: bytes, name: str, ndim: int | None = None) -> NDArray[Any]:
    """Read one numeric array, with so many axes where that is given."""
    from scipy.io import loadmat

    try:
        found = loadmat(io.BytesIO(content), variable_names=[name]).get(name)
    except Exception as error:  # scipy raises whatever the damaged bytes lead it to
        raise McLsError(f"not a readable MATLAB 5 file: {error}") from None
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "uif" or ndim not in {None, found.ndim}:
        axes = "" if ndim is None else f" with {ndim} axes"
        raise McLsError(f"no numeric array '{name}'{axes} in the file")
    return found


def matlab_to_npy(content: bytes, name: str, most: int) -> bytes:
    """The array as ``numpy.save`` writes it in MATLAB's order of axes, in the smallest unsigned type that holds it.

    The bytes depend on the values alone, so a checksum of them checks the values. Nothing that unpacks to more than
    eight times ``most`` bytes (MATLAB keeps whole numbers as doubles, too) is unpacked.
    """
    _refuse_large(content, 8 * most + _ROOM)
    values = matlab_array(content, name)
    if not np.all(np.isfinite(values)) or values.min(initial=0) < 0 or np.any(values != np.floor(values)):
        raise McLsError(f"the array '{name}' must hold whole numbers from 0 up")
    out = io.BytesIO()
    np.save(out, np.asfortranarray(values, dtype=np.min_scalar_type(int(values.max(initial=0)))))
    return out.getvalue()


def _refuse_large(content: bytes, most: int) -> None:
    """Unpack each packed element only as far as the bound."""
    start = _HEADER
    while start + 8 <= len(content):
        order = ">" if content[126:128] == b"MI" else "<"
        kind, size = struct.unpack(f"{order}II", content[start : start + 8])
        if kind == _COMPRESSED:
            packed = content[start + 8 : start + 8 + size]
            try:
                unpacked = zlib.decompressobj().decompress(packed, most + 1)
            except zlib.error as error:
                raise McLsError(f"not a readable MATLAB 5 file: {error}") from None
            if len(unpacked) > most:
                raise McLsError(f"an array unpacks to more than {most} bytes")
        start += 8 + size
