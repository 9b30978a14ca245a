"""Loading a data set by name: the cache, the shipped copy, the network, in this order."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from mcls.data.artificial import generate
from mcls.data.cache import RefusedError, cached_files, folder_table_path
from mcls.data.cards import Card, load_card
from mcls.data.dataset import Dataset
from mcls.data.faces import read_faces, unpack
from mcls.data.parsers import PARSERS, ParsedTable, canonical, gunzip, usps_npz
from mcls.data.plugged import read_plugged
from mcls.data.variants import apply_options, resolve_options
from mcls.errors import McLsError
from mcls.resources import datasets_dir


def load_dataset(name: str, **options: Any) -> Dataset:
    """Load a data set by the name of its card.

    Parameters
    ----------
    name : str
        A name that ``mcls data list`` shows; a typo gets a suggestion.
    **options
        Options of the card (``mcls data show NAME`` lists them), and for every set ``first=n`` for its
        first n rows or ``sample=n, seed=s`` for a seeded random subset without replacement.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> load_dataset("vowel")
    Dataset(vowel: 528 × 10, 11 classes)
    >>> load_dataset("vowel", rows="all", sample=100, seed=3).n
    100
    """
    card = load_card(name)
    resolved = resolve_options(card, options)
    return apply_options(_whole_table(card, resolved.get("path")), resolved)


def _whole_table(card: Card, path: str | None) -> Dataset:
    if card.origin == "folder":
        return read_folder(card, path)
    if card.origin == "generated":
        return read_generated(card)
    if card.origin == "plugin":
        return read_plugged(card)
    cached = cached_files(card)
    if card.files and len(cached) == len(card.files):
        return parse_files(card, cached, "the cache")
    if card.origin == "shipped":
        return read_shipped(card)
    from mcls.data.fetch import fetch

    return fetch(card)


def read_shipped(card: Card) -> Dataset:
    """Read the table that travels with mcls and check it against its card."""
    path = datasets_dir() / str(card.table)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise McLsError(f"cannot read {path}: {error.strerror}; the installation is incomplete") from None
    try:
        table = _parse_shipped(path.suffix, content, tuple(card.features or ()))
    except Exception as error:  # whatever damaged bytes lead a parser to
        raise McLsError(f"{path} cannot be read: {error}") from None
    return to_dataset(card, table, str(path))


@lru_cache(maxsize=2)
def _parse_shipped(suffix: str, content: bytes, features: tuple[str, ...]) -> ParsedTable:
    """The same bytes are not parsed again for the next option of a data set: two tables are kept."""
    if suffix == ".npz":
        return usps_npz(content)
    return canonical(gunzip(content) if suffix == ".gz" else content, features)


def read_generated(card: Card) -> Dataset:
    """Make an artificial set and check it against its card."""
    return to_dataset(card, generate(card.name), "the generator")


def read_folder(card: Card, path: str | None) -> Dataset:
    """Read a set that only the user can have: from a folder, or from the cache after an import."""
    if path is not None:
        return to_dataset(card, read_faces(Path(path)), path)
    stored = folder_table_path(card)
    if not os.path.isfile(stored):
        raise McLsError(
            f"{card.name} is not free, so mcls cannot fetch it; if you have it, give path=FOLDER "
            f"or run: mcls data import {card.name} FOLDER (mcls data show {card.name} says how to lay it out)"
        )
    return to_dataset(card, unpack(stored), str(stored))


def parse_files(card: Card, contents: Mapping[str, bytes], where: str) -> Dataset:
    """Parse a set's raw files, whose checksums were checked, and check the table against the card."""
    names = [file.name for file in card.files]
    try:
        table = PARSERS[str(card.parser)](*(contents[name] for name in names))
    except Exception as error:
        raise RefusedError(f"{' and '.join(names)} from {where} cannot be parsed: {error}") from None
    return to_dataset(card, table, f"{' and '.join(names)} from {where}")


def to_dataset(card: Card, table: ParsedTable, where: str) -> Dataset:
    """Give a parsed table the card's names and class order, and refuse it if it is not the card's table."""
    n, d = table.X.shape
    if card.shape and card.shape != [n, d]:
        raise RefusedError(f"{card.name}: {where} is {n} × {d}, expected {card.shape[0]} × {card.shape[1]}")
    counts = dict(Counter(table.labels))
    if card.classes and card.classes != counts:
        raise RefusedError(f"{card.name}: {where} has classes {counts}, expected {card.classes}")
    classes = tuple(card.classes or sorted(counts))
    codes = {name: code for code, name in enumerate(classes)}
    data = Dataset(
        name=card.name,
        X=table.X,
        y=np.array([codes[label] for label in table.labels], dtype=np.int64),
        classes=classes,
        feature_names=tuple(card.features or [f"x{j}" for j in range(d)]),
        extra=table.extra,
    )
    if card.fingerprint and card.fingerprint != data.fingerprint:
        raise RefusedError(
            f"{card.name}: {where} is not the table its card describes: "
            f"found fingerprint {data.fingerprint}, expected {card.fingerprint}"
        )
    return data
