"""What each column of a table of items is: by its name first, then by what stands in it."""

import re
import tomllib
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from importlib.resources import files
from itertools import pairwise
from typing import Any

from druthers.data.catalog.cells import EMPTY, FLAG, LIST, MISSING, NUMBER, TEXT, Cells, are_words
from druthers.data.catalog.units import is_numeral
from druthers.errors import InvalidSetting, choices

COST, GAIN = "cost", "gain"
MOST_OBJECTIVES = 12
MOST_DETAILS = 50
RATERS = frozenset({"customer", "user", "guest", "visitor", "buyer", "client", "traveler", "traveller"})
JOINING = frozenset({"of", "to", "from", "with", "for", "in"})  # within a name they belong to it: "good with children"
ENDS = frozenset({"min", "max", "minimum", "maximum"})
MONEY = frozenset({"eur", "euro", "euros", "usd", "gbp", "chf", "dollars", "pounds"})
CAPITALS = r"(?<=[a-z][a-z])(?=[A-Z])|(?<=[A-Z][a-z])(?=[A-Z][a-z]{2})"  # where a word begins: not within "kWh"
EACH = frozenset({"per", "pro", "je", "por", "par", "each"})
LONG, LONGEST = 80, 400  # letters: of a description, and of a detail
OF_THEIR_OWN = 0.7  # share of different texts that makes them names
BARE = re.compile(r"\d[\d.,'’ ]*")
FREE, NO_FEE = frozenset({"free", "gratis", "kostenlos", "gratuit"}), frozenset({"none", "no"})
RATED_AGAIN = 1.5  # rows to an item from which on a table with people in it is one of ratings


@cache
def words() -> dict[str, Any]:
    """Return what the words in names of columns mean."""
    table: dict[str, Any] = tomllib.loads(files("druthers.data.catalog").joinpath("columns.toml").read_text("utf-8"))
    return table


def stems(word: str) -> tuple[str, ...]:
    """Return a word and what it may be the plural of."""
    return (word, *(word.removesuffix(end) for end in ("s", "es", "en", "n") if word.endswith(end) and len(word) > 3))


def tokens(header: str) -> list[str]:
    """Return the words of a name: small letters without marks, cut where capitals, figures or signs begin anew.

    Examples
    --------
    >>> tokens("pricePerNight (EUR)"), tokens("Größe_m2")
    (['price', 'per', 'night', 'eur'], ['grosse', 'm2'])
    """
    return [_folded(word) for word in _cut(header)]


def _cut(header: str) -> list[str]:
    """Return the words of a name as they are written: "distanceToStation" has three, "hasWiFi" two."""
    return re.findall(r"[^\W_]+|#", re.sub(CAPITALS, " ", unicodedata.normalize("NFC", header)))


def _folded(word: str) -> str:
    letters = (sign for sign in unicodedata.normalize("NFKD", word) if not unicodedata.combining(sign))
    return "".join(letters).casefold()


def has(said: Sequence[str], which: str) -> bool:
    """Tell whether a name is one of a list, or has one of its words."""
    known = words()[which]
    return " ".join(said) in known or any(stem in known for word in said for stem in stems(word))


def tidy(header: str, *, measured: bool = True) -> tuple[str, str]:
    """Return what a column is to be called, in a word or two, and the unit that its name tells if it is of numbers.

    Examples
    --------
    >>> tidy("avg_price_per_night_eur"), tidy("review_scores_cleanliness"), tidy("hasPool"), tidy("Noise (dB)")
    (('price', 'euros'), ('cleanliness', ''), ('pool', ''), ('noise', 'decibels'))
    >>> tidy("Consumption (l/100km)")
    ('consumption', 'l/100 km')
    >>> tidy("Top speed (km/h)"), tidy("price (EUR/h)")
    (('top speed', 'km/h'), ('price', 'euros'))
    >>> tidy("# reviews"), tidy("Price per person"), tidy("good with children")
    (('reviews', ''), ('price', ''), ('good with children', ''))
    >>> tidy("Größe"), tidy("length_days"), tidy("opening_hours", measured=False)
    (('größe', ''), ('length', 'days'), ('opening hours', ''))
    """
    used = re.search(r"[\W_]+(?:(l|kwh)\s*/\s*100\s*km|km[/_ ]h)\W*$", header, re.I) if measured else None
    header = header[: used.start()] if used else header
    said = [word for word in tokens(header) if word != "#"] or tokens(header)
    unit = "" if used is None else f"{used[1]}/100 km" if used[1] else "km/h"
    while measured and len(said) > 1 and said[-1] in words()["units"]:
        unit = words()["units"][said.pop()]
    said = _paid(said)
    fillers = words()["fillers"]
    telling_nothing = [word.isdigit() or any(stem in fillers for stem in stems(word)) for word in said]
    kept = [
        word
        for place, word in enumerate(said)
        if not telling_nothing[place]
        or (word in JOINING and not all(telling_nothing[:place]) and not all(telling_nothing[place:]))
    ]
    telling = [word for word in said if _way(word)]
    if not kept or (telling and set(kept) <= RATERS):  # "customer rating"
        kept = telling[:1] or said
    elif set(kept) <= ENDS or kept[0] in JOINING:  # "min nights", "value for money"
        kept = said
    written = {_folded(word): word.lower() for word in _cut(header)}
    return " ".join(written[word] for word in kept), unit


