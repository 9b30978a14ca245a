"""The tree of dichotomies, against Algorithm 1 transcribed plainly."""

import numpy as np
import pytest

from mcls.coding.criteria import make_criterion
from mcls.coding.tree import discriminant_tree, tree_matrix
from mcls.data import load_dataset

DATASETS = ["iris", "glass", "ecoli", "vowel", "yeast"]


def plain_sffs(classes, J):
    """Algorithm 1 line by line: no memory of J, every pair (X_k, X'_k') kept, the best proper pair returned."""
    Y = list(classes)
    N_c = len(Y)
    X, X_prime = {0: []}, {0: Y}
    k = 0
    met = []
    while True:
        # Step 1 (inclusion), lines 12–13
        candidates = [x for x in Y if x not in X[k]]
        values = [J(X[k] + [x], [c for c in X_prime[k] if c != x]) for x in candidates]
        x_plus = candidates[int(np.argmax(values))]
        X[k + 1] = X[k] + [x_plus]
        X_prime[k + 1] = [c for c in X_prime[k] if c != x_plus]
        k += 1
        if k == N_c:  # lines 8–9
            break
        met.append((J(X[k], X_prime[k]), X[k], X_prime[k]))
        # Step 2 (conditional exclusion), lines 16–22
        while True:
            candidates = [c for c in Y if c in X[k]]
            values = [J([c for c in X[k] if c != x], X_prime[k] + [x]) for x in candidates]
            x_minus = candidates[int(np.argmax(values))]
            if not max(values) > J(X[k - 1], X_prime[k - 1]):
                break
            X[k - 1] = [c for c in X[k] if c != x_minus]
            X_prime[k - 1] = X_prime[k] + [x_minus]
            k -= 1
            met.append((J(X[k], X_prime[k]), X[k], X_prime[k]))
    _, left, right = max(met, key=lambda m: m[0])
    return {frozenset(left), frozenset(right)}


def direct_criterion(name, X, y, sigma):
    """The paper's formulas with sample sums, taken in the order of the rows so that J(A, B) = J(B, A) exactly."""
    D2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    g = np.exp(-D2 / (4 * sigma**2))

    def fqmi(left, right):
        if not left or not right:
            return 0.0
        A, B = np.isin(y, left), np.isin(y, right)
        U = A | B
        N = U.sum()
        v_in = g[np.ix_(A, A)].sum() + g[np.ix_(B, B)].sum()
        v_all = ((A.sum() / N) ** 2 + (B.sum() / N) ** 2) * g[np.ix_(U, U)].sum()
        v_btw = A.sum() / N * g[np.ix_(U, A)].sum() + B.sum() / N * g[np.ix_(U, B)].sum()
        return (v_in + v_all - 2 * v_btw) / N**2

    def fldr(left, right):
        if not left or not right:
            return 0.0
        A, B = X[np.isin(y, left)], X[np.isin(y, right)]
        within = ((A - A.mean(0)) ** 2).sum() + ((B - B.mean(0)) ** 2).sum()
        return ((A.mean(0) - B.mean(0)) ** 2).sum() / within

    return {"fqmi": fqmi, "fldr": fldr}[name]


def scaled(name, at_most=300):
    """A data set scaled to [−1, 1] with integer classes, thinned so that the plain search stays quick."""
    data = load_dataset(name)
    X, y = np.asarray(data.X, dtype=float), np.unique(data.y, return_inverse=True)[1]
    step = int(np.ceil(len(X) / at_most))
    keep = np.concatenate([np.flatnonzero(y == c)[::step] for c in range(y.max() + 1)])
    X, y = X[keep], y[keep]
    spread = np.ptp(X, axis=0)
    return 2 * (X - X.min(axis=0)) / np.where(spread > 0, spread, 1) - 1, y


@pytest.mark.parametrize("criterion", ["fldr", "fqmi"])
@pytest.mark.parametrize("name", DATASETS)
def test_whole_tree_equals_the_plain_search(name, criterion):
    X, y = scaled(name)
    n_classes = y.max() + 1
    plain = direct_criterion(criterion, X, y, 1.0)
    tree = discriminant_tree(n_classes, make_criterion(criterion, X, y, 1.0))
    assert len(tree) == n_classes - 1
    for left, right in tree:
        assert {frozenset(left), frozenset(right)} == plain_sffs(sorted(left + right), plain)


def test_matrix_of_a_tree_has_one_column_a_dichotomy():
    X, y = scaled("vowel", 110)
    tree = discriminant_tree(11, make_criterion("fldr", X, y))
    M = tree_matrix(tree, 11)
    assert M.shape == (11, 10)
    for s, (left, right) in enumerate(tree):
        assert set(np.flatnonzero(M[:, s] == 1)) == set(left)
        assert set(np.flatnonzero(M[:, s] == -1)) == set(right)
    assert (M[:, 0] != 0).all()  # the root divides all classes
    # Every class is a leaf: its codeword differs from every other one by opposite signs somewhere.
    assert all((M[a] * M[b] == -1).any() for a in range(11) for b in range(a))
