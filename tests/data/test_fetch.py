"""Downloads against a real HTTP server in a thread; the card's own addresses lead nowhere here."""

from __future__ import annotations

import io
import os
import threading
import zipfile
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest

from mcls.data import load_card, load_dataset
from mcls.data.cache import RefusedError, cached_path, put_in_cache
from mcls.data.cards import Card, Source
from mcls.data.fetch import UnavailableError, addresses, fetch, read_member
from mcls.data.importing import import_files
from mcls.errors import McLsError

IRIS = load_card("iris")
PAGE = b"<!DOCTYPE html><html><body>Access denied</body></html>"
Serve = Callable[[dict], str]


def card_at(*sources: Source) -> Card:
    """Iris with other addresses."""
    return IRIS.model_copy(update={"files": [IRIS.files[0].model_copy(update={"sources": list(sources)})]})


def zipped(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name.replace("__", "."), content)
    return buffer.getvalue()


def test_a_mirror_gives_the_file(cache: Path, serve: Serve, iris_raw: bytes) -> None:
    data = fetch(IRIS, serve({"iris.data": iris_raw}))
    assert data.fingerprint == IRIS.fingerprint
    assert cached_path(IRIS, IRIS.files[0]).read_bytes() == iris_raw
    assert [path.name for path in cache.iterdir()] == ["iris"]


