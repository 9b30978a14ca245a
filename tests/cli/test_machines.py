"""``mcls machines`` and ``mcls labelbooks``: what the registries hold, and nothing heavy imported for it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mcls.cli.app import main
from mcls.labelbooks import LABELBOOKS
from mcls.machines.registry import MACHINES


def call(*args: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(args))
    return int(ended.value.code or 0)


def test_lists_every_machine(capsys):
    assert call("machines") == 0
    out = capsys.readouterr().out
    for machine in MACHINES.values():
        assert any(machine.name in line and machine.summary in line for line in out.splitlines())


@pytest.mark.parametrize("name", MACHINES)
def test_explains_each(capsys, name):
    assert call("machines", name.upper()) == 0
    out = capsys.readouterr().out
    machine = MACHINES[name]
    assert out.startswith(f"{name}: {machine.summary}\nReference: {machine.reference}\n")
    assert machine.cls.__doc__.splitlines()[0] in out
    for option in machine.cls().get_params(deep=False):
        assert f"\n  {option} = " in out
    for option, value in machine.params.items():
        assert f"  {option} = {value!r} (fixed for this machine)" in out


def test_a_typo_gets_a_suggestion(capsys):
    assert call("machines", "oneLMS") == 2
    assert "did you mean 'oneLSM'" in capsys.readouterr().err


def test_lists_every_labelbook(capsys):
    assert call("labelbooks") == 0
    out = capsys.readouterr().out
    for book in LABELBOOKS.values():
        assert book.name in out
        assert book.summary in out


def test_help_and_the_list_import_no_numpy():
    code = (
        "import sys\nfrom mcls.cli.app import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print(sorted({'numpy', 'scipy', 'sklearn', 'pandas'} & set(sys.modules)), file=sys.stderr)"
    )
    for args in (["--help"], ["machines"], ["run", "--help"], ["compare", "--help"]):
        done = subprocess.run([sys.executable, "-c", code, *args], capture_output=True, text=True, check=True)
        assert done.stderr.strip() == "[]", args
