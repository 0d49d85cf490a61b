"""The TripAdvisor reviews as lines of JSON: reviews with ratings of aspects, and the hotels they are about."""

import math
from typing import Any, NamedTuple

from druthers.data.reviews.ratings import Gathering, Id, Ratings
from druthers.data.reviews.reading import LONGEST_ID, Source, json_of

OBJECTIVES = ("cleanliness", "location", "rooms", "service", "sleep quality", "value")
RATED = ("cleanliness", "location", "rooms", "service", "sleep_quality", "value", "overall")


class Hotel(NamedTuple):
    """What an offering says of a hotel."""

    name: str
    city: str


def read_tripadvisor(source: Source) -> tuple[Ratings, dict[Id, Hotel]]:
    """Return all reviews, whole or not, and the hotels by id; damaged records are counted in the source.

    Reviews and offerings may stand in any files and any order: their keys tell which is which.
    """
    gathering = Gathering(OBJECTIVES)
    hotels: dict[Id, Hotel] = {}
    for block in source.blocks(b"\n"):
        for line in block.split(b"\n"):
            if not line.strip():
                continue
            record = _parsed(line, source)
            if not isinstance(record, dict):
                source.damaged["no JSON object"] += 1
            elif "ratings" in record or "offering_id" in record:
                found = _review(record)
                if isinstance(found, str):
                    source.damaged[found] += 1
                else:
                    user, hotel, values = found
                    gathering.add(gathering.user(user) if user else -1, gathering.item(hotel), values)
            elif (hotel := _id(record.get("id"))) and isinstance(record.get("name"), str):
                hotels[hotel] = Hotel(record["name"], _city(record))
            else:
                source.damaged["neither a review nor a hotel"] += 1
    return gathering.ratings(), hotels


def _parsed(line: bytes, source: Source) -> Any:
    """Return what a line of JSON says, None if nothing; bytes that are no UTF-8 become replacement signs."""
    try:
        text = line.decode()
    except UnicodeDecodeError:
        text = line.decode("utf-8", "replace")
        source.repaired["bytes that are no UTF-8"] += 1
    return json_of(text.removeprefix("\ufeff"))


def _review(record: dict[str, Any]) -> tuple[str, str, list[float]] | str:
    """Return user (empty if unknown), hotel and ratings (NaN if missing), or what is wrong."""
    hotel = _id(record.get("offering_id"))
    if not hotel:
        return "a review without a hotel"
    ratings = record.get("ratings")
    if not isinstance(ratings, dict):
        if ratings is not None:
            return "ratings that are no JSON object"
        ratings = {}
    values = [ratings.get(key) for key in RATED]
    if any(value is not None and (type(value) not in (float, int) or not 1.0 <= value <= 5.0) for value in values):
        return "a rating that is no number from 1 to 5"
    author, told = record.get("author"), [math.nan if value is None else float(value) for value in values]
    return _id(author.get("id")) if isinstance(author, dict) else "", hotel, told


def _id(value: Any) -> str:
    """Return an id as text; an empty one for what cannot be an id."""
    if type(value) is int and 0 <= value < 10**LONGEST_ID:
        return str(value)
    return value.strip() if isinstance(value, str) and len(value) <= LONGEST_ID else ""


def _city(record: dict[str, Any]) -> str:
    address = record.get("address")
    city = record.get("city") or (address.get("locality") if isinstance(address, dict) else "")
    return city if isinstance(city, str) else ""
