"""Why an item is recommended: checked facts first, a sentence second."""

import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from druthers.catalogs import Item
from druthers.glossary import in_words
from druthers.limits import Columns
from druthers.types import Floats, Objective

WISHED, GUESSED, LEARNED, STRENGTH = "wished", "guessed", "learned", "strength"
CLOSES = {WISHED: ", as you asked", GUESSED: ", which I took you to want", LEARNED: ", going by your ratings"}
# From which share of the others on it is called one of the best, good, or weak.
TOP, GOOD, WEAK = 0.75, 0.5, 0.25
MOST_STRENGTHS = 2
WORTH = 0.1  # of its range what is got must be, for each of the range that is given up, to be told as a trade
MOST_WISHES = 4
MOST_KEPT = 4096  # reasons that are kept of an offer
_INNER_CAPITAL = re.compile(r"[a-z]+[A-Z]")  # a name such as "netPrice"


@dataclass(frozen=True, slots=True)
class Fact:
    """What is true of an item in one objective, among what was on offer."""

    objective: Annotated[str, "Its name."]
    role: Annotated[
        str,
        'Why it is spoken of: "wished", "guessed" to be, "learned" from ratings, or a "strength" where nothing was '
        "asked for.",
    ]
    value: Annotated[float | None, "The item's value in the objective's own unit; None where nobody knows it."]
    place: Annotated[
        int | None,
        "Its place among the offered items whose value is known, 1 the best; equal ones share the better place.",
    ] = None
    of: Annotated[int | None, "How many offered items there are whose value is known."] = None
    better_than: Annotated[float | None, "The share of the others that are worse, equal ones counting half."] = None
    expected: Annotated[
        float | None,
        "Where nobody knows the value: what to expect by what else is known of the item; None where that is nothing.",
    ] = None
    deviation: Annotated[float | None, "One standard deviation of what is expected."] = None
    columns: Annotated[tuple[str, ...], "The details that this comes from most."] = ()
    alike: Annotated[int | None, "How many items of which the value is known are like it in these details."] = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))

    def content(self) -> list[Any]:
        """Return plain values, in the order of the fields."""
        return [getattr(self, part) for part in self.__slots__]


@dataclass(frozen=True, slots=True)
class TradeOff:
    """What an item gives up against the best one in the first wish, and what it has more of."""

    rival: Annotated[str, "The id of the offered item that is best there."]
    loses: Annotated[tuple[str, float], "What is given up: the objective and by how much, in its own unit."]
    gains: Annotated[tuple[str, float], "What is got for it, in the same way."]

    def content(self) -> list[Any]:
        """Return plain values, in the order of the fields."""
        return [self.rival, list(self.loses), list(self.gains)]

    @classmethod
    def from_content(cls, content: list[Any] | None) -> "TradeOff | None":
        """Undo `content`; None of None."""
        return None if content is None else cls(content[0], tuple(content[1]), tuple(content[2]))


class Wanted(NamedTuple):
    """What is known of somebody's wants: names of objectives, the most important first."""

    wished: tuple[str, ...] = ()
    guessed: tuple[str, ...] = ()  # those of the wished that were never said in so many words
    dismissed: tuple[str, ...] = ()
    learned: tuple[str, ...] = ()  # what ratings single out


class Reasons(NamedTuple):
    """Why an item is recommended."""

    facts: tuple[Fact, ...]
    trade_off: TradeOff | None
    why: str  # the same in words


