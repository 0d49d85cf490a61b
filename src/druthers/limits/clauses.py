"""Pieces of a text that limits are looked for in: its clauses, and words that a catalog may know."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any, NamedTuple

from druthers.limits.attributes import Attribute, letting_in
from druthers.limits.days import month_of
from druthers.limits.quantities import OTHER_WAY, Quantity, is_year
from druthers.limits.spelling import Key
from druthers.limits.stated import Stated
from druthers.limits.words import first_of, pattern, stem, table, telling_stems, ways, words

MARKER = re.compile(r"(?:^|\n)\s*(?:[-*•–]|\d{1,2}[.)])(?=\s)")
LONGEST_WORD = 20  # letters after a number
LONGEST_CLAUSE = 200  # letters before and after a piece
LONGEST_LEAD = 60  # letters before a piece that may say how it is meant
LONGEST = 5  # words in a text that is looked for


@dataclass
class Piece:
    """A piece of a text in small letters, with what leads up to it and what is said of it: `folded[start:end]`."""

    folded: str
    text: str  # the same as it was written
    start: int
    end: int
    key: tuple[str, ...] = ()  # its stems, as the catalog has them
    before: str = field(init=False)
    negated: re.Match[str] | None = None  # the words that deny it
    demanded: re.Match[str] | None = None  # those that deny it twice

    def __post_init__(self) -> None:
        self.before = self.folded[max(0, self.start - LONGEST_LEAD) : self.start]

    @property
    def after(self) -> str:
        """What follows."""
        return self.folded[self.end :]

    def led(self, *names: str) -> re.Match[str] | None:
        """Return the first of some ways to lead up to it that is there."""
        return first_of(names, self.before)

    def followed(self, *names: str) -> re.Match[str] | None:
        """Return the first of some ways to go on that is there."""
        return next(filter(None, (ways(name).match(self.after) for name in names)), None)

    def is_idle(self) -> bool:
        """Tell whether it is only hoped for, or told of."""
        clause = clause_of(self.folded, self.start, self.end)
        return is_soft(self.folded, self.start, self.end) or ways("story").search(clause) is not None

    def stated(self, name: str, limit: Any, lead: re.Match[str] | None, follow: re.Match[str] | None = None) -> Stated:
        """Return a limit by it, with the words that lead up to it and those that follow."""
        begin, end = begin_of(self.start, self.before, lead), self.end + (follow.end() if follow else 0)
        return Stated(name, limit, self.text[begin:end], begin, end)


def pieces(folded: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield start, end and stems of each piece of a text that a catalog may know."""
    spots = [(match.start(), match.end(), stem(match.group())) for match in re.finditer(r"[^\W_]+", folded)]
    for place in range(len(spots)):
        for length in range(1, min(LONGEST, len(spots) - place) + 1):
            piece = spots[place : place + length]
            yield piece[0][0], piece[-1][1], tuple(word for _, _, word in piece)


def in_clauses(folded: str) -> str:
    """Return a text whose lines are clauses, without the marks of a list; every letter stays where it was."""
    for match in list(MARKER.finditer(folded)):
        folded = folded[: match.start()] + ";" + " " * (len(match.group()) - 1) + folded[match.end() :]
    return folded.replace("\n", ";")


def sentence_of(folded: str, start: int) -> str:
    """Return the sentence that stands here, up to there."""
    return re.split(r"[.;!?]", folded[:start])[-1]


def is_condition(folded: str, start: int) -> bool:
    """Tell whether what stands here is said only for a case: "if it is under 50, I don't care how far"."""
    return ways("conditional").search(sentence_of(folded, start)) is not None


def clause_of(text: str, start: int, end: int) -> str:
    """Return the clause around a piece: up to the next mark, but not one within a number."""
    first = max(0, start - LONGEST_CLAUSE)
    begin = max((match.end() for match in re.finditer(r"[.;!?,](?!\d)", text[first:start])), default=0)
    stop = re.search(r"[.;!?,](?!\d)", text[end : end + LONGEST_CLAUSE])
    return text[first + begin : end + stop.start() if stop else end + LONGEST_CLAUSE]


def is_soft(text: str, start: int, end: int) -> bool:
    """Tell whether a piece is only hoped for, or not needed: "a lock would be nice", but not "but no bell" after it."""
    before = text[max(0, start - LONGEST_CLAUSE) : start].rpartition(" but ")[2]
    after = re.split(r"(?:^|\s)but\s", text[end : end + LONGEST_CLAUSE], maxsplit=1)[0]
    piece = clause_of(before + text[start:end] + after, len(before), len(before) + end - start)
    return ways("softened").search(piece) is not None


def is_dismissed(text: str, start: int, end: int) -> bool:
    """Tell whether what is named here is said not to matter: "the color is unimportant", "mir ist die Farbe egal"."""
    after, before = ways("dismissed_after"), ways("dismissed_before")
    return bool(after.match(text, end) or before.search(text[max(0, start - LONGEST_CLAUSE) : start]))


