"""The pipelines: raw reviews or a table in, a data folder out."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from druthers.data.folders import FACTS, as_csv, as_experiment, require_free, write_folder
from druthers.data.reviews import beeradvocate, tripadvisor
from druthers.data.reviews.estimates import Estimates, doubts, estimate, most_active, without_constants
from druthers.data.reviews.ratings import Id, Ratings, Sieve, Step
from druthers.data.reviews.reading import Source, Watch, as_text, find_files
from druthers.data.reviews.tables import Columns, read_table, scaled
from druthers.drafts import finite, to_json
from druthers.errors import InvalidSetting, UnknownName
from druthers.types import Integers

# What the paper says is left, and how many users were chosen.
PAPER_HOTELS = Step("the paper", 786, 257, 62)
PAPER_BEERS = Step("the paper", None, 14, 167)


@dataclass(frozen=True)
class Built:
    """A data folder, and how it came about."""

    folder: Path
    item: str  # what its items are called, in the singular
    objectives: tuple[str, ...]
    steps: tuple[Step, ...]  # what was left after each step
    paper: Step | None  # what the paper says was left, if it says so
    estimates: Estimates
    damaged: dict[str, int]  # records skipped, by kind
    repaired: dict[str, int]  # records read in spite of something
    notes: tuple[str, ...]  # what is doubtful, and what was done about it


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

    Raw are lines of JSON, reviews and offerings, in a folder or one file; `out` is what `DRUTHERS_DATA` and `--data`
    name. A user, and then a hotel, must have so many reviews; with `fixed_point` both are asked again and again until
    nothing changes. The most active users are kept, while rewards are means over all that are left. The ridge is that
    in the regression of overall ratings on aspects.
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
    sieve.usable()
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

    return _finish(folder, "hotel", source, sieve, users, ridge, described, notes=notes, paper=PAPER_HOTELS)


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

    Raw data are the text form of SNAP. A beer, and then a user, must have so many reviews, and a beer must be reviewed
    by so many of these users, its raters: by all of them by default, as in the authors' data.
    """
    folder = Path(out) / "beeradvocate"
    require_free(folder)
    source = Source(find_files(Path(raw)), watch)
    ratings, names = beeradvocate.read_beeradvocate(source)
    sieve = _sieve(ratings, source)
    sieve.usable()
    sieve.at_least(of_item, "items", f"beers with {of_item:,} or more")
    sieve.at_least(of_user, "users", f"users with {of_user:,} or more")
    asked = sieve.steps[-1].users if raters is None else raters
    pairs = np.unique(np.column_stack([sieve.ratings.items, sieve.ratings.users]), axis=0)
    beers = np.bincount(pairs[:, 0], minlength=len(ratings.item_ids)) >= asked
    sieve.keep(beers[sieve.ratings.items], f"beers reviewed by {asked:,} of them", "ask for fewer raters")
    numbers = {key: number for number, key in enumerate(ratings.item_ids)}

    def described(key: Id) -> dict[str, str]:
        return {"id": as_text(key), "name": as_text(names[numbers[key]])}

    users = most_active(sieve.ratings, None)
    return _finish(folder, "beer", source, sieve, users, ridge, described, paper=PAPER_BEERS)


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

    The table is CSV with a line of names, or Parquet. A user and an item must have so many ratings, asked until nothing
    changes; of users by default as many as there are objectives, since fewer cannot fix their weights. The most active
    users are kept, all by default. The ridge is that in the regression of the utility on the objectives.
    """
    folder = Path(out)
    require_free(folder)
    source = Source([Path(file)], watch)
    ratings, notes = scaled(read_table(Path(file), columns, source), columns, source)
    sieve = _sieve(ratings, source)
    sieve.usable()
    sieve.until_stable(len(columns.rated) if of_user is None else of_user, of_item, "item")
    sieve.ratings, constants = without_constants(sieve.ratings)
    users = most_active(sieve.ratings, n_users)
    return _finish(
        folder, "item", source, sieve, users, ridge, lambda key: {"id": as_text(key)}, notes=notes + constants
    )


def _sieve(ratings: Ratings, source: Source) -> Sieve:
    if not len(ratings):
        raise InvalidSetting(
            f"raw data must hold reviews, but {', '.join(path.name for path in source.paths)} held"
            f" {source.skipped or 'nothing'}; see that it is the right file, whole and unpacked"
        )
    return Sieve(ratings, "reviews that can be read", source.skipped)


def _finish(
    folder: Path,
    item: str,
    source: Source,
    sieve: Sieve,
    users: Integers,
    ridge: float,
    described: Callable[[Id], dict[str, str]],
    *,
    notes: Sequence[str] = (),
    paper: Step | None = None,
) -> Built:
    """Estimate the preferences of some users, look for doubts, and write the folder.

    From an item's id, `described` tells what is known of it: id, name and more. Without a `paper`, which says what is
    left there, the folder gets an experiment of its own.
    """
    ratings = sieve.ratings
    estimates = estimate(ratings, users, ridge)
    built = Built(
        folder=folder,
        item=item,
        objectives=ratings.objectives,
        steps=tuple(sieve.steps),
        paper=paper,
        estimates=estimates,
        damaged=dict(source.damaged.most_common()),
        repaired=dict(source.repaired.most_common()),
        notes=(*notes, *doubts(ratings, estimates, ridge)),
    )
    items = [described(ratings.item_ids[number]) for number in estimates.items]
    labels = [f"{facts['name']} [{facts['id']}]" if facts.get("name") else facts["id"] for facts in items]
    names = [as_text(ratings.user_ids[number]) for number in users]
    files = {
        "rewards.csv": as_csv(item, labels, ratings.objectives, estimates.rewards),
        "preferences.csv": as_csv("user", names, ratings.objectives, estimates.preferences),
        FACTS: to_json(_facts(built, source, ridge, items, names)),
    }
    if paper is None:
        noise = float(estimates.reward_noise.mean()), estimates.preference_noise
        files[f"{folder.resolve().name}.toml"] = as_experiment(f"Regret on {folder.resolve().name}", *noise)
    write_folder(folder, files)
    return built


def _facts(
    built: Built, source: Source, ridge: float, items: Sequence[dict[str, str]], names: Sequence[str]
) -> dict[str, Any]:
    estimates = built.estimates
    return {
        "about": "what rewards.csv and preferences.csv were made from; noise is a variance, as in the environments",
        "files": [path.name for path in source.paths],
        "objectives": list(built.objectives),
        "ridge": ridge,
        "steps": [step._asdict() for step in (*built.steps, built.paper) if step],
        "damaged": built.damaged,
        "repaired": built.repaired,
        "notes": list(built.notes),
        "reward_noise": {
            name: finite(float(f"{noise:.4g}"))
            for name, noise in zip(built.objectives, estimates.reward_noise, strict=True)
        },
        "preference_noise": finite(float(f"{estimates.preference_noise:.4g}")),
        "items": [{**facts, "reviews": int(count)} for facts, count in zip(items, estimates.item_counts, strict=True)],
        "users": [
            {"id": name, "reviews": int(count)} for name, count in zip(names, estimates.user_counts, strict=True)
        ],
    }