class Offer:
    """What is on offer, one column for each objective: what facts are found in.

    Reasons are kept: those who want the same are told the same of an item.

    Parameters
    ----------
    columns
        All items, column by column.
    objectives
        What matters.
    rows
        Which of the items are offered; all by default.
    """

    def __init__(
        self, columns: Columns, objectives: Sequence[Objective], rows: NDArray[np.int64] | None = None
    ) -> None:
        self.objectives = {one.name: one for one in objectives}
        self._all = columns
        self._rows = rows
        self._numbers: dict[str, Floats] = {}
        self._sorted: dict[str, list[float]] = {}
        self._best: dict[str, int] = {}
        self._reasons: dict[tuple[int, Wanted], Reasons] = {}

    def reasons(self, row: int, wanted: Wanted) -> Reasons:
        """Return why the item in a row of all items is recommended to somebody, by what is known of it."""
        found = self._reasons.get((row, wanted))
        if found is None:
            item = self._all.items[row]
            facts, traded = find_facts(self, item, wanted), self.trade_off(item, wanted.wished)
            found = Reasons(facts, traded, sentence(facts, self.objectives, trade_off=traded))
            if len(self._reasons) >= MOST_KEPT:
                self._reasons.clear()
            self._reasons[row, wanted] = found
        return found

    def column(self, objective: str) -> Floats:
        """Return the values of all that is offered in an objective, NaN where unknown."""
        if objective not in self._numbers:
            numbers = self._all.numbers(objective)
            self._numbers[objective] = numbers if self._rows is None else numbers[self._rows]
        return self._numbers[objective]

    def item(self, place: int) -> Item:
        """Return what is offered at a place."""
        return self._all.items[place if self._rows is None else int(self._rows[place])]

    def fact(self, item: Item, objective: str, role: str) -> Fact:
        """Return what is true of an item in an objective."""
        value = item.values.get(objective)
        if value is None:
            return Fact(objective, role, None)
        below, upto, known = self._counts(objective, value)
        above, equal = known - upto, max(upto - below - 1, 0)
        better, worse = (below, above) if self.objectives[objective].less_is_better else (above, below)
        share = (worse + 0.5 * equal) / (known - 1) if known > 1 else 1.0
        return Fact(objective, role, float(value), better + 1, known, share)

    def _counts(self, objective: str, value: float) -> tuple[int, int, int]:
        """Return how many values of an objective lie below one, how many do not lie above it, and how many there are.

        All items together are looked at by every decision: they are sorted once. To sort a part of them would take
        longer than to count.
        """
        column = self.column(objective)
        if self._rows is not None:
            below, upto, known = map(np.count_nonzero, (column < value, column <= value, ~np.isnan(column)))
            return int(below), int(upto), int(known)
        if objective not in self._sorted:
            self._sorted[objective] = np.sort(column[~np.isnan(column)]).tolist()
        ordered = self._sorted[objective]
        return bisect_left(ordered, value), bisect_right(ordered, value), len(ordered)

    def _width(self, objective: str) -> float:
        """Return how far the ends of an objective's range lie apart."""
        one = self.objectives[objective]
        return one.high - one.low

    def trade_off(self, item: Item, wished: Sequence[str]) -> TradeOff | None:
        """Return what an item gives up in the first wish for more of another wish; None where it gives up nothing."""
        first = wished[0] if wished else ""
        if len(wished) < 2 or first not in item.values:
            return None
        if first not in self._best:
            find = np.nanargmin if self.objectives[first].less_is_better else np.nanargmax
            self._best[first] = int(find(self.column(first)))
        rival = self.item(self._best[first])
        lost = abs(item.values[first] - float(self.column(first)[self._best[first]]))
        if lost == 0.0 or rival.id == item.id:
            return None
        for name in wished[1:]:
            if name in item.values and name in rival.values:
                more = item.values[name] - rival.values[name]
                gained = -more if self.objectives[name].less_is_better else more
                worth = gained / self._width(name) >= WORTH * lost / self._width(first)  # no 3 kg for one euro
                if gained > 0.0 and worth:
                    return TradeOff(rival.id, (first, _plain(lost)), (name, _plain(gained)))
        return None


def _plain(difference: float) -> float:
    """Return a difference without the figures that subtracting made: 218.15, not 218.14999999999998."""
    return float(f"{difference:.12g}")


def find_facts(offer: Offer, item: Item, wanted: Wanted) -> tuple[Fact, ...]:
    """Return the facts worth telling of an item: all that was wished for, good or bad, then what ratings taught.

    Where nothing of that is there, its strengths; never what was dismissed.
    """
    wished, guessed, dismissed, learned = wanted
    facts = [offer.fact(item, name, GUESSED if name in guessed else WISHED) for name in wished[:MOST_WISHES]]
    facts += [offer.fact(item, name, LEARNED) for name in learned if name not in dismissed and name not in wished]
    if facts:
        return tuple(facts)
    strengths = [offer.fact(item, name, STRENGTH) for name in offer.objectives if name not in dismissed]
    good = [fact for fact in strengths if fact.better_than is not None and fact.better_than >= TOP]
    return tuple(sorted(good, key=lambda fact: -(fact.better_than or 0.0))[:MOST_STRENGTHS])


def sentence(
    facts: Sequence[Fact],
    objectives: Mapping[str, Objective],
    *,
    trade_off: TradeOff | None = None,
    unseen: bool = False,
) -> str:
    """Return the facts in words.

    Examples
    --------
    >>> price, quiet = Objective("price", less_is_better=True), Objective("quiet")
    >>> facts = [Fact("price", "wished", 38.0, 2, 41, 0.96), Fact("quiet", "wished", None)]
    >>> sentence(facts, {"price": price, "quiet": quiet})
    'Price 38, the 2nd lowest of 41, as you asked. Its quiet is not known.'
    >>> sentence([Fact("quiet", "wished", None, None, None, None, 4.1, 0.4, ("district",), 38)], {"quiet": quiet})
    'Expected quiet 4.1 ± 0.4, from its district and 38 like it; nobody has told yet.'
    """
    if unseen and not any(fact.expected is not None for fact in facts):
        return "Nobody has told yet what it is like: it is shown to find out."
    said = [_clause(fact, objectives[fact.objective]) for fact in facts]
    if not said:
        return "Nothing was asked for yet, and it stands out in nothing: a fair choice all round."
    text = ". ".join(part if _INNER_CAPITAL.match(part) else part[0].upper() + part[1:] for part in said) + "."
    if trade_off is not None:
        (lost, worse), (gained, better) = trade_off.loses, trade_off.gains
        given = "more in {} than need be" if objectives[lost].less_is_better else "less in {} than can be had"
        won = "less" if objectives[gained].less_is_better else "more"
        given = given.format(_called(lost))
        text += f" A trade-off: {number(worse)} {given}, for {number(better)} {won} in {_called(gained)}."
    return text


