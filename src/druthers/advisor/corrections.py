"""What a message changes of what was said before: what it takes back, and numbers in the place of others."""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from druthers.advisor.messages import Context, Kind, Message, Part
from druthers.advisor.said import SENTENCES, WORDINGS, Said, ways, whole_words
from druthers.language import Parser
from druthers.limits import LimitReader, Limits, Stated, speaks_of_money
from druthers.limits.quantities import Quantity, find_quantities, plain_number
from druthers.limits.where import BOUNDS, Where
from druthers.limits.words import blanked, fold, stems
from druthers.types import Reading

# What limits are called.
LIMIT = frozenset({"limit", "restriction", "budget", "filter", "cap", "ceiling", "condition"})
SAME_WORD = 4  # letters that two words of one family begin with: "Italien", "Italy"
SAME_SIZE = 5.0  # times a number, or a part of it: what may be meant in its place


def find_taken_back(kind: Kind, said: Said, parser: Parser, limits: LimitReader) -> Message | None:
    """Return what a message takes back, which is of a kind that takes something back; None if it is nothing."""
    if ways("untrue").search(said.plain):  # "I'd never forget that place"
        return None
    if kind == Kind.FORGET_ALL and (match := ways("except").search(said.plain)):  # "forget everything except the price"
        kept = in_force(match["kept"], said.context, parser, limits)
        gone = tuple(name for name in (*said.context.wished, *said.context.limits) if name not in kept)
        if kept:
            return Message(Kind.FORGET_THAT, forgotten=gone) if gone else Message(Kind.NO)
    if kind != Kind.FORGET_THAT:
        return Message(kind)
    what = whole_words("forget").sub(" ", said.core)
    names = in_force(what, said.context, parser, limits)
    waived = ways("unimportant").search(said.plain) or (
        ways("waived").search(said.plain) and not ways("said_before").search(said.plain)
    )
    if names and waived and set(names) <= set(parser.read(said.text).dismissed_names):
        return None
    if names:
        part = part_of(what, names, said.context, parser)
        return replace(_with_wishes(names, said, parser, limits) or Message(kind, forgotten=names), forgotten_part=part)
    if said.has("forget_last"):
        ahead = said.text[: match.start()] if (match := ways("at_once").search(said.plain)) else ""
        states = parser.read(ahead).ranking or limits.read(ahead).where
        return None if states else Message(kind)  # "cheap, scratch that, quiet" takes back its own words alone
    if parser.read(said.text).dismissed_names:  # "never mind the garden", of which nothing was said: it does not matter
        return None
    only = (*said.context.wished, *said.context.limits)
    return Message(kind) if len(only) == 1 else None


def find_new_start(said: Said) -> str:
    """Return what comes after starting over: "cheap and central" of "start over: cheap and central"."""
    for mark in re.finditer(r"[.,:;!]\s+(?=\w)", said.text):
        head = fold(said.text[: mark.start()])
        if ways("untrue").search(head) or ways("except").search(head):
            break
        if ways("forget_all").search(head):
            return said.text[mark.end() :]
    return ""


def _with_wishes(names: tuple[str, ...], said: Said, parser: Parser, reader: LimitReader) -> Message | None:
    """Return what is wished and limited in clauses beside the one that takes something back."""
    ends = [match.span() for match in re.finditer(rf"{SENTENCES.pattern}|,\s+|\s+but\s+", said.text)]
    starts = [0, *(end for _, end in ends)]
    parts = zip(starts, [*(start for start, _ in ends), len(said.text)], strict=True)
    back = [part for part in parts if whole_words("forget").search(said.text[slice(*part)].lower())]
    limits = reader.read(blanked(said.text, *back))
    reading = parser.read(limits.rest)
    if set(reading.names) - set(names):
        return Message(Kind.WISH, said.places, reading=reading, limits=limits, forgotten=names)
    return Message(Kind.LIMIT, said.places, reading=reading, limits=limits, forgotten=names) if limits.where else None


