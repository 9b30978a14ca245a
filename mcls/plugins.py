"""Plug-ins: code of others that registers machines, metrics, labelbooks, data sets, protocols and plots.

There are two ways in, and both need the user's hand: ``--plugin FILE.py`` on the command line, and the entry points of
an installed package (groups ``mcls.machines``, ``mcls.metrics``, …). A config or a model file names things and can
never name code. Entry points are listed from the packages' metadata, and loaded when something of theirs is asked for.

Whatever registers while a plug-in is loading is noted with its origin; the origin has a version or a hash of the
source, which goes into the keys of the cells that were computed with it.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType, ModuleType
from typing import TYPE_CHECKING, Any

from mcls.errors import McLsError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

#: Kind of what is registered → the group of its entry points.
GROUPS = {
    "machine": "mcls.machines",
    "metric": "mcls.metrics",
    "labelbook": "mcls.labelbooks",
    "data set": "mcls.datasets",
    "protocol": "mcls.protocols",
    "plot": "mcls.plots",
}
_MOST_BYTES = 2**20  # of a plug-in's file


@dataclass(frozen=True)
class Origin:
    """Where a plug-in comes from; ``identity`` changes whenever its code does.

    ``source`` is the text of a file, which travels with the cells to the processes that compute them.
    """

    name: str  # the file, or the package with its version
    digest: str  # sha256 of the source, hexadecimal
    source: str = field(default="", repr=False)

    def __str__(self) -> str:
        return f"{self.name} (sha256 {self.digest[:12]})" if self.source else self.name

    @property
    def identity(self) -> str:
        """What stands in the key of a cell: a file may be moved and renamed, a package has a version."""
        return f"sha256:{self.digest}" if self.source else f"{self.name} sha256:{self.digest}"


_current: ContextVar[Origin | None] = ContextVar("origin", default=None)
_origins: dict[tuple[str, str], Origin] = {}
_files: dict[str, Origin] = {}  # digest → file that was loaded
_loaded: set[tuple[str, str]] = set()  # entry points: group and name
_registrars: dict[type, Callable[[Any], Any]] = {}


def note(kind: str, name: str) -> None:
    """Called by every registry when something is registered: remembers the plug-in that does it, if one does."""
    origin = _current.get()
    if origin is not None and not _is_ours():
        _origins[kind, name.lower()] = origin


def _is_ours() -> bool:
    """Whether it is a module of mcls that registers: one that a plug-in was the first to import.

    The innermost module body under way says so. In another process the same module may be there already, and what is
    ours must have the same origin, none, in both.
    """
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return frame is not None and str(frame.f_globals.get("__name__")).startswith("mcls.")


def origin_of(kind: str, name: str) -> Origin | None:
    """The plug-in that registered a name; None for what is part of mcls or was registered by a program."""
    return _origins.get((kind, name.lower()))


def registers(kind: type, registrar: Callable[[Any], Any]) -> None:
    """Let ``mcls.register`` take objects of a class."""
    _registrars[kind] = registrar


def register_object(thing: Any) -> bool:
    """Register a machine's line, a metric, a labelbook, …; False if it is not one of them."""
    for kind, registrar in _registrars.items():
        if isinstance(thing, kind):
            registrar(thing)
            return True
    return False


def load_files(paths: Iterable[str | Path]) -> None:
    """Run plug-in files, each once, in the order given."""
    for path in map(Path, paths):
        source = _read(path)
        before = len(_origins)
        _run(Origin(path.name, hashlib.sha256(source.encode("utf-8")).hexdigest(), source), str(path))
        if len(_origins) == before and not any(origin.source == source for origin in _origins.values()):
            raise McLsError(f"the plug-in {path} registers nothing; call mcls.register(NAME, ESTIMATOR) in it")


def loaded_files() -> tuple[Origin, ...]:
    """The files loaded so far, for the processes that compute cells."""
    return tuple(_files.values())


def load_sources(files: Iterable[Origin]) -> None:
    """Load in this process what another one has loaded from files."""
    for origin in files:
        _run(origin, origin.name)


def _read(path: Path) -> str:
    if path.suffix != ".py":
        raise McLsError(f"a plug-in is a Python file, such as mine.py; got {path}")
    if not path.exists():
        raise McLsError(f"there is no plug-in {path}")
    if not path.is_file():
        raise McLsError(f"the plug-in {path} is not a file")
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MOST_BYTES + 1)
        if len(raw) > _MOST_BYTES:
            raise McLsError(f"the plug-in {path} is longer than {_MOST_BYTES} bytes; make it a package")
        return raw.decode("utf-8-sig")
    except OSError as error:
        raise McLsError(f"cannot read the plug-in {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise McLsError(f"the plug-in {path} is not UTF-8 text") from None


def _run(origin: Origin, where: str) -> None:
    if origin.digest in _files:
        return
    stem = re.sub(r"\W", "_", origin.name.removesuffix(".py"))
    module = ModuleType(f"mcls_plugin_{stem}_{origin.digest[:8]}")
    module.__file__ = where
    sys.modules[module.__name__] = module  # classes of the file find their module there
    with _registering(origin, f"the plug-in {where}"):
        exec(compile(origin.source, where, "exec"), vars(module))
    _files[origin.digest] = origin


@contextlib.contextmanager
def _registering(origin: Origin, what: str) -> Iterator[None]:
    """Note what is registered meanwhile; whatever goes wrong is told in one line (``--debug`` shows where)."""
    token = _current.set(origin)
    try:
        yield
    except Exception as error:
        name = "" if isinstance(error, McLsError) else f"{type(error).__name__}: "
        raise McLsError(f"{what} cannot be loaded: {name}{error}") from error
    finally:
        _current.reset(token)


def entry_names(kind: str) -> dict[str, str]:
    """Names that installed packages offer → package and version; nothing of theirs is imported."""
    return {entry.name: _package(entry) for entry in _entries(kind)}


def load_entry(kind: str, name: str, accept: Callable[[str, Any], None] | None = None) -> bool:
    """Load what an installed package offers under a name; False if there is nothing of that name, or it is loaded.

    ``accept`` takes the name and the object, where that need not be one that registers itself.
    """
    for entry in _entries(kind):
        if entry.name.lower() != name.lower() or (kind, entry.name) in _loaded:
            continue
        _loaded.add((kind, entry.name))
        what = f"the {kind} '{entry.name}' of the package {_package(entry)}"
        with _registering(Origin(_package(entry), _digest(entry)), what):
            thing = entry.load()
            if not register_object(thing):
                if accept is None:
                    raise McLsError(f"{entry.value} is not a {kind}")
                accept(entry.name, thing)
        return True
    return False


def _entries(kind: str) -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return sorted(entry_points(group=GROUPS[kind]), key=lambda entry: entry.name)


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.module


def _digest(entry: EntryPoint) -> str:
    """Hash of the module's source: a package under development keeps its version while it changes."""
    from importlib.util import find_spec

    spec = find_spec(entry.module)
    path = Path(spec.origin) if spec is not None and spec.origin else None
    return hashlib.sha256(path.read_bytes() if path is not None and path.is_file() else b"").hexdigest()
