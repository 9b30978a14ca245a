"""The width of a kernel where the training rows decide it: ``sigma="scale"``."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np

from mcls.kernels import RADIAL, scale_width
from mcls.machines.sweeping import Folds, Point, Points, point_groups
from mcls.parameters import SCALE, Check, WordOr, width

Array = np.ndarray


class WidthMixin:
    """What a machine with ``sigma`` needs, where that is the width of a kernel."""

    checks: ClassVar[Mapping[str, Check]] = {"sigma": WordOr(SCALE, width())}
    kernel: Any
    sigma: float | str
    #: The width that a fit found, with ``sigma="scale"``.
    sigma_: float

    @property
    def _width(self) -> float:
        """σ, as given or as found."""
        return self.sigma_ if isinstance(self.sigma, str) else self.sigma

    def _find_width(self, X: Array, *w: Array) -> Self:
        """Look for the width in the training rows X (n, d), whose weights are w (n,)."""
        self.__dict__.pop("sigma_", None)  # of an earlier fit
        if isinstance(self.sigma, str):
            self.sigma_ = scale_width(X, *w, kernel=self.kernel)
        return self

    def at_width_of(self: Any, X: Array, y: Array, sample_weight: Array | None = None) -> Any:
        """A copy whose σ is the number that a fit to the rows X (n, d) of class codes y (n,) would find."""
        if sample_weight is not None:
            X, y, sample_weight = (part[sample_weight > 0] for part in (X, y, sample_weight))
        present, codes = np.unique(y, return_inverse=True)
        machine = copy(self)
        weights = self.training_weights(codes, present.tolist(), sample_weight)
        machine.sigma = scale_width(X, *weights, kernel=self.kernel)
        return machine

    def sweep_at_own_widths(
        self, X: Array, D2: Array, y: Array, folds: Folds, points: Points, **settings: Any
    ) -> list[Array]:
        """What ``sweep`` gives where the training rows of each fold have a width, and so a kernel matrix, of their own.

        D2 (n, n) are the kernel's squared distances between the rows X (n, d); ``settings`` are those of ``sweep``.
        Rows of another weight have another width, so points that weigh the classes differently are swept by themselves.
        """
        weighings = [{name: value for name, value in point.items() if name == "class_weight"} for point in points]
        parts = list(point_groups(weighings, ("sigma",)))
        if len(parts) == 1:
            return self._weighing(parts[0][0])._sweep_at_own_widths(X, D2, y, folds, points, **settings)
        scores = [np.empty(0)] * len(folds)
        for own, members in parts:
            some = [points[i] for i in members]
            for k, found in enumerate(self._weighing(own)._sweep_at_own_widths(X, D2, y, folds, some, **settings)):
                if not scores[k].size:
                    scores[k] = np.empty((len(points), *found.shape[1:]))
                scores[k][members] = found
        return scores

    def _weighing(self, own: Point) -> Any:
        """The machine with the weights of classes of a point, if it has some."""
        machine = copy(self)
        for name, value in own.items():
            setattr(machine, name, value)
        return machine

    def _sweep_at_own_widths(
        self, X: Array, D2: Array, y: Array, folds: Folds, points: Points, **settings: Any
    ) -> list[Array]:
        """The same of points that weigh the classes as the machine does."""
        groups: dict[float, tuple[Any, list[int]]] = {}
        weights = settings.get("sample_weight")
        for i, (train, _) in enumerate(folds):
            found = self.at_width_of(X[train], y[train], None if weights is None else weights[train])
            groups.setdefault(found.sigma, (found, []))[1].append(i)
        scores = [np.empty(0)] * len(folds)
        for found, some in groups.values():
            K = RADIAL[found.kernel].value(D2, found.sigma)
            swept = found.sweep(K, y, [folds[i] for i in some], points, **settings)
            for i, of_fold in zip(some, swept, strict=True):
                scores[i] = of_fold
        return scores
