"""
Labelbooks, and what Theorem 5 means
====================================

A labelbook gives every class a vector. honeine2013 proves (Theorem 5) that oneLSM predicts the same class with every
labelbook that has one number for the own class and another for all the others. The vector-output machines do not have
this property: there the labelbook matters.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import minmax_scale

from mcls import OneLSM, VoLSSVM
from mcls.data import load_dataset
from mcls.evaluation.folds import make_folds
from mcls.kernels import kernel_matrix
from mcls.labelbooks import LABELBOOKS

glass = load_dataset("glass")
X, y = minmax_scale(glass.X, (-1, 1)), glass.y
K = kernel_matrix(X, sigma=0.5)
folds = make_folds(y, 10, seed=0)
books = ["pm1", "indicators", "alignment", "consistency"]


def out_of_fold(machine):
    """Predicted class of each row, by machines that have not seen it."""
    predicted = np.empty_like(y)
    for (_, test), scores in zip(folds, machine.sweep(K, y, folds, [{"gamma": 1.0}])):
        predicted[test] = scores[0].argmax(axis=1)
    return predicted


# %%
# Out-of-fold predictions of both machines with four labelbooks.
one = {book: out_of_fold(OneLSM(labelbook=book)) for book in books}
vector = {book: out_of_fold(VoLSSVM(labelbook=book)) for book in books}
for book in books:
    print(
        f"{book:12s} oneLSM {100 * (one[book] != y).mean():5.2f} %   voLSSVM {100 * (vector[book] != y).mean():5.2f} %"
    )
assert all(np.array_equal(one["pm1"], one[book]) for book in books)

# %%
# The Gram matrices of the labelbooks are what the vector-output machines see.
fig, axes = plt.subplots(1, 4, figsize=(10, 2.8), layout="constrained")
for axis, book in zip(axes, books):
    B = LABELBOOKS[book].build(6, None)
    axis.imshow(B.T @ B, cmap="coolwarm", vmin=-6, vmax=6)
    axis.set(title=book, xticks=[], yticks=[])
plt.show()