def direction(header: str) -> str | None:
    """Return whether less or more is better, by the last word that tells; None where none does.

    Examples
    --------
    >>> [
    ...     direction(name)
    ...     for name in ("price_eur", "Distance to beach", "review_score", "year_built", "cost per person")
    ... ]
    ['cost', 'cost', 'gain', None, 'cost']
    """
    said = _paid([word for word in tokens(header) if word not in words()["units"]]) or tokens(header)
    neither = words()["neither"]
    if " ".join(said) in neither:
        return None
    if any(stem in neither for word in (*said[-1:], *said[:1]) for stem in stems(word)) and not _way(said[-1]):
        return None
    paid = COST if set(tokens(header)) & MONEY and not any(word in neither for word in said) else None
    pairs = [f"{first} {second}" for first, second in pairwise(said)]  # "hourly rate"
    return next(filter(None, map(_way, [*reversed(pairs), *reversed(said)])), paid)  # "main course (EUR)": by its unit


def _paid(said: Sequence[str]) -> list[str]:
    """Return the words of a name without what a price is for: "per person", "pro Nacht"."""
    place = next((place for place, word in enumerate(said) if word in EACH and _way(said[place - 1]) == COST), None)
    return list(said) if place in (None, 0) else list(said[:place])


def _way(word: str) -> str | None:
    """Return whether a word, or two, tells that less or more is better."""
    ways = (COST if stem in words()["costs"] else GAIN if stem in words()["gains"] else None for stem in stems(word))
    return next(filter(None, ways), None)


@dataclass(frozen=True)
class Asked:
    """Which column is what, as the user of a command says; None where it is to be guessed."""

    id: str | None = None
    name: str | None = None
    user: str | None = None  # the person, in a table of ratings
    objectives: tuple[tuple[str, str], ...] | None = None  # each with "cost", "gain" or "" for whichever its name tells
    details: tuple[str, ...] | None = None

    def is_objective(self, header: str) -> bool:
        """Tell whether a column is said to be an objective."""
        return any(is_called(header, name) for name, _ in self.objectives or ())


@dataclass
class Roles:
    """Which column is what, by their names in the table; None where there is none."""

    id: str | None = None
    name: str | None = None
    description: str | None = None
    user: str | None = None
    objectives: dict[str, str] = field(default_factory=dict)  # with "cost" or "gain"
    counts: dict[str, str] = field(default_factory=dict)  # of objectives, what counts the ratings behind them
    details: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)  # with why
    doubts: list[str] = field(default_factory=list)  # what could be meant otherwise


def find_roles(columns: dict[str, Cells], asked: Asked, source: str) -> Roles:
    """Return which column is what."""
    find = partial(_find, columns, source=source)
    users = (name for one in words()["users"] for name in columns if " ".join(tokens(name)) == one)
    roles = Roles(user=next(users, None) if asked.user is None else find(asked.user))
    roles.id = _id(columns, repeated=roles.user is not None) if asked.id is None else find(asked.id)
    if asked.user is None and roles.user is not None:
        known = columns[roles.id].known if roles.id and roles.id != roles.user else None
        if known is None or len(known) < RATED_AGAIN * len(set(known)):
            roles.user = None
            roles.id = roles.id if asked.id else _id(columns, repeated=False)
    taken = {roles.id, roles.user}
    roles.name = _name(columns, taken, by_cells=roles.user is None) if asked.name is None else find(asked.name)
    taken.add(roles.name)
    ways = [(find(name), way) for name, way in asked.objectives or ()]
    wanted = None if asked.objectives is None else dict(ways)
    for name, way in ways:
        if way != dict(ways)[name]:
            raise InvalidSetting(f"an objective must be a cost or a gain, but {name!r} is named as both; name it once")
    kept = None if asked.details is None else [find(name) for name in asked.details]
    taken |= set(wanted or ())
    if kept is None:
        roles.description = _description(columns, taken)
    _sort_out(columns, roles, wanted, kept)
    if not roles.objectives:
        numbers = [name for name, cells in columns.items() if cells.kind == NUMBER and name not in taken]
        same = [name for name in numbers if name in roles.left_out]
        differ = [name for name in numbers if len(set(columns[name].known)) > 1]
        remedy = f"name some of {', '.join(differ[:8])}" if differ else "add a column of numbers that differ"
        found = f"{same[0]!r} is {roles.left_out[same[0]]}" if same else f"no column of {source} is called like one"
        raise InvalidSetting(
            "a catalog must have something that matters, a number such as a price or a rating, but"
            f" {found}; {remedy}: --objectives price:cost,rating"
        )
    return roles


