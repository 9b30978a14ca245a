"""``mcls data``: list, show, fetch, verify and import data sets."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mcls.cli.completing import dataset_names
from mcls.cli.documents import print_json
from mcls.cli.options import Json
from mcls.cli.typer_app import App
from mcls.errors import McLsError
from mcls.terminal import echo, make_console, output

if TYPE_CHECKING:
    from rich.table import Table

    from mcls.data.cards import Card

app = App(
    no_args_is_help=True,
    rich_markup_mode="rich",
    help="Data sets: what there is, where it comes from, and whether it is right.",
    epilog="Examples:  mcls data list   |   mcls data show vowel   |   mcls data fetch usps-esl",
)

OFFLINE = {
    "shipped": "yes, shipped",
    "generated": "yes, generated",
    "download": "after a download",
    "folder": "with your folder",
    "plugin": "with its plug-in",
}


def _content(card: Card, cached: bool) -> dict[str, Any]:
    """A card as values."""
    size = card.size
    return {
        "name": card.name,
        "title": card.title,
        "rows": None if size is None else size.rows,
        "features": None if size is None else size.features,
        "classes": None if size is None else size.classes,
        "origin": card.origin,
        "cached": cached,
        "options": {key: list(option.choices) for key, option in card.options.items()},
        "fingerprint": card.fingerprint,
        "licence": card.licence,
        "citation": card.citation,
        "homepage": card.homepage,
    }


def _print(table: Table) -> None:
    """Print a table; nothing is cut off when the output goes to a pipe or a file."""
    with output(highlight=False, markup=False, width=None if sys.stdout.isatty() else 200) as console:
        console.print(table)


@app.command(
    "list", epilog="Examples:  mcls data list   |   mcls data list | grep shipped", help="List all data sets."
)
def list_sets(as_json: Json = False) -> None:
    """Print one line per card, with the size of what is loaded when no option is given."""
    from rich.table import Table

    from mcls.data.cache import is_cached
    from mcls.data.cards import card_names, load_card

    if as_json:
        cards = [load_card(name) for name in card_names()]
        print_json("data", {"datasets": [_content(card, is_cached(card)) for card in cards]})
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("name", "rows", "features", "classes", "offline", "cached", "options"):
        number = heading in {"rows", "features", "classes"}
        table.add_column(heading, justify="right" if number else "left", no_wrap=True)
    for name in card_names():
        card = load_card(name)
        size = card.size
        table.add_row(
            name,
            *(("?", "?", "?") if size is None else map(str, (size.rows, size.features, size.classes))),
            OFFLINE[card.origin],
            "yes" if is_cached(card) else "",
            " ".join(card.options),
        )
    _print(table)


@app.command(epilog="Examples:  mcls data show vowel   |   mcls data show pavia-university")
def show(
    name: Annotated[
        str, typer.Argument(help="A name that [bold]mcls data list[/bold] shows.", autocompletion=dataset_names)
    ],
    as_json: Json = False,
) -> None:
    """Show a data set's card: what it is, its options, where it comes from, whom to cite."""
    from rich.table import Table

    from mcls.data.cache import cached_path, is_cached
    from mcls.data.cards import load_card
    from mcls.data.variants import ROW_OPTIONS

    card = load_card(name)
    if as_json:
        print_json("data", {"datasets": [_content(card, is_cached(card))]})
        return
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold", max_width=120)

    def line(key: str, value: str) -> None:
        grid.add_row(key, value)

    line("name", card.name)
    line("title", card.title)
    line("what it is", card.description)
    if card.shape and card.classes:
        if card.by_default is not None:
            line("by default", str(card.by_default))
        line("whole table", f"{card.shape[0]} rows × {card.shape[1]} features, {len(card.classes)} classes")
        line("rows per class", ", ".join(f"{key} {count}" for key, count in card.classes.items()))
    if card.features:
        line("features", ", ".join(card.features))
    for key, option in card.options.items():
        for choice, meaning in option.choices.items():
            line("option", f"{key}={choice}: {meaning}{' (default)' if choice == option.default else ''}")
    for key, meaning in ROW_OPTIONS.items():
        line("option", f"{key}=…: {meaning}")
    if card.origin == "folder":
        line("option", "path=…: the folder, unless it was imported")
    line("works offline", OFFLINE[card.origin])
    line("cached", "yes" if is_cached(card) else "no")
    for file in card.files:
        line("file", f"{file.name}, {file.bytes} bytes, sha256 {file.sha256}")
        for source in file.sources:
            line("address", source.url + (f" (member {source.member})" if source.member else ""))
        if os.path.isfile(cached_path(card, file)):
            line("in the cache", str(cached_path(card, file)))
    if card.fingerprint:
        line("fingerprint", card.fingerprint)
    line("licence", card.licence)
    line("cite", card.citation)
    line("homepage", card.homepage)
    _print(grid)


