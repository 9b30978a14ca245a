"""The report: one HTML page with all tables and figures, every number linked to the cells behind it."""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mcls.experiments.store import write_file
from mcls.reporting.catalog import PAPERS
from mcls.reporting.figures import FIGURES
from mcls.reporting.render import to_html
from mcls.reporting.studies import Figures, Studies, Study
from mcls.reporting.table import QUICK_NOTE, Table

_HERE = Path(__file__).resolve().parent
#: Kind of figure (how its name begins) → the section it belongs to.
_SECTIONS = {
    "labelbooks": "honeine2013",
    "errors": "honeine2013",
    "grid": "honeine2013",
    "ranks": "honeine2013",
    "sets": "arvanitopoulos",
    "codes": "arvanitopoulos",
    "regions": "noumir2011",
    "growth": "performance",
}
_LARGEST_SVG = 150_000  # bytes; above, the PNG is smaller


def write_report(studies: Studies, tables: Sequence[Table], figures: Mapping[str, Sequence[Path]]) -> Path:
    """Write ``report.html``: it needs no network and no other file, but for the cells it links to."""
    path = studies.out / "report.html"
    write_file(path, "".join(_page(studies, tables, figures)))
    return path


def _page(studies: Studies, tables: Sequence[Table], figures: Mapping[str, Sequence[Path]]) -> Iterator[str]:
    css, js = ((_HERE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    yield (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<link rel="icon" href="data:,">\n'
        f"<title>mcls: reproduced tables</title>\n<style>\n{css}</style>\n</head>\n<body>\n"
    )
    yield "<h1>Multiclass kernel least-squares machines: the papers' tables, reproduced</h1>\n"
    if studies.quick:
        yield f'<p class="banner">{html.escape(QUICK_NOTE)}</p>\n'
    yield (
        "<p>Each table shows our figures beside the published ones. A number is a link: to the cell that produced it, "
        "or to the list of the cells it is the mean of. Click a heading to sort.</p>\n"
    )
    yield _contents(tables)
    for paper in PAPERS.values():
        yield f'<h2 id="{paper.name}">{html.escape(paper.title)}</h2>\n'
        yield from (to_html(table) for table in tables if table.name.startswith(paper.name))
        yield _pictures(paper.name, figures)
    if pictures := _pictures("performance", figures):
        yield f'<h2 id="performance">Performance</h2>\n{pictures}'
    yield '<h2 id="cells">Cells</h2>\n<p>The error of every replicate, in percent, linked to its record.</p>\n'
    yield from (_cells(study) for study in studies.loaded())
    yield '<h2 id="environment">Environment</h2>\n'
    yield from _environments(studies.loaded())
    yield '<h2 id="configs">Configs as run</h2>\n'
    for study in studies.loaded():
        text = html.escape(study.experiment.config_as_run())
        yield f"<details><summary>{study.name}</summary><pre>{text}</pre></details>\n"
    yield f"<script>\n{js}</script>\n</body>\n</html>\n"


def _contents(tables: Sequence[Table]) -> str:
    items = [f'<li><a href="#{table.name}">{html.escape(table.title)}</a></li>' for table in tables]
    items += [f'<li><a href="#{name.lower()}">{name}</a></li>' for name in ("Cells", "Environment", "Configs")]
    return "<nav><details open><summary>Contents</summary><ul>\n" + "\n".join(items) + "\n</ul></details></nav>\n"


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
    path, mime = by_suffix[".svg"], "image/svg+xml"
    if path.stat().st_size > _LARGEST_SVG:
        path, mime = by_suffix[".png"], "image/png"
    content = base64.b64encode(path.read_bytes()).decode("ascii")
    caption = html.escape(f"{FIGURES[kind][0]} ({stem})")
    return (
        f'<figure id="figure-{html.escape(stem)}"><img alt="{caption}" src="data:{mime};base64,{content}">'
        f"<figcaption>{caption}</figcaption></figure>\n"
    )


def _cells(study: Study) -> str:
    rows = "\n".join(_cell_row(figures) for figures in study.figures)
    done = sum(figures.line.done for figures in study.figures)
    total = sum(figures.line.replicates for figures in study.figures)
    return (
        f"<details><summary>{study.name}: {done} of {total}</summary>\n"
        '<div class="wide"><table><thead><tr><th>data set</th><th>machine</th><th>options</th><th>replicates</th>'
        f"</tr></thead><tbody>\n{rows}\n</tbody></table></div></details>\n"
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
        yield f"<p>{html.escape(', '.join(names))}</p><pre>{html.escape(text)}</pre>\n"


def _as_json(environment: dict[str, Any]) -> str:
    return json.dumps(environment, indent=1, sort_keys=True)
