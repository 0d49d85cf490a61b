"""What a text states: wishes and limits, read together, in messages as in queries; and flags that it only means."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from druthers.advisor.kinds import LIKELY, POSSIBLE, SURE
from druthers.advisor.messages import Kind, Message, as_dismissed, guessed
from druthers.advisor.naming import with_items
from druthers.advisor.said import MOST_LETTERS
from druthers.advisor.strangers import contrary_wishes, told, told_apart
from druthers.advisor.wishes import SURE as COUNTS
from druthers.catalogs import Item
from druthers.glossary import in_words
from druthers.language import Parser, is_english, leans_english, spoken_in
from druthers.language.data import small_words
from druthers.language.lexicon.concepts import english, lexicon
from druthers.language.models.minilm import Encoder
from druthers.language.models.table import Table
from druthers.language.rules.attitude import OPPOSITE
from druthers.language.text import clauses, tokenize
from druthers.limits import Columns, LimitReader, Limits, Stated, Where
from druthers.limits.spelling import Vocabulary
from druthers.limits.stated import joined
from druthers.limits.words import blanked, fold, pattern, stem, stems, ways
from druthers.types import Evidence, Reading

NEAR = 12  # letters before a word in which "too" makes it a complaint
BESIDE_LIMIT = 0.5  # how sure a wish beside a limit must be to be more than a guess
NO_OTHERS = re.compile(r"(?i)\b(?P<other>no others?(?: \w+)?)\W*$")
# Cosines: how like the name of a flag a question for items must be, and a clause that asks for it; and how far that is
# ahead of all else. Those of clauses are right for 11 of 12 that words leave alone, of 1,600 messages.
ASKED, MEANT, AHEAD = 0.35, 0.5, 0.1
FEWEST = 3  # words of a clause that means something
OWNED = re.compile(r"\b(?:i|we)(?:'ve| have)(?: got)? (?!to\b)")  # "I have a licence" asks for none


def stated_in(
    text: str, reader: LimitReader, parser: Parser, columns: Columns, shown: Sequence[Item] = ()
) -> tuple[Reading, Limits]:
    """Return the wishes and limits of a text; items in it may be called by name, and those shown by number."""
    if others := NO_OTHERS.search(text):
        # "black would be perfect but green is fine too, no other colors"
        text = blanked(text, *_hoping(text), others.span("other"))
    limits = told_apart(text, with_items(text, reader, parser, columns, shown), reader, parser)
    hopes = hoped(text, reader, limits)
    heard = [one.text for one in hopes]
    lost = tuple(one for one in limits.unmatched if not any(one in text or text in one for text in heard))
    limits = replace(limits, hopes=hopes, unmatched=lost)
    # "A pool would be nice" is no limit, and no guess at a wish either.
    words = _hoping(text) if hopes else []
    rest = blanked(limits.rest, *(one.span for one in hopes), *words)
    reading = parser.read(rest)
    if usual := _named_besides(text, reader, limits, reading):
        limits = replace(limits, hopes=(*limits.hopes, *usual))
        reading = parser.read(blanked(rest, *(one.span for one in usual)))
    if (meant := flags_meant(text, reading, limits, reader, parser)) is not limits:
        limits, reading = meant, parser.read(blanked(reading.text, *(one.span for one in meant.stated)))
    contrary, unlikely = contrary_wishes(text, reading, limits, parser)
    # Who wants it loud is told that this is not understood, in the same words.
    limits = told(limits, unlikely or (reading.leftover if OPPOSITE in reading.notes and not reading.names else ()))
    # What is left of a limit's sentence is no guess at a wish: "Kent or Surrey, nowhere else".
    unmeant = {*contrary, *_complained(reading, limits), *_guessed_by(reader.title, reading)}
    return without_guesses(reading, BESIDE_LIMIT if limits.where else 0.0, unmeant), limits


def _named_besides(text: str, reader: LimitReader, limits: Limits, reading: Reading) -> list[Stated]:
    """Return what is named in words that are said all the time, where nothing else was understood of them."""
    taken = [one.span for one in (*limits.stated, *limits.hopes, *limits.freed)]
    taken += [(one.start, one.end) for one in reading.evidence]
    return [
        one
        for one in reader.usual(text)
        if one.name not in limits.where and not any(start < one.end and one.start < end for start, end in taken)
    ]


def _only_so(reading: Reading, so: Callable[[Evidence], bool]) -> set[str]:
    """Return the objectives of which all that speaks of them is so."""
    others = {one.objective for one in reading.evidence if not so(one)}
    return {reading.objectives[one.objective] for one in reading.evidence if one.objective not in others}


def _guessed_by(title: str, reading: Reading) -> set[str]:
    """Return what is guessed only from words that name what all items are: "a tutor" wants no experience."""
    bare = {*stems(title), *small_words("light")}
    return _only_so(reading, lambda one: one.guessed and one.role == "wanted" and bare.issuperset(stems(one.text)))


def _complained(reading: Reading, limits: Limits) -> set[str]:
    """Return what is wished for only by a complaint that a limit puts right: "that's too much, make it 20 at most"."""
    too_much = re.compile(r"\btoo\b", re.I)
    complaints = _only_so(reading, lambda one: bool(too_much.search(reading.text[max(0, one.start - NEAR) : one.end])))
    return {name for name in complaints if isinstance(limits.where.get(name), dict)}


def hoped(text: str, reader: LimitReader, limits: Limits) -> tuple[Stated, ...]:
    """Return what would be limits, beside those that there are, if it were not only hoped for: "ideally blue"."""
    words = _hoping(text)
    if not words:
        return ()
    strict = blanked(text[:MOST_LETTERS], *words)
    firm = [(one.start, one.end) for one in limits.stated]
    said = (one for one in reader.read(strict).stated if not any(a < one.end and one.start < b for a, b in firm))
    return tuple(one._replace(text=text[one.start : one.end]) for one in said)


def without_guesses(reading: Reading, bar: float, without: Collection[str] = ()) -> Reading:
    """Return a reading with those wishes only that it is as sure of as that, and without what is named."""
    if not {*reading.dismissed_names}.isdisjoint(without):
        reading = replace(
            reading, dismissed=tuple(n for n in reading.dismissed if reading.objectives[n] not in without)
        )
    certain = [confidence >= bar for confidence in reading.confidences]
    sure = [place for place, name in enumerate(reading.names) if certain[place] and name not in without]
    if len(sure) == len(reading.ranking):
        return reading
    ranking = tuple(reading.ranking[place] for place in sure)
    confidences = tuple(reading.confidences[place] for place in sure)
    strengths = tuple(reading.strengths[place] for place in sure)
    return replace(reading, ranking=ranking, confidences=confidences, strengths=strengths, question=None)


def _hoping(text: str) -> list[tuple[int, int]]:
    """Return where words stand that make a limit a hope: "ideally", "would be nice"."""
    return [match.span() for match in ways("hoped").finditer(fold(text[:MOST_LETTERS]))]


@cache
def vocabulary() -> Vocabulary:
    """Return the words that mean something whatever a catalog has."""
    return Vocabulary(
        english(), frozenset(stem(words[0]) for words in lexicon() if len(words) == 1), spoken_in, leans_english
    )


def flag_asked(text: str, reader: LimitReader, parser: Parser) -> Where:
    """Return the flag whose name is most like a question, if one is clearly: "are any open round the clock?"."""
    names, encoder = sorted(set(reader.index.flags.values())), parser.encoder()
    if not names or not is_english(text):
        return {}
    found = [_likeliest(text, names, (), one) for one in (Table(), encoder) if one]
    likeness, ahead, name = max(found)
    return {name: reader.index.there(name)} if likeness >= ASKED and ahead >= AHEAD else {}


def flags_meant(text: str, reading: Reading, limits: Limits, reader: LimitReader, parser: Parser) -> Limits:
    """Return the limits of a text with the flags that clauses ask for of which no word is understood.

    A flag must be clearly liker to its clause than all else is, and the text must ask for something. What is denied,
    only hoped for, asked or told as a story is left alone: there the words decide, or nothing.
    """
    names = sorted(set(reader.index.flags.values()) - {*limits.where, *limits.dropped})
    asked = ways("asked_for").search(fold(text)) is not None
    encoder = parser.encoder() if names and asked and is_english(text) else None
    if encoder is None:
        return limits
    others = [told for one in parser.objectives for told in (one.name, *one.synonyms, one.description) if told]
    others += [told for key in reader.index.values for told in (" ".join(key),) if not told.isdigit()]
    found: dict[str, Stated] = {}
    for start, end in _left(text, reading, limits):
        clause = text[start:end]
        denied = pattern(r"\b(?:<denying>|<lacking>|<condition>)\b|n't\b")
        otherwise = (denied, OWNED, ways("ruled_out", "hoped", "softened", "story"))
        if any(one.search(fold(clause)) for one in otherwise) or re.match(r"[^.;!?]*\?", text[end:]):
            continue
        likeness, ahead, name = _likeliest(clause, names, others, encoder)
        if likeness >= MEANT and ahead >= AHEAD:
            found.setdefault(name, Stated(name, reader.index.there(name), clause, start, end))
    stated = (*limits.stated, *found.values())
    lost = tuple(one for one in limits.unmatched if not any(one in each.text for each in found.values()))
    rest = blanked(limits.rest, *(one.span for one in found.values()))
    return replace(limits, where=joined(stated), stated=stated, unmatched=lost, rest=rest) if found else limits


def _left(text: str, reading: Reading, limits: Limits) -> list[tuple[int, int]]:
    """Return where clauses stand of which no word is understood."""
    tokens = tokenize(text)
    known = [(one.start, one.end) for one in reading.evidence if not one.guessed]
    known += [one.span for one in (*limits.stated, *limits.hopes, *limits.freed, *limits.also)]
    return [
        (start, end)
        for first, last in clauses(tokens, [True] * len(tokens))
        for start, end in [(tokens[first].start, tokens[last - 1].end)]
        if last - first >= FEWEST and not any(a < end and start < b for a, b in known)
    ]


def _likeliest(text: str, names: Sequence[str], others: Sequence[str], encoder: Encoder) -> tuple[float, float, str]:
    """Return how like the likeliest of some names a text is, how far that is ahead of all else, and the name."""
    near = encoder.encode([*map(in_words, names), *others]) @ encoder.encode([text])[0]
    best = int(np.argmax(near[: len(names)]))
    ahead = near[best] - max(np.delete(near, best), default=0.0)
    return float(near[best]), float(ahead), names[best]


def is_guess(message: Message, stated: float) -> bool:
    """Tell whether a wish is only one that something may imply, or is told of anything but wishes."""
    reading = message.reading
    if message.kind != Kind.WISH or reading is None or message.limits.where or reading.dismissed:
        return False
    return len(guessed(reading)) == len(reading.ranking) or stated < POSSIBLE


def is_worded(message: Message) -> bool:
    """Tell whether a message states something for sure, and in words."""
    reading = message.reading
    sure = reading is not None and reading.confidence >= SURE and not guessed(reading)
    return _limits_something(message.limits) or sure


def _limits_something(limits: Limits) -> bool:
    """Tell whether limits are set, widened or taken back."""
    return bool(limits.where or limits.dropped or limits.freed or limits.also or limits.hopes)


def parts_of(reading: Reading, limits: Limits) -> dict[Kind, bool]:
    """Return which of the kinds of statements have a part in what was read."""
    return {
        Kind.WISH: bool(set(reading.names) - set(limits.where)),
        Kind.LIMIT: bool(limits.where or limits.hopes) or (_limits_something(limits) and not reading.dismissed),
        Kind.DISMISSAL: bool(reading.dismissed),
    }


def as_stated(message: Message, likely: Mapping[Kind, float]) -> Message:
    """Return what was read as what it is most likely, of its parts, without guesses beside them."""
    before, limits = message.reading, message.limits
    if before is None:
        return message
    if likely[Kind.DISMISSAL] >= LIKELY and is_guess(message, 1.0):  # "kilos are not a criterion"
        return replace(message, kind=Kind.DISMISSAL, reading=as_dismissed(before))
    reading = before
    if (limits.where or reading.dismissed) and likely[Kind.WISH] < LIKELY:
        reading = without_guesses(reading, COUNTS)
        lost = {*before.ranking} - {*reading.ranking}
        worded = [one.text for one in reading.evidence if one.objective in lost and not one.guessed]
        limits = told(limits, worded)
    there = [kind for kind, part in parts_of(reading, limits).items() if part]
    kind = max(there, key=lambda kind: likely[kind], default=message.kind)
    return replace(message, kind=kind, reading=reading, limits=limits)
