"""Simulated files in the raw formats, ugly records included: to try the pipelines, test them and measure them.

Nothing in them is real: names are numbered, texts are filler, ratings come from a seed.
"""

import gzip
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from druthers.data.reviews import beeradvocate, tripadvisor
from druthers.types import Floats, Integers

# Records drawn at a time, so that any number needs the memory of one batch; part of what a seed means.
BATCH = 8_192
CITIES = ("New York City", "Houston", "San Diego", "Boston")
WORDS = "a fine the room and was very dark malt but with staff foam head of street sweet café night in over Köln too"


def write_beers(
    path: Path, *, n_reviews: int, seed: int = 0, ugly: float = 0.01, n_users: int = 33_000, n_beers: int = 66_000
) -> None:
    """Write reviews in the text form of SNAP, gzip where the name ends in .gz; the same bytes for the same seed.

    A share of the records is `ugly`, damaged or odd. Of the users and beers to draw from few have most of the reviews.
    """
    texts = _texts(seed, 700)
    with _opened(path) as file:
        for start, rng, users, beers in _draws(n_reviews, seed, n_users, n_beers):
            ratings = _ratings(rng, users, beers, len(beeradvocate.RATED), half=True)
            strange = rng.random(len(users)) < ugly
            lines = []
            for row, (user, beer, values) in enumerate(zip(users.tolist(), beers.tolist(), ratings, strict=True)):
                record = (
                    f"beer/name: Beer No. {beer}\nbeer/beerId: {beer}\nbeer/brewerId: {beer % 997}\n"
                    f"beer/ABV: {4 + beer % 9}.50\nbeer/style: Style {beer % 104}\nreview/appearance: {values[0]:g}\n"
                    f"review/aroma: {values[1]:g}\nreview/palate: {values[2]:g}\nreview/taste: {values[3]:g}\n"
                    f"review/overall: {values[4]:g}\nreview/time: {1_000_000_000 + start + row}\n"
                    f"review/profileName: taster{user}\nreview/text: {texts[(start + row) % len(texts)]}\n\n"
                ).encode()
                lines.append(UGLY_BEERS[int(rng.integers(len(UGLY_BEERS)))](record) if strange[row] else record)
            file.write(b"".join(lines))


def write_hotels(
    folder: Path, *, n_reviews: int, seed: int = 0, ugly: float = 0.01, n_users: int = 60_000, n_hotels: int = 4_300
) -> None:
    """Write review.txt and offering.txt, one JSON object on each line; parameters as in `write_beers`.

    A tenth of the reviews has no user, and three in ten lack a rating.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _opened(folder / "offering.txt") as file:
        for hotel in range(n_hotels):
            city = CITIES[hotel % len(CITIES)]
            address = {"region": "XX", "street-address": f"{hotel} Main Street", "locality": city}
            about = {"type": "hotel", "id": hotel, "name": f"Hotel No. {hotel}"}
            file.write(json.dumps({"hotel_class": 3.0, "address": address, **about}).encode() + b"\n")
    texts = _texts(seed, 1_000)
    with _opened(folder / "review.txt") as file:
        for start, rng, users, hotels in _draws(n_reviews, seed, n_users, n_hotels):
            ratings = _ratings(rng, users, hotels, len(tripadvisor.RATED), half=False)
            strange, nameless, partial = rng.random((3, len(users))) < np.array([[ugly], [0.1], [0.3]])
            lines = []
            for row, (user, hotel, values) in enumerate(zip(users.tolist(), hotels.tolist(), ratings, strict=True)):
                rated: dict[str, Any] = dict(zip(tripadvisor.RATED, values, strict=True))
                if partial[row]:
                    del rated[tripadvisor.RATED[int(rng.integers(6))]]
                name = "" if nameless[row] else f"{user:032X}"
                record = {
                    "ratings": rated,
                    "title": "“A stay”",
                    "text": texts[(start + row) % len(texts)],
                    "author": {"username": f"guest{user}", "num_reviews": 3, "id": name, "location": "Elsewhere"},
                    "date_stayed": "December 2012",
                    "offering_id": hotel,
                    "date": "December 17, 2012",
                    "id": start + row,
                    "via_mobile": False,
                }
                lines.append(_ugly_hotel(rng, record) if strange[row] else json.dumps(record).encode() + b"\n")
            file.write(b"".join(lines))


def _opened(path: Path) -> Any:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        return gzip.GzipFile(path, "wb", compresslevel=1, mtime=0)
    return path.open("wb")


def _texts(seed: int, length: int) -> list[str]:
    rng, words = np.random.default_rng([seed, 1]), np.array(WORDS.split())
    return [" ".join(rng.choice(words, int(n))) for n in rng.integers(1, length // 3, 300)]


def _draws(
    n_reviews: int, seed: int, n_users: int, n_items: int
) -> Iterator[tuple[int, np.random.Generator, Integers, Integers]]:
    """Yield the users and items of the reviews batch by batch."""
    for number, start in enumerate(range(0, n_reviews, BATCH)):
        rng = np.random.default_rng([seed, 2, number])
        size = min(BATCH, n_reviews - start)
        yield start, rng, _ranks(rng, size, n_users, 0.8), _ranks(rng, size, n_items, 0.9)


def _ranks(rng: np.random.Generator, size: int, n: int, steepness: float) -> Integers:
    """Draw numbers below n, k with a chance of (k + n/1500)^-steepness: few have many reviews, most have few."""
    flat, power = max(1.0, n / 1_500), 1.0 - steepness
    low, high = flat**power, (n + flat) ** power
    drawn: Integers = ((low + (high - low) * rng.random(size)) ** (1.0 / power) - flat).astype(np.int64)
    return np.minimum(drawn, n - 1)


def _ratings(rng: np.random.Generator, users: Integers, items: Integers, n: int, *, half: bool) -> list[list[float]]:
    """Return ratings that depend on the item, with a halo over all; the last is a user's own mix of the others."""
    halo = 4.0 + 0.5 * np.sin(items * 7.0)[:, None] + 0.4 * rng.standard_normal((len(items), 1))
    aspects = halo + 0.3 * np.cos(items[:, None] * np.arange(1.0, n)) + 0.5 * rng.standard_normal((len(items), n - 1))
    steps = 2.0 if half else 1.0
    aspects = np.clip(np.round(aspects * steps) / steps, 1.0, 5.0)
    weights: Floats = 1.0 + np.sin(users[:, None] * np.arange(1.0, n))
    overall = (weights * aspects).sum(axis=1) / weights.sum(axis=1) + 0.2 * rng.standard_normal(len(items))
    overall = np.clip(np.round(overall * steps) / steps, 1.0, 5.0)
    rows: list[list[float]] = np.column_stack([aspects, overall]).tolist()
    return rows


