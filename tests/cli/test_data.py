from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from mcls.cli.app import main
from mcls.data import card_names, load_card
from mcls.data.cache import cached_path, is_cached, put_in_cache
from mcls.data.fetch import fetch
from mcls.resources import datasets_dir

IRIS = load_card("iris")


@pytest.fixture
def mcls(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str, str]]:
    """Run the command line; return exit code, stdout and stderr."""

    def run(*args: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as caught:
            main(list(args))
        printed = capsys.readouterr()
        return int(caught.value.code or 0), printed.out, printed.err

    return run


def test_list_shows_every_card_whole(mcls, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")  # a pipe has no width to cut at
    code, out, _ = mcls("data", "list")
    rows = {line.split()[0]: line.split() for line in out.splitlines()[1:]}
    assert code == 0
    assert sorted(rows) == card_names()
    assert rows["pavia-university"][1:7] == ["14100", "103", "7", "after", "a", "download"]
    assert rows["vowel"][1:4] == ["528", "10", "11"]  # what load_dataset("vowel") gives, not the whole table
    assert rows["iris"][1:6] == ["150", "4", "3", "yes,", "shipped"]
    assert rows["artificial-2"][4:6] == ["yes,", "generated"]
    assert rows["vowel"][-1] == "rows"
    assert max(map(len, out.splitlines())) <= 80
    assert "…" not in out


def test_list_knows_what_is_cached(mcls, cache: Path, iris_raw: bytes) -> None:
    put_in_cache(IRIS, {"iris.data": iris_raw})
    out = mcls("data", "list")[1]
    after_origin = {line.split()[0]: line.split()[6:7] for line in out.splitlines() if "shipped" in line}
    assert after_origin["iris"] == ["yes"]
    assert after_origin["wine"] == []


def test_show_prints_the_card(mcls, cache: Path) -> None:
    code, out, _ = mcls("data", "show", "vowel")
    assert code == 0
    for part in (
        "528 rows × 10 features",
        "990 rows × 10 features, 11 classes",
        "rows=train: ",
        "(default)",
        IRIS.licence,
        "sample=…",
    ):
        assert part in out
    file = load_card("vowel").files[0]
    assert file.sha256 in out
    assert file.sources[0].url in out


@pytest.mark.parametrize("name", card_names())
def test_show_works_for_every_card(name: str, mcls, cache: Path) -> None:
    code, out, _ = mcls("data", "show", name)
    assert code == 0
    assert load_card(name).title in out


def test_a_typo_is_one_line_and_exit_code_2(mcls, cache: Path) -> None:
    code, out, err = mcls("data", "show", "irs")
    assert (code, out) == (2, "")
    assert "did you mean 'iris'" in err
    assert err.count("\n") == 1


def test_verify_prints_ok_for_each(mcls, cache: Path) -> None:
    code, out, _ = mcls("data", "verify")
    assert code == 0
    lines = out.splitlines()
    assert "iris: ok (shipped)" in lines
    assert "artificial-4: ok (generated)" in lines
    assert len(lines) == 18


def test_verify_fails_on_a_changed_table(
    mcls, cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in datasets_dir().iterdir():
        if path.name != "tae.csv":
            (tmp_path / path.name).symlink_to(path)
    (tmp_path / "tae.csv").write_text((datasets_dir() / "tae.csv").read_text().replace("1,23", "1,24", 1))
    monkeypatch.setattr("mcls.data.load.datasets_dir", lambda: tmp_path)
    code, out, err = mcls("data", "verify")
    assert code == 1
    assert "tae: NOT OK (shipped)" in err
    assert "iris: ok (shipped)" in out


def test_fetch_all_from_a_mirror_of_the_raw_files(mcls, cache: Path, raw_dir: Path, serve: Callable) -> None:
    """Eleven UCI sets, USPS and Indian Pines come; Pavia's image is on no mirror: listed, exit code 1."""
    mirror = serve({path.name: path.read_bytes() for path in raw_dir.iterdir()})
    code, out, err = mcls("data", "fetch", "--all", "--remote", "--mirror", mirror)
    assert code == 1
    assert "1 could not be fetched:" in err
    assert "cannot get PaviaU.mat" in err
    fetched = [line.split(":")[0] for line in out.splitlines() if ": fetched, " in line]
    with_files = [name for name in card_names() if load_card(name).files]
    assert fetched == [name for name in with_files if name != "pavia-university"]
    assert len(fetched) == 13
    for name in fetched:
        # Read back from the cache: the same table as the shipped copy's, or the card's.
        assert is_cached(load_card(name))
        assert fetch(load_card(name)).fingerprint == load_card(name).fingerprint


def damage_flipped(raw: bytes) -> bytes:
    return raw[:9] + bytes([raw[9] ^ 4]) + raw[10:]


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (damage_flipped, "found 4551 bytes with sha256"),
        (lambda raw: raw[:2000], "found 2000 bytes"),
        (lambda raw: b"<html><h1>403 Forbidden</h1></html>", "it looks like a web page"),
        (lambda raw: None, "404 Client Error"),
    ],
    ids=["flipped", "truncated", "page", "404"],
)
def test_a_named_set_that_fails_exits_2_and_the_cache_stays(
    damage, complaint: str, mcls, cache: Path, iris_raw: bytes, serve: Callable, snapshot: Callable
) -> None:
    put_in_cache(IRIS, {"iris.data": iris_raw})
    before = snapshot(cache)
    mirror = serve({"iris.data": damage(iris_raw)})
    code, out, err = mcls("data", "fetch", "iris", "--remote", "--mirror", mirror)
    assert (code, out) == (2, "")
    assert "cannot get iris.data" in err
    assert complaint in err
    assert err.count("\n") == 1
    assert snapshot(cache) == before


def test_all_goes_on_past_a_refused_file_and_exits_2(
    mcls, cache: Path, iris_raw: bytes, serve: Callable, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcls.data.cards.card_names", lambda: ["glass", "iris", "wine"])
    mirror = serve({"iris.data": iris_raw, "glass.data": b"<html>"})
    code, out, err = mcls("data", "fetch", "--all", "--remote", "--mirror", mirror)
    assert code == 2
    assert out.startswith("iris: fetched")
    assert "2 could not be fetched:" in err
    assert "glass.data" in err
    assert "wine.data" in err


def test_without_remote_nothing_shipped_is_downloaded(mcls, cache: Path) -> None:
    code, out, _ = mcls("data", "fetch", "iris", "usps", "artificial-1")
    assert code == 0
    assert out.splitlines()[0] == "iris: shipped with mcls (--remote downloads it all the same)"
    assert not cache.exists()


def test_a_fetch_to_a_full_disk_is_one_line_and_leaves_the_cache_as_it_was(
    mcls, cache: Path, iris_raw: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mirror").mkdir()
    (tmp_path / "mirror/iris.data").write_bytes(iris_raw)

    def full(handle: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", full)
        code, out, err = mcls("data", "fetch", "iris", "--remote", "--mirror", (tmp_path / "mirror").as_uri())
    assert (code, out) == (2, "")
    assert "No space left on device" in err
    assert "Traceback" not in err
    assert [path for path in cache.rglob("*") if path.is_file()] == []
    assert mcls("data", "fetch", "iris", "--remote", "--mirror", (tmp_path / "mirror").as_uri())[0] == 0


def test_fetch_uses_the_cache_unless_remote(mcls, cache: Path, iris_raw: bytes) -> None:
    put_in_cache(IRIS, {"iris.data": iris_raw})
    assert mcls("data", "fetch", "iris")[:2] == (0, "iris: in the cache\n")
    assert mcls("data", "fetch", "iris", "--remote")[0] == 2  # no address answers here


@pytest.mark.parametrize(
    ("args", "complaint"),
    [
        ([], "name the data sets to fetch, or give --all"),
        (["iris", "--all"], "name the data sets to fetch, or give --all"),
        (["cohn-kanade"], "mcls data import cohn-kanade FOLDER"),
        (["usps", "--remote"], "usps has no address"),
        (["iris", "--remote", "--mirror", "/tmp"], "must begin with http://"),
    ],
)
def test_what_cannot_be_fetched_says_why(args: list[str], complaint: str, mcls, cache: Path) -> None:
    code, _, err = mcls("data", "fetch", *args)
    assert code == 2
    assert complaint in err


def test_import_takes_a_file(mcls, cache: Path, tmp_path: Path, iris_raw: bytes) -> None:
    (tmp_path / "mine.txt").write_bytes(iris_raw)
    assert mcls("data", "import", "iris", str(tmp_path / "mine.txt"))[:2] == (0, "iris: imported\n")
    assert cached_path(IRIS, IRIS.files[0]).read_bytes() == iris_raw
    (tmp_path / "mine.txt").write_bytes(iris_raw[1:])
    code, _, err = mcls("data", "import", "iris", str(tmp_path / "mine.txt"))
    assert code == 2
    assert "mine.txt is not the iris.data that is expected" in err


def test_import_says_what_is_missing(mcls, cache: Path, raw_dir: Path) -> None:
    out = mcls("data", "import", "pavia-university", str(raw_dir / "PaviaU_gt.mat"))[1]
    assert out == "pavia-university: imported; still missing: PaviaU.mat\n"


def test_import_takes_the_array_of_a_matlab_file(mcls, cache: Path, raw_dir: Path, tmp_path: Path) -> None:
    """The site serves Indian Pines as MATLAB files; they become the very bytes whose checksum the card has."""
    for name in ("corrected", "gt"):
        array = np.load(raw_dir / f"Indian_pines_{name}.npy")
        stored = {f"indian_pines_{name}": array.astype(float) if name == "gt" else array}
        savemat(tmp_path / f"Indian_pines_{name}.mat", stored, do_compression=True)
    given = [str(tmp_path / f"Indian_pines_{name}.mat") for name in ("corrected", "gt")]
    assert mcls("data", "import", "indian-pines", *given)[:2] == (0, "indian-pines: imported\n")
    stored["indian_pines_gt"][0, 0] += 1
    savemat(tmp_path / "Indian_pines_gt.mat", stored)
    code, _, err = mcls("data", "import", "indian-pines", str(tmp_path / "Indian_pines_gt.mat"))
    assert code == 2
    assert "is not the Indian_pines_gt.npy that is expected" in err


def test_help_has_examples(mcls) -> None:
    for command in ("list", "show", "fetch", "verify", "import"):
        code, out, _ = mcls("data", command, "--help")
        assert code == 0
        assert f"mcls data {command}" in " ".join(out.split())


def test_the_commands_load_nothing_heavy() -> None:
    code = "import sys, mcls.cli.data; print({'numpy', 'pydantic', 'rich', 'pooch'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
