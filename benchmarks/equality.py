"""How often each test rejects equality where machines *are* equal: what a level of 0.05 is worth.

``python -m benchmarks.equality [PAIRS]`` prints the table of docs/statistics.md. Two machines that are equal by
construction: nearest class means on two halves of the features, which are exchangeable. Each pair has 200 rows of its
own, two classes and five features per machine. For tests over data sets the machines have errors around a level of
each data set, with the same noise.
"""

from __future__ import annotations

import sys
from collections import defaultdict

import numpy as np

from mcls.evaluation.permutations import paired_permutation_test
from mcls.evaluation.resampling_tests import bayesian_ttest, corrected_ttest, pairwise_wilcoxon, wilcoxon
from mcls.evaluation.statistics import friedman, ftest_5x2cv, mcnemar, ttest_5x2cv

Array = np.ndarray
ROWS, FEATURES, LEVEL = 200, 5, 0.05


def _parts(y: Array, k: int, rng: np.random.Generator) -> Array:
    """The part (n,) of each row, each class spread evenly."""
    parts = np.empty(len(y), dtype=int)
    for c in (0, 1):
        rows = rng.permutation(np.flatnonzero(y == c))
        parts[rows] = np.arange(len(rows)) % k
    return parts


def _predict(X: Array, y: Array, parts: Array, k: int) -> Array:
    """Classes (n,) out of part, by the nearest of the class means of the other parts."""
    member = np.eye(k)[parts]  # (n, k)
    predicted = np.empty(len(y), dtype=int)
    means = []
    for c in (0, 1):
        own = member * (y == c)[:, None]
        sums = own.T @ X  # (k, d)
        means.append((sums.sum(axis=0) - sums) / (own.sum() - own.sum(axis=0))[:, None])
    distances = [((X - mean[parts]) ** 2).sum(axis=1) for mean in means]
    predicted[:] = distances[1] < distances[0]
    return predicted


def _errors(y: Array, predicted: Array, parts: Array, k: int) -> Array:
    return np.array([(predicted != y)[parts == i].mean() for i in range(k)])


def rates_of_pairs(pairs: int, seed: int = 0) -> dict[str, float]:
    """Rejection rate of every test of two machines on one data set."""
    rng = np.random.default_rng(seed)
    found: dict[str, float] = defaultdict(float)
    y = np.repeat([0, 1], ROWS // 2)
    for _ in range(pairs):
        X = rng.normal(size=(ROWS, 2 * FEATURES)) + 0.45 * y[:, None]
        sides = X[:, :FEATURES], X[:, FEATURES:]
        halves: list[list[Array]] = [[], []]
        first: list[Array] = []
        for _ in range(5):
            parts = _parts(y, 2, rng)
            for side, Z in enumerate(sides):
                predicted = _predict(Z, y, parts, 2)
                halves[side].append(_errors(y, predicted, parts, 2))
                if len(halves[side]) == 1:
                    first.append(predicted)
        tens: list[list[Array]] = [[], []]
        whole: list[Array] = []
        for _ in range(10):
            parts = _parts(y, 10, rng)
            for side, Z in enumerate(sides):
                predicted = _predict(Z, y, parts, 10)
                tens[side].append(_errors(y, predicted, parts, 10))
                if len(tens[side]) == 1:
                    whole.append(predicted)
        a, b = (np.concatenate(side) for side in tens)
        naive = a - b
        t = abs(naive.mean()) / (naive.std(ddof=1) / 10.0)
        posterior = bayesian_ttest(a, b, 0.1, 0.01)
        found["5×2cv F"] += ftest_5x2cv(halves[0], halves[1], ROWS).differs(LEVEL)
        found["5×2cv t"] += ttest_5x2cv(halves[0], halves[1], ROWS).differs(LEVEL)
        found["McNemar, two halves"] += mcnemar(y, *first).differs(LEVEL)
        found["McNemar, 10-fold"] += mcnemar(y, *whole).differs(LEVEL)
        found["permutation of predictions, 10-fold"] += (
            paired_permutation_test(y, whole[0], whole[1], 199).p <= LEVEL
        )
        found["corrected resampled t, 10×10-fold"] += corrected_ttest(a, b, 0.1).differs(LEVEL)
        found["plain t, 10×10-fold (do not use)"] += t > 1.984
        found["Bayesian correlated t, either better by 0.01 with 0.95"] += (
            max(posterior.a_better, posterior.b_better) > 0.95
        )
    return {name: count / pairs for name, count in found.items()}


def rates_over_data_sets(pairs: int, n_datasets: int = 15, seed: int = 1) -> dict[str, float]:
    """Rejection rate of the tests over data sets, with two and with five machines."""
    rng = np.random.default_rng(seed)
    found: dict[str, float] = defaultdict(float)
    for _ in range(pairs):
        E = rng.uniform(0.05, 0.4, size=(n_datasets, 1)) + 0.01 * rng.normal(size=(n_datasets, 5))
        found[f"Wilcoxon, {n_datasets} data sets"] += wilcoxon(E[:, 0], E[:, 1]).differs(LEVEL)
        ranks = friedman(E, LEVEL)
        found[f"Friedman, 5 machines, {n_datasets} data sets"] += ranks.p < LEVEL
        found[f"Iman–Davenport, 5 machines, {n_datasets} data sets"] += ranks.iman_davenport_p < LEVEL
        found["Nemenyi, any of 10 pairs"] += np.ptp(ranks.ranks) > ranks.critical_difference
        found["Wilcoxon with Holm, any of 10 pairs"] += (pairwise_wilcoxon(E) < LEVEL).any()
    return {name: float(count / pairs) for name, count in found.items()}


def main(pairs: int) -> None:
    """Print the table."""
    print(f"| test at level {LEVEL} | rejects equality, {pairs} simulated pairs |\n|---|---|")
    for name, rate in {**rates_of_pairs(pairs), **rates_over_data_sets(pairs)}.items():
        print(f"| {name} | {rate:.3f} |", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
