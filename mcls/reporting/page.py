"""The report: one HTML page with all tables and figures, every number linked to the cells behind it."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcls.experiments.store import write_file
from mcls.reporting.bench import bench_table
from mcls.reporting.catalog import PAPERS
from mcls.reporting.figures import FIGURES
from mcls.reporting.figures.style import DPI
from mcls.reporting.papers.base import named_machine
from mcls.reporting.render import to_html
from mcls.reporting.studies import Figures, Studies, Study
from mcls.reporting.table import QUICK_NOTE, Table

_HERE = Path(__file__).resolve().parent
#: Kind of figure (how its name begins) → the section it belongs to.
_SECTIONS = {
    "overview": "overview",
    "labelbooks": "honeine2013",
    "errors": "honeine2013",
    "grid": "honeine2013",
    "ranks": "honeine2013",
    "sets": "arvanitopoulos",
    "codes": "arvanitopoulos",
    "regions": "noumir2011",
    "growth": "performance",
}
#: Captions of figures that are drawn by one command but show different things.
_CAPTIONS = {
    "regions-iris": "Decision regions on two features of iris, with the training and the test rows",
    "regions-pavia": "The scene of Pavia University: ground truth and predictions",
}
_LARGEST_SVG = 150_000  # bytes; above, the PNG is smaller
_BROAD = 900  # pixels of the PNG; broader figures get a line of their own


def write_report(studies: Studies, tables: Sequence[Table], figures: Mapping[str, Sequence[Path]]) -> Path:
    """Write ``report.html``: it needs no network and no other file, but for the cells it links to."""
    path = studies.out / "report.html"
    write_file(path, "".join(_page(studies, tables, figures)))
    return path


def _page(studies: Studies, tables: Sequence[Table], figures: Mapping[str, Sequence[Path]]) -> Iterator[str]:
    css, js = (f"\n{(_HERE / name).read_text(encoding='utf-8')}" for name in ("page.css", "page.js"))
    measured = bench_table(studies.bench, studies.quick)
    sections = {paper.name: [t for t in tables if t.name.startswith(paper.name)] for paper in PAPERS.values()}
    sections["performance"] = [measured] if measured else []
    titles = {paper.name: paper.title for paper in PAPERS.values()} | {"performance": "Performance"}
    shown = [name for name in sections if sections[name] or _pictures(name, figures)]
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(css, js)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>mcls: reproduced tables</title>\n<style>{css}</style>\n</head>\n<body>\n"
    )
    yield '<h1 id="top">Multiclass kernel least-squares machines: the papers\' tables, reproduced</h1>\n'
    if studies.quick:
        yield f'<p class="banner">{html.escape(QUICK_NOTE)}</p>\n'
    yield (
        "<p>Each table shows our figures beside the published ones. A number of ours is a link: to the cell that "
        "produced it, or to the list of the cells it is the mean of. Click a heading to sort.</p>\n"
    )
    yield _contents({titles[name]: (name, sections[name]) for name in shown}, figures)
    yield _pictures("overview", figures)
    for name in shown:
        yield f'<h2 id="{name}">{html.escape(titles[name])}</h2>\n'
        yield from (to_html(table) for table in sections[name])
        if pictures := _pictures(name, figures):
            yield f"<h3>Figures</h3>\n{pictures}"
    yield '<h2 id="cells">Cells</h2>\n<p>The error of every replicate, in percent, linked to its record.</p>\n'
    yield from (_cells(study) for study in studies.loaded())
    yield '<h2 id="environment">Environment</h2>\n'
    yield from _environments(studies.loaded())
    yield '<h2 id="configs">Configs as run</h2>\n'
    for study in studies.loaded():
        text = html.escape(study.experiment.config_as_run())
        yield f"<details><summary>{html.escape(study.name)}</summary><pre>{text}</pre></details>\n"
    yield f"<footer>Written by mcls {html.escape(version('mcls'))}: <code>mcls report</code></footer>\n"
    yield '<a class="up" href="#top" aria-label="To the top">↑</a>\n'
    yield f"<script>{js}</script>\n</body>\n</html>\n"


def _policy(css: str, js: str) -> str:
    """A content-security policy: our own style and script and embedded pictures, nothing else and from nowhere else."""
    style, script = (
        base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode() for text in (css, js)
    )
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _contents(sections: Mapping[str, tuple[str, Sequence[Table]]], figures: Mapping[str, Sequence[Path]]) -> str:
    """Papers with their tables, each with what it lacks."""
    groups = []
    for title, (name, tables) in sections.items():
        items = [_content(name, table) for table in tables]
        if _pictures(name, figures):
            items.append(f'<li><a href="#figures-{name}">Figures</a></li>')
        groups.append(
            f'<section><a href="#{name}">{html.escape(title)}</a>\n<ul>\n'
            + "\n".join(items)
            + "\n</ul></section>\n"
        )
    rest = [f'<li><a href="#{name.lower()}">{name}</a></li>' for name in ("Cells", "Environment", "Configs")]
    groups.append("<section>What the figures come from\n<ul>\n" + "\n".join(rest) + "\n</ul></section>\n")
    return "<nav><details open><summary>Contents</summary><div>\n" + "".join(groups) + "</div></details></nav>\n"


def _content(section: str, table: Table) -> str:
    short = re.sub(rf"^{section}[,:] ", "", table.title)
    state = "" if table.state == "complete" else f" <span>{table.state}</span>"
    return f'<li><a href="#{table.name}">{html.escape(short[0].upper() + short[1:])}</a>{state}</li>'


def _pictures(section: str, figures: Mapping[str, Sequence[Path]]) -> str:
    """The figures of a section that were drawn, side by side where there is room."""
    made = [
        _picture(stem, kind, files)
        for stem, files in figures.items()
        for kind in [stem.split("-")[0]]
        if files and _SECTIONS[kind] == section
    ]
    return f'<div class="figures" id="figures-{section}">\n{"".join(made)}</div>\n' if made else ""


def _picture(stem: str, kind: str, files: Sequence[Path]) -> str:
    by_suffix = {path.suffix: path for path in files}
    # The PNG's header holds its width and height; in the page, the size keeps the place before it is drawn.
    width, height = struct.unpack(">II", by_suffix[".png"].read_bytes()[16:24])
    path, mime = by_suffix[".svg"], "image/svg+xml"
    if path.stat().st_size > _LARGEST_SVG:
        path, mime = by_suffix[".png"], "image/png"
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    what = stem.removeprefix(kind).strip("-").replace("-", ", ", 1)
    caption = html.escape(_CAPTIONS.get(stem) or f"{FIGURES[kind][0]}{f' ({what})' if what else ''}")
    caption = caption[0].upper() + caption[1:]
    shape = "broad" if width > _BROAD else "small"
    return (
        f'<figure id="figure-{html.escape(stem)}" class="{shape}"><div>'
        f'<img alt="{caption}" width="{width * 96 // DPI}" height="{height * 96 // DPI}" '
        f'src="data:{mime};base64,{content}"></div>'
        f"<figcaption>{caption}: <code>mcls plot {kind}</code></figcaption></figure>\n"
    )


def _cells(study: Study) -> str:
    rows = "\n".join(_cell_row(figures) for figures in study.figures)
    done = sum(figures.line.done for figures in study.figures)
    total = sum(figures.line.replicates for figures in study.figures)
    heads = "".join(
        f'<th scope="col"><button type="button">{name}</button></th>'
        for name in ("data set", "machine", "options")
    )
    return (
        f"<details><summary>{html.escape(study.name)}: {done} of {total}</summary>\n"
        f'<div class="wide"><table class="sortable"><thead><tr>{heads}<th scope="col">replicates</th></tr></thead>'
        f"<tbody>\n{rows}\n</tbody></table></div></details>\n"
    )


def _cell_row(figures: Figures) -> str:
    row = figures.row
    options = ", ".join(filter(None, [row.labelbook, row.options]))
    links = [
        f'<a href="{figures.cell(i)}">{100 * record["result"]["error"]:.2f}</a>' if record else "–"
        for i, record in enumerate(figures.records)
    ]
    for cell in row.nested:
        record = figures.store.result(cell)
        if record is not None:
            href = f"{figures.study}/cells/{cell.key}.json"
            links.append(f'nested <a href="{href}">{100 * record["result"]["error"]:.2f}</a>')
    texts = "".join(f"<td>{html.escape(text)}</td>" for text in (row.dataset, row.machine, options))
    return f'<tr id="{figures.anchor[1:]}">{texts}<td class="links">{" ".join(links)}</td></tr>'


def _environments(studies: Sequence[Study]) -> Iterator[str]:
    """Every different environment that cells were computed in, with the studies it was used for."""
    seen: dict[str, list[str]] = {}
    for study in studies:
        for text in {_as_json(r["environment"]) for f in study.figures for r in f.records if r is not None}:
            seen.setdefault(text, []).append(study.name)
    for text, names in seen.items():
        machine = html.escape(named_machine(json.loads(text)))
        yield (
            f"<details><summary>{machine}</summary><p>{html.escape(', '.join(names))}</p>"
            f"<pre>{html.escape(text)}</pre></details>\n"
        )


def _as_json(environment: dict[str, Any]) -> str:
    return json.dumps(environment, indent=1, sort_keys=True)
