"""How people say things, from `messages.toml`: ways to say something, which item is meant, how something felt."""

import re
from collections.abc import Sequence
from functools import cache

from druthers.catalogs import Item
from druthers.glossary import Wordings
from druthers.limits.words import blanked, fold

OF_NONE = r"(?<!\ba )(?<!\ban )"  # before the name of an item: "a sea view" is not the Sea View
PLACES = ("first", "second", "third", "fourth", "fifth")
WORDINGS = Wordings("druthers.advisor", "messages.toml")
table, ways = WORDINGS.table, WORDINGS.ways


@cache
def whole_words(*names: str) -> re.Pattern[str]:
    """Return a pattern for whole words of these lists."""
    return re.compile(rf"(?<!\w)(?:{ways(*names).pattern})(?!\w)")


@cache
def _feelings(*names: str) -> list[tuple[re.Pattern[str], float]]:
    """Return words of some lists with how they feel, the longest first."""
    tables = (pair for name in names for pair in table[name].items())
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
            negated = ways("negation").search(text[max(0, match.start() - 18) : match.start()]) is not None
            found.append(-0.5 * value if negated else value)
            text = blanked(text, match.span())
    return sum(found) / len(found) if found else None


def without_feelings(text: str) -> str:
    """Return a text without the words that tell how something felt.

    Examples
    --------
    >>> without_feelings("we loved it").split()
    ['we', 'it']
    """
    for word, _ in _feelings("feeling"):
        text = word.sub(" ", text)
    return text


def called(text: str, item: Item) -> int:
    """Return where a text, in small plain letters, calls an item by its name; -1 where it does not.

    Examples
    --------
    >>> called("sea view it is", Item("a", "Sea View")), called("one with a sea view", Item("a", "Sea View"))
    (0, -1)
    """
    name = re.sub(r"^the\s+", "", fold(item.name))
    found = re.search(rf"{OF_NONE}{re.escape(name)}", text) if len(name) > 2 and name in text else None
    return -1 if found is None else found.start()


def without_items(text: str) -> str:
    """Return a text without what points at items by number or ordinal, every other letter where it was.

    Examples
    --------
    >>> without_items("how many rooms does 2 have?")
    'how many rooms does   have?'
    """
    return blanked(text, *(match.span() for match in ways("pointing").finditer(fold(text))))


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
    found = [(match.start(2), int(match.group(2)) - 1) for match in ways("place").finditer(text)]
    for place, words in enumerate(table["counts"]):
        alone = rf"^(?!one\b)(?:{words})(?= (?:is|was|looks?|sounds?|seems?) (?!enough|too|plenty)\w)"
        numbered = WORDINGS.pattern(rf"(?<!\w)<numbered>\s*(?:{words})\b(?!-[a-z])|{alone}")
        found += [(match.start(), place) for match in numbered.finditer(text)]
    for match in ways("paired").finditer(text):  # "between one and three"
        for group in (1, 2):
            counted = (place for place, words in enumerate(table["counts"]) if match[group] in words.split("|"))
            found += [(match.start(group), place) for place in counted]
    for match in ways("first_so_many").finditer(text):
        many = 2 if "2" in match.group() or "two" in match.group() else 3
        some = range(many) if match["first"] else range(max(0, len(shown) - many), len(shown))
        found += [(match.start(), place) for place in some]
    for place, name in enumerate(PLACES):
        ordinal = WORDINGS.pattern(rf"<not_ours>\b<{name}>\b<no_item>")
        found += [(match.start(), place) for match in ordinal.finditer(text)]
    found += [(match.start(), len(shown) - 1) for match in ways("the_last").finditer(text)]  # not "last year"
    for match in WORDINGS.pattern(r"\b<both>\b").finditer(text):
        found += [(match.start(), place) for place in range(2 if match.group() == "both" else len(shown))]
    for place, item in enumerate(shown):
        if (at := called(text, item)) >= 0:
            found.append((at, place))
    return tuple(dict.fromkeys(place for _, place in sorted(found)))
