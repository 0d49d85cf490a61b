"""A number that takes the place of one said before: "make that 40"."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from druthers.advisor.messages import Context, Kind, Message
from druthers.advisor.said import Said
from druthers.advisor.sayings import table, ways, whole_words
from druthers.language import Parser
from druthers.limits import LimitReader, Limits, Stated
from druthers.limits.quantities import Quantity, find_quantities, plain_number
from druthers.limits.where import BOUNDS, Where
from druthers.limits.words import blanked
from druthers.types import Reading

SAME_SIZE = 5.0  # times a number, or a part of it: what may be meant in its place


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
    while len(quantities) > 1 and quantities[0].numbers[0] in current:  # "100 is too tight, let's say 200"
        start, end = quantities[0].start, quantities[0].end
        bounds = {name: one for name, one in bounds.items() if limits[name][one] == quantities[0].numbers[0]}
        said = replace(said, plain=blanked(said.plain, (start, end)))
        quantities = find_quantities(said.plain)
    if len(quantities) != 1 or not bounds or not (_corrects(said, quantities[0].numbers[0], current)):
        return None
    if quantities[0].units:  # "make that 45 euros": of what is measured so
        amount = said.plain[quantities[0].start : quantities[0].end]
        meant = {**reader.read(f"at most {amount}").where, **reader.read(f"at least {amount}").where}
        bounds = {name: bound for name, bound in bounds.items() if name in meant}
    rest = whole_words("instead", "too_tight", "courtesy", "lead").sub(" ", said.plain[: quantities[0].start])
    rest += whole_words("instead", "too_tight", "courtesy", "lead").sub(" ", said.plain[quantities[0].end :])
    if not bounds or re.search(r"[^\W\d_]{3,}", rest):
        return None
    name = list(bounds)[-1]
    limit = {bounds[name]: plain_number(quantities[0].numbers[0])}
    stated = Stated(name, limit, said.text.strip(), 0, len(said.text))
    reading = replace(parser.read(""), text=said.text)
    return Message(Kind.LIMIT, reading=reading, limits=Limits({name: limit}, (stated,)))


def _bounds(limit: Any) -> tuple[str, ...]:
    """Return which bounds a limit on numbers has; days and times of the day are no numbers."""
    return (
        tuple(one for one in limit if one in BOUNDS and not isinstance(limit[one], str))
        if isinstance(limit, dict)
        else ()
    )


def _corrects(said: Said, number: float, current: Collection[float]) -> bool:
    """Tell whether a number takes the place of another: it is said so, or it is of its size: "ok then 200"."""
    if whole_words("instead").search(said.plain):
        return True
    near = any(one / SAME_SIZE <= number <= one * SAME_SIZE for one in current)
    led = re.match(rf"(?:{'|'.join(table['lead'])})\W", said.plain) is not None
    return near and not said.places and (led or bool(_bare_number(said)))


def _bare_number(said: Said) -> list[Quantity]:
    """Return the number, in figures or words, that is all that a message says: "thirty five then"."""
    core = " ".join(whole_words("courtesy", "lead").sub(" ", said.plain).split()).strip(" ,.!?")
    bounded = f"at most {core}"  # a bare word may be any number of something
    found = find_quantities(bounded)
    if len(found) != 1 or (found[0].start, found[0].end) != (0, len(bounded)):
        return []
    return [replace(found[0], bound="", start=0, end=len(said.plain))]
