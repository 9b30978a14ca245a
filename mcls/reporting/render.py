"""Tables as text: Markdown, CSV, LaTeX, and the terminal."""

from __future__ import annotations

import csv
import io
from dataclasses import replace
from typing import TYPE_CHECKING

from mcls.errors import printable
from mcls.files import without_html
from mcls.reporting.table import NOTHING, Entry, Table

if TYPE_CHECKING:
    from rich.console import Console

_RICH = {"good": "green", "near": "yellow", "bad": "bold red", "weak": "dim", "": ""}


def to_markdown(table: Table) -> str:
    """A Markdown page: heading, table, notes."""
    rule = "|" + "|".join("---:" if table.is_numeric(j) else "---" for j in range(len(table.columns))) + "|"
    lines = [f"# {without_html(table.heading)}", "", _bar(table.columns), rule]
    lines += [_bar([f"**{entry.text}**" if entry.bold else entry.text for entry in row]) for row in table.rows]
    lines += [_bar([f"**{entry.text}**" if entry.text else "" for entry in row]) for row in table.foot]
    lines += ["", *(f"- {without_html(note)}" for note in table.remarks)] if table.remarks else []
    return "\n".join(lines) + "\n"


def _bar(texts: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(without_html(text).replace("|", "\\|") for text in texts) + " |"


def to_csv(table: Table) -> str:
    """CSV with an empty field for what is not known; a quick run has one more column that says so."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*table.columns, *(["run"] if table.quick else [])])
    for row in (*table.rows, *table.foot):
        texts = ["" if entry.text == NOTHING else entry.text for entry in row]
        writer.writerow([*texts, *(["quick"] if table.quick else [])])
    return buffer.getvalue()


_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu "
    "nu xi pi rho sigma tau upsilon phi chi psi omega"
)
#: Those that do not look as Latin ones do.
_CAPITALS = "gamma delta theta lambda xi pi sigma upsilon phi psi omega"
_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    **{letter: rf"$\{name}$" for letter, name in zip("αβγδεζηθικλμνξπρστυφχψω", _GREEK.split(), strict=True)},
    **{letter: rf"$\{name.title()}$" for letter, name in zip("ΓΔΘΛΞΠΣΥΦΨΩ", _CAPITALS.split(), strict=True)},
    "·": r"$\cdot$",
    "ℓ": r"$\ell$",
    "→": r"$\rightarrow$",
    "√": r"$\surd$",
    "✓": r"$\surd$",
    "✗": r"$\times$",
    "≈": r"$\approx$",
    "₁": r"$_1$",
    "₂": r"$_2$",
    "²": r"$^2$",
    "–": "--",
    "<": "$<$",
    ">": "$>$",
    "−": "$-$",
    "⁺": "$^{+}$",
    "⁻": "$^{-}$",
}


def _latex(text: str) -> str:
    return "".join(_LATEX.get(letter, letter) for letter in text)


def _latex_row(row: tuple[Entry, ...]) -> str:
    texts = [_latex(entry.text) for entry in row]
    if texts[0].startswith(("[", "*")) and not row[0].bold:
        texts[0] = "{}" + texts[0]  # after the end of a row these would be its options
    return " & ".join(rf"\textbf{{{text}}}" if entry.bold else text for text, entry in zip(texts, row)) + r" \\"


def to_latex(table: Table) -> str:
    """A LaTeX longtable (packages booktabs and longtable), the notes below its caption."""
    kinds = "".join("r" if table.is_numeric(j) else "l" for j in range(len(table.columns)))
    head = " & ".join(_latex(column) for column in table.columns) + r" \\"
    lines = [
        rf"\begin{{longtable}}{{{kinds}}}",
        rf"\caption{{{_latex(table.heading)}}}\label{{tab:{table.name}}}\\",
        r"\toprule",
        head,
        r"\midrule",
        r"\endfirsthead",
        r"\toprule",
        head,
        r"\midrule",
        r"\endhead",
        r"\bottomrule",
        r"\endfoot",
    ]
    lines += [_latex_row(row) for row in table.rows]
    lines += [r"\midrule", *(_latex_row(row) for row in table.foot)] if table.foot else []
    lines.append(r"\end{longtable}")
    lines += [rf"\noindent {_latex(note)}\par" for note in table.remarks]
    return "\n".join(lines) + "\n"


def print_table(table: Table, console: Console | None = None) -> None:
    """Print a table; nothing is cut off, also where the terminal is narrower: its lines wrap there.

    The lines are laid out here: with thousands of entries a table of rich's takes most of a second.
    """
    from rich.cells import cell_len
    from rich.console import Console
    from rich.text import Text

    rows = [tuple(map(Entry, table.columns)), *table.rows, *table.foot]
    texts = [[printable(entry.text) for entry in row] for row in rows]
    lengths = [list(map(cell_len, row)) for row in texts]
    widths, numeric = [max(column) for column in zip(*lengths)], table.numeric
    heads = {1: f"\n {'─' * (sum(widths) + 3 * len(widths) - 1)}"}  # what stands before a row, beside its line end
    if table.foot:
        heads[len(rows) - len(table.foot)] = heads.get(len(rows) - len(table.foot), "") + "\n"
    made = Text().append(printable(table.heading), style="bold").append("\n")
    for i, row in enumerate(rows):
        made.append(f"{heads.get(i, '')}\n ")
        is_bold = i == 0 or i > len(table.rows)
        for text, length, width, entry, right in zip(texts[i], lengths[i], widths, row, numeric):
            blank, style = " " * (width - length), "bold" if entry.bold else _RICH[entry.tone]
            made.append(f" {blank}{text} " if right else f" {text}{blank} ", f"bold {style}" if is_bold else style)
            made.append(" ")
    made.append("\n")
    for note in table.remarks:
        made.append(f"\n  {printable(note)}")
    console = console or Console()
    console.print(made, soft_wrap=True)
    console.print()


#: Suffix of a file → the function that writes it.
FILES = {".md": to_markdown, ".csv": to_csv, ".tex": to_latex}


def to_html(table: Table) -> str:
    """A page of its own with the one table, sortable, which needs no other file."""
    from mcls.reporting.page import render

    rows, foot = (
        [tuple(replace(entry, source="") for entry in row) for row in of] for of in (table.rows, table.foot)
    )
    return render("one_table.html", table=replace(table, rows=tuple(rows), foot=tuple(foot)), banner="")
