"""Hundreds of broken files of each kind: accepted, or refused with exit code 2 and one line, and nothing else happens.

Tables, configs and models are mutated byte by byte and part by part, seeded, and given to the command line in this
process. After every one the folder holds what it held before, and the output that was asked for if all went well.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import mcls
from mcls.models.archive import read_archive, write_archive
from mcls.models.fitting import fit_table
from mcls.resources import configs_dir

from .command import call

ROWS = [f"{i % 7 + 3.5 * (i % 2)},{i * 0.25},{'red' if i % 2 else 'blue'},{'ab'[i % 2]}" for i in range(16)]
TABLE = ("size,age,hue,kind\n" + "\n".join(ROWS) + "\n").encode()
CONFIG = (configs_dir() / "iris.yaml").read_bytes()
ONE_POINT = "oneLSM:gamma=0.5,sigma=1"


def fuzzed(examples: int):
    return settings(
        max_examples=examples,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@contextlib.contextmanager
def harmless(folder: Path, *made: str) -> Iterator[None]:
    """Nothing below the folder changes but the outputs named."""
    before = files(folder)
    yield
    after = {name: data for name, data in files(folder).items() if name not in made}
    assert after == {name: data for name, data in before.items() if name not in made}


def accepted(*args: object) -> bool:
    """Whether a command was content; if not, it must have said why in one line, with exit code 2."""
    code, out, err = call(*args)
    assert code in (0, 2), err
    assert not {"\x1b", "\x00", "\r"} & set(out + err)  # what a file holds does not reach the terminal's controls
    if code == 2:
        assert err.startswith("mcls: "), err
        assert err.count("\n") == 1, err
    assert "Traceback" not in err
    return code == 0


@pytest.fixture(scope="module", autouse=True)
def no_wait_for_the_disk():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mcls.files.os.fsync", lambda handle: None)
        yield


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder below a folder, so that a way out would be seen, with a small model in it."""
    folder = tmp_path_factory.mktemp("fuzz") / "inside"
    folder.mkdir()
    (folder / "good.csv").write_bytes(TABLE)
    model = fit_table(folder / "good.csv", "kind", ONE_POINT, folds=2).model
    mcls.save(model, folder / "good.mcls")
    return folder


# What can happen to a file -----------------------------------------------------------------------------------

odd_cells = st.sampled_from(
    ["", "?", "nan", "inf", "-inf", "1e999", "1e308", "-1e308", "5e-324", "1_000", "0x10", "1,5", "٣", "𝟛", "NULL",
     "\x00", "\x1b[2J", "'", '"', '""', "a" * 70_000, "9" * 400, "=1+1", "../../x", "\u202e", "\ud7ff", " ", "é",
     "1.5.2", "--1", "red", "a"]
)  # fmt: skip
odd_bytes = st.one_of(
    st.binary(min_size=0, max_size=6),
    st.sampled_from(
        [b"\xff", b"\xef\xbb\xbf", b"\x00", b'"', b"\r", b"\n", b"\n\n", b",", b";", b"\t", b"\x1a", b"\xc3\x28"]
    ),
)


@st.composite
def damaged(draw, base: bytes):
    """Bytes taken out, put in, exchanged or doubled, in one to four places."""
    data = base
    for _ in range(draw(st.integers(1, 4))):
        i = draw(st.integers(0, len(data)))
        j = min(len(data), i + draw(st.sampled_from([0, 1, 1, 2, 7, 40, 10**6])))
        how = draw(st.sampled_from(["replace", "replace", "double", "swap"]))
        if how == "replace":
            data = data[:i] + draw(odd_bytes) + data[j:]
        elif how == "double":
            data = data[:j] + data[i:]
        else:
            data = data[j:] + data[:j]
    return data


@st.composite
def retyped(draw):
    """The table as another program, country or person might have written it."""
    lines = [line.split(",") for line in TABLE.decode().splitlines()]
    for _ in range(draw(st.integers(0, 3))):
        row = draw(st.integers(0, len(lines) - 1))
        how = draw(
            st.sampled_from(["cell", "cell", "cell", "cell", "column", "column", "ragged", "drop", "again"])
        )
        if how == "cell":
            lines[row] = lines[row].copy()
            lines[row][draw(st.integers(0, len(lines[row]) - 1))] = draw(odd_cells)
        elif how == "column":
            at, name, cells = (
                draw(st.integers(0, 3)),
                draw(odd_cells),
                draw(st.lists(odd_cells, min_size=1, max_size=2)),
            )
            lines = [
                [*line[:at], cells[i % len(cells)] if i else name, *line[at:]] for i, line in enumerate(lines)
            ]
        elif how == "ragged":
            lines[row] = draw(st.sampled_from([lines[row][:-1] or ["1"], [*lines[row], "1"]]))
        elif how == "drop" and len(lines) > 1:
            del lines[row]
        else:
            lines += [lines[row]] * draw(st.integers(1, 3))
    sep = draw(st.sampled_from([",", ",", ",", ",", ";", "\t", "|", ", "]))
    quote = draw(st.sampled_from(["", "", "", "", '"', "'"]))
    text = draw(st.sampled_from(["\n", "\n", "\n", "\r\n", "\r"])).join(
        sep.join(f"{quote}{cell}{quote}" for cell in line) for line in lines
    )
    if draw(st.integers(0, 9)) == 0:
        text = text.replace(".", ",")
    common = ["utf-8"] * 8
    encoding = draw(st.sampled_from([*common, "utf-8-sig", "utf-16", "utf-16-be", "latin-1", "cp1252"]))
    return text.encode(encoding, "replace")


