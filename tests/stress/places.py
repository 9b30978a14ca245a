"""Where a try happens: a folder with all that a command may touch, and what came of the command."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

#: How a command that ran into what nobody foresaw says so; a user should never see it.
UNFORESEEN = "--debug shows where"


@dataclass(frozen=True)
class Place:
    """The folder of a try: ``work`` (the current one), ``home``, ``cache``, ``tmp``; what is printed is in ``logs``."""

    root: Path

    @classmethod
    def make(cls, root: Path) -> Place:
        """Make the folders, empty."""
        shutil.rmtree(root, ignore_errors=True)
        for name in ("work", "home", "cache", "tmp", "logs"):
            (root / name).mkdir(parents=True)
        return cls(root)

    @property
    def folders(self) -> list[Path]:
        """Where a command may write."""
        return [self.root / name for name in ("work", "home", "cache", "tmp")]

    @property
    def work(self) -> Path:
        """The current folder of the command."""
        return self.root / "work"

    @property
    def logs(self) -> Path:
        """What the command printed, and what was noted about it."""
        return self.root / "logs"

    def environment(self) -> dict[str, str]:
        """Variables for a command here: its own home, no way out to the network, one thread.

        What tells BLAS which processor there is stays: other routines decide ties in another way.
        """
        keep = ("PATH", "LANG", "LC_ALL", "VIRTUAL_ENV", "PYTHONPATH", "LD_LIBRARY_PATH")
        blas = ("OPENBLAS_", "MKL_", "BLIS_")
        return {
            **{name: value for name, value in os.environ.items() if name in keep or name.startswith(blas)},
            "HOME": str(self.root / "home"),
            "MCLS_CACHE": str(self.root / "cache"),
            "MPLCONFIGDIR": str(self.root / "home"),
            "TMPDIR": str(self.root / "tmp"),
            **dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9"),
            **dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost"),
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        }

    def content(self) -> dict[str, bytes]:
        """Every file, folder and link that the command may have touched; a folder or a link has no content."""
        found = {}
        for folder, names, files in os.walk(self.root):
            if Path(folder) == self.root:
                names.remove("logs")
            for name in (*names, *files):
                path = Path(folder) / name
                content = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
                found[str(path.relative_to(self.root))] = content
        return found

    def remove(self) -> None:
        """Remove the folder, also what a try made unreadable."""
        if not self.root.exists():
            return
        for folder, _, _ in os.walk(self.root):
            os.chmod(folder, 0o700)
        shutil.rmtree(self.root, ignore_errors=True)


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code (a signal's number with a minus), what it printed, what was noted about it."""

    code: int
    out: str
    err: str
    hung: bool
    noted: tuple[str, ...]
    seconds: float  # of the processor

    def faults(self, *codes: int) -> list[str]:
        """What was wrong with it, where these exit codes are right."""
        said = f": {self.err.strip()[-300:]!r}" if self.err.strip() else ""
        found = list(self.noted)
        if self.hung:
            found.append(f"it hung{said}")
        elif "Traceback" in self.err or "Exception ignored" in self.err:
            found.append(f"a traceback{said}")
        elif UNFORESEEN in self.err:
            found.append(f"an error nobody foresaw{said}")
        elif self.code not in codes:
            found.append(f"exit code {self.code}{said}")
        elif self.code == 2 and not self._refused_in_one_line:
            found.append(f"exit code 2 without one line that says why{said}")
        odd = {c for c in self.out + self.err if not (c.isprintable() or c == "\n")}
        if odd:
            found.append(f"control characters on the terminal: {sorted(odd)!r}{said}")
        return found

    @property
    def _refused_in_one_line(self) -> bool:
        if "Usage: " in self.out:
            return True  # half a command, such as "mcls data", is answered by its help
        lines = self.err.splitlines()
        return bool(lines) and lines[-1].startswith("mcls: ") and sum(s.startswith("mcls: ") for s in lines) == 1
