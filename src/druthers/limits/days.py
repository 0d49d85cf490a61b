"""Days in sentences: "in July", "by September 1", "between 10 and 20 June", held against what a catalog has."""

import re
from calendar import monthrange
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from typing import NamedTuple

from druthers.glossary import in_words
from druthers.limits.stated import Stated
from druthers.limits.where import is_day
from druthers.limits.words import fold, pattern, stems, table, ways, words

NEAR = 30  # letters before and after a day in which a bound may stand
REAL = re.compile(r"(?:19|20|21)\d\d-(?:0[1-9]|1[0-2])-")
FICTIVE = 2000  # the year of months that have none
FIRST, LAST = frozenset({"from", "start", "begin"}), frozenset({"to", "until", "till", "end"})  # of a span of days
WEEK = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY = rf"((?:{'|'.join(day[:3] for day in WEEK)})[a-z]*)\.?"
WEEKDAYS = re.compile(rf"{_WEEKDAY}\s*(?:-|–|to|till|through)\s*{_WEEKDAY}", re.IGNORECASE)


class Point(NamedTuple):
    """A day, a part of a month, a month or a year; 0 for what is not said."""

    start: int
    end: int
    year: int = 0
    month: int = 0
    first: int = 0  # days of the month
    last: int = 0

    def within(self, year: int) -> tuple[str, str]:
        """Return its first and its last day, in a year unless it tells its own."""
        year = self.year or year
        most = monthrange(year, self.month or 12)[1]
        first, last = min(self.first or 1, most), min(self.last or most, most)
        return f"{year:04}-{self.month or 1:02}-{first:02}", f"{year:04}-{self.month or 12:02}-{last:02}"


def by_month(days: Sequence[str]) -> dict[str, list[str]]:
    """Return days by what their months are called, in every language that is read.

    Examples
    --------
    >>> by_month(["2026-07-06", "2026-08-03", "2026-07-20"])["july"]
    ['2026-07-06', '2026-07-20']
    """
    found: dict[str, list[str]] = {}
    for day in days:
        month = month_of(day)
        for spelled in table()["months"][month - 1] if month else ():
            found.setdefault(spelled, []).append(day)
    return found


def month_of(text: str) -> int:
    """Return which month a text names, or a day is in; 0 for none.

    Examples
    --------
    >>> month_of("May"), month_of("2026-07-06"), month_of("north"), month_of("sept")
    (5, 7, 0, 9)
    """
    if is_day(text):
        return int(text[5:7]) if int(text[5:7]) <= 12 else 0  # a table may have 2026-13-01, or 0000-00-00
    names = (month for month, named in enumerate(table()["months"], start=1) if text.casefold() in named)
    return next(names, table()["months_cut_short"].get(text.casefold(), 0))


def weekdays_of(text: str) -> list[str]:
    """Return the days of a span of them, written as it is; any other text as it is.

    Examples
    --------
    >>> weekdays_of("Mon-Wed"), weekdays_of("Friday to Monday"), weekdays_of("weekends")
    (['Mon', 'Tue', 'Wed'], ['Friday', 'Saturday', 'Sunday', 'Monday'], ['weekends'])
    """
    span = WEEKDAYS.fullmatch(text)
    if span is None:
        return [text]
    first, last = (next(n for n, day in enumerate(WEEK) if day.startswith(one[:3].lower())) for one in span.groups())
    letters = None if span[1].lower() in WEEK else 3
    return [WEEK[(first + n) % 7][:letters].capitalize() for n in range((last - first) % 7 + 1)]


@cache
def _nth() -> dict[str, int]:
    """Return the days of a month by their names, "first" and "twenty-first"."""
    tens, names = {20: "twenty", 30: "thirty"}, dict(enumerate(table()["ordinals"], 1)) | {30: "thirtieth"}
    later = {f"{word}{mark}{names[n]}": ten + n for ten, word in tens.items() for n in range(1, 10) for mark in " -"}
    return later | {name: number for number, name in names.items()}


