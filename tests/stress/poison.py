"""Hostile texts in a store and in configs: HTML, scripts, formulas and escape sequences, through run and report.

Nothing of it may come alive: no element, no script, no address in the page, no formula in a CSV, no sequence on the
terminal. Where Chromium is installed the page is opened in it, and counted is what it runs and asks for.
"""

from __future__ import annotations

import csv
import json
import random
import re
from collections.abc import Iterator, Sequence
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import yaml

from mcls.experiments.store import Store
from mcls.reporting.studies import Studies

from ..reporting.browser import CHROMIUM, Browser
from ..reporting.made_up import record
from . import forks
from .attack import Attack, Tally
from .places import Place

_MARK = "window.poisoned=1"
PAYLOADS = (
    f"<script>{_MARK}</script>",
    f"</script><script>{_MARK}</script>",
    f"</pre></details><img src=x onerror='{_MARK}'>",
    f'"><svg onload="{_MARK}">',
    f"' onmouseover='{_MARK}' x='",
    f"<iframe srcdoc='<script>parent.{_MARK}</script>'></iframe>",
    f"<a href=\"javascript:{_MARK}\">x</a>",
    "<img src='http://192.0.2.1/x.png'>",
    "<link rel=stylesheet href='http://192.0.2.1/x.css'>",
    "<style>@import 'http://192.0.2.1/x.css';</style>",
    "<meta http-equiv=refresh content='0;url=http://192.0.2.1/'>",
    "<base href='http://192.0.2.1/'>",
    "<!--", "]]>", "&lt;script&gt;",
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\t=1+1",
    "\x1b[2J\x1b]0;owned\x07", "\x9b31m", "a\rb", "\u202eevil", "|x|y|\n|z|",
    f"[x](javascript:{_MARK})", "![x](http://192.0.2.1/x.png)", "{{7*7}}", "$(id)", "\\input{/etc/passwd}",
)  # fmt: skip
#: A small study of the report, whose every row is then complete.
_STUDY = "noumir2011-iris"


class Poison(Attack):
    """Records whose every text is hostile, through ``mcls report``; configs and tables, through ``mcls run``."""

    name = "poison"
    what = "hostile texts in stores, configs and tables through report and run; the page opened in Chromium"
    full = 40
    short = 1
    shuffled = False  # a report takes long

    def prepare(self, place: Place) -> None:
        """The records of a study, made up."""
        self.what = (
            self.what if CHROMIUM else self.what.replace("; the page opened in Chromium", " (no Chromium here)")
        )
        study = Studies(place.work / "results", is_quick=True)[_STUDY]
        self._records = [record(cell, 0.25) for cell in study.experiment.plan.cells]

    def tries(self) -> Sequence[str]:
        """One report for every three runs."""
        return [("run", "run", "run", "report")[i % 4] for i in range(self.full or 0)]

    def attempt(self, trial: str, place: Place, r: random.Random) -> Tally:
        """Poison one thing and look at everything that is made of it."""
        return Tally(1, self._report(place, r) if trial == "report" else _run(place, r))

    def _report(self, place: Place, r: random.Random) -> list[str]:
        store = Store(place.work / "results" / "quick" / _STUDY / "cells")
        for made in self._records:
            hostile = _poisoned(made, r, keep=("format", "key", "status", "identity", "parameters", "result"))
            hostile["result"] = made["result"] | {"chosen": [{r.choice(PAYLOADS): r.choice(PAYLOADS)}]}
            store.write(hostile)
        ended = forks.run(place, "report", "--quick", "--out", "results")
        page = place.work / "results" / "quick" / "report.html"
        faults = ended.faults(0, 2)
        if not page.exists():
            return [*faults, "no page was written"] if ended.code == 0 else faults
        faults += page_faults(page.read_text(encoding="utf-8"))
        if CHROMIUM:
            with Browser(place.root / "home" / "profile") as browser:
                browser.open(page.as_uri())
                if browser.value("window.poisoned"):
                    faults.append("a script of the store was executed")
                elsewhere = [address for address in browser.requests if address != page.as_uri()]
                faults += [f"the page asked for {elsewhere}"] * bool(elsewhere)
        return faults


