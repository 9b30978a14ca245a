"""Coding matrices: the classical ones literally, the random ones by their promises, the user's by the refusals."""

from itertools import combinations

import numpy as np
import pytest

from mcls.coding import matrices
from mcls.coding.matrices import (
    CODINGS,
    all_pairs,
    check_matrix,
    coding_matrix,
    dense_random,
    exhaustive,
    one_vs_all,
    read_csv,
    row_separation,
    sparse_random,
    write_csv,
)
from mcls.errors import McLsError


def test_classical_matrices_are_those_of_the_notes():
    assert one_vs_all(4).tolist() == [[1, -1, -1, -1], [-1, 1, -1, -1], [-1, -1, 1, -1], [-1, -1, -1, 1]]
    assert all_pairs(4).tolist() == [
        [1, 1, 1, 0, 0, 0],
        [-1, 0, 0, 1, 1, 0],
        [0, -1, 0, -1, 0, 1],
        [0, 0, -1, 0, -1, -1],
    ]


@pytest.mark.parametrize("n_classes", [2, 3, 4, 6])
def test_exhaustive_code_holds_every_bipartition_once(n_classes):
    M = exhaustive(n_classes)
    sides = {frozenset({frozenset(np.flatnonzero(c > 0)), frozenset(np.flatnonzero(c < 0))}) for c in M.T}
    everything = frozenset(range(n_classes))
    wanted = {
        frozenset({frozenset(left), everything - frozenset(left)})
        for size in range(1, n_classes)
        for left in combinations(range(n_classes), size)
    }
    assert sides == wanted
    assert M.shape[1] == len(wanted)


def test_exhaustive_code_is_refused_for_many_classes():
    with pytest.raises(McLsError, match="dense-random"):
        exhaustive(26)


@pytest.mark.parametrize("n_classes", [2, 3, 4, 7, 11, 26])
@pytest.mark.parametrize("coding", [dense_random, sparse_random])
def test_random_codes_keep_their_promises(coding, n_classes):
    M = coding(n_classes, 0)
    check_matrix(M, n_classes)  # both signs in every column, every pair of rows told apart
    columns = {tuple(c) for c in M.T}
    assert len(columns) == M.shape[1]
    assert not any(tuple(-c) in columns for c in M.T)
    if coding is dense_random:
        assert (M != 0).all()
        assert M.shape[1] == min(np.ceil(10 * np.log2(n_classes)), 2 ** (n_classes - 1) - 1)
    elif n_classes > 4:  # up to four classes every possible column is taken
        assert 0.3 < (M == 0).mean() < 0.6
    assert np.array_equal(M, coding(n_classes, 0))


def test_best_of_many_draws_separates_rows_better_than_one_draw(monkeypatch):
    many = row_separation(dense_random(11, 3))
    monkeypatch.setattr(matrices, "N_DRAWS", 1)
    monkeypatch.setattr(matrices, "_best_draw", matrices._best_draw.__wrapped__)
    assert many > row_separation(dense_random(11, 3))


def test_row_separation_counts_a_zero_as_half():
    assert row_separation(np.array([[1, 1, 0], [-1, 1, 1], [-1, -1, -1]])) == 1.5


@pytest.mark.parametrize(
    "matrix, message",
    [
        ([[1, 2], [-1, 1]], "found 2"),
        ([[1, 0.5], [-1, 1]], r"found 0\.5"),
        ([[1, np.nan], [-1, 1]], "found nan"),
        ([[1, 1], [-1, 0]], "column 2"),
        ([[1, -1], [-1, 1], [-1, 1]], "rows 2 and 3"),
        ([[1, 0], [0, 1], [-1, -1]], "rows 1 and 2"),
        ([1, -1], "shape"),
    ],
)
def test_wrong_matrices_are_refused_with_the_place(matrix, message):
    with pytest.raises(McLsError, match=message):
        check_matrix(np.array(matrix))


def test_matrix_must_fit_the_number_of_classes():
    with pytest.raises(McLsError, match="2 rows, the data 3 classes"):
        coding_matrix(np.array([[1], [-1]]), 3)


def test_unknown_coding_gets_a_suggestion():
    with pytest.raises(McLsError, match="did you mean 'all-pairs'"):
        coding_matrix("al-pairs", 3)


@pytest.mark.parametrize("coding", CODINGS)
def test_csv_round_trip(coding, tmp_path):
    M = coding_matrix(coding, 5)
    names = ["a", "b,c", 'd"e', "é", "5"]
    write_csv(tmp_path / "m.csv", M, names)
    read, read_names = read_csv(tmp_path / "m.csv")
    assert np.array_equal(read, M)
    assert read_names == names


@pytest.mark.parametrize("text", ["", "a,h1\nx,1\ny,-1\n", "class,h1\nx,1,1\ny,-1\n", "class,h1\nx,one\ny,-1\n"])
def test_malformed_csv_is_refused_with_its_path(text, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text(text)
    with pytest.raises(McLsError, match=r"m\.csv"):
        read_csv(path)
