"""Configs from files: where they are found, and how trouble with them is told."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from mcls.errors import McLsError
from mcls.experiments.loading import find_config, load_config, parse_config

BASE = "datasets: iris\nmachines: [oneLSM]\n"


def parse(text: str):
    return parse_config(text, Path("lab.yaml"))


def test_a_path_is_read_with_its_trouble_told(tmp_path):
    latin = tmp_path / "latin.yaml"
    latin.write_bytes(b"datasets: \xe9")
    with pytest.raises(McLsError, match="not UTF-8"):
        load_config(latin)
    huge = tmp_path / "huge.yaml"
    huge.write_bytes(BASE.encode() + b"#" * (2**17 - len(BASE)))
    assert load_config(huge).name == "huge"
    huge.write_bytes(huge.read_bytes() + b"#")
    with pytest.raises(McLsError, match="longer than 131072 bytes"):
        load_config(huge)
    marked = tmp_path / "marked.yaml"
    marked.write_bytes(b"\xef\xbb\xbf" + BASE.encode())
    assert load_config(marked).name == "marked"


def test_configs_are_found_by_path_or_by_shipped_name(tmp_path):
    assert find_config("iris").name == "iris.yaml"
    own = tmp_path / "own.yaml"
    own.write_text(BASE)
    assert find_config(str(own)) == own
    with pytest.raises(McLsError, match="did you mean 'iris'"):
        find_config("irsi")
    with pytest.raises(McLsError, match="mcls ships one of that name: mcls run iris"):
        find_config("nowhere/iris.yaml")
    with pytest.raises(McLsError, match=r"own2.yaml; did you mean .*own.yaml\?$"):
        find_config(str(tmp_path / "own2.yaml"))
    with pytest.raises(McLsError, match=r"there is no file nowhere/mine2.yaml$"):  # nothing is near
        find_config("nowhere/mine2.yaml")


def test_a_mistyped_field_is_told_before_the_one_that_it_leaves_missing(tmp_path):
    with pytest.raises(McLsError, match="unknown field 'dataset'; did you mean 'datasets'"):
        parse_config("dataset: iris\nmachines: oneLSM\n", tmp_path / "c.yaml")
    with pytest.raises(McLsError, match="is a folder"):
        find_config(str(tmp_path))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "lab.yaml")
    with pytest.raises(McLsError, match=r"is a pipe, .*save it to a file first"):
        find_config(str(tmp_path / "lab.yaml"))


def test_a_long_value_is_not_repeated_in_full():
    with pytest.raises(McLsError, match="String should have at most 200 characters") as caught:
        parse(f"datasets: {'x' * 9000}\nmachines: oneLSM\n")
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    "text, message",
    [
        ("name: lab\ndatasets: iris\nmachines: mine\n", "one of a plug-in is known with --plugin FILE.py"),
        (BASE + "name: lab\nmetric: mine\n", "one of a plug-in is known with --plugin FILE.py"),
        ("datasets: iris\nmachines: oneLSM\n", "the file's name stands for a 'name' that is not given"),
        ("name: lab\ndatasets: t.xlsx\nmachines: oneLSM\n", "a table of your own is given as {path: FILE.csv}"),
        ("suite: [a.yaml]\n", "lists configs, which are run together by: mcls run 'my study.yaml'"),
    ],
)
def test_what_is_wrong_says_what_to_do(text, message):
    with pytest.raises(McLsError, match=re.escape(message)):
        parse_config(text, Path("my study.yaml"))
