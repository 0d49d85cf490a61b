"""What has numbers in a catalog, objectives and details: what each is called and measured in, and which is meant."""

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from druthers.glossary import in_words, without_units
from druthers.limits.quantities import OTHER_WAY, Quantity, is_year, plain_number
from druthers.limits.words import (
    SMALL_WORDS,
    hinted,
    pattern,
    stem,
    stems,
    table,
    telling_stems,
    units,
    ways,
    words,
)
from druthers.types import Floats, Objective

USED = re.compile(r"\bl(?:iters?|itres?)?\s*/\s*100\b")  # of a car
PACE = re.compile(r"\b(?:km/h|kmh|kph|mph)\b")
FAR_OFF = 20.0  # times the largest number there is
TINY = 1e-4  # times the largest number there is
AROUND = 1.2  # times a number that is only near it
NEARBY = 4.0  # times the highest price there is, or as much below the lowest
# What is told in years, and how long, wide or high things are, in meters up to so many.
IN_YEARS = frozenset({"age", "warranty", "guarantee", "experience"})
PROMISED, MOST_YEARS = frozenset({"warranty", "guarantee"}), 10.0  # more of a promise are months
EXTENTS, SMALL = frozenset({"height", "width", "depth", "length", "diameter", "thickness"}), 4.0
PAID = frozenset({"cost", "price", "fee", "rate", "fare"})  # nor do these alone, where there are several
FIRST_DATED = 1000  # the earliest year of a column that is called like one
SIZES = frozenset({"inch", "inches", "cm", "mm"})
ROOMS = frozenset({"room", "bedroom", "bathroom"})  # which are no square meters, unless their size is told
SIZED = frozenset({"size", "area", "space", "sqm", "m2", "sqft"})
COUNTING = frozenset({"count", "cnt", "number", "num", "nr", "qty", "of", "free"})  # "windowCount", "places_free"
MANY = 100.0  # of what is counted, from which on it is rather measured
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
    numbers: frozenset[float] = frozenset()  # those there are, of what is counted
    less_is_better: bool = False
    least: float = -math.inf  # the lowest number that an item has
    whole: bool = True  # whether all its numbers are, as of what is counted: sleeps of 4, but no sleep of 4.3
    in_minutes: bool = False  # whether "min" in its name is that, and not the least: `play_time_min` without a maximum

    @classmethod
    def of_objective(cls, one: Objective, numbers: Floats) -> "Attribute":
        """Return an objective as an attribute."""
        own = frozenset(word for text in (without_units(one.name), *one.synonyms) for word in telling_stems(text))
        about = " ".join([in_words(one.name), *one.synonyms, one.description]).casefold()
        least, less = float(np.nanmin(numbers)), one.less_is_better
        ends, whole = (one.low, one.high), bool(np.all(np.isnan(numbers) | (numbers == np.round(numbers))))
        return cls(one.name, own, about, *ends, objective=True, less_is_better=less, least=least, whole=whole)

    @classmethod
    def of_detail(cls, name: str, column: Floats, others: Collection[str] = ()) -> "Attribute":
        """Return a detail as an attribute, beside those of other names."""
        known = column[~np.isnan(column)]
        counted = np.unique(known) if np.all(known == np.round(known)) else ()
        numbers = frozenset(map(float, counted)) if len(counted) <= FEW else frozenset()
        low, high = float(known.min()), float(known.max())
        own = telling_stems(name) - units().keys() or telling_stems(name)  # "width cm" is the width
        minutes = name[-3:].casefold() == "min" and hinted("time", in_words(name).casefold())
        minutes = minutes and not any(other.casefold() == f"{name[:-3]}max".casefold() for other in others)
        about = in_words(name).casefold()
        return cls(name, own, about, low, high, objective=False, numbers=numbers, in_minutes=minutes)

    @property
    def counted(self) -> bool:
        """Whether it has few numbers, all whole ones, such as rooms."""
        return bool(self.numbers)

    @property
    def lowest(self) -> float:
        """The lowest number that an item has."""
        return self.low if math.isinf(self.least) else self.least

    @property
    def of_people(self) -> bool:
        """Whether it counts those whom it holds, by its name."""
        crowd = words("crowd") if self.end == "max" else frozenset()  # "maxKids"
        return self.whole and not self.words.isdisjoint({*table()["hints"]["people"], *words("beds"), *crowd})

    @cached_property
    def end(self) -> str:
        """Which end of a span of what it lets in this is, "min" or "max", by its name; "" if it is none."""
        called, ages = set(stems(self.name)) - {"min" * self.in_minutes}, self.words & {"age"}
        least, most = (words("least_age"), words("most_age")) if ages else (words("least"), words("most"))
        return "min" if called & least else "max" if called & most else ""

    @cached_property
    def spanned(self) -> frozenset[str]:
        """Of what it is an end: the age, of `min_age` and `age_to`."""
        return self.words - words("least_age") - words("most_age")

    @property
    def described(self) -> str:
        """What is told of it beside its name."""
        return self.about.removeprefix(in_words(self.name).casefold()).strip()

    @property
    def units(self) -> list[str]:
        """The units that its description names; "a night" of "euros a night" is none."""
        named = in_words(self.name).casefold()
        if PACE.search(self.about):
            return ["km/h"]
        if USED.search(self.about):
            return ["liter"]
        for text in (
            re.sub(rf"\b{re.escape(named)}\b", " ", self.about),
            named,
        ):  # a description knows better than "day pass"
            plain = re.sub(r"\bper \d+ \w+|\b(?:an?|per|each|every|the)\s+\w+|^\s*min\s(?=.*\w)", " ", text)
            if found := [word for word in stems(plain) if word in units() and len(word) > 1]:
                return found
        *rest, last = named.split()
        extent = last == "m" and not EXTENTS.isdisjoint(rest)  # `length_m`
        if last in table()["times"] and rest and not extent and hinted("time", " ".join(rest)):  # `TERM_M`, `wait_d`
            return [table()["times"][last]]
        unit = table()["letters"].get(last, "")
        return [unit] if unit and rest and hinted(units()[unit][0], " ".join(rest)) else []  # `weight_g`

    @cached_property
    def each(self) -> frozenset[str]:
        """What it is told by, in its name: the kid, of a price per kid."""
        return frozenset(stem(word) for word in re.findall(r"\bper (\w+)", in_words(self.name).casefold()))

    @property
    def thing(self) -> str:
        """What it tells the number of, by its name: the windows of a window count."""
        return " ".join(part for part in stems(self.name) if part not in COUNTING)

    @property
    def counts_things(self) -> bool:
        """Whether it is called a count of something that may be missing."""
        spoken = stems(self.name)
        many = not COUNTING.isdisjoint(spoken) or (spoken and in_words(self.name).casefold().split()[-1] != spoken[-1])
        return bool(many and self.thing) and self.counted and self.low == 0.0 and self.high <= MANY and not self.units

    def counts(self, said: Sequence[str]) -> bool:
        """Tell whether it is named like one of the words that may be a unit, or like a word for the same."""
        known = {units().get(word, word) for word in self.words - self.each}
        made = any(word == f"{own}er" for own in self.words for word in said)  # "a two-seater" has two seats
        alike = known & {units().get(word, word) for word in said}
        # not a price per person, nor the kilos that a machine takes
        crowd = self.of_people and not {*table()["hints"]["people"]}.isdisjoint(said)
        heads = {"class", "group", "team"} & self.words and "size" in self.words and words("crowd") & {*said}
        return bool(alike or made or heads or (crowd and not self.measures("money") and not self.units))

    def fits(self, quantity: Quantity, *, within: float = 1.0) -> bool:
        """Tell whether numbers of this size could be meant: none beyond the largest there is, so many times over."""
        if self.in_years and not all(is_year(number) or self.low <= number <= self.high for number in quantity.numbers):
            return False
        measured = quantity.measure is not None and self.measures(quantity.measure)
        factor = self.factor(quantity) if measured or quantity.unit is None else 1.0
        sizes = [number * factor for number in quantity.numbers]  # half an hour is no number of years
        return all(size <= within * self.high and (factor == 1.0 or size > TINY * self.high) for size in sizes)

    def spans(self, quantity: Quantity) -> bool:
        """Tell whether all numbers lie between the lowest and the highest there are."""
        return all(self.low <= number <= self.high for number in quantity.numbers)

    def beyond(self, quantity: Quantity) -> float:
        """Return how many times over the largest number there is, or under the lowest, one is; 1 if none is."""
        over = [
            number / self.high if self.high > 0.0 else math.inf for number in quantity.numbers if number > self.high
        ]
        least = max(self.low, self.least)
        under = [least / number if number > 0.0 else math.inf for number in quantity.numbers if number < least]
        return max((1.0, *over, *under))

    def bears(self, quantity: Quantity, *, beside: bool) -> bool:
        """Tell whether a bound makes sense of an objective: nobody wants less of what is good, or more than there is.

        Of one named right beside it the bound may go either way, but not leave all items in. People are neither how
        good rooms are nor what each pays.
        """
        if quantity.of_people and (not self.whole or self.measures("money")):
            return False
        if not self.objective or quantity.measure is not None:
            return True
        if quantity.bound == ("min" if self.less_is_better else "max"):
            return beside and self.low <= quantity.numbers[0] <= self.high
        return beside or self.less_is_better or min(quantity.numbers) <= self.high

    @property
    def in_years(self) -> bool:
        """Whether its numbers are years of our time."""
        early = self.low >= FIRST_DATED and not self.words.isdisjoint(words("years_named"))  # a museum of 1793
        return is_year(self.high) and (is_year(self.low) or early)

    @property
    def in_thousands(self) -> bool:
        """Whether one of its numbers stands for a thousand."""
        return re.match(r"(?:in )?thousands?\b", self.described) is not None

    def measures(self, measure: str) -> bool:
        """Tell whether this can be measured so, by its name or the units in its description."""
        if measure == "area" and self.words & ROOMS:
            return not SIZED.isdisjoint(stems(self.name))
        if measure == "time" and self.in_years:
            return False
        if self.units:
            return any(units()[word][0] == measure for word in self.units)
        plain = re.sub(r"\b(?:an?|per|each|every)\s+\w+", " ", self.about)  # "new episodes a month" are no months
        return hinted(measure, plain)

    def called_like(self, measure: str) -> bool:
        """Tell whether its very name says that it is measured so."""
        return hinted(measure, in_words(self.name).casefold())

    def unit(self, measure: str, said: str | None = None) -> float:
        """Return the unit that this is measured in, by its description, its numbers, or the unit that is said."""
        thousand = 1000.0 if self.in_thousands else 1.0
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

    def has_not(self, quantity: Quantity) -> bool:
        """Tell whether a bare number would be one that nothing has."""
        limit = self.limit(quantity)
        return isinstance(limit, int | float) and limit not in self.numbers

    def factor(self, quantity: Quantity) -> float:
        """Return how many of its own unit one of what is said is; 1 where that is of another kind, or not told."""
        if quantity.unit is None:  # "insurance of at least 60 thousand"
            return 0.001 if self.in_thousands and min(quantity.numbers) > self.high else 1.0
        if not self.measures(units()[quantity.unit][0]):
            return 1.0
        measure, size = units()[quantity.unit]
        factor = size / self.unit(measure, quantity.unit)
        beyond = max(quantity.numbers) * factor > FAR_OFF * self.high
        return 1.0 if beyond and not self.units and self.spans(quantity) else factor  # a pool of 50 m

    def limit(self, quantity: Quantity) -> dict[str, Any] | float | None:
        """Return a number as a limit on this, in its unit; None for one that limits nothing."""
        factor = self.factor(quantity)
        numbers = [plain_number(round(number * factor, 6)) for number in quantity.numbers]
        if quantity.bound == "about":
            return {"max": plain_number(round(AROUND * numbers[0], 6))} if self.measures("money") else None
        if quantity.bound == "need":
            return {"max" if self.less_is_better else "min": numbers[0]}
        if quantity.bound == "range":
            return {"min": min(numbers), "max": max(numbers)}
        if quantity.bound:
            turned = (quantity.speedy and self.measures("time")) or (quantity.aged and self.in_years)
            bound = OTHER_WAY[quantity.bound] if turned else quantity.bound
            few = self.in_years or (self.counted and self.high <= MANY and quantity.measure is None)
            beyond = quantity.strict and few and isinstance(numbers[0], int)  # "more than 3 rooms" are 4
            return {bound: numbers[0] + (1 if bound == "min" else -1) * beyond}
        if self.objective:  # "16 GB of RAM"
            return {"max" if self.less_is_better else "min": numbers[0]}
        if quantity.unit in SIZES and not self.counted:  # screens of 17 inches have 17.3
            return {"min": plain_number(round(0.97 * numbers[0], 6)), "max": plain_number(round(1.03 * numbers[0], 6))}
        if quantity.measure == "area" or hinted("roomy", self.about) or (quantity.of_people and self.of_people):
            return {"min": numbers[0]}
        if not self.counted or not isinstance(numbers[0], int):
            return None
        return {"min": numbers[0]} if hinted("lasting", self.about) and numbers[0] >= self.low else numbers[0]


