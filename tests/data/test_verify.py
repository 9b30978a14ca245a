from __future__ import annotations

from pathlib import Path

import pytest

from mcls.data import card_names, load_card
from mcls.data.cache import cached_path, put_in_cache
from mcls.data.verify import verify
from mcls.resources import datasets_dir

IRIS = load_card("iris")


def test_everything_shipped_and_generated_is_right(cache: Path) -> None:
    checks = list(verify())
    offline = [name for name in card_names() if load_card(name).origin in {"shipped", "generated"}]
    assert [check.name for check in checks] == offline
    assert [check for check in checks if check.problem] == []


def test_what_is_wrong_is_named(
    cache: Path, iris_raw: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in datasets_dir().iterdir():
        if path.name != "wine.csv":
            (tmp_path / path.name).symlink_to(path)
    wine = (datasets_dir() / "wine.csv").read_text()
    (tmp_path / "wine.csv").write_text(wine.replace("14.23", "14.24", 1))
    monkeypatch.setattr("mcls.data.load.datasets_dir", lambda: tmp_path)
    put_in_cache(IRIS, {"iris.data": iris_raw})
    problems = {(check.name, check.where): check.problem for check in verify()}
    assert problems["iris", "shipped"] is None
    assert problems["iris", "cache"] is None
    assert "wine.csv is not the table its card describes" in str(problems["wine", "shipped"])
    cached_path(IRIS, IRIS.files[0]).write_bytes(iris_raw[1:])
    problems = {(check.name, check.where): check.problem for check in verify()}
    assert "found 4550 bytes" in str(problems["iris", "cache"])


def test_half_a_set_is_checked_as_far_as_it_goes(cache: Path) -> None:
    esl = load_card("usps-esl")
    put_in_cache(esl, {"zip.test.gz": b"damaged"})
    problems = {(check.name, check.where): check.problem for check in verify()}
    assert "zip.test.gz" in str(problems["usps-esl", "cache"])
