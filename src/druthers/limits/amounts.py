"""Numbers as limits: "at most 120 euros", "for a ten year old", each held against what it is about."""

import re
from collections.abc import Iterable
from functools import partial
from typing import Any, NamedTuple

from druthers.limits import clauses
from druthers.limits.attributes import Attribute, find_attribute, letting_in
from druthers.limits.clauses import clause_of, find_denial, pieces
from druthers.limits.index import Index
from druthers.limits.quantities import Quantity, find_quantities, plain_number
from druthers.limits.spelling import Vocabulary, counted_abroad
from druthers.limits.stated import Stated
from druthers.limits.where import Where
from druthers.limits.words import in_english, pattern, spans, stem, stems, table, ways

ENGLISH = "en"
BESIDE = 10  # letters around a number in which the name of what it is about may stand
SEVERAL = r"(?:\b\d+\s*(?:,|or|and|nor)\s*)+$"  # "not 2022 or 2023"


class Amounts(NamedTuple):
    """What numbers of a text limit, pieces that sound so and fit nothing, and where such are no wishes either."""

    stated: list[Stated]
    unmatched: list[str]
    lost: list[tuple[int, int]]


def find_amounts(folded: str, text: str, index: Index, said: Vocabulary) -> Amounts:
    """Return what the numbers of a text, and of the same in plain letters, limit."""
    found, unmatched, lost = Amounts([], [], [])
    language = said.language(text)
    foreign = "" if language == ENGLISH and said.leans_english(text) else language
    if any(one.lowest < 0.0 for one in index.attributes):  # below -5 degrees
        folded = re.sub(r"\bminus (?=\d)", "     -", folded)
        numbers = find_quantities(folded, signed=True)
    else:
        numbers = find_quantities(folded)
    quantities = filter(None, map(partial(clauses.meant, folded), numbers))
    for quantity in map(partial(counted_abroad, folded, language=language), quantities):
        numerals = re.findall(r"\w*\d\w*", folded[quantity.start : quantity.end])
        if any((stem(word),) in index.flags for word in numerals):  # "and 5G"
            continue
        if told := ways("at_work").search(folded[: quantity.start]):
            lost.append((told.start(), quantity.end))
            continue
        clause = clause_of(folded, quantity.start, quantity.end)
        idle = not quantity.bound and ways("not_for").search(folded[: quantity.start])
        if idle or ways("clock_after").match(folded[quantity.end :]) or _is_told(folded, quantity):
            continue
        if not quantity.bound and ways("story").search(clause):  # "last winter I paid 3,400 euros"
            lost.append((quantity.start, quantity.end))
            continue
        if aged := clauses.aged(folded, quantity, index.attributes):
            found += [_with_others(one._replace(text=text[one.start : one.end]), found) for one in aged]
            continue
        if re.match(r"[\s-]*olds?\b", folded[quantity.end :]):  # "albums over 100 years old"
            lost.append((quantity.start, quantity.end))
            continue
        attribute = _about(folded, quantity, index, foreign)
        # "4 people" is no wish for company, and "8 kilos, we are five" needs to hold 8
        people = quantity.of_people
        if attribute is not None and people and any(one.name == attribute.name for one in found):
            continue
        if attribute is None:
            if quantity.bound or people or quantity.measure not in (None, "time"):
                begin = quantity.start - 4 * (people and folded[: quantity.start].endswith("for "))
                unmatched.append(text[begin : quantity.end].strip())
                lost += [(begin, quantity.end)] if people or not quantity.bound else []  # nor is "I weigh 95 kg"
            continue
        start, end = clauses.with_name(folded, quantity.start, quantity.end, attribute)
        if attribute.end and (own := ways("of_oneself").search(folded[: quantity.start])):
            start = own.start()  # who weighs 90 kilos wants nothing light
        limits = _limits(folded, quantity, attribute, index)
        found += [Stated(name, limit, text[start:end].strip(), start, end) for name, limit in limits.items()]
    return Amounts(found, unmatched, lost)


