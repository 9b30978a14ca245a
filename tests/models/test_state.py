"""A fitted machine as plain values: code and content that is no model are refused."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import RidgeClassifier

import mcls
from mcls.errors import McLsError
from tests.models.saved import X, Y, rewrite


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
        (lambda: CalibratedClassifierCV(mcls.OneLSM()).fit(X, Y), r"CalibratedClassifierCV is not one \([^;]*$"),
        (lambda: mcls.ELM(random_state=np.random.RandomState(1)).fit(X, Y), "an object of class RandomState"),
        (lambda: mcls.OneLSM(), "not fitted"),
        (
            lambda: mcls.SweepCV(mcls.OneLSM(), {"gamma": [1.0]}, cv=2).fit(X, Y),
            "save its best_estimator_, a OneLSM",
        ),
        (
            lambda: mcls.select(X, Y, grid={"gamma": [1.0], "sigma": [1.0]}, folds=2),
            "save its estimator, a OneLSM",
        ),
        (
            lambda: mcls.TableClassifier("oneLSM:gamma=1,sigma=1", folds=2).fit(X, Y),
            "save its model_, a TableModel",
        ),
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
