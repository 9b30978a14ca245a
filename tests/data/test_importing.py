from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from mcls.data import load_card, load_dataset
from mcls.data.cache import RefusedError, cached_path, put_in_cache
from mcls.data.importing import import_files
from mcls.errors import McLsError

IRIS = load_card("iris")


def test_a_file_under_any_name(cache: Path, tmp_path: Path, iris_raw: bytes) -> None:
    (tmp_path / "download (1).txt").write_bytes(iris_raw)
    assert import_files(IRIS, [tmp_path / "download (1).txt"]) == []
    assert cached_path(IRIS, IRIS.files[0]).read_bytes() == iris_raw


def test_a_zip_archive_as_uci_serves_it(cache: Path, tmp_path: Path, iris_raw: bytes) -> None:
    with zipfile.ZipFile(tmp_path / "iris.zip", "w") as archive:
        archive.writestr("iris.data", iris_raw)
    assert import_files(IRIS, [tmp_path / "iris.zip"]) == []
    assert cached_path(IRIS, IRIS.files[0]).read_bytes() == iris_raw


@pytest.mark.parametrize("content", [b"<html>", b"", b"x" * 5000])
def test_a_wrong_file_is_refused_and_the_cache_stays(
    content: bytes, cache: Path, tmp_path: Path, iris_raw: bytes, snapshot: Callable
) -> None:
    put_in_cache(IRIS, {"iris.data": iris_raw})
    before = snapshot(cache)
    (tmp_path / "iris.data").write_bytes(content)
    with pytest.raises(RefusedError, match=r"iris\.data is not the iris\.data that is expected"):
        import_files(IRIS, [tmp_path / "iris.data"])
    (tmp_path / "iris.zip").write_bytes(content)
    with pytest.raises(RefusedError, match="not a readable zip archive"):
        import_files(IRIS, [tmp_path / "iris.zip"])
    assert snapshot(cache) == before


def test_a_folder_that_holds_both_files(cache: Path, raw_dir: Path) -> None:
    card = load_card("usps-esl")
    assert import_files(card, [raw_dir]) == []
    assert load_dataset("usps-esl", resample="decimate", first=10).X.shape == (10, 64)


def test_two_files_one_after_the_other(cache: Path, raw_dir: Path) -> None:
    card = load_card("usps-esl")
    assert import_files(card, [raw_dir / "zip.test.gz"]) == ["zip.train.gz"]
    assert import_files(card, [raw_dir / "zip.train.gz"]) == []


def test_one_wrong_file_of_two_keeps_both_out(
    cache: Path, raw_dir: Path, tmp_path: Path, snapshot: Callable
) -> None:
    (tmp_path / "zip.train.gz").write_bytes(b"short")
    with pytest.raises(RefusedError, match=r"not the zip\.train\.gz that is expected"):
        import_files(load_card("usps-esl"), [raw_dir / "zip.test.gz", tmp_path / "zip.train.gz"])
    assert snapshot(cache) == {}


def test_nothing_to_import(cache: Path, tmp_path: Path) -> None:
    with pytest.raises(McLsError, match="works without any file"):
        import_files(load_card("artificial-1"), [tmp_path])
    with pytest.raises(McLsError, match=r"holds none of the files of usps-esl: zip\.train\.gz, zip\.test\.gz"):
        import_files(load_card("usps-esl"), [tmp_path])
    with pytest.raises(McLsError, match=r"cannot read .*absent"):
        import_files(IRIS, [tmp_path / "absent"])
    with pytest.raises(McLsError, match="one folder"):
        import_files(load_card("cohn-kanade"), [tmp_path, tmp_path])
