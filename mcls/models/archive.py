"""The model file: one uncompressed zip of a JSON text and arrays, closed by a checksum of all its bytes.

    model.json            what the model is; refers to the arrays by number
    arrays/0.npy, …       NumPy's own format, never pickled
    (archive comment)     sha256 of every byte before it, in hexadecimal

Any zip tool opens it. Nothing is ever extracted to disk and nothing in it is executed. Members are stored, not
deflated, so that a file can never need much more memory than its own size: a "zip bomb" has no fuse here.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import re
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mcls.errors import McLsError
from mcls.files import require_file, write_atomic

Array = np.ndarray

#: Raised when the layout of the file or the meaning of its JSON changes.
FORMAT = 1

_JSON = "model.json"
_ZIP = b"PK\x03\x04"
_NAME_AT = 30  # bytes before the name of a zip's first member
_ARRAY = re.compile(r"arrays/(0|[1-9]\d{0,4})\.npy")
_DIGEST = 64  # characters of a sha256
_MOST_BYTES = 2**32
_MOST_JSON = 2**26
_DATE = (1980, 1, 1, 0, 0, 0)  # the same model has the same bytes
#: What NumPy writes before an array's values, of bounded length: nothing of it is evaluated.
_HEADER = re.compile(
    rb"\{'descr': '([^'\\]{1,16})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,12}, ?){0,8}\d{0,12})\), \} {0,256}\n"
)
_NPY_1, _NPY_2 = b"\x93NUMPY\x01\x00", b"\x93NUMPY\x02\x00"
_MOST_HEADER = 1024
_KIND = re.compile(r"[<>|=][biufU]\d{1,9}")  # numbers and text; objects would be pickles


def write_archive(path: Path | str, content: dict[str, Any], arrays: Sequence[Array]) -> None:
    """Write JSON content and arrays as a model file, whole or not at all."""
    try:
        write_atomic(path, pack_archive(content, arrays))
    except OSError as error:
        raise McLsError(f"cannot write {path}: {error.strerror or error}") from None


def pack_archive(content: dict[str, Any], arrays: Sequence[Array]) -> bytes:
    """The bytes of a model file with this JSON content and these arrays."""
    try:
        text = json.dumps({"format": FORMAT, **content}, ensure_ascii=False, allow_nan=False, indent=1).encode(
            "utf-8"
        )
    except UnicodeEncodeError as error:
        raise McLsError(f"a name in the model is not text: {error.object[error.start : error.end]!r}") from None
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo(_JSON, _DATE), text)
        for i, array in enumerate(arrays):
            member = io.BytesIO()
            np.lib.format.write_array(member, array, allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"arrays/{i}.npy", _DATE), member.getvalue())
        archive.comment = b"0" * _DIGEST
    body = buffer.getvalue()[:-_DIGEST]
    return body + hashlib.sha256(body).hexdigest().encode("ascii")


def is_archive(path: Path) -> bool:
    """Whether a file begins as a model does."""
    with path.open("rb") as stream:
        head = stream.read(_NAME_AT + len(_JSON))
    return head.startswith(_ZIP) and head[_NAME_AT:] == _JSON.encode("ascii")


def read_archive(path: Path | str) -> tuple[dict[str, Any], list[Array]]:
    """Read a model file; one that is damaged, from a newer format or no model at all is refused."""
    data = _read_bytes(Path(path))
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = _members(path, archive, len(data))
            content = _read_json(path, members.pop(_JSON))
            arrays = [_read_array(path, members[name]) for name in sorted(members, key=_number)]
    except McLsError:
        raise
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError, ValueError) as error:
        raise McLsError(f"{path} is damaged: {error}") from None
    return content, arrays


def _read_bytes(path: Path) -> bytes:
    """The whole file, once its checksum has been found right."""
    try:
        require_file(path)
        size = path.stat().st_size
        if size > _MOST_BYTES:
            raise McLsError(f"{path} has {size} bytes; a model has at most {_MOST_BYTES}")
        with path.open("rb") as stream:
            if stream.read(len(_ZIP)) != _ZIP:
                raise McLsError(f"{path} is not an mcls model; mcls fit writes one")
            stream.seek(0)
            data = stream.read(size)
    except OSError as error:
        raise McLsError(f"cannot read {path}: {error.strerror or error}") from None
    if hashlib.sha256(data[:-_DIGEST]).hexdigest().encode("ascii") != data[-_DIGEST:]:
        raise McLsError(f"{path} is damaged, or no mcls model: its checksum does not fit its content")
    return data


def _members(path: Path | str, archive: zipfile.ZipFile, size: int) -> dict[str, bytes]:
    """Content of every member, after a look at what the directory claims."""
    infos = archive.infolist()
    names = [info.filename for info in infos]
    if _JSON not in names:
        raise McLsError(f"{path} is not an mcls model: it holds no {_JSON}")
    arrays = {f"arrays/{i}.npy" for i in range(len(names) - 1)}
    if len(set(names)) != len(names) or set(names) != {_JSON, *arrays}:
        odd = next((name for name in names if name != _JSON and not _ARRAY.fullmatch(name)), "arrays out of order")
        raise McLsError(f"{path} is not an mcls model: it holds {odd[:80]!r}")
    for info in infos:
        if (
            info.compress_type != zipfile.ZIP_STORED
            or info.flag_bits & 0x1
            or info.file_size != info.compress_size
        ):
            raise McLsError(f"{path}: {info.filename} is compressed or encrypted, which a model never is")
    if sum(info.file_size for info in infos) > size:
        raise McLsError(f"{path} claims to hold more than its own size")
    return {info.filename: archive.read(info) for info in infos}


def _read_json(path: Path | str, text: bytes) -> dict[str, Any]:
    if len(text) > _MOST_JSON:
        raise McLsError(f"{path}: {_JSON} is too long")
    try:
        content = json.loads(text.decode("utf-8"), parse_constant=_no_constant)
        json.dumps(content, ensure_ascii=False).encode("utf-8")  # escapes may spell half characters
    except (ValueError, RecursionError) as error:
        raise McLsError(f"{path}: {_JSON} cannot be read: {error}") from None
    number = content.get("format") if isinstance(content, dict) else None
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise McLsError(f"{path}: {_JSON} does not say its format")
    if number > FORMAT:
        raise McLsError(
            f"{path} was written by a newer mcls (format {number}; this one reads up to {FORMAT}): upgrade mcls"
        )
    return content


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is not JSON")


def _read_array(path: Path | str, data: bytes) -> Array:
    """Read one .npy member; what its header claims must be what is there, before anything is allocated."""
    # Magic and version, length of the header (2 bytes, from version 2 on 4), header, values.
    start = 12 if data.startswith(_NPY_2) else 10
    end = start + int.from_bytes(data[8:start], "little")
    header = _HEADER.fullmatch(data[start : min(end, _MOST_HEADER)])
    if not data.startswith((_NPY_1, _NPY_2)) or header is None:
        raise McLsError(f"{path}: an array cannot be read: NumPy writes no such header")
    kind, fortran, sizes = header[1].decode("latin-1"), header[2] == b"True", header[3]
    shape = tuple(int(size) for size in sizes.split(b",") if size.strip())
    try:
        dtype = np.dtype(kind if _KIND.fullmatch(kind) else "V0")
    except TypeError:
        dtype = np.dtype("V0")
    if dtype.itemsize == 0 or len(shape) > 8:
        raise McLsError(f"{path}: an array is of a kind that a model does not hold ({kind}, shape {shape})")
    rest = len(data) - end
    if math.prod(shape) * dtype.itemsize != rest:
        raise McLsError(f"{path}: an array of shape {shape} needs other than its {rest} bytes")
    flat = np.frombuffer(data, dtype=dtype, offset=end)
    array = flat.reshape(shape, order="F" if fortran else "C").copy(order="K")
    if dtype.kind == "U":  # NumPy itself would make strings of characters that do not exist
        code = np.frombuffer(data, dtype=np.dtype("u4").newbyteorder(dtype.byteorder), offset=end)
        if ((code > 0x10FFFF) | ((code >= 0xD800) & (code < 0xE000))).any():
            raise McLsError(f"{path}: an array of text holds what is not text")
    return array if dtype.isnative else array.astype(dtype.newbyteorder("="), order="K")


def _number(name: str) -> int:
    return int(name.removeprefix("arrays/").removesuffix(".npy"))
