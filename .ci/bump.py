"""Write a new version into pyproject.toml and CITATION.cff, and date the changelog: ``python .ci/bump.py 0.3.0``."""

from __future__ import annotations

import re
import sys
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def bump(version: str, root: Path = ROOT, today: date | None = None) -> None:
    """Change the three files; refuse a version that is not a new one of the form 1.2.3."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"a version looks like 1.2.3; got {version!r}")
    day = (today or date.today()).isoformat()
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    if "## Unreleased" not in changelog:
        raise SystemExit("CHANGELOG.md has no section '## Unreleased': say there what changed")
    changes = {
        "pyproject.toml": (r'^version = "[^"]+"', f'version = "{version}"'),
        "CITATION.cff": (r"^version: .+$", f"version: {version}"),
        "CHANGELOG.md": (r"^## Unreleased$", f"## Unreleased\n\n## {version} ({day})"),
    }
    for name, (old, new) in changes.items():
        path = root / name
        text, count = re.subn(old, new, path.read_text(encoding="utf-8"), count=1, flags=re.MULTILINE)
        if count != 1:
            raise SystemExit(f"{name}: no line matches {old}")
        path.write_text(text, encoding="utf-8")
    cff = root / "CITATION.cff"
    cff.write_text(
        re.sub(
            r"^date-released: .+$", f"date-released: {day}", cff.read_text(encoding="utf-8"), flags=re.MULTILINE
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    bump(sys.argv[1])
