"""How people say things, from `messages.toml`: ways to say something, which item is meant, how something felt."""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import Any

from druthers.catalogs import Item
from druthers.limits.words import blanked, fold

PLACES = ("first", "second", "third", "fourth", "fifth")
NEGATION = re.compile(
    r"(?:\b(?:not|no|never|hardly|nothing|nicht|kein|pas|non|niet|nao)|n't)\b(?! (?:only|just|merely)\b)"
)
# What may follow an item's bare number; before any other word it counts something: "2 bedrooms", "3 more", "4 of us".
AFTER = (
    r"(?:is|isn|was|wasn|are|aren|were|weren|be|been|has|hasn|have|had|hadn|do|does|doesn|did|didn|can|can't|cannot|could"
    r"|couldn|will|won|would|wouldn|should|and|n|or|vs?|versus|against|but|nor|than|then|to|in|on|at|by|for|from|with|without"
    r"|over|under|as|if|because|since|when|while|until|till|though|although|so|too|also|instead|please|pls|plz|thanks?|now"
    r"|just|not|no|never|only|really|still|already|again|yet|even|better|best|worse|out|off|away|up|down|back|like|compare"
    r"|compared|side|last|this|that|today|tomorrow|tonight|yesterday|once|the|a|an|it|i|we|you|my|our|me|us|all|any|what"
    r"|which|how|why|where|who|before|after|earlier|look|looks|looked|seem|seems|seemed|sound|sounds|feel|feels|felt|get|gets|got|go|goes|went"
    r"|come|comes|came|cost|costs|keep|keeps|kept|make|makes|made|give|gives|gave|take|takes|took|hurt|hurts|broke|breaks"
    r"|work|works|fit|fits|wins|suits|needs|offers|allows|includes|runs|beats|sucks|rocks|left|let|fell|ran|stank|smells|tastes?|tasted|drives|rides|lacks"
    r"|definitely|absolutely|maybe|perhaps|exactly|final|ist|war|hat|und|oder|bitte|gegen|mit|y|o|e|et|ou|es|fue|era|est"
    r"|etait|por|per|favor|s'il|ha|en|is|was|of the (?:list|ones?)|\w{3,}ed|\w{2,}er)\b"
)
COUNTS = rf"(?:\s*(?:or|to|and|-)\s*[1-9])?\s+(?!{AFTER})[^\W\d_]"
# Of what a bare number is said to be: "is 2 clean?", but not "is 2 nights enough?".
IS = r"(?:(?<=\bis )|(?<=\bdoes )|(?<=\bhas ))(?=[1-9] (?!\w+(?<!ou)(?<!s)s\b|people\b))"
# A number of an item: after "number" or "#", or bare and no amount of something.
PLACE = re.compile(
    rf"(?<![\w.,€$£/])(?P<marked>#|(?:number|nummer|numero|option|no\.?|nr\.?) ?|{IS})?([1-9])"
    rf"(?![\w€$£%/]|[.,]\d|\s*(?:stars?\b|night|people|person|hour|min))(?(marked)|(?!{COUNTS}))"
)
# What is counted by an ordinal and is no item: "the first time", "second-hand", "first of all".
NO_ITEM = (
    r"(?!-\w| of (?:all|next|this|every|each|the (?:month|year)|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"| (?:we|i|they|he|she)\b| (?:times?|things?|floors?|class|hand|half|halves|aid|rate|name|language|thoughts?"
    r"|days?|weeks?|months?|years?|nights?|birthday|try|attempt|look|impression|glance|sight|grade|child|baby|kids?|son"
    r"|daughter|marriage|date|visit|trip|semester|term|lesson|job|home|episode|season|edition|issue|chapter|session"
    r"|appointment|owner|registration|release"
    r"|planta|piso|vez|mano|etage|fois|main|piano|volta|stock|mal|hand|klasse|andar|verdieping|keer)\b)"
)
NOT_OURS = "".join(rf"(?<!\b{whose} )" for whose in ("my", "our", "his", "her", "their"))  # "my first tattoo"
ALONE = r"(?=\s*(?:$|[,.;!?]))"
REFERENCE = (
    r"(?:(?:number |no\.? ?|nr\.? ?|#)?[1-9]\b|(?:(?:the|den|die|das|il|el|le|la|o|de|het) )?(?:ORDINALS)\b(?: one)?"
    rf"|both\b|(?:that|this|these|those)(?: ones?\b|{ALONE})|it{ALONE})"
)


@cache
def table() -> dict[str, Any]:
    """Return all lists."""
    return tomllib.loads(resources.files("druthers.advisor").joinpath("messages.toml").read_text("utf-8"))


@cache
def ways(name: str) -> re.Pattern[str]:
    """Return a pattern for any of the ways to say something."""
    reference = REFERENCE.replace("ORDINALS", "|".join(_ordinals()))
    listed = "|".join(f"(?:{way})" for way in table()[name]).replace("REF", reference)
    return re.compile(listed)


@cache
def whole_words(*names: str) -> re.Pattern[str]:
    """Return a pattern for whole words of these lists."""
    return re.compile(r"(?<!\w)(?:" + "|".join(way for name in names for way in table()[name]) + r")(?!\w)")


@cache
def _ordinals() -> tuple[str, ...]:
    return tuple(word for name in (*PLACES, "last") for word in table()[name])


@cache
def _paired() -> re.Pattern[str]:
    """Return a pattern for two items by numbers in words, which alone could be anything."""
    counted = "|".join(table()["counts"])
    return re.compile(
        rf"\b({counted}) (?:and|or|with|to|vs\.?|versus|against|und|oder|y|o|et|ou|e|en) ({counted})(?= ?(?:$|[?.,;!]))"
    )


@cache
def pointing() -> re.Pattern[str]:
    """Return a pattern for whatever points at an item that was shown, by number or by ordinal."""
    numbered, counted = "|".join(table()["numbered"]), "|".join(table()["counts"])
    ordinals = "|".join(word for name in PLACES for word in table()[name])
    return re.compile(
        rf"(?<!\w)(?:(?:the|that|this) )?(?:{numbered})\s*(?:[1-9]|{counted})\b(?: one\b)?"
        rf"|\b(?:(?:the|that|this|your) )?(?:{ordinals})\b(?:(?: one| option| suggestion| choice| pick)\b)?{NO_ITEM}"
        rf"|{PLACE.pattern}|{'|'.join(table()['the_last'])}"
    )


@cache
def _feelings(*names: str) -> list[tuple[re.Pattern[str], float]]:
    """Return words of some lists with how they feel, the longest first."""
    tables = (pair for name in names for pair in table()[name].items())
    words = [(word, float(value)) for value, listed in tables for word in listed]
    return [(re.compile(rf"\b{word}\b"), value) for word, value in sorted(words, key=lambda pair: -len(pair[0]))]


def feeling(text: str, *, abroad: bool = False) -> float | None:
    """Return how a clause feels, from -1 to 1; None if it does not say; `abroad` tells that it is not in English.

    Examples
    --------
    >>> feeling("it was filthy"), feeling("not bad at all"), feeling("we went there")
    (-1.0, 0.35, None)
    >>> feeling("das gefallt mir nicht", abroad=True)
    -0.7
    """
    found = []
    for word, value in _feelings("feeling", "feeling_abroad") if abroad else _feelings("feeling"):
        while match := word.search(text):
            negated = NEGATION.search(text[max(0, match.start() - 18) : match.start()]) is not None
            found.append(-0.5 * value if negated else value)
            text = blanked(text, match.span())
    return sum(found) / len(found) if found else None


def called(text: str, item: Item) -> int:
    """Return where a text, in small plain letters, calls an item by its name; -1 where it does not."""
    name = re.sub(r"^the\s+", "", fold(item.name))
    return text.find(name) if len(name) > 2 else -1


def without_items(text: str) -> str:
    """Return a text without what points at items by number or ordinal, every other letter where it was.

    Examples
    --------
    >>> without_items("how many rooms does 2 have?")
    'how many rooms does   have?'
    """
    return blanked(text, *(match.span() for match in pointing().finditer(fold(text))))


def references(text: str, shown: Sequence[Item]) -> tuple[int, ...]:
    """Return which of the items shown a text is about: by number, by ordinal or by name, in the order of the text.

    Examples
    --------
    >>> references("compare 1 and the last one", [Item("a"), Item("b"), Item("c")])
    (0, 2)
    """
    return tuple(place for place in _places(text, shown) if 0 <= place < len(shown))


def beyond(text: str, shown: Sequence[Item]) -> tuple[int, ...]:
    """Return the numbers in a text of items that were not shown.

    Examples
    --------
    >>> beyond("compare 1 and 9", [Item("a"), Item("b")])
    (9,)
    """
    return tuple(place + 1 for place in _places(text, shown) if place >= len(shown) > 0)


def _places(text: str, shown: Sequence[Item]) -> tuple[int, ...]:
    """Return which places a text speaks of, whether or not anything was shown there."""
    found = [(match.start(2), int(match.group(2)) - 1) for match in PLACE.finditer(text)]
    numbered = "|".join(table()["numbered"])
    for place, words in enumerate(table()["counts"]):
        found += [(match.start(), place) for match in re.finditer(rf"(?<!\w)(?:{numbered})\s*(?:{words})\b", text)]
    for match in _paired().finditer(text):  # "between one and three"
        for group in (1, 2):
            counted = (place for place, words in enumerate(table()["counts"]) if match[group] in words.split("|"))
            found += [(match.start(group), place) for place in counted]
    for match in ways("first_so_many").finditer(text):
        many = 2 if "2" in match.group() or "two" in match.group() else 3
        some = range(many) if match["first"] else range(max(0, len(shown) - many), len(shown))
        found += [(match.start(), place) for place in some]
    for place, name in enumerate(PLACES):
        words = "|".join(table()[name])
        found += [(match.start(), place) for match in re.finditer(rf"{NOT_OURS}\b(?:{words})\b{NO_ITEM}", text)]
    found += [(match.start(), len(shown) - 1) for match in ways("the_last").finditer(text)]  # not "last year"
    for match in re.finditer(rf"\b(?:{'|'.join(table()['both'])})\b", text):
        found += [(match.start(), place) for place in range(2 if match.group() == "both" else len(shown))]
    for place, item in enumerate(shown):
        if (at := called(text, item)) >= 0:
            found.append((at, place))
    return tuple(dict.fromkeys(place for _, place in sorted(found)))
