"""Error-correcting output codes: a coding matrix, a binary machine per column, and a decoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from mcls.coding.binary import BinaryMachines, check_base
from mcls.coding.criteria import CRITERIA, Criterion, make_criterion
from mcls.coding.decoders import DECODERS, class_probabilities, codeword_scores, training_weights
from mcls.coding.matrices import coding_matrix, has_zeros
from mcls.coding.subclasses import JUDGED, SIDES, Thresholds, subclass_code
from mcls.coding.tree import discriminant_tree, tree_matrix
from mcls.errors import McLsError
from mcls.machines.base import Folds, Points
from mcls.machines.kernel_machine import KernelMachine
from mcls.machines.labels import gammas_of
from mcls.packing import pack
from mcls.parameters import Anything, Check, Choice, Number, OrNone, Positive, Whole, declares_parameters, width
from mcls.solvers import lsm

Array = np.ndarray


def _gives_probabilities(machine: CodeMachine) -> bool:
    return machine.calibration is not None or hasattr(machine.base, "predict_proba")


@declares_parameters
class CodeMachine(KernelMachine):
    """What the coded machines share: a code for the training set, its binary machines, decoding.

    Named bases see kernel matrices; a scikit-learn classifier sees the features in their place.
    """

    decoder: str = "loss-linear"
    base: Any = "lsm"
    gamma: float = 1.0
    C: float = 1.0

    # A zero of the code says nothing about the class (see ``class_probabilities``).
    _unused_probability = 0.5

    def _design(self, A: Array, y: Array, n_classes: int) -> tuple[Array, Array, Array]:
        """Coding matrix M (k, l), the row of M each sample belongs to (n,), and the class of each row (k,)."""
        raise NotImplementedError

    @property
    def _on_features(self) -> bool:
        return not isinstance(self.base, str)

    checks: ClassVar[Mapping[str, Check]] = {
        "base": lambda _, value: check_base(value),
        "decoder": Choice("decoder", DECODERS),
        "gamma": Positive(),
        "C": Positive(),
        "random_state": Whole(0),
    }
    has_facts = True

    @property
    def works_on(self) -> Literal["kernel", "rows"]:  # type: ignore[override]
        """A kernel matrix, unless the binary machine is a classifier that sees the features."""
        return "rows" if self._on_features else "kernel"

    def _check_together(self) -> None:
        if self.kernel == "precomputed" and self.works_on == "rows":
            raise McLsError(f"{type(self).__name__} needs the features here, not a precomputed kernel matrix")

    def facts(self, X: Array, y: Array) -> dict[str, Any]:
        """Size of the coding matrix, the packed matrix itself, and the class of each of its rows."""
        M = np.asarray(self.code_matrix_)
        return {
            "rows": int(M.shape[0]),
            "columns": int(M.shape[1]),
            "code": pack(M),
            "row_classes": [int(c) for c in self.classes_[self.row_classes_]],
        }

    def _kernel(self, X: Array, Z: Array | None) -> Array:
        return X if self._on_features else super()._kernel(X, Z)

    def _binary_machines(self) -> BinaryMachines:
        return BinaryMachines(self.base, self.gamma, self.C)

    def _fit(self, K: Array, y: Array, n_classes: int) -> None:
        self.code_matrix_, rows, self.row_classes_ = self._design(K, y, n_classes)
        self.machines_ = self._binary_machines().fit(K, self.code_matrix_[rows])
        self.weights_ = None
        if self.decoder == "loss-weighted":
            self.weights_ = training_weights(self.code_matrix_, self.machines_.outputs(K), rows)

    def _scores(self, K: Array) -> Array:
        by_row = codeword_scores(self.decoder, self.code_matrix_, self.machines_.outputs(K), self.weights_)
        # A class that owns several codewords is as near as the nearest of them.
        return np.stack([by_row[:, self.row_classes_ == c].max(axis=1) for c in range(self._n_classes)], axis=1)

    @property
    def _n_classes(self) -> int:
        return int(self.row_classes_.max()) + 1

    @available_if(_gives_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """Class probabilities (m, ℓ): calibrated or, without ``calibration``, from those of the binary classifier."""
        if self.calibration is not None:
            return super().predict_proba(X)
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=np.float64)
        P = class_probabilities(self.code_matrix_, self.machines_.probabilities(X), self._unused_probability)
        return np.stack([P[:, self.row_classes_ == c].sum(axis=1) for c in range(self._n_classes)], axis=1)


@declares_parameters
class ECOC(CodeMachine):
    """Error-correcting output codes with any code, any decoder and any binary classifier (keshet2014, Sec. 1.3).

    Column s of the coding matrix M (ℓ, l) is a binary problem: the classes with M_rs = +1 against those with
    −1, the others left out. A new x is given the class whose codeword is nearest to the outputs (f₁(x), …, f_l(x)).

    With ``coding="one-vs-all"`` and the default decoder this is :class:`OvALSM`; with ``coding="all-pairs"`` and
    ``decoder="hamming"`` it is :class:`OvOLSM`. With the least-squares base, columns that use the same rows share
    a factorisation: all of them when the code has no zeros.

    Parameters
    ----------
    coding : {"dense-random", "sparse-random", "one-vs-all", "all-pairs", "exhaustive"} or array (ℓ, l)
        The coding matrix, by name or as entries −1, 0, +1 with the rows in the order of ``classes_``.
    decoder : str
        ``hamming``, ``euclidean``, ``attenuated-euclidean``, ``loss-linear``, ``loss-hinge``,
        ``loss-exponential``, ``loss-logistic``, ``loss-squared`` or ``loss-weighted``.
    base : {"lsm", "svc"} or scikit-learn classifier
        The binary machine. ``lsm`` and ``svc`` use the kernel below; a classifier sees the features.
    gamma : float
        Regularisation of ``lsm``.
    C : float
        Weight of the errors in ``svc``.
    random_state : int
        Seed of the random codes.
    kernel, sigma, degree, coef0, calibration
        As in :class:`OneLSM`. LIBSVM's RBF parameter is 1/(2σ²).

    Attributes
    ----------
    code_matrix_ : array (ℓ, l)
        The coding matrix; ``mcls.coding.plot.draw`` shows it, ``mcls.coding.matrices.write_csv`` writes it.

    Examples
    --------
    >>> from mcls import ECOC
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> machine = ECOC(coding="all-pairs", decoder="hamming", sigma=0.5, gamma=0.1).fit(X, y)
    >>> machine.predict([[0.1], [2.1]])
    array(['a', 'c'], dtype='<U1')
    >>> machine.code_matrix_
    array([[ 1,  1,  0],
           [-1,  0,  1],
           [ 0, -1, -1]])
    """

    coding: str | Array = "dense-random"
    random_state: int = 0

    leaves_rows_out = True
    checks: ClassVar[Mapping[str, Check]] = {"coding": Anything()}

    def _keep_classes(self, present: Array, n_classes: int) -> None:
        if not isinstance(self.coding, str) and len(self.coding) == n_classes:
            M = np.asarray(self.coding)[present]
            self.coding = M[:, (M > 0).any(axis=0) & (M < 0).any(axis=0)]  # columns that still have two sides

    def _design(self, A: Array, y: Array, n_classes: int) -> tuple[Array, Array, Array]:
        return coding_matrix(self.coding, n_classes, self.random_state), y, np.arange(n_classes)

    @property
    def swept(self) -> tuple[str, ...]:  # type: ignore[override]
        """γ of the least-squares machines, where the code has no zeros: the columns are then right-hand sides of one
        system, with oneLSM's exact cross-validation.
        """
        one_system = isinstance(self.base, str) and self.base == "lsm" and not has_zeros(self.coding)
        return ("gamma",) if one_system and self.decoder != "loss-weighted" else ()

    def _sweep(
        self, K: Array, y: Array, n_classes: int, folds: Folds, points: Points, prepared: Any
    ) -> list[Array]:
        M = coding_matrix(self.coding, n_classes, self.random_state)
        outputs = lsm.sweep(K, M[y].astype(float), [test for _, test in folds], gammas_of(points))
        return [np.stack([codeword_scores(self.decoder, M, F) for F in of_fold]) for of_fold in outputs]


@declares_parameters
class DECOC(CodeMachine):
    """Discriminant ECOC: a binary tree of ℓ − 1 dichotomies designed from the data (arvanitopoulos, Sec. 2).

    The classes are divided in two by a floating search (Algorithm 1) for the largest criterion, each part again,
    until every part is one class; every division is a column of the code. The default decoder ignores the zeros
    of the code, so that a sample walks down the tree.

    Parameters
    ----------
    criterion : {"fldr", "fqmi"}
        Fisher's ratio of traces (12), or the quadratic mutual information (4).
    criterion_sigma : float or None
        Width of the Parzen window of FQMI. 1, for features in [−1, 1], agrees best with the published figures;
        None takes half the largest distance between two samples of the classes to be divided.
    decoder, base, gamma, C, kernel, sigma, degree, coef0, calibration
        As in :class:`ECOC`; the defaults ``svc`` and C = 100 are the paper's. The criterion looks at the
        features, so a precomputed kernel is refused.

    Attributes
    ----------
    code_matrix_ : array (ℓ, ℓ − 1)
        The coding matrix, the root of the tree first.

    Examples
    --------
    >>> from mcls import DECOC
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [5.0], [5.2]], ["a", "a", "b", "b", "c", "c"]
    >>> machine = DECOC(kernel="linear").fit(X, y)
    >>> machine.code_matrix_
    array([[ 1,  1],
           [ 1, -1],
           [-1,  0]])
    >>> machine.predict([[0.1], [5.1]])
    array(['a', 'c'], dtype='<U1')
    """

    criterion: str = "fldr"
    criterion_sigma: float | None = 1.0
    decoder: str = "attenuated-euclidean"
    base: Any = "svc"
    C: float = 100.0

    _unused_probability = 1.0  # the product along a path is the probability of its leaf

    checks: ClassVar[Mapping[str, Check]] = {
        "criterion": Choice("criterion", CRITERIA),
        "criterion_sigma": OrNone(width()),
    }

    @property
    def works_on(self) -> Literal["kernel", "rows"]:  # type: ignore[override]
        """The rows: the code is designed from the features."""
        return "rows"

    def _design(self, A: Array, y: Array, n_classes: int) -> tuple[Array, Array, Array]:
        criterion = make_criterion(self.criterion, self.X_fit_, y, self.criterion_sigma)
        M = tree_matrix(discriminant_tree(n_classes, criterion), n_classes)
        return M, y, np.arange(n_classes)


@declares_parameters
class SubECOC(DECOC):
    """Sub-ECOC: DECOC with classes split by K-means where a dichotomy is too hard (arvanitopoulos, Sec. 2).

    A dichotomy whose machine errs on its training set by more than ``theta_p`` has one side split in two clusters;
    the split is kept if the clusters are large enough and both new machines are better by ``theta_i``. The
    codewords then belong to subclasses; a sample is given the class of its nearest codeword.
    ``mcls.coding.subclasses`` states every step.

    Parameters
    ----------
    theta_p : float
        Training error above which a split is tried.
    theta_s : float or None
        Smallest number of samples in a cluster, or below 1 the share of them; None is n/50, the paper's.
    theta_i : float
        Share of the training error that both new machines must remove.
    side : {"fewer", "more", "larger", "scattered", "either"}
        The side that is split: with fewer or more subclasses, with more samples, the more scattered one, or either.
    judged : {"both", "mean"}
        Whether both new machines must improve, or the mean of their errors.
    random_state : int
        Seed of K-means.
    criterion, criterion_sigma, decoder, base, gamma, C, kernel, sigma, degree, coef0, calibration
        As in :class:`DECOC`.

    Attributes
    ----------
    code_matrix_ : array (rows, columns)
        The coding matrix, a row a subclass; its shape is what the paper's tables report.
    row_classes_ : array (rows,)
        For each row, the place of its class in ``classes_``.

    Examples
    --------
    >>> from mcls import SubECOC
    >>> X = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]]
    >>> machine = SubECOC(kernel="linear").fit(X, ["a", "a", "b", "b", "a", "a"])
    >>> machine.code_matrix_
    array([[ 1,  0],
           [ 0,  1],
           [-1, -1]])
    >>> machine.predict([[0.1], [1.1], [2.1]])
    array(['a', 'b', 'a'], dtype='<U1')
    """

    theta_p: float = 0.0
    theta_s: float | None = None
    theta_i: float = 0.05
    side: str = "fewer"
    judged: str = "both"
    random_state: int = 0

    checks: ClassVar[Mapping[str, Check]] = {
        "theta_p": Number(0, 1, "a share between 0 and 1"),
        "theta_s": OrNone(Number(0, wanted="a number of samples or None")),
        "theta_i": Number(0, 1, "a share between 0 and 1"),
        "side": Choice("side to split", SIDES),
        "judged": Choice("way to judge a split", JUDGED),
    }

    def _design(self, A: Array, y: Array, n_classes: int) -> tuple[Array, Array, Array]:
        def criterion_of(X: Array, codes: Array) -> Criterion:
            return make_criterion(self.criterion, X, codes, self.criterion_sigma)

        def training_error(left: Array, right: Array) -> float:
            rows = np.concatenate([left, right])
            targets = np.repeat([1, -1], [len(left), len(right)])
            seen = A[rows] if self._on_features else A[np.ix_(rows, rows)]
            outputs = self._binary_machines().fit(seen, targets[:, None]).outputs(seen)[:, 0]
            return float(np.mean(np.where(outputs > 0, 1, -1) != targets))

        thresholds = Thresholds(self.theta_p, self.theta_s, self.theta_i, self.side, self.judged)
        code = subclass_code(self.X_fit_, y, criterion_of, training_error, thresholds, self.random_state)
        return code.matrix, code.rows, code.classes
