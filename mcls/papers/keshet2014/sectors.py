"""keshet2014, Fig. 2: sectors of the disc, which a multiclass machine separates and straight lines cannot."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from mcls.machines.base import BaseMachine
from mcls.machines.online import SVMSGD, MulticlassPerceptron
from mcls.machines.svm import CrammerSinger, SVMOvA

Array = np.ndarray

#: Angles of the sectors in degrees: those of the notes, and three that are not equal.
EQUAL, UNEQUAL = (120.0, 120.0, 120.0), (160.0, 130.0, 70.0)

_RADII = (0.25, 0.5, 0.75, 1.0)
_RAYS = 11  # in each sector, from one edge to the other
_GAP = 4.0  # degrees between the edge of a sector and its outermost rays


def sectors(angles: tuple[float, ...] = EQUAL) -> tuple[Array, Array]:
    """Rows (n, 2) on rays and circles of the sectors of the unit disc, and their classes (n,)."""
    ends = np.cumsum(angles)
    rays = [np.linspace(end - angle + _GAP, end - _GAP, _RAYS) for end, angle in zip(ends, angles)]
    directions = _directions(np.array(rays))  # (classes, rays, 2)
    X = directions[:, :, None, :] * np.array(_RADII)[:, None]  # (classes, rays, radii, 2)
    return X.reshape(-1, 2), np.repeat(np.arange(len(angles)), _RAYS * len(_RADII))


def middles() -> Array:
    """The unit vectors (classes, 2) to the middle of each equal sector: the weights w^r of the notes."""
    return _directions(np.cumsum(EQUAL) - np.array(EQUAL) / 2)


def _directions(degrees: Array) -> Array:
    return np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=-1)


class Line(NamedTuple):
    """A straight line through ``point``, and the share of the rows that it puts on the wrong side."""

    error: float
    point: Array  # (2,)
    along: Array  # (2,)


def best_line(X: Array, side: Array) -> Line:
    """The line with the fewest rows on the wrong side; ``side`` (n,) is True or False for each row.

    A line can be moved, without any row changing sides, until it goes through two rows. So it is enough to try every
    line through two rows; the rows on the line are counted as right, so that no line whatever has a smaller error.
    """
    best = Line(1.0, X[0], X[1])
    t = np.where(side, 1.0, -1.0)
    for i in range(len(X) - 1):
        along = X[i + 1 :] - X[i]  # (m, 2): the lines through row i and each later row
        D = (X - X[i]) @ np.stack([-along[:, 1], along[:, 0]])  # (n, m)
        S = np.where(np.abs(D) < 1e-12, 0.0, np.sign(D)) * t[:, None]
        wrong = np.minimum((S < 0).mean(axis=0), (S > 0).mean(axis=0))
        j = int(wrong.argmin())
        if wrong[j] < best.error:
            best = Line(float(wrong[j]), X[i], along[j])
    return best


#: What is fitted to the rows, with the linear kernel: name → how it decides.
DECISIONS = {
    "crammer-singer": "arg max of three scores, one problem for all",
    "svm-sgd": "arg max of three scores, one problem for all",
    "perceptron": "arg max of three scores, one problem for all",
    "svm-ovA": "arg max of three scores, one binary problem for each",
}


@cache
def fitted(name: str, angles: tuple[float, ...]) -> BaseMachine:
    """One of the machines, fitted to the sectors."""
    made: dict[str, BaseMachine] = {
        "crammer-singer": CrammerSinger(kernel="linear", C=100.0),
        "svm-sgd": SVMSGD(kernel="linear", C=100.0, epochs=200),
        "perceptron": MulticlassPerceptron(kernel="linear", epochs=500),
        "svm-ovA": SVMOvA(kernel="linear", C=100.0),
    }
    machine: BaseMachine = made[name].fit(*sectors(angles))
    return machine


def error_of(name: str, angles: tuple[float, ...]) -> float:
    """The error, in percent, of a fitted machine on the rows that it was fitted to."""
    X, y = sectors(angles)
    return 100 * float(np.mean(fitted(name, angles).predict(X) != y))
