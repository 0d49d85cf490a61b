"""Questions by their form: how many there are, what about something, which of those shown has more of it."""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import numpy as np

from druthers.advisor.messages import Kind, Message
from druthers.advisor.naming import asked_values, name_of, namesakes
from druthers.advisor.said import Said, table, ways, whole_words
from druthers.advisor.stating import stated_in
from druthers.advisor.wording import IDLE
from druthers.catalogs import Item
from druthers.language import Parser
from druthers.language.data import small_words
from druthers.language.lexicon.concepts import adjectives
from druthers.limits import Columns, LimitReader, Limits, Where
from druthers.limits.quantities import is_year
from druthers.limits.where import is_day
from druthers.limits.words import fold, stems, telling_stems

COUNTED = frozenset(
    {"item", "option", "choice", "one", "result", "thing", "of", "them", "these", "in", "all", "different"}
)
# How much there is of what is measured so, from "the highest" and "how wide" on.
MEASURES = {
    "height": "high tall", "elevation": "high", "altitude": "high", "width": "wide wid narrow", "depth": "deep",
    "length": "long short", "duration": "long short", "hour": "long short", "minute": "long short",
    "weight": "heavy heavi light", "size": "big bigg large larg small", "area": "big bigg large larg small",
    "age": "old young", "speed": "fast", "power": "strong", "distance": "near clos far farth furth",
}  # fmt: skip
LONG = 6  # letters of a word that tells something though it is a small one
SAME_FAMILY = 4  # letters that the shorter one of two words has
TOPIC = re.compile(
    r"^(\W*(?:the |number |no\.? ?|#)?(?:[1-9](?:st|nd|rd|th)?|first|second|third|fourth|fifth|"
    r"(?<=number )(?:one|two|three|four|five))(?: one)?)\?+\s+(?=\w)",
    re.I,
)


def without_topic(text: str, names: Sequence[str] = ()) -> str:
    """Return a text in which an item that is only brought up is no question: "the 2nd? had one, it broke"."""
    name, mark, rest = text.partition("? ")
    if mark and name.strip() in names and "?" not in rest:
        return f"{name}, {rest}"
    return TOPIC.sub(r"\1, ", text)


def find_question(
    said: Said, parser: Parser, reader: LimitReader, columns: Columns, named: Sequence[Item] = ()
) -> Message | None:
    """Return a question that its very form tells; None for all else.

    Parameters
    ----------
    said
        The message.
    parser, reader
        Reads what is asked for, and limits.
    columns
        All items.
    named
        Items that it calls by their names.
    """
    others = tuple(item for item in named if item not in said.context.shown)
    if others and len(others) + len(said.places) > 1 and ways("which_is_more").match(said.core):
        return Message(Kind.COMPARE, said.places, others)
    if ways("is_it_more").match(said.core) and said.context.shown and (said.places or others):
        return Message(Kind.COMPARE, tuple(dict.fromkeys((said.context.latest, *said.places))), others)
    if not said.places and (found := _for_all(said, parser, reader, columns)):
        return found
    if said.context.shown and (found := _for_those_shown(said, parser, reader, columns)):
        return found
    about_it = (said.places or said.beyond) and ways("what_about").match(said.core)
    if about_it and (reading := parser.read(said.text)).names:
        return Message(Kind.DETAIL, said.places, reading=reading)  # "what about the snow in 2?"
    if (match := ways("is_there").fullmatch(said.core)) and not reader.read(said.text).where:
        if where := reader.flags_in(said.text):
            return Message(Kind.FIND, limits=Limits(where))
        if not parser.read(said.text).ranking:
            return Message(Kind.UNCLEAR, limits=Limits(unmatched=(match["what"],)))
    if ways("most_of").search(said.core) and not parser.read(said.text).names:
        name = next((one for one in columns.names if _is_about(said.core, one, columns)), "")
        if name:
            reading = replace(parser.read(""), text=said.text)
            limits = reader.read(said.text)
            return Message(Kind.BEST, said.places, reading=reading, limits=limits, shown=said.has("shown"), detail=name)
    return None


def _for_all(said: Said, parser: Parser, reader: LimitReader, columns: Columns) -> Message | None:
    """Return a question about all items: how many, which have something, what there is."""
    if (match := ways("how_many").match(said.core)) and said.asks:  # not "how many songs they know is of no interest"
        limits = reader.read(said.text)
        limits = limits if limits.where else replace(limits, where=reader.flags_in(said.text))
        bare = {*COUNTED, *stems(reader.title)}.issuperset(stems(ways("there_are_of").sub("", match["what"])))
        if limits.where or (bare and ways("there_are_of").search(match["what"])):
            return Message(Kind.FIND, limits=limits, counts=True)
    if name := asked_values(said, reader.title, columns):
        return Message(Kind.FIND, limits=reader.read(said.text), detail=name)
    if ways("which_most").match(said.core) and (reading := parser.read(said.text)).ranking:
        return Message(Kind.BEST, reading=reading, limits=reader.read(said.text), shown=said.has("shown"))
    in_words = ways("which_have").match(said.core)  # "quali hanno la sauna?"
    if in_words or ways("any_of_them").match(said.core):
        reading, limits = stated_in(said.text, reader, parser, columns, said.context.shown)
        where = limits.where or (reader.flags_in(said.text) if in_words else {})
        if where and (in_words or not reading.ranking):  # "is there a cheaper one in Graz?" wishes
            return Message(Kind.FIND, limits=replace(limits, where=where))
    return None