def in_force(text: str, context: Context, parser: Parser, limits: LimitReader) -> tuple[str, ...]:
    """Return which of the things said before a text is about: limits by names, numbers and texts, wishes by words."""
    words = stems(text)
    numbers = {number for one in find_quantities(text) for number in one.numbers}
    told = limits.read(text).where
    about = set(words) - {"max", "min"}
    found = [
        name
        for name, limit in context.limits.items()
        if about & set(stems(name))
        or any(fact in numbers if isinstance(fact, float) else _same(fact, words) for fact in _facts(limit))
        or not set(_facts(limit)).isdisjoint(_facts(told.get(name, ())))  # "under 90", which may be 89 at most
    ]
    if not found:  # "the 90"
        found = [name for name, limit in context.limits.items() if not numbers.isdisjoint(_just_beyond(limit))]
    wished = _wished(text, found, context, parser)
    dear = wished and ways("how_dear").search(fold(text))  # "cheap" is what was wished for, if that was
    if limits.index.price in context.limits and speaks_of_money(text) and not dear:
        found.append(str(limits.index.price))
    if not (found or wished) and about & LIMIT:
        found = list(context.limits)
    if not (found or wished) and (said := (*context.wished, *context.limits)):
        reading = parser.read(text)
        found = [name for name in (*reading.names, *reading.dismissed_names) if name in said]
    return tuple(dict.fromkeys((*found, *wished)))


def part_of(text: str, names: Sequence[str], context: Context, parser: Parser) -> Part:
    """Return which part of what was said of things a text is about: their wishes, their limits, or all of it.

    Of what is called by its name all is meant: "forget the price", after "cheap, under 90", and not "forget cheap".
    """
    about = set(stems(text))
    if {*context.wished}.intersection(context.limits).isdisjoint(names):
        return ""  # of each only one thing was said
    if any(about & set(stems(name)) for name in names):
        return "limits" if about & LIMIT else ""
    wished, limited = _wished(text, [], context, parser), find_quantities(text) or about & LIMIT
    return "" if bool(wished) == bool(limited) else "wishes" if wished else "limits"


def _wished(text: str, found: Sequence[str], context: Context, parser: Parser) -> list[str]:
    """Return what was wished for that words of a text tell, beside those that name or tell limits."""
    reading, names = parser.read(text), [*context.limits, *found]
    facts = (str(fact) for name in found for fact in _facts(context.limits[name]))
    other = LIMIT.union(*(stems(one) for one in (*names, *facts)))
    spans = [(one.start, one.end) for one in find_quantities(text)]
    told = {
        reading.objectives[one.objective]
        for one in reading.evidence
        if not one.guessed
        and other.isdisjoint(stems(one.text))
        and not any(start < one.end and one.start < end for start, end in spans)
        and (ways("how_dear").search(fold(one.text)) or not speaks_of_money(one.text))
    }
    return [name for name in context.wished if name in told]


def _facts(limit: Any) -> list[float | str]:
    """Return the numbers and texts of a limit."""
    if isinstance(limit, dict):
        return [fact for part in limit.values() for fact in _facts(part)]
    if isinstance(limit, list | tuple):
        return [fact for part in limit for fact in _facts(part)]
    return [] if isinstance(limit, bool) else [float(limit) if isinstance(limit, int | float) else str(limit)]


def _just_beyond(limit: Any) -> set[float]:
    """Return the whole numbers right outside of a range: "under 90" and "at most 89" are the same."""
    bounds = limit if isinstance(limit, dict) else {}
    steps = ((bounds.get("max"), 1.0), (bounds.get("min"), -1.0))
    return {float(bound) + step for bound, step in steps if isinstance(bound, int | float)}


def _same(fact: float | str, words: Sequence[str]) -> bool:
    """Tell whether words name a text, or one of its family."""
    parts = stems(str(fact))
    return bool(parts) and all(
        any(part == word or (len(part) > SAME_WORD and part[:SAME_WORD] == word[:SAME_WORD]) for word in words)
        for part in parts
    )


def another_number(said: Said, parser: Parser, reader: LimitReader) -> Message | None:
    """Return a number that takes the place of a limit said before: "make that 40"."""
    found = _in_place(said, parser, reader)
    anew = ways("make_it").search(said.plain)
    if found is None and anew is not None:  # "the boss pays half, so make it fifteen hundred"
        alone = replace(said, plain=anew["number"])
        return _in_place(alone, parser, reader) if _bare_number(alone) else None
    return found