def with_name(text: str, start: int, end: int, attribute: Attribute) -> tuple[int, int]:
    """Return a piece with the attribute's own name beside it: "rent under 900", "16 GB of RAM"."""
    linking = r"(?:\s*:|\s+(?:is|of|should be|must be|has to be|for|range))*\s*$"
    while (before := re.search(r"([^\W_]+)" + linking, text[:start])) and stem(before.group(1)) in attribute.words:
        start, linking = before.start(), r"\s+$"  # "playing time under an hour"
    for way in ("bound_on", "spending", *["made_before"] * is_year(attribute.high), "held_before", "led_by_verb"):
        start = lead.start() if (lead := ways(way).search(text[:start])) else start
    after = re.match(r"(?:'s?)?\s*(?:(?:of|for|in|as)\s+)?(?:(?:the|a|my)\s+)?([^\W_]+)", text[end:])
    if after and stem(after.group(1)) in attribute.words:
        while after is not None and stem(after.group(1)) in attribute.words:  # "2 days home office"
            end += after.end()
            after = re.match(r"\s+([^\W_]+)", text[end:])
    elif attribute.measures("time") or attribute.measures("distance"):
        end += len(by.group()) if (by := ways("by_car").match(text[end:])) else 0
    return start, end


def in_names(clause: str) -> str:
    """Return a clause with what columns are called of which it tells in other words: "it must not last an hour"."""
    also = sorted(words("lasting")) if ways("lasts").search(clause) else []
    also += [name for name, said in table()["told_else"].items() if re.search(said, clause)]
    return " ".join([clause, *also])


def counted(folded: str, quantity: Quantity) -> str:
    """Return the word after a number and its unit: "storage" of "512 GB of storage"."""
    unit = re.escape(str(quantity.unit))
    piece = folded[quantity.start : quantity.end + LONGEST_WORD]
    after = re.search(rf"\d\s*(?:{unit}\w{{0,2}})\s+(?:of\s+)?([a-z]+)", piece)
    return after[1] if after else ""


def meant(folded: str, quantity: Quantity) -> Quantity | None:
    """Return a number as it is meant: None if it is only hoped for, or said for a case that is not refused."""
    if is_soft(folded, quantity.start, quantity.end) or ways("only_if").match(folded[quantity.end :]):
        return None
    if not quantity.bound and ways("story").search(clause_of(folded, quantity.start, quantity.end)):
        return None  # "on six inches I was scrolling all day"
    if is_condition(folded, quantity.start):  # "if it takes longer than 90 minutes nobody will play it"
        if quantity.bound not in OTHER_WAY or not ways("refused").match(folded[quantity.end :]):
            return None
        return replace(quantity, bound=OTHER_WAY[quantity.bound], strict=False)
    return quantity


def is_month(piece: Piece) -> bool:
    """Tell whether a word that may be a month is one: "in May", "May or June", but not "it may", "May I"."""
    before = sentence_of(piece.folded, piece.start)
    beside = re.match(r"\s*(?:,|/|or\b|and\b|oder\b|-|to\b)\s*([a-z]+)", piece.after)
    return bool(
        ways("month_before").search(before)
        or (piece.text[piece.start].isupper() and before.strip())
        or (beside and month_of(beside[1]))
    )


def named(before: str, name: str) -> re.Match[str] | None:
    """Return the name of a detail where it stands right before a text: "size " before "L"; None where it does not."""
    match = ways("named_before").search(before)
    return match if match is not None and stem(match["name"]) in telling_stems(name) else None


def is_written(piece: Piece, owners: Iterable[str]) -> bool:
    """Tell whether a tiny word is meant as a text: written in capitals, or right after the name of its column."""
    if any(named(piece.before, name) for name in owners):
        return True
    said, before = piece.text[piece.start : piece.end], piece.before
    after_sentence = not before.strip() or before.strip()[-1] in ".!?:"  # "A quiet one", and "I" anywhere
    pronoun = said == "I" or (said == "A" and after_sentence)
    return said.isupper() and not pronoun and not piece.text.isupper()


def begin_of(start: int, before: str, lead: re.Match[str] | None) -> int:
    """Return where a piece begins together with the words that lead up to it."""
    return start if lead is None else start - len(before) + lead.start()


def led_by(before: str, name: Collection[str]) -> str:
    """Return what stands before the words of a name that lead up to a piece; nothing where none do.

    Examples
    --------
    >>> led_by("not closed on ", ["closed", "on"]), led_by("not on ", ["city"])
    ('not ', '')
    """
    words_ = list(re.finditer(r"[^\W_]+\s+", before))
    while words_ and stem(words_[-1].group().strip()) in name:
        words_.pop()
    left = before[: words_[-1].end()] if words_ else ""
    return left if len(left) < len(before) else ""


