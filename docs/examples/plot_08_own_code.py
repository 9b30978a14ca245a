"""
Error-correcting output codes with a code of your own
=====================================================

A coding matrix has one row per class and one column per two-class problem: +1 and −1 name the sides, 0 leaves a class
out. Any matrix can be given; here a hand-made one against one-vs-all and a random dense code, under three decoders.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import minmax_scale

from mcls import ECOC
from mcls.data import load_dataset
from mcls.evaluation.folds import make_folds
from mcls.kernels import kernel_matrix

iris = load_dataset("iris")
X, y = minmax_scale(iris.X, (-1, 1)), iris.y
mine = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]])  # one-vs-one, written out by hand
codes = {"mine": mine, "one-vs-all": "one-vs-all", "dense-random": "dense-random"}
decoders = ["hamming", "euclidean", "loss-hinge"]
folds = make_folds(y, 10, seed=0)
K = kernel_matrix(X, sigma=1.0)

errors = np.empty((len(codes), len(decoders)))
for i, code in enumerate(codes.values()):
    for j, decoder in enumerate(decoders):
        scores = ECOC(coding=code, decoder=decoder).sweep(K, y, folds, [{"gamma": 1.0}])
        wrong = [s[0].argmax(axis=1) != y[test] for s, (_, test) in zip(scores, folds)]
        errors[i, j] = 100 * np.concatenate(wrong).mean()

fig, axis = plt.subplots(figsize=(5.5, 3.2), layout="constrained")
for j, decoder in enumerate(decoders):
    axis.bar(np.arange(len(codes)) + 0.25 * (j - 1), errors[:, j], 0.22, label=decoder)
axis.set_xticks(range(len(codes)), codes)
axis.set_ylabel("error in percent")
axis.legend(title="decoder")
plt.show()
