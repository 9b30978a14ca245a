"""The README keeps its word: its links lead somewhere, and every command and example in it runs."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .command import call

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
README = PAGES[0].read_text(encoding="utf-8")


def blocks(language):
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.MULTILINE | re.DOTALL)


def commands():
    return [line for block in blocks("sh") for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """What a reader has: a checkout's configs and data, and of one paper all results but those of iris."""
    folder = tmp_path_factory.mktemp("checkout")
    for name in ("configs", "datasets", *(f"results/noumir2011-{part}" for part in ("classes", "indian-pines"))):
        shutil.copytree(ROOT / name, folder / name)
    return folder


def in_a_hurry(config: Path) -> None:
    """Make the config of ``mcls init`` smaller, as its comments say: the whole takes a minute."""
    text = config.read_text(encoding="utf-8")
    for given, less in [("folds: 10 ", "folds: 3 "), ("2^-4..2^4 ", "2^-2..2^2 ")]:  # inner_folds too
        assert given in text
        text = text.replace(given, less)
    config.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_and_images_lead_somewhere(page):
    targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))
    for target in targets:
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


@pytest.mark.long
def test_every_command_runs_in_the_order_of_the_page(checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    monkeypatch.setattr("mcls.cli.run.cores", lambda: 1)  # workers take seconds to start, and have their own tests
    shown = commands()
    assert len(shown) > 15
    for line in shown:
        command = shlex.split(line, comments=True)
        if command[0] == "awk":
            subprocess.run(line, cwd=checkout, shell=True, check=True)
            continue
        if command[0] == "make":
            assert re.search(rf"^{command[1]}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE), command
            continue
        assert command[0] == "mcls", command
        code, out, err = call(*command[1:])
        assert code == 0, f"{shlex.join(command)}\n{out}\n{err}"
        if command[1] == "fit":
            (quoted,) = blocks("text")
            assert quoted.strip() in out.splitlines()
        if command[1] == "init":
            in_a_hurry(checkout / "mine.yaml")
        assert "training error" not in out, line  # the example is judged on rows that the model has not seen
    assert ",prediction,probability setosa," in (checkout / "predicted.csv").read_text().splitlines()[0]
    assert len((checkout / "predicted.csv").read_text().splitlines()) == 51
    assert (checkout / "results" / "mine" / "summary.csv").exists()


def test_the_python_example_runs(checkout):
    (example,) = blocks("python")
    done = subprocess.run(
        [sys.executable, "-c", example], cwd=checkout, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "nested_error" in done.stdout
