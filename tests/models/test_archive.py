"""The model file: an ordinary zip, and every trick with it refused."""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import os
import zipfile

import numpy as np
import pytest

import mcls
from mcls.errors import McLsError
from mcls.models import archive
from mcls.models.archive import read_archive, write_archive
from tests.models.saved import X, Y


def test_it_is_an_ordinary_zip_of_json_and_npy(saved):
    with zipfile.ZipFile(saved) as file:
        assert file.testzip() is None
        assert file.comment.decode("ascii").isalnum()
        content = json.loads(file.read("model.json"))
        first = np.load(io.BytesIO(file.read("arrays/0.npy")), allow_pickle=False)
    assert content["estimator"]["class"] == "OneLSM"
    assert content["versions"]["mcls"]
    assert first.ndim >= 1


def test_every_single_flipped_bit_is_noticed(saved):
    whole = saved.read_bytes()
    rng = np.random.default_rng(0)
    for at in [*range(80), *rng.integers(0, len(whole), 300).tolist(), *range(len(whole) - 100, len(whole))]:
        changed = bytearray(whole)
        changed[at] ^= 1 << int(rng.integers(8))
        saved.write_bytes(changed)
        with pytest.raises(McLsError, match=r"damaged|not an mcls model"):
            mcls.load(saved)


@pytest.mark.parametrize("cut", [0, 1, 3, 50, 1000, -1, -64, -100])
def test_a_file_cut_short_is_refused(saved, cut):
    saved.write_bytes(saved.read_bytes()[:cut])
    with pytest.raises(McLsError, match=r"damaged|not an mcls model"):
        mcls.load(saved)


def test_a_newer_format_is_refused_with_advice(saved, monkeypatch):
    content, arrays = read_archive(saved)
    content["format"] = archive.FORMAT + 1
    write_archive(saved, content, arrays)
    with pytest.raises(McLsError, match=r"newer mcls .*upgrade mcls"):
        mcls.load(saved)


