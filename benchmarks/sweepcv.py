"""SweepCV beside scikit-learn's GridSearchCV: the same estimator, grid and folds, alone and behind a scaler."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.grids import CORES, POWERS, load
from benchmarks.measure import Row, timed
from mcls import OneLSM, SweepCV

#: Data set → how often each search is repeated; the shortest time counts.
_ALONE = {"iris": (10, 3), "vowel": (3, 1), "yeast": (2, 1)}
_PIPED = {"iris": (5, 2), "vowel": (1, 1)}


def sweepcv_against_grid_search() -> Iterator[Row]:
    """9×9 points and 10 folds by accuracy, two threads against two worker processes."""
    cv = StratifiedKFold(10, shuffle=True, random_state=0)
    GridSearchCV(OneLSM(), {"gamma": POWERS}, cv=cv, n_jobs=CORES).fit(*load("iris"))  # the workers start here
    for data, piped in ((_ALONE, False), (_PIPED, True)):
        estimator: Any = make_pipeline(StandardScaler(), OneLSM()) if piped else OneLSM()
        prefix = "onelsm__" if piped else ""
        grid = {f"{prefix}gamma": POWERS, f"{prefix}sigma": POWERS}
        for name, (repeats, of_peer) in data.items():
            X, y = load(name)
            settings = {"cv": cv, "refit": False, "n_jobs": CORES}
            seconds, ours = timed(lambda: SweepCV(estimator, grid, **settings).fit(X, y), repeats)  # noqa: B023
            peer_seconds, peer = timed(lambda: GridSearchCV(estimator, grid, **settings).fit(X, y), of_peer)  # noqa: B023
            apart = np.abs(ours.cv_results_["mean_test_score"] - peer.cv_results_["mean_test_score"])
            note = f"{int((apart < 1e-12).sum())} of {len(apart)} scores equal"
            label = "StandardScaler, oneLSM" if piped else "oneLSM"
            yield Row("SweepCV", name, label, seconds, "GridSearchCV, same estimator", peer_seconds, note)
