"""Items called by their names in wishes: what is not wanted, and what something shall be better than.

"Not the Birch Inn" is a limit on the name; "cheaper than the Birch Inn" is one on the price, which that inn itself is
outside of.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from druthers.advisor.sayings import references, ways
from druthers.catalogs import Item
from druthers.language import Parser
from druthers.limits import Columns, LimitReader, Limits, Stated, merge
from druthers.limits.words import blanked, fold, pattern

NAME = "name"
MOST_WORDS, LONGEST = 6, 200  # words and letters of a name
NEAR = 30  # letters after "than" in which an item that was shown is named
# What turns an item down, right before its name or right after it.
BEFORE = (
    r"(?:\b<not>|n't (?:\w+ ){1,2})\s*"
    r"(?:(?:the|that|this|in|at|to|with|of|me|want|like|need|show|again|recommend)\s+)*$"
)


def with_items(
    text: str, limits: Limits, parser: Parser, columns: Columns, shown: Sequence[Item] = (), price: str | None = None
) -> Limits:
    """Return the limits of a text with those that items it names stand for.

    Parameters
    ----------
    text, limits
        What is said, and the limits that were read in it.
    parser
        Reads in what something shall be better.
    columns
        All items, by their names.
    shown
        Items that may be called by number.
    price
        The name of what they cost, in money: "cheaper" is about that, though it is an objective's word too.
    """
    folded = fold(limits.rest)
    if "than" not in folded and pattern(r"\b<not>\b|n't\b|\bout\b|\boption\b").search(folded) is None:
        return limits
    found = [*_better(folded, text, parser, columns, shown, price), *_unwanted(folded, text, columns)]
    if not found:
        return limits
    where, rest = limits.where, limits.rest
    unwanted = list(dict.fromkeys(item for one in found if one.name == NAME for item in one.limit["not"]))
    for one in found:
        where = merge(where, {one.name: {"not": unwanted} if one.name == NAME else one.limit})
        rest = blanked(rest, one.span)
    unmatched = tuple(piece for piece in limits.unmatched if not any(piece.endswith(one.text) for one in found))
    return replace(limits, where=where, stated=(*limits.stated, *found), unmatched=unmatched, rest=rest)


def apart_from_items(text: str, reader: LimitReader, parser: Parser, columns: Columns, shown: Sequence[Item]) -> Limits:
    """Return the limits of a text, in which "than 2" after a word that tells in what is no bound: "lighter than 2".

    Nor is a part of the name of an item a limit: "cleaner than the Port Studio" is not about studios. Where an item is
    called like something that items have, that is meant: "with a sea view" in spite of the Sea View.

    Parameters
    ----------
    text
        What is said.
    reader, parser
        Reads limits, and in what something shall be better.
    columns
        All items, by their names.
    shown
        Items that may be called by number.
    """
    folded = fold(text)
    named = [(start, end) for start, end, item in _names(folded, columns) if len(item.name.split()) > 1]
    spans = [(start, end) for start, end in named if not reader.knows(folded[start:end])]
    for match in ways("than").finditer(folded) if shown else ():
        number = re.match(r"[1-9]\b", folded[match.end() :])
        here = references(folded[match.end() : match.end() + NEAR], shown)
        if number and here[:1] == (int(number.group()) - 1,) and parser.read("".join(match["how"].split()[-1:])).names:
            spans.append((match.start("how") + len(match["how"]), match.end() + 1))
    limits = reader.read(blanked(text, *spans))
    for start, end in spans:
        limits = replace(limits, rest=limits.rest[:start] + text[start:end] + limits.rest[end:])
    return limits


def _better(
    folded: str, text: str, parser: Parser, columns: Columns, shown: Sequence[Item], price: str | None
) -> list[Stated]:
    """Return the limits of "cheaper than the Birch Inn": at least as good, and another item."""
    found = []
    for match in ways("than").finditer(folded):
        item, end = _at(folded, match.end(), columns)
        if item is None and shown:
            places = references(folded[match.end() : match.end() + NEAR], shown)
            item, end = (shown[places[0]], match.end() + 1) if places else (None, 0)
        if item is None or bool(ways("worse").search(match["how"])) != bool(ways("less").search(match["how"])):
            continue
        than = match.start("how") + len(match["how"])
        for name, limit in _at_least_as_good(match["how"], item, parser, columns, price):
            found.append(Stated(name, limit, text[than:end], than, end))
            found.append(Stated(NAME, {"not": [item.name]}, text[than:end], than, end))
    return found


def _at_least_as_good(
    how: str, item: Item, parser: Parser, columns: Columns, price: str | None
) -> list[tuple[str, dict[str, float]]]:
    """Return in what something shall be better than an item, and the limit at the item's own; nothing where unknown."""
    cost = math.nan if price is None else float(columns.numbers(price)[columns.places[item.id]])
    if price is not None and not math.isnan(cost) and ways("how_dear").search(how):
        return [(price, {"max": cost})]
    names = parser.read(how.strip()).names
    known = [one for one in parser.objectives if one.name in names[-1:] and one.name in item.values]
    return [(one.name, {"max" if one.less_is_better else "min": item.values[one.name]}) for one in known]


def _unwanted(folded: str, text: str, columns: Columns) -> list[Stated]:
    """Return the limits of "not the Birch Inn"."""
    found = []
    for first, end, item in _names(folded, columns):
        lead = pattern(BEFORE).search(folded[max(0, first - NEAR) : first])
        after = ways("turned_down_after").match(folded[end:])
        if lead or after:
            start = first - len(lead.group()) if lead else first
            last = end + after.end() if after else end
            found.append(Stated(NAME, {"not": [item.name]}, text[start:last], start, last))
    return found


def _names(folded: str, columns: Columns) -> Iterator[tuple[int, int, Item]]:
    """Yield where items are called by their names, and which."""
    place = 0
    for match in re.finditer(r"[^\W_]+", folded):
        item, end = _at(folded, match.start(), columns) if match.start() >= place else (None, 0)
        if item is not None:
            yield match.start(), end, item
            place = end


def _at(folded: str, start: int, columns: Columns) -> tuple[Item | None, int]:
    """Return the item whose name stands somewhere, the longest name that does, and where it ends."""
    words = list(islice(re.finditer(r"[^\W_]+", folded[start : start + LONGEST]), MOST_WORDS))
    if not words or words[0].start():
        return None, start
    for length in range(len(words), 0, -1):
        item = columns.by_name.get(" ".join(match.group() for match in words[:length]))
        if item is not None:
            return item, start + words[length - 1].end()
    return None, start
