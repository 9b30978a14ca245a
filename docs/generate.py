"""Pages that follow from the code: one per machine, the metrics and labelbooks, and the command-line reference."""

from __future__ import annotations

import inspect
import re
import shutil
from pathlib import Path
from typing import Any

import typer

from mcls.cli.app import app as cli
from mcls.evaluation.metrics import METRICS
from mcls.evaluation.protocols import PROTOCOLS
from mcls.labelbooks import LABELBOOKS
from mcls.machines.registry import MACHINES, Machine

#: Folder of the site that holds nothing but what is written here.
FOLDER = "reference"


def write_all(docs: Path) -> None:
    """Write every generated page below ``docs/reference``."""
    folder = docs / FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "machines").mkdir(parents=True)
    pages = {
        "machines/index.rst": machines_index(),
        "metrics-and-protocols.rst": declared_page(),
        "command-line.rst": command_line(),
        "python.rst": python_reference(),
    }
    for machine in MACHINES.values():
        pages[f"machines/{machine.name}.rst"] = machine_page(machine)
    for name, text in pages.items():
        (folder / name).write_text(text, encoding="utf-8")


def heading(text: str, line: str = "=") -> str:
    """A heading of reStructuredText."""
    return f"{text}\n{line * max(len(text), 4)}\n\n"


def list_table(titles: list[str], rows: list[list[str]], widths: str = "auto") -> str:
    """A table of reStructuredText, one list per row."""
    lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {widths}", ""]
    for cells in [titles, *rows]:
        lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(cells)]
    return "\n".join(lines) + "\n\n"


def machines_index() -> str:
    """All machines, one line each."""
    rows = [
        [f":doc:`{m.name}`", m.summary, m.reference, "yes" if m.create().swept else "refits"]
        for m in MACHINES.values()
    ]
    text = heading("Machines") + "Names are those of the command line and of configs, in any case.\n\n"
    text += list_table(["name", "what it is", "where it comes from", "exact sweep"], rows)
    names = "\n".join(f"   {name}" for name in MACHINES)
    return f"{text}.. toctree::\n   :hidden:\n\n{names}\n"


def machine_page(machine: Machine) -> str:
    """One machine: its problem and equations (the class's docstring), grid, and how to call it."""
    module, _, name = machine.target.partition(":")
    swept = machine.create().swept
    text = heading(machine.name) + f"{machine.summary[0].upper()}{machine.summary[1:]} ({machine.reference}).\n\n"
    fixed = ", ".join(f"``{key}={value!r}``" for key, value in machine.params.items())
    if fixed:
        text += f"This name fixes {fixed} of the class below.\n\n"
    rows = [[f"``{key}``", f"``{value}``"] for key, value in machine.grid.items()]
    text += heading("Grid searched by default", "-") + list_table(["parameter", "values"], rows)
    if swept:
        shared = ", ".join(f"``{parameter}``" for parameter in swept)
        text += f"At one kernel width, all values of {shared} share one sweep that equals refitting.\n\n"
    else:
        text += "Cross-validation refits this machine at every fold and grid point.\n\n"
    text += heading("On the command line", "-")
    other = next(name for name in MACHINES if name != machine.name)
    commands = [f"mcls machines {machine.name}", f"mcls compare {other} {machine.name} --dataset iris"]
    text += ".. code-block:: sh\n\n" + "".join(f"   {command}\n" for command in commands) + "\n"
    # Two names of one class: the index lists it once.
    again = "   :no-index:\n" * (machine is not next(m for m in MACHINES.values() if m.target == machine.target))
    members = "   :members: fit, predict, decision_function\n"
    return text + heading("In Python", "-") + f".. autoclass:: {module}.{name}\n{again}{members}"