def number_instead(text: str, limits: Where, parser: Parser, reader: LimitReader) -> tuple[Reading, Limits] | None:
    """Return the same of a text that is no part of a conversation, beside the limits in force."""
    found = another_number(Said.of(text, Context(limits=limits)), parser, reader)
    return None if found is None or found.reading is None else (found.reading, found.limits)


def _in_place(said: Said, parser: Parser, reader: LimitReader) -> Message | None:
    """Return the same for the only number of a message."""
    quantities, limits = find_quantities(said.plain) or _bare_number(said), said.context.limits
    if not (quantities and limits):
        return None
    ways_said = {bound for limit in reader.read(said.text).where.values() for bound in _bounds(limit)}
    bounds = {  # "I meant at most 25" is no least number of gears
        name: bound
        for name, limit in limits.items()
        for bound in _bounds(limit)
        if (ways_said == {bound} if ways_said else len(limit) == 1)
    }
    current = {limits[name][bound] for name, bound in bounds.items()}
    for other in quantities[1:]:  # "I meant 120, not 200"
        if other.numbers[0] in current and re.search(r"\bnot $", said.plain[: other.start]):
            bounds = {name: one for name, one in bounds.items() if limits[name][one] == other.numbers[0]}
            said = replace(said, plain=blanked(said.plain, (other.start - len("not "), other.end)))
            quantities = quantities[:1]
    while len(quantities) > 1 and (first := quantities[0]).numbers[0] in current:  # "100 is too tight, let's say 200"
        bounds = {name: one for name, one in bounds.items() if limits[name][one] == first.numbers[0]}
        said = replace(said, plain=blanked(said.plain, (first.start, first.end)))
        quantities = find_quantities(said.plain)
    if len(quantities) != 1 or not bounds or not _corrects(said, quantities[0].numbers[0], current):
        return None
    (only,) = quantities
    if only.units:  # "make that 45 euros": of what is measured so
        amount = said.plain[only.start : only.end]
        meant = {**reader.read(f"at most {amount}").where, **reader.read(f"at least {amount}").where}
        bounds = {name: bound for name, bound in bounds.items() if name in meant}
    rest = blanked(said.plain, (only.start, only.end))
    if not bounds or re.search(r"[^\W\d_]{3,}", whole_words("instead", "too_tight", "courtesy", "lead").sub(" ", rest)):
        return None
    name = list(bounds)[-1]
    limit = {bounds[name]: plain_number(only.numbers[0])}
    stated = Stated(name, limit, said.text.strip(), 0, len(said.text))
    reading = replace(parser.read(""), text=said.text)
    return Message(Kind.LIMIT, reading=reading, limits=Limits({name: limit}, (stated,)))


def _bounds(limit: Any) -> tuple[str, ...]:
    """Return which bounds a limit on numbers has; days and times of the day are no numbers."""
    found = limit.items() if isinstance(limit, dict) else ()
    return tuple(name for name, at in found if name in BOUNDS and not isinstance(at, str))


def _corrects(said: Said, number: float, current: Collection[float]) -> bool:
    """Tell whether a number takes the place of another: it is said so, or it is of its size: "ok then 200"."""
    if whole_words("instead").search(said.plain):
        return True
    near = any(one / SAME_SIZE <= number <= one * SAME_SIZE for one in current)
    led = WORDINGS.pattern(r"<lead>\W").match(said.plain) is not None
    return near and not said.places and (led or bool(_bare_number(said)))


def _bare_number(said: Said) -> list[Quantity]:
    """Return the number, in figures or words, that is all that a message says: "thirty five then"."""
    core = " ".join(whole_words("courtesy", "lead").sub(" ", said.plain).split()).strip(" ,.!?")
    bounded = f"at most {core}"  # a bare word may be any number of something
    found = find_quantities(bounded)
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(bounded)):
        return []
    return [replace(found[0], bound="", start=0, end=len(said.plain))]
