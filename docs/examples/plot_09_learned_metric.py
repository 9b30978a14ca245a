"""
A learned metric
================

``rfm`` learns which columns matter: it fits oneLSM, takes the average outer product of its gradients, stretches the
features by it, and repeats. Here three of fifteen columns carry the class and the others are noise.
"""

import matplotlib.pyplot as plt
import numpy as np

from mcls import RFM, OneLSM

rng = np.random.default_rng(0)
X = rng.normal(size=(900, 15))
angle = np.arctan2(X[:, 0] * X[:, 1], X[:, 2])
y = np.digitize(angle, [-1.0, 1.0])
train, test = np.arange(450), np.arange(450, 900)

plain = OneLSM(sigma=3.0, gamma=0.1).fit(X[train], y[train])
learned = RFM(sigma=3.0, gamma=0.1, n_rounds=3).fit(X[train], y[train])
for name, machine in (("oneLSM", plain), ("rfm", learned)):
    print(f"{name:7s} error {100 * (machine.predict(X[test]) != y[test]).mean():.1f} %")

# %%
# What it learned: the weight of each column.
fig, axis = plt.subplots(figsize=(6, 3), layout="constrained")
axis.bar(range(15), learned.feature_importances_)
axis.set(xlabel="column", ylabel="importance", xticks=range(15))
plt.show()

assert learned.feature_importances_[:3].sum() > 0.5
