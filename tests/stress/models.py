"""Mutated models: damaged files, and files whose checksum fits a content that no ``mcls fit`` ever wrote."""

from __future__ import annotations

import hashlib
import io
import json
import random
import warnings
import zipfile
from typing import Any

import numpy as np

from mcls.models.archive import read_archive

from . import forks
from .attack import Tally
from .inputs import Mutated, judged
from .mutate import ODD_TEXTS, changed, damaged
from .places import Place
from .tables import ONE_POINT, TABLE

_HEADS = (
    "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': " + "(" * 300 + "1" + ")" * 300 + ", }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (" + "(" * 90 + "1,), }",
    "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<U99999999', 'fortran_order': False, 'shape': (0,), }",
    "{'descr': [('a', '<f8'), ('b', '|O')], 'fortran_order': False, 'shape': (1,), }",
    "{'descr': '<f8', 'fortran_order': 1, 'shape': (-1, -16), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (2L,), }",
    "{'descr': '<f8', 'fortran_order': False, 'shape': (9" + "9" * 5000 + ",), }",
    "{'descr': '<f8', 'fortran_order': False}",
    "__import__('os').system('touch gone')",
    "{'descr': '<f8'\\\n",
    "[" * 400,
)
_MACHINES = ("oneLSM:gamma=0.5,sigma=1", "ovO:gamma=0.5,sigma=1", "voLSSVM:gamma=0.5,sigma=1,labelbook=pm1")


class Models(Mutated):
    """Every command that reads a model."""

    name = "models"
    what = "damaged models, and mutated ones with a checksum that fits, through inspect, predict and evaluate"
    full = 2000

    def prepare(self, place: Place) -> None:
        """A model of each of three machines."""
        (place.work / "good.csv").write_bytes(TABLE)
        self._good = []
        for machine in _MACHINES:
            args = ("fit", "good.csv", "--target", "kind", *ONE_POINT[2:], "--machine", machine, "-o", "good.mcls")
            forks.run(place, *args)
            path = place.work / "good.mcls"
            self._good.append((path.read_bytes(), *read_archive(path)))

    def attempt(self, trial: int, place: Place, r: random.Random) -> Tally:
        """One model, one command."""
        whole, content, arrays = r.choice(self._good)
        (place.work / "m.mcls").write_bytes(
            damaged(r, whole) if r.random() < 0.25 else _sealed(r, content, arrays)
        )
        (place.work / "good.csv").write_bytes(TABLE)
        command = r.choice(("inspect", "predict", "evaluate"))
        if command == "inspect":
            return Tally(1, judged(place, "inspect", "m.mcls")[1])
        if command == "evaluate":
            return Tally(1, judged(place, "evaluate", "m.mcls", "good.csv")[1])
        return Tally(1, judged(place, "predict", "m.mcls", "good.csv", "-o", "o.csv", makes=("work/o.csv",))[1])


def _sealed(r: random.Random, content: dict[str, Any], arrays: list[np.ndarray]) -> bytes:
    """An archive of mutated content, closed by the checksum of it."""
    content = json.loads(json.dumps(content))
    members = [_npy(array) for array in arrays]
    how = r.random()
    if how < 0.55:
        changed(r, content)
    if how > 0.45:
        i = r.randrange(len(members))
        members[i] = r.choice((_other_array(r, arrays[i]), _other_head(r, members[i]), damaged(r, members[i])))
    text = json.dumps(content, ensure_ascii=r.random() < 0.5, indent=1).encode("utf-8", "surrogatepass")
    if r.random() < 0.05:
        text = damaged(r, text)
    names = ["model.json", *(f"arrays/{i}.npy" for i in range(len(members)))]
    if r.random() < 0.1:
        names[r.randrange(len(names))] = (
            r.choice((*names, "../../gone", "/tmp/gone", *ODD_TEXTS[:40]))[:60000] or "x"
        )
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        warnings.simplefilter("ignore")  # a name that is there twice
        for name, data in zip(names, [text, *members]):
            method = zipfile.ZIP_STORED if r.random() < 0.98 else zipfile.ZIP_DEFLATED
            archive.writestr(zipfile.ZipInfo(name.replace("\x00", "0")), data, method)
        archive.comment = b"0" * 64
    body = buffer.getvalue()[:-64]
    if r.random() < 0.1:  # the directory of the archive, too
        body = body[: len(body) // 2] + damaged(r, body[len(body) // 2 :])
    return body + hashlib.sha256(body).hexdigest().encode()


def _npy(array: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, allow_pickle=False)
    return buffer.getvalue()


def _other_array(r: random.Random, array: np.ndarray) -> bytes:
    how = r.choice(("shape", "type", "nan", "huge", "empty"))
    if how == "shape":
        shapes = ((0,), (1,), (3,), (2, 2), (16, 2), (16, 4), (1, 1, 1), (4, 16), (), (2, 0))
        array = np.resize(array, r.choice(shapes))
    elif how == "type" and array.dtype.kind != "U":
        with np.errstate(all="ignore"):
            array = array.astype(r.choice(("U8", "?", "<i4", ">f4", "<f2", "<u8")))
    elif how == "empty":
        array = array[:0] if array.ndim else array
    elif array.dtype.kind == "f":
        array = np.full_like(array, np.nan) if how == "nan" else array * 1e300
    return _npy(array)


def _other_head(r: random.Random, member: bytes) -> bytes:
    head = r.choice(_HEADS).encode()
    size = len(head) + 1
    version = r.choice((b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"))
    length = size.to_bytes(2 if version[0] == 1 else 4, "little")
    return b"\x93NUMPY" + version + length + head + b"\n" + member[-16:]
