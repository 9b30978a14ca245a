"""
A first classifier
==================

oneLSM on two features of iris: all one-against-all least-squares classifiers from a single matrix inverse. The
parameters come from a grid of 81 points, judged by exact ten-fold cross-validation.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.inspection import DecisionBoundaryDisplay
from sklearn.preprocessing import LabelEncoder, minmax_scale

from mcls import select
from mcls.data import load_dataset

iris = load_dataset("iris")
X = minmax_scale(iris.X[:, 2:], (-1, 1))  # petal length and width
y = LabelEncoder().fit_transform(iris.y)

powers = [2.0**k for k in range(-4, 5)]
found = select(X, y, grid={"gamma": powers, "sigma": powers})
print(found)

# %%
# The decision regions of the chosen machine, and the cross-validation error at every point of the grid. One
# eigendecomposition per width gives a whole column of it.
fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
DecisionBoundaryDisplay.from_estimator(found.estimator, X, response_method="predict", alpha=0.3, ax=left)
left.scatter(*X.T, c=y, s=12)
left.set(xlabel="petal length", ylabel="petal width", title="decision regions")
table = found.results.pivot(index="gamma", columns="sigma", values="error")
image = right.imshow(100 * table.to_numpy(), origin="lower", cmap="viridis_r")
right.set_xticks(range(9), [f"{s:g}" for s in table.columns], rotation=60)
right.set_yticks(range(9), [f"{g:g}" for g in table.index])
right.set(xlabel="width σ", ylabel="regularisation γ", title="error in percent")
fig.colorbar(image, ax=right)
plt.show()

assert np.isclose(found.error, found.results["error"].min())
