"""The commands: read the arguments, call, print; one file for each group of them."""

from typing import Annotated

import typer

from druthers import __version__
from druthers.cli import bench, catalog, chat, conversation, data, evaluation, expect, lab, language, service, theory

__all__ = ["app"]

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    help="""
**Personalized multi-objective bandits that listen**: compare policies on the same draws, reproduce the paper, tune.

Start with

    druthers run synthetic

which plays our policies and every one of the paper in a few seconds and writes a report to look at.
""",
)
app.add_typer(lab.app)
app.add_typer(
    data.app, name="data", help="Bring studies of real people; build data from raw reviews or a table of your own."
)
app.add_typer(bench.app, name="bench", help="Benchmarks on what real people chose; enter a model of your own.")
app.add_typer(catalog.app, name="catalog", help="Show, check, build and change catalogs: what can be recommended.")
app.add_typer(theory.app, name="theory", help="Check every claim of the paper and our own theorem by experiment.")
app.add_typer(evaluation.app)
app.add_typer(language.app)
app.add_typer(chat.app)
app.add_typer(expect.app)
app.add_typer(service.app)
app.add_typer(service.keys_app, name="keys", help="Make, list and revoke API keys of a service.")
app.add_typer(service.store_app, name="store", help="Look after a service's journal: verify, export, import, compact.")
app.add_typer(conversation.app)


def _version(asked: bool) -> None:
    if asked:
        print(f"druthers {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    pass
