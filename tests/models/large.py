"""A made-up table, and its fit piece by piece."""

import numpy as np
import pandas as pd

from mcls.models.large import LargeSettings, fit_large

GRID = {"sigma": [0.5, 1.5], "gamma": [0.01, 1.0]}


MACHINE = "oneLSM:n_landmarks=60"


def made_up(n=900, seed=0):
    rng = np.random.default_rng(seed)
    y = np.minimum(rng.integers(0, 4, n), 2)  # one class is as large as the two others
    made = pd.DataFrame({f"f{j}": rng.normal(size=n) + (y == j % 3) for j in range(5)})
    made["hue"] = np.where(rng.random(n) < 0.5, "red", np.array(["blue", "green", "red"])[y])
    made["who"] = rng.integers(0, 300, n)
    made["count"] = rng.integers(1, 4, n)
    made["kind"] = np.array(["10", "9", "8"])[y]
    return pd.concat([made, made[:40]], ignore_index=True)


def fit(path, grid=GRID, say=None, **options):
    settings = LargeSettings(options.pop("machine", MACHINE), grid, folds=4, **options.pop("settings", {}))
    return fit_large([path], "kind", settings, say=say, **options)
