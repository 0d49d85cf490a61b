"""Numbers in sentences: what bounds them, and what unit they have."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice

from druthers.limits.days import month_of
from druthers.limits.words import pattern, stem, table, units, ways

OTHER_WAY = {"min": "max", "max": "min"}
LEAST_PRICE = 10.0  # a bare number that is only near it, and smaller, is something else: "about 2"
# "a tent for four please"
FOR, ALONE = (
    r"\bfor\s*$",
    r"\s*(?:$|[,.;!?)]|(?:please|pls|in|on|at|with|under|and|but|near|by|tonight|tomorrow|this|next)\b)",
)
FEW = range(2, 13)
SINGLE = ("under", "below", "maximum", "above", "minimum")  # bounds in one word, which may be misspelled
EITHER = re.compile(r"(\d+)\s+(?:or|oder|o|ou|of)\s+(\d+)(?![\d.,])")
NEAR_BY = r"(?:(?!\b(?:or|else|if|because|and)\b)[\s\w]){0,25}"
SMALLER = {"m": 100, "hour": 60, "euro": 100, "feet": 12}  # parts of a unit: "3 meters 20", "2 hours 30"
OLDEST = 20  # of children whose age is told
ALIKE = 1.5  # how many times as large a number is that is told of the same
MOST = 50  # numbers that are looked at in one text


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
    strict: bool = False  # whether the number itself is out: "newer than 2023", but not "no newer than 2023"

    @property
    def unit(self) -> str | None:
        """The unit, if one of the words is a known one."""
        return next((unit for unit in self.units if unit in units()), None)

    @property
    def of_people(self) -> bool:
        """Whether it counts those whom something must hold."""
        return not set(table()["hints"]["people"]).isdisjoint(self.units)

    @property
    def measure(self) -> str | None:
        """What the unit measures."""
        return None if self.unit is None else units()[self.unit][0]


def find_quantities(text: str, *, signed: bool = False) -> list[Quantity]:
    """Return the numbers of a folded text with what bounds them; with signs where some may be below zero.

    Examples
    --------
    >>> [(one.numbers, one.bound, one.units) for one in find_quantities("i can spend 1,500 euros at most, 10 to 20 km")]
    [((1500.0,), 'max', ('euro',)), ((10.0, 20.0), 'range', ('km',))]
    """
    found: list[Quantity] = []
    number = rf"(?:(?<!\S)-(?=\d))?{ANY_NUMBER}" if signed else ANY_NUMBER
    range_ = rf"(?<![\w.,])({number})(?:\s*(<to>|<and>|up to)<hedge>({number}))?"
    for match in islice(pattern(range_).finditer(text), MOST):
        place = found[-1].end if found else 0
        if match.start() < place:
            continue
        before = text[place : match.start()]
        between = pattern(r"\b<between>\s*$").search(before)
        if (either := EITHER.match(text, match.start())) and int(either[2]) == int(either[1]) + 1 < FIRST_YEAR:
            units_, end = _units(text, either[2], either.end())
            if units_ and not ways("denied_before").search(before):  # "2 or 3 rooms"
                found.append(Quantity((float(either[1]), float(either[2])), "range", units_, match.start(), end))
                continue
        upto = match.group(2) == "up to" and re.search(r"\b(?:from|ab|von|de|da)\s*$", before)
        if match.group(3) and (between or upto or match.group(2) in table()["to"]):
            named = re.match(r"\s*(?:of\s+)?([a-z]{3,})", text[match.end() :])
            if not (named and month_of(named[1])):  # "from 12 to 15 May" bounds no price
                units_, end = _units(text, match.group(), match.end())
                start = place + between.start() if between else match.start()
                found.append(Quantity(ends(match.group(1), match.group(3)), "range", units_, start, end))
        elif one := _quantity(text, match, place):
            found.append(one)
    return _put_right(text, _shared(text, [one for one in found if all(map(math.isfinite, one.numbers))]))


def _shared(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    """Return numbers, of which the other end of what was bounded has its unit: "at most 3 rooms but at least 2".

    One that is bounded after it was told of is the same: "built for a 43 inch set, so 43 is the most"; and one that
    follows from it has its unit: "I weigh 108 kilos, so it must be made for at least 115".
    """
    shared: list[Quantity] = []
    for one in found:
        last, alike = (shared[-1] if shared else None), one
        if last is not None and one.bound and not one.units and last.numbers == one.numbers and not last.bound:
            shared.pop()
            alike = replace(one, units=last.units)
        if last is not None and last.units and not one.units and OTHER_WAY.get(last.bound) == one.bound:
            sound = (one.numbers[0] <= last.numbers[0]) == (one.bound == "min")
            if sound and re.fullmatch(r"\s*[a-z]*\s*,?\s*(?:(?:but|and|yet|also)\s+)+", text[last.end : one.start]):
                alike = replace(one, units=last.units)
        if last is not None and last.unit and not (last.bound or one.units) and one.bound in OTHER_WAY:
            near = last.numbers[0] / ALIKE <= one.numbers[0] <= last.numbers[0] * ALIKE
            if near and re.search(r"\b(?:so|therefore|hence)\b[^.;!?]*$", text[last.end : one.start]):
                alike = replace(one, units=last.units)
        shared.append(alike)
    return shared


def _put_right(text: str, found: Sequence[Quantity]) -> list[Quantity]:
    """Return numbers, of which one that is put right at once is the other: "at most 30 euros, sorry, I meant 40"."""
    left: list[Quantity] = []
    for one in found:
        last = left[-1] if left else None
        right = None if last is None else ways("put_right").fullmatch(text[last.end : one.start])
        counted = re.match(r"\s*([a-z]{3,})", text[one.end :])
        anew = right and counted and counted[1] in right.group()  # "at most 3 beds, no, 2 beds" says all anew
        same = last is not None and (one.units in ((), last.units) or not last.units) and one.bound in ("", last.bound)
        if last is not None and right is not None and same and not anew:
            left[-1] = replace(last, numbers=one.numbers, units=last.units or one.units, end=one.end)
        else:
            left.append(one)
    return left


def _quantity(text: str, match: re.Match[str], place: int) -> Quantity | None:
    """Return a single number with what bounds it; what stands before a place belongs to another one."""
    before = text[place : match.start()]
    ish = re.match(r"-?ish\b", text[match.end(1) :])
    units_, end = _units(text, match.group(1), match.end(1) + (ish.end() if ish else 0))
    value, end = _whole(value_of(match.group(1)), units_, text, end)
    crowd = {*table()["hints"]["people"], *table()["crowd"], "them"}
    people = set(units_) <= crowd and pattern(r"\b<party>\s*$").search(before)
    people = people or (not units_ and value in FEW and re.search(FOR, before) and re.match(ALONE, text[end:]))
    if people and not set(units_) & set(table()["hints"]["people"]):
        units_ = ("people",)
    bound, start = _before(before, match.start())
    bound, start, end = _after(text, bound, start, end, place, units_)
    if bound and not units_ and (later := _units(text, "", end))[0] and later[0][0] in units():  # "4+ stars"
        units_, end = later
    measured = {units().get(unit, ("",))[0] for unit in units_}
    turned_round = False
    scarce = measured & {"distance", "time", "mass"} and ways("scarce", "gap_of").search(before)
    owned = measured == {"money"} and ways("owned").search(before)
    if not bound and units_ and (scarce or owned or pattern(r"\s*<too_much>\b|<not_beyond>").match(text[end:])):
        bound = "max"
    elif not bound and (people or (units_ and units_[0] in units() and ways("led_by_verb").search(before))):
        bound = "need"
    elif bound and pattern(rf"(?:{NEAR_BY}(?:\s|\b(?=')))?<unwanted>").match(text[end:]):
        bound, turned_round = OTHER_WAY[bound], True
    if units_ and pattern(r"\b<moments><fillers>$").search(before):
        bound = ""
    speedy = pattern(r"\b<speedy> than<fillers>$").search(before) is not None
    if bound and speedy and "time" in measured:
        bound = OTHER_WAY[bound]
    older = pattern(r"\b<aged> (?:than|als)<fillers>$").search(before) is not None
    aged = pattern(r"\b<age>\s*$").search(before)
    if not bound:
        bound, start, end = _from_on(text, before, value, start, end)
    clocked = re.match(r"\s*[ap]\.?m\b", text[match.end(1) :])  # "around 11 pm" is no price
    near = None if bound or clocked else _near(before, text[end:], units_, value)
    if near is not None or (ish and not bound):
        bound, start = "about", start - (near or 0)
    held = pattern(r"\b<holding>\s+$").search(before)
    turned = place > 0 and ways("turns_to").search(before)  # "700 euros, no wait, eight hundred"
    article = match.group(1) in ("a", "an")  # "within a week" says one, "for a week" does not; "one" hardly ever
    if re.match(r"\s*(?:ago|later|earlier|before last)\b", text[end:]) and not bound:  # a story
        return None
    if bound in OTHER_WAY and not units_ and value < OLDEST and ways("of_an_age").search(text[:start]):
        return None  # "two kids under ten"
    if match.group(1) == "one" and not units_ and pattern(r"\s*<of_one>").match(text[end:]):
        return None  # "fast over one that's perfect"
    told = bound or (units_ and not article) or aged or held or turned
    if not told and not any(letter.isdigit() for letter in match.group(1)):
        return None
    lead = text[start : match.start()]
    speedy, older = speedy and not units_, older and is_year(value)
    strict = not turned_round and pattern(r"<strict><fillers>$").search(lead) is not None
    if bound and not units_ and re.search(r"\b(?:spend|pay|afford)\b", lead):
        units_ = ("€",)  # whatever else is counted beside it: "1400 rpm, and I can't pay more than 800"
    return Quantity((value,), bound, units_, start, end, speedy, older, strict)


def _whole(value: float, units_: Sequence[str], text: str, end: int) -> tuple[float, int]:
    """Return a number with what is said of it after its unit, "an hour and a half", "5 pm", and where that ends."""
    if units_ and (half := re.match(r"\s*and an? half\b", text[end:])):
        return value + 0.5, end + half.end()
    unit = units().get(next(iter(units_), ""))
    smaller = next((parts for larger, parts in SMALLER.items() if unit and units()[larger] == unit), 0)
    if smaller and (rest := ways("rest_of_unit").match(text[end:])):
        return value + value_of(rest["rest"]) / smaller, end + rest.end()
    if clock := re.match(r"\s*([ap])\.?m\b\.?", text[end:]):
        return value % 12.0 + 12.0 * (clock[1] == "p") if value <= 12.0 else value, end + clock.end()
    return value, end


def _from_on(text: str, before: str, value: float, start: int, end: int) -> tuple[str, int, int]:
    """Return the bound of "2018 or older" and "from 2018 on", and where it all stands; "" for none."""
    if old := re.match(r"\s*(?:or|and|oder|und) (?:older|earlier|alter|aelter)\b", text[end:]):
        return "max" if is_year(value) else "min", start, end + old.end()
    led = re.search(r"\b(?:from|since|as of|starting|ab)\s+$", before)
    if led and (on := re.match(r"\s*(?:on|up|upwards?|an)\b(?! (?:a|the|to)\b)", text[end:])):
        return "min", start - len(led.group()), end + on.end()
    return "", start, end


def _near(before: str, after: str, units_: Sequence[str], value: float) -> int | None:
    """Return how many letters before a price say that it is only near: "around 100", "100 or so"; None if none do."""
    if re.match(r"\s*of (?:them|these|those|which|us)\b", after):  # "about 3000 of them"
        return None
    lead = pattern(r"(?<!\w)(?P<other><other_about>)?<roughly>\s*$").search(before)
    money = any(units().get(unit, ("",))[0] == "money" for unit in units_)
    if (units_ or value < LEAST_PRICE or is_year(value) or pattern(r"\s*<hour>").match(after)) and not money:
        return None
    if lead is not None and not (lead["other"] and "about" in lead.group()):  # "what about 900", "something around 900"
        return len(before) - lead.start()
    return 0 if pattern(r"\s*<or_so>\b").match(after) else None


def _before(before: str, here: int) -> tuple[str, int]:
    """Return the bound in the words right before a number, and where they begin; the longest counts: "not under"."""
    bounds = {bound: ways(way).search(before) for bound, way in (("max", "at_most_before"), ("min", "at_least_before"))}
    found = [(here - len(before) + match.start(), bound) for bound, match in bounds.items() if match]
    if not found and (last := re.search(r"([a-z]{4,})(\s+)$", before)):  # "undr 100 euros"
        near = get_close_matches(last[1], SINGLE, n=1, cutoff=0.8)
        if near and near[0][0] == last[1][0] and near[0] != last[1]:
            return ("min" if near[0] in ("above", "over", "minimum") else "max"), here - len(last.group())
    start, bound = min(found, default=(here, ""))
    ahead = before[: start - here + len(before)]
    if bound and ways("turned_bound").match(before, len(ahead)) and (denied := ways("denied_ahead").search(ahead)):
        return OTHER_WAY[bound], start - len(ahead) + denied.start()
    return bound, start


def _after(text: str, bound: str, start: int, end: int, place: int, units_: Sequence[str]) -> tuple[str, int, int]:
    """Return the bound with the words after a number, unless they belong to the next one, and where it all stands."""
    measured = {units().get(unit, ("",))[0] for unit in units_}
    owned, far = measured <= {"money", "time"}, measured <= {"money", "time", "distance"}
    # Not "16 GB is what I have", nor "4 rooms are plenty".
    most = "<most_after>" + "|<means>" * owned + "|<plenty>" * (far and bool(measured))
    bounds = rf"<of_what>(?:(?P<max>{most})|(?P<min><least_after>|\+))(?!\w)(?!<fillers>[$€£¥]?\d)"
    if bound == "min" and ways("than_that").match(text[end:]):
        return "max", start, end
    after = pattern(bounds).match(text[end:])
    if after is not None and bound and after.group(bound) is None and re.search(r"\bm(?:in|ax)", text[start:end]):
        bound = ""  # the name of something: "a minimum term of 12 months or less"
    if after is None or (bound and after.group(bound) is None):
        return bound, start, end
    begin = place + lead.start() if (lead := ways("spending").search(text[place:start])) else start
    return bound or ("max" if after.group("max") else "min"), begin, end + after.end()


def _units(text: str, number: str, end: int) -> tuple[tuple[str, ...], int]:
    """Return the words that may be a unit, of the number itself and after it, and where they end."""
    found = [sign for sign in number if sign in "$€£¥"]
    after = re.match(r"\s*-?\s*(?:of (?=us\b))?(m²|%|per cent|km/h|[^\W\d_]+2?)", text[end:])
    if after:
        word = stem(after.group(1))
        if word == "min" and re.match(r"\s*\.?\s*[:=]?\s*\d", text[end + after.end() :]):  # "max 50 min 45"
            return tuple(found), end
        if word not in units() and len(word) > 4 and not ways("no_unit").fullmatch(word):  # "dolars"
            near = next(iter(get_close_matches(word, units(), n=1, cutoff=0.85)), word)
            word = near if near[0] == word[0] and near[-1] == word[-1] else word  # students are no "Stunden"
        long = len(word) > 3 and not ways("no_unit").fullmatch(word)
        if word in units() or long or word == "us" or word in table()["crowd"] or word in table()["short_units"]:
            found.append(word)
        if word in units() or word in table()["hints"]["people"]:
            end += after.end()
    tail = ways("after_unit").match(text[end:])
    if tail is not None and tail["each"] and not found:
        found.append("€")  # "no more than 900 a month" is money
    return tuple(dict.fromkeys(found)), end + (tail.end() if tail else 0)


GROUPED = "|".join(rf"\d{{1,3}}(?:{mark}\d{{3}})+(?!\d)" for mark in (" ", ",", r"\.", "'"))
GLUED = r"(?=(?:-?ish|kg|g|km|cm|mm|m|gb|mb|tb|h|min|ml|l|lbs?|oz|w|am|pm|a\.m|p\.m)\b)"  # "300g"
NUMBER = rf"(?:[$€£¥]\s?)?(?:{GROUPED}|\d+(?:[.,]\d+)?)(?:\s?k?(?!\w)|{GLUED})(?:\s?[$€£¥])?"
TENS = r"(?:(?:twen|thir|for|fif|six|seven|eigh|nine)ty[\s-]<numbers>|<numbers>)"  # not "the old one three years ago"
SOME = r"an?\s+<some>(?:\s+of)?(?=\s+<powers>\b)"  # "a couple hundred"
COUNTED = rf"(?:half an?|(?:a|three) quarters? of an?|{SOME}|an?(?=\s+(?:<powers>|<whole>)\b)|{TENS})"
HALF = r"(?:\s+and\s+a\s+half)?"
SPELLED = COUNTED + rf"{HALF}(?:\s+<powers>(?:\s+(?:and\s+)?{TENS}(?!\s+<powers>\b)\b)?)?{HALF}"
ANY_NUMBER = rf"(?:{NUMBER}(?:\s+<powers>\b)?|\b{SPELLED}\b)"
FIRST_YEAR, LAST_YEAR = 1900, 2100


def is_year(number: float) -> bool:
    """Tell whether a number can be a year of our time."""
    return FIRST_YEAR <= number <= LAST_YEAR and number == int(number)


def value_of(text: str) -> float:
    """Return a number in figures or words.

    Examples
    --------
    >>> [
    ...     value_of(text)
    ...     for text in ("1,500", "2 grand", "two and a half thousand", "three and a half", "half an", "twenty-five")
    ... ]
    [1500.0, 2000.0, 2500.0, 3.5, 0.5, 25.0]
    >>> [value_of(text) for text in ("two hundred and fifty", "a couple of hundred", "half a grand", "a quarter of an")]
    [250.0, 200.0, 500.0, 0.25]
    >>> value_of("three quarters of an")
    0.75
    """
    powers: dict[str, float] = table()["powers"]
    names: dict[str, float] = {**table()["numbers"], **table()["some"], "half": 0.5, "quarter": 0.25}
    if text.startswith("three quarters"):
        return 0.75
    spelled = [word for word in re.split(r"[\s-]+", text) if word not in ("and", "of")]
    if spelled and spelled[0] in (*names, "a", "an"):
        whole = counted = 0.0
        for word in spelled:
            if word in powers:
                whole, counted = whole + (counted or 1.0) * powers[word], 0.0
            counted += names.get(word, 0.0)
        return whole + counted or 1.0
    for word in spelled[1:]:
        if word in powers:
            return value_of(spelled[0]) * powers[word]
    plain = re.sub(r"[$€£¥\s]", "", text)
    thousand = 1000.0 if plain.endswith("k") else 1.0
    plain = plain.rstrip("k")
    if re.fullmatch(r"\d{1,3}(?:[,.']\d{3})+", plain):
        return float(re.sub(r"[,.']", "", plain)) * thousand
    return float(plain.replace(",", ".").replace("'", "")) * thousand


def ends(low: str, high: str) -> tuple[float, float]:
    """Return the ends of a range: what the second one counts in, the first one does too.

    Examples
    --------
    >>> ends("one", "two hundred"), ends("2", "3k"), ends("80", "1 hundred")
    ((100.0, 200.0), (2000.0, 3000.0), (80.0, 100.0))
    """
    first, second = value_of(low), value_of(high)
    power = 1000.0 if high.endswith("k") else max((table()["powers"].get(word, 1) for word in high.split()), default=1)
    return (first * power if first < power and first * power < second else first), second


def plain_number(number: float) -> float:
    """Return a whole number as one."""
    return int(number) if number == int(number) else number
