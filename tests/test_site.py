"""The documentation site as it was built by ``make docs``: opened in Chromium, searched, its links followed."""

import re
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

from .reporting.browser import CHROMIUM, Browser

SITE = Path(__file__).resolve().parents[1] / "docs" / "_build" / "html"
pytestmark = [
    pytest.mark.site,
    pytest.mark.skipif(not SITE.is_dir(), reason="the site is not built: make docs"),
]


def test_every_internal_link_resolves():
    broken = []
    anchors = {}
    for page in SITE.rglob("*.html"):
        if "_static" in page.parts:
            continue  # templates of the theme
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r'(?:href|src)="([^"]*)"', text):
            address, anchor = urldefrag(link)
            if re.match(r"[a-z+]+:|//", address):
                continue
            target = (page.parent / unquote(address.split("?")[0])).resolve() if address else page
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                broken.append(f"{page.relative_to(SITE)}: {link}")
            elif anchor and target.suffix == ".html" and anchor != "top":
                known = anchors.setdefault(target, set(re.findall(r'(?:id|name)="([^"]+)"', target.read_text())))
                if unquote(anchor) not in known:
                    broken.append(f"{page.relative_to(SITE)}: {link}")
    assert not broken, broken[:20]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    if CHROMIUM is None:
        pytest.skip("Chromium is not installed: the site is not opened")
    with Browser(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.mark.parametrize(
    "page", ["index.html", "gallery/index.html", "theory.html", "reference/machines/oneLSM.html"]
)
def test_a_page_opens_without_a_complaint_or_a_request(browser, page):
    browser.open((SITE / page).as_uri())
    # The theme tells the console which mode it shows; that is a message, not a complaint.
    assert [text for text in browser.complaints if '"type": "log"' not in text] == []
    assert [address for address in browser.requests if not address.startswith("file:")] == []


def test_the_search_works_from_the_file_system(browser):
    browser.open(f"{(SITE / 'search.html').as_uri()}?q=labelbook")
    found = browser.value(
        "new Promise(done => { const wait = setInterval(() => { "
        "const links = document.querySelectorAll('#search-results li a'); "
        "if (links.length) { clearInterval(wait); done(links.length); } }, 100); setTimeout(() => done(0), 20000); })"
    )
    assert found > 0