def _poisoned(value: Any, r: random.Random, keep: Sequence[str] = ()) -> Any:
    """The same value with hostile texts in the place of texts, also of a few keys."""
    if isinstance(value, str):
        return r.choice(PAYLOADS)
    if isinstance(value, list):
        return [_poisoned(child, r) for child in value]
    if isinstance(value, dict):
        return {key: child if key in keep else _poisoned(child, r) for key, child in value.items()}
    return value


def _run(place: Place, r: random.Random) -> list[str]:
    """Hostile names of columns, classes and files, and a hostile description."""
    classes = r.sample(PAYLOADS, 2)
    head = [r.choice(PAYLOADS), "x", r.choice(PAYLOADS)]
    name = r.choice(("t.csv", "=1+1.csv", "<img src=x onerror=alert(1)>.csv", "\x1b[2J.csv", "+x.csv", "a|b.csv"))
    with (place.work / name).open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(head)
        writer.writerows([i, i % 5, classes[i % 2]] for i in range(20))
    config = {
        "name": "lab",
        "description": r.choice(PAYLOADS),
        "datasets": [{"path": name, "target": "-1"}],
        "machines": ["oneLSM", r.choice(("ovO", "sk:DummyClassifier:strategy=" + r.choice(PAYLOADS)))],
        "folds": 2,
        "replicates": 1,
        "grid": {"gamma": [1], "sigma": [1]},
    }
    (place.work / "lab.yaml").write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    ended = forks.run(place, "run", "lab.yaml", "--out", "out", "-j", "1")
    faults = ended.faults(0, 1, 2)
    for path in sorted((place.work / "out").rglob("summary.*")):
        text = path.read_text(encoding="utf-8")
        faults += csv_faults(path) if path.suffix == ".csv" else markdown_faults(text)
    return [f"{fault}, from {json.dumps(config)}" for fault in faults]


def csv_faults(path: Path) -> list[str]:
    """Cells that a spreadsheet would compute."""
    with path.open(newline="", encoding="utf-8") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    formulas = [
        c
        for c in cells
        if c.startswith(("=", "+", "-", "@", "\t", "\r")) and not re.fullmatch(r"[-+][\d.e+-]+", c)
    ]
    return [f"{path.name} holds formulas: {formulas}"] if formulas else []


def markdown_faults(text: str) -> list[str]:
    """HTML in a Markdown page."""
    found = re.findall(r"<[A-Za-z/!?][^>]*", text)
    return [f"a Markdown page holds HTML: {found[:3]}"] if found else []


class _Page(HTMLParser):
    """Everything in a page that could run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.scripts = 0
        self.policy = ""
        self.alive: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what is odd."""
        given = {name: value or "" for name, value in attrs}
        self.scripts += tag == "script"
        if tag == "meta" and given.get("http-equiv", "").lower() == "content-security-policy":
            self.policy = given.get("content", "")
        elif tag in ("iframe", "object", "embed", "base", "form", "frame") or "http-equiv" in given:
            self.alive.append(f"<{tag}>")
        self.alive += [f"<{tag} {name}>" for name in given if name.startswith("on") or name == "srcdoc"]
        self.alive += [f"<{tag} {n}={v[:80]}>" for n, v in given.items() if n in ("src", "href") and _leads_out(v)]


def _leads_out(address: str) -> bool:
    return not (
        address.startswith(("#", "data:image/", "data:,")) or re.fullmatch(r"[\w./-]+\.(json|csv|md)", address)
    )


def page_faults(text: str) -> list[str]:
    """What could come alive in a page."""
    page = _Page()
    page.feed(text)
    return [*_odd(page)]


def _odd(page: _Page) -> Iterator[str]:
    if page.alive:
        yield f"the page holds {sorted(set(page.alive))[:5]}"
    if page.scripts > 1:
        yield f"the page holds {page.scripts} scripts, where one is its own"
    if "default-src 'none'" not in page.policy:
        yield "the page has no content-security policy that forbids all but what it needs"
