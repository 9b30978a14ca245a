"""Hostile mirrors: a server on this machine whose answers are damaged, endless, slow, silent or lies."""

from __future__ import annotations

import contextlib
import gzip
import os
import random
import signal
import socket
import threading
import time
import zlib
from pathlib import Path

from . import forks
from .attack import Tally
from .inputs import Mutated, judged
from .mutate import ODD_TEXTS, damaged, text
from .places import Place
from .steps import iris_raw

_ENDLESS = 8 * 2**20  # bytes, after which even an endless answer ends
_STATUS = (
    "200 OK", "200", "206 Partial Content", "204 No Content", "304 Not Modified", "301 Moved", "302 Found",
    "307 Go", "404 Not Found", "416 No", "429 Slow", "500 Oh", "503 No", "99 Low", "1000 High", "-1 Odd", "abc",
    "",
)  # fmt: skip


class Mirrors(Mutated):
    """``data fetch`` from a mirror that answers what it likes."""

    name = "mirrors"
    what = "hostile answers of a mirror to data fetch"
    full = 800
    short = 5
    lanes = 4  # most of the time is spent waiting for the network

    def prepare(self, place: Place) -> None:
        """Start the server, a process of its own."""
        self._answers = place.root / "answers"
        self._answers.mkdir()
        listening = socket.create_server(("127.0.0.1", 0), backlog=64)
        self._port = listening.getsockname()[1]
        main = os.getpid()
        if os.fork() == 0:
            os.setsid()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            threading.Thread(target=_end_with, args=(main,), daemon=True).start()
            _serve(listening, self._answers)
        listening.close()

    def attempt(self, trial: int, place: Place, r: random.Random) -> Tally:
        """One answer, given as often as it is asked for."""
        (self._answers / f"{trial}.raw").write_bytes(_answer(r, self._port, trial))
        good = b"an old file"
        if r.random() < 0.5:
            (place.root / "cache" / "iris").mkdir()
            (place.root / "cache" / "iris" / "iris.data").write_bytes(iris_raw())
            good = iris_raw()
        mirror = f"http://127.0.0.1:{self._port}/{trial}"
        limit = forks.limited(400, 15)

        def hurry() -> None:
            limit()
            import mcls.data.fetch as fetch

            fetch.TIMEOUT, fetch.PAUSE = (2, 2), 0.0

        args = ("data", "fetch", "iris", "--remote", "--mirror", mirror)
        ended, faults = judged(place, *args, makes=("cache",), whole=False, before=hurry)
        kept = place.root / "cache" / "iris" / "iris.data"
        if kept.exists() and kept.read_bytes() not in (good, iris_raw()):
            faults.append("what is in the cache is not the file")
        if ended.code == 0 and not (kept.exists() and kept.read_bytes() == iris_raw()):
            faults.append("exit code 0, but the file is not in the cache")
        left = [str(path) for path in (place.root / "cache").rglob(".*")]
        return Tally(1, faults + [f"left in the cache: {left}"] * bool(left))


def _answer(r: random.Random, port: int, trial: int) -> bytes:
    """What the server sends, after a line that says how."""
    body, kind = iris_raw(), r.random()
    how = r.choices(("whole", "dripping", "silent", "endless", "reset"), (30, 1, 1, 1, 2))[0]
    if kind < 0.1:  # a good mirror
        return f"{how}\n".encode() + b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    if kind < 0.5:
        body = damaged(r, body)
    headers = {"Content-Length": str(len(body)), "Content-Type": "text/plain"}
    for _ in range(r.randint(0, 3)):
        name = r.choice(
            (
                "Content-Length",
                "Content-Encoding",
                "Transfer-Encoding",
                "Location",
                "Set-Cookie",
                "X",
                text(r)[:50],
            )
        )
        headers[name] = r.choice(
            ("0", "1", "-1", "99999999999999999999", "chunked", "gzip", "deflate", "identity", "gzip, gzip", "br", "",
             "file:///etc/passwd", f"http://127.0.0.1:{port}/{trial}/iris.data", "http://127.0.0.1:9/x", "//",
             "\x1b[2J", "http://192.0.2.1/x", "ftp://127.0.0.1/x", "http://[::1", "a" * 70_000, r.choice(ODD_TEXTS))
        )  # fmt: skip
    coding = headers.get("Content-Encoding", "")
    if "gzip" in coding and r.random() < 0.5:
        body = gzip.compress(body if r.random() < 0.5 else bytes(10**7))
    elif coding == "deflate" and r.random() < 0.5:
        body = zlib.compress(bytes(10**7))
    if headers.get("Transfer-Encoding") == "chunked" and r.random() < 0.7:
        size = r.choice((b"%x" % len(body), b"ffffffffffffffff", b"-1", b"zz", b"0"))
        body = size + b"\r\n" + body + b"\r\n0\r\n\r\n"
    lines = [f"HTTP/1.1 {r.choice(_STATUS[:2] if r.random() < 0.6 else _STATUS)}"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    lines *= r.choice((1, 1, 1, 1, 40))
    head = "\r\n".join(lines).encode("utf-8", "replace") + b"\r\n\r\n"
    if r.random() < 0.15:
        head = damaged(r, head)
    return f"{how}\n".encode() + head + body


def _serve(listening: socket.socket, answers: Path) -> None:
    while True:
        connection, _ = listening.accept()
        threading.Thread(target=_reply, args=(connection, answers), daemon=True).start()


def _reply(connection: socket.socket, answers: Path) -> None:
    with connection, contextlib.suppress(OSError, ValueError, IndexError):
        connection.settimeout(30)
        asked = connection.recv(65536).split(b" ")[1].decode().split("/")[1]
        how, _, raw = (answers / f"{asked}.raw").read_bytes().partition(b"\n")
        if how == b"silent":
            time.sleep(20)
        elif how == b"dripping":
            for i in range(0, min(len(raw), 600), 20):
                connection.sendall(raw[i : i + 20])
                time.sleep(0.2)
        elif how == b"endless":
            connection.sendall(raw.replace(b"Content-Length", b"X-Length"))
            for _ in range(_ENDLESS // 65536):
                connection.sendall(bytes(65536))
        elif how == b"reset":
            connection.sendall(raw[: len(raw) // 2])
        else:
            connection.sendall(raw)


def _end_with(main: int) -> None:
    while os.getppid() == main:
        time.sleep(0.5)
    os._exit(0)
