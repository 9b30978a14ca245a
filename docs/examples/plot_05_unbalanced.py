"""
Unbalanced classes
==================

In ecoli the largest class has 143 rows and the two smallest have two each. Choosing by the error leaves small classes
alone; choosing by the balanced error, with classes of equal total weight, gives some of the large ones for them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import confusion_matrix
from sklearn.preprocessing import minmax_scale

from mcls import select
from mcls.data import load_dataset

ecoli = load_dataset("ecoli")
X, y = minmax_scale(ecoli.X, (-1, 1)), ecoli.y
grid = {"gamma": [2.0**k for k in range(-6, 5, 2)], "sigma": [2.0**k for k in range(-3, 3)]}
plain = select(X, y, "oneLSM", grid, metric="error")
balanced = select(X, y, "oneLSM:class_weight=balanced", grid, metric=["balanced-error", "error"])

# %%
# Recall of each class, out of fold.
fig, axis = plt.subplots(figsize=(7, 3.2), layout="constrained")
order = np.argsort(-np.bincount(y))
for shift, (name, found) in zip((-0.2, 0.2), (("error", plain), ("balanced error and weights", balanced))):
    C = confusion_matrix(y[found.tested], found.predictions)
    recall = np.diag(C) / C.sum(axis=1)
    print(
        f"{name:27s} error {100 * (found.predictions != y[found.tested]).mean():.1f} %, mean recall {recall.mean():.3f}"
    )
    axis.bar(np.arange(len(order)) + shift, recall[order], 0.38, label=f"chosen by {name}")
counts = np.bincount(y)
axis.set_xticks(range(len(order)), [f"{ecoli.classes[c]}\n{counts[c]}" for c in order])
axis.set_ylabel("recall")
axis.legend()
plt.show()