def is_called(header: str, name: str) -> bool:
    """Tell whether a column is called so, tidied up or not."""
    short, unit = tidy(header)
    return tokens(name) in (tokens(header), tokens(short), tokens(f"{short} {unit}"))


def _find(columns: Collection[str], name: str, source: str) -> str:
    """Return the column that somebody calls so: as in the file, or tidied up."""
    if name in columns:
        return name
    alike = [one for one in columns if is_called(one, name)]
    if len(alike) != 1:
        known = choices(name, list(columns)) if not alike else f"it may be {' or '.join(map(repr, alike))}"
        raise InvalidSetting(f"a column must be one of {source}, but {name!r} is not; {known}")
    return alike[0]


def _id(columns: dict[str, Cells], *, repeated: bool) -> str | None:
    """Return the column that tells items apart; in a table of ratings it does not tell rows apart."""
    known = words()["items" if repeated else "ids"]
    by_name = [name for known_name in known for name in columns if " ".join(tokens(name)) == known_name]
    by_name += [name for name in columns if tokens(name)[-1:] == ["id"] and name not in by_name]
    told = (name for name in by_name if columns[name].kind not in (EMPTY, LIST, FLAG))
    return next((name for name in told if not (repeated and has(tokens(name), "users"))), None)


def tells_apart(header: str, cells: Sequence[object]) -> bool:
    """Tell whether a column is called like one of ids or names, and has another one in each row.

    Examples
    --------
    >>> tells_apart("name", ["x", "y"]), tells_apart("restaurant", ["y", "n", "y"]), tells_apart("pool", ["y", "n"])
    (True, False, False)
    """
    said = tokens(header)
    known = said[-1:] == ["id"] or any(" ".join(said) in words()[which] for which in ("ids", "names"))
    return known and len(set(map(repr, cells))) == len(cells)


def _name(columns: dict[str, Cells], taken: set[str | None], *, by_cells: bool) -> str | None:
    texts = [name for name, cells in columns.items() if name not in taken and cells.kind in (TEXT, LIST)]
    known_names = (name for one in words()["names"] for name in texts if " ".join(tokens(name)) == one)
    if (named := next(known_names, None)) is not None:
        return named
    for name, cells in columns.items() if by_cells else ():
        if cells.kind == TEXT and name not in taken and not has(tokens(name), "links"):
            known = cells.known
            apart = len(set(known)) >= OF_THEIR_OWN * len(known) and _length(known) <= LONG
            if apart and not _is_link(known[0]) and are_words(known):
                return name
    return None


def _description(columns: dict[str, Cells], taken: set[str | None]) -> str | None:
    texts = {name: cells.known for name, cells in columns.items() if cells.kind == TEXT and name not in taken}
    named = [name for name in texts if has(tokens(name)[-1:], "descriptions")]
    long = [name for name, known in texts.items() if _length(known) > LONG and not _is_link(known[0])]
    return next(iter([*named, *long]), None)


def _length(texts: Sequence[str]) -> float:
    return sum(map(len, texts)) / max(len(texts), 1)


def _is_link(text: str) -> bool:
    return re.match(r"(?:https?:)?//|www\.", text) is not None


def is_count(name: str, cells: Cells) -> bool:
    """Tell whether a column says how many ratings there are: "reviews", "review_count", "number of ratings"."""
    whole = cells.kind == NUMBER and all(value >= 0 and value == int(value) for value in cells.known)
    return whole and counts_ratings(name)


def counts_ratings(name: str) -> bool:
    """Tell whether a column is called like a number of ratings."""
    said = tokens(name)
    ratings = words()["counts"]
    rated = [word for word in said if any(stem in ratings for stem in stems(word))]
    counting = any(word in words()["counting"] for word in said)
    return bool(rated) and (counting or (rated[-1] == said[-1] and said[-1] not in ratings))  # or a plural ends it


