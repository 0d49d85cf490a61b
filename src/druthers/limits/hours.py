"""Times of the day in sentences: "not before 6 in the evening", held against what a catalog has."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from druthers.limits.days import Days, bound_of
from druthers.limits.words import pattern, stems

HOUR = re.compile(
    r"\b(?P<hour>\d{1,2})(?:(?P<mark>[:.])(?P<minute>[0-5]\d))?"
    r"(?:\s*(?P<part>[ap]\.?m\b\.?|o'?clock\b|uhr\b|in the (?:morning|afternoon|evening)\b|at night\b))?"
    r"|\b(?P<named>noon|midday|midnight)\b"
)
NAMED = {"noon": "12:00", "midday": "12:00", "midnight": "24:00"}
FIRST_HALF, SECOND_HALF = ("a", "in the m"), ("p", "in the a", "in the e", "at n")
LASTS = r"\bopen(?:ed|s)?\b[^.,;]{0,12}\b(?:un)?till?\s+$"  # "open until 17:00" closes then or later
OPENED = r"\b(?P<not>not )?open(?:ed|s)?\b[^.,;]{0,8}$"


def find_hours(text: str, columns: Collection[str]) -> Iterator[Days]:
    """Return what a folded text says about times of the day, for the column of such that is likeliest meant.

    Examples
    --------
    >>> [next(find_hours(text, ["departs"])).limit for text in ("not before 6 in the evening", "between 6 and 8 pm")]
    [{'min': '18:00'}, {'min': '18:00', 'max': '20:00'}]
    """
    found = list(HOUR.finditer(text)) if columns else []
    while found:
        match = found.pop(0)
        lead = pattern(r"\b(?:<span_from>)\s*$").search(text[: match.start()])
        if found and lead and pattern(r"\s*(?:<span_to>)\s*").fullmatch(text, match.end(), found[0].start()):
            if (_is_marked(match) or _is_marked(found[0])) and _could_be(match):
                other = found.pop(0)
                low, high = _time(match, other["part"] if not _is_marked(match) else None), _time(other)
                yield from _between(text, columns, low, high, (lead.start(), other.end()))
        elif _is_marked(match) and (time := _time(match)):
            yield from _bounded(text, match, time, columns)


def _is_marked(match: re.Match[str]) -> bool:
    """Tell whether a number is a time for sure: 12.50 may be a price."""
    return bool(match["named"] or match["part"] or match["mark"] == ":")


def _could_be(match: re.Match[str]) -> bool:
    return _is_marked(match) or not match["mark"]


def _time(match: re.Match[str], part: str | None = None) -> str:
    """Return a time as 17:30, in a part of the day unless it tells its own; "" for what is none."""
    if match["named"]:
        return NAMED[match["named"]]
    hour, said = int(match["hour"]), match["part"] or part or ""
    if hour == 12 and said.startswith(FIRST_HALF):
        hour = 0
    elif hour < 12 and said.startswith(SECOND_HALF):
        hour += 12
    return f"{hour:02}:{match['minute'] or '00'}" if hour < 24 else ""


def _between(text: str, columns: Collection[str], low: str, high: str, span: tuple[int, int]) -> Iterator[Days]:
    """Return the limits of a span of hours; one over midnight is none. What is open then opens before, closes after."""
    if not low or not high or low > high:
        return
    opens, closes = (next((name for name in columns if word in name.casefold()), "") for word in ("open", "clos"))
    if re.search(OPENED, text[: span[0]]) and (opens or closes):
        if opens:
            yield Days(opens, {"max": low}, *span)
        if closes:
            yield Days(closes, {"min": high}, *span)
    else:
        yield Days(_meant(text, columns), {"min": low, "max": high}, *span)


def _bounded(text: str, match: re.Match[str], time: str, columns: Collection[str]) -> Iterator[Days]:
    """Return what is said about one time: by it, or from it on."""
    bound = bound_of(text, match.start(), match.end())
    lasts = re.search(LASTS, text[: match.start()]) is not None
    opened = re.search(OPENED, text[: bound.start])
    way, beyond, word = bound.way, bound.beyond and not lasts, ""
    if lasts or bound.lasting:
        way, word = "min", "clos"
    elif opened:  # "open by 7", but "open after 10 pm", "not open after 10 pm"
        word = "clos" if bound.way == "min" or opened["not"] else "open"
    if not way:
        return
    if beyond:
        minutes = 60 * int(time[:2]) + int(time[3:]) + (1 if way == "min" else -1)
        if not 0 <= minutes < 24 * 60:
            return
        time = f"{minutes // 60:02}:{minutes % 60:02}"
    yield Days(_meant(text, columns, word), {way: time}, bound.start, bound.end)


def _meant(text: str, columns: Collection[str], word: str = "") -> str:
    """Return the column that a text is likeliest about: one called so, or one of which it says a word."""
    spoken = [one for one in stems(text) if len(one) > 2]
    called = [name for name in columns if word and word in name.casefold()]
    named = [
        name
        for name in columns
        if any(
            one.startswith(part[:4]) or part.startswith(one) for part in stems(name) for one in spoken if len(part) > 2
        )
    ]
    return next(iter([*called, *named, *columns]))