tables = st.one_of(retyped(), retyped(), retyped(), damaged(TABLE), st.binary(max_size=300))


# Tables ------------------------------------------------------------------------------------------------------


@fuzzed(250)
@given(data=tables, target=st.sampled_from(["kind", "kind", "-1", "0", "hue", "9"]), packed=st.integers(0, 19))
def test_fit(place, data, target, packed):
    table, model = place / ("t.csv" if packed > 2 else "t.csv.gz"), place / "m.mcls"
    table.write_bytes(gzip.compress(data)[: [None, -5][packed]] if packed < 2 else data)
    with harmless(place.parent, "inside/m.mcls", "inside/out.csv"):
        model.unlink(missing_ok=True)
        good = accepted("fit", table, "--target", target, "--machine", ONE_POINT, "--folds", 2, "-o", model)
        assert model.exists() == good
        if good:  # what could be learnt from can be predicted, by a model that can be read
            assert accepted("predict", model, table, "-o", place / "out.csv", "--force")
    table.unlink()


@fuzzed(200)
@given(data=tables, scores=st.booleans())
def test_predict(place, data, scores):
    table, out = place / "t.csv", place / "out.csv"
    table.write_bytes(data)
    with harmless(place.parent, "inside/out.csv"):
        out.unlink(missing_ok=True)
        good = accepted("predict", place / "good.mcls", table, "-o", out, *["--scores"][: int(scores)])
        assert out.exists() == good
    table.unlink()


@fuzzed(100)
@given(data=tables)
def test_evaluate(place, data):
    table = place / "t.csv"
    table.write_bytes(data)
    with harmless(place.parent):
        accepted("evaluate", place / "good.mcls", table)
    table.unlink()


def test_the_table_itself_is_accepted(place):
    assert accepted("fit", place / "good.csv", "--target", "kind", "--folds", 2, "-o", place / "m.mcls")
    assert accepted("evaluate", place / "m.mcls", place / "good.csv")


@pytest.mark.parametrize(
    "data, complaint",
    [
        (b'a,b,kind\n"1,5",2,x\n"2,5",3,y\n', "write decimals with a point, or say --decimal ,"),
        (TABLE.decode().encode("utf-16-le"), "is not text; a table is a CSV or TSV file in UTF-8 (--encoding"),
        (TABLE.replace(b"red", b"r\xe9\x81d"), "is not UTF-8 text (byte 0xe9"),
        (TABLE.replace(b"red", b"r" * 200_000, 1), "field larger than field limit"),
        (b"a,b,kind\n" + b"1," * 9_000_000 + b"1\n", "is longer than"),
        (b"", "is empty"),
    ],
)  # fmt: skip
def test_common_mistakes_get_a_hint(place, data, complaint):
    table = place / "t.csv"
    table.write_bytes(data)
    code, _, err = call("fit", table, "--target", "kind", "-o", place / "m.mcls")
    table.unlink()
    assert code == 2
    assert complaint in err


# Configs (500 more, mutated field by field, are in tests/cli/test_run.py) -------------------------------------


@fuzzed(100)
@given(data=st.one_of(damaged(CONFIG), st.binary(max_size=200)))
def test_validate(place, data):
    config = place / "c.yaml"
    config.write_bytes(data)
    with harmless(place.parent):
        accepted("validate", config)
    config.unlink()


# Models ------------------------------------------------------------------------------------------------------


@fuzzed(120)
@given(data=st.data())
def test_damaged_models(place, data):
    whole = (place / "good.mcls").read_bytes()
    changed = data.draw(st.one_of(damaged(whole), st.binary(max_size=300)))
    model = place / "m.mcls"
    model.write_bytes(changed)
    with harmless(place.parent):
        assert accepted("inspect", model) == (changed == whole)


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.integers(-3, 20),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(codec="utf-8"), max_size=8),
    st.sampled_from(
        ["linear", "precomputed", "polynomial", "nystrom", "OvALSM", "ECOC", "os.system", "\x1b[2J", "..", "number"]
    ),
    st.sampled_from(
        [{"array": 0}, {"array": 3}, {"scalar": 1}, {"float": "nan"}, {"tuple": [1]}, {"dict": {}}, {"objects": ["x"]},
         {"part": "BinaryMachines", "state": {}}, {"part": "Popen", "state": {}}, {"__reduce__": "x"}]
    ),
    st.lists(st.integers(0, 3), max_size=3),
)  # fmt: skip
shapes = st.sampled_from([(0,), (1,), (3,), (2, 2), (16, 2), (16, 4), (1, 1, 1), (4, 16), (2, 16)])


