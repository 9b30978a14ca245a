"""Bad input is normal: each machine refuses it with a clear ValueError, or does what is documented."""

from contextlib import nullcontext

import numpy as np
import pytest
from sklearn.base import clone

from mcls.errors import PrecisionWarning
from mcls.machines.registry import MACHINES
from tests.machines.kernels import kernels_of

KERNELS = {name: kernels_of(name) for name in MACHINES}
KERNEL = sorted(name for name, known in KERNELS.items() if "precomputed" in known)
# The others look at the features too.
MATRIX = [name for name in KERNEL if MACHINES[name].create().works_on == "kernel"]
WIDTH = [name for name in KERNELS if "sigma" in MACHINES[name].grid]
GAMMA = [name for name in KERNELS if "gamma" in MACHINES[name].grid]
X = np.random.default_rng(0).normal(size=(30, 3)) + np.repeat(np.arange(3), 10)[:, None] * 2
y = np.repeat(["a", "b", "c"], 10)


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_missing_values_are_refused(name):
    bad = X.copy()
    bad[3, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        MACHINES[name].create().fit(bad, y)
    with pytest.raises(ValueError, match="NaN"):
        MACHINES[name].create().fit(X, y).predict(bad)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "name, kernel",
    [(name, k) for name in KERNELS for k in ("gaussian", "linear", "polynomial") if k in KERNELS[name]],
)
def test_numbers_too_large_for_the_kernel_are_refused(name, kernel):
    machine = MACHINES[name].create(kernel=kernel)
    with pytest.raises(ValueError, match="overflows: features as large as"):
        clone(machine).fit(1e200 * X, y)
    with pytest.raises(ValueError, match="overflows: features as large as"):
        machine.fit(X / 5, y).predict(1e299 * X)


@pytest.mark.filterwarnings("error", "ignore::mcls.errors.PrecisionWarning")
@pytest.mark.parametrize("size", [1e70, 1e74])
@pytest.mark.parametrize("name", ["oneLSM", "ovO", "voRLS-beta", "voRLS-f", "voLSSVM", "lssvm", "rlsc"])
def test_a_kernel_that_is_just_no_overflow_gives_numbers(name, size):
    # No digits of the scores are left, and the fit says so; the ridge of voRLS-f grows with the matrix.
    with pytest.warns(PrecisionWarning) if name != "voRLS-f" else nullcontext():
        machine = MACHINES[name].create(kernel="linear").fit(size * X, y)
    assert np.isfinite(machine.decision_function(size * X)).all()


@pytest.mark.filterwarnings("error")
def test_numbers_too_large_for_a_hidden_layer_are_refused():
    with pytest.raises(
        ValueError, match=r"the hidden layer overflows: features as large as 1\.7e\+308; scale them"
    ):
        MACHINES["elm"].create().fit(np.full((30, 3), 1.7e308), y)
    with pytest.raises(ValueError, match="the hidden layer overflows"):
        MACHINES["elm"].create().fit(X, y).predict(np.full((1, 3), 1.7e308))


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_one_class_is_refused(name):
    with pytest.raises(ValueError, match="class"):
        MACHINES[name].create().fit(X, np.repeat("a", 30))


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_a_class_with_one_sample_is_learnt(name):
    rows = np.r_[0:20, 20]
    machine = MACHINES[name].create().fit(X[rows], y[rows])
    assert list(machine.classes_) == ["a", "b", "c"]
    assert np.isfinite(machine.decision_function(X)).all()


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_duplicate_rows_and_a_constant_column_are_no_trouble(name):
    doubled = np.column_stack([np.repeat(X, 3, axis=0), np.ones(90)])
    machine = MACHINES[name].create().fit(doubled, np.repeat(y, 3))
    assert machine.score(doubled, np.repeat(y, 3)) > 0.8


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_contradictory_duplicates_are_no_trouble(name):
    rows, labels = np.concatenate([X, X]), np.concatenate([y, np.roll(y, 10)])
    assert set(MACHINES[name].create().fit(rows, labels).predict(rows)) <= {"a", "b", "c"}


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_two_samples_of_two_classes_are_enough(name):
    machine = MACHINES[name].create().fit([[0.0], [1.0]], ["low", "high"])
    assert machine.predict([[0.0], [1.0]]).shape == (2,)


