"""The online learners as estimators: seeds, records, the plot, bad parameters."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from mcls import SVMSGD, CrammerSinger, MulticlassPerceptron
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.folds import stratified_folds
from mcls.evaluation.scaling import to_range
from mcls.kernels import gaussian, squared_distances


@pytest.fixture(scope="module")
def iris():
    data = load_dataset("iris")
    return to_range(data.X), data.y


@pytest.mark.parametrize("cls", [MulticlassPerceptron, SVMSGD])
def test_a_seed_fixes_the_result_and_another_changes_it(cls, iris):
    first, again, other = (cls(epochs=3, random_state=seed).fit(*iris).alpha_ for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("cls", [MulticlassPerceptron, SVMSGD])
def test_without_shuffling_the_seed_has_no_say(cls, iris):
    first, other = (cls(epochs=3, shuffle=False, random_state=seed).fit(*iris).alpha_ for seed in (1, 2))
    assert np.array_equal(first, other)


@pytest.mark.parametrize("update", ["two-class", "spread"])
@pytest.mark.parametrize("kernel", ["gaussian", "linear"])
def test_mistakes_are_counted_and_end_on_separable_data(update, kernel, iris):
    X, y = iris
    y = (y > 0).astype(int)  # setosa against the others, a line apart; the constant is the bias
    X = np.c_[X, np.ones(len(X))]
    machine = MulticlassPerceptron(kernel=kernel, update=update).fit(X, y)
    assert machine.n_mistakes_ == sum(machine.mistakes_) > 0
    assert machine.mistakes_[-1] == 0
    assert machine.score(X, y) == 1


def test_averaging_changes_the_weights_but_not_the_mistakes(iris):
    last = MulticlassPerceptron(sigma=0.5, epochs=10).fit(*iris)
    mean = MulticlassPerceptron(sigma=0.5, epochs=10, averaged=True).fit(*iris)
    assert last.mistakes_ == mean.mistakes_
    assert not np.allclose(last.alpha_, mean.alpha_)


def test_default_steps_come_within_one_percent_of_the_exact_machine(iris):
    X, y = iris
    steps = SVMSGD().fit(X, y)
    exact = CrammerSinger().fit(X, y).objective_ / len(y)
    assert exact <= steps.objective_[-1] <= 1.01 * exact


def test_a_sweep_over_something_else_than_the_price_refits(iris):
    X, y = iris
    K, folds = gaussian(squared_distances(X), 1.0), stratified_folds(y, 3, seed=0)
    points = [{"C": 1.0, "epochs": 2}, {"C": 1.0, "epochs": 4}]
    for fast, refit in zip(
        SVMSGD().sweep(K, y, folds, points), SVMSGD().sweep(K, y, folds, points, engine="refit"), strict=True
    ):
        assert np.array_equal(fast, refit)
        assert not np.array_equal(fast[0], fast[1])


def test_the_objective_is_plotted_on_request(iris):
    mpl.use("Agg")
    machine = SVMSGD(epochs=7).fit(*iris)
    ax = machine.plot_objective()
    (line,) = ax.lines
    assert np.array_equal(line.get_ydata(), machine.objective_)
    assert np.array_equal(line.get_xdata(), np.arange(1, 8))
    assert machine.plot_objective(ax) is ax
    plt.close(ax.figure)


@pytest.mark.parametrize(
    ("machine", "message"),
    [
        (MulticlassPerceptron(update="spraed"), "did you mean 'spread'"),
        (MulticlassPerceptron(epochs=0), "epochs must be a whole number"),
        (SVMSGD(epochs=2.5), "epochs must be a whole number"),
        (SVMSGD(C=0.0), "C must be a positive number"),
    ],
)
def test_parameters_out_of_range_are_refused(machine, message, iris):
    with pytest.raises(McLsError, match=message):
        machine.fit(*iris)
