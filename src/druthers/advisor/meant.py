"""What is asked for in no word of its name: "we haven't any gear, so rods would have to be there"."""

import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from druthers.glossary import in_words
from druthers.language import Parser, is_english
from druthers.language.models.minilm import Encoder
from druthers.language.models.table import Table
from druthers.language.text import clauses, tokenize
from druthers.limits import LimitReader, Limits, Stated, Where
from druthers.limits.stated import joined
from druthers.limits.words import blanked, fold, pattern, ways
from druthers.types import Reading

# Cosines: how like the name of a flag a question for items must be, and a clause that asks for it; and how far that is
# ahead of all else. Those of clauses are right for 11 of 12 that words leave alone, of 1,600 messages.
ASKED, MEANT, AHEAD = 0.35, 0.5, 0.1
FEWEST = 3  # words of a clause that means something
OWNED = re.compile(r"\b(?:i|we)(?:'ve| have)(?: got)? (?!to\b)")  # "I have a licence" asks for none


def flag_asked(text: str, reader: LimitReader, parser: Parser) -> Where:
    """Return the flag whose name is most like a question, if one is clearly: "are any open round the clock?"."""
    names, encoder = sorted(set(reader.index.flags.values())), parser.encoder()
    if not names or not is_english(text):
        return {}
    found = [_likeliest(text, names, (), one) for one in (Table(), encoder) if one]
    likeness, ahead, name = max(found)
    return {name: True} if likeness >= ASKED and ahead >= AHEAD else {}


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
        plain, after = fold(clause), text[end:]
        denied = pattern(r"\b(?:<denying>|<lacking>|<condition>)\b|n't\b").search(plain) or ways("ruled_out").search(
            plain
        )
        if (
            denied
            or OWNED.search(plain)
            or ways("hoped", "softened", "story").search(plain)
            or re.match(r"[^.;!?]*\?", after)
        ):
            continue
        likeness, ahead, name = _likeliest(clause, names, others, encoder)
        if likeness >= MEANT and ahead >= AHEAD:
            found.setdefault(name, Stated(name, True, clause, start, end))
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
