"""Taking files that the user has into the cache, checked like a download."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from mcls.data.cache import (
    RefusedError,
    cached_files,
    check_content,
    folder_table_path,
    put_in_cache,
    read_bounded,
)
from mcls.data.cards import Card, RawFile
from mcls.data.faces import pack, read_faces
from mcls.data.fetch import MAX_ARCHIVE, read_matlab, read_member
from mcls.data.load import parse_files, to_dataset
from mcls.errors import McLsError
from mcls.files import require_file


def import_files(card: Card, paths: Sequence[Path]) -> list[str]:
    """Check the user's files and put them in the cache; return the names of files still missing.

    Parameters
    ----------
    card : Card
        The set they belong to.
    paths : sequence of Path
        Files under any name, zip archives that hold them, or folders where they lie under their own names.
        A set of several files may come in several calls. For cohn-kanade: the folder of images.

    Raises
    ------
    RefusedError
        A given file belongs to none of the card's; the cache is as it was before.
    """
    if card.origin == "folder":
        if len(paths) != 1:
            raise McLsError(f"{card.name} comes as one folder")
        table = read_faces(paths[0])
        to_dataset(card, table, str(paths[0]))
        put_in_cache(card, {folder_table_path(card).name: pack(table)})
        return []
    if not card.files:
        raise McLsError(f"{card.name} works without any file: there is nothing to import")
    new: dict[str, bytes] = {}
    for path in _expand(card, paths):
        name, content = _recognise(card, path)
        new[name] = content
    contents = cached_files(card) | new
    missing = [file.name for file in card.files if file.name not in contents]
    if not missing:
        parse_files(card, contents, "the given files")
    put_in_cache(card, new)
    return missing


def _expand(card: Card, paths: Sequence[Path]) -> list[Path]:
    """Replace a folder by the card's files in it."""
    wanted = [file.name for file in card.files]
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = [path / name for name in wanted if (path / name).is_file()]
            if not inside:
                raise McLsError(f"{path} holds none of the files of {card.name}: {', '.join(wanted)}")
            found += inside
        else:
            found.append(path)
    return found


def _recognise(card: Card, path: Path) -> tuple[str, bytes]:
    """Find which of the card's files this is, by its checksum; its own name comes first in the complaint."""
    by_name = sorted(card.files, key=lambda file: Path(file.name).stem != path.stem)
    refusals: list[RefusedError] = []
    for file in by_name:
        try:
            return file.name, check_content(_read(path, file), file, str(path))
        except RefusedError as error:
            refusals.append(error)
    raise refusals[0]


def _read(path: Path, file: RawFile) -> bytes:
    require_file(path)
    suffix = path.suffix.lower()
    members = [source.member for source in file.sources if source.member is not None]
    arrays = [source.matlab for source in file.sources if source.matlab is not None]
    if suffix == ".zip" and members:
        return read_member(_whole(path, members[0]), members[0], file, str(path))
    if suffix == ".mat" and arrays:
        return read_matlab(_whole(path, arrays[0]), arrays[0], file, str(path))
    return read_bounded(path, file)


def _whole(path: Path, what: str) -> bytes:
    if path.is_file() and path.stat().st_size > MAX_ARCHIVE:
        raise RefusedError(f"{path} is larger than {MAX_ARCHIVE} bytes, expected an archive that holds {what}")
    try:
        return path.read_bytes()
    except OSError as error:
        raise McLsError(f"cannot read {path}: {error.strerror or error}") from None
