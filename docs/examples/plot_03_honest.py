"""
Honest against optimistic error
===============================

The folds that choose a grid point and then judge it give an error that is too good. Nested cross-validation chooses
inside every fold. How large the difference is depends on the data, on the size of the grid, and most of all on the
number of rows: here on random samples of vowel.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import minmax_scale

from mcls import select
from mcls.data import load_dataset

vowel = load_dataset("vowel")
X, y = minmax_scale(vowel.X, (-1, 1)), vowel.y
rng = np.random.default_rng(0)
powers = [2.0**k for k in range(-4, 5)]
sizes = [110, 220, 440]
optimistic, honest = [], []
for size in sizes:
    rows = rng.permutation(len(y))[:size]
    found = select(X[rows], y[rows], grid={"gamma": powers, "sigma": powers}, nested=True)
    optimistic.append(100 * found.error)
    honest.append(100 * found.nested_error)
    print(f"{size} rows: {optimistic[-1]:.1f} % at the chosen point, {honest[-1]:.1f} % nested")

# %%
# Both errors over the number of rows.
fig, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
axis.plot(sizes, honest, marker="o", label="nested (honest)")
axis.plot(sizes, optimistic, marker="o", label="at the chosen point")
axis.set(xlabel="rows", ylabel="error in percent")
axis.legend()
plt.show()
