"""Numbers in sentences: what bounds them, what unit they have, and what they are about."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any

import numpy as np

from druthers.limits.numbers import ANY_NUMBER, ends, is_year, plain_number, value_of
from druthers.limits.words import SMALL_WORDS, any_of, pattern, stem, stems, table, telling_stems, units
from druthers.types import Floats, Objective

# What may follow a number and counts nothing: "up to 450 actually".
NO_UNIT = re.compile(r"\w+ly|pleas\w*|thank\w*|then|instead|though|mayb\w*|total|overall|altogether|will|would|should")
PACE = re.compile(r"\b(?:km/h|kmh|kph|mph)\b")
FILLER = r"(?:\s+<filler>)*[\s:]*"
# "it must take at least 6", "it has to go 50 km"
LED = r"(?:\b(?:it|they|that|which)\s+)?\b<modal_verb>(?:\s+(?:only|also|really))*(?:\s+(?!be\b)[a-z]+)?\s+$"
FAR_OFF = 20.0  # times the largest number there is
TINY = 1e-4  # times the largest number there is
AROUND = 1.2  # times a number that is only near it
LEAST_PRICE = 10.0  # a bare number that is only near it, and smaller, is something else: "about 2"
NEARBY = 4.0  # times the highest price there is, or as much below the lowest
# What is told in years, and how long, wide or high things are, in meters up to so many.
IN_YEARS = frozenset({"age", "warranty", "guarantee", "experience"})
PROMISED, MOST_YEARS = frozenset({"warranty", "guarantee"}), 10.0  # more of a promise are months
EXTENTS, SMALL = frozenset({"height", "width", "depth", "length", "diameter", "thickness"}), 4.0
PAID = frozenset({"cost", "price", "fee", "rate", "fare"})  # nor do these alone, where there are several
SINGLE = ("under", "below", "maximum", "above", "minimum")  # bounds in one word, which may be misspelled
MOST = 50  # numbers that are looked at in one text
FEW = 20  # different whole numbers of something that is counted, such as rooms


@dataclass(frozen=True)
class Attribute:
    """Something that has a number: what it is called, and where its numbers lie."""

    name: str
    words: frozenset[str]
    about: str
    low: float
    high: float
    objective: bool
    counted: bool = False
    less_is_better: bool = False

    @classmethod
    def of_objective(cls, one: Objective) -> Attribute:
        """Return an objective as an attribute."""
        words = frozenset(word for text in (one.name, *one.synonyms) for word in telling_stems(text))
        about = " ".join([one.name, *one.synonyms, one.description]).casefold()
        return cls(one.name, words, about, one.low, one.high, objective=True, less_is_better=one.less_is_better)

    @classmethod
    def of_detail(cls, name: str, numbers: Floats) -> Attribute:
        """Return a detail as an attribute."""
        known = numbers[~np.isnan(numbers)]
        counted = bool(np.all(known == np.round(known))) and len(np.unique(known)) <= FEW
        low, high = float(known.min()), float(known.max())
        return cls(name, telling_stems(name), name.casefold(), low, high, objective=False, counted=counted)

    @property
    def described(self) -> str:
        """What is told of it beside its name."""
        return self.about.removeprefix(self.name.casefold()).strip()

    @property
    def units(self) -> list[str]:
        """The units that its description names; "a night" of "euros a night" is none."""
        named = self.name.casefold()
        if PACE.search(self.about):
            return ["km/h"]
        for text in (
            re.sub(rf"\b{re.escape(named)}\b", " ", self.about),
            named,
        ):  # a description knows better than "day pass"
            plain = re.sub(r"\b(?:an?|per|each|every|the)\s+\w+", " ", text)
            if found := [word for word in stems(plain) if word in units() and len(word) > 1]:
                return found
        return []

    def counts(self, said: Sequence[str]) -> bool:
        """Tell whether it is named like one of the words that may be a unit, or like a word for the same."""
        known = {units().get(word, word) for word in self.words}
        people = set(table()["hints"]["people"])
        made = any(word == f"{own}er" for own in self.words for word in said)  # "a two-seater" has two seats
        alike = known & {units().get(word, word) for word in said}
        return bool(alike or made or (self.words & people and people & set(said)))

    def fits(self, quantity: Quantity, *, within: float = 1.0) -> bool:
        """Tell whether numbers of this size could be meant: none beyond the largest there is, so many times over."""
        if self.in_years and not all(map(is_year, quantity.numbers)):
            return False
        measured = quantity.measure is not None and self.measures(quantity.measure)
        factor = units()[str(quantity.unit)][1] / self.unit(str(quantity.measure), quantity.unit) if measured else 1.0
        sizes = [number * factor for number in quantity.numbers]  # half an hour is no number of years
        return all(size <= within * self.high and (factor == 1.0 or size > TINY * self.high) for size in sizes)

    def beyond(self, quantity: Quantity) -> float:
        """Return how many times over the largest number there is, or under the lowest, one is; 1 if none is."""
        over = [
            number / self.high if self.high > 0.0 else math.inf for number in quantity.numbers if number > self.high
        ]
        under = [self.low / number if number > 0.0 else math.inf for number in quantity.numbers if number < self.low]
        return max((1.0, *over, *under))

    def bears(self, quantity: Quantity, *, beside: bool) -> bool:
        """Tell whether a bound makes sense of an objective: nobody wants less of what is good, or more than there is.

        Of one named right beside it the bound may go either way, but not leave all items in.
        """
        if not self.objective or quantity.measure is not None:
            return True
        if quantity.bound == ("min" if self.less_is_better else "max"):
            return beside and self.low <= quantity.numbers[0] <= self.high
        return beside or self.less_is_better or min(quantity.numbers) <= self.high

    @property
    def in_years(self) -> bool:
        """Whether its numbers are years of our time."""
        return is_year(self.low) and is_year(self.high)

    def measures(self, measure: str) -> bool:
        """Tell whether this can be measured so, by its name or the units in its description."""
        if measure == "time" and self.in_years:
            return False
        if self.units:
            return any(units()[word][0] == measure for word in self.units)
        return re.search(any_of("hints", measure), self.about) is not None

    def called_like(self, measure: str) -> bool:
        """Tell whether its very name says that it is measured so."""
        return re.search(any_of("hints", measure), self.name.casefold()) is not None

    def unit(self, measure: str, said: str | None = None) -> float:
        """Return the unit that this is measured in, by its description, its numbers, or the unit that is said."""
        thousand = 1000.0 if re.match(r"(?:in )?thousands?\b", self.described) else 1.0
        for word in self.units:
            if units()[word][0] == measure:
                return units()[word][1] * thousand
        if measure == "time" and self.words & IN_YEARS:
            promised = bool(self.words & PROMISED) and self.high > MOST_YEARS
            return units()["month" if promised else "year"][1]
        if measure == "time" and said is not None and units()[said][1] >= units()["week"][1]:  # no number of hours
            return units()[said][1]
        if measure == "time":
            return 60.0 if self.high <= 48.0 else 1.0
        far = said is not None and units()[said][1] >= units()["km"][1]  # a trail, not a bed
        if measure == "distance" and self.words & EXTENTS and not far:  # centimeters, or meters where numbers are small
            return units()["cm" if self.high > SMALL else "m"][1]
        if measure in ("distance", "mass"):
            return 1.0 if self.high <= 500.0 else 0.001
        return 1.0


@dataclass(frozen=True)
class Quantity:
    """A number in a text with what bounds it: `text[start:end]`."""

    numbers: tuple[float, ...]  # one, or the two ends of a range
    # "max", "min", "range", "about" for one that is only near, "need" for what must be had, or "" for a bare number.
    bound: str
    units: tuple[str, ...]  # words that may be its unit
    start: int
    end: int
    speedy: bool = False  # whether it is "faster than 30" of what no unit tells: of a time, less
    aged: bool = False  # whether it is "older than 2018": of a year, less

    @property
    def unit(self) -> str | None:
        """The unit, if one of the words is a known one."""
        return next((unit for unit in self.units if unit in units()), None)

    @property
    def measure(self) -> str | None:
        """What the unit measures."""
        return None if self.unit is None else units()[self.unit][0]

    def limit(self, attribute: Attribute) -> dict[str, Any] | float | None:
        """Return this as a limit on an attribute, in its unit; None for a number that limits nothing."""
        factor = 1.0
        if self.unit is not None and attribute.measures(units()[self.unit][0]):
            measure, size = units()[self.unit]
            factor = size / attribute.unit(measure, self.unit)
        numbers = [plain_number(round(number * factor, 6)) for number in self.numbers]
        if self.bound == "about":
            return {"max": plain_number(round(AROUND * numbers[0], 6))} if attribute.measures("money") else None
        if self.bound == "need":
            return {"max" if attribute.less_is_better else "min": numbers[0]}
        if self.bound == "range":
            return {"min": min(numbers), "max": max(numbers)}
        turned = (self.speedy and attribute.measures("time")) or (self.aged and attribute.in_years)
        if self.bound and turned:
            return {"min" if self.bound == "max" else "max": numbers[0]}
        if self.bound:
            return {self.bound: numbers[0]}
        if attribute.objective:
            return None
        if self.measure == "area" or re.search(any_of("hints", "roomy"), attribute.about):
            return {"min": numbers[0]}
        return numbers[0] if attribute.counted and isinstance(numbers[0], int) else None


def find_quantities(text: str) -> list[Quantity]:
    """Return the numbers of a folded text with what bounds them.

    Examples
    --------
    >>> [(one.numbers, one.bound, one.units) for one in find_quantities("i can spend 1,500 euros at most, 10 to 20 km")]
    [((1500.0,), 'max', ('euro',)), ((10.0, 20.0), 'range', ('km',))]
    """
    found: list[Quantity] = []
    for match in islice(
        pattern(rf"(?<![\w.,])({ANY_NUMBER})(?:\s*(<to>|<and>)\s*({ANY_NUMBER}))?").finditer(text), MOST
    ):
        place = found[-1].end if found else 0
        if match.start() < place:
            continue
        before = text[place : match.start()]
        between = pattern(r"\b<between>\s*$").search(before)
        if match.group(3) and (between or match.group(2) in table()["to"]):
            numbers = ends(match.group(1), match.group(3))
            units_, end = _units(text, match.group(), match.end())
            start = place + between.start() if between else match.start()
            found.append(Quantity(numbers, "range", units_, start, end))
            continue
        ish = re.match(r"-?ish\b", text[match.end(1) :])
        units_, end = _units(text, match.group(1), match.end(1) + (ish.end() if ish else 0))
        people = set(units_) <= set(table()["hints"]["people"]) and pattern(r"\b<party>\s*$").search(before)
        if people and not units_:
            units_ = ("people",)
        bound, start = _before(before, match.start())
        bound, start, end = _after(text, bound, start, end, place, units_)
        if bound and not units_ and (later := _units(text, "", end))[0] and later[0][0] in units():  # "4+ stars"
            units_, end = later
        if not bound and units_ and pattern(r"\s*<too_much>\b").match(text[end:]):
            bound = "max"
        elif not bound and (people or (units_ and units_[0] in units() and pattern(LED).search(before))):
            bound = "need"
        elif bound and pattern(r"(?:[\s\w]{0,25}\s)?<unwanted>").match(text[end:]):
            bound = "min" if bound == "max" else "max"
        if units_ and pattern(rf"\b<moments>{FILLER}$").search(before):
            bound = ""
        speedy = pattern(rf"\b<speedy> than{FILLER}$").search(before) is not None
        timed = any(units().get(unit, ("",))[0] == "time" for unit in units_)
        if bound and timed and speedy:
            bound = "min" if bound == "max" else "max"
        older = pattern(rf"\b<aged> than{FILLER}$").search(before) is not None
        aged = pattern(r"\b<age>\s*$").search(before)
        near = None if bound else _near(before, text[end:], units_, value_of(match.group(1)))
        if near is not None or (ish and not bound):
            bound, start = "about", start - (near or 0)
        held = pattern(r"\b<holding>\s+$").search(before)
        article = match.group(1) in ("a", "an")  # "within a week" says one, "for a week" does not; "one" hardly ever
        if re.match(r"\s*(?:ago|later|earlier|before last)\b", text[end:]) and not bound:  # a story
            continue
        if bound or (units_ and not article) or aged or held or any(letter.isdigit() for letter in match.group(1)):
            value = value_of(match.group(1))
            speedy, older = speedy and not units_, older and is_year(value)
            found.append(Quantity((value,), bound, units_, start, end, speedy, older))
    return [one for one in found if all(map(math.isfinite, one.numbers))]


def _near(before: str, after: str, units_: Sequence[str], value: float) -> int | None:
    """Return how many letters before a price say that it is only near: "around 100", "100 or so"; None if none do."""
    lead = pattern(r"(?<!\w)(?P<other><other_about>)?<roughly>\s*$").search(before)
    money = any(units().get(unit, ("",))[0] == "money" for unit in units_)
    if (units_ or value < LEAST_PRICE or is_year(value) or pattern(r"\s*<hour>").match(after)) and not money:
        return None
    if lead is not None and not lead["other"]:
        return len(before) - lead.start()
    return 0 if pattern(r"\s*<or_so>\b").match(after) else None


def _before(before: str, here: int) -> tuple[str, int]:
    """Return the bound in the words right before a number, and where they begin; the longest counts: "not under"."""
    found = []
    for bound, words in (("max", "<at_most>"), ("min", "<at_least>")):
        match = pattern(rf"(?:\b<lead>\s+)*(?<!\w){words}(?!\w){FILLER}$").search(before)
        if match:
            found.append((here - len(before) + match.start(), bound))
    if not found and (last := re.search(r"([a-z]{4,})(\s+)$", before)):  # "undr 100 euros"
        near = get_close_matches(last[1], SINGLE, n=1, cutoff=0.8)
        if near and near[0][0] == last[1][0] and near[0] != last[1]:
            return ("min" if near[0] in ("above", "over", "minimum") else "max"), here - len(last.group())
    start, bound = min(found, default=(here, ""))
    return bound, start


def _after(text: str, bound: str, start: int, end: int, place: int, units_: Sequence[str]) -> tuple[str, int, int]:
    """Return the bound with the words after a number, unless they belong to the next one, and where it all stands."""
    of_what = r"(?:\s*\bof\s+(?:(?:the|my)\s+)?[a-z]+|\s*\b(?:walk|drive|ride|away|long|wide|tall|each))?\s*,?\s*"
    owned = all(units().get(unit, ("",))[0] in ("money", "time") for unit in units_)  # not "16 GB is what I have"
    most = "<most_after>|<means>" if owned else "<most_after>"
    bounds = rf"(?:(?P<max>{most})|(?P<min><least_after>|\+))(?!\w)(?!{FILLER}[$€£¥]?\d)"
    after = pattern(of_what + bounds).match(text[end:])
    if after is not None and bound and after.group(bound) is None and re.search(r"\bm(?:in|ax)", text[start:end]):
        bound = ""  # the name of something: "a minimum term of 12 months or less"
    if after is None or (bound and after.group(bound) is None):
        return bound, start, end
    lead = re.search(
        r"(?:\b(?:i|we) (?:can|could|will|would|want to)(?: only)? )?\b(?:spend|pay|afford)\s*$", text[place:start]
    )
    begin = place + lead.start() if lead else start
    return bound or ("max" if after.group("max") else "min"), begin, end + after.end()


def _units(text: str, number: str, end: int) -> tuple[tuple[str, ...], int]:
    """Return the words that may be a unit, of the number itself and after it, and where they end."""
    found = [sign for sign in number if sign in "$€£¥"]
    after = re.match(r"\s*-?\s*(?:of (?=us\b))?(m²|%|km/h|[^\W\d_]+2?)", text[end:])
    if after:
        word = stem(after.group(1))
        if word not in units() and len(word) > 4:  # "dolars"
            word = next(iter(get_close_matches(word, units(), n=1, cutoff=0.85)), word)
        if word in units() or (len(word) > 3 and not NO_UNIT.fullmatch(word)) or word == "us":
            found.append(word)
        if word in units() or word in table()["hints"]["people"]:
            end += after.end()
    tail = pattern(
        r"\s*(?:(?:meters?|metres?|feet)\b)?\s*(?P<each>(?:/\s*|(?:an?|per|each|the|pro|im|al|par|por|am)\s+)<each>\b)?"
    ).match(text[end:])
    if tail is not None:
        end += tail.end()
        if tail["each"] and not found:
            found.append("€")  # "no more than 900 a month" is money
    return tuple(dict.fromkeys(found)), end


def find_attribute(
    quantity: Quantity, attributes: Sequence[Attribute], clause: str, near: str | None = None, *, held: bool = False
) -> Attribute | None:
    """Return what a number is about: by a name in the clause, by its unit, or as the only price there is.

    Money is for what is paid: for anything else only if that is named right beside it ("a desk for 300 a month").
    A number that is `held` has "room for" or the like before it.
    """
    said, beside = (_with_nouns(set(stems(text))) for text in (clause, clause if near is None else near))
    found = None
    for within in (1.0, FAR_OFF):  # what has such numbers goes before what has smaller ones
        best = 0.9
        for one in attributes:
            named = one.words <= said
            fitting = quantity.measure is None or one.measures(quantity.measure)
            fitting = fitting or (
                named and not one.objective and (quantity.measure != "time" or one.words <= beside)
            )  # not "10 minutes to the floor"
            if quantity.measure == "money" and not one.measures("money") and not one.words <= beside:
                fitting = False
            if (one.objective and not quantity.bound) or not fitting:
                continue
            if not one.fits(quantity, within=FAR_OFF if named else 1.0 if quantity.bound == "need" else within):
                continue
            if not one.bears(quantity, beside=bool(one.words & beside)):
                continue
            score = 4.0 * one.counts(quantity.units) + 3.0 * named + 1.0 * bool((one.words - PAID or one.words) & said)
            score += 2.0 * (quantity.measure is not None) + 0.5 * one.objective
            score += 0.7 * (quantity.measure is not None and one.called_like(quantity.measure))
            score += 0.9 * any(units()[own] == units().get(str(quantity.unit)) for own in one.units)
            score += 0.8 * bool(beside & set(stems(one.described)) - set(quantity.units) - SMALL_WORDS)  # "of ascent"
            if score > best:
                best, found = score, one
        if found is not None:
            return found
    if held and quantity.measure is None and quantity.bound in ("min", ""):
        people = set(table()["hints"]["people"])
        roomy = (one for one in attributes if one.words & people and (quantity.bound or not one.objective))
        if (holds := next((one for one in roomy if one.fits(quantity)), None)) is not None:
            return holds
    if quantity.bound and not quantity.units and all(map(is_year, quantity.numbers)):
        years = (one for one in attributes if one.in_years)
        if (year := next(years, None)) is not None:
            return year
    if quantity.bound and not quantity.units and not pattern(r"\b<clock>\s+\d").search(clause):
        paid = (one for one in attributes if one.less_is_better or not one.objective)  # not value for money
        prices = [one for one in paid if one.measures("money")]
        nearest = min(prices, key=lambda one: one.beyond(quantity), default=None)
        if nearest is not None and nearest.beyond(quantity) <= NEARBY:  # "under 20" is a price, if none is that low
            return nearest
    return None


def _with_nouns(said: set[str]) -> set[str]:
    """Return words with what is called after them: "rated 4 or higher" is about the rating, "climbing" the climb."""
    return (
        said
        | {f"{word[:-2]}ing" for word in said if word.endswith("ed")}
        | {word[:-3] for word in said if word.endswith("ing")}
    )
