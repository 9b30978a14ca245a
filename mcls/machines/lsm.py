"""The least-squares machines of honeine2013, Sec. 5: oneLSM, and the plain OvA and OvO schemes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from mcls.errors import McLsError
from mcls.kernels import COLUMN_KERNELS, PRECOMPUTED
from mcls.machines.base import Folds, Points, Weights, rows_per_block
from mcls.machines.labels import LabelMachine, decide, gammas_of
from mcls.machines.weighted import WeightedMachine
from mcls.parameters import Check, Choice, Whole, declares_parameters
from mcls.solvers import inverse, lanczos, lsm, nystrom
from mcls.solvers.calibration import DECIDE
from mcls.solvers.lanczos import Certified
from mcls.solvers.landmarks import LANDMARKS, choose_landmarks
from mcls.solvers.quick_classes import certain_classes
from mcls.solvers.spectrum import Spectrum

Array = np.ndarray

SOLVERS = ("exact", "nystrom")

# Kernel values of new rows from which on classes by few digits are worth their preparation.
_MANY_VALUES = 2**20


def _some(w: Weights, rows: Array) -> list[Array]:
    """The weights of some rows as a further argument, or none."""
    return [] if w is None else [w[rows]]


@declares_parameters
class OneSystemMachine(WeightedMachine, LabelMachine):
    """What the machines with the coefficients (K + γI)⁻¹Yᵀ share: parameters, scores and the exact sweep."""

    swept: ClassVar[tuple[str, ...]] = ("gamma",)
    leaves_rows_out = True
    sees_labels = "one-per-class"

    _solve = staticmethod(lsm.fit)

    def _fit(self, K: Array, y: Array, n_classes: int, w: Weights = None) -> None:
        # With the indicators as right-hand sides, every labelbook is a product away: Yᵀ = Ind Bᵀ.
        self._set_alpha(self._solve(K, lsm.indicators(y, n_classes), self.gamma, w), y, w)

    def _set_alpha(self, class_alpha: Array, y: Array, w: Weights = None) -> None:
        self._set_labels(y, class_alpha.shape[1], w)
        self.class_alpha_ = class_alpha  # (n, ℓ)
        self.alpha_ = class_alpha @ self.labels_.T  # (n, p)

    def _scores(self, K: Array) -> Array:
        return decide(K @ self.class_alpha_, self.labels_, self.label_gram_, self.decision)

    def predict(self, X: Any) -> Array:
        """Class of each row: the one with the largest score, the first of equal ones.

        Many rows are classified by scores of few digits where these cannot change the class
        (:mod:`mcls.solvers.quick_classes`).
        """
        check_is_fitted(self)
        if self.kernel != "gaussian" or self.decision != "max" or self.calibration == DECIDE:
            return super().predict(X)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        if len(X) * len(self.X_fit_) < _MANY_VALUES:
            return self.classes_[self._row_scores(X).argmax(axis=1)]
        best, certain = certain_classes(X, self.X_fit_, self.class_alpha_ @ self.label_gram_, self._width)
        if not certain.all():
            best[~certain] = self._row_scores(X[~certain]).argmax(axis=1)
        return self.classes_[best]

    def prepare(self, K: Array, often: Points = ()) -> Spectrum | None:
        """Decompose K, and for points that are swept often form the inverses; weights of classes are another matrix."""
        if self.class_weight is not None:
            return None
        spectrum = Spectrum.of(K)
        gammas = [float(point.get("gamma", self.gamma)) for point in often]
        return spectrum.holding(np.array(gammas)) if often else spectrum

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        if isinstance(prepared, Certified):
            suits = self._one_gram_decides  # what was prepared may be for points with another labelbook
            found = self._certified(K, y, n_classes, folds, gammas_of(points), prepared) if suits else None
            if found is not None:
                return found
            prepared = None
        Y, tests, gammas = lsm.indicators(y, n_classes), [test for _, test in folds], gammas_of(points)
        if prepared is None and w is None and not self.decomposes(len(y), len(gammas)):
            values = inverse.sweep(K, Y, tests, gammas)
        else:
            values = lsm.sweep(K, Y, tests, gammas, prepared, w)  # (γ, |S|, ℓ) per fold
        if self._labels_need_counts:
            labels = [self._labels(y[train], n_classes, *_some(w, train)) for train, _ in folds]
        else:
            labels = [self._labels(y, n_classes)] * len(folds)
        return [decide(g, *label, self.decision) for g, label in zip(values, labels)]

    def decomposes(self, n: int, n_points: int) -> bool:
        """Few strengths of many rows are quicker by one Cholesky factor each (``mcls.solvers.inverse``)."""
        return not inverse.is_quicker(n, n_points)

    def certifier(self, n: int) -> Certified | None:
        """Block Lanczos where there are many rows (``mcls.solvers.lanczos``)."""
        known = isinstance(self.kernel, str) and self.kernel != PRECOMPUTED  # and so positive semi-definite
        return Certified() if known and self._one_gram_decides and n >= lanczos.FROM_ROWS else None

    @property
    def _one_gram_decides(self) -> bool:
        """Whether the class is arg max yᵀf(x) with the same labels in every fold."""
        return self.decision == "max" and not self._labels_need_counts

    def _certified(
        self,
        K: Array,
        y: Array,
        n_classes: int,
        folds: Folds,
        gammas: Sequence[float],
        certified: Certified,
    ) -> list[Array] | None:
        """Scores whose largest is certified, and where one is not, those of the direct solution at that γ.

        None where a decomposition of K costs less than what is left.
        """
        tests = [test for _, test in folds]
        gram = self._labels(y, n_classes)[1]
        most = lanczos.blocks_worth(len(y), n_classes, len(folds), len(gammas))
        each = inverse.OPERATIONS * len(y) ** 3
        values, certain = lanczos.sweep(K, y, n_classes, tests, gammas, gram, most, each)
        left = [g for g in range(len(gammas)) if not all(each[g].all() for each in certain)]
        if left and self.decomposes(len(y), len(left)):
            return None
        certified.note(certain, len(left))
        direct = inverse.sweep(K, lsm.indicators(y, n_classes), tests, [gammas[g] for g in left])
        for scores, found in zip(values, direct, strict=True):
            scores[left] = found
        return [scores @ gram for scores in values]


@declares_parameters
class OneLSM(OneSystemMachine):
    """All one-against-all least-squares classifiers from a single matrix inverse (honeine2013, Sec. 5).

    Solves min_W Σᵢ ‖Wᵀxᵢ − yᵢ‖² + γ‖W‖²_F (Proposition 2). With a kernel,

        [α⁽¹⁾ … α⁽ᵖ⁾] = (K + γI)⁻¹ Yᵀ,   f(x) = Y (K + γI)⁻¹ κ_x   (24),

    and the class of x is arg max_y yᵀf(x) (25). By Theorem 5 every one-per-class labelbook, and by
    Corollary 6 the minimum-correlation one, gives the same classes. One factorisation, n³/3 operations,
    whatever the number of classes.

    Parameters
    ----------
    kernel : {"gaussian", "laplace", "matern", "laplace-l1", "gaussian-standard", "laplace-l1-standard", \
"laplace-l1-ranks", "linear", "polynomial", "precomputed"} or callable
        A callable takes two arrays of rows and returns their kernel matrix. With ``-standard`` each column is divided
        by its standard deviation, and with ``-ranks`` replaced by the places of its values, among the training rows.
    sigma : float or "scale"
        Width of the Gaussian kernel exp(−r²/2σ²), of the Laplace kernel exp(−r/σ) and of the Matérn kernel with
        ν = 3/2, (1 + √3 r/σ) exp(−√3 r/σ), where r = ‖x − x'‖; for ``laplace-l1``, r = ‖x − x'‖₁/√d.
        "scale" is √(d Var(X)/2) of the training rows, which count by their weights; it is kept as ``sigma_``. A
        cross-validation finds it in the training rows of each fold. (Configs and commands tune σ, or take 1.)
    degree, coef0 : int, float
        Polynomial kernel (xᵀx' + coef0)^degree.
    gamma : float
        Weight of the regularisation; the larger, the smoother.
    labelbook : str or array (p, ℓ)
        ``pm1``, ``indicators``, ``alignment``, ``consistency``, ``mincorr``, ``fisher``, or one column per class.
    label_kernel : {"linear", "gaussian"}
        Kernel on the labels (Sec. 7.2), with the width ``label_sigma``.
    decision : {"max", "nearest", "winner"}
        Rule of Sec. 7.1: arg max yᵀf(x), the nearest label, or the largest entry of f(x).
    solver : {"exact", "nystrom"}
        ``exact`` holds the kernel matrix, about 24n² bytes (10 GB for 20000 rows). ``nystrom`` keeps to
        functions spanned by ``n_landmarks`` m of the rows: 40m² bytes, 2nm² operations, however large n. Its
        cross-validation takes landmarks from all the rows given, without their labels, once for all folds.
    n_landmarks : int
        Landmarks of ``nystrom``; with all rows, it is the exact machine.
    landmarks : {"uniform", "rpcholesky", "kmeans"}
        Rows drawn at random, rows drawn by a randomly pivoted Cholesky decomposition, or centres of clusters.
    random_state : int
        Seed of the landmarks.
    class_weight : None, "balanced" or dict
        Weight of each class, which multiplies those of its rows; in a dictionary, 1 for classes that it does not name.
        "balanced" gives every class the same total weight, n / (ℓ n_c) for each row of class c. With weights W,
        also those that ``fit`` takes as ``sample_weight``, the system is (K + γW⁻¹)α = Yᵀ.
    calibration : None, "temperature", "matrix" or "auto"
        With one of the words, ``predict_proba`` gives probabilities: the scores of the training rows out of fold
        fit a map from scores to probabilities (:mod:`mcls.solvers.calibration`), "auto" the better of the two.
        The class with the largest probability is always the predicted one.

    Attributes
    ----------
    alpha_ : array (n, p)
        The coefficients of (23), one column an entry of the label vectors.
    labels_, label_gram_ : arrays (p, ℓ), (ℓ, ℓ)
        The label vectors and their Gram (or kernel) matrix.
    X_fit_ : array (n, d), or (m, d) with ``nystrom``
        The rows that ``alpha_`` belongs to.

    Examples
    --------
    >>> from mcls import OneLSM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> OneLSM(sigma=0.5, gamma=0.1).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    >>> OneLSM(sigma=0.5, gamma=0.1, calibration="temperature").fit(X, y).predict_proba([[0.1]]).round(2)
    array([[0.94, 0.03, 0.03]])
    >>> OneLSM(sigma=0.5, gamma=0.1, solver="nystrom", n_landmarks=5).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    solver: str = "exact"
    n_landmarks: int = 1000
    landmarks: str = "uniform"
    random_state: int = 0

    checks: ClassVar[Mapping[str, Check]] = {
        "solver": Choice("solver", SOLVERS),
        "n_landmarks": Whole(1),
        "landmarks": Choice("choice of landmarks", tuple(LANDMARKS)),
        "random_state": Whole(0),
    }

    @property
    def works_on(self) -> Literal["kernel", "rows"]:  # type: ignore[override]
        """A whole kernel matrix, or the rows that landmarks are drawn from."""
        return "kernel" if self.solver == "exact" else "rows"

    @property
    def leaves_rows_out(self) -> bool:  # type: ignore[override]
        """The exact machine's sweep does; with landmarks a fold may train on any rows."""
        return bool(self.solver == "exact")

    @property
    def folds_together(self) -> bool:  # type: ignore[override]
        """With landmarks, one pass over the rows serves all folds."""
        return bool(self.solver == "nystrom")

    def _check_together(self) -> None:
        super()._check_together()
        if self.solver == "nystrom" and self.kernel == "precomputed":
            raise McLsError("solver='nystrom' draws rows; with a precomputed matrix use solver='exact'")
        if self.solver == "nystrom" and self.landmarks == "rpcholesky" and self.kernel in COLUMN_KERNELS:
            raise McLsError(
                f"landmarks='rpcholesky' cannot tell the columns of few rows: use another kernel than {self.kernel}"
            )

    def _fit_rows(self, X: Array, y: Array, n_classes: int, *w: Array) -> None:
        if self.solver == "exact":
            super()._fit_rows(X, y, n_classes, *w)
            return
        self._find_width(X, *w)
        self._fit_landmarks(X, y, n_classes, self._landmarks(X), *w)

    def _fit_landmarks(self, X: Array, y: Array, n_classes: int, Z: Array, *w: Array) -> None:
        self.X_fit_ = Z.copy()
        block = rows_per_block(len(Z))
        alphas = nystrom.fit(self._kernel, X, lsm.indicators(y, n_classes), Z, [self.gamma], block, *w)
        self._set_alpha(alphas[0], y, *w)

    def with_coefficients(self, Z: Array, class_alpha: Array, classes: Array, rows: Array) -> Self:
        """Become the fitted machine of landmarks Z (m, d) whose coefficients (m, ℓ) are known.

        ``rows`` (ℓ,) are those of each class in training, or their weights, as some labelbooks ask for them.
        """
        self.check_parameters()
        self.classes_, self.n_features_in_, self.X_fit_ = classes, Z.shape[1], Z.copy()
        self._set_alpha(class_alpha, np.arange(len(classes)), rows)
        return self

    def decided(self, values: Array, rows: Array) -> Array:
        """Class scores (..., ℓ) from κ(x, Z) times the coefficients; ``rows`` as for ``with_coefficients``."""
        labels = self._labels(np.arange(len(rows)), len(rows), rows)
        return np.where(rows > 0, decide(values, *labels, self.decision), -np.inf)

    def _landmarks(self, X: Array) -> Array:
        return choose_landmarks(self.landmarks, self._kernel, X, self.n_landmarks, self.random_state)

    def _learn_and_score(self, A: Array, y: Array, n_classes: int, train: Array, test: Array, *w: Array) -> Array:
        if self.solver == "exact":
            return super()._learn_and_score(A, y, n_classes, train, test, *w)
        # Landmarks and width are chosen without labels, once for all folds: those of a sweep come from all its rows.
        self._find_width(A)
        self._fit_landmarks(A[train], y, n_classes, self._landmarks(A), *w)
        return self._row_scores(A[test])

    def _sweep(
        self, A: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any, w: Weights = None
    ) -> list[Array]:
        if self.solver == "exact":
            return super()._sweep(A, y, n_classes, folds, points, prepared, w)
        found = copy(self)._find_width(A)
        Z = found._landmarks(A)
        Y = lsm.indicators(y, n_classes)
        values = nystrom.sweep(found._kernel, A, Y, Z, folds, gammas_of(points), rows_per_block(len(Z)), w)
        labels = [self._labels(y[train], n_classes, *_some(w, train)) for train, _ in folds]
        return [decide(value, *label, self.decision) for value, label in zip(values, labels, strict=True)]


class OvALSM(OneSystemMachine):
    """One-against-all least-squares classifiers, each with a factorisation of its own (honeine2013, eq. 23).

    The paper's baseline: the same scores as OneLSM for ℓ times its price, ℓ·n³/3 operations. Its exact
    cross-validation sweep is OneLSM's, since the two are one function of the data.

    Parameters are those of :class:`OneLSM` with its exact solver: ``kernel, sigma, degree, coef0, gamma,
    labelbook, label_kernel, label_sigma, decision, class_weight, calibration``.

    Examples
    --------
    >>> from mcls import OvALSM
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> OvALSM(sigma=0.5, gamma=0.1).fit(X, y).predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    """

    _solve = staticmethod(lsm.fit_one_by_one)
