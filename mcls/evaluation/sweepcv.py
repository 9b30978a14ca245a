"""``SweepCV``: scikit-learn's grid search with the exact sweep inside."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn import get_config
from sklearn.base import clone, is_classifier
from sklearn.model_selection import GridSearchCV, ParameterGrid, check_cv
from sklearn.pipeline import Pipeline
from sklearn.utils import check_array, indexable
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import _check_method_params

from mcls.errors import McLsError
from mcls.evaluation.folds import Fold
from mcls.evaluation.grid import sweep_points
from mcls.evaluation.scorers import FoldScores, NotSwept, recognised, score_points
from mcls.kernels import COLUMN_KERNELS
from mcls.machines.base import BaseMachine
from mcls.machines.calibrated import calibration_folds
from mcls.solvers.calibration import DECIDE, calibrate
from mcls.solvers.weights import check_class_names, check_weights
from mcls.threads import blas_threads

Array = np.ndarray


class SweepCV(GridSearchCV):
    """Grid search with cross-validation: scikit-learn's ``GridSearchCV``, with exact sweeps where there are any.

    Parameters, attributes and results are those of :class:`sklearn.model_selection.GridSearchCV`, and the scores are
    equal to its scores. What differs is the time. Where the estimator is a machine of this package, all values of
    the parameters that its sweep shares (``gamma``) cost little more than one, and all folds come from the same
    decomposition. Where it is the last step of a :class:`~sklearn.pipeline.Pipeline`, the transformers are fitted
    once per fold, not once per fold and grid point, and the kernel matrix is made once per fold and width. Anything
    else is fitted point by point, as in ``GridSearchCV``: other estimators, ``return_train_score=True``, and
    grid points that cannot be fitted.

    Parameters
    ----------
    estimator, param_grid, scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score
        As in ``GridSearchCV``. With a sweep ``n_jobs`` counts threads. Scoring by ``accuracy`` (the default),
        ``balanced_accuracy``, ``f1_macro`` and ``neg_log_loss`` is done for all points at once; another scorer is
        called at every point and fold with an estimator that knows the predictions for the test fold only.

    Attributes
    ----------
    swept_ : bool
        Whether the sweep was used. Where it was not although the estimator is, or ends in, a machine of this package,
        a warning says why.

    Examples
    --------
    >>> from mcls import OneLSM, SweepCV
    >>> X, y = [[0.0], [0.2], [1.0], [1.2], [2.0], [2.2]], ["a", "a", "b", "b", "c", "c"]
    >>> search = SweepCV(OneLSM(), {"gamma": [0.01, 0.1, 1.0], "sigma": [0.1, 0.5]}, cv=2).fit(X, y)
    >>> search.best_params_
    {'gamma': 0.01, 'sigma': 0.1}
    >>> float(search.best_score_), search.swept_
    (1.0, True)
    """

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Search the grid and, unless ``refit=False``, fit the best estimator to all rows.

        Parameters
        ----------
        X : array-like of shape (n, d), or what the first step of a Pipeline takes
        y : array-like of shape (n,)
        **params
            ``sample_weight`` and ``groups``, and other parameters for the estimator, the scorer and the splitter.
        """
        why: Exception | None = None
        with warnings.catch_warnings(record=True) as told:
            try:
                with blas_threads(1) if self._threads > 1 else nullcontext():
                    found = self._sweep(X, y, params)
            except (NotSwept, McLsError, np.linalg.LinAlgError) as error:
                # What the sweep does not answer, and points that cannot be fitted: plain fits do these with their own
                # errors. Any other exception is a fault of the sweep, or one that plain fits would end with as well.
                why = error
        self.swept_ = why is None
        if why is not None:
            super().fit(X, y, **params)
            if _last_step(self.estimator)[0] is not None:
                warnings.warn(f"SweepCV has fitted every grid point by itself: {why}", UserWarning, stacklevel=2)
            return self
        for warning in told:
            warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        self._finish(X, y, *found)
        return self

    def _sweep(self, X: Any, y: Any, params: dict[str, Any]) -> tuple[list[dict[str, Any]], list[Any], Any]:
        """Candidates, the results of each on every fold, and the parameters routed to the estimator."""
        self._validate_params()
        scorers, _ = self._get_scorers()
        X, y = indexable(X, y)
        params = _check_method_params(X, params=params)
        routed = self._get_routed_params_for_fit(params)
        question = _Search.of(self.estimator, X, y, routed.estimator.fit)
        if self.return_train_score or self.verbose:
            raise NotSwept("scores of training rows, or a report of every fit")
        split = routed.splitter.split
        cv = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        folds = list(cv.split(X, y, **split))
        if len(folds) != cv.get_n_splits(X, y, **split):
            raise NotSwept("a splitter that is not sure of itself")
        candidates = list(ParameterGrid(self.param_grid))
        single = self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)
        several = {"": scorers} if single else dict(scorers._scorers)
        names = {key: "accuracy" if self.scoring is None else recognised(of) for key, of in several.items()}
        rows_params = routed.scorer.score
        results: list[Any] = [None] * (len(candidates) * len(folds))
        begin, scored = time.perf_counter(), 0.0
        for which, f, fold in question.fold_scores(candidates, folds, self._threads):
            start = time.perf_counter()
            of_fold = _check_method_params(X, params=rows_params, indices=folds[f][1])
            if not single and (rows_params and any(name is None for name in names.values())):
                raise NotSwept("parameters that each scorer may take or not")
            by_name = {key: score_points(of, names[key], fold, of_fold) for key, of in several.items()}
            for place, i in enumerate(which):
                values = {key: scores[place] for key, scores in by_name.items()}
                results[i * len(folds) + f] = values[""] if single else values
            scored += time.perf_counter() - start
        spent = time.perf_counter() - begin - scored
        times = {"fit_time": spent / len(results), "score_time": scored / len(results)}
        if not np.isfinite([v for r in results for v in (r.values() if isinstance(r, dict) else [r])]).all():
            raise NotSwept("a score that is not a number")
        self.n_splits_ = len(folds)
        return candidates, [{"test_scores": value, **times} for value in results], routed.estimator.fit

    @property
    def _threads(self) -> int:
        return int(effective_n_jobs(self.n_jobs))

    def _finish(self, X: Any, y: Any, candidates: list[dict[str, Any]], out: list[Any], fit_params: Any) -> None:
        """Set the attributes of a search, as ``GridSearchCV`` does, and fit the best estimator."""
        scorers, refit_metric = self._get_scorers()
        self.multimetric_ = isinstance(out[0]["test_scores"], dict)
        if callable(self.scoring) and self.multimetric_:
            self._check_refit_for_multimetric(out[0]["test_scores"])
            refit_metric = self.refit
        results = self._format_results(candidates, self.n_splits_, out)
        if self.refit or not self.multimetric_:
            self.best_index_ = self._select_best_index(self.refit, refit_metric, results)
            if not callable(self.refit):
                self.best_score_ = results[f"mean_test_{refit_metric}"][self.best_index_]
            self.best_params_ = results["params"][self.best_index_]
        if self.refit:
            best = clone(self.best_params_, safe=False)
            self.best_estimator_ = clone(self.estimator).set_params(**best)
            start = time.time()
            self.best_estimator_.fit(X, y, **fit_params)
            self.refit_time_ = time.time() - start
            if (names := getattr(self.best_estimator_, "feature_names_in_", None)) is not None:
                self.feature_names_in_ = names
        self.scorer_ = scorers._scorers if self.multimetric_ and not callable(self.scoring) else scorers
        self.cv_results_ = results


