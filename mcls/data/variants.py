"""Options of a card: the variants the papers need, made from the whole table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from mcls.data.cards import Card
from mcls.data.dataset import Dataset
from mcls.errors import McLsError, unknown_name


def _vowel_rows(data: Dataset, value: str) -> Dataset:
    return data.take_rows(data.extra["split"] == "train") if value == "train" else data


def _ecoli_classes(data: Dataset, value: str) -> Dataset:
    # Two classes of two rows each: no half of them can be trained on (xue2013 leaves them out).
    rare = [data.classes.index(name) for name in ("imL", "imS")]
    return data.take_rows(~np.isin(data.y, rare)) if value == "6" else data


def _iris_features(data: Dataset, value: str) -> Dataset:
    if value == "all":
        return data
    return data.take_features([data.feature_names.index(name) for name in ("sepal_length", "petal_width")])


def _usps_resample(data: Dataset, value: str) -> Dataset:
    # Every second pixel of both axes, from the corner: 16×16 → 8×8.
    return data.take_features(np.arange(256).reshape(16, 16)[::2, ::2].ravel()) if value == "decimate" else data


def _letter_letters(data: Dataset, value: str) -> Dataset:
    # The classes are in the order of the alphabet.
    return data if int(value) == data.n_classes else data.take_rows(data.y < int(value))


def _pavia_crop(data: Dataset, value: str) -> Dataset:
    if value == "full":
        return data
    # The scene of noumir2011: the top-left 300×300 pixels without the two classes that hardly occur there.
    corner = (data.extra["row"] < 300) & (data.extra["column"] < 300)
    absent = [data.classes.index(name) for name in ("Gravel", "Bitumen")]
    return data.take_rows(corner & ~np.isin(data.y, absent))


# What each option named in a card does: (card, option) -> function of the whole table and the value.
VARIANTS: dict[tuple[str, str], Callable[[Dataset, str], Dataset]] = {
    ("vowel", "rows"): _vowel_rows,
    ("ecoli", "classes"): _ecoli_classes,
    ("iris", "features"): _iris_features,
    ("usps", "resample"): _usps_resample,
    ("usps-esl", "resample"): _usps_resample,
    ("letter", "letters"): _letter_letters,
    ("pavia-university", "crop"): _pavia_crop,
}

# Options of every set.
ROW_OPTIONS = {
    "first": "the first n rows",
    "sample": "n rows drawn at random without replacement, in the table's order",
    "seed": "the seed of that draw (0 unless given)",
}


def resolve_options(card: Card, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check options against a card and fill in its defaults; nothing is read for this.

    Examples
    --------
    >>> from mcls.data.cards import load_card
    >>> resolve_options(load_card("vowel"), {"first": 100})
    {'rows': 'train', 'first': 100}
    """
    known = [*card.options, *ROW_OPTIONS, *(["path"] if card.origin == "folder" else [])]
    for key in given:
        if key not in known:
            raise unknown_name(f"option of data set {card.name}", key, known)
    resolved: dict[str, Any] = {}
    for key, option in card.options.items():
        value = str(given.get(key, option.default))
        if value not in option.choices:
            raise McLsError(f"{card.name}: {key} is '{value}'; it can be {' or '.join(option.choices)}")
        resolved[key] = value
    if "first" in given and "sample" in given:
        raise McLsError(f"{card.name}: give first or sample, not both")
    if "seed" in given and "sample" not in given:
        raise McLsError(f"{card.name}: seed belongs to sample; give sample too")
    for key in ("first", "sample"):
        if key in given:
            resolved[key] = _whole(card, key, given[key], least=1)
    if "sample" in given:
        resolved["seed"] = _whole(card, "seed", given.get("seed", 0), least=0)
    if "path" in given:
        resolved["path"] = str(given["path"])
    return resolved


def _whole(card: Card, key: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise McLsError(f"{card.name}: {key} is {value!r}; it must be a whole number from {least} up")
    return int(value)


def apply_options(data: Dataset, options: Mapping[str, Any]) -> Dataset:
    """Make the variant that resolved options ask for; the card's own options come before first and sample."""
    variant = data
    for (card, key), make in VARIANTS.items():
        if card == data.name and key in options:
            variant = make(variant, options[key])
    wanted = options.get("first", options.get("sample"))
    if wanted is not None and wanted > variant.n:
        raise McLsError(f"{data.name}: {wanted} rows are asked for, the table has {variant.n}")
    if "first" in options:
        variant = variant.take_rows(np.arange(wanted))
    elif "sample" in options:
        rng = np.random.default_rng(options["seed"])
        variant = variant.take_rows(np.sort(rng.choice(variant.n, size=wanted, replace=False)))
    return replace(variant, options=dict(options))
