"""The BeerAdvocate reviews in the text form of SNAP: lines `beer/...` and `review/...`, a blank line after each."""

import math
import re

from druthers.data.reviews.ratings import Gathering, Ratings
from druthers.data.reviews.reading import LONGEST_ID, Source

OBJECTIVES = ("appearance", "aroma", "palate", "taste")

RATED = tuple(b"review/" + name.encode() for name in (*OBJECTIVES, "overall"))
BEER, NAME, USER = b"beer/beerId", b"beer/name", b"review/profileName"
FIELDS = frozenset((*RATED, BEER, NAME, USER))

# A record as it should be, or else, as the last group, whatever stands before the next blank line: it is read line by
# line. One pattern that eats whole blocks takes a quarter of the time of splitting them and matching the parts.
RECORD = re.compile(
    rb"(?:beer/name: (.*)\nbeer/beerId: (\d{1,20})\nbeer/brewerId: .*\nbeer/ABV: .*\nbeer/style: .*\n"
    rb"review/appearance: (.*)\nreview/aroma: (.*)\nreview/palate: (.*)\nreview/taste: (.*)\nreview/overall: (.*)\n"
    rb"review/time: .*\nreview/profileName: (\S.{0,199})\nreview/text: .*|((?s:.*?)))(?:\n\n|\Z)"
)
STARS = {text.encode(): float(text) for half in range(2, 11) for text in (f"{half / 2:g}", f"{half / 2:.1f}")}


def read_beeradvocate(source: Source) -> tuple[Ratings, list[bytes]]:
    """Return all reviews, whole or not, and the names of the beers; damaged records are counted in the source."""
    gathering = Gathering(OBJECTIVES)
    add, user_of, item_of = gathering.add, gathering.user, gathering.item
    names: list[bytes] = []
    found: tuple[bytes, bytes, list[float], bytes] | str | None
    for block in source.blocks(b"\n\n"):
        for name, beer, *ratings, user, odd in RECORD.findall(block):
            try:
                found = name, beer, [STARS[rating] for rating in ratings], user.rstrip()
            except KeyError:  # a second look, at its ratings or at the whole record
                parts = (value.strip() for value in (name, beer, *ratings, user))
                found = _review(dict(zip((NAME, BEER, *RATED, USER), parts, strict=True))) if beer else _fields(odd)
            if isinstance(found, tuple):
                item = item_of(found[1])
                if item == len(names):
                    names.append(found[0])
                add(user_of(found[3]) if found[3] else -1, item, found[2])
            elif found:
                source.damaged[found] += 1
    return gathering.ratings(), names


def _fields(record: bytes) -> tuple[bytes, bytes, list[float], bytes] | str | None:
    """Return name, beer, ratings and user of a record in any order, or what is wrong with it; None if it is blank."""
    found: dict[bytes, bytes] = {}
    for line in record.split(b"\n"):
        key, colon, value = line.partition(b":")
        if colon and key in FIELDS:
            if key in found:
                return "a field twice"
            found[key] = value.strip()
    if not found:
        return "no field of a review" if record.strip() else None
    return _review(found)


def _review(found: dict[bytes, bytes]) -> tuple[bytes, bytes, list[float], bytes] | str:
    """Return the same of the fields that were found."""
    beer, user = found.get(BEER, b""), found.get(USER, b"")
    if not beer:
        return "no beer"
    if len(beer) > LONGEST_ID or len(user) > LONGEST_ID:
        return f"an id longer than {LONGEST_ID}"
    values = [_stars(found.get(key, b"")) for key in RATED]
    if math.inf in values:
        return "a rating that is no number from 1 to 5"
    return found.get(NAME, b""), beer, values, user


def _stars(text: bytes) -> float:
    """Return a rating, NaN where there is none and infinity where something else stands."""
    try:
        value = float(text or "nan")
    except ValueError:
        return math.inf
    return value if not text or 1.0 <= value <= 5.0 else math.inf