@cache
def _points() -> re.Pattern[str]:
    """Return a pattern of days, months and years."""
    months = "|".join(name for names in table()["months"] for name in names)
    short = "|".join(table()["months_cut_short"])
    parts = "|".join(table()["parts_of_months"])
    year = r"(?:,?\s+(?P<{}>(?:19|20)\d\d)\b)?"
    nth = r"(?:st|nd|rd|th)?"
    return re.compile(
        r"\b(?:(?P<iso>(?:19|20)\d\d-\d\d-\d\d)"
        rf"|(?:(?P<day>\d{{1,2}})(?:st|nd|rd|th|\.)?\s*(?:of\s+)?|(?P<nth>{'|'.join(_nth())})\s+(?:day\s+)?of\s+)"
        rf"(?P<of>{months}|{short})\b\.?" + year.format("of_year")
        + rf"|(?P<in>{months}|{short})\.?\s+(?P<number>\d{{1,2}}){nth}\b(?!\s*[€$£%])" + year.format("in_year")
        + r"|(?P<dotted>\d{1,2})\.(?P<dots>\d{1,2})\.(?P<dot_year>20\d\d)?(?!\d)"
        rf"|(?:the\s+)?(?:(?P<part>{parts})(?:\s+of|[\s-])\s*)?(?P<month>{months})\b(?:\s+(?P<year>(?:19|20)\d\d)\b|(?!\s+\d))"
        r"|(?P<alone>(?:19|20)\d\d)\b(?!\s*[€$£%])|(?P<this>this|last|next) year\b)"
    )  # fmt: skip


def _point(match: re.Match[str]) -> Point | None:
    """Return what a match of `_points` is; None for none, such as 31.13."""
    span = match.span()
    if match["iso"]:
        year, month, day = map(int, match["iso"].split("-"))
        return _day(span, year, month, day)
    if match["alone"] or match["this"]:
        past = {"last": -1, "this": 0, "next": 1}
        return Point(*span, int(match["alone"] or date.today().year + past[match["this"]]))
    if match["month"]:
        first, last = table()["parts_of_months"][match["part"]] if match["part"] else (0, 0)
        return Point(*span, int(match["year"] or 0), month_of(match["month"]), first, last)
    day = int(match["day"] or match["number"] or match["dotted"] or _nth()[match["nth"]])
    month = int(match["dots"]) if match["dots"] else month_of(match["of"] or match["in"])
    year = int(match["of_year"] or match["in_year"] or match["dot_year"] or 0)
    return _day(span, year, month, day)


def _day(span: tuple[int, int], year: int, month: int, day: int) -> Point | None:
    return Point(*span, year, month, day, day) if 0 < month < 13 and 0 < day < 32 else None


def find_days(text: str, columns: Mapping[str, Sequence[str]], *, years: bool = True) -> Iterator[Stated]:
    """Return what a folded text says about days, months and years, for columns of days or months.

    A month alone counts with a bound; without `years`, no year alone does, for it is about something else.

    Examples
    --------
    >>> next(find_days("we start no later than may", {"starts": ["March", "May", "June"]})).limit
    ['March', 'May']
    >>> flats = {"free from": ["2026-05-31", "2026-06-15", "2026-09-01"]}
    >>> [next(find_days(text, flats)).limit for text in ("between 10 and 20 june", "before september 1")]
    [{'min': '2026-06-10', 'max': '2026-06-20'}, {'max': '2026-08-31'}]
    """
    points = [point for match in _points().finditer(text) if (point := _point(match))] if columns else []
    while points:
        point = points.pop(0)
        if points and (spread := _spread(text, point, points[0])):
            yield from _held(columns, text, *spread)
            points.pop(0)
        elif spread := _shortened(text, point):
            yield from _held(columns, text, *spread)
        else:
            yield from _bounded(text, point, columns, years)


