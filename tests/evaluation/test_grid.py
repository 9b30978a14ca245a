"""The grid search: ranges, ties, engines, scaling inside the folds, foreign classifiers."""

import contextlib

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler

from mcls import ECOC, ELM, RLSC, OneLSM, VoLSSVM, VoRLS
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import class_half_split, make_folds, stratified_folds
from mcls.evaluation.grid import search
from mcls.evaluation.parameter_grids import parse_values
from mcls.evaluation.scaling import to_range
from mcls.labelbooks import LABELBOOKS
from mcls.machines.labels import LabelMachine
from mcls.machines.registry import MACHINES

GRID = {"gamma": "2^-4..2^4 step 4", "sigma": "2^-4..2^4 step 4"}
FOUR = ["iris", "wine", "glass", "vowel"]
PAPER_GRID = {"gamma": "2^-4..2^4", "sigma": "2^-4..2^4"}


def load(name):
    data = load_dataset(name)
    return to_range(data.X), data.y


def test_all_81_errors_equal_scikit_learns():
    X, y = load("wine")
    folds = stratified_folds(y, 10, seed=0)
    ours = search(OneLSM(), X, y, PAPER_GRID, folds)
    powers = 2.0 ** np.arange(-4, 5)
    theirs = GridSearchCV(
        KernelRidge(kernel="rbf"),
        {"alpha": powers, "gamma": 1 / (2 * powers**2)},
        scoring=lambda e, X, Y: np.mean(e.predict(X).argmax(axis=1) != Y.argmax(axis=1)),
        cv=folds,
        refit=False,
    ).fit(X, np.eye(3)[y])
    expected = {
        (round(p["alpha"], 9), round((2 * p["gamma"]) ** -0.5, 9)): error
        for p, error in zip(theirs.cv_results_["params"], theirs.cv_results_["mean_test_score"])
    }
    assert len(ours.points) == 81
    for point, error in zip(ours.points, ours.errors):
        assert error == pytest.approx(expected[point["gamma"], point["sigma"]], abs=1e-12)


def test_scaling_inside_the_folds_equals_a_pipeline():
    data = load_dataset("wine")
    folds = stratified_folds(data.y, 5, seed=2)
    result = search(OneLSM(), data.X, data.y, GRID, folds, scaling="fold")
    for i, point in enumerate(result.points):
        for k, (train, test) in enumerate(folds):
            pipeline = make_pipeline(MinMaxScaler((-1, 1)), OneLSM(**point)).fit(data.X[train], data.y[train])
            assert result.fold_errors[i, k] == pytest.approx(1 - pipeline.score(data.X[test], data.y[test]))


@pytest.mark.parametrize(
    "machine", [OneLSM(), OneLSM(solver="nystrom", n_landmarks=20), ELM(n_hidden=20)], ids=str
)
def test_threads_change_nothing(machine):
    X, y = load("glass")
    folds = stratified_folds(y, 5, seed=0)
    grid = {"C": [0.1, 9.0]} if isinstance(machine, ELM) else GRID
    one, two = (search(machine, X, y, grid, folds, n_threads=n) for n in (1, 2))
    assert one.points == two.points
    assert np.array_equal(one.predictions, two.predictions)


def test_of_several_grids_every_point_is_judged_once():
    X, y = load("iris")
    folds = stratified_folds(y, 5, seed=0)
    grids = [{"gamma": [0.1, 1.0], "sigma": [0.5, 2.0]}, {"gamma": [1.0, 9.0], "sigma": [2.0, 4.0]}]
    found = search(OneLSM(), X, y, grids, folds)
    points = [(point["sigma"], point["gamma"]) for point in found.points]
    assert points == [(0.5, 0.1), (0.5, 1.0), (2.0, 0.1), (2.0, 1.0), (2.0, 9.0), (4.0, 1.0), (4.0, 9.0)]
    for point, predicted in zip(found.points, found.predictions):
        assert np.array_equal(predicted, search(OneLSM(**point), X, y, {}, folds).predictions[0])


def test_one_split_scores_the_test_rows_only():
    X, y = load("glass")
    train, test = class_half_split(y, seed=0)
    result = search(VoLSSVM(), X, y, GRID, [(train, test)])
    assert (result.predictions[:, train] == -1).all()
    fitted = VoLSSVM(**result.best_point).fit(X[train], y[train])
    assert result.best_error == pytest.approx(1 - fitted.score(X[test], y[test]))


def test_other_kernels_are_searched_too():
    X, y = load("iris")
    folds = stratified_folds(y, 5, seed=0)
    grid = {"gamma": [0.1, 1.0], "kernel": ["linear", "polynomial"], "degree": [2]}
    result = search(OneLSM(), X, y, grid, folds)
    assert {p["kernel"] for p in result.points} == {"linear", "polynomial"}
    assert np.array_equal(result.predictions, search(OneLSM(), X, y, grid, folds, engine="refit").predictions)


