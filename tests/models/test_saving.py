"""Saving and loading: every machine and kernel bit for bit; what is damaged, newer or foreign is refused."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mcls
from mcls.errors import McLsError
from mcls.machines.registry import MACHINES
from tests.machines.kernels import kernels_of
from tests.models.saved import IRIS, X, Y, rewrite

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


# The file ---------------------------------------------------------------------------------------------------


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


def test_a_model_file_of_version_0_1_is_read():
    """Made by ``mcls fit`` of an early revision from 24 rows with the columns a, b and kind."""
    model = mcls.load(Path(__file__).parent / "version-0.1.mcls")
    table = pd.DataFrame({"a": [0.19, 0.86, 1.80], "b": [-1.40, 0.37, -0.07]})
    assert model.predict(table).tolist() == ["x", "y", "z"]
    assert not model.has_probabilities
