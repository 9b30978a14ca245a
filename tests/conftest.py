"""Fixtures for everything that touches files outside the repository or the network."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from mcls.resources import datasets_dir


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the long tests first."""
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


@pytest.fixture(scope="session", autouse=True)
def no_lines_of_progress() -> Iterator[None]:
    """Say nothing of how far a command is, however slow the machine: tests count the lines of what it prints."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("mcls.cli.progress.PATIENCE", 600.0)
        yield


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of raw source files and published figures, which is not part of the repository."""
    beside = Path(__file__).resolve().parents[2] / "shared"
    folder = Path(os.environ.get("MCLS_SHARED", beside))
    if not (folder / "data" / "raw").is_dir():
        pytest.skip(
            f"the raw source files are not on this machine (looked in {folder}; MCLS_SHARED names another)"
        )
    return folder


@pytest.fixture
def raw_dir(shared_dir: Path) -> Path:
    """The original files as their publishers serve them."""
    return shared_dir / "data" / "raw"


@pytest.fixture
def iris_raw() -> bytes:
    """UCI's iris.data, put together again from the shipped table (its checksum is on the card)."""
    lines = (datasets_dir() / "iris.csv").read_text().splitlines()[1:]
    rows = [line.rsplit(",", 1) for line in lines]
    return "".join(f"{values},Iris-{name}\n" for values, name in rows).encode() + b"\n"


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, no mirror, no pause between attempts, and no way out to the real network."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MCLS_CACHE", str(folder))
    monkeypatch.delenv("MCLS_MIRROR", raising=False)
    monkeypatch.setattr("mcls.data.fetch.PAUSE", 0.0)
    for name in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # the discard port: refused at once
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.setenv(name, "127.0.0.1")
    return folder


Answer = bytes | Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def serve() -> Iterator[Callable[[dict[str, Answer]], str]]:
    """Start a real HTTP server over files in memory; a function as content writes its own answer."""
    servers = []

    def start(files: dict[str, Answer]) -> str:
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                content = files.get(self.path.lstrip("/"))
                if callable(content):
                    content(self)
                elif content is None:
                    self.send_error(404)
                else:
                    self.send_response(200)
                    self.send_header("Content-Length", str(len(content)))
                    self.end_headers()
                    self.wfile.write(content)

            def log_message(self, *args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_port}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def folder_content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture
def snapshot() -> Callable[[Path], dict[str, bytes]]:
    """Every file below a folder with its content, to compare before and after."""
    return folder_content
