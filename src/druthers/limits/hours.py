"""Times of the day in sentences: "not before 6 in the evening", held against what a catalog has."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from druthers.limits.days import bound_of, month_of
from druthers.limits.quantities import plain_number, value_of
from druthers.limits.stated import Stated
from druthers.limits.where import MOST
from druthers.limits.words import fold, pattern, stem, stems, table, units, ways, words

NAMED = {"noon": 12.0, "midday": 12.0, "midnight": 24.0}
PAST = {"half past": 0.5, "quarter past": 0.25, "quarter to": -0.25}
FIRST_HALF, SECOND_HALF = ("a", "in the m"), ("p", "in the a", "in the e", "at n")

SPAN = re.compile(r"(\d{1,2}):(\d\d)\s*(?:-|–|to)\s*(\d{1,2}):(\d\d)(?:\s*h)?")


class Clock(NamedTuple):
    """A column of times of the day: the first and the last in hours, and whether they are numbers."""

    first: float
    last: float
    numeric: bool

    @classmethod
    def of(cls, times: Sequence[str]) -> "Clock":
        """Return the clock of times such as 17:30."""
        hours = [int(time[:2]) + int(time[3:]) / 60 for time in times]
        return cls(min(hours), max(hours), numeric=False)

    @classmethod
    def of_numbers(cls, name: str, numbers: Any) -> "Clock | None":
        """Return the clock of a column of numbers that is called like one, 8 and 18.5; None if it is none."""
        known = numbers[np.isfinite(numbers)]
        counts = set(stems(name)) & units().keys() and not re.search(r"(?i)hour(?!s)", name)  # "closing hour" is one
        called = bool(set(stems(name)) & words("clocks")) and not counts
        day = known.size > 0 and known.min() >= 0 and 4 < known.max() <= 24
        return cls(float(known.min()), float(known.max()), numeric=True) if called and day else None

    def read(self, hours: float, said: bool) -> float:
        """Return hours in the half of the day that is meant, unless it is said: 7 is 19 where it closes at 16 to 20."""
        if said or not 1 <= hours < 12.75 or hours >= self.first:
            return hours
        later = hours % 12 + 12
        return later if max(later - self.last, 0) <= self.first - hours else hours

    def told(self, hours: float) -> Any:
        """Return hours as the column has them."""
        minutes = round(60 * hours)
        return plain_number(minutes / 60) if self.numeric else f"{minutes // 60:02}:{minutes % 60:02}"


@cache
def _hours() -> re.Pattern[str]:
    counted = "|".join(word for word, number in table()["numbers"].items() if number <= 12)
    return re.compile(
        rf"\b(?:(?P<past>{'|'.join(PAST)})\s+)?(?P<hour>\d{{1,2}}|{counted})(?:(?P<mark>[:.])(?P<minute>[0-5]\d))?"
        r"(?:\s*(?P<part>[ap]\.?m\b\.?|o'?clock\b|uhr\b|in the (?:morning|afternoon|evening)\b|at night\b)"
        r"|\b(?![.,:]?\d))"
        rf"|\b(?P<named>{'|'.join(NAMED)})\b"
    )


def find_hours(text: str, clocks: Mapping[str, Clock]) -> Iterator[Stated]:
    """Return what a folded text says about times of the day, for the column of such that is likeliest meant.

    Examples
    --------
    >>> departs = {"departs": Clock(6.0, 22.0, numeric=False)}
    >>> [next(find_hours(text, departs)).limit for text in ("not before 6 in the evening", "between 6 and 8 pm")]
    [{'min': '18:00'}, {'min': '18:00', 'max': '20:00'}]
    >>> next(find_hours("they have to be open until seven", {"closes": Clock(16.0, 20.0, numeric=True)})).limit
    {'min': 19}
    """
    found = list(_hours().finditer(text)) if clocks else []
    while found:
        match = found.pop(0)
        lead = pattern(r"\b(?:<span_from>)\s*$").search(text[: match.start()])
        if found and lead and pattern(r"\s*(?:<span_to>)\s*").fullmatch(text, match.end(), found[0].start()):
            named = any(name in text[max(0, lead.start() - len(name) - 1) : lead.start()] for name in map(fold, clocks))
            marked = _is_marked(match) or _is_marked(found[0]) or _is_clocked(text, match) or named
            if marked and (_is_marked(match) or not match["mark"]):
                yield from _between(text, clocks, match, found.pop(0), lead.start())
        elif _is_marked(match) or _is_clocked(text, match):
            yield from _bounded(text, match, clocks)


def spans_of(texts: Collection[object]) -> dict[str, tuple[float, float]]:
    """Return the hours of texts such as 9:00-18:00, over midnight the second one beyond 24; none if few are such."""
    spans: dict[str, tuple[float, float]] = {}
    for text in sorted(map(str, texts)):
        match = SPAN.fullmatch(text.strip())
        if pattern("<always_open>|24 ?h(?:ours)?|always(?: open)?").fullmatch(text.strip().lower()):
            spans[text] = 0.0, 24.0
        if match is None:
            continue
        opens, closes = (int(match[n]) + int(match[n + 1]) / 60 for n in (1, 3))
        spans[text] = opens, closes if closes > opens else closes + 24.0
    return spans if len(texts) / 2 < len(spans) <= MOST else {}


def find_opening(text: str, columns: Mapping[str, Mapping[str, tuple[float, float]]]) -> Iterator[Stated]:
    """Return which opening hours a folded text leaves, for the first column of such.

    Examples
    --------
    >>> shops = {"hours": {"9:00-18:00": (9.0, 18.0), "8:00-20:00": (8.0, 20.0), "0:00-24:00": (0.0, 24.0)}}
    >>> [next(find_opening(text, shops)).limit for text in ("open after 7 pm", "open round the clock")]
    [['8:00-20:00', '0:00-24:00'], ['0:00-24:00']]
    """
    for name, spans in columns.items():
        for match in ways("always_open").finditer(text):
            always = [one for one, (low, high) in spans.items() if high - low >= 24]
            yield Stated(name, always or match.group(), "", *match.span())
        for match in _hours().finditer(text):
            time = _time(match) if _is_marked(match) or _is_clocked(text, match) else None
            came = pattern(r"<coming_in>[^.;,!?]*$").search(text[: match.start()])
            if time is None or came is None:
                continue
            bound, lasts = bound_of(text, match.start(), match.end()), ways("open_till").search(text[: match.start()])
            if not _is_said(match) and (lasts or bound.lasting or bound.way == "min"):
                time = Clock(12.0, 24.0, numeric=True).read(time, said=False)
            early = bound.way == "max" and not lasts  # "open by 7"
            fitting = [
                one
                for one, (low, high) in spans.items()
                if (early or time <= high) and (lasts or bound.lasting or bound.way == "min" or low <= time)
            ]
            # What fits no item is a limit all the same, on what was said.
            yield Stated(name, fitting or text[came.start() : bound.end], "", came.start(), bound.end)
        return


def _is_marked(match: re.Match[str]) -> bool:
    """Tell whether a number is a time for sure: 12.50 may be a price."""
    return bool(match["named"] or match["part"] or match["past"] or match["mark"] == ":")


def _is_clocked(text: str, match: re.Match[str]) -> bool:
    """Tell whether a number is a time by what is done then: "open by 7", but not "within 7 days"."""
    after = re.match(r"(?:st|nd|rd|th)?\s*(?:of )?([€$£%]|[^\W\d_]+)", text[match.end() :])
    counts = after is not None and (after[1] in "€$£%" or stem(after[1]) in units() or month_of(after[1]) > 0)
    return not match["mark"] and not counts and ways("clocked").search(text[: match.start()]) is not None


def _time(match: re.Match[str], part: str | None = None) -> float | None:
    """Return a time in hours, in a part of the day unless it tells its own; None for what is none."""
    if match["named"]:
        return NAMED[match["named"]]
    hour, said = value_of(match["hour"]), match["part"] or part or ""
    if hour == 12 and said.startswith(FIRST_HALF):
        hour = 0.0
    elif hour < 12 and said.startswith(SECOND_HALF):
        hour += 12.0
    time = hour + PAST.get(match["past"], int(match["minute"] or 0) / 60)
    return time if 0 <= time < 24 else None


def _between(
    text: str, clocks: Mapping[str, Clock], one: re.Match[str], other: re.Match[str], start: int
) -> Iterator[Stated]:
    """Return the limits of a span of hours; one over midnight is none. What is open then opens before, closes after."""
    low, high = _time(one, None if _is_marked(one) else other["part"]), _time(other)
    if low is None or high is None:
        return
    opens, closes = (next((name for name in clocks if word in name.casefold()), "") for word in ("open", "clos"))
    if ways("opens_by").search(text[:start]) and (opens or closes):
        low = clocks[opens].read(low, _is_said(one)) if opens else low
        high = clocks[closes].read(high, _is_said(other)) if closes else high
        limits = {opens: {"max": low}, closes: {"min": high}}
    else:
        limits = {_meant(text, clocks): {"min": low, "max": high}}
    for name, limit in limits.items():
        if name and low <= high:
            told = {way: clocks[name].told(hours) for way, hours in limit.items()}
            yield Stated(name, told, "", start, other.end())


def _is_said(match: re.Match[str]) -> bool:
    """Tell whether a time tells the half of the day it is in."""
    return bool(match["part"] or match["named"] or match["mark"])


def _bounded(text: str, match: re.Match[str], clocks: Mapping[str, Clock]) -> Iterator[Stated]:
    """Return what is said about one time: by it, or from it on."""
    bound = bound_of(text, match.start(), match.end())
    lasts = ways("open_till").search(text[: match.start()])
    opened = ways("opens_by").search(text[: bound.start])
    way, beyond, word = bound.way, bound.beyond and not lasts, ""
    if opened and not (way or lasts or opened["not"]) and re.search(r"\bat\s*$", text[: match.start()]):
        yield from _open_at(text, match, clocks, bound.start)
        return
    begins = any(re.search("start|begin|depart|leav", name.casefold()) for name in clocks)
    if lasts or bound.lasting or (ways("come_late").search(text[: match.start()]) and not begins):
        way, word = "min", "clos"
    elif opened:  # "open by 7", but "open after 10 pm", "not open after 10 pm"
        word = "clos" if bound.way == "min" or opened["not"] else "open"
    time = _time(match)
    if not way or time is None:
        return
    name = _meant(text, clocks, word)
    time = clocks[name].read(time, _is_said(match))
    if beyond and not clocks[name].numeric:
        time += 1 / 60 if way == "min" else -1 / 60
    if 0 <= time <= 24:
        yield Stated(name, {way: clocks[name].told(time)}, "", lasts.start() if lasts else bound.start, bound.end)


def _open_at(text: str, match: re.Match[str], clocks: Mapping[str, Clock], start: int) -> Iterator[Stated]:
    """Return the limits that something is open at a time: it opens by then, and closes no earlier."""
    time, ends = _time(match), [("open", "max"), ("clos", "min")]
    if not ways("is_open").search(text[: match.start()]):  # "they have to open at 7"
        ends.pop()
    found = [(name, way) for word, way in ends for name in clocks if word in name.casefold()]
    for name, way in found:
        if time is None:
            break
        hours = clocks[found[0][0]].read(time, _is_said(match))
        yield Stated(name, {way: clocks[name].told(hours)}, "", start, match.end())


def _meant(text: str, clocks: Mapping[str, Clock], word: str = "") -> str:
    """Return the column that a text is likeliest about: one called so, or one of which it says a word."""
    spoken = [one for one in stems(text) if len(one) > 2]
    spoken += ["arrival"] if ways("arriving").search(text) else ["departure"] if ways("leaving").search(text) else []
    called = [name for name in clocks if word and word in name.casefold()]
    named = [
        name
        for name in clocks
        if any(
            one.startswith(part[:4]) or part.startswith(one) for part in stems(name) for one in spoken if len(part) > 2
        )
    ]
    others = sorted(clocks, key=lambda name: "open" in name.casefold() or "clos" in name.casefold())
    return next(iter([*called, *named, *others]))
