"""The report page: self-contained, linked, and (where Chromium is installed) sortable without an error."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mcls.reporting.catalog import PAPERS
from mcls.reporting.figures import draw
from mcls.reporting.page import write_report
from mcls.reporting.studies import Studies

from .made_up import fill

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report of two papers from a made-up store, with one figure."""
    studies = Studies(tmp_path_factory.mktemp("results"), is_quick=True)
    tables = []
    for paper in ("noumir2011", "xue2013"):
        for spec in PAPERS[paper].tables:
            for name in spec.studies:
                fill(studies[name], lambda cell: 0.1 + 0.01 * len(cell.dataset.label))
            tables += spec.build(studies)
    return write_report(studies, tables, dict(draw("labelbooks", studies)) | {"ranks": []})


def test_nothing_is_loaded_from_anywhere(page):
    text = page.read_text(encoding="utf-8")
    # Namespaces inside the encoded figures are names, not addresses; the page itself has no address at all.
    assert not re.search(r"https?://", text)
    for source in re.findall(r"""(?:src|href)=["']([^"']*)["']""", text):
        assert source.startswith(("data:", "#")) or re.fullmatch(r"[\w./-]+\.json", source)
    assert "@import" not in text
    assert "url(" not in text
    assert "prefers-color-scheme: dark" in text
    assert 'name="viewport"' in text


def test_every_link_leads_somewhere(page):
    text = page.read_text(encoding="utf-8")
    ids = set(re.findall(r'id="([^"]+)"', text))
    links = set(re.findall(r'href="([^"]+)"', text)) - {"data:,"}
    assert any(link.startswith("#cells-") for link in links)
    assert any(link.endswith(".json") for link in links)
    for link in links:
        if link.startswith("#"):
            assert link[1:] in ids
        else:
            assert (page.parent / link).is_file()


def test_it_says_quick_and_ends_with_environment_and_configs(page):
    text = page.read_text(encoding="utf-8")
    assert '<p class="banner">QUICK run' in text
    assert "made-up CPU" in text
    assert "protocol: half-split" in text
    assert text.count("data:image/svg+xml;base64,") == 1


def test_no_path_of_this_machine_is_in_it(page):
    assert str(page.parent) not in page.read_text(encoding="utf-8")


@pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed: the page's script is not run")
def test_tables_sort_in_a_browser_without_an_error(page, tmp_path):
    clicks = """<script>
    const table = document.querySelector("#xue2013-table1 table");
    const column = Array.from(table.tHead.rows[0].cells).findIndex(c => c.textContent.startsWith("paper"));
    const values = () => Array.from(table.tBodies[0].rows).map(r => Number(r.cells[column].dataset.v));
    const button = table.tHead.rows[0].cells[column].querySelector("button");
    const sorted = [];
    for (const sign of [1, -1]) {
      button.click();
      const v = values();
      sorted.push(v.length === 24 && v.every((x, i) => i === 0 || sign * (x - v[i - 1]) >= 0));
    }
    document.title = "sorted " + sorted.join(" ");
    </script></body>"""
    copy = tmp_path / "report.html"
    copy.write_text(page.read_text(encoding="utf-8").replace("</body>", clicks), encoding="utf-8")
    done = subprocess.run(
        [
            str(CHROMIUM),
            *("--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"),
            *(f"--user-data-dir={tmp_path / 'profile'}", "--virtual-time-budget=3000", "--dump-dom"),
            copy.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert "<title>sorted true true</title>" in done.stdout
    assert "CONSOLE" not in done.stderr
