"""Real data sets, and problems of any size, on which the paper's mathematics must hold."""

import numpy as np
from hypothesis import strategies as st

from mcls.data import load_dataset
from mcls.evaluation.scaling import to_range
from mcls.labelbooks import LABELBOOKS

BOOKS = [name for name, book in LABELBOOKS.items() if not book.needs_counts]


REAL = ["iris", "wine", "glass"]


def load(name):
    data = load_dataset(name)
    return to_range(data.X), data.y


@st.composite
def problems(draw):
    seed, ell, d = draw(st.integers(0, 10**6)), draw(st.integers(2, 5)), draw(st.integers(1, 4))
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(ell), rng.integers(0, ell, draw(st.integers(ell, 25)))])
    X = rng.normal(size=(len(y), d)) + y[:, None] * 0.7
    return X, y, float(2.0 ** draw(st.integers(-4, 4))), rng.normal(size=(10, d)) * 2
