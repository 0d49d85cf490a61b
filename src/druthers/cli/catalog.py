"""The commands about catalogs: show, check, write, update."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from druthers.advisor.editions import Editions
from druthers.advisor.updating import apply_changes, find_changes, items_of
from druthers.catalogs import CATALOGS, Catalog
from druthers.errors import DruthersError, InvalidCatalog, InvalidSetting, UnknownName
from druthers.language import domain_names, load_domain
from druthers.stores import open_store
from druthers.terminal import make_console

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

# Those that come along with items, then those that bring objectives only.
KNOWN = [*CATALOGS, *(name for name in domain_names() if name not in CATALOGS)]
Source = Annotated[
    str, typer.Argument(metavar="NAME|FILE", help=f"{', '.join(f'`{name}`' for name in KNOWN)}, or a file.")
]


@app.command()
def show(
    source: Source,
    items: Annotated[int, typer.Option(min=0, metavar="N", help="How many items to show.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print the whole catalog as JSON and nothing else.")] = False,
) -> None:
    """Show a catalog: what matters in it, and its first items.

    Values are shown as the file has them, in the unit of each objective; an arrow says which way is better, and a
    dash stands for what is not known.

        druthers catalog show hotels
        druthers catalog show inns.toml --items 50
    """
    catalog = _load(source)
    if as_json:
        print(json.dumps(catalog.content(), indent=1, ensure_ascii=False))
        return
    console = make_console()
    title = Text(catalog.name, style="bold cyan")
    if catalog.simulated:
        title.append("  simulated", style="yellow")
    console.print(title)
    if catalog.description:
        console.print(Text(catalog.description))
    console.print()
    console.print(_objectives(catalog))
    if catalog.items[:items]:
        console.print()
        console.print(_items(catalog, items))
    if len(catalog.items) > items:
        console.print(f"and {len(catalog.items) - items} more; --items shows them")


@app.command()
def check(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Catalogs in TOML or JSON.")],
) -> None:
    """Check files: tell everything that is wrong with each, or what is in it.

    The exit code is 2 if there is anything wrong, so that it can stand in a script before a catalog goes live.

        druthers catalog check inns.toml
    """
    problems = []
    for file in files:
        try:
            print(f"{file}: {_summary(Catalog.load(file))}")
        except DruthersError as error:
            problems.append(str(error))
    if problems:
        raise InvalidCatalog("\n".join(problems))


@app.command()
def write(
    source: Source,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where to: a name that ends in .toml or .json.")],
    force: Annotated[bool, typer.Option("--force", help="Replace a file that is there.")] = False,
) -> None:
    """Write a catalog to a file, to start your own from or to turn TOML into JSON and back.

    A file that is there already is left alone unless you say so.

        druthers catalog write hotels hotels.toml
    """
    catalog = _load(source)
    if file.exists() and not force:
        raise InvalidCatalog(f"a catalog must not replace a file unasked, but {file} is there; add --force")
    catalog.save(file)
    print(f"{file}: {_summary(catalog)}")


@app.command()
def update(
    source: Source,
    store: Annotated[
        str,
        typer.Option(metavar="WHERE", envvar="DRUTHERS_STORE", help="`sqlite:FILE` or `postgresql://HOST/NAME`."),
    ] = "sqlite:druthers.db",
    apply: Annotated[
        bool, typer.Option("--apply", help="Change it; without this, only say what would change.")
    ] = False,
    rename: Annotated[
        list[str] | None, typer.Option(metavar="OLD=NEW", help="An objective that is only called otherwise.")
    ] = None,
    retire: Annotated[bool, typer.Option("--retire", help="Take out items that the catalog lacks.")] = False,
    rescale: Annotated[
        bool, typer.Option("--rescale", help="Take the scales of all objectives from the items.")
    ] = False,
) -> None:
    """Say what a catalog would change in a journal, and change it with `--apply`.

    Items, words, ranges, objectives: a running service takes over what changed within a second. Where objectives or
    ranges change it starts over, and reads the whole journal by them; nothing that was said or felt is lost.

        druthers catalog update inns.toml
        druthers catalog update inns.toml --rename price=cost --apply
    """
    wanted = _load(source)
    with open_store(store, create=False) as journal:
        editions = Editions.of(journal)
        if editions is None:
            raise InvalidSetting(
                "a journal must have a catalog to change, but this one is empty; serve --catalog begins it"
            )
        items = items_of(journal, editions)
        how: dict[str, Any] = {"renamed": _renamed(rename or []), "retire": retire, "rescale": rescale}
        changes = find_changes(editions.catalog, items, wanted, **how)
        for line in changes.lines:
            print(line)
        if apply:
            apply_changes(journal, editions, changes)
    if not changes:
        print("the journal has all of it")
    else:
        print("changed" if apply else "nothing is changed yet; --apply does it")


def _renamed(pairs: list[str]) -> dict[str, str]:
    """Return names before and after from texts such as price=cost."""
    renamed = {}
    for pair in pairs:
        old, sign, new = (part.strip() for part in pair.partition("="))
        if not (old and sign and new):
            raise InvalidSetting(f"a new name must be given as OLD=NEW, but got {pair!r}")
        renamed[old] = new
    return renamed


def _load(source: str) -> Catalog:
    """Return a catalog from a file or by its name; a domain that sentences can be read for is one without items."""
    if source in KNOWN and source not in CATALOGS:
        return Catalog(source, load_domain(source))
    try:
        return Catalog.load(source)
    except UnknownName:
        raise UnknownName.of("catalog", source, KNOWN) from None


def _summary(catalog: Catalog) -> str:
    unknown = sum(catalog.n_objectives - len(item.values) for item in catalog.items)
    parts = [_counted(catalog.n_objectives, "objective"), _counted(len(catalog.items), "item")]
    return ", ".join([*parts, f"{_counted(unknown, 'value')} not known"] if unknown else parts)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _objectives(catalog: Catalog) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("objective", "range", "better", "about", "also called"):
        table.add_column(column, no_wrap=column in ("objective", "range"))
    for objective in catalog.objectives:
        table.add_row(
            Text(objective.name),
            f"{objective.low:g} to {objective.high:g}",
            "less" if objective.less_is_better else "more",
            Text(objective.description),
            Text(", ".join(objective.synonyms)),
        )
    return table


def _items(catalog: Catalog, count: int) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("item")
    for objective in catalog.objectives:
        table.add_column(Text(f"{objective.name} {'↓' if objective.less_is_better else '↑'}"), justify="right")
    table.add_column("about")
    for item in catalog.items[:count]:
        known = (item.values.get(objective.name) for objective in catalog.objectives)
        values = ["-" if value is None else f"{value:g}" for value in known]
        table.add_row(Text(item.name), *values, Text(item.description))
    return table
