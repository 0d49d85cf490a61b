"""The pipelines: raw reviews or a table in, a data folder out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from druthers.data import beeradvocate, tripadvisor
from druthers.data.built import Built, finish
from druthers.data.diagnosis import without_constants
from druthers.data.estimates import most_active
from druthers.data.folders import require_free
from druthers.data.ratings import Id, Ratings, Sieve, Step
from druthers.data.reading import Source, Watch, as_text, find_files
from druthers.data.tables import Columns, read_table, scaled
from druthers.errors import InvalidSetting, UnknownName

# What the paper says is left, and how many users were chosen.
PAPER_HOTELS = Step("the paper", 786, 257, 62)
PAPER_BEERS = Step("the paper", None, 14, 167)


# Over sixty lines with its settings and what they mean; the filters are told in the order in which they work.
def build_tripadvisor(
    raw: str | Path,
    out: str | Path,
    *,
    of_user: int = 10,
    of_item: int = 10,
    n_users: int = 10,
    fixed_point: bool = False,
    city: str | None = None,
    ridge: float = 0.0,
    watch: Watch | None = None,
) -> Built:
    """Make the folder `tripadvisor` in `out` from raw reviews of hotels, with the paper's filters.

    Parameters
    ----------
    raw
        Folder with the reviews and offerings as lines of JSON, or one file of them.
    out
        Where data sets are kept: what `DRUTHERS_DATA` and `--data` name.
    of_user, of_item
        Reviews that a user, and then a hotel, must have.
    n_users
        How many of the most active users are kept; rewards are means over all that are left.
    fixed_point
        Ask users and hotels again and again until nothing changes, instead of once each.
    city
        Only hotels of this city.
    ridge
        Strength of the ridge in the regression of overall ratings on aspects.
    watch
        Called with the bytes read and their number.
    """
    folder = Path(out) / "tripadvisor"
    require_free(folder)
    source = Source(find_files(Path(raw)), watch)
    ratings, hotels = tripadvisor.read_tripadvisor(source)
    sieve = _sieve(ratings, source)
    if city is not None:
        cities = [hotels[key].city if key in hotels else "" for key in ratings.item_ids]
        if city not in cities:
            raise UnknownName.of("city", city, sorted({as_text(name) for name in cities if name}))
        sieve.keep(np.array([name == city for name in cities])[ratings.items], f"hotels in {city}", "name another city")
    sieve.named()
    sieve.complete()
    notes = []
    if fixed_point:
        sieve.until_stable(of_user, of_item, "hotel")
    else:
        sieve.at_least(of_user, "users", f"users with {of_user:,} or more")
        sieve.at_least(of_item, "items", f"hotels with {of_item:,} or more")
        stable = sieve.stable(of_user, of_item)
        notes.append(
            f"users and hotels were asked for enough reviews once; asked until nothing changes, {stable.reviews:,} "
            f"reviews of {stable.users:,} users and {stable.items:,} hotels would be left"
        )
    users = most_active(sieve.ratings, n_users)

    def described(key: Id) -> dict[str, str]:
        hotel = hotels.get(key, tripadvisor.Hotel("", ""))
        return {"id": as_text(key), "name": as_text(hotel.name), "city": as_text(hotel.city)}

    return finish(folder, "hotel", source, sieve, users, ridge, described, notes=notes, paper=PAPER_HOTELS)


def build_beeradvocate(
    raw: str | Path,
    out: str | Path,
    *,
    of_user: int = 2_000,
    of_item: int = 50,
    raters: int | None = None,
    ridge: float = 0.0,
    watch: Watch | None = None,
) -> Built:
    """Make the folder `beeradvocate` in `out` from raw reviews of beers, with the paper's filters.

    Parameters
    ----------
    raw, out, ridge, watch
        As in `build_tripadvisor`; raw data are the text form of SNAP.
    of_item, of_user
        Reviews that a beer, and then a user, must have.
    raters
        How many of these users must have reviewed a beer; all by default, as in the authors' data.
    """
    folder = Path(out) / "beeradvocate"
    require_free(folder)
    source = Source(find_files(Path(raw)), watch)
    ratings, names = beeradvocate.read_beeradvocate(source)
    sieve = _sieve(ratings, source)
    sieve.named()
    sieve.complete()
    sieve.at_least(of_item, "items", f"beers with {of_item:,} or more")
    sieve.at_least(of_user, "users", f"users with {of_user:,} or more")
    asked = sieve.steps[-1].users if raters is None else raters
    sieve.keep(_widely_rated(sieve.ratings, asked), f"beers reviewed by {asked:,} of them", "ask for fewer raters")
    numbers = {key: number for number, key in enumerate(ratings.item_ids)}

    def described(key: Id) -> dict[str, str]:
        return {"id": as_text(key), "name": as_text(names[numbers[key]])}

    users = most_active(sieve.ratings, None)
    return finish(folder, "beer", source, sieve, users, ridge, described, paper=PAPER_BEERS)


def build_table(
    file: str | Path,
    out: str | Path,
    columns: Columns,
    *,
    of_user: int | None = None,
    of_item: int = 1,
    n_users: int | None = None,
    ridge: float = 1.0,
    watch: Watch | None = None,
) -> Built:
    """Make a data folder from any table of ratings, and an experiment in it that compares policies.

    Parameters
    ----------
    file
        CSV with a line of names, or Parquet.
    out
        The folder to make.
    columns
        Which column is what.
    of_user, of_item
        Ratings that a user and an item must have, asked until nothing changes; of users by default as many as there
        are objectives, since fewer cannot fix their weights.
    n_users
        How many of the most active users are kept; all by default.
    ridge
        Strength of the ridge in the regression of the utility on the objectives.
    watch
        Called with the bytes of a CSV file read and their number.
    """
    folder = Path(out)
    require_free(folder)
    source = Source([Path(file)], watch)
    ratings, notes = scaled(read_table(Path(file), columns, source), columns, source)
    sieve = _sieve(ratings, source)
    sieve.named()
    sieve.complete()
    sieve.until_stable(len(columns.rated) if of_user is None else of_user, of_item, "item")
    sieve.ratings, constants = without_constants(sieve.ratings)
    users = most_active(sieve.ratings, n_users)
    return finish(
        folder, "item", source, sieve, users, ridge, lambda key: {"id": as_text(key)}, notes=notes + constants
    )


def _sieve(ratings: Ratings, source: Source) -> Sieve:
    if not len(ratings):
        found = ", ".join(f"{number:,} × {kind}" for kind, number in source.damaged.items()) or "nothing"
        raise InvalidSetting(
            f"raw data must hold reviews, but {', '.join(path.name for path in source.paths)} held {found}; "
            "see that it is the right file, whole and unpacked"
        )
    return Sieve(ratings, "reviews that can be read")


def _widely_rated(ratings: Ratings, asked: int) -> NDArray[np.bool_]:
    """Return the rows of items that so many different users rated."""
    pairs = np.unique(np.column_stack([ratings.items, ratings.users]), axis=0)
    raters = np.bincount(pairs[:, 0], minlength=len(ratings.item_ids))
    return np.asarray((raters >= asked)[ratings.items], dtype=np.bool_)
