"""The renderers: what is in the table is in the text, and nothing in it breaks the format."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from jinja2 import Environment, PackageLoader
from rich.console import Console

from mcls.reporting.render import print_table, to_csv, to_latex, to_markdown
from mcls.reporting.table import make, number, words

AWKWARD = 'a|b & <c> 50%_{x} \\ ~^ "q"'


def to_html(table):
    template = Environment(loader=PackageLoader("mcls.reporting"), autoescape=True)
    return template.from_string('{% from "table.html" import show %}{{ show(table) }}').render(table=table)


@pytest.fixture
def table():
    rows = [
        [words("oneLSM"), number(2.8, source="#cells-t-0", tone="good"), words(AWKWARD)],
        [words("ovA"), number(None), words("")],
    ]
    return make("t", "A title & more", ["machine", "error", "what"], rows, ["a <note>"])


def test_markdown_has_one_line_a_row_and_escapes_bars(table):
    lines = to_markdown(table).splitlines()
    assert lines[0] == "# A title & more"
    assert lines[3] == "|---|---:|---|"
    assert lines[4].startswith("| oneLSM | 2.80 | a\\|b")
    assert len(re.findall(r"(?<!\\)\|", lines[4])) == 4
    assert lines[-1] == "- a &lt;note>"


def test_csv_reads_back_and_leaves_unknown_figures_empty(table):
    rows = list(csv.reader(io.StringIO(to_csv(table))))
    assert rows == [["machine", "error", "what"], ["oneLSM", "2.80", AWKWARD], ["ovA", "", ""]]


def test_csv_of_a_quick_run_says_so_in_every_row(table):
    quick = make(table.name, table.title, table.columns, table.rows, quick=True)
    rows = list(csv.DictReader(io.StringIO(to_csv(quick))))
    assert [row["run"] for row in rows] == ["quick", "quick"]


def test_latex_escapes_what_tex_would_read(table):
    text = to_latex(table)
    assert r"a|b \& $<$c$>$ 50\%\_\{x\} \textbackslash{} \textasciitilde{}\textasciicircum{}" in text
    assert r"\begin{longtable}{lrl}" in text
    assert text.count(r"\begin{") == text.count(r"\end{")


class _Balance(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str | None] = []
        self.data = ""

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "a":
            self.links.append(dict(attrs)["href"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.data += data


def test_html_is_balanced_escaped_and_linked(table):
    text = to_html(table)
    page = _Balance()
    page.feed(text)
    assert page.open == []
    assert page.links == ["#cells-t-0"]
    assert AWKWARD in page.data
    assert "<c>" not in text
    assert 'data-v="2.8"' in text
    assert 'class="n good"' in text


@pytest.mark.parametrize("render", [to_markdown, to_latex, to_html])
def test_every_format_of_a_quick_run_says_so(render, table):
    quick = make(table.name, table.title, table.columns, table.rows, quick=True)
    assert "QUICK" in render(quick)
    assert "QUICK" not in render(table)


def test_a_long_title_over_a_narrow_table_stays_one_line():
    out = io.StringIO()
    title = "a title that is much longer than " + "the table below it " * 5
    print_table(make("t", title.strip(), ["x"], [[words("y")]]), Console(file=out, width=100))
    assert title.strip() in out.getvalue().splitlines()


def test_outside_a_terminal_nothing_is_cut_off(table):
    out = io.StringIO()
    print_table(table, Console(file=out, width=20))
    assert AWKWARD in out.getvalue()
    assert "a <note>" in out.getvalue()


def test_the_foot_comes_last_in_every_format_and_is_not_sorted_in_html(table):
    foot = [[words("Average"), number(2.5), words("")]]
    footed = make(table.name, table.title, table.columns, table.rows, foot=foot)
    assert to_markdown(footed).splitlines()[6] == "| **Average** | **2.50** |  |"
    assert to_csv(footed).splitlines()[-1] == "Average,2.50,"
    assert "\\midrule\nAverage & 2.50 &  \\\\\n\\end{longtable}" in to_latex(footed)
    assert re.search(r"</tbody>\s*<tfoot>\s*<tr><td>Average</td>", to_html(footed))
    out = io.StringIO()
    print_table(footed, Console(file=out, width=100))
    assert out.getvalue().index("Average") > out.getvalue().index("ovA")
    with pytest.raises(ValueError, match="1 entries for 3 columns"):
        make(table.name, table.title, table.columns, table.rows, foot=[[words("short")]])


def test_what_a_record_says_of_its_machine_is_text_everywhere(table, capsys):
    poisoned = replace(table, notes=("CPU \x1b[2J<script>alert(1)</script>",))
    red = replace(table, title="a \x1b[31m title", columns=("\x1b[31m", *table.columns[1:]), foot=(table.rows[0],))
    red = replace(red, rows=((words("entry \x1b[31m"), *table.rows[0][1:]),))
    assert "CPU \x1b[2J&lt;script>" in to_markdown(poisoned)
    print_table(poisoned)
    assert "CPU �[2J<script>" in capsys.readouterr().out
    print_table(red)
    printed = capsys.readouterr().out
    assert "\x1b[31m" not in printed
    assert printed.count("�[31m") == 3


def test_columns_are_aligned_by_the_width_of_their_letters():
    rows = [[words("広い"), number(2.5)], [words("narrow"), number(12.25)]]
    out = io.StringIO()
    print_table(make("t", "title", ["name", "value"], rows, foot=[[words("all"), number(1.0)]]), Console(file=out))
    assert out.getvalue().splitlines() == [
        "title",
        "",
        "  name     value  ",
        " ────────────────",
        "  広い      2.50  ",
        "  narrow   12.25  ",
        "",
        "  all       1.00  ",
        "",
        "",
    ]


def test_names_are_no_html_in_markdown():
    table = make("t", "about <b>x</b>", ["data set", "<i>"], [[words("1"), words("a <script> | b")]])
    assert not re.search("<[a-z]", to_markdown(table))
    assert "&lt;script> \\| b" in to_markdown(table)


def test_latex_knows_greek_and_rows_that_begin_with_a_bracket():
    rows = [[words("[a] β-ω"), number(1.0)], [words("*b Ω"), number(2.0)]]
    text = to_latex(make("t", "t", ["data set", "x"], rows))
    assert "\n{}[a] $\\beta$-$\\omega$ & 1.00" in text
    assert "\n{}*b $\\Omega$ & 2.00" in text
