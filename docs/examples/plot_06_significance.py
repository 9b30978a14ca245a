"""
Do two machines differ?
=======================

The 5×2cv F-test asks whether the difference between two machines is more than the luck of the split. Parameters are
chosen anew inside every half, so that no half judges a choice it took part in.
"""

import matplotlib.pyplot as plt
import numpy as np

from mcls.data import load_dataset
from mcls.evaluation.protocols import get_protocol
from mcls.evaluation.statistics import ftest_5x2cv
from mcls.evaluation.task import Task
from mcls.machines.registry import get_machine
from mcls.seeds import derive

powers = [2.0**k for k in range(-4, 5)]
names = ["iris", "wine", "glass", "ecoli"]
protocol = get_protocol("5x2cv")


def halves(machine, data):
    """Errors (5, 2) of five replications of two-fold cross-validation."""
    entry = get_machine(machine)
    task = Task(entry.create(), data.X, data.y, {"gamma": powers, "sigma": powers}, smoother=entry.smoother)
    return np.array([protocol(task, derive("example", i))["errors"] for i in range(5)])


# %%
# oneLSM against ovO, the vote over all pairs of classes.
shown = []
for name in names:
    data = load_dataset(name)
    one, pairs = halves("oneLSM", data), halves("ovO", data)
    test = ftest_5x2cv(one, pairs, data.n)
    shown.append((100 * one.ravel(), 100 * pairs.ravel()))
    print(f"{name:6s} oneLSM {100 * one.mean():5.2f} %   ovO {100 * pairs.mean():5.2f} %   p = {test.p:.3f}")

# %%
# The ten halves of each data set: the machines are compared on the same rows.
fig, axes = plt.subplots(1, len(names), figsize=(10, 2.9), layout="constrained")
for axis, name, (one, pairs) in zip(axes, names, shown):
    axis.plot([0, 1], [one, pairs], color="0.6", marker="o", markersize=4)
    axis.set_xticks([0, 1], ["oneLSM", "ovO"])
    axis.set(title=name, xlim=(-0.4, 1.4))
axes[0].set_ylabel("error in percent")
plt.show()
