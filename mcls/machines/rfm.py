"""The recursive feature machine: oneLSM with a metric that is learned from its own gradients."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar

import numpy as np

from mcls.kernels import COLUMN_KERNELS, RADIAL, kernel_matrix
from mcls.machines.base import BaseMachine, Fold, Point, rows_per_block
from mcls.machines.widths import WidthMixin
from mcls.parameters import SCALE, Check, Choice, Positive, Whole
from mcls.solvers import lsm, nystrom
from mcls.solvers.landmarks import draw_rows
from mcls.solvers.metric import METRICS, Round, outer_products, rounds, transform

Array = np.ndarray

SOLVERS = ("exact", "nystrom")

# Of more rows than this, so many drawn at random teach the metric, which is an average; all rows teach the machine.
_METRIC_ROWS = 2000


class RFM(WidthMixin, BaseMachine):
    """OneLSM with a learned metric: distances weigh the columns, or a few directions, by what they tell.

    Starting from plain distances, each round fits :class:`~mcls.machines.lsm.OneLSM` to the class indicators, takes the
    average gradient outer product of its scores, and makes it the metric of the next round (recursive feature machine;
    the algebra is in ``mcls.solvers.metric``). The last machine decides. With no rounds it is oneLSM itself.

    In cross-validation the metric is learned from the training rows of each fold: learned from all rows, it would know
    what it is tested on. One decomposition per fold and round serves every γ.

    Parameters
    ----------
    n_rounds : int
        How often the metric is learned anew; 0: plain distances.
    metric : {"diagonal", "low-rank"}
        A weight per column, or the directions with 99 % of the trace of the gradient outer product.
    kernel : {"gaussian", "laplace", "matern", "laplace-l1"}
        A function of the distance, see :class:`~mcls.machines.lsm.OneLSM`.
    sigma : float or "scale"
        Its width; "scale" as in :class:`~mcls.machines.lsm.OneLSM`.
        A learned metric keeps the mean squared distance between training rows, and so the meaning of σ.
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

    checks: ClassVar[Mapping[str, Check]] = {
        "n_rounds": Whole(0, as_float=True),
        "metric": Choice("metric", METRICS),
        "kernel": Choice("kernel", tuple(name for name in RADIAL if name not in COLUMN_KERNELS)),
        "gamma": Positive(),
        "solver": Choice("solver", SOLVERS),
        "n_landmarks": Whole(1),
        "random_state": Whole(0),
    }
    swept: tuple[str, ...] = ("n_rounds", "gamma")

    def __init__(
        self,
        n_rounds: int = 2,
        metric: str = "diagonal",
        kernel: str = "gaussian",
        sigma: float | str = SCALE,
        gamma: float = 1.0,
        solver: str = "exact",
        n_landmarks: int = 1000,
        random_state: int = 0,
        calibration: str | None = None,
    ) -> None:
        self.n_rounds = n_rounds
        self.metric = metric
        self.kernel = kernel
        self.sigma = sigma
        self.gamma = gamma
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.random_state = random_state
        self.calibration = calibration

    def _fit_rows(self, X: Array, y: Array, n_classes: int) -> None:
        self._find_width(X)
        ((self.metric_, self.Z_fit_, alphas),) = self._learn(X, y, n_classes, {int(self.n_rounds): [self.gamma]})
        self.alpha_ = alphas[0]
        A = outer_products(self.kernel, self._width, self.Z_fit_, self.metric_, self.alpha_, diagonal=True)
        total = A.sum()
        self.feature_importances_ = A / total if total > 0 else np.full(len(A), 1 / len(A))

    def _learn(
        self, X: Array, y: Array, n_classes: int, wanted: Mapping[int, Sequence[float]]
    ) -> list[tuple[Array, Array, Array]]:
        """Metric, rows (m, r) in it and coefficients (γ, m, ℓ) after each wanted number of rounds, at its γ's."""
        Y = lsm.indicators(y, n_classes)
        most = self.n_landmarks if self.solver == "nystrom" else _METRIC_ROWS
        some = draw_rows(len(X), most, self.random_state)
        found = {}
        path = rounds(X[some], Y[some], self.kernel, self._width, max(wanted), self.metric)
        for made, current in enumerate(path):
            if made not in wanted:
                continue
            gammas = np.asarray(wanted[made], dtype=float)
            if self.solver == "nystrom":
                block = rows_per_block(len(some))
                rows = transform(X, current.S)
                alphas = nystrom.fit(self._kernel, rows, Y, current.Z, gammas.tolist(), block)
            else:
                if len(some) < len(X):
                    rows = transform(X, current.S)
                    current = Round(current.S, rows, self._kernel(rows, None))
                alphas = _solve(current, Y, gammas)
            found[made] = current.S, current.Z, alphas
        return [found[made] for made in wanted]

    def _row_scores(self, X: Array) -> Array:
        return self._scores_at(X, self.metric_, self.Z_fit_, self.alpha_)

    def _scores_at(self, X: Array, S: Array, Z: Array, alphas: Array) -> Array:
        """Scores (..., m, ℓ) of rows X (m, d) for coefficients (..., n, ℓ)."""
        step = rows_per_block(len(Z))
        blocks = [transform(X[start : start + step], S) for start in range(0, len(X), step)]
        return np.concatenate([self._kernel(block, Z) @ alphas for block in blocks], axis=-2)

    def _kernel(self, X: Array, Z: Array | None) -> Array:
        return kernel_matrix(X, Z, kernel=self.kernel, sigma=self._width)

    def _sweep(
        self, X: Array, y: Array, n_classes: int, folds: Sequence[Fold], points: Sequence[Point], prepared: Any
    ) -> list[Array]:
        wanted: dict[int, list[int]] = {}  # rounds → points
        for i, point in enumerate(points):
            wanted.setdefault(int(point["n_rounds"]), []).append(i)
        gammas = {made: [float(points[i]["gamma"]) for i in at] for made, at in wanted.items()}
        results = []
        for train, test in folds:
            scores = np.empty((len(points), len(test), n_classes))
            machine = copy(self)._find_width(X[train])  # folds may be swept by several threads
            learned = machine._learn(X[train], y[train], n_classes, gammas)
            for at, (S, Z, alphas) in zip(wanted.values(), learned):
                scores[at] = machine._scores_at(X[test], S, Z, alphas)
            results.append(scores)
        return results


def _solve(current: Round, Y: Array, gammas: Array) -> Array:
    """Coefficients (γ, n, ℓ): one system by a factorisation, many by a decomposition where it keeps their digits."""
    alphas = np.empty((len(gammas), *Y.shape))
    quick = current.spectrum.keeps_digits(gammas) if len(gammas) > 1 else np.zeros(len(gammas), dtype=bool)
    if quick.any():
        alphas[quick] = current.spectrum.solve(gammas[quick], Y)
    for i in np.flatnonzero(~quick):
        alphas[i] = lsm.fit(current.K, Y, gammas[i])
    return alphas
