"""Saving and loading: every machine and kernel bit for bit; what is damaged, newer or foreign is refused."""

from __future__ import annotations

import hashlib
import inspect
import io
import json
import os
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import RidgeClassifier

import mcls
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.scaling import to_range
from mcls.machines.registry import MACHINES
from mcls.models import archive
from mcls.models.archive import read_archive, write_archive
from tests.machines.kernels import kernels_of

IRIS = load_dataset("iris")
X = to_range(IRIS.X)[::3]
Y = np.array(IRIS.classes)[IRIS.y][::3]
NEW = np.random.default_rng(0).normal(size=(40, 4))


def kernels(name):
    return [{"kernel": kernel} for kernel in ("gaussian", "linear", "polynomial") if kernel in kernels_of(name)]


CASES = [(name, options) for name in sorted(MACHINES) for options in kernels(name) or [{}]]
CASES += [
    ("oneLSM", {"kernel": "laplace"}),
    ("voRLS-f", {"kernel": "matern"}),
    ("oneLSM", {"solver": "nystrom", "n_landmarks": 20}),
    ("oneLSM", {"labelbook": np.eye(3)[:, ::-1].copy()}),
    ("voLSSVM", {"bias": True}),
    ("ecoc", {"base": "svc", "coding": "all-pairs", "decoder": "hamming"}),
    ("ecoc", {"decoder": "loss-weighted"}),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name, options", CASES, ids=[f"{n}-{i}" for i, (n, _) in enumerate(CASES)])
def test_a_loaded_machine_scores_bit_for_bit_as_the_saved_one(name, options, tmp_path):
    machine = MACHINES[name].create(**options).fit(X, Y)
    mcls.save(machine, tmp_path / "m.mcls")
    loaded = mcls.load(tmp_path / "m.mcls")
    assert type(loaded) is type(machine)
    for rows in (NEW, NEW[:1], X):
        assert loaded.decision_function(rows).tobytes() == machine.decision_function(rows).tobytes()
        assert np.array_equal(loaded.predict(rows), machine.predict(rows))
    now, then = loaded.get_params(deep=False), machine.get_params(deep=False)
    assert {k: str(v) for k, v in now.items()} == {k: str(v) for k, v in then.items()}
    assert set(vars(loaded)) == set(vars(machine))


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_saving_a_loaded_machine_gives_the_same_bytes(name, tmp_path):
    machine = MACHINES[name].create().fit(X, Y)
    mcls.save(machine, tmp_path / "a.mcls")
    mcls.save(mcls.load(tmp_path / "a.mcls"), tmp_path / "b.mcls")
    assert (tmp_path / "a.mcls").read_bytes() == (tmp_path / "b.mcls").read_bytes()


def test_a_precomputed_kernel_and_any_kind_of_label(tmp_path):
    K = X @ X.T
    for labels in (
        IRIS.y[::3],
        IRIS.y[::3] * 1.0,
        Y.astype(object),
        (IRIS.y[::3] > 0),
        IRIS.y[::3].astype(np.int8),
    ):
        machine = mcls.OneLSM(kernel="precomputed").fit(K, labels)
        mcls.save(machine, tmp_path / "m.mcls")
        loaded = mcls.load(tmp_path / "m.mcls")
        assert loaded.classes_.dtype == machine.classes_.dtype
        assert np.array_equal(loaded.predict(K), machine.predict(K))


def test_a_data_frame_keeps_its_column_names(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcd"))
    machine = mcls.OneLSM().fit(frame, Y)
    mcls.save(machine, tmp_path / "m.mcls")
    loaded = mcls.load(tmp_path / "m.mcls")
    assert loaded.feature_names_in_.tolist() == list("abcd")
    assert np.array_equal(loaded.predict(frame), machine.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        loaded.predict(frame[list("bacd")])


def my_kernel(A, B):
    return A @ B.T


@pytest.mark.parametrize(
    "make, complaint",
    [
        (lambda: mcls.OneLSM(kernel=my_kernel).fit(X, Y), "OneLSM.kernel is a function.*no code"),
        (lambda: mcls.ECOC(base=RidgeClassifier()).fit(X, Y), "ECOC.base is an object of class RidgeClassifier"),
        (
            lambda: RidgeClassifier().fit(X, Y),
            "only a registered machine can be saved, and RidgeClassifier is not one",
        ),
        (lambda: CalibratedClassifierCV(mcls.OneLSM()).fit(X, Y), "CalibratedClassifierCV is not one"),
        (lambda: mcls.ELM(random_state=np.random.RandomState(1)).fit(X, Y), "an object of class RandomState"),
        (lambda: mcls.OneLSM(), "not fitted"),
    ],
)
def test_what_holds_code_is_refused_and_nothing_is_written(make, complaint, tmp_path):
    with pytest.raises(McLsError, match=complaint):
        mcls.save(make(), tmp_path / "m.mcls")
    assert not list(tmp_path.iterdir())


def test_an_impostor_of_a_registered_name_is_refused(tmp_path):
    class OneLSM(mcls.OneLSM):
        pass

    with pytest.raises(McLsError, match="only a registered machine"):
        mcls.save(OneLSM().fit(X, Y), tmp_path / "m.mcls")


# The file ---------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "m.mcls"
    mcls.save(mcls.OneLSM(sigma=0.5).fit(X, Y), path)
    return path


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


def rewrite(path, change):
    """The same file with its content changed and a checksum that fits."""
    content, arrays = read_archive(path)
    change(content, arrays)
    write_archive(path, content, arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda c, a: c["estimator"].update({"class": "os.system"}),
        lambda c, a: c["estimator"].update({"class": "RidgeClassifier"}),
        lambda c, a: c["estimator"]["params"].update(gamma="x"),
        lambda c, a: c["estimator"]["params"].update(gamma=-1),
        lambda c, a: c["estimator"]["params"].update(sigma=0),
        lambda c, a: c["estimator"]["params"].update(kernel="builtins.eval"),
        lambda c, a: c["estimator"]["params"].update(extra=1),
        lambda c, a: c["estimator"]["fitted"].update(predict="x"),
        lambda c, a: c["estimator"]["fitted"].update(__class__="x"),
        lambda c, a: c["estimator"]["fitted"].update(_scores_="x"),
        lambda c, a: c["estimator"]["fitted"].pop("class_alpha_"),
        lambda c, a: c["estimator"]["fitted"].update(n_features_in_=10**12),
        lambda c, a: c["estimator"]["fitted"].update(n_features_in_=5),
        lambda c, a: c["estimator"]["fitted"].update(n_features_in_="4"),
        lambda c, a: c["estimator"]["fitted"].update(classes_={"array": 99}),
        lambda c, a: c["estimator"]["fitted"].update(classes_={"array": -1}),
        lambda c, a: c["estimator"]["fitted"].update(classes_={"object": "x"}),
        lambda c, a: c["estimator"]["fitted"].update(classes_={"part": "Popen", "state": {"args": "ls"}}),
        lambda c, a: c["estimator"]["fitted"].update(classes_=["a"]),
        lambda c, a: c["estimator"].update(fitted=[]),
        lambda c, a: c.update(estimator=None),
        lambda c, a: c.update(table={"target": "x"}),
        lambda c, a: c.update(versions=3),
        lambda c, a: c.pop("table"),
        lambda c, a: c.update(more=1),
        lambda c, a: c.update(format=0),
        lambda c, a: c.update(format="1"),
        lambda c, a: a.clear(),
        lambda c, a: a.__setitem__(slice(None), [array[:1] for array in a]),
    ],
)
def test_content_that_is_no_model_is_refused_though_its_checksum_fits(saved, change):
    rewrite(saved, change)
    with pytest.raises(McLsError, match=r"m\.mcls"):
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


@pytest.mark.parametrize("rows", [None, 0])
def test_a_small_file_cannot_claim_many_features(saved, rows):
    def claim(content, arrays):
        content["estimator"]["fitted"]["n_features_in_"] = 10**7
        if rows is not None:
            arrays.append(np.zeros((rows, 10**7)))
            content["estimator"]["fitted"]["X_fit_"] = {"array": len(arrays) - 1}

    rewrite(saved, claim)
    tracemalloc.start()
    with pytest.raises(McLsError, match="it claims 10000000 features, and its arrays have"):
        mcls.load(saved)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**23


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_pipes_and_devices_are_no_models(tmp_path):
    os.mkfifo(tmp_path / "m.mcls")
    for path, kind in ((tmp_path / "m.mcls", "pipe"), ("/dev/zero", "device")):
        with pytest.raises(McLsError, match=f"is a {kind}, .*: save it to a file first"):
            mcls.load(path)


def test_a_model_file_of_version_0_1_is_read():
    """Made by ``mcls fit`` of an early revision from 24 rows with the columns a, b and kind."""
    model = mcls.load(Path(__file__).parent / "version-0.1.mcls")
    table = pd.DataFrame({"a": [0.19, 0.86, 1.80], "b": [-1.40, 0.37, -0.07]})
    assert model.predict(table).tolist() == ["x", "y", "z"]
    assert not model.has_probabilities