def test_the_environment_names_a_mirror(
    cache: Path, serve: Serve, iris_raw: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MCLS_MIRROR", serve({"iris.data": iris_raw}) + "/")
    assert fetch(IRIS).fingerprint == IRIS.fingerprint


def test_a_folder_is_a_mirror(cache: Path, tmp_path: Path, iris_raw: bytes) -> None:
    folder = tmp_path / "my files"
    folder.mkdir()
    (folder / "iris.data").write_bytes(iris_raw)
    assert fetch(IRIS, folder.as_uri()).fingerprint == IRIS.fingerprint
    with pytest.raises(UnavailableError, match=r"wine\.data.*No such file"):
        fetch(load_card("wine"), folder.as_uri())


def test_a_mirror_needs_a_known_scheme(cache: Path) -> None:
    with pytest.raises(McLsError, match="must begin with http://, https:// or file://"):
        fetch(IRIS, "/home/me/data")


DAMAGED = {
    "flipped": (lambda raw: raw[:100] + bytes([raw[100] ^ 1]) + raw[101:], RefusedError, "found 4551 bytes"),
    "truncated": (lambda raw: raw[:-1], RefusedError, "found 4550 bytes"),
    "longer": (lambda raw: raw + b"\n", RefusedError, "found more than 4551 bytes"),
    "empty": (lambda raw: b"", RefusedError, "found 0 bytes"),
    "page": (lambda raw: PAGE, RefusedError, "looks like a web page"),
    "404": (lambda raw: None, UnavailableError, "404 Client Error"),
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("cached_before", [True, False])
def test_a_damaged_file_is_refused_and_the_cache_stays(
    damage: str, cached_before: bool, cache: Path, serve: Serve, iris_raw: bytes, snapshot: Callable
) -> None:
    if cached_before:
        put_in_cache(IRIS, {"iris.data": iris_raw})
    before = snapshot(cache)
    make, kind, complaint = DAMAGED[damage]
    with pytest.raises(kind, match=r"cannot get iris\.data") as caught:
        fetch(IRIS, serve({"iris.data": make(iris_raw)}), again=True)
    assert complaint in str(caught.value)
    assert snapshot(cache) == before


def test_each_address_is_tried_in_turn(cache: Path, serve: Serve, iris_raw: bytes) -> None:
    base = serve({"page": PAGE, "good": iris_raw})
    card = card_at(Source(url=f"{base}/absent"), Source(url=f"{base}/page"), Source(url=f"{base}/good"))
    assert fetch(card).fingerprint == IRIS.fingerprint


def test_the_mirror_comes_first(iris_raw: bytes) -> None:
    urls = [source.url for source in addresses(IRIS.files[0], "http://mirror.example/data/")]
    assert urls[0] == "http://mirror.example/data/iris.data"
    assert urls[1:] == [source.url for source in IRIS.files[0].sources]


def test_a_server_in_trouble_is_asked_again(cache: Path, serve: Serve, iris_raw: bytes) -> None:
    asked = []

    def busy_once(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        if len(asked) == 1:
            handler.send_error(503)
        else:
            handler.send_response(200)
            handler.end_headers()
            handler.wfile.write(iris_raw)

    assert fetch(card_at(Source(url=serve({"iris.data": busy_once}) + "/iris.data"))).n == 150
    assert len(asked) == 2


@pytest.mark.parametrize(("status", "times"), [(500, 2), (429, 2), (404, 1), (403, 1)])
def test_only_what_may_pass_is_tried_again(status: int, times: int, cache: Path, serve: Serve) -> None:
    asked = []

    def refuse(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        handler.send_error(status)

    with pytest.raises(UnavailableError, match=str(status)):
        fetch(card_at(Source(url=serve({"iris.data": refuse}) + "/iris.data")))
    assert len(asked) == times


def test_a_connection_that_breaks_is_no_file(cache: Path, serve: Serve, iris_raw: bytes) -> None:
    def half(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(iris_raw)))
        handler.end_headers()
        handler.wfile.write(iris_raw[:2000])
        handler.close_connection = True

    with pytest.raises(
        UnavailableError, match=r"no connection \(IncompleteRead\(2000 bytes read, 2551 more expected\)\)"
    ):
        fetch(card_at(Source(url=serve({"iris.data": half}) + "/iris.data")))
    assert list(cache.rglob("*.data")) == []


@pytest.mark.parametrize(
    "status, name, value",
    [(200, "Content-Length", "gzip"), (302, "Location", "http://[::1")],
)
def test_headers_that_are_no_http_are_no_file(
    status: int, name: str, value: str, cache: Path, serve: Serve, iris_raw: bytes
) -> None:
    def lie(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(iris_raw)

    with pytest.raises(UnavailableError, match=r"iris\.data: "):
        fetch(card_at(Source(url=serve({"iris.data": lie}) + "/iris.data")))


def test_a_silent_server_is_left_alone(cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mcls.data.fetch.TIMEOUT", (5, 0.05))
    done = threading.Event()
    asked = []

    def silent(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        done.wait(10)

    with pytest.raises(UnavailableError, match="timed out"):
        fetch(card_at(Source(url=serve({"iris.data": silent}) + "/iris.data")))
    done.set()
    assert len(asked) == 2


def test_an_endless_answer_is_cut_off(cache: Path, serve: Serve) -> None:
    sent = []

    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        try:
            for _ in range(10_000):  # 640 MB, were it all read
                handler.wfile.write(b"1" * 2**16)
                sent.append(1)
        except OSError:
            pass

    with pytest.raises(RefusedError, match="more than 4551 bytes"):
        fetch(card_at(Source(url=serve({"iris.data": endless}) + "/iris.data")))
    assert len(sent) < 10_000


def test_a_member_of_a_zip_archive(cache: Path, serve: Serve, iris_raw: bytes) -> None:
    archive = zipped(**{"iris__data": iris_raw, "Index": b"a list", "bezdekIris__data": b"other"})
    card = card_at(Source(url=serve({"53/iris.zip": archive}) + "/53/iris.zip", member="iris.data"))
    assert fetch(card).fingerprint == IRIS.fingerprint
    assert cached_path(IRIS, IRIS.files[0]).read_bytes() == iris_raw


def test_archives_that_are_not_right_are_refused(iris_raw: bytes) -> None:
    file = IRIS.files[0]
    good = zipped(iris__data=iris_raw)
    assert read_member(good, "iris.data", file, "z") == iris_raw
    # Only the exact name counts, and nothing is written to a path from the archive.
    with pytest.raises(RefusedError, match=r"z has no member iris\.data"):
        read_member(zipped(**{"folder/iris__data": iris_raw, "../iris__data": iris_raw}), "iris.data", file, "z")
    for broken in (PAGE, good[:-30], good[:60] + b"\xff\xff\xff\xff" + good[64:]):
        with pytest.raises(RefusedError, match="not a readable zip archive"):
            read_member(broken, "iris.data", file, "z")


def test_a_member_that_explodes_is_read_no_further_than_the_card_says() -> None:
    bomb = zipped(iris__data=b"0" * 50_000_000)
    assert len(bomb) < 100_000
    assert len(read_member(bomb, "iris.data", IRIS.files[0], "z")) == IRIS.files[0].bytes + 1


def test_both_files_or_none(cache: Path, serve: Serve, raw_dir: Path, snapshot: Callable) -> None:
    card = load_card("usps-esl")
    train, test = ((raw_dir / file.name).read_bytes() for file in card.files)
    with pytest.raises(RefusedError, match=r"zip\.test\.gz"):
        fetch(card, serve({"zip.train.gz": train, "zip.test.gz": test[:-1]}))
    assert snapshot(cache) == {}
    data = fetch(card, serve({"zip.train.gz": train, "zip.test.gz": test}))
    assert data.fingerprint == card.fingerprint == load_dataset("usps-esl").fingerprint


def test_what_is_cached_is_not_fetched_again(cache: Path, serve: Serve, iris_raw: bytes) -> None:
    put_in_cache(IRIS, {"iris.data": iris_raw})
    assert fetch(IRIS).n == 150  # no address would answer


def test_a_set_without_address(cache: Path) -> None:
    with pytest.raises(McLsError, match="usps has no address"):
        fetch(load_card("usps"))


def test_progress_is_reported(cache: Path, serve: Serve, iris_raw: bytes) -> None:
    class Bar:
        def __init__(self, name: str) -> None:
            self.name, self.total, self.seen, self.closed = name, 0, 0, False
            bars.append(self)

        def update(self, n: int) -> None:
            self.seen += n

        def reset(self) -> None:
            self.seen = 0

        def close(self) -> None:
            self.closed = True

    bars: list[Bar] = []
    fetch(IRIS, serve({"iris.data": iris_raw}), progress=Bar)
    assert [(bar.name, bar.total, bar.seen, bar.closed) for bar in bars] == [("iris.data", 4551, 4551, True)]


@pytest.mark.parametrize("part", ["headers", "content"])
def test_a_server_that_trickles_is_left(
    part: str, cache: Path, serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mcls.data.fetch.GRACE", 0.5, raising=False)
    left = threading.Event()

    def trickle(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        if part == "content":
            handler.end_headers()
        handler.flush_headers()
        for _ in range(60):  # no piece comes later than any timeout allows
            if left.wait(0.05):
                return
            handler.wfile.write(b"x")
            handler.wfile.flush()

    with pytest.raises(UnavailableError, match="too slow, not done after"):
        fetch(card_at(Source(url=serve({"iris.data": trickle}) + "/iris.data")))
    left.set()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name")
def test_a_pipe_in_a_mirror_or_an_import_is_not_waited_for(cache: Path, tmp_path: Path) -> None:
    for name in ("iris.data", "iris.zip"):
        os.mkfifo(tmp_path / name)
        with pytest.raises(McLsError, match="is a pipe"):
            import_files(IRIS, [tmp_path / name])
    with pytest.raises(McLsError, match=r"iris\.data is a pipe"):
        fetch(IRIS, tmp_path.as_uri())