def _for_those_shown(said: Said, parser: Parser, reader: LimitReader, columns: Columns) -> Message | None:
    """Return a question about items that were shown, pointed at or not."""
    every = tuple(range(len(said.context.shown)))
    who = ways("who").match(said.core)
    of_it = who and ways("it").search(said.core) and said.asks and not ways("what_about").match(said.core)
    if (of_it or (said.places and who)) and asked_by_verb(said.text, columns, reader.index.places):  # "who makes it?"
        return Message(Kind.DETAIL, said.places)
    if ways("all_of_them").match(said.core):
        return _whether(said, said.places or every, parser, reader)
    if said.places:
        return None
    if ways("they").match(said.core) and (
        (found := _whether(said, every, parser, reader)).limits.where or flags_asked(said.core, reader)
    ):
        return found
    if ways("in_short").match(said.text) and said.asks and namesakes(said.text, columns):
        return _whether(said, (), parser, reader)
    allowed = ways("is_allowed").fullmatch(said.core)
    if allowed or ways("is_it").match(said.core):  # "is it more than 40 euros?" sets no limit
        found = _whether(said, every if allowed else (), parser, reader)
        return found if found.limits.where or flags_asked(said.core, reader) else None
    if (match := ways("asks_about").fullmatch(said.core)) and (name := name_of(match["what"], columns)):
        return Message(Kind.DETAIL, every, detail=name)
    if (match := ways("asks_its").fullmatch(said.core)) and (name := name_of(match["what"], columns)):
        return Message(Kind.DETAIL, detail=name)
    asked = spoken_words(said.core) if of_it else ()
    if any(asks_for(name, asked) for name in columns.names):
        return Message(Kind.DETAIL, reading=parser.read(said.text))  # "which days are they closed?"
    if ways("which_more").fullmatch(said.core) and (reading := parser.read(said.text)).ranking:
        return Message(Kind.BEST, reading=reading, shown=True)
    if ways("may_i").match(said.core) and (name := _allowed(said, reader, columns)):
        return Message(Kind.DETAIL, every, detail=name)
    return Message(Kind.WHY) if ways("would_you").match(said.core) else None


def _whether(said: Said, places: tuple[int, ...], parser: Parser, reader: LimitReader) -> Message:
    """Return a question for whether something is so."""
    limits = reader.read(said.text)
    return Message(Kind.DETAIL, places, reading=parser.read(limits.rest), limits=limits)


def _allowed(said: Said, reader: LimitReader, columns: Columns) -> str:
    """Return what is asked for by "can I ...?": what there is or not, or a detail that is called like it."""
    asked = spoken_words(said.core)
    named = (name for name in columns.names if asks_for(name, asked) and not np.isfinite(columns.numbers(name)).any())
    return next(iter(reader.flags_in(said.text)), "") or next(named, "")


def flags_asked(text: str, reader: LimitReader) -> Where:
    """Return what there is or not of which a question names each part, if only by a family: "which deliver?"."""
    asked = spoken_words(text)
    flags, there = set(reader.index.flags.values()), reader.index.there
    family = {name: there(name) for name in flags if all(asks_for(part, asked) for part in telling_stems(name))}
    return reader.flags_in(text) or family


def spoken_words(text: str) -> set[str]:
    """Return the words of a question that may name something: "cancel" does, though it is said all the time."""
    return set(stems(text)) - {word for word in small_words("light") if len(word) < LONG} - IDLE


def asked_by_verb(text: str, columns: Columns, places: Collection[str] = ()) -> list[str]:
    """Return what a question asks for by a verb: "who makes it?" for the brand, "where is it?" for the city."""
    plain = fold(text)
    found = [name for name in places if whole_words("asks_where").search(plain)]
    for nouns, verbs in table["asked_by"].items():
        if re.search(rf"\b(?:{'|'.join(verbs)})\b", plain):
            found += [name for name in columns.names if not set(stems(nouns)).isdisjoint(stems(name))]
    if whole_words("asks_when").search(plain):
        kinds = {name: columns.column(name).kinds for name in columns.names}
        found += [name for name, told in kinds.items() if told and all(is_day(str(kind)) for kind in told)]
    return found


def asks_for(name: str, asked: Collection[str]) -> bool:
    """Tell whether a question names something, if only by a word of its family: "can I park there" asks for parking."""
    pairs = [(part, word) for part in stems(name) for word in asked]
    if any(part == word or word in adjectives(part) for part, word in pairs):
        return True
    long = [pair for pair in pairs if min(map(len, pair)) >= SAME_FAMILY]
    return any(part.startswith(word) or word.startswith(part) for part, word in long)


def measured(words: Iterable[str]) -> set[str]:
    """Return what things are measured in of which words tell how much: "long", "highest"."""
    plain = {form for word in words for form in (word, word.removesuffix("est"), word.removesuffix("er"))}
    return {noun for noun, how in MEASURES.items() if not plain.isdisjoint(how.split())}


def _is_about(text: str, name: str, columns: Columns) -> bool:
    """Tell whether a text names something that has numbers, by one of its words at least: "tank" of "tank liters"."""
    numbers = columns.numbers(name)[np.isfinite(columns.numbers(name))]
    years = ways("asks_age").search(text) is not None and len(numbers) > 0 and is_year(numbers.max())
    years = years and (is_year(numbers.min()) or "year" in stems(name))
    spoken = stems(text)
    about = {*spoken, *measured(spoken)}
    known = {word for word in about if len(word) > SAME_FAMILY}
    family = any(word.startswith(part) for part in telling_stems(name) if len(part) > SAME_FAMILY for word in known)
    return len(numbers) > 0 and (years or family or not about.isdisjoint(telling_stems(name)))