def _last_step(estimator: Any) -> tuple[BaseMachine | None, str]:
    """The machine of ours that an estimator is or ends in, and the prefix of its parameters; None if there is none."""
    prefix = ""
    if isinstance(estimator, Pipeline):
        name, estimator = estimator.steps[-1]
        prefix = f"{name}__"
    return (estimator if isinstance(estimator, BaseMachine) else None), prefix


def _routed_to_last(pipeline: Pipeline, fit_params: Mapping[str, Any]) -> dict[str, Any]:
    """What scikit-learn routes to the fit of the last step, named as without routing; other steps may have nothing."""
    if not fit_params:
        return {}
    routed = process_routing(pipeline, "fit", **fit_params)
    last = pipeline.steps[-1][0]
    if any(given for name, _ in pipeline.steps[:-1] for given in routed.get(name, {}).values()):
        raise NotSwept("parameters of the transformers' fit")
    return {f"{last}__{name}": value for name, value in routed[last].fit.items()}


def _checked(X: Any) -> Array:
    """Rows of numbers, or ``NotSwept``: a fold whose rows are not gets the error score."""
    try:
        rows: Array = check_array(X, dtype=np.float64)
    except (ValueError, TypeError) as error:
        raise NotSwept(str(error)) from error
    return rows


@dataclass(frozen=True)
class _Search:
    """What is searched: a machine, the transformers before it, the rows and their weights."""

    machine: BaseMachine
    transformers: Pipeline | None
    prefix: str  # of the machine's parameters in the grid
    X: Any
    y: Array  # (n,) labels
    classes: Array
    codes: Array  # (n,)
    weights: Array | None

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, fit_params: Mapping[str, Any]) -> _Search:
        """Refuses, with ``NotSwept``, what is not a machine or a Pipeline that ends in one."""
        machine, prefix = _last_step(estimator)
        transformers = estimator[:-1] if prefix else None
        if machine is None or y is None or type_of_target(y) not in ("binary", "multiclass"):
            raise NotSwept("not one of our machines, or no classes")
        if np.ndim(y) != 1:
            raise NotSwept("classes in a column instead of a vector")
        if machine.folds_together:
            raise NotSwept("landmarks that all folds share, where a fit chooses its own")
        given = dict(fit_params)
        if transformers is not None and get_config()["enable_metadata_routing"]:
            given = _routed_to_last(estimator, given)
        weights = check_weights(given.pop(f"{prefix}sample_weight", None), len(y))
        if given:
            raise NotSwept("other parameters of fit")
        if transformers is None:
            X = _checked(X)
        classes, codes = np.unique(np.asarray(y), return_inverse=True)
        return cls(machine, transformers, prefix, X, y, classes, codes, weights)

    def fold_scores(
        self, candidates: Sequence[dict[str, Any]], folds: Sequence[Fold], n_threads: int
    ) -> Iterator[tuple[list[int], int, FoldScores]]:
        """Yield indices of candidates, a fold, and what the machines of these candidates say of its test rows."""
        own = len(self.prefix)
        points = [{k[own:]: v for k, v in c.items() if k.startswith(self.prefix)} for c in candidates]
        others = [{k: v for k, v in c.items() if not k.startswith(self.prefix)} for c in candidates]
        if any("__" in name for point in points for name in point) or any(
            key == self.prefix[:-2] for other in others for key in other
        ):
            raise NotSwept("the machine itself, or parts of its parameters, are searched")
        if self.transformers is None:
            yield from self._judge(self.X, range(len(folds)), points, range(len(points)), folds, n_threads)
            return
        groups: dict[str, list[int]] = {}
        for i, other in enumerate(others):
            groups.setdefault(repr(sorted((k, repr(v), id(v)) for k, v in other.items())), []).append(i)
        for which in groups.values():
            for f, (train, test) in enumerate(folds):
                pipeline = clone(self.transformers).set_params(**clone(others[which[0]], safe=False))
                rows = self._transformed(pipeline, train, test)
                place = np.concatenate([train, test])
                search = _Search(
                    self.machine,
                    None,
                    "",
                    _checked(rows),
                    np.asarray(self.y)[place],
                    self.classes,
                    self.codes[place],
                    None if self.weights is None else self.weights[place],
                )
                own_fold = (np.arange(len(train)), np.arange(len(train), len(place)))
                some = [points[i] for i in which]
                for at, _, fold in search._judge(search.X, [f], some, which, [own_fold], n_threads):
                    yield at, f, fold

    def _transformed(self, pipeline: Pipeline, train: Array, test: Array) -> Array:
        """The training rows and after them the test rows, as the last step is given them."""
        X_train, y_train = _safe_split(pipeline, self.X, self.y, train)
        X_test, _ = _safe_split(pipeline, self.X, self.y, test, train)
        try:
            return np.concatenate([pipeline.fit_transform(X_train, y_train), pipeline.transform(X_test)])
        except Exception as error:  # of somebody else's code, which GridSearchCV forgives
            raise NotSwept(f"a transformer failed: {error}") from error

    def _judge(
        self,
        X: Array,
        numbers: Sequence[int],
        points: Sequence[dict[str, Any]],
        which: Sequence[int],
        folds: Sequence[Fold],
        n_threads: int,
    ) -> Iterator[tuple[list[int], int, FoldScores]]:
        """The same for rows that need no transformer; ``which`` are the candidates of the points."""
        self.machine.check_parameters()  # as every fit does, which then says so
        names = self.classes.tolist()
        machine, points = self._on_codes(self.machine, names), [self._point_on_codes(p, names) for p in points]
        seen = [train if self.weights is None else train[self.weights[train] > 0] for train, _ in folds]
        present = [np.unique(self.codes[rows]) for rows in seen]
        if min(len(classes) for classes in present) < 2:
            raise NotSwept("a training fold of one class, which cannot be fitted")
        calibrated = machine.calibration is not None or any("calibration" in point for point in points)
        if DECIDE in {machine.calibration, *(point.get("calibration") for point in points)}:
            raise NotSwept("a calibrated map that decides the class")
        kernels = (
            [machine.kernel, *(point.get("kernel") for point in points)] if machine.works_on == "kernel" else []
        )
        if any(kernel in COLUMN_KERNELS for kernel in kernels):
            raise NotSwept("a kernel that looks at the columns of each training fold")
        inner = [self._inner_folds(X, fold) for fold in folds] if calibrated else []
        every = [*folds, *(fold for of in inner for fold in of[1])]
        y = np.asarray(self.y)
        for at, scores in sweep_points(
            machine, X, self.codes, points, every, len(self.classes), self.weights, n_threads
        ):
            after = len(folds)
            for k, (train, test) in enumerate(folds):
                probabilities = None
                if calibrated:
                    of_inner = scores[after : after + len(inner[k][1])]
                    after += len(of_inner)
                    probabilities = self._probabilities(
                        [points[i] for i in at], machine, scores[k], *inner[k], of_inner
                    )
                rows = X[np.ix_(test, train)] if machine.kernel_is_given else X[test]
                fold = FoldScores(
                    rows, y[test], self.codes[test], self.classes, present[k], scores[k], probabilities
                )
                yield [which[i] for i in at], numbers[k], fold

    @staticmethod
    def _on_codes(machine: BaseMachine, names: Sequence[Any]) -> BaseMachine:
        """The machine as a sweep wants it; as in a fit, weights of unknown classes are refused."""
        if machine.takes_weights:
            check_class_names(machine.class_weight, names)
        return machine.on_codes(names)

    def _point_on_codes(self, point: dict[str, Any], names: Sequence[Any]) -> dict[str, Any]:
        """The same for a point whose weights of classes are in a dictionary."""
        if not isinstance(point.get("class_weight"), Mapping):
            return point
        machine = clone(self.machine).set_params(class_weight=point["class_weight"])
        machine.check_parameters()
        return {**point, "class_weight": self._on_codes(machine, names).class_weight}

    def _inner_folds(self, X: Array, fold: Fold) -> tuple[Array, list[Fold], Array]:
        """Rows that a fitted machine calibrates with, the folds that give their scores, and the fold of each."""
        train = fold[0]
        rows = train if self.weights is None else train[self.weights[train] > 0]
        if len(np.unique(self.codes[rows])) < len(self.classes):
            raise NotSwept("a training fold without some class, which calibrates fewer classes")
        seen = np.arange(len(rows))[:, None] if self.machine.kernel_is_given else X[rows]
        of_row = calibration_folds(seen, self.codes[rows])
        return rows, [(rows[of_row != k], rows[of_row == k]) for k in range(of_row.max() + 1)], of_row

    def _probabilities(
        self,
        points: Sequence[dict[str, Any]],
        machine: BaseMachine,
        scores: Array,
        rows: Array,
        inner: Sequence[Fold],
        of_row: Array,
        inner_scores: Sequence[Array],
    ) -> Array | None:
        """Probabilities (points, m, ℓ) of the test rows by maps fitted inside the training fold."""
        found = np.empty(scores.shape)
        place = np.argsort(rows)
        order = [place[np.searchsorted(rows, test, sorter=place)] for _, test in inner]
        w = None if self.weights is None else self.weights[rows]
        for p, point in enumerate(points):
            how = point.get("calibration", machine.calibration)
            if how is None:
                return None
            F = np.empty((len(rows), len(self.classes)))
            for at, of in zip(order, inner_scores):
                F[at] = of[p]
            found[p] = calibrate(F, self.codes[rows], how, w, of_row)[0].probabilities(scores[p])
        return found
