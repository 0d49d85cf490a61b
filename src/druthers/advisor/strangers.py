"""What no item of the catalog is or has: places and things in a text that are told, and are no guess at a wish."""

import re
from collections.abc import Iterable
from dataclasses import replace

from druthers.advisor.messages import guessed
from druthers.advisor.said import ways
from druthers.language import Parser, is_english
from druthers.language.data import small_words
from druthers.limits import LimitReader, Limits
from druthers.limits.words import blanked, fold, stems, telling_stems
from druthers.types import Reading

WORDED = 0.8  # how sure a reading of a place must be to be more than a guess
# Things that an item must have or must not: "it must have a gym or a pool", of which BLANK was understood already.
BLANK = "\N{SYMBOL FOR NULL}"


def told(limits: Limits, lost: Iterable[str]) -> Limits:
    """Return limits with more pieces that fit nothing."""
    return replace(limits, unmatched=(*limits.unmatched, *lost))


def told_apart(text: str, limits: Limits, reader: LimitReader, parser: Parser) -> Limits:
    """Return the limits of a text with places and things that no item is at or has among what fits nothing.

    Parameters
    ----------
    text, limits
        What is said, and the limits that were read in it.
    reader, parser
        Knows what items have; reads wishes, which such words may be too.
    """
    if not is_english(limits.rest):
        return limits
    return _without_things(text, _without_place(limits, parser) if reader.index.places else limits, reader, parser)


def _without_place(limits: Limits, parser: Parser) -> Limits:
    match = ways("somewhere").fullmatch(limits.rest) or ways("in_a_place").search(limits.rest)
    if match is None or parser.read(match["place"]).confidence >= WORDED:
        return limits
    return replace(told(limits, [match["place"]]), rest=blanked(limits.rest, match.span("place")))


def _without_things(text: str, limits: Limits, reader: LimitReader, parser: Parser) -> Limits:
    pairs = zip(limits.rest, text, strict=True)
    marked = "".join(BLANK if left == " " != said else left for left, said in pairs)
    idle = {*small_words("light"), *stems(reader.title)}
    for match in ways("held").finditer(marked):
        group = str(match.lastgroup)
        reading = parser.read(match[group])
        named = set(reading.names) - set(guessed(reading) if match["article"] or group == "must" else ())
        if named or reading.dismissed or idle.issuperset(stems(match[group])):
            continue
        denied = parser.read(f"no {match[group]}")  # who wants "no noise" wants it quiet
        if all(one.guessed for one in denied.evidence):
            rest = blanked(limits.rest, (match.start(group), match.end()))
            limits = replace(told(limits, [match[group]]), rest=rest)
    return limits


def contrary_wishes(text: str, reading: Reading, limits: Limits, parser: Parser) -> tuple[set[str], list[str]]:
    """Return which objectives are asked for against the direction of the catalog, and those words that no limit holds.

    Who asks for a big dog, or for one of at least 25 kg, does not wish for a small one; nor who asks for small classes
    for large ones.

    Parameters
    ----------
    text, reading, limits
        What is said, and the wishes and limits that were read in it.
    parser
        Knows the objectives.
    """
    bounds = {name: set(limit) for name, limit in limits.where.items() if isinstance(limit, dict)}
    against = {one.name: {"min" if one.less_is_better else "max"} for one in parser.objectives}
    bounded = {name for name, ends in bounds.items() if ends == against.get(name)}
    lost: dict[str, str] = {}
    for clause in re.finditer(r"(?:(?!\b(?:and|but)\b)[^.,;:!?])+", fold(text)):
        inside = (one for one in reading.evidence if clause.start() <= one.start < clause.end())
        within, turned = [one for one in inside if one.role == "wanted"], list[str]()
        if ways("much").fullmatch(clause.group().strip()):
            costs = (parser.objectives[one.objective] for one in within)
            turned = [one.name for one in costs if one.less_is_better]
        elif ways("little").fullmatch(clause.group().strip()):  # "small classes", of which larger ones are better
            spoken = {stem for one in within for stem in stems(one.text)}
            gains = (one for one in parser.objectives if not one.less_is_better)
            turned = [one.name for one in gains if spoken & telling_stems(one.name)]
        lost |= dict.fromkeys(turned, text[clause.start() : clause.end()].strip())
    told_so = dict.fromkeys(words for name, words in lost.items() if name not in bounded)
    return {*lost} | bounded, list(told_so)
