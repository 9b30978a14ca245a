"""The record of a cell as a file: bytes closed by a checksum, and the shape that every reader may rely on."""

from __future__ import annotations

import hashlib
import json
from typing import Annotated, Any, Literal, NotRequired

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import from_json
from typing_extensions import TypedDict  # pydantic takes typing's own from Python 3.12 on

from mcls.experiments.cells import FORMAT, identity_key
from mcls.packing import unpack

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
    fields = (f" {json.dumps(k)}: {json.dumps(v, ensure_ascii=False, allow_nan=False)}" for k, v in record.items())
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
        protocol = record["identity"]["protocol"]["name"]
        for name in _NEEDED.get(protocol, ()):
            if name not in record["result"]:
                raise ValueError(f"result.{name}: Field required")
        if protocol == "5x2cv" and len(record["result"]["errors"]) != 2:
            raise ValueError("result.errors: there is not one for each half")
        _check_grid(record["result"])
    if raw.startswith(_UNCHECKED):
        _check_content(record)
    return record


def _check_grid(result: Record) -> None:
    """Refuse a grid that does not hold the chosen point, or mistakes that are not one for each point and fold."""
    grid = result.get("grid")
    if grid is None:
        return
    points = 1
    for name in grid["names"]:
        values = grid["values"].get(name, ())
        if any(name not in point or point[name] not in values for point in result["chosen"]):
            raise ValueError(f"result.chosen: its {name} is not in the grid")
        points *= len(values)
    if grid["fold_mistakes"]["shape"] != [points, len(grid["fold_sizes"])]:
        raise ValueError("result.grid.fold_mistakes: there is not one for each point and fold")


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


# What is read somewhere has a type here; other fields may stand beside.

_Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
_Scalar = str | int | float | bool | None


class _Packed(TypedDict):
    shape: list[Annotated[int, Field(ge=0)]]
    int16: str


class _Grid(TypedDict):
    names: list[str]
    values: dict[str, list[_Scalar]]
    fold_sizes: list[Annotated[int, Field(ge=1)]]
    fold_mistakes: _Packed


class _Facts(TypedDict, total=False):
    rows: int
    columns: int
    overlap: float
    overlap_cosine: float


class _Result(TypedDict):
    error: _Fraction
    chosen: Annotated[list[dict[str, _Scalar]], Field(min_length=1)]
    predictions: NotRequired[_Packed]
    errors: NotRequired[Annotated[list[_Fraction], Field(min_length=2)]]  # of the halves, or of each repetition
    oracle_error: NotRequired[_Fraction]
    grid: NotRequired[_Grid]
    facts: NotRequired[list[_Facts]]
    metrics: NotRequired[dict[str, float | None]]
    split_metrics: NotRequired[dict[str, list[float | None]]]


class _Library(TypedDict):
    user_api: str
    internal_api: NotRequired[str | None]
    version: NotRequired[str | None]


class _Environment(TypedDict):
    cpu: str
    cores: int | None
    libraries: list[_Library]


class _Protocol(TypedDict):
    name: str


class _Identity(TypedDict):
    protocol: _Protocol


class _Any(TypedDict):
    format: Literal[1]
    key: str
    dataset: str
    machine: str
    options: dict[str, Any]
    replicate: int
    engine: str
    identity: _Identity
    parameters: NotRequired[dict[str, Any]]
    warnings: NotRequired[list[str]]


class _Done(_Any):
    status: Literal["done"]
    result: _Result
    seconds: Annotated[float, Field(ge=0.0)]
    environment: _Environment


class _Failed(_Any):
    status: Literal["failed"]
    error: str


_RECORD: TypeAdapter[_Done | _Failed] = TypeAdapter(Annotated[_Done | _Failed, Field(discriminator="status")])
