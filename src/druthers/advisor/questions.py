"""Questions by their form: how many there are, what about something, which of those shown has more of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from druthers.advisor.messages import Kind, Message
from druthers.advisor.said import Said
from druthers.catalogs import Item
from druthers.language import Parser
from druthers.limits import Columns, LimitReader, Limits
from druthers.limits.numbers import is_year
from druthers.limits.words import stems, telling_stems

HOW_MANY = re.compile(r"(?:and |so )?how many\b(?!.*\b(?:it|its|he|she)\b)(?P<what>.*)")
THERE_ARE = re.compile(r"\b(?:are there|is there|do you have|have you|exist|in total|fit|are left|left)\b.*")
COUNTED = frozenset(
    {"item", "option", "choice", "one", "result", "thing", "of", "them", "these", "in", "all", "different"}
)
ABOUT = re.compile(
    r"(?:and |but |so )?(?:(?:what|how) about |(?=.*\?))(?:(?:the|its|their|his|her) )?(?P<what>[\w\s-]+?)\s*\?*"
)
ABOUT_IT = re.compile(r"(?:and |but |so )?(?:what|how) about\b")
MORE = re.compile(
    r"(?:and |but |so )?(?:who|which(?: ones?)?|which of (?:them|these|those|the (?:two|three)))"
    r"(?: is| are| has| have)? (?:the )?(?:(?:more|less|fewer)\b.*|\w{2,}er(?: \w+)?)\s*\?*"
)
WHICH = re.compile(r"(?:and |but |so )?(?:which|who)\b(?: ones?)?(?: is| are| has)? (?:the )?(?:more|less|\w{2,}er)\b")
MAY = re.compile(r"(?:and |but |so )?(?:can|may|could) (?:i|we)\b")
MOST = re.compile(
    r"(?<!\bat )\b(?:best|most|least|fewest"
    r"|(?:cheap|quiet|clean|near|clos|fast|short|larg|bigg|small|light|high|low)est)\b"
)
THERE = re.compile(r"(?:and |but |so )?(?:is|are) there (?:an?|any|some) (?P<what>[a-z]+(?: [a-z]+)?)\s*\?*")
AGE = re.compile(r"\b(?:new|old|young|lat|recent)(?:est)?\b|\bmost recent\b")
NOT_MOST = r"(?!(?:forr?|gu|requ|hon|mod|harv|inter|earn|cont|dig|conqu|north-?w|south-?w|midw|budap|buchar|ever)est\b)"
MOST_OF = re.compile(rf"\b(?:which|what|who)\b.*\b(?P<how>{NOT_MOST}\w{{3,}}est|(?<!\bat )(?:most|least|fewest))\b")
SMALLEST = re.compile(r"(?:small|low|short|light|few|young|earli|thinn|narrow|near|clos|cheap|old)est|least")
# How much there is of what is measured so, from "the highest" and "how wide" on.
MEASURES = {
    "height": "high tall", "elevation": "high", "altitude": "high", "width": "wide wid narrow", "depth": "deep",
    "length": "long short", "duration": "long short", "hour": "long short", "minute": "long short",
    "weight": "heavy heavi light", "size": "big bigg large larg small", "area": "big bigg large larg small",
    "age": "old young", "speed": "fast", "power": "strong",
}  # fmt: skip
TOPIC = re.compile(
    r"^(\W*(?:the |number |no\.? ?|#)?(?:[1-9](?:st|nd|rd|th)?|first|second|third|fourth|fifth)(?: one)?)\?\s+(?=\w)",
    re.I,
)


def without_topic(text: str) -> str:
    """Return a text in which an item that is only brought up is no question: "the 2nd? had one, it broke"."""
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
    if others and len(others) + len(said.places) > 1 and WHICH.match(said.core):
        return Message(Kind.COMPARE, said.places, others)
    if (match := HOW_MANY.match(said.core)) and not said.places:
        limits = reader.read(said.text)
        limits = limits if limits.where else replace(limits, where=reader.flags_in(said.text))
        bare = {*COUNTED, *stems(reader.title)}.issuperset(stems(THERE_ARE.sub("", match["what"])))
        if limits.where or (bare and THERE_ARE.search(match["what"])):
            return Message(Kind.FIND, limits=limits, counts=True)
    if (said.places or said.beyond) and ABOUT_IT.match(said.core) and (reading := parser.read(said.text)).names:
        return Message(Kind.DETAIL, said.places, reading=reading)  # "what about the snow in 2?"
    if said.context.shown and not said.places:
        if (match := ABOUT.fullmatch(said.core)) and (name := called(match["what"], columns)):
            return Message(Kind.DETAIL, tuple(range(len(said.context.shown))), detail=name)
        if MORE.fullmatch(said.core) and (reading := parser.read(said.text)).ranking:
            return Message(Kind.BEST, reading=reading, shown=True)
        if MAY.match(said.core) and (flags := reader.flags_in(said.text)):
            return Message(Kind.DETAIL, tuple(range(len(said.context.shown))), detail=next(iter(flags)))
    if (match := THERE.fullmatch(said.core)) and not reader.read(said.text).where:
        if where := reader.flags_in(said.text):
            return Message(Kind.FIND, limits=Limits(where))
        if not parser.read(said.text).ranking:
            return Message(Kind.UNCLEAR, limits=Limits(unmatched=(match["what"],)))
    if (match := MOST_OF.search(said.core)) and not parser.read(said.text).names:
        name = next((one for one in columns.names if _is_about(said.core, one, columns)), "")
        if name:
            reading = replace(parser.read(""), text=said.text)
            limits = reader.read(said.text)
            return Message(Kind.BEST, said.places, reading=reading, limits=limits, shown=said.has("shown"), detail=name)
    return None


def called(text: str, columns: Columns) -> str:
    """Return what is called like that, of all that is known of items: in full, or by a word that nothing else has."""
    said = stems(text)
    partly = [name for name in columns.names if set(said) <= set(stems(name))]
    return next((name for name in partly if stems(name) == said or len(partly) == 1), "")


def measured(words: Iterable[str]) -> set[str]:
    """Return what things are measured in of which words tell how much: "long", "highest"."""
    plain = {form for word in words for form in (word, word.removesuffix("est"), word.removesuffix("er"))}
    return {noun for noun, how in MEASURES.items() if not plain.isdisjoint(how.split())}


def _is_about(text: str, name: str, columns: Columns) -> bool:
    """Tell whether a text names something that has numbers, by one of its words at least: "tank" of "tank liters"."""
    numbers = columns.numbers(name)[np.isfinite(columns.numbers(name))]
    years = AGE.search(text) is not None and len(numbers) > 0 and is_year(numbers.min()) and is_year(numbers.max())
    spoken = stems(text)
    return len(numbers) > 0 and (years or not {*spoken, *measured(spoken)}.isdisjoint(telling_stems(name)))
