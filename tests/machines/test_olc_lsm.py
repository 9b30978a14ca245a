"""oneLSM with label correction: its limit, and labelbooks that are one to it."""

import numpy as np
import pytest

from mcls.kernels import kernel_matrix
from mcls.machines.olc_lsm import OLCOneLSM
from tests.machines.tables import table

pytestmark = pytest.mark.filterwarnings("ignore::mcls.errors.PrecisionWarning")


def test_corrected_onelsm_takes_class_means_to_the_labels():
    X, y = table("iris")
    for labelbook in ("indicators", "pm1", "mincorr"):
        machine = OLCOneLSM(labelbook=labelbook, sigma=1.0, lambda2=2.0**20).fit(X, y)
        f = kernel_matrix(X) @ machine.alpha_
        means = np.stack([f[y == c].mean(axis=0) for c in range(3)], axis=1)
        np.testing.assert_allclose(means, machine.labels_, atol=1e-5)


def test_every_one_per_class_labelbook_gives_the_same_classes_with_correction():
    X, y = table("glass")
    expected = OLCOneLSM(gamma=0.1, lambda2=0.3).fit(X[::2], y[::2]).predict(X)
    for labelbook in ("pm1", "alignment", "consistency", "mincorr"):
        machine = OLCOneLSM(gamma=0.1, lambda2=0.3, labelbook=labelbook)
        np.testing.assert_array_equal(machine.fit(X[::2], y[::2]).predict(X), expected)
