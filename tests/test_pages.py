"""The pages of the documentation keep their word: every code block runs, in the order of its page.

A page's ``python`` blocks share one namespace and its ``sh`` blocks one folder, which has the configs and data sets
of a checkout. A block with the name of a file, as in "```yaml study.yaml", is that file in the folder. What is not
meant to be run is marked ``text``, ``yaml``, ``toml`` or another language.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
#: These are Python modules that tests/test_adding.py imports as they stand.
ELSEWHERE = {page.name for page in (ROOT / "docs").glob("adding-*.md")}
PAGES = [page for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in ELSEWHERE]


def blocks(page):
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```(python|sh)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


def files(page):
    text = page.read_text(encoding="utf-8")
    return re.findall(r"^```\w+ ([\w-]+\.[\w.]+)\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL)


#: Pages of many commands; the README's tour, tests/test_own_study.py and tests/cli/test_own_tables.py go the same ways.
LONG = {"beyond", "getting-started", "own-data", "own-study"}


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.full] * (page.stem in LONG)) for page in PAGES if blocks(page)],
    ids=lambda page: page.stem,
)
def test_the_code_of_a_page_runs(page, tmp_path):
    for name in ("configs", "datasets"):
        shutil.copytree(ROOT / name, tmp_path / name)
    for name, content in files(page):
        (tmp_path / name).write_text(content, encoding="utf-8")
    scripts = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{scripts}{os.pathsep}{os.environ['PATH']}", "MPLBACKEND": "agg"}
    python = []
    for language, code in blocks(page):
        if language == "python":
            python.append(code)
            continue
        _run(["bash", "-euo", "pipefail", "-c", code], code, tmp_path, environment)
    if python:
        code = "\n".join(python)
        _run([sys.executable, "-c", code], code, tmp_path, environment)


def _run(command, code, folder, environment):
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{code}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
