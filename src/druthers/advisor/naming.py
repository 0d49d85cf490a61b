"""What a text calls by name: items, and what is known of them, its texts and numbers.

"Not the Birch Inn" is a limit on the name; "cheaper than the Birch Inn" is one on the price, which that inn itself is
outside of. "Which brands do you have?" and "what's the price range?" ask for what there is under a name.
"""

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from druthers.advisor.said import WORDINGS, Said, references, ways
from druthers.advisor.wording import listed
from druthers.catalogs import Item
from druthers.language import Parser
from druthers.limits import Columns, LimitReader, Limits, Stated, Where, merge
from druthers.limits.words import also_called, blanked, fold, pattern, stems

NAME = "name"
MOST_WORDS, LONGEST = 6, 200  # words and letters of a name
NEAR = 30  # letters after "than" in which an item that was shown is named
# What turns an item down, right before its name or right after it.
BEFORE = (
    r"(?:\b<not>|n't (?:\w+ ){1,2})\s*"
    r"(?:(?:the|that|this|in|at|to|with|of|me|want|like|need|show|again|recommend)\s+)*$"
)
# Beside the noun that is asked for; and nouns for what sort of thing an item is.
BESIDE = frozenset(
    {"option", "choice", "different", "available", "possible", "various", "other", "your", "all", "any", "more", "the"}
)
WHICH = r"(?:and )?<which> (?:(?P<alone>[\w-]+)|(?P<what>[\w\s-]+?) <there_are>(?:\b.*)?)"
SORTS = frozenset({"kind", "type", "sort", "category", "style", "class", "genre", "variety"})
MOST_KINDS = 200  # texts under one name that a question may ask for without a limit being read
FEWEST_LETTERS = 3  # of such a text: "s" and "m" stand in too many words
MOST_ADDED = 2  # letters that endings of other languages may add


def with_items(text: str, reader: LimitReader, parser: Parser, columns: Columns, shown: Sequence[Item]) -> Limits:
    """Return the limits of a text, with those that items stand for which it names, or calls by number if shown.

    "Cheaper" is about the price that items have in money, though it is an objective's word too. "Than 2", after a word
    that tells in what, is no bound: "lighter than 2". Nor is a part of the name of an item a limit: "cleaner than the
    Port Studio" is not about studios. Where an item is called like something that items have, that is meant: "with a
    sea view" in spite of the Sea View.
    """
    folded = fold(text)
    named = [(start, end) for start, end, item in names_in(folded, columns) if len(item.name.split()) > 1]
    spans = [(start, end) for start, end in named if not reader.knows(folded[start:end])]
    for match in ways("than").finditer(folded) if shown else ():
        number = re.match(r"[1-9]\b", folded[match.end() :])
        here = references(folded[match.end() : match.end() + NEAR], shown)
        if number and here[:1] == (int(number.group()) - 1,) and parser.read("".join(match["how"].split()[-1:])).names:
            spans.append((match.start("how") + len(match["how"]), match.end() + 1))
    limits = reader.read(blanked(text, *spans))
    for start, end in spans:
        limits = replace(limits, rest=limits.rest[:start] + text[start:end] + limits.rest[end:])
    folded = fold(limits.rest)
    if "than" not in folded and pattern(r"\b<not>\b|n't\b|\bout\b|\boption\b").search(folded) is None:
        return limits
    found = [*_better(folded, text, reader, parser, columns, shown), *_unwanted(folded, text, columns)]
    where, rest = limits.where, limits.rest
    unwanted = list(dict.fromkeys(item for one in found if one.name == NAME for item in one.limit["not"]))
    for one in found:
        where = merge(where, {one.name: {"not": unwanted} if one.name == NAME else one.limit})
        rest = blanked(rest, one.span)
    unmatched = tuple(piece for piece in limits.unmatched if not any(piece.endswith(one.text) for one in found))
    return replace(limits, where=where, stated=(*limits.stated, *found), unmatched=unmatched, rest=rest)