@pytest.mark.parametrize("name", ["oneLSM", "ovO", "voRLS-beta", "voLSSVM", "lssvm"])
def test_every_radial_kernel_is_swept_exactly_with_widths_of_its_own(name):
    X, y = load("glass")
    folds = stratified_folds(y, 4, seed=0)
    strength = "lambda1" if name == "lssvm" else "gamma"
    grid = {strength: [2.0**-8, 1.0], "kernel": ["laplace", "matern", "laplace-l1"], "sigma": [2.0**-4, 1.0, 8.0]}
    fast, refit = (
        search(MACHINES[name].create(), X, y, grid, folds, engine=engine) for engine in ("fast", "refit")
    )
    assert len({codes.tobytes() for codes in fast.predictions}) > 6
    assert np.array_equal(fast.predictions, refit.predictions)


def test_any_scikit_learn_classifier_can_be_searched():
    X, y = load("iris")
    folds = stratified_folds(y, 5, seed=0)
    result = search(KNeighborsClassifier(), X, y, {"n_neighbors": [1, 5]}, folds)
    theirs = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 5]}, cv=folds).fit(X, y)
    assert np.allclose(1 - result.errors, theirs.cv_results_["mean_test_score"])


#: Every machine whose sweep is more than refitting.
SWEPT = [name for name, machine in MACHINES.items() if machine.create().swept]


def _books(machine):
    """The labelbooks that a machine can take, one dict of options each; no options where it takes none."""
    for book in LABELBOOKS.values() if isinstance(MACHINES[machine].create(), LabelMachine) else ():
        with contextlib.suppress(McLsError):  # degenerate for this machine
            MACHINES[machine].create(labelbook=book.name).check_labels(np.arange(6) % 3, 3)
            if not book.needs_counts:
                yield {"labelbook": book.name}


def _cases(sets, others):
    for machine in SWEPT:
        books = list(_books(machine))
        shared = MACHINES[machine].create().swept
        for name in sets if books and len(shared) == 1 else others:
            # OSQP, the default, ends in the same active set as the other solver but takes longer to find it.
            slow = name != "iris" and MACHINES[machine].create().get_params().get("solver") == "osqp"
            for options in books or [{}]:
                yield name, machine, {**options, **({"solver": "active-set"} if slow else {})}
    for name in sets:
        yield name, "voLSSVM", {"bias": True}
        yield name, "voLSSVM", {"label_kernel": "gaussian"}
        yield name, "oneLSM", {"labelbook": "fisher"}


def _few_cases():
    """Machines of quadratic programmes take one labelbook on each data set; make verify tries all of everything.

    One that learns its metric takes long, and is compared with refitting in ``tests/machines/test_rfm.py``.
    """
    seen = set()
    for name, machine, options in _cases(["iris", "glass"], ["iris"]):
        parameters = MACHINES[machine].create().get_params()
        again = parameters.get("solver") == "osqp" and (name, machine) in seen
        if not again and "n_rounds" not in parameters:
            yield name, machine, options
        seen.add((name, machine))


def _quick(machine, **options):
    """A machine of the registry; one that learns in epochs takes two."""
    epochs = {"epochs": 2} if "epochs" in MACHINES[machine].create().get_params() else {}
    return MACHINES[machine].create(**options, **epochs)


