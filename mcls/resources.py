"""Where the files that travel with mcls are: inside an installed package, or at the top of a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def _shipped(folder: str) -> Path:
    installed = _PACKAGE / "_shipped" / folder
    return installed if installed.is_dir() else _PACKAGE.parent / folder


def datasets_dir() -> Path:
    """Folder of the data cards and the shipped tables."""
    return _shipped("datasets")


def configs_dir() -> Path:
    """Folder of the shipped experiment configs."""
    return _shipped("configs")


def paper_tables_dir() -> Path:
    """Folder of the published figures, typed out."""
    return _PACKAGE / "reporting" / "paper_tables"