def _spread(text: str, one: Point, other: Point) -> tuple[tuple[int, int], Point, Point] | None:
    """Return where a span of time stands, "from May to July", and its ends."""
    lead = pattern(r"\b(?:<span_from>)<day_article>$").search(text, max(0, one.start - NEAR), one.start)
    amid = pattern(r"\s*(<span_to>)<day_article>").fullmatch(text, one.end, other.start)
    if amid and (lead or amid[1] in ("to", "till", "until", "through", "-", "–", "bis")):
        return (lead.start() if lead else one.start, other.end), one._replace(year=one.year or other.year), other
    return None


def _shortened(text: str, point: Point) -> tuple[tuple[int, int], Point, Point] | None:
    """Return where a span of days stands whose month is said once, "10 to 20 June", and its ends."""
    if not point.first or point.first != point.last:
        return None
    before = pattern(
        r"(?:\b<span_from>\s+(?:the\s+)?)?\b(\d{1,2})(?:st|nd|rd|th|\.)?\s*(?:<span_to>)\s*(?:the\s+)?$"
    ).search(text, max(0, point.start - NEAR), point.start)
    after = pattern(r"\s*(?:<span_to>)<day_article>(\d{1,2})(?:st|nd|rd|th)?\b(?!\s*[€$£%])").match(text, point.end)
    if before and int(before[1]) < point.first:
        return (before.start(), point.end), point._replace(first=int(before[1]), last=int(before[1])), point
    if after and not text[point.start].isdigit() and point.first < int(after[1]) < 32:  # "June 10 to 20"
        return (point.start, after.end()), point, point._replace(first=int(after[1]), last=int(after[1]))
    return None


def _held(
    columns: Mapping[str, Sequence[str]],
    text: str,
    span: tuple[int, int],
    low: Point | None,
    high: Point | None,
    beyond: bool = False,
    lasting: bool = False,
) -> Iterator[Stated]:
    """Return the limit of the column that is meant: from the first day of one point up to the last one of another.

    What lies beyond a point leaves it out; what lasts until then lasts to its last day.
    """
    told = low or high or Point(*span)
    for name, kinds in _meant(columns, text):
        dated = all(map(is_day, kinds))
        if told.year and not dated:
            continue  # a month of no year
        days = {kind: kind if dated else f"{FICTIVE}-{month_of(kind):02}-15" for kind in kinds}
        real = sorted(day for day in days.values() if REAL.match(day))  # not 0000-00-00, nor 9999-12-31
        if not real:
            continue
        year = _year_of(told, real)
        limit = {}
        if low is not None:
            first, last = low.within(year)
            limit["min"] = _moved(last, 1) if beyond else last if lasting else first
        if high is not None:
            limit["max"] = _moved(high.within(year)[0], -1) if beyond else high.within(year)[1]
            if limit["max"] < limit.get("min", ""):  # "between November and February"
                limit["max"] = high.within(year + 1)[1]
        if low is not None and high is not None and dated and (ends := _ends(columns, name)):
            first, last = ends  # what is free from 12 to 19 July is so before, and after
            yield Stated(first, {"max": limit["min"]}, "", *_with_name(text, span, name))
            yield Stated(last, {"min": limit["max"]}, "", *_with_name(text, span, name))
            return
        inside = [kind for kind in kinds if limit.get("min", "") <= days[kind] <= limit.get("max", "~")]
        if dated or inside:
            yield Stated(name, limit if dated else inside, "", *_with_name(text, span, name))
            return


def _ends(columns: Mapping[str, Sequence[str]], name: str) -> tuple[str, str] | None:
    """Return the columns of the first and the last day of what one of them is an end of: `free_from`, `free_to`."""
    named = {frozenset(stems(one)): one for one in columns}
    bare = frozenset(stems(name)) - FIRST - LAST
    first, last = (next((named[bare | {end}] for end in ends if bare | {end} in named), "") for ends in (FIRST, LAST))
    return (first, last) if first and last else None


def _with_name(text: str, span: tuple[int, int], name: str) -> tuple[int, int]:
    """Return where a limit stands with the words of its name before it: "available before December"."""
    parts = "|".join(map(re.escape, fold(in_words(name)).split()))
    named = re.search(rf"\b(?:(?:{parts})\s+)+$", text[: span[0]])
    return (named.start() if named else span[0]), span[1]


