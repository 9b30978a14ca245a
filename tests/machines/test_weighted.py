"""Weights of rows and classes: swept against refitted, against repeated rows, and against other libraries."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC
from sklearn.utils.class_weight import compute_sample_weight

from mcls import ELM, RLSC, OneLSM, OvOLSM, SVMOvA, VoLSSVM, VoRLS, VoSVM, WestonWatkins, load, save
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.parameter_grids import expand_grid
from mcls.evaluation.scaling import to_range
from mcls.kernels import kernel_matrix
from mcls.machines.foreign import ForeignMachine
from mcls.machines.registry import MACHINES
from mcls.solvers.multisvm import objectives
from mcls.solvers.qp import box_kkt_residual

WEIGHTED = sorted(name for name, machine in MACHINES.items() if machine.cls.takes_weights)
DATA = load_dataset("glass")
X, Y = to_range(DATA.X)[::2], DATA.y[::2]
#: Uneven, over three powers of ten, and some of them zero.
WEIGHTS = 10.0 ** np.random.default_rng(0).uniform(-1.5, 1.5, len(Y))
WEIGHTS[::11] = 0.0


def few_points(name):
    """Three values of each parameter that the machine's sweep shares."""
    swept = MACHINES[name].create().swept
    points = [{}]
    for parameter, values in expand_grid(MACHINES[name].grid).items():
        if parameter in swept:
            points = [
                {**point, parameter: v} for point in points for v in values[1 :: max(1, len(values) // 3)][:3]
            ]
    return points


def small(name, **options):
    """A machine of the registry, quick on a few rows."""
    quick = {"solver": "active-set"} if MACHINES[name].cls is VoSVM else {"n_hidden": 50} if name == "elm" else {}
    return MACHINES[name].create(**quick, **options)


def labels_that_differ(machine, A, folds, points, **weights):
    """How many labels of the sweep a refit contradicts by a margin that has any digits (1e-8 of the scores)."""
    fast, refit = (machine.sweep(A, Y, folds, points, engine=engine, **weights) for engine in ("fast", "refit"))
    count = 0
    for one, other in zip(fast, refit, strict=True):
        chosen = np.take_along_axis(other, one.argmax(axis=2)[:, :, None], axis=2)[:, :, 0]
        count += int((other.max(axis=2) - chosen > 1e-8 * np.abs(other).max(axis=2)).sum())
    return count


@pytest.mark.parametrize("sigma", [0.1, 0.5, 4.0])
@pytest.mark.parametrize("name", [name for name in WEIGHTED if MACHINES[name].create().swept])
def test_the_weighted_sweep_equals_refitting_in_every_label(name, sigma):
    folds, points = stratified_folds(Y, 4, seed=0), few_points(name)
    machine = small(name)
    A = kernel_matrix(X, sigma=sigma) if machine.works_on == "kernel" else X / sigma
    assert labels_that_differ(machine, A, folds, points, sample_weight=WEIGHTS) == 0
    balanced = small(name, class_weight="balanced")
    assert labels_that_differ(balanced, A, folds, points) == 0
    assert (
        labels_that_differ(small(name, class_weight={0: 4.0, 3: 0.2}), A, folds, points, sample_weight=WEIGHTS)
        == 0
    )


def test_landmarks_and_counted_labels_are_swept_with_weights_too():
    folds, points = stratified_folds(Y, 4, seed=0), [{"gamma": gamma} for gamma in (0.1, 1.0, 8.0)]
    for machine, A in (
        (OneLSM(solver="nystrom", n_landmarks=30, sigma=0.5), X),
        (OneLSM(labelbook="fisher", class_weight="balanced"), kernel_matrix(X, sigma=0.5)),
        (VoLSSVM(bias=True), kernel_matrix(X, sigma=0.5)),
    ):
        assert labels_that_differ(machine, A, folds, points, sample_weight=WEIGHTS) == 0


def test_folds_of_equal_weights_share_a_decomposition(monkeypatch):
    data = load_dataset("iris")
    fits = []
    fit = OneLSM._fit
    monkeypatch.setattr(OneLSM, "_fit", lambda self, *args: fits.append(1) or fit(self, *args))
    K, points = kernel_matrix(to_range(data.X)), [{"gamma": 0.1}, {"gamma": 1.0}]
    OneLSM(class_weight="balanced").sweep(K, data.y, stratified_folds(data.y, 5, seed=0), points)
    assert not fits


def test_class_weights_may_be_points_of_a_grid():
    points = [{"gamma": g, "class_weight": c} for c in (None, "balanced") for g in (0.1, 1.0)]
    K, folds = kernel_matrix(X, sigma=0.5), stratified_folds(Y, 4, seed=0)
    assert labels_that_differ(OneLSM(), K, folds, points) == 0
    scores = OneLSM().sweep(K, Y, folds, points)[0]
    assert not np.allclose(scores[:2], scores[2:])


@pytest.mark.parametrize("name", ["oneLSM", "voRLS-beta", "voLSSVM", "szedmak", "svm-ovO", "olc-lssvm"])
def test_a_weighted_fold_is_a_fit_with_those_weights(name):
    (train, test) = stratified_folds(Y, 4, seed=0)[0]
    machine = small(name, sigma=0.5, class_weight="balanced")
    K = kernel_matrix(X, sigma=0.5)
    swept = machine.sweep(K, Y, stratified_folds(Y, 4, seed=0), [{}], sample_weight=WEIGHTS)[0][0]
    fitted = machine.fit(X[train], Y[train], sample_weight=WEIGHTS[train])
    assert np.allclose(swept, fitted._class_scores(X[test]), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("options", [{}, {"labelbook": "fisher"}, {"class_weight": "balanced"}])
def test_a_repeated_row_is_one_of_twice_the_weight_and_an_absent_one_of_none(options):
    times = np.random.default_rng(1).integers(0, 4, len(Y))
    machine = OneLSM(sigma=0.5, **options)
    repeated = machine.fit(X.repeat(times, axis=0), Y.repeat(times)).decision_function(X)
    assert np.allclose(machine.fit(X, Y, sample_weight=times).decision_function(X), repeated)
    K = kernel_matrix(X, sigma=0.5)
    on_kernel = machine.set_params(kernel="precomputed").fit(K, Y, sample_weight=times)
    assert np.allclose(on_kernel.decision_function(K), repeated)


def test_balanced_and_named_classes_are_sample_weights():
    names = np.array(["a", "b", "c", "d", "e", "f"])[Y]
    by_name = {"a": 3.0, "b": 0.5}
    for class_weight in ("balanced", by_name):
        plain = OneLSM(sigma=0.5).fit(X, names, sample_weight=compute_sample_weight(class_weight, names))
        assert np.allclose(
            OneLSM(sigma=0.5, class_weight=class_weight).fit(X, names).alpha_, plain.alpha_, rtol=1e-12
        )


def test_weights_are_those_of_other_libraries():
    w = np.where(WEIGHTS > 0, WEIGHTS, 0.5)
    peer = KernelRidge(kernel="rbf", gamma=1 / (2 * 0.5**2), alpha=0.3).fit(X, np.eye(6)[Y], sample_weight=w)
    ours = OneLSM(sigma=0.5, gamma=0.3).fit(X, Y, sample_weight=w)
    assert np.allclose(ours.decision_function(X), peer.predict(X))
    svc = SVC(gamma=1 / (2 * 0.5**2), C=4.0, class_weight="balanced", decision_function_shape="ovo", tol=1e-5)
    assert np.array_equal(
        MACHINES["svm-ovO"].create(sigma=0.5, C=4.0, class_weight="balanced").fit(X, Y, w).predict(X),
        svc.fit(X, Y, w * _weighted_counts_factor(w)).predict(X),
    )


def _weighted_counts_factor(w):
    """SVC counts rows for "balanced", not their weights: what turns its class weights into ours."""
    counts, sums = np.bincount(Y), np.bincount(Y, w)
    return ((sums.sum() / sums) * (counts / counts.sum()))[Y]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("solver", ["osqp", "active-set"])
def test_the_weighted_vosvm_is_certified(solver, bias):
    w = np.where(WEIGHTS > 0, WEIGHTS, 0.5)
    machine = VoSVM(bias=bias, solver=solver, sigma=0.5, gamma=2.0).fit(X, Y, sample_weight=w)
    H = kernel_matrix(X, sigma=0.5) * machine.label_gram_[np.ix_(Y, Y)]
    assert machine.kkt_residual_ < 1e-6
    assert (machine.beta_ <= 2.0 * w).all()
    assert (machine.beta_ == 2.0 * w).any()
    if not bias:
        assert box_kkt_residual(H, machine.beta_, 2.0 * w) < 1e-6


def test_the_weighted_multiclass_svm_closes_its_gap():
    w = np.where(WEIGHTS > 0, WEIGHTS, 0.5)
    machine = WestonWatkins(sigma=0.5, C=2.0).fit(X, Y, sample_weight=w)
    primal, dual = objectives(kernel_matrix(X, sigma=0.5), machine.alpha_, Y, 2.0, "weston-watkins", w)
    assert machine.gap_ < 1e-7
    assert primal - dual < 1e-6 * primal


# Bad weights ---------------------------------------------------------------------------------------------------

BAD = {
    "negative": (-WEIGHTS, "zero or positive"),
    "nan": (np.full(len(Y), np.nan), "finite"),
    "all zero": (np.zeros(len(Y)), "every sample_weight is zero"),
    "too few": (WEIGHTS[1:], "one number for each"),
    "two columns": (np.column_stack([WEIGHTS, WEIGHTS]), "one number for each"),
    "text": (np.full(len(Y), "much"), "must be numbers"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_weights_are_refused_in_one_line(kind):
    weights, told = BAD[kind]
    for attempt in (
        lambda: OneLSM().fit(X, Y, sample_weight=weights),
        lambda: OneLSM().sweep(kernel_matrix(X), Y, stratified_folds(Y, 3, seed=0), [{}], sample_weight=weights),
    ):
        with pytest.raises(McLsError, match=told) as caught:
            attempt()
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("class_weight", ["balance", 3, {0: -1.0}, {0: "much"}, {0: np.nan}, {"nobody": 2.0}])
def test_bad_class_weights_are_refused(class_weight):
    for machine in (OneLSM, OvOLSM, VoRLS, RLSC, SVMOvA, ELM):
        with pytest.raises(McLsError, match="class_weight"):
            machine(class_weight=class_weight).fit(X, Y)


def test_machines_that_take_no_weights_say_so():
    K, folds = kernel_matrix(X), stratified_folds(Y, 3, seed=0)
    with pytest.raises(McLsError, match="takes no sample weights"):
        MACHINES["perceptron"].create().sweep(K, Y, folds, [{}], sample_weight=WEIGHTS)
    with pytest.raises(McLsError, match="takes no sample weights"):
        ForeignMachine(MACHINES["perceptron"].create()).sweep(
            X, Y, folds, [{}], n_classes=6, sample_weight=WEIGHTS
        )
    with pytest.raises(McLsError, match="weight of zero"):
        OneLSM().sweep(K, Y, [(np.arange(0, 99, 11), np.arange(5))], [{}], sample_weight=WEIGHTS)


def test_a_saved_machine_keeps_its_class_weights(tmp_path):
    machine = OneLSM(class_weight={0: 2.0, 1: 0.5}).fit(X, Y, sample_weight=WEIGHTS)
    save(machine, tmp_path / "one.mcls")
    again = load(tmp_path / "one.mcls")
    assert again.class_weight == machine.class_weight
    assert np.array_equal(again.predict(X), machine.predict(X))