def _some_values(machine):
    """The first, the middle and the last value of each parameter that is tuned."""
    values = {name: parse_values(text) for name, text in MACHINES[machine].grid.items()}
    return {name: list(dict.fromkeys([v[0], v[len(v) // 2], v[-1]])) for name, v in values.items()}


def _labels_that_differ(name, machine, options, grid):
    X, y = load(name)
    folds = stratified_folds(y, 10, seed=5)
    estimator = _quick(machine, **options)
    grid = {name: grid.get(name, some) for name, some in _some_values(machine).items()}
    fast, refit = (search(estimator, X, y, grid, folds, engine=engine).predictions for engine in ("fast", "refit"))
    return int((fast != refit).sum())


@pytest.mark.parametrize("name, machine, options", list(_few_cases()), ids=str)
def test_fast_equals_refit_in_every_label(name, machine, options):
    assert _labels_that_differ(name, machine, options, GRID) == 0


@pytest.mark.full
@pytest.mark.parametrize("name, machine, options", list(_cases(FOUR, FOUR)), ids=str)
def test_fast_equals_refit_in_every_label_of_the_papers_grid(name, machine, options):
    assert _labels_that_differ(name, machine, options, PAPER_GRID) == 0


@pytest.mark.parametrize("machine", SWEPT)
def test_fast_equals_refit_when_one_row_is_left_out_at_a_time(machine):
    X, y = load("iris")
    X, y = X[::10], y[::10]
    estimator = _quick(machine)
    grid = {name: GRID.get(name, some) for name, some in _some_values(machine).items()}
    folds = make_folds(y, "loo", seed=0)
    fast, refit = (search(estimator, X, y, grid, folds, engine=engine).predictions for engine in ("fast", "refit"))
    assert np.array_equal(fast, refit)


@pytest.mark.parametrize("machine", ["oneLSM", "ovO", "voLSSVM"])
@pytest.mark.parametrize("kernel", ["linear", "polynomial"])
def test_fast_equals_refit_where_a_decomposition_loses_its_digits(machine, kernel):
    X, y = load("thyroid")
    X = np.column_stack([X, np.zeros(len(X))])
    X[0, -1] = 1e11 if kernel == "linear" else 1e4  # one row is far larger than the others
    folds = stratified_folds(y, 4, seed=0)
    estimator = MACHINES[machine].create(kernel=kernel)
    grid = {"gamma": [2.0**-4, 16.0]}
    fast, refit = (search(estimator, X, y, grid, folds, engine=engine).predictions for engine in ("fast", "refit"))
    assert np.array_equal(fast, refit)


def test_fast_equals_refit_where_the_low_rank_form_loses_its_digits():
    X = np.random.default_rng(0).uniform(-1, 1, size=(620, 2))
    y = np.digitize(X[:, 0], [-0.3, 0.3])
    near = np.ones((2, 3)) + 1e-3 * np.array([[0, 1, 2], [2, 0, 1]])  # label vectors that hardly differ
    folds = stratified_folds(y, 3, seed=0)
    estimator = VoLSSVM(sigma=4.0, labelbook=near)
    fast, refit = (
        search(estimator, X, y, {"gamma": [1e7]}, folds, engine=engine).predictions for engine in ("fast", "refit")
    )
    assert np.array_equal(fast, refit)


@pytest.mark.parametrize("name", sorted(MACHINES))
@pytest.mark.parametrize("sizes", [(12, 12, 1), (20, 1)], ids=str)
def test_no_machine_stops_at_a_fold_without_a_class(name, sizes):
    y = np.repeat(np.arange(len(sizes)), sizes)
    X = np.random.default_rng(0).normal(size=(len(y), 2)) + 3 * y[:, None]
    rows = np.random.default_rng(1).permutation(len(y))
    folds = [(np.sort(rows[::2]), np.sort(rows[1::2])), (np.sort(rows[1::2]), np.sort(rows[::2]))]
    lone = len(y) - 1  # the last row is the only one of its class: each fold lacks it in training or in testing
    folds = [(train[train != lone], np.union1d(test, [lone])) for train, test in folds][:1]
    result = search(MACHINES[name].create(), X, y, {}, folds)
    assert (result.predictions[:, lone] != y[lone]).all()
    assert result.best_error < 0.3


@pytest.mark.parametrize(
    "estimator",
    [
        OneLSM(labelbook=np.array([[1, 0, 0], [0, 1, 0], [0, 1, 1.0]])),
        RLSC(codewords=np.eye(3)),
        ECOC(coding=np.array([[1, 1, 0], [-1, 1, 1], [-1, -1, -1]])),
        OneLSM(labelbook=np.eye(3), solver="nystrom", n_landmarks=5),
    ],
    ids=str,
)
def test_a_matrix_of_labels_serves_a_fold_without_a_class(estimator):
    y = np.repeat([0, 1, 2], [12, 1, 12])
    X = np.random.default_rng(0).normal(size=(25, 2)) + 3 * y[:, None]
    train = np.array([i for i in range(0, 25, 2) if i != 12])
    folds = [(train, np.setdiff1d(np.arange(25), train))]
    result = search(estimator, X, y, {}, folds)
    assert result.predictions[0, 12] in (0, 2)
    assert result.best_error < 0.2


def test_vo_rls_f_with_its_ridge_is_the_minimum_norm_answer_of_a_singular_system():
    """On duplicated rows G + γH is singular; the ridge picks an answer whose scores do not feel it."""
    X, y = load("iris")
    X, y = np.repeat(X[::5], 2, axis=0), np.repeat(y[::5], 2)
    scores = VoRLS(regularizer="f", sigma=1.0, gamma=0.5).fit(X, y)._class_scores(X)
    halves = VoRLS(regularizer="f", sigma=1.0, gamma=0.25).fit(X[::2], y[::2])._class_scores(X)
    # Doubling every row doubles the data term: γ and half of it give one and the same function.
    assert np.allclose(scores, halves, atol=1e-6)
