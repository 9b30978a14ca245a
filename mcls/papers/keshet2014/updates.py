"""keshet2014, Fig. 1: one mistake of the perceptron, in the plane."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from mcls.solvers.perceptron import step

Array = np.ndarray


@dataclass(frozen=True)
class Update:
    """A row x (2,) of class ``label``, and the weights W (ℓ, 2) before and after it is seen."""

    name: str
    rule: str  # of mcls.solvers.perceptron
    classes: tuple[str, ...]
    W: Array
    x: Array
    label: int

    @property
    def scores(self) -> Array:
        """w^r·x (ℓ,) before."""
        return self.W @ self.x

    @property
    def tau(self) -> Array:
        """How much of x each class gains (ℓ,)."""
        return step(self.scores, self.label, self.rule)

    @property
    def after(self) -> Array:
        """W (ℓ, 2) after."""
        return self.W + np.outer(self.tau, self.x)

    @property
    def scores_after(self) -> Array:
        """w^r·x (ℓ,) after."""
        return self.after @ self.x


_BINARY = np.array([[0.9, 0.2], [-0.9, -0.2]])
_FOUR = np.array([[0.1, 0.9], [1.0, 0.1], [0.5, 0.9], [-0.8, -0.4]])
_X = np.array([0.9, 0.3])
_NUMBERS = ("1", "2", "3", "4")

EXAMPLES = (
    Update("binary", "two-class", ("-1", "+1"), _BINARY, np.array([0.7, 0.6]), 1),
    Update("two-class", "two-class", _NUMBERS, _FOUR, _X, 0),
    Update("spread", "spread", _NUMBERS, _FOUR, _X, 0),
)
