"""The recursive feature machine: gradients, what the metric finds, and that it is learned inside each fold."""

import numpy as np
import pytest

import mcls
from mcls import RFM, OneLSM
from mcls.data import load_dataset
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.scaling import to_range
from mcls.kernels import COLUMN_KERNELS, RADIAL
from mcls.machines import rfm
from mcls.models.describe import describe
from mcls.solvers.metric import METRIC_KINDS, rounds

KERNELS = [name for name in RADIAL if name not in COLUMN_KERNELS]


def corner(n=300, d=10, seed=0):
    """Three classes that the columns 0 and 3 decide, among d."""
    X = np.random.default_rng(seed).uniform(-1, 1, size=(n, d))
    return X, (X[:, 0] * X[:, 3] > 0).astype(int) + (X[:, 3] > 0.5)


@pytest.mark.parametrize("metric", METRIC_KINDS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_weight_is_on_the_columns_that_matter(kernel, metric):
    X, y = corner(n=400)
    machine = RFM(n_rounds=3, kernel=kernel, metric=metric, sigma=1.0, gamma=0.01).fit(X, y)
    weights = np.square(machine.metric_).reshape(10, -1).sum(axis=1)
    share = 0.7 if kernel == "laplace-l1" else 0.95  # a sum over the columns forgets none of them so soon
    assert weights[[0, 3]].sum() >= share * weights.sum()
    assert machine.feature_importances_[[0, 3]].sum() >= share
    assert machine.feature_importances_.sum() == pytest.approx(1)
    new, truth = corner(seed=1)
    assert machine.score(new, truth) > OneLSM(gamma=0.01).fit(X, y).score(new, truth) + 0.05


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_no_rounds_it_is_onelsm(kernel):
    X, y = corner()
    ours = RFM(n_rounds=0, kernel=kernel, sigma=0.7, gamma=0.3).fit(X, y)
    expected = OneLSM(kernel=kernel, sigma=0.7, gamma=0.3).fit(X, y)
    assert np.allclose(ours.decision_function(X), expected.decision_function(X), atol=1e-12)


@pytest.mark.parametrize(
    "options", [{}, {"metric": "low-rank"}, {"solver": "nystrom", "n_landmarks": 40}], ids=str
)
def test_the_sweep_equals_refitting_down_to_the_smallest_gamma(options):
    data = load_dataset("glass")
    X, folds = to_range(data.X), stratified_folds(data.y, 3, seed=0)
    grid = {"n_rounds": [0, 2], "gamma": [2.0**-30, 2.0**-8, 1.0], "sigma": [0.25, 32.0], "kernel": ["laplace"]}
    fast, refit = (search(RFM(**options), X, data.y, grid, folds, engine=engine) for engine in ("fast", "refit"))
    assert np.array_equal(fast.predictions, refit.predictions)


def test_one_path_of_metrics_serves_every_width_and_strength(monkeypatch):
    X, y = corner(n=90)
    paths = []
    monkeypatch.setattr(rfm, "rounds", lambda *args: paths.append(args) or rounds(*args))
    grid = {"n_rounds": [0, 1, 2], "gamma": [0.01, 1.0], "sigma": [0.5, 2.0]}
    found = search(RFM(), X, y, grid, stratified_folds(y, 3, seed=0))
    assert len(paths) == 3  # one per fold
    point = {"n_rounds": 2, "gamma": 0.01, "sigma": 0.5}
    train, test = stratified_folds(y, 3, seed=0)[0]
    expected = RFM(**point).fit(X[train], y[train]).predict(X[test])
    assert found.fold_predictions[0][found.points.index(point)].tolist() == expected.tolist()


def test_the_metric_is_learned_inside_each_fold():
    # Labels by chance: a metric that has seen the rows it is tested on would do better than chance.
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, size=(120, 30)), np.arange(120) % 2
    grid = {"n_rounds": [3], "gamma": [0.01], "sigma": [1.0, 4.0]}
    assert search(RFM(), X, y, grid, stratified_folds(y, 5, seed=0)).errors.min() > 0.4


def test_landmarks_learn_from_all_rows(monkeypatch):
    X, y = corner(n=600)
    new, truth = corner(n=600, seed=1)
    exact = RFM(gamma=0.01).fit(X, y).score(new, truth)
    assert RFM(gamma=0.01, solver="nystrom", n_landmarks=200).fit(X, y).score(new, truth) > exact - 0.05
    monkeypatch.setattr(rfm, "_METRIC_ROWS", 300)  # the metric from some rows, the machine from all
    machine = RFM(gamma=0.01).fit(X, y)
    assert len(machine.Z_fit_) == 600
    assert machine.score(new, truth) > exact - 0.05


def test_columns_without_a_word_to_say_leave_the_metric_as_it_is():
    machine = RFM().fit(np.ones((6, 2)), [0, 1] * 3)
    assert machine.metric_.tolist() == [1, 1]
    assert machine.feature_importances_.tolist() == [0.5, 0.5]


@pytest.mark.parametrize(
    "options, complaint",
    [
        ({"n_rounds": -1}, "n_rounds must be a whole number of at least 0"),
        ({"metric": "diagonl"}, "did you mean 'diagonal'"),
        ({"kernel": "linear"}, "unknown kernel 'linear'"),
        ({"solver": "quick"}, "unknown solver"),
    ],
)
def test_bad_options_are_refused(options, complaint):
    with pytest.raises(ValueError, match=complaint):
        RFM(**options).fit(*corner(20))


def test_a_model_tells_its_columns_by_importance(tmp_path):
    mcls.save(RFM().fit(*corner()), tmp_path / "m.mcls")
    told = [line for line in describe(mcls.load(tmp_path / "m.mcls"), {}) if line[0].startswith("importance")]
    assert [line[0] for line in told[:2]] == ["importance of column 4", "importance of column 1"]
