"""What a message in a conversation is: a wish, a limit, how something was, a question, or small talk."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from importlib import resources
from typing import Any

from druthers.catalogs import Item
from druthers.language import Parser
from druthers.limits import Columns, LimitReader, Limits
from druthers.types import Reading

PLACES = ("first", "second", "third", "fourth", "fifth")
NEGATION = re.compile(r"\b(?:not|no|never|hardly|nothing|nicht|kein|pas|non|niet)\b|n't\b")
CLAUSE = re.compile(r"[.;!?,]|\b(?:but|and|though|although|while|yet|however|aber|und|pero|y|mais|et|ma|maar|en)\b")
# A bare number that is no amount of something.
PLACE = re.compile(
    r"(?<![\w.,€$£/])#?([1-9])(?![\w€$£%/]|[.,]\d|\s*(?:euro|dollar|star|night|people|person|room|km|hour|min|gb))"
)
STARS = re.compile(r"(?<![\w.,])([1-5])\s*(?:stars?\b|/\s*5\b)|(?:^|\s)([*★]{1,5})(?:\s|$)")
PAST = re.compile(r"\b(?:was|were|wasn't|weren't|had been|loved|hated|liked|enjoyed|disappointed|war|fue|etait|era)\b")
WENT = re.compile(r"\b(?:i|we) (?:took|booked|chose|tried|stayed|went)\b")
MOST_LETTERS = 2_000
MOST_WORDS = 6  # of a name


class Kind(StrEnum):
    """What a message is."""

    GREETING = "greeting"
    THANKS = "thanks"
    WISH = "wish"
    LIMIT = "limit"
    DISMISSAL = "dismissal"
    FEEDBACK = "feedback"
    TAKEN = "taken"
    WHY = "why"
    COMPARE = "compare"
    DETAIL = "detail"
    FIND = "find"
    PROFILE = "profile"
    FORGET_THAT = "forget that"
    FORGET_ME = "forget me"
    FORGET_ME_YES = "forget me, yes"
    OTHER = "something else"
    REJECT = "not that one"
    LIKE = "more like that"
    UNCLEAR = "unclear"


@dataclass(frozen=True)
class Message:
    """A message as it was understood.

    Parameters
    ----------
    kind
        What it is.
    places
        Which of the items shown it is about, from 0.
    items
        Other items that it names.
    reading, limits
        Wishes and limits in it.
    utility
        How something was as a whole, from -1 to 1; None if it does not say.
    aspects
        How it was in single objectives, from -1 to 1.
    """

    kind: Kind
    places: tuple[int, ...] = ()
    items: tuple[Item, ...] = ()
    reading: Reading | None = None
    limits: Limits = field(default_factory=Limits)
    utility: float | None = None
    aspects: dict[str, float] = field(default_factory=dict)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(resources.files("druthers.advisor").joinpath("messages.toml").read_text("utf-8"))


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern that a whole message of a kind matches."""
    reference = r"(?:(?:number |no\.? ?|nr\.? ?|#)?\d|(?:the )?(?:" + "|".join(_ordinals()) + r")(?: one)?|both)"
    ways = "|".join(_table()[name]).replace("REF", reference)
    return re.compile(rf"(?:{ways})\W*")


@cache
def _ordinals() -> tuple[str, ...]:
    return tuple(word for name in (*PLACES, "last") for word in _table()[name])


@cache
def _feelings() -> list[tuple[re.Pattern[str], float]]:
    """Return words with how they feel, the longest first."""
    words = [(word, float(value)) for value, listed in _table()["feeling"].items() for word in listed]
    return [(re.compile(rf"\b{word}\b"), value) for word, value in sorted(words, key=lambda pair: -len(pair[0]))]


def feeling(text: str) -> float | None:
    """Return how a clause feels, from -1 to 1; None if it does not say.

    Examples
    --------
    >>> feeling("it was filthy"), feeling("not bad at all"), feeling("we went there")
    (-1.0, 0.35, None)
    """
    found = []
    for pattern, value in _feelings():
        while match := pattern.search(text):
            negated = NEGATION.search(text[max(0, match.start() - 18) : match.start()]) is not None
            found.append(-0.5 * value if negated else value)
            text = text[: match.start()] + " " * len(match.group()) + text[match.end() :]
    return sum(found) / len(found) if found else None


def references(text: str, shown: Sequence[Item]) -> tuple[int, ...]:
    """Return which of the items shown a text is about: by number, by ordinal or by name, in the order of the text.

    Examples
    --------
    >>> references("compare 1 and the last one", [Item("a"), Item("b"), Item("c")])
    (0, 2)
    """
    found = [(match.start(), int(match.group(1)) - 1) for match in PLACE.finditer(text)]
    for name in (*PLACES, "last"):
        place = len(shown) - 1 if name == "last" else PLACES.index(name)
        words = "|".join(_table()[name])
        found += [(match.start(), place) for match in re.finditer(rf"\b(?:{words})\b(?! of all)", text)]
    for match in re.finditer(rf"\b(?:{'|'.join(_table()['both'])})\b", text):
        found += [(match.start(), place) for place in range(2 if match.group() == "both" else len(shown))]
    for place, item in enumerate(shown):
        name = re.sub(r"^the\s+", "", item.name.lower())
        if len(name) > 2 and (at := text.find(name)) >= 0:
            found.append((at, place))
    return tuple(dict.fromkeys(place for _, place in sorted(found) if 0 <= place < len(shown)))


