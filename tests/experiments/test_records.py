"""Records as files: every changed bit is noticed, every missing or odd field is named, old files stay valid."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from mcls.experiments.records import NewerFormatError, decode, encode, is_checked
from mcls.experiments.runner import compute

from .small import make_experiment

COMMITTED = Path(__file__).resolve().parents[2] / "results"


@pytest.fixture(scope="module")
def record(tmp_path_factory):
    made = make_experiment(tmp_path_factory.mktemp("out"), grid={"gamma": 1, "sigma": 1}, machines="ovO")
    return json.loads(json.dumps(compute(made.plan.cells[0])))


def without_checksum(raw: bytes) -> bytes:
    """The same cell as earlier versions wrote it."""
    return raw[:2] + raw.split(b"\n", 2)[2]


def changed(record, path: str, value):
    """A copy of a record with one field replaced, or removed where the value is ...."""
    copy = json.loads(json.dumps(record))
    *parents, last = path.split(".")
    inside = copy
    for name in parents:
        inside = inside[name]
    if value is ...:
        del inside[last]
    else:
        inside[last] = value
    return copy


def test_a_record_comes_back_as_it_was(record):
    raw = encode(record)
    assert is_checked(raw)
    assert decode(raw, record["key"]) == record
    assert json.loads(raw).keys() - record.keys() == {"sha256"}  # it is plain JSON, for whoever else reads it


def test_every_single_flipped_bit_is_noticed(record):
    raw = bytearray(encode(record))
    for i in range(len(raw)):
        for bit in range(8):
            raw[i] ^= 1 << bit
            with pytest.raises(ValueError):
                decode(bytes(raw), record["key"])
            raw[i] ^= 1 << bit
    assert decode(bytes(raw), record["key"]) == record


def test_cells_of_earlier_versions_stay_valid(record):
    raw = without_checksum(encode(record))
    assert not is_checked(raw)
    assert raw.startswith(b'{\n "format": 1,\n "key"')
    assert decode(raw, record["key"]) == record


def test_committed_cells_are_valid():
    paths = sorted(COMMITTED.glob("*/cells/*.json"))[::25]
    assert len(paths) > 100
    for path in paths:
        assert decode(path.read_bytes(), path.stem)["key"] == path.stem


ODD = [
    ("result.chosen", None),
    ("result.chosen", []),
    ("result.chosen", [None]),
    ("result.chosen", [{"gamma": [1]}]),
    ("result.error", None),
    ("result.error", "0.1"),
    ("result.error", True),
    ("result.error", 17.0),
    ("result.error", ...),
    ("result.predictions", None),
    ("result.predictions.shape", [-1]),
    ("result.grid", ...),
    ("result.grid.fold_sizes", [0]),
    ("result.errors", [0.1]),
    ("result.oracle_error", None),
    ("result.facts", None),
    ("result.facts", [{"overlap": "much"}]),
    ("result", None),
    ("seconds", None),
    ("seconds", -1),
    ("engine", 3),
    ("replicate", None),
    ("parameters", 3),
    ("options", None),
    ("identity.protocol", None),
    ("environment.libraries", [{}]),
    ("environment", ...),
    ("warnings", None),
    ("status", "well"),
    ("status", ...),
]


@pytest.mark.parametrize("path, value", ODD)
@pytest.mark.parametrize("form", [encode, lambda record: without_checksum(encode(record))])
def test_a_field_of_another_kind_is_named(record, path, value, form):
    name = path.rpartition(".")[2]
    with pytest.raises(ValueError, match=re.escape(name)):
        decode(form(changed(record, path, value)), record["key"])


def test_what_a_protocol_needs_must_be_there(record):
    other = changed(record, "identity.protocol.name", "5x2cv")
    with pytest.raises(ValueError, match=r"result\.errors: Field required"):
        decode(encode(other), record["key"])


@pytest.mark.parametrize(
    "path, value",
    [
        ("result.chosen", [{"gamma": 7, "sigma": 1}]),
        ("result.chosen", [{"sigma": 1}]),
        ("result.grid.names", ["gamma", "sigma", "tau"]),
        ("result.grid.values", {"gamma": [1], "sigma": []}),
        ("result.grid.fold_sizes", [50, 50]),
        ("result.grid.fold_mistakes.shape", [2, 3]),
    ],
)
def test_a_grid_that_does_not_fit_its_point_or_its_folds_is_refused(record, path, value):
    """Tests on splits look the chosen point up among the mistakes of every point and fold."""
    assert decode(encode(record), record["key"]) == record
    with pytest.raises(ValueError, match=r"is not in the grid|one for each point and fold"):
        decode(encode(changed(record, path, value)), record["key"])


def test_without_a_checksum_the_content_is_checked(record):
    for path, value, message in [
        ("identity.seed", 7, "its identity does not fit its key"),
        ("result.predictions.int16", "AAAA", "a packed array cannot be read"),
        ("result.grid.fold_mistakes.shape", [5], "not one for each point and fold"),
    ]:
        with pytest.raises(ValueError, match=message):
            decode(without_checksum(encode(changed(record, path, value))), record["key"])


def test_another_cell_and_a_later_format_are_told_apart(record):
    with pytest.raises(ValueError, match="another cell"):
        decode(encode(record), "0" * 24)
    with pytest.raises(NewerFormatError, match="it has format 2"):
        decode(encode({**record, "format": 2}), record["key"])


@pytest.mark.parametrize(
    "raw", [b"", b"{", b"null", b"[" * 100_000, b"\xff\xfe", b'{\n "format": [', b'{\n "format": NaN}']
)
def test_what_is_not_a_cell_is_refused(raw):
    with pytest.raises(ValueError):
        decode(raw, "0" * 24)


def test_any_number_of_repetitions_is_a_result(tmp_path):
    experiment = make_experiment(
        tmp_path,
        protocol="nested-folds",
        repeats=3,
        replicates=1,
        machines=["oneLSM"],
        datasets=["iris:sample=60"],
    )
    assert experiment.run().ok
    (cell,) = experiment.plan.cells
    assert len(experiment.store.result(cell)["result"]["errors"]) == 3
    assert not experiment.store.damaged


def test_halves_are_two(tmp_path):
    experiment = make_experiment(
        tmp_path, protocol="5x2cv", folds=None, replicates=None, machines=["oneLSM"], datasets=["iris:sample=60"]
    )
    cell = experiment.plan.cells[0]
    record = compute(cell)
    assert decode(encode(record), cell.key) == record
    record["result"]["errors"].append(0.1)
    with pytest.raises(ValueError, match=r"result\.errors"):
        decode(encode(record), cell.key)
