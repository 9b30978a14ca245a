"""Trees of classes: Newick and YAML, their label vectors, and what is refused."""

import numpy as np
import pytest

from mcls import OneLSM
from mcls.data import load_dataset
from mcls.errors import McLsError
from mcls.evaluation.scaling import to_range
from mcls.trees import parse_newick, read_tree, tree_labels

NAMES = ["a", "b", "c", "d"]


def test_newick_and_yaml_give_the_same_labels(tmp_path):
    (tmp_path / "t.nwk").write_text("(((a:1,b:2)x,c:0.5)y:3,'d');\n")
    (tmp_path / "t.yaml").write_text("upper: {deep: [a, b], other: c}\nlast: d\n")
    first, second = (tree_labels(read_tree(tmp_path / f"t.{kind}"), NAMES, 0.4) for kind in ("nwk", "yaml"))
    assert np.allclose(first.T @ first, second.T @ second)
    expected = [
        [1, 0.4, 0.2 * np.sqrt(2), 0],
        [0.4, 1, 0.2 * np.sqrt(2), 0],
        [0.2 * np.sqrt(2)] * 2 + [1, 0],
        [0, 0, 0, 1],
    ]
    assert np.allclose(first.T @ first, expected)


def test_without_a_share_the_labels_are_indicators():
    assert np.array_equal(tree_labels(parse_newick("((a,b),(c,d));"), NAMES, 0), np.eye(4))


def test_a_machine_learns_with_a_tree():
    data = load_dataset("iris")
    B = tree_labels([[1, 2], 0], [0, 1, 2])
    machine = OneLSM(labelbook=B, gamma=0.1).fit(to_range(data.X), data.y)
    assert machine.score(to_range(data.X), data.y) > 0.95
    assert np.allclose(machine.label_gram_, [[1, 0, 0], [0, 1, 0.5], [0, 0.5, 1]])


@pytest.mark.parametrize(
    "tree, complaint",
    [
        ([["a", "b"], "c"], "no leaf for the class 'd'"),
        ([["a", "b"], "c", "e"], "unknown class in the tree 'e'"),
        (["a", "b", "c", "d", "a"], "two leaves 'a'"),
        (["a", None], "no name"),
    ],
)
def test_trees_that_do_not_fit_the_classes_are_refused(tree, complaint):
    with pytest.raises(McLsError, match=complaint):
        tree_labels(tree, NAMES)


def test_broken_files_and_numbers_are_refused(tmp_path):
    for text, complaint in (
        ("((a,b;", "does not close"),
        ("a,b));", "did not open"),
        ("{", "neither YAML nor Newick"),
    ):
        (tmp_path / "t").write_text(text)
        with pytest.raises(McLsError, match=complaint):
            read_tree(tmp_path / "t")
    with pytest.raises(McLsError, match="cannot be read"):
        read_tree(tmp_path / "none")
    with pytest.raises(McLsError, match="share must be"):
        tree_labels(NAMES, NAMES, 1.0)
    deep = "a"
    for _ in range(200):
        deep = [deep]
    with pytest.raises(McLsError, match="levels"):
        tree_labels(deep, ["a"])
