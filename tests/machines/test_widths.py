"""``sigma="scale"``: the width of the training rows, in every machine that has one, in every fold."""

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import mcls
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.grid import search
from mcls.kernels import scale_width
from mcls.machines.registry import MACHINES, get_machine

NAMES = sorted(name for name in MACHINES if "sigma" in MACHINES[name].defaults)
CV = StratifiedKFold(3, shuffle=True, random_state=0)


@pytest.fixture(scope="module")
def wine():
    data = load_dataset("wine")
    return data.X[::2], data.y[::2]


def by_default(name):
    """The machine as Python makes it, whose width is that of the rows."""
    machine = MACHINES[name].cls(**MACHINES[name].params)
    assert machine.sigma == "scale"
    return machine


def test_the_width_is_that_of_scikit_learn(wine):
    X, y = wine
    svc = SVC(gamma="scale").fit(X, y)
    assert 1 / (2 * scale_width(X) ** 2) == pytest.approx(svc._gamma, rel=1e-12)
    assert 1 / (2 * scale_width(np.ones((4, 3))) ** 2) == pytest.approx(
        1.0
    )  # its answer to rows that are all alike


@pytest.mark.parametrize("size", [1e-300, 1e-160, 1e151])
@pytest.mark.parametrize("name", ["oneLSM", "rfm"])
def test_rows_that_no_width_fits_are_refused(name, size, wine):
    X, y = wine
    X = StandardScaler().fit_transform(X)
    with pytest.raises(
        McLsError, match=r"the width that fits the rows is .*, and widths from .*: scale the features"
    ):
        by_default(name).fit(size * X, y)
    if name == "oneLSM":
        mcls.OneLSM(kernel="polynomial", degree=1).fit(min(size, 1e3) * X, y)  # has no width


def test_a_weight_counts_a_row_so_many_times(wine):
    X, _ = wine
    times = np.arange(len(X)) % 4
    assert scale_width(X, times.astype(float)) == pytest.approx(scale_width(X.repeat(times, axis=0)), rel=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_a_fit_is_that_of_the_width_of_its_rows(name, wine, tmp_path):
    X, y = wine
    machine = by_default(name).fit(X[::2], y[::2])
    given = by_default(name).set_params(sigma=scale_width(X[::2])).fit(X[::2], y[::2])
    assert machine.sigma_ == given.sigma
    assert not hasattr(given, "sigma_")
    assert np.array_equal(machine.decision_function(X), given.decision_function(X))
    mcls.save(machine, tmp_path / "m.mcls")
    assert np.array_equal(mcls.load(tmp_path / "m.mcls").decision_function(X), machine.decision_function(X))


@pytest.mark.parametrize("name", NAMES)
def test_every_fold_has_the_width_of_its_training_rows(name, wine):
    X, y = wine
    X = X / X.std(axis=0)
    folds = list(CV.split(X, y))
    machine = by_default(name)
    result = search(machine, X, y, {}, folds)
    for train, test in folds:
        alone = by_default(name).set_params(sigma=scale_width(X[train])).fit(X[train], y[train])
        assert np.array_equal(result.predictions[0, test], alone.predict(X[test]))
    assert not hasattr(machine, "sigma_")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("piped", [False, True])
def test_a_search_scores_as_grid_search_does(wine, weighted, piped):
    X, y = wine
    machine = mcls.OneLSM(class_weight="balanced" if weighted else None)
    estimator = make_pipeline(StandardScaler(), machine) if piped else machine
    step = "onelsm__" if piped else ""
    grid = {f"{step}gamma": [0.01, 1.0], f"{step}sigma": ["scale", 3.0]}
    w = np.arange(len(y)) % 3 + 0.5
    fit = {f"{step}sample_weight": w} if weighted else {}
    ours, theirs = (s(estimator, grid, cv=CV).fit(X, y, **fit) for s in (mcls.SweepCV, GridSearchCV))
    assert ours.swept_
    for k in range(3):
        key = f"split{k}_test_score"
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], rtol=0, atol=1e-12)
    assert ours.best_params_ == theirs.best_params_


def test_every_point_has_the_width_of_its_own_weights(wine):
    X, y = wine
    weights = [None, "balanced", {0: 40.0}]
    points = [{"gamma": gamma, "class_weight": weight} for weight in weights for gamma in (0.01, 1.0)]
    folds = list(CV.split(X, y))
    swept = mcls.OneLSM()._sweep_rows(X, y, folds, points)
    for scores, (train, test) in zip(swept, folds, strict=True):
        for point, found in zip(points, scores, strict=True):
            alone = mcls.OneLSM(**point).fit(X[train], y[train])
            np.testing.assert_allclose(found, alone.decision_function(X[test]), rtol=1e-8, atol=1e-10)


def test_landmarks_are_those_of_the_width(wine):
    X, y = wine
    options = {"solver": "nystrom", "n_landmarks": 20, "landmarks": "rpcholesky"}
    machine = mcls.OneLSM(**options).fit(X, y)
    given = mcls.OneLSM(**options, sigma=scale_width(X)).fit(X, y)
    assert np.array_equal(machine.decision_function(X), given.decision_function(X))
    folds = list(CV.split(X, y))
    found = [search(m, X, y, {"gamma": [0.1, 1.0]}, folds).predictions for m in (mcls.OneLSM(**options), given)]
    assert np.array_equal(*found)


def test_a_given_kernel_has_no_width(wine):
    X, y = wine
    machine = mcls.OneLSM(kernel="precomputed").fit(X @ X.T, y)
    assert not hasattr(machine, "sigma_")


def test_a_kernel_without_a_width_is_calibrated_with_weights_of_named_classes(wine):
    X, y = wine
    settings = {"kernel": "linear", "class_weight": {y[0]: 2.0}, "calibration": "temperature"}
    found = [mcls.OneLSM(sigma=sigma, **settings).fit(X, y).predict_proba(X) for sigma in ("scale", 1.0)]
    np.testing.assert_array_equal(*found)


def test_experiments_take_1_where_they_say_nothing():
    assert get_machine("oneLSM").create().sigma == get_machine("oneLSM").defaults["sigma"] == 1.0
    assert get_machine("oneLSM").create(sigma="scale").sigma == "scale"


@pytest.mark.parametrize("value", ["scales", "auto", 0.0, None])
def test_other_words_are_refused(value):
    with pytest.raises(McLsError, match=r"sigma must be a positive number .*; or 'scale'"):
        mcls.OneLSM(sigma=value).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("calibration", ["temperature", "auto"])
def test_a_weight_of_a_class_that_a_fold_lacks_is_no_trouble(wine, calibration):
    X, y = wine
    rows = np.append(np.flatnonzero(y < 2), np.flatnonzero(y == 2)[:1])  # one row of the last class
    machine = mcls.OneLSM(class_weight={2: 5.0}, calibration=calibration).fit(X[rows], y[rows])
    assert machine.predict_proba(X).shape == (len(X), 3)
