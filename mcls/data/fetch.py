"""Getting files over the network: each address in turn, checked before they enter the cache."""

from __future__ import annotations

import io
import os
import re
import shutil
import threading
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote, urlparse
from urllib.request import url2pathname

from mcls.data.cache import RefusedError, cached_files, check_content, put_in_cache
from mcls.data.cards import Card, RawFile, Source
from mcls.data.dataset import Dataset
from mcls.data.matlab import matlab_to_npy
from mcls.errors import McLsError
from mcls.files import require_file

TIMEOUT = (10, 30)  # seconds to connect, seconds between two pieces
ATTEMPTS = 2  # for what may pass: no connection, a server in trouble
PAUSE = 1.0  # seconds between two attempts
GRACE = 60.0  # seconds that an address has in all, and
SLOWEST = 2**16  # one more for so many bytes: a server that sends one byte now and then is left
MAX_ARCHIVE = 64 * 2**20  # a zip's size is on no card; the largest here is below 1 MB


class UnavailableError(McLsError):
    """No address gave the file."""


class DownloadBar(Protocol):
    """What pooch asks of a progress bar."""

    total: int

    def update(self, n: int) -> None: ...
    def reset(self) -> None: ...
    def close(self) -> None: ...


def fetch(
    card: Card,
    mirror: str | None = None,
    again: bool = False,
    progress: Callable[[str], DownloadBar] | None = None,
) -> Dataset:
    """Download a set's files, check them and the table they parse to, then put them in the cache.

    Parameters
    ----------
    card : Card
        A card with ``files``.
    mirror : str, optional
        Address of a flat folder of the files (http, https or file), tried first; ``MCLS_MIRROR`` if None.
    again : bool
        Download also what the cache has.
    progress : callable, optional
        From a file's name to a progress bar.

    Raises
    ------
    UnavailableError, RefusedError
        No address gave a file, or what came was not the file; the cache is as it was before.
    """
    from mcls.data.load import parse_files

    if not card.files:
        raise McLsError(f"{card.name} has no address to download it from")
    mirror = mirror or os.environ.get("MCLS_MIRROR") or None
    contents = {} if again else cached_files(card)
    missing = [file for file in card.files if file.name not in contents]
    new = {file.name: _first_good(card, file, mirror, progress) for file in missing}
    data = parse_files(card, contents | new, "the network")
    put_in_cache(card, new)
    return data


def addresses(file: RawFile, mirror: str | None) -> list[Source]:
    """List where a file may be: the mirror first, then the card's addresses."""
    if mirror is None:
        return list(file.sources)
    if urlparse(mirror).scheme not in {"http", "https", "file"}:
        raise McLsError(f"the mirror '{mirror}' must begin with http://, https:// or file://")
    return [Source(url=f"{mirror.rstrip('/')}/{quote(file.name)}"), *file.sources]


def _first_good(
    card: Card, file: RawFile, mirror: str | None, progress: Callable[[str], DownloadBar] | None
) -> bytes:
    problems: list[McLsError] = []
    for source in addresses(file, mirror):
        bar = progress(file.name) if progress else None
        try:
            as_it_is = source.member is None and source.matlab is None
            content = download(source.url, file.bytes if as_it_is else MAX_ARCHIVE, bar)
            if source.member is not None:
                content = read_member(content, source.member, file, source.url)
            if source.matlab is not None:
                content = read_matlab(content, source.matlab, file, source.url)
            return check_content(content, file, source.url)
        except McLsError as error:
            problems.append(error)
        finally:
            if bar is not None:
                bar.close()
    refused = any(isinstance(problem, RefusedError) for problem in problems)
    raise (RefusedError if refused else UnavailableError)(
        f"{card.name}: cannot get {file.name}: {'; '.join(map(str, problems))}. "
        f"If you have the file: mcls data import {card.name} PATH"
    )


