"""The record of a cell as a file: bytes closed by a checksum, and the shape that every reader may rely on."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import from_json

from mcls.evaluation.packing import unpack
from mcls.experiments.cells import FORMAT, identity_key

Record = dict[str, Any]

_CHECKED = b'{\n "sha256": "'  # the sum of every byte after its own line follows
_UNCHECKED = b'{\n "format": '  # how cells began before they had one: those stay valid
_HEX = 64
_START = len(_CHECKED) + _HEX + len(b'",\n')

#: Protocol → what its results have beside ``error`` and ``chosen``, as far as it is read.
_NEEDED = {"published": ("grid",), "half-split": ("oracle_error",), "5x2cv": ("errors", "predictions")}


class NewerFormatError(ValueError):
    """A record that a later version of mcls wrote; it is neither read nor damaged."""


def encode(record: Record) -> bytes:
    """The bytes of a record: one line per field, so that a change shows in a diff as what it is."""
    fields = (
        f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False, allow_nan=False)}" for k, v in record.items()
    )
    rest = (",\n".join(fields) + "\n}\n").encode("utf-8")
    return _CHECKED + hashlib.sha256(rest).hexdigest().encode("ascii") + b'",\n' + rest


def is_checked(raw: bytes) -> bool:
    """Whether a file has a checksum."""
    return raw.startswith(_CHECKED)


def decode(raw: bytes, key: str) -> Record:
    """The record of a cell from its bytes; a ValueError says what is wrong with them.

    Every changed bit is noticed where there is a checksum. Without one, what can be told from the content is: the
    key is the hash of the identity, and packed arrays unpack.
    """
    if is_checked(raw):
        rest = raw[_START:]
        if raw[:_START] != _CHECKED + hashlib.sha256(rest).hexdigest().encode("ascii") + b'",\n':
            raise ValueError("its checksum does not fit")
        raw = b"{" + rest
    elif not raw.startswith(_UNCHECKED):
        raise ValueError("it does not begin as a cell does")
    record = from_json(raw, allow_inf_nan=False)
    if isinstance(record, dict) and isinstance(record.get("format"), int) and record["format"] > FORMAT:
        raise NewerFormatError(f"it has format {record['format']}, and this version of mcls reads {FORMAT}")
    try:
        _RECORD.validate_python(record, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"][1:])  # the first part is the status
        raise ValueError(f"{where}: {first['msg']}" if where else first["msg"]) from None
    if record["key"] != key:
        raise ValueError(f"it is the record of another cell, {record['key']}")
    if record["status"] == "done":
        for name in _NEEDED.get(record["identity"]["protocol"]["name"], ()):
            if name not in record["result"]:
                raise ValueError(f"result.{name}: Field required")
    if raw.startswith(_UNCHECKED):
        _check_content(record)
    return record


def _check_content(record: Record) -> None:
    if identity_key(record["identity"]) != record["key"]:
        raise ValueError("its identity does not fit its key")
    result = record.get("result", {})
    for packed in (result.get("predictions"), result.get("grid", {}).get("fold_mistakes")):
        if packed is not None:
            try:
                unpack(packed)
            except Exception as error:  # of base64, zlib or numpy
                raise ValueError(f"a packed array cannot be read: {error}") from None


_Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
_Scalar = str | int | float | bool | None


class _Shape(BaseModel):
    """What is read somewhere has a type here; other fields may stand beside."""

    model_config = ConfigDict(strict=True)


class _Packed(_Shape):
    shape: list[Annotated[int, Field(ge=0)]]
    int16: str


class _Grid(_Shape):
    names: list[str]
    values: dict[str, list[_Scalar]]
    fold_sizes: list[Annotated[int, Field(ge=1)]]
    fold_mistakes: _Packed


class _Facts(_Shape):
    rows: int = 0
    columns: int = 0
    overlap: float = 0.0
    overlap_cosine: float = 0.0


class _Result(_Shape):
    error: _Fraction
    chosen: Annotated[list[dict[str, _Scalar]], Field(min_length=1)]
    predictions: _Packed = _Packed(shape=[], int16="")
    errors: Annotated[list[_Fraction], Field(min_length=2, max_length=2)] = []
    oracle_error: _Fraction = 0.0
    grid: _Grid | None = None
    facts: list[_Facts] = []


class _Library(_Shape):
    user_api: str
    internal_api: str | None = None
    version: str | None = None


class _Environment(_Shape):
    cpu: str
    cores: int | None
    libraries: list[_Library]


class _Protocol(_Shape):
    name: str


class _Identity(_Shape):
    protocol: _Protocol


class _Any(_Shape):
    format: Literal[1]
    key: str
    dataset: str
    machine: str
    options: dict[str, Any]
    replicate: int
    engine: str
    identity: _Identity
    parameters: dict[str, Any] = {}
    warnings: list[str] = []


class _Done(_Any):
    status: Literal["done"]
    result: _Result
    seconds: Annotated[float, Field(ge=0.0)]
    environment: _Environment


class _Failed(_Any):
    status: Literal["failed"]
    error: str


_RECORD: TypeAdapter[_Done | _Failed] = TypeAdapter(Annotated[_Done | _Failed, Field(discriminator="status")])