def places(value, here=()):
    """Every place inside nested values, as the keys that lead to it."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield (*here, key)
        yield from places(child, (*here, key))


@fuzzed(150)
@given(data=st.data())
def test_models_of_mutated_content_with_a_checksum_that_fits(place, data):
    draw = data.draw
    content, arrays = read_archive(place / "good.mcls")
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 3)):
            *path, last = draw(st.sampled_from(sorted(places(content), key=str)))
            inside = content
            for key in path:
                inside = inside[key]
            how = draw(st.sampled_from(["replace", "replace", "remove", "rename"]))
            if how == "replace":
                inside[last] = deepcopy(draw(junk))  # a later change of it must not change what is drawn again
            elif how == "remove":
                del inside[last]
            elif isinstance(inside, dict):
                inside[draw(st.text(st.characters(codec="utf-8"), max_size=6))] = inside.pop(last)
        elif arrays:
            i = draw(st.integers(0, len(arrays) - 1))
            how = draw(st.sampled_from(["shape", "type", "nan", "huge", "drop"]))
            if how == "shape":
                arrays[i] = np.resize(arrays[i], draw(shapes))
            elif how == "type":
                arrays[i] = np.asarray(arrays[i]).astype(draw(st.sampled_from(["U8", "?", "<i4", ">f4", "<f2"]))) if (
                    arrays[i].dtype.kind != "U"
                ) else arrays[i].astype("U1")  # fmt: skip
            elif how == "nan" and arrays[i].dtype.kind == "f":
                arrays[i] = np.full_like(arrays[i], np.nan)
            elif how == "huge" and arrays[i].dtype.kind == "f":
                with np.errstate(over="ignore"):
                    arrays[i] = arrays[i] * 1e300
            else:
                del arrays[i]
    model = place / "m.mcls"
    write_archive(model, content, arrays)
    with harmless(place.parent, "inside/out.csv"), np.errstate(all="ignore"):
        if accepted("inspect", model):
            accepted("predict", model, place / "good.csv", "-o", place / "out.csv", "--force")


def test_the_model_itself_is_accepted(place):
    content, arrays = read_archive(place / "good.mcls")
    write_archive(place / "m.mcls", content, arrays)
    assert (place / "m.mcls").read_bytes() == (place / "good.mcls").read_bytes()
    assert accepted("inspect", place / "m.mcls")


# Bombs: with one gigabyte of memory in all, each is refused like any other file -------------------------------

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]),) * 2)
from mcls.cli.app import main
main(sys.argv[2:])
"""


def with_little_memory(*args: object) -> tuple[int, str]:
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(2**30), *map(str, args)],
        capture_output=True,
        text=True,
        env=environment,
    )
    return done.returncode, done.stderr


def bomb(path: Path) -> None:
    """A zip whose one member unpacks to more than a gigabyte, closed by a checksum that fits."""
    import hashlib

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("model.json", json.dumps({"format": 1}))
        with archive.open("arrays/0.npy", "w", force_zip64=True) as member:
            for _ in range(20):
                member.write(bytes(2**26))
        archive.comment = b"0" * 64
    body = buffer.getvalue()[:-64]
    path.write_bytes(body + hashlib.sha256(body).hexdigest().encode())


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory can be limited on Linux only")
def test_bombs_do_not_go_off(tmp_path):
    ones = gzip.compress(b"1" * 2**26, 1)
    (tmp_path / "line.csv.gz").write_bytes(ones * 40)  # 2.5 GB in one line
    code, err = with_little_memory("fit", tmp_path / "line.csv.gz", "-o", tmp_path / "m.mcls")
    assert code == 2, err
    assert "longer than" in err
    bomb(tmp_path / "bomb.mcls")
    code, err = with_little_memory("inspect", tmp_path / "bomb.mcls")
    assert code == 2, err
    assert "is compressed or encrypted, which a model never is" in err
    content = {"estimator": None, "table": None, "versions": {}}
    header = b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999,), }"
    write_archive(tmp_path / "claims.mcls", content, [np.zeros(2)])
    fake = header.ljust(127) + b"\n" + bytes(16)
    import mcls.models.archive as archive

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive.np.lib.format, "write_array", lambda stream, array, allow_pickle: stream.write(fake))
        write_archive(tmp_path / "claims.mcls", content, [np.zeros(2)])
    code, err = with_little_memory("inspect", tmp_path / "claims.mcls")
    assert code == 2, err
    assert "needs other than its 16 bytes" in err
