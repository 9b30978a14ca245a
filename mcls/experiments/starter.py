"""The commented config that ``mcls init`` writes for a table of the user's own."""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import yaml

from mcls.data.dataset import Dataset
from mcls.data.encoding import load_encoded
from mcls.data.formats import ColumnRules, TableFormat
from mcls.errors import McLsError, printable
from mcls.evaluation.folds import count_equal_rows, equal_rows, stratified_folds
from mcls.evaluation.protocols import Rows, check_splits
from mcls.experiments.loading import parse_config

_TEMPLATE = """\
# {n} rows, {d} features, {ell} classes ({classes}).
# Check it with `mcls validate {file}`, run it with `mcls run {file}`,
# draw it with `mcls plot errors {name}` and `mcls plot grid {name}`.

name: {quoted}                 # results go to results/{name}/

datasets:
  - path: {path}             # relative to this file; columns of text become one 0/1 feature for each text
    target: {target}         # the class column: its name, or its index from 0 (-1: the last)
{header}
machines:                    # `mcls machines` lists them all; `mcls machines NAME` explains one
  - oneLSM                   # least squares, one matrix inverse for all classes: fast, a good first choice
  - ovO                      # one least-squares machine per pair of classes
  - name: voLSSVM            # vector-output least-squares SVM, here with two labelbooks
    labelbook: [indicators, alignment]

metric: error                # chooses the parameters; a list also reports others: [error, balanced-error, auc]

# nested: an honest error, each fold judged with parameters chosen on the others.
# published: the smallest error over the grid, as papers print it; quicker, and optimistic.
protocol: nested
folds: {folds}                    # outer folds
inner_folds: {folds}              # folds of the grid search inside each
replicates: 3                # different random folds

grid:                        # every combination is tried; 2^-4..2^4 is 1/16, 1/8, ... 16
  gamma: 2^-4..2^4           # weight of the regularisation (of the errors in voLSSVM and voSVM)
  sigma: 2^-4..2^4           # width of the Gaussian kernel

scaling: fold                # to [-1, 1] from the training rows alone (also: dataset, standard, none)
seed: 0                      # the same seed gives the same folds, whatever machines are added
"""


_HEADER = {
    None: "",
    True: "    header: true             # the first row names the columns\n",
    False: "    header: false            # the first row is data; the columns are x0, x1, ...\n",
}


def make_starter(
    data: Path,
    target: str,
    output: Path | None,
    form: TableFormat | None = None,
    rules: ColumnRules | None = None,
) -> tuple[Path, str]:
    """The config's path and text for a table, which is read to make sure that it will run."""
    form, rules = form or TableFormat(), rules or ColumnRules()
    table = load_encoded(data, target, form, rules)
    stratified_folds(table.y, 10, seed=0)  # refuses classes of one row each
    # Results go to a folder of this name: the config's own, so that two configs of one table stay apart.
    stem = table.name if output is None else output.stem
    name = re.sub(r"[^A-Za-z0-9_-]+", "-", stem).strip("-_") or "experiment"
    path = output if output is not None else Path(f"{name}.yaml")
    shown = ", ".join(table.classes[:8]) + (", ..." if table.n_classes > 8 else "")
    text = _TEMPLATE.format(
        n=table.n,
        d=table.d,
        ell=table.n_classes,
        classes=printable(" ".join(shown.split())),
        file=printable(shlex.quote(str(path))),
        name=name,
        quoted=_quoted(name),  # YAML would read 2024 as a number
        path=_quoted(os.path.relpath(data, path.parent)),
        target=_quoted(target),
        header=_HEADER[form.header] + _given(form, rules) + _equal_rows(table),
        folds=10 if table.n < 1000 else 5,
    )
    parse_config(text, path)
    return path, text


_MEANING = {
    "delimiter": "between two cells",
    "decimal": "before the digits of a fraction",
    "encoding": "of the file's text",
    "drop": "columns that are left out",
    "keep": "columns that are used although they count rows",
    "categorical": "columns of numbers that are codes",
    "ordinal": "columns of texts with an order",
    "missing": "refuse or impute: by the median of the training rows, and a level of its own for text",
}


def _given(form: TableFormat, rules: ColumnRules) -> str:
    """The options of the table that the user gave, one line each with what it means."""
    lines, values = "", {**vars(form), **vars(rules)}
    for name, meaning in _MEANING.items():
        value = values[name]
        if value and value != "refuse":
            shown = _quoted(value) if isinstance(value, str) else f"[{', '.join(map(_quoted, value))}]"
            lines += f"    {name}: {shown}  # {meaning}\n"
    return lines


def _equal_rows(table: Dataset) -> str:
    groups = equal_rows(table.X)
    if groups is None:
        return ""
    try:
        check_splits(Rows(table.y, groups), "nested", {"folds": 10})
        split = "false  #"
    except McLsError:  # too few different rows for that
        split = "true   #"
    said = f"{count_equal_rows(table.y, groups)};\n    # false keeps equal rows in one fold"
    return f"    split_equal_rows: {split} {said}\n"


def _quoted(text: str) -> str:
    return yaml.safe_dump(text, default_style='"', width=10_000, allow_unicode=True).strip()
