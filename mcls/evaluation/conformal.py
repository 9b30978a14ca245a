"""Conformal sets: the classes that a row may have, so that the truth is among them with a wanted probability.

The most probable class of a row is always in its set, so no set is empty; every other class is in it whose probability
reaches a threshold. Of each calibration row only one number is kept for that: s = ∞ where its most probable class is
the true one, else the probability (or score) p_y of its true class. The threshold is the k-th largest s of n rows,
k = ⌈(n + 1) · coverage⌉: split-conformal prediction, with −s as the measure of how badly a class fits a row. Where the
probabilities are right and a set must name a class, no other rule has smaller sets on average (Sadinle, Lei and
Wasserman 2019); adaptive sets (APS) are larger.

**What is guaranteed.** If the calibration rows and the new row are *exchangeable* (drawn independently from one
source, for instance), and if all their probabilities come from *one* function that none of these rows took part in
fitting, the truth is in the set with probability at least ``coverage``, whatever the machine. This holds on average
over rows and over calibration tables, not for each class or each region of the features. That the most probable class
is always in the set is part of s and so of the guarantee: the threshold is not made for a rule without it and then
widened. Without ties among finite s it is met with at most 1 / (n + 1) more, except where the machine is right more
often than ``coverage`` asks for: sets then have one class each and cover as often as the machine is right (a machine
with 3 % error covers 97 % at 90 %; fewer would mean empty sets).

**What holds for out-of-fold scores.** They come from k machines, each trained on n(1 − 1/k) rows, and the new row's
from the machine trained on all. The guarantee is then approximate: exact for a machine that does not change when a
fold is left out, and usually on the safe side, since the machine of all rows is slightly better than those that
calibrate it. (CV+, which keeps all k machines, guarantees about 2 · coverage − 1 in general.) Use the probabilities
that ``calibrate`` returns for the rows themselves: each comes from a map fitted without the row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from mcls.errors import McLsError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ConformalSets:
    """Calibration of prediction sets, as one sorted array.

    Attributes
    ----------
    truths : array (n,)
        Of each calibration row the probability, or score, of its true class, ∞ where that is the largest; ascending.
    weights : array (n,) or None
        The weights of these rows, where they have some: a row of weight 2 counts as two rows.

    Examples
    --------
    >>> P = np.array([[0.7, 0.2, 0.1], [0.4, 0.5, 0.1], [0.1, 0.1, 0.8], [0.3, 0.4, 0.3]])
    >>> made = ConformalSets.fit(P, np.array([0, 0, 2, 1]))
    >>> made.sets(np.array([[0.45, 0.42, 0.13], [0.9, 0.1, 0.0]]), coverage=0.8)
    array([[ True,  True, False],
           [ True, False, False]])
    """

    truths: Array
    weights: Array | None = None

    @classmethod
    def fit(cls, P: Array, y: Array, weights: Array | None = None) -> ConformalSets:
        """Take the probabilities or scores P (n, ℓ) of rows that no fit of them has seen, and their class codes y."""
        truths = np.where(P.argmax(axis=1) == y, np.inf, P[np.arange(len(y)), y])
        order = np.argsort(truths, kind="stable")
        return cls(truths[order], None if weights is None else np.asarray(weights, dtype=np.float64)[order])

    def threshold(self, coverage: float) -> float:
        """What a class other than the most probable must reach to be in a set.

        −∞, hence all classes, where n rows are too few for the coverage; ∞, hence the most probable alone, where that
        is right often enough.
        """
        if not 0.0 < coverage < 1.0:
            raise McLsError(f"the coverage must lie between 0 and 1, such as 0.9; got {coverage:g}")
        n = len(self.truths)
        if self.weights is not None:
            above = self.weights[::-1].cumsum()  # the weight of the i + 1 largest
            i = int(np.searchsorted(above, (above[-1] + 1) * coverage - 1e-9))
            return float(self.truths[n - 1 - i]) if i < n else -np.inf
        k = ceil((n + 1) * coverage - 1e-9)  # 10 · 0.9 is nine rows, not ten by a rounding
        return float(self.truths[n - k]) if k <= n else -np.inf

    def sets(self, P: Array, coverage: float = 0.9) -> Array:
        """Which classes (m, ℓ) are in the set of each row, from its probabilities or scores P (m, ℓ)."""
        chosen = self.threshold(coverage) <= P
        chosen[np.arange(len(P)), P.argmax(axis=1)] = True
        return chosen