def _line(field: bytes, value: bytes) -> Callable[[bytes], bytes]:
    """Return a change of one field of a beer record."""

    def changed(record: bytes) -> bytes:
        head, _, tail = record.partition(field + b": ")
        return head + field + b": " + value + tail[tail.find(b"\n") :]

    return changed


UGLY_BEERS: tuple[Callable[[bytes], bytes], ...] = (
    lambda record: record[: len(record) // 3],  # cut off, and joined to the next
    lambda record: record[: len(record) // 3] + b"\n\n",
    lambda record: record[:-1],  # a blank line is missing
    lambda record: record.replace(b"\n", b"\r\n"),
    lambda record: b"\n" + record + b"\n\n",
    lambda record: b"\n".join(reversed(record.rstrip().split(b"\n"))) + b"\n\n",  # another order
    lambda record: record.replace(b"review/text: ", b"review/text: one\n\ntwo "),
    lambda record: record.replace(b"Beer No.", b"B\xe9\xfc\xff"),
    lambda record: record.replace(b"taster", b"t\xe4ster\x00"),
    lambda record: record.replace(b"review/taste", b"review/tase"),
    lambda record: record + b"\x00\x01\xff garbage \n\n",
    lambda record: record[:-2] + b"\nreview/taste: 4\n\n",  # a field twice
    lambda record: record[:-2] + b" long" * 5_000 + b"\n\n",
    _line(b"review/profileName", b""),
    _line(b"review/profileName", b"x" * 300),
    _line(b"beer/beerId", b""),
    _line(b"review/aroma", b""),
    _line(b"review/aroma", b"nan"),
    _line(b"review/aroma", b"good"),
    _line(b"review/overall", b"0"),
    _line(b"review/overall", b"1e999"),
    _line(b"review/palate", b" 3.50 "),
)


def _ugly_hotel(rng: np.random.Generator, record: dict[str, Any]) -> bytes:
    """Return a line with something wrong: a value of the wrong kind somewhere, or bytes that are no JSON."""
    kind = int(rng.integers(8))
    values: tuple[Any, ...] = (None, "4", float("nan"), float("inf"), 0, 99, True, [4.0], {"is": 4}, 10**400, "\ud800")
    value = values[int(rng.integers(len(values)))]
    if kind == 0:
        record["ratings"][tripadvisor.RATED[int(rng.integers(7))]] = value
    elif kind == 1:
        record[str(rng.choice(["ratings", "author", "offering_id"]))] = value
    elif kind == 2:
        record["author"]["id"] = value
    elif kind == 3:
        del record[str(rng.choice(["ratings", "author", "offering_id"]))]
    line = json.dumps(record).encode() + b"\n"
    if kind == 4:
        return line[: len(line) // 2] + b"\n"
    if kind == 5:
        return line.replace(b"guest", b"g\xfcest\xff").replace(b"Elsewhere", b"\xc3(")
    if kind == 6:
        return (b"\x00\n", b"[]\n", b"[" * 20_000 + b"\n", b"4\n", b"{}\n", b'{"name": 3}\n')[int(rng.integers(6))]
    if kind == 7:
        return b"\xef\xbb\xbf " + line.replace(b"\n", b"\r\n\n")
    return line