def find_nothings(folded: str, text: str, index: Index) -> list[Stated]:
    """Return that of which there must be nothing: "a free account", "no monthly fee", "direct flights only"."""
    found = []
    for name, nothing in index.nothings.items():
        said = [match.span() for match in nothing.finditer(folded)]
        firm = [span for span in said if not (clauses.is_soft(folded, *span) or clauses.is_condition(folded, span[0]))]
        found += [Stated(name, {"max": 0}, text[start:end], start, end) for start, end in firm]
    return found


def _is_told(folded: str, quantity: Quantity) -> bool:
    """Tell whether a number is only told of: "fixed hours from 8 to 4", "the party is in 5 days"."""
    backward = quantity.bound == "range" and not quantity.units and 12 >= quantity.numbers[0] > quantity.numbers[1]
    ahead = not quantity.bound and re.search(r"\b(?:is|are|am|'s|'re) in $", folded[: quantity.start])
    return bool(backward or (ahead and quantity.measure == "time"))


def _with_others(aged: Stated, found: list[Stated]) -> Stated:
    """Return the limit that an age sets with those of others beside it: who is 4 and who is 7 must both be let in."""
    known = next((one.limit for one in found if one.name == aged.name and isinstance(one.limit, dict)), {})
    stricter = {"min": max, "max": min}
    return aged._replace(limit={end: stricter[end](age, known.get(end, age)) for end, age in aged.limit.items()})


def _about(folded: str, quantity: Quantity, index: Index, foreign: str) -> Attribute | None:
    """Return what a number is about, said in a foreign language if in any; None if it is about nothing there is."""
    if quantity.measure in ("mass", "distance") and ways("of_oneself").search(folded[: quantity.start]):
        measured = (one for one in index.attributes if not one.objective and one.measures(str(quantity.measure)))
        return next((one for one in measured if one.end), None)
    if quantity.bound and (called := _right_before(folded, quantity, index)):
        return called
    clause = clauses.in_names(clause_of(folded, quantity.start, quantity.end))
    first = quantity.start if folded.startswith("for ", quantity.start) else max(0, quantity.start - BESIDE)
    first -= len(re.search(r"\w*$", folded[:first]).group())  # type: ignore[union-attr]
    near = folded[first : quantity.end + BESIDE]
    if quantity.measure == "money":  # "no more than 20 euros per guest" counts no guests
        near = pattern(r"\b(?:an?|per|each|the)\s+<each>\b").sub(" ", near)
    if foreign:  # "Lieferzeit höchstens 4 Wochen" is about the delivery time
        clause, near = (f"{part} {in_english(part, foreign)}" for part in (clause, near))
    if by := ways("by_car").search(folded[quantity.end : quantity.end + 4 * BESIDE]):  # "an hour in the car"
        clause, near = (f"{part} {table()['travel'].get(by.group().split()[-1], '')}" for part in (clause, near))
    led = folded[: quantity.start + 4 * folded.startswith("for ", quantity.start)]
    held = pattern(r"\b<holding>\s+$").search(led) is not None  # "room for 110"
    found = find_attribute(
        quantity, index.attributes, clause, near, held=held, counted=clauses.counted(folded, quantity)
    )
    named = found is not None and not (found.words - {*quantity.units}).isdisjoint(stems(clause))
    if quantity.bound and not quantity.units and not named:  # "too many gears, 8 at most"
        said = set(stems(folded[: quantity.start]))
        before = [one for one in index.attributes if one.words & said and one.fits(quantity)]
        return find_attribute(quantity, before, folded, near) or found
    # "my mother had hers for thirty years"
    # but "it is 250 km to the new flat"
    load = found is not None and found.end and quantity.measure in ("mass", "distance")
    story = found is not None and not (named or load) and quantity.measure is not None and found.has_not(quantity)
    return None if story else found


