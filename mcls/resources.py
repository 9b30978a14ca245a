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


def published_files() -> dict[str, Path]:
    """Name → file of every table of published figures, typed out, of all papers."""
    return {path.stem: path for path in sorted(_PACKAGE.glob("papers/*/published/*.csv"))}
