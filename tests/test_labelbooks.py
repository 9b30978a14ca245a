"""Labelbooks: Table 1 of honeine2013, Proposition 3, Fisher coding and kernels on labels."""

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.labelbooks import LABELBOOKS, get_labelbook, label_gram, label_vectors

SIZES = [2, 3, 4, 6, 11, 26]


def table_1(name: str, ell: int) -> tuple[float, float]:
    """yᵢᵀyⱼ of equal and of different labels, as Table 1 prints them."""
    return {
        "pm1": (ell, ell - 4),
        "indicators": (1, 0),
        "alignment": (1, -1 / (ell - 1)),
        "consistency": (ell / (ell - 1), -ell / (ell - 1) ** 2),
    }[name]


@pytest.mark.parametrize("ell", SIZES)
@pytest.mark.parametrize("name", ["pm1", "indicators", "alignment", "consistency"])
def test_gram_matrices_equal_table_1(name, ell):
    same, different = table_1(name, ell)
    expected = np.where(np.eye(ell, dtype=bool), same, different)
    assert np.abs(label_gram(name, ell) - expected).max() < 1e-12


@pytest.mark.parametrize("ell", SIZES)
def test_proposition_3_minimum_correlation_equals_alignment(ell):
    assert label_vectors("mincorr", ell).shape == (ell - 1, ell)
    assert np.abs(label_gram("mincorr", ell) - label_gram("alignment", ell)).max() < 1e-12


def test_consistency_is_alignment_up_to_scale():
    scale = np.sqrt(5 / 6)
    assert np.allclose(label_vectors("alignment", 6), scale * label_vectors("consistency", 6))


def test_fisher_rows_are_balanced_over_the_samples():
    counts = np.array([5, 2, 3])
    B = label_vectors("fisher", 3, counts)
    assert np.allclose(B @ counts, 0)  # each one-against-all row sums to zero over the training set
    assert np.allclose(np.diag(B), 10 / counts)
    with pytest.raises(McLsError, match="class counts"):
        label_vectors("fisher", 3)


def test_gaussian_label_kernel():
    L = label_gram("indicators", 4, label_kernel="gaussian", label_sigma=0.5)
    assert np.allclose(L, np.where(np.eye(4, dtype=bool), 1.0, np.exp(-2 / 0.5)))
    with pytest.raises(McLsError, match="label_sigma"):
        label_gram("pm1", 3, label_kernel="gaussian", label_sigma=0)
    with pytest.raises(McLsError, match="label_sigma must be a positive number between 1e-150"):
        label_gram("pm1", 3, label_kernel="gaussian", label_sigma=1e-200)
    with pytest.raises(McLsError, match="label kernel"):
        label_gram("pm1", 3, label_kernel="gausian")


def test_names_are_found_in_any_case_and_typos_get_a_suggestion():
    assert get_labelbook("PM1") is LABELBOOKS["pm1"]
    with pytest.raises(McLsError, match="did you mean 'alignment'"):
        get_labelbook("alignement")


def test_a_labelbook_of_the_users_is_checked():
    assert label_vectors([[0, 1, 2]], 3).shape == (1, 3)
    with pytest.raises(McLsError, match="one finite column per class"):
        label_vectors([[0, 1]], 3)
    with pytest.raises(McLsError, match="different label vector"):
        label_vectors([[0, 1, 1]], 3)
    with pytest.raises(McLsError, match="at least two classes"):
        label_vectors("pm1", 1)
