"""The recursive feature machine: oneLSM with a metric that is learned from its own gradients."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np

from mcls.kernels import COLUMN_KERNELS, RADIAL, kernel_matrix, scale_width
from mcls.machines.base import BaseMachine, Folds, Points, rows_per_block
from mcls.machines.widths import WidthMixin
from mcls.parameters import SCALE, Check, Choice, Positive, Whole, declares_parameters
from mcls.solvers import lsm, nystrom
from mcls.solvers.landmarks import draw_rows
from mcls.solvers.metric import METRIC_KINDS, outer_products, rounds, transform
from mcls.solvers.spectrum import Spectrum

Array = np.ndarray

SOLVERS = ("exact", "nystrom")

# Of more rows than this, so many drawn at random teach the metric, which is an average; all rows teach the machine.
_METRIC_ROWS = 2000

# Up to so many strengths at one width, a factorisation of each costs less than one decomposition.
_FACTORED = 8

# Rounds → widths → strengths.
Wanted = Mapping[int, Mapping[float, Sequence[float]]]


@declares_parameters
class RFM(WidthMixin, BaseMachine):
    """OneLSM with a learned metric: distances weigh the columns, or a few directions, by what they tell.

    Starting from plain distances, each round fits :class:`~mcls.machines.lsm.OneLSM` to the class indicators, takes the
    average gradient outer product of its scores, and makes it the metric of the next round (recursive feature machine;
    the algebra is in ``mcls.solvers.metric``). The last machine decides. With no rounds it is oneLSM itself.

    In cross-validation the metric is learned from the training rows of each fold: learned from all rows, it would know
    what it is tested on. One path of metrics per fold serves every number of rounds, width and γ.

    Parameters
    ----------
    n_rounds : int
        How often the metric is learned anew; 0: plain distances.
    metric : {"diagonal", "low-rank"}
        A weight per column, or the directions with 99 % of the trace of the gradient outer product.
    kernel : {"gaussian", "laplace", "matern", "laplace-l1"}
        A function of the distance, see :class:`~mcls.machines.lsm.OneLSM`.
    sigma : float or "scale"
        Its width in the last machine; "scale" as in :class:`~mcls.machines.lsm.OneLSM`. A learned metric keeps the
        mean squared distance between training rows, and so the meaning of σ; rounds have half its root as theirs.
    gamma : float
        Weight of the regularisation of the last machine; the larger, the smoother. Rounds choose their own by exact
        leave-one-out residuals.
    solver : {"exact", "nystrom"}
        ``nystrom`` learns the metric from ``n_landmarks`` rows and the machine from all rows, spanned by those.
    n_landmarks : int
        Landmarks of ``nystrom``.
    random_state : int
        Seed of the landmarks, and of the 2000 rows that teach the metric where there are more.

    Attributes
    ----------
    metric_ : array (d,) or (d, r)
        The scale S of each column, or the directions S: distances are ‖Sᵀ(x − x')‖.
    feature_importances_ : array (d,)
        Mean squared change of the scores along each column, as shares of one. Columns should be of one scale.
    alpha_ : array (n, ℓ)
        Coefficients of the training rows.
    Z_fit_ : array (n, d) or (n, r)
        Training rows in the learned metric; with ``nystrom``, the landmarks.

    References
    ----------
    A. Radhakrishnan, D. Beaglehole, P. Pandit and M. Belkin, Mechanism for feature learning in neural networks and
    backpropagation-free machine learning models, Science 383, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from mcls import RFM
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(200, 5))
    >>> y = np.where(X[:, 3] > 0, "up", "down")  # one column decides
    >>> int(RFM(n_rounds=2).fit(X, y).feature_importances_.argmax())
    3
    """

    n_rounds: int = 2
    metric: str = "diagonal"
    kernel: str = "gaussian"
    sigma: float | str = SCALE
    gamma: float = 1.0
    solver: str = "exact"
    n_landmarks: int = 1000
    random_state: int = 0

    checks: ClassVar[Mapping[str, Check]] = {
        "n_rounds": Whole(0, as_float=True),
        "metric": Choice("metric", METRIC_KINDS),
        "kernel": Choice("kernel", tuple(name for name in RADIAL if name not in COLUMN_KERNELS)),
        "gamma": Positive(),
        "solver": Choice("solver", SOLVERS),
        "n_landmarks": Whole(1),
        "random_state": Whole(0),
    }
    swept = ("n_rounds", "sigma", "gamma")

    def _fit_rows(self, X: Array, y: Array, n_classes: int) -> None:
        self._find_width(X)
        ((_, self.metric_, self.Z_fit_, solved),) = self._learn(
            X, y, n_classes, {int(self.n_rounds): {self._width: [self.gamma]}}
        )
        self.alpha_ = solved[self._width][0]
        A = outer_products(self.kernel, self._width, self.Z_fit_, self.metric_, self.alpha_, diagonal=True)
        total = A.sum()
        self.feature_importances_ = A / total if total > 0 else np.full(len(A), 1 / len(A))

    def _learn(
        self, X: Array, y: Array, n_classes: int, wanted: Wanted
    ) -> Iterator[tuple[int, Array, Array, dict[float, Array]]]:
        """For each wanted number of rounds the metric, rows (m, r) in it, and width → coefficients (γ, m, ℓ)."""
        Y = lsm.indicators(y, n_classes)
        landmarks = self.solver == "nystrom"
        some = draw_rows(len(X), self.n_landmarks if landmarks else _METRIC_ROWS, self.random_state)
        for made, S in enumerate(rounds(X[some], Y[some], self.kernel, max(wanted), self.metric)):
            if made not in wanted:
                continue
            rows = transform(X, S)
            if landmarks:
                Z, block = rows[some], rows_per_block(len(some))
                solved = {
                    sigma: nystrom.fit(self._kernel_of(sigma), rows, Y, Z, list(gammas), block)
                    for sigma, gammas in wanted[made].items()
                }
            else:
                Z, D2 = rows, RADIAL[self.kernel].distances(rows)
                solved = {
                    sigma: _solve(RADIAL[self.kernel].value(D2, sigma), Y, gammas)
                    for sigma, gammas in wanted[made].items()
                }
            yield made, S, Z, solved

    def _kernel_of(self, sigma: float) -> partial[Array]:
        return partial(kernel_matrix, kernel=self.kernel, sigma=sigma)

    def _row_scores(self, X: Array) -> Array:
        step, kernel = rows_per_block(len(self.Z_fit_)), self._kernel_of(self._width)
        blocks = [transform(X[start : start + step], self.metric_) for start in range(0, len(X), step)]
        return np.concatenate([kernel(block, self.Z_fit_) @ self.alpha_ for block in blocks])

    def _sweep(
        self, X: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any
    ) -> list[Array]:
        results = []
        for train, test in folds:
            scale = scale_width(X[train], kernel=self.kernel)
            places: dict[int, dict[float, list[int]]] = {}  # rounds → widths → points
            for i, point in enumerate(points):
                sigma = scale if isinstance(point["sigma"], str) else float(point["sigma"])
                places.setdefault(int(point["n_rounds"]), {}).setdefault(sigma, []).append(i)
            wanted = {
                made: {sigma: [float(points[i]["gamma"]) for i in at] for sigma, at in of.items()}
                for made, of in places.items()
            }
            scores = np.empty((len(points), len(test), n_classes))
            for made, S, Z, solved in self._learn(X[train], y[train], n_classes, wanted):
                for sigma, D2, some in self._tested(X, test, S, Z, solved):
                    scores[np.ix_(np.array(places[made][sigma]), some)] = (
                        RADIAL[self.kernel].value(D2, sigma) @ solved[sigma]
                    )
            results.append(scores)
        return results

    def _tested(
        self, X: Array, test: Array, S: Array, Z: Array, widths: Mapping[float, Array]
    ) -> Iterator[tuple[float, Array, Array]]:
        """Each width with squared distances (m, n) of some test rows, and the places of these among them."""
        step = rows_per_block(len(Z))
        for start in range(0, len(test), step):
            some = np.arange(start, min(start + step, len(test)))
            D2 = RADIAL[self.kernel].distances(transform(X[test[some]], S), Z)
            for sigma in widths:
                yield sigma, D2, some


def _solve(K: Array, Y: Array, gammas: Sequence[float]) -> Array:
    """Coefficients (γ, n, ℓ): few systems by factors, many by a decomposition where it keeps their digits."""
    shifts, alphas = np.asarray(gammas, dtype=float), np.empty((len(gammas), *Y.shape))
    quick = np.zeros(len(shifts), dtype=bool)
    if len(shifts) > _FACTORED:
        spectrum = Spectrum.of(K)
        quick = spectrum.keeps_digits(shifts)
        alphas[quick] = spectrum.solve(shifts[quick], Y)
    for i in np.flatnonzero(~quick):
        alphas[i] = lsm.fit(K, Y, float(shifts[i]))
    return alphas