def _sort_out(columns: dict[str, Cells], roles: Roles, wanted: dict[str, str] | None, kept: list[str] | None) -> None:
    """Give every other column its role."""
    others = [name for name in columns if name not in (roles.id, roles.name, roles.description, roles.user)]
    counts = [name for name in others if is_count(name, columns[name]) and name not in (wanted or ())]
    for name in wanted if wanted is not None else others:
        cells, way, guess = columns[name], (wanted or {}).get(name, ""), direction(name)
        if wanted is not None:
            if cells.kind not in (NUMBER, FLAG):
                strange = (repr(value) for value in cells.known if not is_numeral(value))
                shown = next(strange, None) or next(map(repr, cells.known), "nothing")
                raise InvalidSetting(
                    f"an objective must be a column of numbers, but {name!r} holds {cells.kind}s such as {shown};"
                    " leave it out, or keep it with --details"
                )
            roles.objectives[name] = way or guess or GAIN
            if not way and guess is None:
                roles.doubts.append(f"{name}: more is taken for better; if it is not, say --objectives {name}:cost")
        elif guess and cells.kind == NUMBER and name not in counts and name not in (kept or ()):
            if len(set(cells.known)) < 2:
                where = "everywhere" if len(cells.known) == len(cells.values) else "wherever it is known"
                roles.left_out[name] = f"the same {where}" if cells.known else "nowhere known"
            elif len(roles.objectives) < MOST_OBJECTIVES:
                roles.objectives[name] = guess
            else:
                roles.doubts.append(
                    f"{name}: {MOST_OBJECTIVES} other numbers matter already; --objectives says which ones do"
                )
        elif guess and cells.kind == TEXT and not are_words(cells.known):
            some = f"{name}: called like a number, but texts such as {cells.known[0][:40]!r} are read as none"
            roles.doubts.append(f"{some}; write figures, with a unit")
    opinions = [name for name in roles.objectives if has(tokens(name), "opinions")]
    # Each has the column that counts its ratings: one with its own name, or the first.
    for name in opinions if counts else ():
        if not (has(tokens(name), "official") and len(tokens(name)) == 1):
            own = set(tidy(name)[0].split()) - set(words()["counts"])
            roles.counts[name] = next((one for one in counts if own & set(tokens(one))), counts[0])
    for name in others if kept is None else kept:
        if name not in roles.objectives and name not in roles.left_out and name not in counts:
            why = _no_detail(name, columns[name]) if kept is None else ""
            if not why and len(roles.details) < MOST_DETAILS:
                roles.details.append(name)
            else:
                roles.left_out[name] = why or f"the catalog has {MOST_DETAILS} details already"
    for name in counts:
        if name not in roles.counts.values() and (kept is None or name in kept):
            roles.details.append(name)
    if wanted is None:
        plain = [name for name in roles.details if columns[name].kind == NUMBER and len(set(columns[name].known)) > 1]
        if plain:
            some = ", ".join(plain[:6]) + (", ..." if len(plain) > 6 else "")
            roles.doubts.append(f"{some}: numbers of which more is neither better nor worse, as far as names tell")


def _no_detail(name: str, cells: Cells) -> str:
    """Return why a column is no detail; "" if it is one."""
    known = cells.known
    if cells.kind == EMPTY:
        return "empty"
    if cells.kind == TEXT and (has(tokens(name), "links") or _is_link(known[0])):
        return "links"
    if cells.kind == TEXT and max(map(len, known)) > LONGEST:
        return "long texts"
    if 1 < len(known) == len(cells.values) and len(set(map(repr, known))) == 1:
        return "the same everywhere"
    return ""


def with_currencies(names: Sequence[str], columns: Sequence[list[Any]]) -> list[list[Any]]:
    """Return the columns of a table, bare numbers of money with the currency that stands in a column of its own.

    Examples
    --------
    >>> with_currencies(["price", "fee", "currency"], [["95", 80], ["none", "5"], ["EUR", "USD"]])
    [['95 EUR', '80 USD'], ['0 EUR', '5 USD'], ['EUR', 'USD']]
    """
    told = next((place for place, name in enumerate(names) if has(tokens(name)[-1:], "currencies")), None)
    written = [] if told is None else [str(cell).strip() for cell in columns[told]]
    currencies = ["" if text.casefold() in MISSING else text for text in written]
    pairs = zip(names, columns, strict=True)
    return [_in_currencies(name, cells, currencies) if _is_money(name) else cells for name, cells in pairs]


def is_money(name: str) -> bool:
    """Tell whether a column is called like money, or ends with a currency."""
    return _is_money(name) or bool(set(tokens(name)) & MONEY)


def _is_money(name: str) -> bool:
    return has(tokens(name), "money") and not has(tokens(name)[-1:], "currencies")


def _in_currencies(name: str, cells: list[Any], currencies: Sequence[str]) -> list[Any]:
    nothing = FREE | NO_FEE if has(tokens(name), "fees") else FREE
    numbers = any(BARE.match(str(cell)) for cell in cells)
    cells = ["0" if numbers and str(cell).strip().casefold() in nothing else cell for cell in cells]
    if set(tokens(name)) & MONEY or not currencies:  # the name knows better
        return cells
    pairs = zip(cells, currencies, strict=True)
    return [f"{cell} {unit}" if unit and BARE.fullmatch(str(cell).strip()) else cell for cell, unit in pairs]
