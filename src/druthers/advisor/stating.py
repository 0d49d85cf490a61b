"""What a text states: wishes and limits, read together, in messages as in queries."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cache

from druthers.advisor.comparing import apart_from_items, with_items
from druthers.advisor.meant import flags_meant
from druthers.advisor.said import MOST_LETTERS
from druthers.advisor.strangers import contrary_wishes, told, told_apart
from druthers.catalogs import Item
from druthers.language import Parser, leans_english, spoken_in
from druthers.language.data import small_words
from druthers.language.lexicon.concepts import english, lexicon
from druthers.language.rules.attitude import OPPOSITE
from druthers.limits import Columns, LimitReader, Limits, Stated
from druthers.limits.spelling import Vocabulary
from druthers.limits.words import blanked, fold, stem, stems, ways
from druthers.types import Reading

NEAR = 12  # letters before a word in which "too" makes it a complaint
LIKELY = 0.5  # how sure a wish beside a limit must be to be more than a guess
NO_OTHERS = re.compile(r"(?i)\b(?P<other>no others?(?: \w+)?)\W*$")


def stated_in(
    text: str, reader: LimitReader, parser: Parser, columns: Columns, shown: Sequence[Item] = ()
) -> tuple[Reading, Limits]:
    """Return the wishes and limits of a text.

    Parameters
    ----------
    text
        What is said.
    reader, parser
        Reads limits, and wishes in what they leave.
    columns
        All items, by their names.
    shown
        Items that may be called by number.
    """
    if others := NO_OTHERS.search(text):
        # "black would be perfect but green is fine too, no other colors"
        text = blanked(text, *_hoping(text), others.span("other"))
    limits = apart_from_items(text, reader, parser, columns, shown)
    limits = with_items(text, limits, parser, columns, shown, reader.index.price)
    limits = told_apart(text, limits, reader, parser)
    hopes = hoped(text, reader, limits)
    heard = [one.text for one in hopes]
    lost = tuple(one for one in limits.unmatched if not any(one in text or text in one for text in heard))
    limits = replace(limits, hopes=hopes, unmatched=lost)
    # "A pool would be nice" is no limit, and no guess at a wish either.
    words = _hoping(text) if hopes else []
    rest = blanked(limits.rest, *(one.span for one in hopes), *words)
    reading = parser.read(rest)
    if usual := _named_besides(text, reader, limits, reading):
        limits = replace(limits, hopes=(*limits.hopes, *usual))
        reading = parser.read(blanked(rest, *(one.span for one in usual)))
    if (meant := flags_meant(text, reading, limits, reader, parser)) is not limits:
        limits, reading = meant, parser.read(blanked(reading.text, *(one.span for one in meant.stated)))
    contrary, unlikely = contrary_wishes(text, reading, limits, parser)
    # Who wants it loud is told that this is not understood, in the same words.
    limits = told(limits, unlikely or (reading.leftover if OPPOSITE in reading.notes and not reading.names else ()))
    # What is left of a limit's sentence is no guess at a wish: "Kent or Surrey, nowhere else".
    unmeant = {*contrary, *_complained(reading, limits), *_guessed_by(reader.title, reading)}
    return without_guesses(reading, LIKELY if limits.where else 0.0, unmeant), limits


def _named_besides(text: str, reader: LimitReader, limits: Limits, reading: Reading) -> list[Stated]:
    """Return what is named in words that are said all the time, where nothing else was understood of them."""
    taken = [one.span for one in (*limits.stated, *limits.hopes, *limits.freed)]
    taken += [(one.start, one.end) for one in reading.evidence]
    return [
        one
        for one in reader.usual(text)
        if one.name not in limits.where and not any(start < one.end and one.start < end for start, end in taken)
    ]


def _guessed_by(title: str, reading: Reading) -> set[str]:
    """Return what is guessed only from words that name what all items are: "a tutor" wants no experience."""
    bare = {*stems(title), *small_words("light")}
    guesses: dict[str, bool] = {}
    for one in reading.evidence:
        name = reading.objectives[one.objective]
        guesses[name] = (
            guesses.get(name, True) and one.guessed and one.role == "wanted" and bare.issuperset(stems(one.text))
        )
    return {name for name, only in guesses.items() if only}


def _complained(reading: Reading, limits: Limits) -> set[str]:
    """Return what is wished for only by a complaint that a limit puts right: "that's too much, make it 20 at most"."""
    complaints: dict[str, bool] = {}
    for one in reading.evidence:
        name, before = reading.objectives[one.objective], reading.text[max(0, one.start - NEAR) : one.end]
        complaints[name] = complaints.get(name, True) and re.search(r"\btoo\b", before.casefold()) is not None
    return {name for name, only in complaints.items() if only and isinstance(limits.where.get(name), dict)}


def hoped(text: str, reader: LimitReader, limits: Limits) -> tuple[Stated, ...]:
    """Return what would be limits, beside those that there are, if it were not only hoped for: "ideally blue"."""
    words = _hoping(text)
    if not words:
        return ()
    strict = blanked(text[:MOST_LETTERS], *words)
    firm = [(one.start, one.end) for one in limits.stated]
    said = (one for one in reader.read(strict).stated if not any(a < one.end and one.start < b for a, b in firm))
    return tuple(one._replace(text=text[one.start : one.end]) for one in said)


def without_guesses(reading: Reading, bar: float, without: Collection[str] = ()) -> Reading:
    """Return a reading with those wishes only that it is as sure of as that, and without what is named."""
    if not {*reading.dismissed_names}.isdisjoint(without):
        reading = replace(
            reading, dismissed=tuple(n for n in reading.dismissed if reading.objectives[n] not in without)
        )
    certain = [confidence >= bar for confidence in reading.confidences]
    sure = [place for place, name in enumerate(reading.names) if certain[place] and name not in without]
    if len(sure) == len(reading.ranking):
        return reading
    ranking = tuple(reading.ranking[place] for place in sure)
    confidences = tuple(reading.confidences[place] for place in sure)
    strengths = tuple(reading.strengths[place] for place in sure)
    return replace(reading, ranking=ranking, confidences=confidences, strengths=strengths, question=None)


def _hoping(text: str) -> list[tuple[int, int]]:
    """Return where words stand that make a limit a hope: "ideally", "would be nice"."""
    return [match.span() for match in ways("hoped").finditer(fold(text[:MOST_LETTERS]))]


@cache
def vocabulary() -> Vocabulary:
    """Return the words that mean something whatever a catalog has."""
    return Vocabulary(
        english(), frozenset(stem(words[0]) for words in lexicon() if len(words) == 1), spoken_in, leans_english
    )
