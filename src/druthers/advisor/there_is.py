"""What questions ask for by its name or its text: "which brands do you have?", "what's the price range?"."""

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from druthers.advisor.said import Said
from druthers.advisor.sayings import table, ways
from druthers.advisor.wording import listed
from druthers.catalogs import Item
from druthers.limits import Columns, Where
from druthers.limits.words import also_called, fold, stems

# Beside the noun that is asked for; and nouns for what sort of thing an item is.
BESIDE = frozenset(
    {"option", "choice", "different", "available", "possible", "various", "other", "your", "all", "any", "more", "the"}
)
SORTS = frozenset({"kind", "type", "sort", "category", "style", "class", "genre", "variety"})
MOST_KINDS = 200  # texts under one name that a question may ask for without a limit being read
FEWEST_LETTERS = 3  # of such a text: "s" and "m" stand in too many words
NEAR = 2  # letters that endings of other languages may add


@cache
def _which() -> re.Pattern[str]:
    which, there_are = ("|".join(table[name]) for name in ("which", "there_are"))
    return re.compile(rf"(?:and )?(?:{which}) (?:(?P<alone>[\w-]+)|(?P<what>[\w\s-]+?) (?:{there_are})(?:\b.*)?)")


def asked_values(said: Said, title: str, columns: Columns) -> str:
    """Return the name of that of which a question asks what there is; nothing where it asks for something else.

    Parameters
    ----------
    said
        The message.
    title
        What the catalog is about.
    columns
        All items.
    """
    core = said.core.strip(" ?!.")
    if match := ways("asks_range").fullmatch(core):
        if name_of(core.removeprefix("what's the ").removeprefix("what is the "), columns):
            return ""  # "what's the battery range?"
        return name_of(match["what"] or match["of"] or match["mean"], columns)
    if match := ways("asks_list").fullmatch(core):
        return _head(match["what"], title, columns)
    if match := _which().fullmatch(core):
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
    return len(root) > 2 and word.startswith(root) and len(word) - len(root) <= NEAR


def values_in(text: str, columns: Columns, item: Item | None = None, *, endings: bool = False) -> Where:
    """Return the texts of the catalog that a question names, as limits, whatever else their words may mean.

    Parameters
    ----------
    text
        The question.
    columns
        All items.
    item
        An item that it is about: its own texts count, however many there are under a name.
    endings
        Whether words may have other endings than the catalog has.
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