def _called(name: str) -> str:
    """Return the name of an objective as its catalog has it: by this, who asks and who answers know it."""
    return name.replace("_", " ")


def spaced(text: str, names: Iterable[str]) -> str:
    """Return a text for people with names of columns in it: "monthly fee" for `monthly_fee`, "lift" for `hasLift`.

    Examples
    --------
    >>> spaced("A must: hasLift. Only monthly_fee up to 5.", ["hasLift", "monthly_fee"])
    'A must: lift. Only monthly fee up to 5.'
    """
    written, called = _spellings(tuple(names))
    if written is None:
        return text
    return written.sub(lambda found: called.get(found.group()) or _called(found.group()), text)


@lru_cache(64)
def _spellings(names: tuple[str, ...]) -> tuple[re.Pattern[str] | None, dict[str, str]]:
    """Return how names of columns stand in a text that people would write otherwise, and some of what they would."""
    ways: list[str] = []
    called: dict[str, str] = {}
    for name in sorted(names, key=len, reverse=True):
        if "_" in name and not name.isupper():
            ways.append(f"(?i:{re.escape(name)})")
        elif re.search(r"[a-z][A-Z\d]|^[A-Z_]{5}", name):
            plain = re.sub(r"^(?:has|is) ", "", in_words(name))
            begun = name[0].upper() + name[1:]
            called |= {begun: plain[:1].upper() + plain[1:], name: plain}
            ways += [re.escape(name), re.escape(begun)]
    return (re.compile(rf"(?<!\w)(?:{'|'.join(ways)})(?!\w)") if ways else None), called


def _clause(fact: Fact, objective: Objective) -> str:
    """Return one fact in words."""
    name = _called(fact.objective)
    if fact.value is None or fact.place is None or fact.of is None or fact.better_than is None:
        return _expectation(fact) if fact.expected is not None else f"its {name} is not known"
    close = CLOSES.get(fact.role, "")
    shown = f"{name} {number(fact.value)}"
    good = "lowest" if objective.less_is_better else "highest"
    if fact.of == 1:
        return f"{shown}, with none to compare it with"
    if fact.better_than >= TOP:
        return f"{shown}, the {_ordinal(fact.place)}{good} of {fact.of}{close}"
    if fact.better_than >= GOOD:
        worse = _worse(fact.place, fact.of, fact.better_than)
        return f"{shown}, better than {worse} of {fact.of}{close}" if worse else f"{shown}, as all {fact.of} have"
    if fact.better_than > WEAK:
        return f"{shown}, in the middle of {fact.of}"
    better = "1 of {} is" if fact.place == 2 else f"{fact.place - 1} of {{}} are"
    return f"weak in {name}: {number(fact.value)}, {better.format(fact.of)} better"


def _worse(place: int, of: int, better_than: float) -> int:
    """Return how many are worse, of which equal ones are none: what a fact tells counts them half.

    Examples
    --------
    >>> _worse(2, 4, 2 / 3), _worse(1, 9, 0.5)
    (2, 0)
    """
    return round(2 * better_than * (of - 1)) - (of - place)


def _expectation(fact: Fact) -> str:
    """Return in words what is expected where nobody knows."""
    grounds = [f"its {' and '.join(fact.columns)}"] if fact.columns else []
    grounds += [f"{fact.alike} like it"] if fact.alike else []
    text = f"expected {_called(fact.objective)} {_rounded(fact.expected or 0.0, fact.deviation or 0.0)}"
    return f"{text}{', from ' if grounds else ''}{' and '.join(grounds)}; nobody has told yet"


def _rounded(value: float, deviation: float) -> str:
    """Return a value with its deviation, both to the first figure of the latter that means something."""
    places = 0 if not 0.0 < deviation < 1.0 else min(-math.floor(math.log10(deviation)), 4)
    return f"{value:,.{places}f} ± {deviation:,.{places}f}"


def _ordinal(place: int) -> str:
    if place == 1:
        return ""
    ending = "th" if place % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(place % 10, "th")
    return f"{place}{ending} "


def number(value: float) -> str:
    """Return a value as people write it; a year is a number too."""
    return f"{value:,.0f}" if abs(value) >= 10_000 else f"{value:.0f}" if abs(value) >= 1000 else f"{value:.4g}"