@pytest.mark.parametrize("name", [name for name in KERNELS if KERNELS[name]])
def test_two_samples_are_told_apart(name):
    machine = MACHINES[name].create(kernel="gaussian", sigma=0.5).fit([[-1.0], [1.0]], ["low", "high"])
    assert list(machine.predict([[-1.0], [1.0]])) == ["low", "high"]


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("name", GAMMA)
def test_gamma_must_be_positive(name, value):
    with pytest.raises(ValueError, match="gamma must be a positive number"):
        MACHINES[name].create(gamma=value).fit(X, y)


@pytest.mark.parametrize("value", [0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("name", WIDTH)
def test_sigma_must_be_positive(name, value):
    with pytest.raises(ValueError, match="sigma must be a positive number"):
        MACHINES[name].create(kernel="gaussian", sigma=value).fit(X, y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("kind", [np.float16, np.float32, np.longdouble])
def test_a_parameter_may_be_a_number_of_any_precision(kind):
    given, plain = (MACHINES["oneLSM"].create(gamma=one, sigma=one).fit(X, y) for one in (kind(1.0), 1.0))
    assert np.allclose(given.decision_function(X), plain.decision_function(X))
    with pytest.raises(ValueError, match="gamma must be a positive number, got"):
        MACHINES["oneLSM"].create(gamma=kind(np.inf)).fit(X, y)


@pytest.mark.parametrize("name", MATRIX)
def test_a_precomputed_matrix_must_be_a_kernel(name):
    machine = MACHINES[name].create(kernel="precomputed")
    K = -np.eye(30)
    with pytest.raises(ValueError, match="positive semi-definite"):
        machine.fit(K, y)
    with pytest.raises(ValueError, match="square"):
        machine.fit(X, y)


@pytest.mark.parametrize("name", KERNEL)
def test_precomputed_callable_and_named_kernels_agree(name):
    create = MACHINES[name].create
    K = X @ X.T
    named = create(kernel="linear").fit(X, y)
    called = create(kernel=lambda A, B: A @ B.T).fit(X, y)
    assert np.allclose(named.decision_function(X), called.decision_function(X))
    given = create(kernel="precomputed")
    if name in MATRIX:
        assert np.allclose(named.decision_function(X), given.fit(K, y).decision_function(K))
    else:
        with pytest.raises(ValueError, match="features"):
            given.fit(K, y)


@pytest.mark.parametrize("name", KERNEL)
def test_polynomial_kernel_and_unknown_names(name):
    create = MACHINES[name].create
    assert create(kernel="polynomial", degree=2).fit(X / 5, y).score(X / 5, y) > 0.5
    with pytest.raises(ValueError, match="did you mean 'gaussian'"):
        create(kernel="gausian").fit(X, y)


@pytest.mark.parametrize("name", sorted(MACHINES))
def test_labels_not_seen_in_training_count_as_errors(name):
    machine = MACHINES[name].create().fit(X[:20], y[:20])
    assert machine.score(X[20:], y[20:]) == 0.0


@pytest.mark.parametrize("parameter", ["labelbook", "label_kernel", "decision"])
@pytest.mark.parametrize("name", ["oneLSM", "voRLS-f", "voLSSVM", "voSVM"])
def test_unknown_options_are_refused(name, parameter):
    with pytest.raises(ValueError, match="unknown"):
        MACHINES[name].create(**{parameter: "nonsense"}).fit(X, y)


def test_winner_needs_one_entry_a_class():
    with pytest.raises(ValueError, match="one entry per class"):
        MACHINES["oneLSM"].create(labelbook="mincorr", decision="winner").fit(X, y)
    with pytest.raises(ValueError, match="label kernel"):
        MACHINES["oneLSM"].create(label_kernel="gaussian", decision="winner").fit(X, y)
    with pytest.raises(ValueError, match="label_kernel='linear'"):
        MACHINES["voLSSVM"].create(label_kernel="gaussian", bias=True).fit(X, y)
