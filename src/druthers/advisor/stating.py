"""What a text states: wishes and limits, read together, in messages as in queries."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from druthers.advisor.comparing import apart_from_items, with_items
from druthers.advisor.said import MOST_LETTERS
from druthers.advisor.strangers import much_of_costs, told, told_apart
from druthers.catalogs import Item
from druthers.language import Parser
from druthers.limits import Columns, LimitReader, Limits, Stated
from druthers.limits.words import blanked, fold, pattern
from druthers.types import Reading

LIKELY = 0.5  # how sure a wish beside a limit must be to be more than a guess
HOPED = r"\b<soft>\b|\bwould be (?:[a-z]+\b)?"


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
    limits = apart_from_items(text, reader, parser, columns, shown)
    limits = with_items(text, limits, parser, columns, shown)
    limits = told_apart(text, limits, reader, parser)
    # "A pool would be nice" is no limit, and no guess at a wish either.
    reading = parser.read(blanked(limits.rest, *(one.span for one in hoped(text, reader))))
    contrary, lost = much_of_costs(text, reading, limits, parser)
    limits = told(limits, lost)
    # What is left of a limit's sentence is no guess at a wish: "Kent or Surrey, nowhere else".
    return without_guesses(reading, LIKELY if limits.where else 0.0, contrary), limits


def hoped(text: str, reader: LimitReader) -> tuple[Stated, ...]:
    """Return what would be limits if they were not only hoped for."""
    strict, many = pattern(HOPED).subn(lambda match: " " * len(match.group()), fold(text[:MOST_LETTERS]))
    return reader.read(strict).stated if many else ()


def without_guesses(reading: Reading, bar: float, without: Collection[str] = ()) -> Reading:
    """Return a reading with those wishes only that it is as sure of as that, and without some."""
    certain = [confidence >= bar for confidence in reading.confidences]
    sure = [place for place, name in enumerate(reading.names) if certain[place] and name not in without]
    if len(sure) == len(reading.ranking):
        return reading
    ranking = tuple(reading.ranking[place] for place in sure)
    confidences = tuple(reading.confidences[place] for place in sure)
    strengths = tuple(reading.strengths[place] for place in sure)
    return replace(reading, ranking=ranking, confidences=confidences, strengths=strengths, question=None)