def read_member(archive: bytes, member: str, file: RawFile, where: str) -> bytes:
    """Read one member of a zip archive in memory, by its exact name and no longer than the card says."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive)) as bundle, bundle.open(member) as stream:
            return stream.read(file.bytes + 1)
    except KeyError:
        raise RefusedError(f"{where} has no member {member}") from None
    except Exception as error:  # zipfile and zlib raise whatever the damaged bytes lead them to
        raise RefusedError(f"{where} is not a readable zip archive: {error}") from None


def read_matlab(content: bytes, name: str, file: RawFile, where: str) -> bytes:
    """Turn one array of a MATLAB file into the NumPy file that the card describes."""
    try:
        return matlab_to_npy(content, name, file.bytes)
    except McLsError as error:
        raise RefusedError(f"{where}: {error}") from None


def download(url: str, limit: int, bar: DownloadBar | None = None) -> bytes:
    """Download at most one byte more than ``limit``, in bounded time; try again what may pass."""
    seconds = GRACE + limit / SLOWEST
    ended: list[bytes | Exception] = []

    def work() -> None:
        try:
            ended.append(_persist(url, limit, bar))
        except Exception as error:
            ended.append(error)

    # In a thread, because no timeout covers the whole: names, greetings, headers and pieces each have their own.
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    thread.join(seconds)
    if not ended:
        raise UnavailableError(f"{url}: too slow, not done after {seconds:.0f} seconds")
    if isinstance(ended[0], Exception):
        raise ended[0]
    return ended[0]


def _persist(url: str, limit: int, bar: DownloadBar | None) -> bytes:
    for attempt in range(1, ATTEMPTS + 1):
        buffer = _Bounded(limit)
        try:
            _copy(url, buffer, bar)
            break
        except _MayPassError as error:
            if attempt == ATTEMPTS:
                raise UnavailableError(f"{url}: {error}") from None
            time.sleep(PAUSE)
    return buffer.getvalue()


class _MayPassError(Exception):
    """A failure worth another attempt."""


class _FullError(Exception):
    """The file is longer than it can be."""


class _Bounded(io.BytesIO):
    """A buffer that stops one byte past its limit, so that no server can fill the memory."""

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.room = limit + 1

    def write(self, piece: Any) -> int:
        written = super().write(piece[: self.room])
        self.room -= written
        if self.room <= 0:
            raise _FullError
        return written


def _copy(url: str, out: _Bounded, bar: DownloadBar | None) -> None:
    try:
        if urlparse(url).scheme == "file":
            path = Path(url2pathname(urlparse(url).path))
            require_file(path)
            with path.open("rb") as stream:
                shutil.copyfileobj(stream, out)
        else:
            _copy_http(url, out, bar)
    except _FullError:
        return  # too long: the checksum will say so
    except OSError as error:  # requests' own errors are handled in _copy_http
        raise UnavailableError(f"{url}: {error.strerror or error}") from None


def _copy_http(url: str, out: _Bounded, bar: DownloadBar | None) -> None:
    import requests
    from pooch import HTTPDownloader

    downloader = HTTPDownloader(
        progressbar=bar or False,
        chunk_size=2**16,
        timeout=TIMEOUT,
        # A .gz must arrive as the file it is, not be unpacked on the way as a transfer encoding.
        headers={"User-Agent": "mcls (data fetcher)", "Accept-Encoding": "identity"},
    )
    try:
        downloader(url, out, None)
    except requests.HTTPError as error:
        answer = str(error).split(" for url")[0]  # "404 Client Error: Not Found"
        if answer.startswith(("5", "429")):
            raise _MayPassError(answer) from None
        raise UnavailableError(f"{url}: {answer}") from None
    except (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError) as error:
        raise _MayPassError(_reason(error)) from None
    except (requests.RequestException, ValueError) as error:  # headers that are not HTTP break the parsers
        raise UnavailableError(f"{url}: {error}") from None


def _reason(error: Exception) -> str:
    """Give the innermost words of a chain of network errors: the outer ones repeat the address."""
    text = re.split(r"Connection broken: |\): ", str(error))[-1].split("', ")[0]
    text = re.sub(r"[\"')]+$", "", text)
    return f"no connection ({text}{')' * text.count('(')})"
