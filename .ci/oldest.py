"""Print the lowest version of every dependency in pyproject.toml as pip constraints: ``python .ci/oldest.py dev dask``.

The extras named on the command line are included.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path


def constraints(project: dict, extras: list[str]) -> list[str]:
    """Lines such as ``numpy==1.26`` from the lower bounds."""
    wanted = list(project["dependencies"])
    for extra in extras:
        wanted += project["optional-dependencies"][extra]
    found = [re.fullmatch(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?>=([0-9.]+)(?:\s*;.*)?", text) for text in wanted]
    missing = [text for text, match in zip(wanted, found) if match is None]
    if missing:
        raise SystemExit(f"no lower bound: {', '.join(missing)}")
    return [f"{match[1]}=={match[2]}" for match in found if match]


if __name__ == "__main__":
    content = tomllib.loads((Path(__file__).resolve().parents[1] / "pyproject.toml").read_text(encoding="utf-8"))
    print("\n".join(constraints(content["project"], sys.argv[1:])))
