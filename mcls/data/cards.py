"""Data cards: what a data set is, where it comes from, and how to know it is the right one."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlparse

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from mcls import plugins
from mcls.data.parsers import PARSERS
from mcls.errors import McLsError, unknown_name
from mcls.resources import datasets_dir

Text = Annotated[str, Field(min_length=1)]
Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
# A file name and nothing else: it is joined to the cache folder and to a mirror's address.
FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$")]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class Source(_Strict):
    """One address of a file.

    With ``member`` it is the address of a zip archive that holds the file, with ``matlab`` of a MATLAB file that
    holds the array of that name: the file is that array as NumPy saves it.
    """

    url: str
    member: Text | None = None
    matlab: Text | None = None

    @field_validator("url")
    @classmethod
    def _known_scheme(cls, url: str) -> str:
        if urlparse(url).scheme not in {"http", "https", "file"}:
            raise ValueError("an address begins with http://, https:// or file://")
        return url


class RawFile(_Strict):
    """A file as its publisher serves it: its name (in a cache, on a mirror), size, checksum, addresses."""

    name: FileName
    bytes: Annotated[int, Field(gt=0)]
    sha256: Sha256
    sources: Annotated[list[Source], Field(min_length=1)]


class Option(_Strict):
    """A variant of a set that a paper needs: the allowed values, each with what it means."""

    default: str
    choices: Annotated[dict[str, Text], Field(min_length=2)]

    @model_validator(mode="after")
    def _default_is_a_choice(self) -> Option:
        if self.default not in self.choices:
            raise ValueError(f"the default '{self.default}' is not one of: {', '.join(self.choices)}")
        return self


class Size(_Strict):
    """How large a table is."""

    rows: Annotated[int, Field(gt=0)]
    features: Annotated[int, Field(gt=0)]
    classes: Annotated[int, Field(ge=2)]

    def __str__(self) -> str:
        return f"{self.rows} rows × {self.features} features, {self.classes} classes"


class Card(_Strict):
    """One data set.

    ``origin`` says how it works: ``shipped`` (a table beside the card), ``generated`` (made on the spot),
    ``download`` (fetched once into the cache), ``folder`` (files only the user can have), ``plugin``. ``shape``,
    ``classes`` (rows per class, in the order of the codes) and ``fingerprint`` describe the whole table,
    before any option; ``by_default`` is what the defaults of the options make of it, where that is less.
    """

    name: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")]
    title: Text
    description: Text
    citation: Text
    licence: Text
    homepage: Text
    origin: Literal["shipped", "generated", "download", "folder", "plugin"]
    table: FileName | None = None
    files: list[RawFile] = []
    parser: Text | None = None
    shape: Annotated[list[Annotated[int, Field(gt=0)]], Field(min_length=2, max_length=2)] | None = None
    features: list[Text] | None = None
    classes: Annotated[dict[str, Annotated[int, Field(gt=0)]], Field(min_length=2)] | None = None
    fingerprint: Sha256 | None = None
    options: dict[str, Option] = {}
    by_default: Size | None = None

    @property
    def size(self) -> Size | None:
        """What is loaded unless an option says otherwise; None where only the user's folder can tell."""
        if self.by_default is not None or self.shape is None or self.classes is None:
            return self.by_default
        return Size(rows=self.shape[0], features=self.shape[1], classes=len(self.classes))

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Card:
        if (self.origin == "shipped") != (self.table is not None):
            raise ValueError("'table' belongs to shipped sets, and only to them")
        if self.origin == "download" and not self.files:
            raise ValueError("a set to download needs 'files'")
        if bool(self.files) != (self.parser is not None):
            raise ValueError("'files' and the 'parser' that reads them come together")
        if self.parser is not None and self.parser not in PARSERS:
            raise unknown_name("parser", self.parser, PARSERS)
        if self.origin in {"shipped", "generated"} and self.fingerprint is None:
            raise ValueError("a set that works offline needs its 'fingerprint'")
        if self.origin not in {"folder", "plugin"} and (self.shape is None or self.classes is None):
            raise ValueError("only a folder of the user's or a plug-in may leave out 'shape' and 'classes'")
        if self.shape and self.classes and self.shape[0] != sum(self.classes.values()):
            raise ValueError(f"shape says {self.shape[0]} rows, classes add up to {sum(self.classes.values())}")
        if self.shape and self.features and self.shape[1] != len(self.features):
            raise ValueError(f"shape says {self.shape[1]} features, {len(self.features)} are named")
        return self


#: Name → card of what plug-ins have registered (see ``mcls.data.plugged``).
PLUGGED: dict[str, Card] = {}


def card_names() -> list[str]:
    """Names of all data sets, in alphabetical order (the file's name is the set's)."""
    names = [path.stem for path in datasets_dir().glob("*.yaml")]
    if not names:
        raise McLsError(f"no data cards in {datasets_dir()}: the installation is incomplete")
    return sorted([*names, *PLUGGED])


def load_card(name: str) -> Card:
    """Read the card of a data set; upper and lower case are the same.

    Examples
    --------
    >>> load_card("iris").shape
    [150, 4]
    """
    known = card_names()
    if name.lower() not in known:
        if plugins.load_entry("data set", name):
            return load_card(name)
        raise unknown_name("data set", name, [*known, *plugins.entry_names("data set")])
    if name.lower() in PLUGGED:
        return PLUGGED[name.lower()]
    return _read(datasets_dir() / f"{name.lower()}.yaml")


@lru_cache
def _read(path: Path) -> Card:
    return parse_card(path.read_text(encoding="utf-8"), path)


def parse_card(text: str, path: Path) -> Card:
    """Check a card's YAML; every complaint names the file and the field."""
    try:
        card = Card.model_validate(yaml.safe_load(text))
    except yaml.YAMLError as error:
        raise McLsError(f"{path}: not valid YAML: {error}") from None
    except ValidationError as error:
        faults = [
            f"{'.'.join(map(str, e['loc'])) or 'card'}: {re.sub('^Value error, ', '', e['msg'])}"
            for e in error.errors()
        ]
        raise McLsError(f"{path}: {'; '.join(faults)}") from None
    if card.name != path.stem:
        raise McLsError(f"{path}: the card is named '{card.name}', the file '{path.stem}'")
    return card
