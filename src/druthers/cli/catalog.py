"""The commands about catalogs: build, show, check, write, diff, apply."""

import json
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from druthers._jit import uncollected
from druthers.advisor.editions import Editions
from druthers.advisor.updating import Changes, apply_changes, find_changes, items_of
from druthers.advisor.wording import count
from druthers.catalogs import CATALOGS, Catalog
from druthers.catalogs.scales import with_scales
from druthers.cli import options
from druthers.cli.options import argument, flag, option
from druthers.cli.remote import Remote
from druthers.data.catalog.building import build_catalog
from druthers.data.catalog.roles import COST, GAIN, Asked
from druthers.data.catalog.sheets import stem_of
from druthers.errors import DruthersError, InvalidCatalog, InvalidSetting, UnknownName
from druthers.language import domain_names, load_domain
from druthers.stores import is_journal, open_store
from druthers.terminal import make_console, table_of

app = typer.Typer(no_args_is_help=True, rich_markup_mode="markdown")

# Those that come along with items, then those that bring objectives only.
KNOWN = [*CATALOGS, *(name for name in domain_names() if name not in CATALOGS)]
Source = Annotated[str, argument("NAME|FILE", f"{', '.join(f'`{name}`' for name in KNOWN)}, or a file.")]


@app.command()
def show(
    source: Source,
    items: Annotated[int, option("N", "How many items to show.", min=0)] = 10,
    as_json: options.AsJson = False,
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
    files: Annotated[list[Path], argument("FILE", "Catalogs in TOML or JSON.")],
) -> None:
    """Check files: tell everything that is wrong with each, or what is in it.

    The exit code is 2 if there is anything wrong,
    so that it can stand in a script before a catalog goes live.

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
    file: Annotated[Path, argument("FILE", "Where to: a name that ends in .toml or .json.")],
    force: Annotated[bool, flag("Replace a file that is there.", "--force")] = False,
) -> None:
    """Write a catalog to a file, to start your own from or to turn TOML into JSON and back.

    A file that is there already is left alone
    unless you say so.

        druthers catalog write hotels hotels.toml
    """
    catalog = _load(source)
    if file.exists() and not force:
        raise InvalidCatalog(f"a catalog must not replace a file unasked, but {file} is there; add --force")
    catalog.save(file)
    print(f"{file}: {_summary(catalog)}")


Key = Annotated[str, option("KEY", "API key of a running service, with the role admin.", envvar="DRUTHERS_KEY")]
Rename = Annotated[list[str] | None, option("OLD=NEW", "An objective that is only called otherwise.")]
Retire = Annotated[bool, flag("Take out items that the catalog lacks.", "--retire")]
Rescale = Annotated[bool, flag("Take the scales of all objectives from the items.", "--rescale")]
ADDRESSES = ("http://", "https://")


@app.command()
def build(
    file: Annotated[Path, argument("FILE", "CSV of any make, Parquet, or JSON line by line.")],
    id: Annotated[str | None, option("COLUMN", "What items are known by.")] = None,
    name: Annotated[str | None, option("COLUMN", "What items are called.")] = None,
    objectives: Annotated[
        str | None, option("A,B:cost,...", "Columns that matter; `:cost` where less is better, else `:gain`.")
    ] = None,
    details: Annotated[str | None, option("A,B,...", "Columns of further facts; all others by default.")] = None,
    user: Annotated[str | None, option("COLUMN", "Who rated, in a table with a row for each rating.")] = None,
    like: Annotated[
        str | None, option("NAME|FILE", "An earlier catalog, whose objectives and ranges stay as they are.")
    ] = None,
    out: Annotated[Path | None, option("FILE", "Where to: .json or .toml; FILE.json by default.")] = None,
    force: Annotated[bool, flag("Replace a file that is there.", "--force")] = False,
) -> None:
    """Make a catalog from a table of items, or of ratings of items, and say what was guessed and doubted.

    Names and cells tell which columns matter and which way, which are facts to limit by, how many ratings stand behind
    a value, and what is missing. Where a guess is wrong, say it better with an option.

        druthers catalog build hotels.csv
        druthers catalog build tonight.csv --like hotels.json
        druthers catalog build hotels.csv --objectives price:cost,rating,distance:cost --details city,kind,pool
    """
    target = file.parent / f"{stem_of(file)}.json" if out is None else out
    if target.exists() and not force and not file.is_dir():  # which is refused for what it is
        raise InvalidCatalog(f"a catalog must not replace a file unasked, but {target} is there; add --force or --out")
    asked = Asked(
        id=id,
        name=name,
        user=user,
        objectives=None if objectives is None else tuple(map(_directed, options.listed(objectives))),
        details=None if details is None else tuple(options.listed(details)),
    )
    with uncollected():
        built = build_catalog(file, asked, like=None if like is None else _load(like))
        for line in built.guesses:
            print(line)
        for doubt in built.doubts:
            print(f"doubt          {doubt}")
        built.catalog.save(target)
    print(f"{target}: {_summary(built.catalog)}")
    print(f"now: druthers serve --catalog {target}")


@app.command()
def diff(
    old: Annotated[str, argument("OLD", "A file or name, a journal, or the address of a service.")],
    new: Source,
    rename: Rename = None,
    retire: Retire = False,
    rescale: Rescale = False,
    key: Key = "",
) -> None:
    """Say what a catalog would change: in a journal, in a running service, or against another file.

    Nothing is changed: `apply` does that,
    with the same options.

        druthers catalog diff sqlite:inns.db inns.toml
        druthers catalog diff http://127.0.0.1:8000 inns.toml --rename price=cost
    """
    changes = _change(old, _load(new), key, apply=False, renamed=_renamed(rename or []), retire=retire, rescale=rescale)
    print("nothing is changed; druthers catalog apply does it" if changes else "nothing differs")


@app.command()
def apply(
    source: Source,
    to: Annotated[
        str,
        option(
            "WHERE",
            "`sqlite:FILE`, `postgresql://HOST/NAME`, or the address of a running service.",
            envvar="DRUTHERS_STORE",
        ),
    ] = "sqlite:druthers.db",
    rename: Rename = None,
    retire: Retire = False,
    rescale: Rescale = False,
    key: Key = "",
) -> None:
    """Make the catalog of a journal, or of a running service, like this one.

    Items, words, ranges, objectives: a running service takes over what changed within a second. Where objectives or
    ranges change it starts over, and reads the whole journal by them; nothing that was said or felt is lost.

        druthers catalog apply inns.toml --to sqlite:inns.db
        druthers catalog apply inns.toml --to http://127.0.0.1:8000 --retire
    """
    changes = _change(
        to, _load(source), key, apply=True, renamed=_renamed(rename or []), retire=retire, rescale=rescale
    )
    print("changed" if changes else "nothing differs")


def _change(where: str, wanted: Catalog, key: str, *, apply: bool, **how: Any) -> Changes:
    """Say what a catalog would change somewhere, and change it if that is asked for."""
    with ExitStack() as stack:
        make: Callable[[Changes], object]
        if where.startswith(ADDRESSES):
            remote = Remote(where, key)
            known, items, make = remote.catalog, remote.items(), remote.apply
        elif apply or is_journal(where):
            journal = stack.enter_context(open_store(where, create=False))
            editions = Editions.of(journal)
            if editions is None:
                raise InvalidSetting(
                    "a journal must have a catalog to change, but this one is empty; serve --catalog begins it"
                )
            known, items = editions.catalog, items_of(journal, editions)
            make = partial(apply_changes, journal, editions)
        else:
            known = _load(where)
            items = {one.id: one for one in known.items}
            known = replace(known, objectives=with_scales(known.objectives, [one.values for one in known.items]))
        changes = find_changes(known, items, wanted, **how)
        for line in changes.lines:
            print(line)
        if apply:
            make(changes)
    return changes


def _directed(text: str) -> tuple[str, str]:
    """Return the column and the way of an objective, from texts such as price:cost."""
    name, sign, way = (part.strip() for part in text.rpartition(":")) if ":" in text else (text, "", "")
    if sign and way not in (COST, GAIN):
        raise InvalidSetting(f"an objective must be a column, or one with :cost or :gain, but got {text!r}")
    return name, way


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
    parts = [count(catalog.n_objectives, "objective"), count(len(catalog.items), "item")]
    return ", ".join([*parts, f"{count(unknown, 'value')} not known"] if unknown else parts)


def _objectives(catalog: Catalog) -> Table:
    table = table_of("objective", "range", "better", "about", "also called", left=5)
    table.columns[0].no_wrap = table.columns[1].no_wrap = True
    for objective in catalog.objectives:
        table.add_row(
            Text(objective.name),
            f"{objective.low:g} to {objective.high:g}",
            "less" if objective.less_is_better else "more",
            Text(objective.description),
            Text(", ".join(objective.synonyms)),
        )
    return table


def _items(catalog: Catalog, most: int) -> Table:
    table = table_of("item", *(Text(f"{one.name} {'↓' if one.less_is_better else '↑'}") for one in catalog.objectives))
    table.add_column("about")
    for item in catalog.items[:most]:
        known = (item.values.get(objective.name) for objective in catalog.objectives)
        values = ["-" if value is None else f"{value:g}" for value in known]
        table.add_row(Text(item.name), *values, Text(item.description))
    return table