def aged(folded: str, quantity: Quantity, attributes: Collection[Attribute]) -> list[Stated]:
    """Return the limits that an age sets: somebody's on the ages let in, that of a thing on the year it is from."""
    before = re.split(r"[.;!?,]", folded[: quantity.start])[-1]
    number = quantity.numbers[0]
    in_years = bool(words("years") & set(quantity.units))
    after = re.match(r"[\s-]*olds?\b", folded[quantity.end :])
    months = quantity.unit == "month" and after is not None
    if (quantity.unit is not None and not in_years and not months) or quantity.of_people or number != int(number):
        return []  # "it is 20 minutes away"
    end = quantity.end + (after.end() if after else 0)
    if quantity.bound in ("min", "max"):
        old = re.search(r"\b(?:older|younger) than\b", folded[quantity.start : quantity.end])
        year = next((one for one in attributes if one.in_years), None)
        if not in_years or not (old or after) or year is None:
            return []
        limit = {"max" if quantity.bound == "min" else "min": date.today().year - int(number)}
        return [Stated(year.name, limit, "", quantity.start, end)]
    lead = pattern(r"\b(?:<age>|<young>)\s*$").search(before)
    if not lead and not after:
        return []
    age = next((one for one in attributes if one.end and "age" in one.spanned), None)
    bare = quantity if months else replace(quantity, units=())
    limits = letting_in(bare, age, attributes) if age is not None else {}
    return [Stated(name, limit, "", begin_of(quantity.start, before, lead), end) for name, limit in limits.items()]


FARTHEST = 9  # words between a piece and what denies it
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_OR = ("or", "nor")
_ENDING = re.compile(r"(?:ing|ed|'s|'re)$")
_BEFORE_VERB = re.compile(r"to|never|cannot|(?!(?:is|are|was|were|has|have|had)n't)\w+n't")


class Denial(NamedTuple):
    """Where the words that deny a piece begin, and whether they do: twice denied is demanded."""

    lead: re.Match[str]
    denied: bool


def find_denial(before: str) -> Denial | None:
    """Return what denies the piece that a clause leads up to; None where nothing does, or only says it need not be.

    It is looked for from the piece back, over words that tell nothing by themselves and verbs: what is not to be
    "expensive in Vienna" may be in Vienna.

    Examples
    --------
    >>> [
    ...     (found.lead.group(), found.denied) if (found := find_denial(text)) else None
    ...     for text in (
    ...         "i want one that's not closed on ",
    ...         "she hates sleeping in ",
    ...         "we can't do without a ",
    ...         "nothing expensive in ",
    ...         "it doesn't need to have a ",
    ...     )
    ... ]
    [('not closed on ', True), ('hates sleeping in ', True), ("can't do without a ", False), None, None]
    """
    start, weight, lacking = len(before), 0, False
    found = list(_WORD.finditer(before))[-FARTHEST:]
    for place in range(len(found) - 1, -1, -1):
        word, said = found[place], found[place].group()
        led = found[place - 1].group() if place else ""
        if said in words("lacking") or said in words("denying") or said.endswith("n't"):
            if ways("not_denied").match(before, word.end()):
                return None
            lacking = lacking or said in words("lacking")
            start, weight = word.start(), weight + 1
        elif not (
            said in words("passing")
            or said in _OR
            or (place + 1 < len(found) and found[place + 1].group() in _OR)  # "no pink or red"
            or _ENDING.search(said)
            or _BEFORE_VERB.fullmatch(led)
        ):
            break
    if not weight or (weight > 1 and not lacking):
        return None
    lead = re.compile(r".*", re.S).match(before, start)
    return Denial(lead, weight % 2 == 1) if lead is not None else None


_BETWEEN = 6  # words between the first and the last of a name
_PIECES = re.compile(r"[^.,;:!?]+")


def find_spread(folded: str, flags: Mapping[Key, str]) -> Iterator[tuple[str, int, int]]:
    """Yield names of flags of which all words stand in a clause, in any order, and nothing else of weight between.

    Examples
    --------
    >>> flags = {("pet", "safe"): "pet_safe", ("evening", "lesson"): "evening_lessons", ("folding",): "folding"}
    >>> [name for name, _, _ in find_spread("it has to be safe for pets, lessons have to be in the evening", flags)]
    ['pet_safe', 'evening_lessons']
    >>> [name for name, _, _ in find_spread("safe in a house with many pets, one i can fold", flags)]
    ['folding']
    """
    for piece in _PIECES.finditer(folded):
        spots = [(*match.span(), match.group()) for match in re.finditer(r"[^\W_]+(?:'[a-z]+)?", piece.group())]
        stems = [stem(word) for _, _, word in spots]
        spoken = {*stems}
        for key, name in flags.items():
            if len(key) > 1 and len({*key}) == len(key) and spoken.issuperset(key):
                places = [stems.index(part) for part in key]
                first, last = min(places), max(places)
                apart = [place for place in range(first, last + 1) if place not in places]
                light = words("passing") - {"not", "or", "and"}
                if apart and len(apart) <= _BETWEEN and light.issuperset(spots[place][2] for place in apart):
                    yield name, piece.start() + spots[first][0], piece.start() + spots[last][1]
        for match in pattern(r"\b<able> ([a-z]{4,})\b").finditer(piece.group()):
            done = match.group().rsplit(" ", 1)[1]
            forms = (stem(f"{done.removesuffix('e')}ing"), f"{done}able")
            for name in {flags[form,] for form in forms if (form,) in flags}:
                yield name, piece.start() + match.start(), piece.start() + match.end()