def letting_in(quantity: Quantity, about: Attribute, attributes: Iterable[Attribute]) -> dict[str, Any]:
    """Return the limits that let a number in where it is about one end of a span: six are neither too few nor too many.

    A bound is on the end itself, "a minimum age of at most 6", unless it counts people, "at least 50 guests".
    """
    if not about.end or (quantity.bound not in ("", "need", "range") and not quantity.of_people):
        return {}
    factor = about.factor(quantity)
    low, high = (plain_number(round(factor * number, 6)) for number in (min(quantity.numbers), max(quantity.numbers)))
    ends = [one for one in attributes if one.end and one.spanned == about.spanned]
    if quantity.bound == "min" and any(one.end == "max" for one in ends):
        ends = [one for one in ends if one.end == "max"]
    return {one.name: {"max": low} if one.end == "min" else {"min": high} for one in ends}


def find_attribute(
    quantity: Quantity,
    attributes: Sequence[Attribute],
    clause: str,
    near: str,
    *,
    held: bool = False,
    counted: str = "",
) -> Attribute | None:
    """Return what a number is about: by a name in the clause, by its unit, or as the only price there is.

    Money is for what is paid, not value for it: for anything else only if named right beside it ("a desk for 300").
    A number that is `held` has "room for" or the like before it; what is `counted` stands right after its unit.
    """
    said, beside = (_with_nouns(set(stems(text))) for text in (clause, near))
    prices = [one for one in attributes if one.measures("money") and (one.less_is_better or not one.objective)]
    found = None
    timed = [one for one in attributes if quantity.measure == "time" and one.measures("time") and one.fits(quantity)]
    for within in (1.0, FAR_OFF):  # what has such numbers goes before what has smaller ones
        best = 0.9
        for one in attributes:
            if timed and one not in timed and not one.spans(quantity):
                continue  # "a place within 10 weeks" is no number of places
            named = one.words <= said
            fitting = quantity.measure is None or one.measures(quantity.measure)
            # Not "10 minutes to the floor".
            fitting = fitting or (named and not one.objective and (quantity.measure != "time" or one.words <= beside))
            if quantity.measure == "money" and not one.measures("money") and not one.words <= beside:
                fitting = False
            bare = one.objective and not quantity.bound and not (quantity.measure and one.words <= beside)
            counts = one.counts(quantity.units)
            if bare or not fitting or not one.bears(quantity, beside=counts or bool(one.words & beside)):
                continue
            if not one.fits(quantity, within=FAR_OFF if named else 1.0 if quantity.bound == "need" else within):
                continue
            score = 4.0 * counts + 3.0 * named + 1.0 * bool((one.words - PAID or one.words) & said)
            score += 0.5 * one.objective + (2.0 + 0.1 * one.measures(quantity.measure) if quantity.measure else 0.0)
            score += 0.7 * (quantity.measure is not None and one.called_like(quantity.measure))
            score += 0.9 * any(units()[own] == units().get(str(quantity.unit)) for own in one.units)
            score += 2.0 * bool(one.words & _with_nouns({stem(counted)}))  # "16 GB RAM and 512 GB storage"
            score += 0.8 * bool(beside & set(stems(one.described)) - set(quantity.units) - SMALL_WORDS)  # "of ascent"
            if score > best:
                best, found = score, one
        if found is not None:
            # "2 beds and a bar under 100"
            far = quantity.bound and not quantity.units and found.beyond(quantity) > NEARBY
            return next((one for one in prices if far and one.beyond(quantity) == 1.0), found)
    if held and quantity.measure is None and quantity.bound in ("min", ""):
        roomy = (one for one in attributes if one.of_people and (quantity.bound or not one.objective))
        if (holds := next((one for one in roomy if one.fits(quantity)), None)) is not None:
            return holds
    if not quantity.units and all(map(is_year, quantity.numbers)):
        year = _year_of(quantity, attributes, prices, clause)
        if year is not None or ways("of_a_year").search(clause):
            return year  # none for "newer than 2018", where no year is known
    if quantity.bound and not quantity.units and not pattern(r"\b<clock>\s+(?:\d|<numbers>\b)").search(clause):
        return _price_or_so(quantity, attributes, prices)
    return None


