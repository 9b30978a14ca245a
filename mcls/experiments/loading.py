"""Reading a config: strict YAML, and errors that name the file, the line, the field and the nearest valid name."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from mcls.errors import McLsError, nearest, unknown_name
from mcls.experiments.config import DatasetEntry, ExperimentConfig, MachineEntry, schema
from mcls.files import require_file
from mcls.resources import configs_dir

_MOST_BYTES = 2**17  # of a config; reading one takes a time in proportion to its length
_SHOWN = 80  # letters of a value in a complaint


def shipped_configs() -> list[str]:
    """Names of the configs that travel with mcls."""
    return sorted(path.stem for path in configs_dir().glob("*.yaml"))


def find_config(text: str) -> Path:
    """The file a user means: a path, or the name of a shipped config."""
    path = Path(text)
    if os.path.isfile(path):
        return path
    if os.path.isdir(path):
        raise McLsError(f"{path} is a folder; give a YAML file in it")
    require_file(path)
    shipped = shipped_configs()
    if text in shipped:
        return configs_dir() / f"{text}.yaml"
    if path.name == text and not path.suffix:
        raise unknown_name("config", text, shipped)
    hint = ""
    if os.path.isdir(path.parent) and (
        mine := nearest(path.name, sorted(p.name for p in path.parent.glob("*.y*ml")))
    ):
        hint = f"; did you mean {path.parent / mine}?"
    elif path.stem in shipped:
        hint = f"; mcls ships one of that name: mcls run {path.stem}"
    raise McLsError(f"there is no file {text}{hint}")


def load_config(path: Path) -> ExperimentConfig:
    """Read and check a config; every mistake is a ``McLsError`` of one line."""
    try:
        with path.open("rb") as stream:
            raw = stream.read(_MOST_BYTES + 1)
    except OSError as error:
        raise McLsError(f"cannot read {path}: {error.strerror}") from None
    if len(raw) > _MOST_BYTES:
        raise McLsError(f"{path} is longer than {_MOST_BYTES} bytes; a config has a few hundred")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise McLsError(f"{path}: byte {error.start} is not UTF-8 text") from None
    return parse_config(text, path)


def parse_config(text: str, path: Path) -> ExperimentConfig:
    """Check the text of a config; ``path`` names it in messages and gives the default of ``name``."""
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is not None:
            _refuse_odd_mappings(node, path)
        values = loader.construct_document(node) if node is not None else None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f":{mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or str(error)
        raise McLsError(f"{path}{line}: not valid YAML: {problem}") from None
    except (RecursionError, ValueError, OverflowError) as error:
        if isinstance(error, McLsError):
            raise
        reason = "nested too deeply" if isinstance(error, RecursionError) else error
        raise McLsError(f"{path}: not valid YAML: {reason}") from None
    if not isinstance(values, dict):
        raise McLsError(f"{path}: a config is a list of 'field: value' lines, such as 'datasets: iris'")
    if "suite" in values:
        raise McLsError(
            f"{path} lists configs, which are run together by: mcls run {shlex.quote(str(path))}; give one of them here"
        )
    values.setdefault("name", path.stem)
    return config_from(values, str(path), node)


def config_from(values: dict[str, Any], where: str, node: yaml.Node | None = None) -> ExperimentConfig:
    """Check a config's values; ``where`` and the YAML node, if there is one, locate what is wrong."""
    try:
        return schema().model_validate(values)
    except ValidationError as error:
        raise McLsError(_explain(error, node, where)) from None