def _moved(day: str, by: int) -> str:
    return str(date.fromisoformat(day) + timedelta(days=by))


def _meant(columns: Mapping[str, Sequence[str]], text: str) -> list[tuple[str, Sequence[str]]]:
    """Return the columns that a text may be about, the likeliest first: those of which it says a word."""
    return sorted(
        columns.items(),
        key=lambda one: not any(word in text for word in fold(in_words(one[0])).split() if len(word) > 3),
    )


def _year_of(point: Point, days: Sequence[str]) -> int:
    """Return the year that a point without one is in: the first that fits a year of days, the last of longer times."""
    first, last = int(days[0][:4]), int(days[-1][:4])
    long = last - first > 1 or (last > first and days[-1][5:] > days[0][5:])
    return last if long or point.within(first)[1] < days[0] else first


class Bound(NamedTuple):
    """What the words around a point of time say of it, and where they and it stand."""

    way: str  # "min" from it on, "max" by it, "" neither
    beyond: bool  # whether the point itself is out: "before June"
    lasting: bool  # whether something lasts until then at least
    lead: str  # the words before it
    start: int
    end: int


def bound_of(text: str, start: int, end: int) -> Bound:
    """Return what the words around a point of time say of it."""
    before, after = text[max(0, start - NEAR) : start], text[end : end + NEAR]
    if lasting := ways("lasting_till").search(before):  # "good until at least the end of June"
        return Bound("min", False, True, lasting.group(), start - len(lasting.group()), end)
    late, early = ways("late").search(before), ways("early").search(before)
    if late and early:  # "no later than" says more than "later than"
        late, early = (late, None) if late.start() < early.start() else (None, early)
    later = ways("earliest").match(after) or (early and re.match(r"\s*,?\s*(?:on|an)\b", after))
    tail = later or ways("latest").match(after)
    lead = late or early
    way = "max" if late else "min" if early else "" if tail is None else "min" if later else "max"
    beyond = lead is not None and ways("beyond_point").match(lead.group()) is not None
    if beyond and lead and ways("denied_point").search(before[: lead.start()]):  # "it must not start before June"
        way, beyond = ("min" if late else "max"), False
    words_before = before[lead.start() :] if lead else ""
    return Bound(way, beyond, False, words_before, start - len(words_before), end + (tail.end() if tail else 0))


def _bounded(text: str, point: Point, columns: Mapping[str, Sequence[str]], years: bool) -> Iterator[Stated]:
    """Return what is said about one point of time: by it, from it on, or at it."""
    bound = bound_of(text, point.start, point.end)
    told_after = bound.end > point.end
    if not point.month and not (years and (told_after or pattern(r"\b(?:<dated>)\s*$").search(text[: point.start]))):
        return  # "up to 2000" is a price
    way, span = bound.way, (bound.start, bound.end)
    if bound.lead.strip() == "from" and not told_after and not (point.first or (point.year and point.month)):
        way = ""  # "from 2024": made then
    if way:
        low, high = (point, None) if way == "min" else (None, point)
        yield from _held(columns, text, span, low, high, bound.beyond, bound.lasting)
    elif point.first or point.year:
        for name, kinds in _meant(columns, text):
            called, dated = set(fold(in_words(name)).split()), point.first == point.last and all(map(is_day, kinds))
            if dated and called & words("held_till"):  # "it must still be on on 1 June"
                yield from _held({name: kinds}, text, span, point, None)
                return
            if dated and called & words("free_from"):  # "it must be free on 1 June"
                yield from _held({name: kinds}, text, span, None, point)
                return
            spans = [point.within(int(kind[:4])) for kind in kinds if is_day(kind) and REAL.match(kind)]
            if inside := [kind for kind in kinds if any(low <= kind <= high for low, high in spans)]:
                yield Stated(name, inside, "", *_with_name(text, span, name))
                return
