"""Data sets of plug-ins: a function that returns the rows, with what a card says."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from mcls import plugins
from mcls.data.cards import PLUGGED, Card, card_names
from mcls.data.dataset import Dataset
from mcls.errors import McLsError


@dataclass(frozen=True)
class PluggedData:
    """A data set of a plug-in.

    Parameters
    ----------
    name : str
        Small letters, digits and '-'; as configs name it.
    load : callable
        Called without arguments; returns a :class:`~mcls.data.Dataset`, or features (n, d) and labels (n,), as
        scikit-learn's ``load_…(return_X_y=True)`` do.
    title, citation, licence, homepage : str
        For ``mcls data show`` and reports.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> digits = PluggedData("digits", lambda: load_digits(return_X_y=True), title="8×8 digits")
    >>> digits.dataset()
    Dataset(digits: 1797 × 64, 10 classes)
    """

    name: str
    load: Callable[[], Any]
    title: str = "a data set of a plug-in"
    citation: str = "not stated"
    licence: str = "not stated"
    homepage: str = "not stated"

    def card(self) -> Card:
        """The card that commands show."""
        return Card(
            name=self.name,
            title=self.title,
            description=self.title,
            citation=self.citation,
            licence=self.licence,
            homepage=self.homepage,
            origin="plugin",
        )

    def dataset(self) -> Dataset:
        """The whole table."""
        try:
            made = self.load()
            if isinstance(made, Dataset):
                return made
            X, y = made
            labels = np.asarray(y)
            classes, codes = np.unique(labels, return_inverse=True)
            names = tuple(str(name) for name in getattr(X, "columns", [f"x{j}" for j in range(np.shape(X)[1])]))
            data = Dataset(self.name, np.asarray(X, dtype=float), codes, tuple(map(str, classes)), names)
            if not np.isfinite(data.X).all():
                raise McLsError("features must be finite numbers")
            return data
        except Exception as error:
            told = " ".join(f"{type(error).__name__}: {error}".split())
            raise McLsError(f"the data set '{self.name}' of a plug-in cannot be loaded: {told}") from error


_SETS: dict[str, PluggedData] = {}


def register(data: PluggedData) -> None:
    """Add a data set; its name must be new."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", data.name):
        raise McLsError(f"'{data.name}' cannot name a data set; use small letters, digits and '-'")
    if data.name in card_names():
        raise McLsError(f"a data set named '{data.name}' is there already")
    _SETS[data.name], PLUGGED[data.name] = data, data.card()
    plugins.note("data set", data.name)


plugins.registers(PluggedData, register)


def read_plugged(card: Card) -> Dataset:
    """Make the table of a plug-in's data set."""
    return _SETS[card.name].dataset()
