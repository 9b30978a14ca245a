"""Data: cards, sources, cache, parsers and CSV reading."""

from mcls.data.cards import Card, card_names, load_card
from mcls.data.dataset import Dataset
from mcls.data.load import load_dataset
from mcls.data.tables import load_table
from mcls.data.variants import resolve_options

__all__ = ["Card", "Dataset", "card_names", "load_card", "load_dataset", "load_table", "resolve_options"]
