"""The report page: self-contained and linked; where Chromium is installed, opened, clicked and measured in it."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import pytest

from mcls.papers import PAPERS
from mcls.reporting.page import write_report
from mcls.reporting.plots import PLOTS, draw
from mcls.reporting.studies import Studies

from .browser import CHROMIUM, Browser
from .made_up import fill


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
    (studies.out / "my study").mkdir()
    (studies.out / "my study" / "report.html").write_text("another page")
    return write_report(studies, list(PAPERS.values()), tables, draw(PLOTS["labelbooks"], studies) | {"ranks": []})


def test_nothing_is_loaded_from_anywhere(page):
    text = page.read_text(encoding="utf-8")
    # Namespaces inside the encoded figures are names, not addresses; the page itself has no address at all.
    assert not re.search(r"https?://", text)
    for source in re.findall(r"""(?:src|href)=["']([^"']*)["']""", text):
        assert source.startswith(("data:", "#")) or re.fullmatch(r"[\w./%-]+\.(json|html)", source)
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
            assert (page.parent / unquote(link)).is_file()
    assert "my%20study/report.html" in links


def test_it_says_quick_and_ends_with_environment_and_configs(page):
    text = page.read_text(encoding="utf-8")
    assert '<p class="banner">QUICK run' in text
    assert "made-up CPU" in text
    assert "protocol: half-split" in text
    assert text.count("data:image/svg+xml;base64,") == 1


def test_no_path_of_this_machine_is_in_it(page):
    assert str(page.parent) not in page.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """Chromium, headless, with an empty profile."""
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: the page is not opened")
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


def test_the_browser_helper_hears_of_errors_and_requests(browser, tmp_path):
    bad = tmp_path / "bad.html"
    bad.write_text('<script src="missing.js"></script><script>nowhere();</script>', encoding="utf-8")
    browser.open(bad.as_uri())
    assert any("nowhere" in complaint for complaint in browser.complaints)
    assert [address.rpartition("/")[2] for address in browser.requests] == ["bad.html", "missing.js"]


@pytest.mark.parametrize("scheme, ground", [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 27)")])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_opens_without_an_error_a_request_or_a_scroll_bar_across(browser, page, width, scheme, ground):
    browser.open(page.as_uri(), width=width, scheme=scheme)
    assert browser.complaints == []
    assert browser.requests == [page.as_uri()]
    assert browser.value("document.documentElement.scrollWidth <= innerWidth")
    assert browser.value("getComputedStyle(document.body).backgroundColor") == ground
    assert browser.value("Array.from(document.images).every(i => i.complete && i.naturalWidth > 0)")
    # What is broader than a phone scrolls in its own box; on a wide screen all of every table is to be seen.
    boxes = "Array.from(document.querySelectorAll('.wide')).filter(b => b.scrollWidth > b.clientWidth + 1).length"
    assert (browser.value(boxes) > 0) == (width < 600)


COLUMN = (
    """Array.from(document.querySelectorAll("#xue2013-table1 tbody tr")).map(r => Number(r.cells[2].dataset.v))"""
)


def test_a_click_on_a_heading_sorts_and_another_one_turns_it_round(browser, page):
    browser.open(page.as_uri())
    unsorted = browser.value(COLUMN)
    assert len(unsorted) == 24
    assert unsorted != sorted(unsorted)
    for wanted, state in ((sorted(unsorted), "ascending"), (sorted(unsorted, reverse=True), "descending")):
        browser.click("#xue2013-table1 th:nth-child(3) button")
        assert browser.value(COLUMN) == wanted
        assert browser.value("document.querySelector('#xue2013-table1 th:nth-child(3)').ariaSort") == state
    # Averages stay below, whatever is sorted.
    assert browser.value("document.querySelectorAll('#xue2013-table1 tfoot tr').length") == 4
    browser.click("#xue2013-table1 th:nth-child(1) button")
    names = browser.value(
        "Array.from(document.querySelectorAll('#xue2013-table1 tbody tr')).map(r => r.cells[0].textContent)"
    )
    assert names == sorted(names)
    assert browser.complaints == []


def test_every_table_has_headings_that_sort(browser, page):
    browser.open(page.as_uri())
    assert browser.value("document.querySelectorAll('table:not(.sortable)').length") == 0
    assert browser.value(
        "Array.from(document.querySelectorAll('section table, details.table table')).every(t => "
        "Array.from(t.tHead.rows[0].cells).every(c => c.querySelector('button')))"
    )


def test_a_click_on_a_mean_unfolds_the_list_of_its_cells(browser, page):
    browser.open(page.as_uri())
    link = "#xue2013-table1 tbody tr:first-child td:nth-child(4) a"
    target = browser.value(f"document.querySelector('{link}').hash")
    hidden = f"document.querySelector('{target}').checkVisibility()"
    assert not browser.value(hidden)
    browser.click(link)
    browser.value("new Promise(requestAnimationFrame)")
    assert browser.value("location.hash") == target
    assert browser.value(hidden)
    assert browser.complaints == []


def test_tables_that_were_not_run_are_folded_and_listed_as_such(browser, page):
    browser.open(page.as_uri())
    assert not browser.value("document.querySelector('#noumir2011-pavia').open")
    assert (
        browser.value("document.querySelector('nav a[href=\"#noumir2011-pavia\"]').nextElementSibling.textContent")
        == "not run"
    )
    browser.click('nav a[href="#noumir2011-pavia"]')
    browser.value("new Promise(requestAnimationFrame)")
    assert browser.value("document.querySelector('#noumir2011-pavia').open")


def test_the_policy_names_our_style_and_script_by_their_sums(page):
    text = page.read_text(encoding="utf-8")
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', text)[1]
    assert "default-src 'none'; " in policy
    assert "unsafe" not in policy
    for tag in ("style", "script"):
        (content,) = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}';" in policy


def test_nothing_that_slips_into_the_page_runs_or_loads(browser, page):
    poison = (
        "<script>document.title = 'taken'</script>"
        "<img id=spy src=figures/labelbooks.png onerror=\"document.title = 'taken'\">"
        '<style>body { background: red !important }</style><base href="http://127.0.0.1:9/">'
    )
    poisoned = page.with_name("poisoned.html")
    poisoned.write_text(page.read_text(encoding="utf-8").replace("<h1 ", f"{poison}<h1 "), encoding="utf-8")
    browser.open(poisoned.as_uri())
    assert browser.value("document.title") == "mcls: reproduced tables"
    assert (page.parent / "figures" / "labelbooks.png").is_file()
    assert browser.value("document.querySelector('#spy').naturalWidth") == 0
    assert browser.value("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert browser.value("document.baseURI") == poisoned.as_uri()
