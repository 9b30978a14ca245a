from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from mcls.data import load_card, load_dataset
from mcls.data.cache import (
    RefusedError,
    cache_dir,
    cached_files,
    cached_path,
    check_content,
    is_cached,
    put_in_cache,
    read_bounded,
    staging,
)
from mcls.errors import McLsError
from mcls.files import STALE_AFTER

IRIS = load_card("iris")
FILE = IRIS.files[0]


def test_the_environment_names_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCLS_CACHE", "~/elsewhere")
    assert cache_dir() == Path.home() / "elsewhere"
    monkeypatch.delenv("MCLS_CACHE")
    assert cache_dir().name == "mcls"
    assert cache_dir().is_absolute()


def test_content_is_checked_and_described(iris_raw: bytes) -> None:
    assert check_content(iris_raw, FILE, "here") is iris_raw
    flipped = bytes([iris_raw[0] ^ 1]) + iris_raw[1:]
    with pytest.raises(RefusedError) as caught:
        check_content(flipped, FILE, "here")
    for part in ("here", "iris.data", "found 4551 bytes with sha256 ", "expected 4551 bytes", FILE.sha256):
        assert part in str(caught.value)
    with pytest.raises(RefusedError, match="found more than 4551 bytes"):
        check_content(iris_raw + b"x", FILE, "here")
    with pytest.raises(RefusedError, match="looks like a web page"):
        check_content(b"\n <!DOCTYPE html><p>Forbidden", FILE, "here")


def test_what_is_put_in_is_found(cache: Path, iris_raw: bytes) -> None:
    assert not is_cached(IRIS)
    assert cached_files(IRIS) == {}
    put_in_cache(IRIS, {"iris.data": iris_raw})
    assert cached_path(IRIS, FILE).read_bytes() == iris_raw
    assert cached_files(IRIS) == {"iris.data": iris_raw}
    assert is_cached(IRIS)
    assert [path.name for path in cache.iterdir()] == ["iris"]  # nothing is left of the way in


def test_half_a_set_is_partly_cached(cache: Path) -> None:
    esl = load_card("usps-esl")
    put_in_cache(esl, {"zip.test.gz": b"x"})
    assert not is_cached(esl)
    assert is_cached(esl, partly=True)


def test_a_set_without_files_is_never_cached(cache: Path) -> None:
    assert not is_cached(load_card("usps"))
    assert not is_cached(load_card("artificial-1"))
    assert not is_cached(load_card("cohn-kanade"))


def test_a_damaged_file_is_left_out_with_a_warning(cache: Path, iris_raw: bytes) -> None:
    put_in_cache(IRIS, {"iris.data": iris_raw[:-5]})
    with pytest.warns(UserWarning, match=r"ignored: .*iris\.data"):
        assert cached_files(IRIS) == {}


def test_a_failure_on_the_way_in_leaves_the_cache_as_it_was(
    cache: Path, iris_raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_cache(IRIS, {"iris.data": iris_raw})

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(McLsError, match=r"cannot write to the cache .*No space.*MCLS_CACHE names another folder"):
        put_in_cache(IRIS, {"iris.data": b"new"})
    assert cached_path(IRIS, FILE).read_bytes() == iris_raw
    assert [path.name for path in cache.iterdir()] == ["iris"]


def test_a_cache_that_cannot_be_written_to_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("MCLS_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.raises(McLsError, match="MCLS_CACHE names another folder"), staging():
        pass


def test_reading_is_bounded(tmp_path: Path) -> None:
    (tmp_path / "long").write_bytes(b"x" * 10000)
    assert len(read_bounded(tmp_path / "long", FILE)) == FILE.bytes + 1
    with pytest.raises(McLsError, match=r"cannot read .*absent"):
        read_bounded(tmp_path / "absent", FILE)


def test_a_home_that_nobody_has_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MCLS_CACHE", "~nobody-of-this-name/x")
    with pytest.raises(McLsError, match="MCLS_CACHE names ~nobody-of-this-name/x"):
        cache_dir()


def test_what_is_shipped_needs_no_cache_that_can_be_looked_into(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCLS_CACHE", str(tmp_path / ("x" * 300)))  # no system has names of this length
    assert load_dataset("iris").n == 150
    assert not is_cached(load_card("wine"))


def test_what_is_shipped_needs_no_cache_that_can_be_read(
    cache: Path, iris_raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    put_in_cache(IRIS, {"iris.data": iris_raw})

    def refused(*args: object, **kwargs: object) -> None:
        raise PermissionError(13, "Permission denied")  # which root never meets

    monkeypatch.setattr("pathlib.Path.open", refused)
    with pytest.warns(UserWarning, match=r"ignored: cannot read .*Permission denied"):
        assert cached_files(IRIS) == {}


def test_what_a_kill_left_on_its_way_in_is_cleared(cache: Path, iris_raw: bytes) -> None:
    old, young = cache / ".incoming-old", cache / ".incoming-young"
    for folder in (old, young):
        folder.mkdir(parents=True)
        (folder / "iris.data").write_bytes(iris_raw[:100])
    os.utime(old, (time.time() - STALE_AFTER - 60,) * 2)
    put_in_cache(IRIS, {"iris.data": iris_raw})
    assert sorted(path.name for path in cache.iterdir()) == [".incoming-young", "iris"]