def members(path, entries, **options):
    """A zip of our own making, closed by a checksum that fits."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", **options) as file:
        for name, data in entries:
            file.writestr(name, data)
        file.comment = b"0" * 64
    body = buffer.getvalue()[:-64]
    path.write_bytes(body + hashlib.sha256(body).hexdigest().encode())


def npy(array, allow_pickle=False):
    stream = io.BytesIO()
    np.lib.format.write_array(stream, array, allow_pickle=allow_pickle)
    return stream.getvalue()


GOOD = ("model.json", b'{"format": 1}')


@pytest.mark.parametrize(
    "entries, options, complaint",
    [
        ([GOOD, ("arrays/0.npy", npy(np.zeros(10**6)))], {"compression": zipfile.ZIP_DEFLATED}, "compressed"),
        ([GOOD, ("../../escape.npy", b"x")], {}, "it holds '../../escape.npy'"),
        ([GOOD, ("/etc/passwd", b"x")], {}, "it holds"),
        ([GOOD, ("arrays/1.npy", npy(np.zeros(2)))], {}, "arrays out of order"),
        ([GOOD, GOOD], {}, "it holds"),
        ([("arrays/0.npy", b"x")], {}, "holds no model.json"),
        ([("model.json", b"[" * 10**5)], {}, "cannot be read"),
        ([("model.json", b'{"format": NaN}')], {}, "cannot be read"),
        ([("model.json", b"\xff\xfe")], {}, "cannot be read"),
        ([("model.json", b'{"format": 1, "a": "\\ud800"}')], {}, "cannot be read"),
        ([("model.json", b'{"format": ' + b"9" * 5000 + b"}")], {}, "cannot be read"),
        ([GOOD, ("arrays/0.npy", npy(np.array([{}, 1], dtype=object), allow_pickle=True))], {}, "kind that a model"),
        ([GOOD, ("arrays/0.npy", npy(np.zeros(3))[:-8])], {}, "needs other than"),
        ([GOOD, ("arrays/0.npy", npy(np.zeros((3, 3))).replace(b"(3, 3)", b"(9**9)"))], {}, "cannot be read"),
        ([GOOD, ("arrays/0.npy", npy(np.zeros(99999)).replace(b"(99999,)", b"(9e999,)"))], {}, "array"),
        ([GOOD, ("arrays/0.npy", npy(np.zeros(10**5)).replace(b"(100000,)", b"(9**999,)"))], {}, "array"),
        ([GOOD, ("arrays/0.npy", npy(np.zeros(3, dtype="M8[s]")))], {}, "kind that a model"),
        ([GOOD, ("arrays/0.npy", b"\x93NUMPY\x09\x00")], {}, "cannot be read"),
        ([GOOD, ("arrays/0.npy", npy(np.array(["ab"])).replace(b"a\0\0\0", b"\xff\xff\xff\xff"))], {}, "not text"),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_tricks_of_the_container_are_refused(tmp_path, entries, options, complaint):
    path = tmp_path / "inner" / "m.mcls"
    path.parent.mkdir()
    members(path, entries, **options)
    with pytest.raises(McLsError, match=complaint):
        mcls.load(path)
    assert [p.name for p in tmp_path.rglob("*")] == ["inner", "m.mcls"]


def test_a_directory_that_points_before_the_file_is_refused(tmp_path):
    path = tmp_path / "m.mcls"
    members(path, [GOOD, ("arrays/0.npy", npy(np.zeros(2)))])
    body = path.read_bytes()[:-64]
    at = body.rindex(b"PK\x05\x06") + 16  # where the directory says that it begins; members are counted from there
    body = body[:at] + (int.from_bytes(body[at : at + 4], "little") + 1000).to_bytes(4, "little") + body[at + 4 :]
    path.write_bytes(body + hashlib.sha256(body).hexdigest().encode())
    with pytest.raises(McLsError, match="is damaged"):
        mcls.load(path)


def test_no_code_of_ours_unpickles():
    for module in (archive, mcls.models.state, mcls.models.saving):
        assert not any(
            word in inspect.getsource(module) for word in ("import pickle", "np.load(", "eval(", "exec(")
        )


def test_trouble_with_the_disk_is_one_line(tmp_path):
    machine = mcls.OneLSM().fit(X, Y)
    with pytest.raises(McLsError, match=r"cannot write .*No such file"):
        mcls.save(machine, tmp_path / "no" / "m.mcls")
    with pytest.raises(McLsError, match=r"cannot read .*No such file"):
        mcls.load(tmp_path / "m.mcls")
    with pytest.raises(McLsError, match="cannot read"):
        mcls.load(tmp_path)


@pytest.mark.parametrize(
    "header",
    [
        b"(" * 90 + b")" * 90,
        b"{'descr': " + b"(" * 80 + b"'<f8'" + b")" * 80 + b", 'fortran_order': False, 'shape': (3,), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"(" * 60,
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (3",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"9" * 5000 + b",), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (" + b"1, " * 40 + b"3), }",
        b"{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'more': 1, }",
        b"{'descr': '<f8', 'fortran_order': 0, 'shape': (3,), }",
        b"\x00\xff''",
    ],
)
@pytest.mark.parametrize("version", [1, 2])
def test_headers_that_numpy_does_not_write_are_refused(tmp_path, header, version):
    size = (len(header) + 1).to_bytes(2 * version, "little")
    member = b"\x93NUMPY" + bytes([version, 0]) + size + header + b"\n" + bytes(24)
    members(tmp_path / "m.mcls", [GOOD, ("arrays/0.npy", member)])
    with pytest.raises(McLsError, match="an array cannot be read"):
        mcls.load(tmp_path / "m.mcls")


@pytest.mark.parametrize(
    "kind, fits", [("<f3", False), ("<U0", False), ("|V8", False), ("|O8", False), ("<f8", True)]
)
def test_kinds_of_arrays_that_there_are_not(tmp_path, kind, fits):
    member = npy(np.zeros(3)).replace(b"'<f8'", f"'{kind}'".encode())
    members(tmp_path / "m.mcls", [GOOD, ("arrays/0.npy", member)])
    with pytest.raises(McLsError, match="parts are missing" if fits else "of a kind that a model does not hold"):
        mcls.load(tmp_path / "m.mcls")


def test_every_array_is_read_as_numpy_reads_it(tmp_path):
    rng = np.random.default_rng(0)
    arrays = [
        np.float64(2.5).reshape(()), np.zeros((0, 5)), rng.normal(size=(2, 3)), rng.normal(size=(3, 2)).T,
        rng.normal(size=4).astype(">f4"), np.array(["ab", "é"]), np.array([True, False]), np.arange(3, dtype="i1"),
        rng.normal(size=(1, 2, 1, 2, 1, 2, 1, 2)), np.arange(3, dtype="u8"), np.array([], dtype="U3"),
    ]  # fmt: skip
    entries = [(f"arrays/{i}.npy", npy(array)) for i, array in enumerate(arrays)]
    members(tmp_path / "m.mcls", [GOOD, *entries])
    for array, read in zip(arrays, read_archive(tmp_path / "m.mcls")[1], strict=True):
        assert (read.shape, read.tolist()) == (array.shape, array.tolist())
        assert read.dtype.isnative
        assert read.flags.f_contiguous == np.load(io.BytesIO(npy(array))).flags.f_contiguous


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_pipes_and_devices_are_no_models(tmp_path):
    os.mkfifo(tmp_path / "m.mcls")
    for path, kind in ((tmp_path / "m.mcls", "pipe"), ("/dev/zero", "device")):
        with pytest.raises(McLsError, match=f"is a {kind}, .*: save it to a file first"):
            mcls.load(path)