def _better(
    folded: str, text: str, reader: LimitReader, parser: Parser, columns: Columns, shown: Sequence[Item]
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
        for name, limit in _at_least_as_good(match["how"], item, parser, columns, reader.index.price):
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
    for first, end, item in names_in(folded, columns):
        lead = pattern(BEFORE).search(folded[max(0, first - NEAR) : first])
        after = ways("turned_down_after").match(folded[end:])
        if lead or after:
            start = first - len(lead.group()) if lead else first
            last = end + after.end() if after else end
            found.append(Stated(NAME, {"not": [item.name]}, text[start:last], start, last))
    return found


def names_in(folded: str, columns: Columns) -> Iterator[tuple[int, int, Item]]:
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


def asked_values(said: Said, title: str, columns: Columns) -> str:
    """Return the name of that of which a question asks what there is; nothing where it asks for something else."""
    core = said.core.strip(" ?!.")
    if match := ways("asks_range").fullmatch(core):
        if name_of(core.removeprefix("what's the ").removeprefix("what is the "), columns):
            return ""  # "what's the battery range?"
        return name_of(match["what"] or match["of"] or match["mean"], columns)
    if match := ways("asks_list").fullmatch(core):
        return _head(match["what"], title, columns)
    if match := WORDINGS.pattern(WHICH).fullmatch(core):
        return name_of(match["alone"], columns) if match["alone"] else _head(match["what"], title, columns)
    if match := ways("how_many_there_are").fullmatch(core):
        name = _head(match["what"], title, columns)
        return "" if name and np.isfinite(columns.numbers(name)).any() else name
    return ""


def _head(text: str, title: str, columns: Columns) -> str:
    """Return what a noun with whatever stands around it is the name of: "bike colors", "types of bikes"."""
    sorts, _, rest = text.partition(" of ")
    if rest and SORTS & set(stems(sorts)) and (name := _head(rest, title, columns)):  # "types of cancellation"
        return name
    before = re.split(r" (?:of|for|in|with|under|below|over|from|von|de|di|van) ", text)[0]
    spoken = [word for word in stems(before) if word not in BESIDE]
    general = set(stems(title))
    for start in range(len(spoken)):
        own = any(stems(name) == spoken[start:] for name in columns.names)
        if general.issuperset(spoken[start:]) and not own:  # "which courses have you got?" asks for the items
            break
        if name := name_of(" ".join(spoken[start:]), columns):
            return name
    last = [word for word in spoken if word not in general][-1:]
    if SORTS.intersection(last):
        return next((name for name in columns.names if SORTS & set(stems(name))), "")
    return ""


def name_of(text: str, columns: Columns) -> str:
    """Return what is called like that, of all that is known of items.

    That is in full, by a word that nothing else has, or by another word for it, here or in another language.
    """
    said = stems(text)
    partly = [name for name in columns.names if said and set(said) <= set(stems(name))]
    found = next((name for name in partly if stems(name) == said or len(partly) == 1), "")
    if found or len(said) != 1:
        return found
    others = set(also_called().get(said[0], ()))
    for name in columns.names:
        known = also_called().get(" ".join(stems(name)), ())
        if others & set(known) or any(len(key) == 1 and _is_near(said[0], key[0]) for key in known):
            return name
    return ""


def _is_near(word: str, known: str) -> bool:
    """Tell whether a word is another one but for its ending: "farben", "colori"."""
    root = known[:-1] if len(known) > 4 else known
    return len(root) > 2 and word.startswith(root) and len(word) - len(root) <= MOST_ADDED


def values_in(text: str, columns: Columns, item: Item | None = None, *, endings: bool = False) -> Where:
    """Return the texts of the catalog that a question names, as limits, whatever else their words may mean.

    Of an item that it is about, its own texts count, however many there are under a name; `endings` tells whether words
    may have other ones than the catalog has.
    """
    plain = " ".join(re.findall(r"[^\W_]+", fold(text)))
    alike = " ".join(stems(text)) if endings else plain
    where: Where = {}
    for name in columns.names:
        kinds, own = columns.column(name).kinds, None if item is None else item.details.get(name)
        kinds = kinds if len(kinds) <= MOST_KINDS else set(own if isinstance(own, list | tuple) else [own])
        found = [kind for kind in kinds if isinstance(kind, str) and _is_said(kind, plain, alike)]
        longest = sorted(kind for kind in found if not any(kind != one and kind in one for one in found))
        if longest:
            where[name] = {"all": longest} if columns.column(name).has_lists else longest
    return where


def _is_said(kind: str, plain: str, alike: str) -> bool:
    """Tell whether a text of the catalog stands in what is said, letter by letter or but for its endings."""
    words = " ".join(re.findall(r"[^\W_]+", fold(kind)))
    said = f" {words} " in f" {plain} " or f" {' '.join(stems(kind))} " in f" {alike} "
    return said and len(words) >= FEWEST_LETTERS


def called_in_short(text: str, columns: Columns) -> list[Item]:
    """Return the items whose names have all the words that tell something in a text: "granitfell"."""
    told = set(re.findall(r"[^\W\d_]{3,}", fold(text))) - {"the"}
    return [item for item in columns.items if told and told <= set(re.findall(r"[^\W\d_]{3,}", fold(item.name)))]


def several(items: Sequence[Item], shown: Sequence[Item] = ()) -> str:
    """Return that several items are meant by a name, and how to tell which: by number, where they bear the same one."""
    if len({item.name for item in items}) > 1:
        return f"Several are called that: {listed([item.name for item in items])}. Say which one"
    places = [str(place) for place, item in enumerate(shown, 1) if item in items]
    if len(places) < 2:
        return f"{len(items)} are called {items[0].name}: say which one by another word for it"
    return f"{listed(places)} are all called {items[0].name}: say which one by its number"


def namesakes(text: str, columns: Columns) -> list[Item]:
    """Return the items of which a part of the name stands where names do and means nothing else: "does Ana drive?"."""
    said = {fold(match["name"]) for match in ways("in_short").finditer(text) if not values_in(match["name"], columns)}
    named = (item for item in columns.items if said & set(re.findall(r"[^\W\d_]{3,}", fold(item.name))))
    return list(named) if said else []