@app.command(
    epilog="Examples:  mcls data fetch usps-esl   |   mcls data fetch --all   |   "
    "mcls data fetch iris --remote --mirror http://localhost:8000   |   "
    "mcls data fetch --all --remote --mirror file:///media/usb/data"
)
def fetch(
    names: Annotated[
        list[str] | None, typer.Argument(help="Names of data sets.", metavar="NAME", autocompletion=dataset_names)
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Fetch every set; continue after one that cannot be fetched.")
    ] = False,
    remote: Annotated[bool, typer.Option("--remote", help="Download also what is cached or shipped.")] = False,
    mirror: Annotated[
        str | None,
        typer.Option(
            help="Address of a flat folder of the files (http, https or file), tried first.",
            envvar="MCLS_MIRROR",
            metavar="URL",
        ),
    ] = None,
) -> None:
    """Download data sets into the cache, checked against their cards.

    The exit code is 0 when all is there, 1 when --all cannot fetch some set, 2 when a file is refused or a named set
    fails.
    """
    from mcls.data.cache import RefusedError
    from mcls.data.cards import card_names, load_card

    if bool(names) == everything:
        raise McLsError("name the data sets to fetch, or give --all for every one of them")
    cards = [load_card(name) for name in names or card_names()]
    failures: list[McLsError] = []
    with _progress() as bar:
        for card in cards:
            try:
                typer.echo(f"{card.name}: {_fetch_one(card, everything, remote, mirror, bar)}")
            except McLsError as error:
                if not everything:
                    raise
                failures.append(error)
    if failures:
        typer.echo(f"{len(failures)} could not be fetched:", err=True)
        for failure in failures:
            echo(f"  {failure}", err=True)
        raise typer.Exit(2 if any(isinstance(failure, RefusedError) for failure in failures) else 1)


def _fetch_one(card: Card, everything: bool, remote: bool, mirror: str | None, bar: Callable[[str], Any]) -> str:
    from mcls.data.cache import is_cached
    from mcls.data.fetch import fetch

    if card.origin == "generated":
        return "made by mcls itself, nothing to fetch"
    if card.origin == "folder":
        if everything:
            return "in the cache" if is_cached(card) else "not free; mcls data import takes your folder"
        raise McLsError(f"{card.name} is not free; if you have it: mcls data import {card.name} FOLDER")
    if not card.files and (everything or not remote):
        return "shipped with mcls, no address to download it from"
    if not remote and is_cached(card):
        return "in the cache"
    if not remote and card.origin == "shipped":
        return "shipped with mcls (--remote downloads it all the same)"
    data = fetch(card, mirror, again=remote, progress=bar)
    return f"fetched, {data.n} × {data.d} with {data.n_classes} classes, as its card says"


@app.command(epilog="Example:  mcls data verify")
def verify() -> None:
    """Read every shipped, generated and cached table again and compare it with its card."""
    from mcls.data.verify import verify

    bad = 0
    for check in verify():
        if check.problem is None:
            typer.echo(f"{check.name}: ok ({check.where})")
        else:
            bad += 1
            echo(f"{check.name}: NOT OK ({check.where}): {check.problem}", err=True)
    if bad:
        raise typer.Exit(1)


@app.command(epilog="Example:  mcls data fingerprint mine.csv >> datasets/mine.yaml")
def fingerprint(
    table: Annotated[Path, typer.Argument(help="CSV with a header, class last (may be gzipped).", metavar="FILE")],
) -> None:
    """Print the fields of a card that describe its table: shape, features, classes, fingerprint."""
    from mcls.data.describing import describe_table

    for line in describe_table(table).splitlines():
        echo(line)


@app.command(
    "import",
    epilog="Examples:  mcls data import pavia-university PaviaU.mat PaviaU_gt.mat   |   "
    "mcls data import usps-esl ~/Downloads   |   mcls data import cohn-kanade faces/",
)
def import_set(
    name: Annotated[str, typer.Argument(help="The data set the files belong to.", autocompletion=dataset_names)],
    paths: Annotated[
        list[Path], typer.Argument(help="Files, zip archives that hold them, or a folder.", metavar="PATH")
    ],
) -> None:
    """Take files that you have into the cache, checked against the card."""
    from mcls.data.cards import load_card
    from mcls.data.importing import import_files

    card = load_card(name)
    missing = import_files(card, paths)
    typer.echo(f"{card.name}: imported{f'; still missing: {chr(44).join(missing)}' if missing else ''}")


@contextmanager
def _progress() -> Iterator[Callable[[str], Any]]:
    """Open progress bars on stderr; nothing is drawn when that is not a terminal."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    console = make_console(stderr=True)
    progress = Progress(
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
        redirect_stdout=sys.stdout.isatty(),  # output sent to a file must not end up on the terminal
    )
    with progress if console.is_terminal else nullcontext():  # rich before 15 ends with an empty line

        class Bar:
            """What pooch asks of a progress bar, drawn by rich."""

            def __init__(self, name: str) -> None:
                self.task = progress.add_task(name, total=None)
                self.total = 0  # pooch sets it when the server says how long the file is

            def update(self, n: int) -> None:
                progress.update(self.task, advance=n, total=self.total or None)

            def reset(self) -> None:
                progress.reset(self.task)

            def close(self) -> None:
                progress.update(self.task, visible=False)

        yield Bar
