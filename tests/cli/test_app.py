"""The command as a whole: quick to start, one line an error, an example in every help."""

import subprocess
import sys

import pytest
import typer.main
from pydantic_core import SchemaError

from mcls.cli.app import app, main

from ..command import piped


def commands(group, path=()):
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
        else:
            yield (*path, name)


@pytest.mark.parametrize("command", list(commands(typer.main.get_command(app))), ids=" ".join)
def test_every_command_explains_itself_with_an_example(command, capsys):
    with pytest.raises(SystemExit) as end:
        main([*command, "--help"])
    assert end.value.code == 0
    out = capsys.readouterr().out
    assert "Example" in out
    assert "--help" in out
    assert "<bool>" not in out  # a flag takes no value


@pytest.mark.parametrize("command", list(commands(typer.main.get_command(app))), ids=" ".join)
def test_the_help_fits_any_width_and_loses_no_word_to_markup(command, capsys, monkeypatch):
    made = typer.main.get_command(app)
    for name in command:
        made = made.commands[name]
    widest = max(made.help.split("\n"), key=len)  # a whole paragraph, which the terminal breaks where it ends
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", len(widest) + 10)
    with pytest.raises(SystemExit):
        main([*command, "--help"])
    shown = [line.strip() for line in capsys.readouterr().out.splitlines()]
    for line in made.help.split("\n"):
        assert line.strip() in shown


@pytest.mark.parametrize("group", [[], ["data"]])
def test_the_flags_of_a_group_show_no_type_either(group, capsys):
    with pytest.raises(SystemExit):
        main([*group, "--help"])
    out = capsys.readouterr().out
    assert "--help" in out
    assert "<bool>" not in out


def test_help_and_version_load_nothing_heavy():
    script = (
        "import sys; from mcls.cli.app import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numpy', 'scipy', 'sklearn', 'pandas', 'matplotlib', 'joblib'} & set(sys.modules)\n"
        "sys.exit(f'loaded: {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_version(capsys):
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.startswith("mcls ")


def test_a_mistake_is_one_line_and_exit_code_2(capsys):
    with pytest.raises(SystemExit) as end:
        main(["machines", "oneLMS"])
    captured = capsys.readouterr()
    assert end.value.code == 2
    assert captured.err.count("\n") == 1
    assert "did you mean 'oneLSM'" in captured.err


@pytest.mark.parametrize(
    "args, told",
    [
        (["fit"], "Missing argument 'DATA.csv' (see mcls fit --help)"),
        (["fit", "a.csv", "--seed", "-1"], "'--seed'"),
        (["run", "iris", "--nope"], "No such option"),
        (["compar"], "(see mcls --help)"),
    ],
)
def test_a_wrong_use_is_one_line_and_exit_code_2_too(args, told):
    done = piped(*args)
    assert done.returncode == 2
    assert done.stdout == b""
    assert done.stderr.count(b"\n") == 1
    assert done.stderr.startswith(b"mcls: ")
    assert told.encode() in done.stderr


def test_a_command_without_its_subcommand_shows_the_help(capsys):
    with pytest.raises(SystemExit) as end:
        main(["data"])
    assert end.value.code == 2
    assert "Usage" in capsys.readouterr().out


def test_debug_shows_the_traceback():
    assert b"Traceback" in piped("--debug", "machines", "oneLMS").stderr


@pytest.mark.parametrize(
    "command", ["run", "validate", "tables", "report", "plot ranks", "store verify", "compare oneLSM ovA --from"]
)
def test_a_name_longer_than_any_file_has_is_a_mistake_like_another(command, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), "x" * 400])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("mcls: ")


def test_an_interrupt_that_pydantic_wraps_is_an_interrupt(capsys, monkeypatch):
    def declares(*args, **kwargs):
        raise SchemaError('Error building "default" validator: KeyboardInterrupt:')  # as pydantic-core tells it

    monkeypatch.setattr("mcls.cli.app.app", declares)
    with pytest.raises(SystemExit) as ended:
        main(["machines"])
    assert ended.value.code == 130
    assert capsys.readouterr().err == "mcls: interrupted\n"
