"""Reading everything that is on this machine again, to see whether it is still what its card says."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import NamedTuple

from mcls.data.cache import cached_path, check_content, is_cached, read_bounded
from mcls.data.cards import Card, card_names, load_card
from mcls.data.load import parse_files, read_folder, read_generated, read_shipped
from mcls.errors import McLsError


class Check(NamedTuple):
    """One table: the set, where it was read from, and what is wrong with it (None: nothing)."""

    name: str
    where: str
    problem: str | None


def verify() -> Iterator[Check]:
    """Re-read every shipped, generated and cached table and compare it with its card."""
    for name in card_names():
        card = load_card(name)
        if card.origin == "shipped":
            yield Check(name, "shipped", _problem(read_shipped, card))
        if card.origin == "generated":
            yield Check(name, "generated", _problem(read_generated, card))
        if is_cached(card, partly=True):
            yield Check(name, "cache", _problem(_read_cached, card))


def _problem(read: Callable[[Card], object], card: Card) -> str | None:
    try:
        read(card)
    except McLsError as error:
        return str(error)
    return None


def _read_cached(card: Card) -> None:
    if card.origin == "folder":
        read_folder(card, None)
        return
    contents = {}
    for file in card.files:
        path = cached_path(card, file)
        if os.path.isfile(path):
            contents[file.name] = check_content(read_bounded(path, file), file, str(path))
    # A set of two files may have come by halves: each file was checked, there is no table yet.
    if len(contents) == len(card.files):
        parse_files(card, contents, "the cache")
