"""The multiclass perceptron: a trace by hand, the notes' rules transcribed, the mistake bound."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from mcls.solvers.perceptron import fit

# Three rows in the plane, seen in this order in every pass.
X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
Y = np.array([1, 2, 0])


def test_two_passes_of_the_two_class_update_by_hand():
    # 1: scores 0,0,0  → 0, should be 1:  w0=(−1,0)  w1=(1,0)   w2=(0,0)
    # 2: scores 0,0,0  → 0, should be 2:  w0=(−1,−1) w1=(1,0)   w2=(0,1)
    # 3: scores −2,1,1 → 1, should be 0:  w0=(0,0)   w1=(0,−1)  w2=(0,1)
    # 1: scores 0,0,0  → 0, should be 1:  w0=(−1,0)  w1=(1,−1)  w2=(0,1)
    # 2: scores 0,−1,1 → 2, right
    # 3: scores −1,0,1 → 2, should be 0:  w0=(0,1)   w1=(1,−1)  w2=(−1,0)
    alpha, mistakes = fit(X @ X.T, Y, 3, [np.arange(3)] * 2, update="two-class", averaged=False)
    assert mistakes == [3, 2]
    assert (alpha.T @ X).tolist() == [[0, 1], [1, -1], [-1, 0]]


def test_two_passes_of_the_spread_update_by_hand():
    # 1 and 2: as above, for no class scores strictly higher: w0=(−1,−1) w1=(1,0) w2=(0,1)
    # 3: scores −2,1,1: both others are higher and pay half:   w0=(0,0) w1=(½,−½) w2=(−½,½)
    # then scores 0,½,−½; 0,−½,½; 0,0,0: all right
    alpha, mistakes = fit(X @ X.T, Y, 3, [np.arange(3)] * 5, update="spread", averaged=False)
    assert mistakes == [3, 0]  # and no further pass
    assert (alpha.T @ X).tolist() == [[0, 0], [0.5, -0.5], [-0.5, 0.5]]


def notes(X, y, n_classes, order, update):
    """Keshet's rules on explicit weights; also the weights after every step."""
    W, history = np.zeros((n_classes, X.shape[1])), []
    for rows in order:
        before = W.copy()
        for i in rows:
            scores = W @ X[i]
            guess = int(np.argmax(scores))
            if guess != y[i]:
                E = [r for r in range(n_classes) if r != y[i] and scores[r] > scores[y[i]]]
                pay = E if update == "spread" and E else [guess]
                W[y[i]] += X[i]
                for r in pay:
                    W[r] -= X[i] / len(pay)
            history.append(W.copy())
        if np.array_equal(before, W):
            break
    return W, np.mean(history, axis=0)


@pytest.mark.parametrize("update", ["two-class", "spread"])
def test_dual_form_follows_the_notes_and_averages_every_step(update):
    rng = np.random.default_rng(4)
    X = rng.integers(-5, 6, size=(40, 4)).astype(float)  # whole numbers: exact sums, honest ties
    y = rng.integers(0, 4, 40)
    order = [rng.permutation(40) for _ in range(6)]
    W, mean = notes(X, y, 4, order, update)
    alpha, _ = fit(X @ X.T, y, 4, order, update=update, averaged=False)
    averaged, _ = fit(X @ X.T, y, 4, order, update=update, averaged=True)
    assert np.allclose(alpha.T @ X, W, atol=1e-9)
    assert np.allclose(averaged.T @ X, mean, atol=1e-9)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 5), st.integers(2, 6), st.sampled_from(["two-class", "spread"]))
def test_separable_data_end_in_a_pass_without_mistake_within_the_bound(seed, n_classes, d, update):
    rng = np.random.default_rng(seed)
    W = rng.normal(size=(n_classes, d))
    X = rng.normal(size=(60, d))
    scores = np.sort(X @ W.T, axis=1)
    margin = scores[:, -1] - scores[:, -2]
    X = X[margin > 0.5]
    y = (X @ W.T).argmax(axis=1)
    assume(len(X) >= 5)
    W = W / margin[margin > 0.5].min()  # now every margin is at least 1
    bound = 2 * (X**2).sum(axis=1).max() * (W**2).sum()
    passes = (rng.permutation(len(X)) for _ in range(int(bound) + 1))
    alpha, mistakes = fit(X @ X.T, y, n_classes, passes, update=update, averaged=False)
    assert sum(mistakes) <= bound
    assert mistakes[-1] == 0
    assert np.array_equal((X @ X.T @ alpha).argmax(axis=1), y)