def _refuse_odd_mappings(root: yaml.Node, path: Path) -> None:
    """Refuse what YAML lets pass in silence: a field given twice, keys that are not text, aliases, half characters."""
    seen: set[int] = set()
    todo: list[yaml.Node] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, yaml.ScalarNode):
            if any("\ud800" <= letter <= "\udfff" for letter in node.value):
                line = node.start_mark.line + 1
                raise McLsError(
                    f"{path}:{line}: \\ud800 to \\udfff are not characters; write the character itself"
                )
        else:
            if id(node) in seen:
                raise McLsError(f"{path}:{node.start_mark.line + 1}: aliases (*name) are not used in configs")
            seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            todo.extend(node.value)
        elif isinstance(node, yaml.MappingNode):
            names: set[str] = set()
            for key, value in node.value:
                line = key.start_mark.line + 1
                if not isinstance(key, yaml.ScalarNode) or key.tag != "tag:yaml.org,2002:str":
                    shown = key.value if isinstance(key, yaml.ScalarNode) else "a list or mapping"
                    raise McLsError(f"{path}:{line}: '{shown}' is not the name of a field")
                if key.value in names:
                    raise McLsError(f"{path}:{line}: '{key.value}' is given twice")
                names.add(key.value)
                todo += (key, value)


def _explain(error: ValidationError, node: yaml.Node | None, path: str) -> str:
    """Tell the first complaint in one line, and how many more there are."""
    complaints = error.errors(include_url=False)
    # A mistyped field is an unknown one and a missing one: the first of the two says what to do.
    first = min(complaints, key=lambda complaint: complaint["type"] != "extra_forbidden")
    trail, line = _locate(first["loc"], node)
    if not first["loc"] and (quoted := re.search(r"'(\w+)'", first["msg"])):
        line = _locate([quoted[1]], node)[1]  # a complaint about several fields begins with one of them
    where = f"{path}:{line}" if line else path
    message = _message(first, trail)
    more = f" (and {len(complaints) - 1} more)" if len(complaints) > 1 else ""
    return f"{where}: {message}{more}"


def _locate(loc: Sequence[int | str], node: yaml.Node | None) -> tuple[str, int | None]:
    """The field as ``machines[1].grid`` and its line: the deepest part of ``loc`` that stands in the file."""
    trail, line = "", None
    parts = list(loc)
    for i, part in enumerate(parts):
        found = None
        if isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                if key.value == part:
                    found, line = value, key.start_mark.line + 1
        elif isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
            found = node.value[part]
            line = found.start_mark.line + 1
        if isinstance(part, int):
            trail += f"[{part}]"
        elif found is not None or i == 0 or _is_field(part):
            trail += f".{part}" if trail else part
        if found is not None:
            node = found
    return trail, line


def _is_field(part: str) -> bool:
    # Pydantic also puts the names of types into a location; those say nothing to the user.
    return any(part in model.model_fields for model in (schema(), DatasetEntry, MachineEntry))


def _message(complaint: Any, trail: str) -> str:
    kind, message, last = complaint["type"], complaint["msg"], complaint["loc"][-1] if complaint["loc"] else ""
    if kind == "extra_forbidden":
        owner: type[BaseModel] = schema()
        if "machines" in complaint["loc"]:
            owner = MachineEntry
        elif "datasets" in complaint["loc"]:
            owner = DatasetEntry
        return f"{trail}: {unknown_name('field', str(last), owner.model_fields)}"
    if kind == "literal_error" and isinstance(complaint.get("input"), str):
        known = [w.strip(" '\"") for w in complaint["ctx"]["expected"].replace(" or ", ",").split(",")]
        return f"{trail}: {unknown_name('value', complaint['input'], known)}"
    if kind == "too_short":
        return f"{trail}: the list is empty, give at least one"
    if kind == "missing":
        return f"'{trail}' is missing"
    message = message.removeprefix("Value error, ")
    if message.startswith("unknown data set"):
        message += "; a table of your own is given as {path: FILE.csv}"
    if message.startswith(("unknown machine", "unknown metric", "unknown protocol")):
        message += "; one of a plug-in is known with --plugin FILE.py"
    given = complaint.get("input")
    if kind != "value_error" and isinstance(given, str | int | float):
        shown = repr(given)
        message += f", got {shown if len(shown) <= _SHOWN else shown[:_SHOWN] + '…'}"
    return f"{trail}: {message}" if trail else message