def declared_page() -> str:
    """Metrics, protocols and labelbooks, from their registries."""
    text = heading("Metrics, protocols, labelbooks")
    text += heading("Metrics", "-")
    text += list_table(
        ["name", "what it is", "better", "needs"],
        [[f"``{m.name}``", m.summary, m.direction, m.need] for m in METRICS.values()],
    )
    text += heading("Protocols", "-")
    rows = []
    for protocol in PROTOCOLS.values():
        settings = ", ".join(f"``{key}: {value}``" for key, value in protocol.settings.items()) or "none"
        rows.append([f"``{protocol.name}``", protocol.summary, settings])
    text += list_table(["name", "what it does", "settings and their defaults"], rows)
    text += heading("Labelbooks", "-")
    return text + list_table(
        ["name", "what it is"], [[f"``{name}``", first_sentence(book)] for name, book in LABELBOOKS.items()]
    )


def first_sentence(documented: Any) -> str:
    """What an object says about itself in its first sentence."""
    text = (
        getattr(documented, "summary", None) or inspect.getdoc(getattr(documented, "function", documented)) or ""
    )
    return " ".join(text.split("\n\n")[0].split())


def command_line() -> str:
    """Every command with its help, arguments and options, as typer knows them."""
    root = typer.main.get_command(cli)
    text = heading("Command-line reference")
    text += f"{root.help}\n\nEvery command answers to ``--help``; ``mcls --debug`` shows where an error arose.\n\n"
    return text + "".join(_command(command, f"mcls {name}", "-") for name, command in _members(root))


def _members(group: Any) -> list[tuple[str, Any]]:
    return [(name, command) for name, command in group.commands.items() if not command.hidden]


def _command(command: Any, path: str, line: str) -> str:
    text = heading(path, line) + f"{_help(command.help or '')}\n\n"
    if getattr(command, "commands", None):
        return text + "".join(_command(sub, f"{path} {name}", "~") for name, sub in _members(command))
    context = typer.Context(command, info_name=path)
    usage = " ".join(command.collect_usage_pieces(context))
    text += f".. code-block:: text\n\n   {path} {usage}\n\n"
    rows = []
    for parameter in command.params:
        record = parameter.get_help_record(context)
        if parameter.param_type_name == "argument":
            name = getattr(parameter, "metavar", None) or parameter.name.upper()
            rows.append([f"``{name}``", _inline(getattr(parameter, "help", "") or "")])
        elif record is not None and parameter.name != "help":
            rows.append([f"``{' '.join(record[0].split())}``", _inline(record[1])])
    return text + (list_table(["argument or option", "what it is"], rows, "35 65") if rows else "")


def _inline(text: str) -> str:
    """One line in which nothing is markup."""
    return re.sub(r"([*`|_\\])", r"\\\1", " ".join(re.sub(r"\[/?[a-z ]+\]", "", text).split())) or " "


def _help(text: str) -> str:
    """Paragraphs of a help text; examples of commands as code."""
    paragraphs = []
    for paragraph in text.split("\n\n"):
        title, *commands = paragraph.split("\n")
        if commands:  # of examples; all others are one line (mcls.cli.typer_app.flowed)
            paragraphs.append(".. code-block:: sh\n\n" + "\n".join(f" {command}" for command in commands))
        else:
            paragraphs.append(_inline(title))
    return "\n\n".join(paragraphs)


def python_reference() -> str:
    """What can be imported from ``mcls``."""
    import mcls

    text = heading("Python reference") + "Everything here is imported from ``mcls`` itself.\n\n"
    of_machines = {machine.cls.__name__ for machine in MACHINES.values()}
    text += heading("Functions and classes", "-")
    for name in mcls.__all__:
        if name in of_machines:
            continue
        target = getattr(mcls, name)
        if inspect.isclass(target):
            # scikit-learn's methods for routing metadata refer to its own glossary.
            left_out = "set_fit_request, set_predict_request, set_score_request"
            text += f".. autoclass:: {target.__module__}.{target.__qualname__}\n   :members:\n"
            text += f"   :exclude-members: {left_out}\n\n"
        elif inspect.isfunction(target):
            text += f".. autofunction:: {target.__module__}.{target.__qualname__}\n\n"
    text += heading("Machines as classes", "-")
    rows = [
        [
            f"``{name}``",
            ", ".join(f":doc:`machines/{m.name}`" for m in MACHINES.values() if m.cls.__name__ == name),
        ]
        for name in sorted(of_machines)
    ]
    return text + list_table(["class", "documented at"], rows)