def _year_of(
    quantity: Quantity, attributes: Sequence[Attribute], prices: Sequence[Attribute], clause: str
) -> Attribute | None:
    """Return the column of years that a number is likelier about than about a price."""
    paid = quantity.bound and any(one.fits(quantity) for one in prices) and not ways("dated_clause").search(clause)
    year = next((one for one in attributes if one.in_years), None)
    spanned = year is not None and quantity.bound in ("", "range") and year.spans(quantity)  # "2022-2024"
    return year if spanned or (quantity.bound and not paid) else None


def _price_or_so(quantity: Quantity, attributes: Sequence[Attribute], prices: Sequence[Attribute]) -> Attribute | None:
    """Return what a bare number is about: a price, or what has such numbers where nothing costs that much."""
    nearest = min(prices, key=lambda one: one.beyond(quantity), default=None)
    others = [one for one in attributes if one not in prices and one.spans(quantity)]
    if len(others) == 1 and nearest is not None and min(quantity.numbers) > nearest.high:
        return others[0]  # "under 80,000", where no car costs that much
    if nearest is not None and nearest.beyond(quantity) <= NEARBY:  # "under 20" is a price, if none is that low
        return nearest
    return None


def _with_nouns(said: set[str]) -> set[str]:
    """Return words with what is called after them: "rated 4 or higher" is about the rating, "160 wide" the width."""
    return (
        said
        | {noun for word, noun in table()["nouns"].items() if word in said}
        | {f"{word[:-2]}ing" for word in said if word.endswith("ed")}
        | {word[:-3] for word in said if word.endswith("ing")}
    )