def _right_before(folded: str, quantity: Quantity, index: Index) -> Attribute | None:
    """Return what is called by the word right before a bound and may have such numbers: "rating >= 4, price < 90"."""
    word = re.search(r"([^\W\d_]+)\s*$", folded[: quantity.start])
    owners = [one for one in index.attributes if word is not None and one.words == {stem(word[1])}]
    fitting = [one for one in owners if one.fits(quantity) and (not quantity.measure or one.measures(quantity.measure))]
    return fitting[0] if len(fitting) == 1 and fitting[0].bears(quantity, beside=True) else None


def _limits(folded: str, quantity: Quantity, attribute: Attribute, index: Index) -> Where:
    """Return what a number limits, by name."""
    if spanned := letting_in(quantity, attribute, index.attributes):
        return spanned
    own = ways("lower_end").search(clause_of(folded, quantity.start, quantity.end))
    if quantity.bound == "max" and attribute.end == "min" and not own:  # "no taller than a meter", from least to most
        ends = (one for one in index.attributes if one.end == "max" and one.spanned == attribute.spanned)
        attribute = next(ends, attribute)
    limit: Any = attribute.limit(quantity)
    if limit is None:
        return {}
    before = re.sub(SEVERAL, "", folded[: quantity.start])
    bare = not quantity.bound and attribute.counted
    number = plain_number(round(quantity.numbers[0] * attribute.factor(quantity), 6))
    if bare and ways("exactly").search(before):
        limit = number
    if (bare or not isinstance(limit, dict)) and ways("denied_before").search(before):  # "not from 2024", "not 3 rooms"
        limit = {"not": number if bare else limit}
    return {attribute.name: limit}


def find_dropped(folded: str, index: Index, said: Vocabulary) -> list[tuple[int, int, str]]:
    """Return what is taken back: start, end and name of each, an empty name for everything."""
    found = [(*span, "") for span in spans(r"\b<drop_all>\b", folded)]
    for match in ways("lifted").finditer(folded):  # "that 30 euro ceiling is gone"
        amount = f"at most {match['amount']}"
        found += [(*match.span(), one.name) for one in find_amounts(amount, amount, index, said).stated]
    free = [(*span, name) for span in spans(r"\b<anywhere>\b", folded) for name in index.places]
    for parts, name in index.limitable.items():
        if parts and all(part in folded for part in parts):
            spelled = r"\W+".join(rf"{re.escape(part)}\w{{0,3}}" for part in parts)
            for one in table()["any"]:
                matches = re.finditer(rf"\b{one.replace('X', spelled)}\b", folded)
                free += [(*match.span(), name) for match in matches]
    # "I won't go anywhere without a pool", "I'm not paying any deposit"
    return found + [one for one in free if not find_denial(clauses.sentence_of(folded, one[0]))]


def find_unneeded(folded: str, found: Iterable[Stated], index: Index) -> list[tuple[str, tuple[int, int] | None]]:
    """Return what need not be so any more, and where it is only called by its name: "the color is unimportant"."""
    taken = {one.name for one in found}
    gone: list[tuple[str, tuple[int, int] | None]] = []
    for start, end, key in pieces(folded):
        flag, name = index.flags.get(key, ""), index.telling.get(key, "")
        if (values := index.values.get(key)) and ways("or_not").match(folded[end:]):  # "white or not"
            gone += [(one, (start, end)) for one in values]
        if flag and flag not in taken and pattern("<unneeded>").search(clause_of(folded, start, end)):
            gone.append((flag, None))
        if name and name not in taken and clauses.is_dismissed(folded, start, end):
            gone.append((name, (start, end)))
    return gone


def find_no_longer(folded: str, index: Index) -> list[Stated]:
    """Return texts that need not be there any more: "I don't need a maths tutor"."""
    found: dict[tuple[str, Any], Stated] = {}  # of "cargo" and "cargo bike" the longer one
    for start, end, key in pieces(folded):
        owners = index.values.get(key) or index.kinds.get(key)
        if owners and (lead := ways("no_longer").search(folded[max(0, start - 40) : start])):
            first = start - len(lead.group())
            found |= {(name, kind): Stated(name, kind, "", first, end) for name, kind in owners.items()}
    return list(found.values())
