"""The report: one HTML page with all tables and figures, every number linked to the cells behind it."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from mcls.experiments.store import write_file
from mcls.reporting.bench import bench_table
from mcls.reporting.paper import Paper, computer
from mcls.reporting.plots import PLOTS
from mcls.reporting.plots.style import DPI
from mcls.reporting.studies import Studies, Study, StudyRow
from mcls.reporting.table import QUICK_NOTE, Table
from mcls.specs import format_spec

_LARGEST_SVG = 150_000  # bytes; above, the PNG is smaller
_BROAD = 900  # pixels of the PNG; broader figures get a line of their own


@dataclass(frozen=True)
class Section:
    """A part of the page: a paper, or the benchmarks."""

    name: str
    title: str
    tables: Sequence[Table]
    pictures: Sequence[dict[str, Any]]

    def short(self, table: Table) -> str:
        """The title of a table without the name of its section, for the contents."""
        text = re.sub(rf"^{self.name}[,:] ", "", table.title)
        return text[0].upper() + text[1:]


def write_report(
    studies: Studies, papers: Sequence[Paper], tables: Sequence[Table], figures: Mapping[str, Sequence[Path]]
) -> Path:
    """Write ``report.html``: it needs no network and no other file, but for the cells it links to."""
    measured = bench_table(studies.bench, studies.quick)
    front = [table for table in tables if table.name.startswith("agreement")]
    sections = [
        Section(p.name, p.title, [t for t in tables if t.name.startswith(p.name)], _pictures(p.name, figures))
        for p in papers
    ]
    sections.append(
        Section("performance", "Performance", [measured] if measured else [], _pictures("performance", figures))
    )
    loaded = sorted(studies.loaded(), key=lambda study: study.name)
    text = render(
        "report.html",
        banner=QUICK_NOTE if studies.quick else "",
        sections=[section for section in sections if section.tables or section.pictures],
        overview=Section("overview", "Agreement with the papers", front, _pictures("overview", figures)),
        studies=[cells_of(study) for study in loaded],
        environments=list(environments_of(loaded)),
        pages=sorted(page.parent.name for page in studies.out.glob("*/report.html")),
        version=version("mcls"),
    )
    path = studies.out / "report.html"
    write_file(path, text)
    return path


def render(template: str, **values: Any) -> str:
    """Fill one of our templates; every value is escaped, and the page may load and run nothing but its own parts."""
    return str(_environment().get_template(template).render(**values))


@cache
def _environment() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("mcls.reporting"),
        autoescape=True,
        undefined=StrictUndefined,
        keep_trailing_newline=True,
    )
    made.filters["sha256"] = lambda text: base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()
    folder = Path(__file__).resolve().parent / "templates"
    for kind in ("css", "js"):  # our own files: the only text that is not escaped
        made.globals[kind] = Markup((folder / f"page.{kind}").read_text(encoding="utf-8"))
    return made


def _pictures(section: str, figures: Mapping[str, Sequence[Path]]) -> list[dict[str, Any]]:
    """The figures of a section that were drawn."""
    kinds = {stem: stem.split("-")[0] for stem in figures}
    return [
        _picture(stem, kinds[stem], files)
        for stem, files in figures.items()
        if files and PLOTS[kinds[stem]].section == section
    ]


def _picture(stem: str, kind: str, files: Sequence[Path]) -> dict[str, Any]:
    what = stem.removeprefix(kind).strip("-").replace("-", ", ", 1)
    caption = PLOTS[kind].captions.get(stem) or f"{PLOTS[kind].summary}{f' ({what})' if what else ''}"
    return embedded(stem, kind, caption, files)


def embedded(stem: str, kind: str, caption: str, files: Sequence[Path]) -> dict[str, Any]:
    """A figure as a template shows it, its picture inside the page; ``kind`` is what ``mcls plot`` takes."""
    by_suffix = {path.suffix: path for path in files}
    # The PNG's header holds its width and height; in the page, the size keeps the place before it is drawn.
    width, height = struct.unpack(">II", by_suffix[".png"].read_bytes()[16:24])
    path, mime = by_suffix[".svg"], "image/svg+xml"
    if path.stat().st_size > _LARGEST_SVG:
        path, mime = by_suffix[".png"], "image/png"
    return {
        "stem": stem,
        "plot": kind,
        "caption": caption[0].upper() + caption[1:],
        "shape": "broad" if width > _BROAD else "small",
        "width": width * 96 // DPI,
        "height": height * 96 // DPI,
        "address": f"data:{mime};base64,{base64.b64encode(path.read_bytes()).decode('ascii')}",
    }


def cells_of(study: Study, base: str = "") -> dict[str, Any]:
    """A study with every cell behind it; ``base`` leads from the page to the folder of results."""
    return {
        "name": study.name,
        "done": sum(row.line.done for row in study.figures),
        "total": sum(row.line.replicates for row in study.figures),
        "rows": [_cell_row(row, base) for row in study.figures],
        "notes": [*study.plan.notes, *_failures(study)],
        "config": study.config_as_run,
    }


def _failures(study: Study) -> list[str]:
    """Why cells failed, each reason of a row once."""
    told: dict[str, None] = {}
    for row in study.figures:
        for cell in row.row.all_cells if row.line.failed else ():
            record = row.store.read(cell)
            if record is not None and record["status"] == "failed":
                told[f"failed: {row.dataset} {format_spec(cell.machine, cell.options)}: {record['error']}"] = None
    return list(told)


def _cell_row(found: StudyRow, base: str) -> dict[str, Any]:
    row = found.row
    links = [
        (f"{100 * record['result']['error']:.2f}", base + found.cell(i), "")
        if record
        else ("failed", base + found.cell(i), "")
        if found.line.failed and found.store.read(row.cells[i]) is not None
        else ("–", "", "")
        for i, record in enumerate(found.records)
    ]
    for cell in row.nested:
        record = found.store.result(cell)
        if record is not None:
            links.append(
                (f"{100 * record['result']['error']:.2f}", f"{base}{found.study}/cells/{cell.key}.json", "nested ")
            )
    return {
        "id": found.anchor[1:],
        "dataset": row.dataset,
        "machine": row.machine,
        "options": ", ".join(filter(None, [row.labelbook, row.options])),
        "links": links,
    }


def environments_of(studies: Sequence[Study]) -> Iterator[tuple[str, str, str]]:
    """Every different environment that cells were computed in: the machine, the studies, and all of it as JSON."""
    seen: dict[str, list[str]] = {}
    for study in studies:
        found = [r["environment"] for f in study.figures for r in f.records if r is not None]
        different = {json.dumps(each, sort_keys=True): each for each in found}  # thousands, and few of them differ
        for text in sorted(json.dumps(each, indent=1, sort_keys=True) for each in different.values()):
            seen.setdefault(text, []).append(study.name)
    for text, names in seen.items():
        yield computer(json.loads(text)), ", ".join(names), text
