"""
Calibrated probabilities from the sweep's own scores
====================================================

The exact sweep scores every row by machines that have not seen it. A map from those scores to probabilities needs no
further fit of the machine: ``calibration="auto"`` takes a temperature or a matrix, whichever has the smaller
cross-validated log-loss.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import minmax_scale

from mcls import OneLSM
from mcls.data import load_dataset

yeast = load_dataset("yeast")
X, y = minmax_scale(yeast.X, (-1, 1)), yeast.y
common = np.isin(y, np.flatnonzero(np.bincount(y) >= 30))  # classes with a few dozen rows
X_train, X_test, y_train, y_test = train_test_split(
    X[common], y[common], test_size=0.5, stratify=y[common], random_state=0
)

machines = {
    how: OneLSM(sigma=0.5, gamma=1.0, calibration=how).fit(X_train, y_train) for how in ("temperature", "matrix")
}
for how, machine in machines.items():
    P = machine.predict_proba(X_test)
    assert (machine.classes_[P.argmax(axis=1)] == machine.predict(X_test)).all()
    print(f"{how:12s} log-loss {log_loss(y_test, P, labels=machine.classes_):.3f}")

# %%
# Reliability: of the rows whose predicted class has a probability around p, about a share p should be right.
fig, axis = plt.subplots(figsize=(4.2, 4), layout="constrained")
for how, machine in machines.items():
    P = machine.predict_proba(X_test)
    sure, right = P.max(axis=1), machine.predict(X_test) == y_test
    bins = np.quantile(sure, np.linspace(0, 1, 9))
    place = np.clip(np.searchsorted(bins, sure, side="right") - 1, 0, 7)
    axis.plot(
        [sure[place == b].mean() for b in range(8)], [right[place == b].mean() for b in range(8)], "o-", label=how
    )
axis.plot([0.2, 1], [0.2, 1], color="0.6", linestyle="--")
axis.set(xlabel="probability of the predicted class", ylabel="share of right predictions")
axis.legend()
plt.show()
