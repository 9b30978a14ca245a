"""Suites: a file that lists configs, or a folder of them."""

from __future__ import annotations

import pytest

from mcls.errors import McLsError
from mcls.experiments.suite import Suite, check_names, read_suite


def test_a_file_or_a_folder_of_configs(tmp_path):
    (tmp_path / "a.yaml").write_text("datasets: iris\nmachines: oneLSM\n")
    (tmp_path / "s.yml").write_text("suite: [a.yaml, iris]\nname: both\n")
    assert read_suite(tmp_path / "s.yml") == Suite("both", (str(tmp_path / "a.yaml"), "iris"))
    assert read_suite(tmp_path).configs == (str(tmp_path / "a.yaml"),)  # a list of configs is none
    assert read_suite(tmp_path / "a.yaml") is None
    assert read_suite(tmp_path / "absent.yaml") is None


@pytest.mark.parametrize(
    "text, message",
    [
        ("suite: a.yaml", "is a list of configs"),
        ("suite: []", "is a list of configs"),
        ("suite: [3]", "is a list of configs"),
        ("suite: [a.yaml]\nseed: 3", "not 'seed'"),
        ("suite: [a.yaml]\nname: ../x", "becomes a folder"),
    ],
)
def test_mistakes_are_told(text, message, tmp_path):
    (tmp_path / "s.yaml").write_text(text)
    with pytest.raises(McLsError, match=message):
        read_suite(tmp_path / "s.yaml")


def test_the_name_of_a_folder_becomes_one_of_results(tmp_path):
    folder = tmp_path / "north & süd, 100 %"
    folder.mkdir()
    (folder / "a.yaml").write_text("datasets: iris\nmachines: oneLSM\n")
    assert read_suite(folder).name == "north-süd-100"


@pytest.mark.parametrize(
    "names, message", [(["a", "b", "a"], "2 of its configs are called 'a'"), (["a", "s"], "has the same name")]
)
def test_results_of_a_suite_do_not_share_a_folder(names, message):
    with pytest.raises(McLsError, match=message):
        check_names(Suite("s", ("x",) * len(names)), names)
