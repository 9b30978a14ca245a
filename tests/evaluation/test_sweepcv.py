"""SweepCV beside GridSearchCV: the same scores, columns, choices and errors."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.datasets import make_classification
from sklearn.exceptions import FitFailedWarning
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, GroupKFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from mcls import ELM, RFM, OneLSM, OvOLSM, SweepCV, VoLSSVM
from mcls.kernels import kernel_matrix
from tests.evaluation.searches import CV, GRID, both, rows

# What is not swept is said; the tests that expect it ask ``swept_``.
pytestmark = pytest.mark.filterwarnings("ignore:SweepCV has fitted every grid point by itself")

LABELS = ["accuracy", "balanced_accuracy", "f1_macro"]


def in_pipeline(machine):
    return make_pipeline(StandardScaler(), machine), lambda name: f"{type(machine).__name__.lower()}__{name}"


@pytest.mark.parametrize(
    "name", ["iris", "glass", *(pytest.param(name, marks=pytest.mark.full) for name in ("wine", "vowel", "yeast"))]
)
@pytest.mark.parametrize("piped", [False, True])
def test_scores_are_those_of_grid_search(name, piped):
    X, y = rows(name)
    w = np.random.default_rng(0).uniform(0.2, 3, len(y))
    estimator, named = in_pipeline(OneLSM()) if piped else (OneLSM(), str)
    grid = {named(parameter): values for parameter, values in GRID.items()}
    for fit in ({}, {named("sample_weight"): w}):
        ours = both(estimator, grid, X, y, fit, scoring=LABELS, refit="f1_macro")
        assert ours.swept_
    groups = np.random.default_rng(1).integers(0, 12, len(y))
    assert both(estimator, grid, X, y, {"groups": groups}, cv=GroupKFold(3)).swept_
    calibrated = estimator.set_params(**{named("calibration"): "temperature"})
    for fit in ({}, {named("sample_weight"): w}):
        ours = both(calibrated, {named("gamma"): [0.1, 4.0]}, X, y, fit, scoring="neg_log_loss")
        assert ours.swept_
        assert np.allclose(ours.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("how", ["matrix", "auto"])
def test_every_map_is_fitted_inside_the_training_fold(how):
    X, y = rows("glass")
    grid = {"gamma": [0.1, 2.0], "calibration": ["temperature", how]}
    ours = both(OneLSM(class_weight="balanced"), grid, X, y, scoring=["neg_log_loss", "roc_auc_ovr"], refit=False)
    assert ours.swept_


@pytest.mark.parametrize(
    "machine, grid",
    [
        (VoLSSVM(bias=True), GRID),
        (OvOLSM(), {**GRID, "class_weight": [None, "balanced"]}),
        (ELM(n_hidden=30), {"C": [0.1, 10.0], "n_hidden": [20, 30]}),
        (OneLSM(), [GRID, {"kernel": ["linear"], "gamma": [1.0, 1.0]}]),
        (OneLSM(class_weight={"setosa": 5.0}), {"labelbook": ["pm1", "fisher"], "gamma": [1.0]}),
        (OneLSM(), {"class_weight": [None, {"versicolor": 30.0}, {"virginica": 30.0}], "gamma": [0.1, 1.0]}),
    ],
    ids=repr,
)
def test_machines_and_grids_of_any_kind_are_swept(machine, grid):
    X, y = rows("iris")
    assert both(machine, grid, X, y, cv=ShuffleSplit(4, random_state=0)).swept_
    alone, together = (SweepCV(machine, grid, cv=CV, n_jobs=n).fit(X, y).cv_results_ for n in (1, 2))
    assert np.array_equal(alone["mean_test_score"], together["mean_test_score"])


def test_values_that_are_arrays_objects_or_one_number_in_two_types_are_swept():
    X, y = rows("iris")
    book = np.array([[0.0, 0.0, 3.0], [0.0, 1.0, 0.0], [0.1, 0.0, 0.0]])
    for grid in (
        {"labelbook": ["indicators", book, np.eye(3), book.tolist()], "gamma": [0.1, 1.0]},
        {"kernel": [RBF(0.5), RBF(2.0)], "gamma": [0.1, 1.0]},  # callables that have no hash
        [{"gamma": [1, 4], "sigma": [1]}, {"gamma": np.array([0.1, 1.0]), "sigma": np.array([0.5, 1.0])}],
    ):
        ours, plain = (search(OneLSM(), grid, cv=CV).fit(X, y) for search in (SweepCV, GridSearchCV))
        assert ours.swept_
        assert ours.best_index_ == plain.best_index_
        assert np.allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"], atol=1e-12)


def test_a_precomputed_kernel_and_a_frame_are_searched():
    X, y = rows("iris")
    K = kernel_matrix(X, sigma=0.5)
    machine = OneLSM(kernel="precomputed", calibration="temperature")
    assert both(machine, {"gamma": GRID["gamma"]}, K, y, scoring="roc_auc_ovo", refit=False).swept_
    frame = pd.DataFrame(X, columns=list("abcd"))
    assert list(both(OneLSM(), GRID, frame, y).feature_names_in_) == list("abcd")


def test_transformers_are_searched_too():
    X, y = rows("iris")
    pipeline = make_pipeline(StandardScaler(), PolynomialFeatures(1), OneLSM())
    grid = {"polynomialfeatures__degree": [1, 2], "onelsm__gamma": [0.1, 1.0], "onelsm__sigma": [1.0, 4.0]}
    assert both(pipeline, grid, X, y).swept_
    whole = {
        "onelsm": [OneLSM(sigma=1.0), VoLSSVM(sigma=1.0)],
        "standardscaler": ["passthrough", StandardScaler()],
    }
    assert not both(pipeline, whole, X, y).swept_


def test_what_cannot_be_swept_is_fitted():
    X, y = rows("iris")
    assert not both(LogisticRegression(), {"C": [0.1, 1.0]}, X, y).swept_
    with pytest.warns(UserWarning, match="every grid point by itself: landmarks that all folds share"):
        assert not both(OneLSM(solver="nystrom", n_landmarks=20), GRID, X, y).swept_
    with pytest.warns(UserWarning, match="by itself: a kernel that looks at the columns of each training fold"):
        assert not both(OneLSM(), {**GRID, "kernel": ["gaussian", "laplace-l1-ranks"]}, X, y).swept_
    ours = both(OneLSM(), GRID, X, y, return_train_score=True)
    assert not ours.swept_
    assert "mean_train_score" in ours.cv_results_


@pytest.mark.parametrize("fault", [KeyError, ValueError, TypeError, AttributeError, IndexError])
@pytest.mark.parametrize("piped", [False, True])
def test_a_fault_of_the_sweep_is_not_hidden_by_plain_fits(monkeypatch, fault, piped):
    def broken(*args):
        raise fault("a fault of ours")

    X, y = rows("iris")
    monkeypatch.setattr("mcls.evaluation.sweepcv.sweep_points", broken)
    estimator = make_pipeline(StandardScaler(), OneLSM()) if piped else OneLSM()
    with pytest.raises(fault, match="a fault of ours"):
        SweepCV(estimator, {f"{'onelsm__' * piped}gamma": [0.1, 1.0]}).fit(X, y)


class Moody(StandardScaler):
    """A transformer that fails where the rows it is fitted to have some mean."""

    def fit(self, X, y=None, sample_weight=None):
        if X[:, 0].mean() > 0:
            raise RuntimeError("not today")
        return super().fit(X, y)


def test_what_others_code_or_rows_fail_at_is_judged_as_grid_search_judges_it():
    X, y = rows("iris")
    X = X - X.mean(axis=0)
    broken = X.copy()
    broken[3, 1] = np.nan
    for estimator, data, prefix in (
        (make_pipeline(Moody(), OneLSM()), X, "onelsm__"),
        (make_pipeline(StandardScaler(), OneLSM()), broken, "onelsm__"),
        (OneLSM(), broken, ""),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ours = both(estimator, {f"{prefix}gamma": [0.1, 1.0]}, data, y, refit=False)
        assert not ours.swept_
        assert np.isnan(ours.cv_results_["mean_test_score"]).any()


def test_weights_of_unknown_classes_are_refused_as_a_fit_refuses_them():
    X, y = rows("iris")
    wrong = {"rose": 2.0}
    for machine, weights in ((OneLSM(), [None, wrong]), (OneLSM(class_weight=wrong), [wrong])):
        with pytest.raises(ValueError, match="class_weight names 'rose', which is not a class of the data"):
            SweepCV(machine, {"class_weight": weights}, cv=CV, error_score="raise").fit(X, y)


def test_points_that_cannot_be_fitted_get_the_error_score():
    X, y = rows("iris")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        warnings.filterwarnings("ignore", message="One or more of the test scores")
        ours = both(OneLSM(), {"gamma": [-1.0, 1.0]}, X, y)
    assert np.isnan(ours.cv_results_["mean_test_score"]).tolist() == [True, False]
    with pytest.raises(ValueError, match="gamma must be a positive number"):
        SweepCV(OneLSM(), {"gamma": [-1.0, 1.0]}, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="Invalid parameter 'gama'"):
        SweepCV(OneLSM(), {"gama": [1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="unknown kernel 'linear'"):
        SweepCV(RFM(kernel="linear"), {"gamma": [1.0]}, error_score="raise").fit(X, y)


def test_a_fold_without_some_class_is_judged_as_grid_search_judges_it():
    X, y = make_classification(60, 5, n_informative=4, n_redundant=0, n_classes=3, random_state=0)
    folds = [(np.flatnonzero(y != 2)[:30], np.arange(40, 60)), (np.arange(40), np.arange(40, 60))]
    assert both(OneLSM(), GRID, X, y, cv=folds, scoring=["accuracy", "f1_macro"], refit=False).swept_


def test_metadata_is_routed():
    X, y = rows("iris")
    w = np.random.default_rng(0).uniform(0.2, 3, len(y))
    with sklearn.config_context(enable_metadata_routing=True):
        machine = OneLSM().set_fit_request(sample_weight=True)
        scoring = get_scorer("accuracy").set_score_request(sample_weight=True)
        fit = {"sample_weight": w, "groups": np.arange(len(y)) // 3}
        assert both(machine, GRID, X, y, fit, scoring=scoring, cv=GroupKFold(3), refit=False).swept_
        grid = {f"onelsm__{name}": values for name, values in GRID.items()}
        for wanted in (False, True):  # whether the scaler takes the weights too
            scaler = StandardScaler().set_fit_request(sample_weight=wanted)
            found = both(make_pipeline(scaler, machine), grid, X, y, fit, scoring=scoring, cv=GroupKFold(3))
            assert found.swept_ is not wanted


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")
@pytest.mark.filterwarnings(
    "ignore::sklearn.exceptions.FitFailedWarning"
)  # of rows that a check breaks on purpose
def test_scikit_learns_own_checks_pass():
    results = check_estimator(SweepCV(OneLSM(), {"gamma": [0.1, 1.0]}, cv=2), on_skip=None)
    assert {r["check_name"] for r in results if r["status"] != "passed"} <= {"check_array_api_input"}
