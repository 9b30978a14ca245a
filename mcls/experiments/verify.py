"""Checking every cell of a folder of results."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mcls.errors import McLsError
from mcls.experiments.claims import Claims
from mcls.experiments.records import NewerFormatError, decode, is_checked
from mcls.experiments.store import Store


@dataclass
class Verdict:
    """What a check found: how many cells are sound, how many of those have no checksum, which are damaged and why."""

    sound: int = 0
    unchecked: int = 0
    newer: int = 0  # written by a later version of mcls: neither read nor damaged
    damaged: dict[Path, str] = field(default_factory=dict)
    removed: int = 0


def verify(folder: Path, repair: bool = False) -> Verdict:
    """Read all cells in and below a folder; with ``repair``, remove what is damaged: the next run repeats it.

    What cannot be read at all is named and stays, and so does a cell that a run has claimed: it is about to be
    replaced.
    """
    verdict = Verdict()
    for store in _stores(folder):
        damaged = []
        for path in map(store.path, store.keys()):
            try:
                raw = path.read_bytes()
                decode(raw, path.stem)
            except NewerFormatError:
                verdict.newer += 1
            except OSError as error:
                verdict.damaged[path] = error.strerror or str(error)
            except ValueError as error:
                verdict.damaged[path] = str(error)
                damaged.append(path)
            else:
                verdict.sound += 1
                verdict.unchecked += not is_checked(raw)
        if repair and damaged:
            with Claims(store.folder) as claims:
                verdict.removed += sum(_remove(path) for path in damaged if claims.take(path.stem))
    return verdict


def _stores(folder: Path) -> Iterator[Store]:
    found = [folder] if folder.name == "cells" else []
    is_folder = os.path.isdir(folder)
    found += sorted(path for path in folder.rglob("cells") if path.is_dir()) if is_folder else []
    if not is_folder or not found:
        raise McLsError(f"there are no cells in {folder}; give a folder of results, such as results")
    yield from map(Store, found)


def _remove(path: Path) -> bool:
    """Remove a claimed file if it is still damaged."""
    try:
        decode(path.read_bytes(), path.stem)
    except OSError:
        return False
    except ValueError:
        try:
            path.unlink()
        except OSError as error:
            raise McLsError(f"cannot remove {path}: {error.strerror}") from None
        return True
    return False
