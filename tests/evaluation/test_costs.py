"""Cost matrices: their files, their errors, and the decisions they lead to."""

from __future__ import annotations

import numpy as np
import pytest

from mcls.errors import McLsError
from mcls.evaluation.costs import check_costs, cost_of, least_cost_classes, read_costs

NAMES = ["a", "b", "c"]
COSTS = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 4.0], [5.0, 6.5, 0.0]])


@pytest.mark.parametrize(
    "text",
    [
        "0,1,2\n3,0,4\n5,6.5,0\n",
        "a,b,c\n0,1,2\n3,0,4\n5,6.5,0\n",
        "a,0,1,2\nb,3,0,4\nc,5,6.5,0\n",
        ",a,b,c\na,0,1,2\nb,3,0,4\nc,5,6.5,0\n",
        "true;c;a;b\nb;4;3;0\na;2;0;1\n\nc;0;5;6.5\n",  # any order, and another separator
    ],
)
def test_a_matrix_is_read_with_or_without_names(tmp_path, text):
    (tmp_path / "costs.csv").write_text(text)
    np.testing.assert_array_equal(read_costs(tmp_path / "costs.csv", NAMES), COSTS)


def test_classes_may_be_numbers(tmp_path):
    (tmp_path / "costs.csv").write_text("2,1\n7,0\n0,5\n")
    np.testing.assert_array_equal(read_costs(tmp_path / "costs.csv", ["1", "2"]), [[0, 7], [5, 0]])


@pytest.mark.parametrize(
    "text, message",
    [
        ("0,1\n1,0\n", "2 rows of 2 cells; a cost matrix of 3 classes has 3 rows"),
        ("0,1,2\n3,0\n5,6,0\n", "3 rows of 2 or 3 cells"),
        ("", "0 rows of 0 cells"),
        ("0,1,2\n3,zero,4\n5,6,0\n", "line 2 has 'zero'; a cost must be a finite number"),
        ("0,1,2\n3,0,-4\n5,6,0\n", "line 2 has '-4'"),
        ("0,1,2\n3,0,nan\n5,6,0\n", "line 2 has 'nan'"),
        ("0,1,2\n3,0,inf\n5,6,0\n", "line 2 has 'inf'"),
        ("0,1,2\n3,0,\n5,6,0\n", "line 2 has ''"),
        ("a,b,d\n0,1,2\n3,0,4\n5,6,0\n", "unknown class in the first row of"),
        ("a,b,b\n0,1,2\n3,0,4\n5,6,0\n", "names the class 'b' 2 times"),
        (",a,b,c\na,0,1,2\nb,3,0,4\nb,5,6,0\n", "the first column names the class 'b' 2 times"),
    ],
)
def test_a_wrong_file_is_refused_in_one_line(tmp_path, text, message):
    (tmp_path / "costs.csv").write_text(text)
    with pytest.raises(McLsError) as refused:
        read_costs(tmp_path / "costs.csv", NAMES)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(McLsError, match="cannot read"):
        read_costs(tmp_path / "none.csv", NAMES)


@pytest.mark.parametrize(
    "costs, message",
    [
        ([[0, 1], [1, 0]], "is 2 by 2; 3 classes need 3 rows"),
        (5, "is a single number"),
        ([[0, 1, 2], [3, 0, "x"], [5, 6, 0]], "must hold numbers only"),
        ([[0, 1, 2], [3, 0], [5, 6, 0]], "must hold numbers only"),
        ([[0, 1, 2], [3, 0, -4], [5, 6, 0]], "row 2, column 3 has -4"),
        ([[0, 1, 2], [3, float("nan"), 4], [5, 6, 0]], "row 2, column 2 has nan"),
    ],
)
def test_a_wrong_matrix_is_refused(costs, message):
    with pytest.raises(McLsError, match=message):
        check_costs(costs, 3)


def test_a_right_matrix_is_taken():
    np.testing.assert_array_equal(check_costs(COSTS.tolist(), 3), COSTS)


def test_the_class_of_least_expected_cost():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(3), size=(4, 50))
    chosen = least_cost_classes(P, COSTS)
    for point in range(4):
        for row in range(50):
            expected = [sum(P[point, row, c] * COSTS[c, k] for c in range(3)) for k in range(3)]
            assert chosen[point, row] == int(np.argmin(expected))
    np.testing.assert_array_equal(least_cost_classes(P, 1 - np.eye(3)), P.argmax(axis=2))


def test_equal_expected_costs_go_to_the_most_probable_class():
    # 0.1 + 0.2 + 0.7 in another order than the other sum: rounding must not decide.
    P = np.array([[0.1, 0.2, 0.7], [0.7, 0.2, 0.1], [1 / 3, 1 / 3, 1 / 3]])
    np.testing.assert_array_equal(least_cost_classes(P, np.ones((3, 3))), [2, 0, 0])


def test_costs_of_predictions():
    np.testing.assert_array_equal(cost_of(np.array([0, 2]), np.array([[1, 1], [0, 2]]), COSTS), [[1, 6.5], [0, 0]])
