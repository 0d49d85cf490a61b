"""Small matters of written English: articles, plurals, capitals, names inside texts, typing errors."""

import re

import numpy as np

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
# A number with a dot ends no sentence: "1. price, 2. service".
_SENTENCE = re.compile(r"(?:^|(?<=[^\d][.!?] ))[a-z]")


def with_article(name: str) -> tuple[str, ...]:
    """Return a name as it stands and with "the", unless it has an article of its own."""
    return (name,) if name.lower().startswith(("the ", "a ", "an ")) else (name, f"the {name}")


def holds(text: str, name: str) -> bool:
    """Tell whether a text holds a name, word by word, plural or not.

    Examples
    --------
    >>> holds("spacious rooms", "room"), holds("plenty of legroom", "room")
    (True, False)
    """
    words, wanted = ([word.rstrip("s") for word in _WORD.findall(each.lower())] for each in (text, name))
    size = len(wanted)
    return size > 0 and any(words[at : at + size] == wanted for at in range(len(words) - size + 1))


def is_plural(phrase: str) -> bool:
    """Tell whether a phrase goes with "are" rather than "is", by its last word.

    Examples
    --------
    >>> is_plural("the rooms"), is_plural("cleanliness"), is_plural("a place for kids")
    (True, False, False)
    """
    last = phrase.lower().split()[-1]
    if phrase.lower().startswith(("a ", "an ", "something ")):
        return False
    return last.endswith("s") and not last.endswith(("ss", "us", "is", "'s"))


def capitalized(text: str) -> str:
    """Return a text with a capital at the start of each sentence."""
    return _SENTENCE.sub(lambda match: match.group().upper(), text)


def mistyped(text: str, chance: float, random: np.random.Generator) -> str:
    """Return a text in which each word of four letters or more has a typing error with this chance.

    Two neighbors are swapped, or a letter is missing, or typed twice; first letters and all marks stay.

    Examples
    --------
    >>> mistyped("Clean rooms, please!", 1.0, np.random.default_rng(1))
    'Cllean romos, plese!'
    """

    def slip(match: re.Match[str]) -> str:
        word = match.group()
        drawn, kind, place = random.random(3)
        if drawn >= chance:
            return word
        at = 1 + int(place * (len(word) - 2))
        if kind < 0.4:
            return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
        return word[:at] + word[at + 1 :] if kind < 0.7 else word[:at] + word[at] + word[at:]

    return re.sub(r"[^\W\d_]{4,}", slip, text)