class Understanding:
    """Tells what messages are.

    Parameters
    ----------
    parser
        Reads wishes.
    limits
        Reads limits.
    columns
        All items: whoever is called by name is found.
    """

    def __init__(self, parser: Parser, limits: LimitReader, columns: Columns) -> None:
        self.parser = parser
        self.limits = limits
        self.columns = columns

    def read(self, text: str, shown: Sequence[Item] = ()) -> Message:
        """Return what a message is, beside the items that were shown last."""
        plain = " ".join(text[:MOST_LETTERS].lower().replace("’", "'").split()).strip(" .!")
        bare = re.sub(r"^(?:(?:ok(?:ay)?|well|so|hmm+|and|oh|please|no|yes|hi|hello|hey)\b[ ,]*)+", "", plain)
        places = references(plain, shown)
        named = () if places else self._named(plain)
        for kind in (Kind.GREETING, Kind.THANKS):
            if _pattern(kind.value).fullmatch(plain):
                return Message(kind)
        for kind, name in (
            (Kind.FORGET_ME_YES, "forget_me_yes"), (Kind.FORGET_ME, "forget_me"), (Kind.FORGET_THAT, "forget_that"),
            (Kind.PROFILE, "profile"), (Kind.OTHER, "other"),
        ):  # fmt: skip
            if _pattern(name).fullmatch(plain) or (bare and _pattern(name).fullmatch(bare)):
                return Message(kind, places)
        if shown:
            for kind, name in (
                (Kind.REJECT, "reject"), (Kind.LIKE, "like"), (Kind.WHY, "why"), (Kind.COMPARE, "compare"),
            ):  # fmt: skip
                if _pattern(name).fullmatch(bare or plain):
                    return Message(kind, places)
        if shown or named:
            felt = self._felt(plain, places, named)
            if felt is not None:
                return felt
        limits = self.limits.read(text)
        if _pattern("find").fullmatch(bare or plain) and limits.where:
            return Message(Kind.FIND, places, limits=limits)
        if _pattern("why").fullmatch(bare or plain):
            return Message(Kind.WHY, places)
        reading = self.parser.read(limits.rest)
        asks = places or named or text.rstrip().endswith("?")
        if (shown or named) and _pattern("detail").fullmatch(bare or plain) and asks:
            return Message(Kind.DETAIL, places, named, reading, limits)
        if reading.ranking:
            return Message(Kind.WISH, places, reading=reading, limits=limits)
        if limits.where or limits.dropped:
            return Message(Kind.LIMIT, places, reading=reading, limits=limits)
        if reading.dismissed:
            return Message(Kind.DISMISSAL, places, reading=reading, limits=limits)
        for kind in (Kind.GREETING, Kind.THANKS):
            if re.match(rf"(?:{'|'.join(_table()[kind.value])})\b", plain):
                return Message(kind)
        return Message(Kind.UNCLEAR, places, reading=reading, limits=limits)

    def _named(self, plain: str) -> tuple[Item, ...]:
        """Return items that a text calls by their names."""
        words = re.findall(r"[^\W_]+", plain)
        found = {}
        for start in range(len(words)):
            for length in range(min(MOST_WORDS, len(words) - start), 0, -1):
                item = self.columns.by_name.get(" ".join(words[start : start + length]))
                if item is not None:
                    found[item.id] = item
        return tuple(found.values())

    def _felt(self, plain: str, places: tuple[int, ...], named: tuple[Item, ...]) -> Message | None:
        """Return feedback about something shown or named: it points at one, or tells of the past."""
        took = _pattern("took").match(plain) or WENT.search(plain)
        past = PAST.search(plain) and re.match(r"(?:it|that|they|this|the|there|we|i)\b", plain)
        if not (places or named or took or past):
            return None
        stars = STARS.search(plain)
        whole: list[float] = []
        aspects: dict[str, float] = {}
        if stars is not None:
            whole.append((int(stars.group(1)) if stars.group(1) else len(stars.group(2))) / 2.0 - 1.5)
        for clause in CLAUSE.split(plain):
            felt = feeling(clause)
            if felt is None:
                continue
            about = {piece.objective for piece in self.parser.read(clause).evidence}
            aspects |= {self.parser.objectives[k].name: felt for k in about}
            if not about:
                whole.append(felt)
        if not whole and not aspects:
            return Message(Kind.TAKEN, places, named) if took and (places or named or plain.endswith("it")) else None
        told = [*whole, *aspects.values()]
        places = places if places or named else (0,)
        return Message(Kind.FEEDBACK, places, named, utility=sum(told) / len(told), aspects=aspects)
