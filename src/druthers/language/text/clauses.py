"""Where sentences and clauses start and end."""

from collections.abc import Sequence
from itertools import pairwise

from druthers.language.data import small_words
from druthers.language.text.tokens import Token

Span = tuple[int, int]

_ENDS = frozenset(".!?;\n")
_MARKS = frozenset(',;:()-|".!?><=/\n')
# Words of a short question and of its answer: "Central? Don't care."
_QUESTION, _ANSWER = 3, 5


def sentences(tokens: Sequence[Token]) -> list[Span]:
    """Return where each sentence starts and ends among the tokens."""
    spans, start = [], 0
    for index, token in enumerate(tokens):
        if token.text in _ENDS and not _numbered(tokens, index) and not _asked(tokens, start, index):
            if index > start:
                spans.append((start, index))
            start = index + 1
    if start < len(tokens):
        spans.append((start, len(tokens)))
    return spans


def _asked(tokens: Sequence[Token], start: int, index: int) -> bool:
    """Tell whether a short question is answered at once: "Central? Don't care."."""
    if tokens[index].text != "?" or not 0 < index - start <= _QUESTION:
        return False
    ends = (i for i in range(index + 1, len(tokens)) if tokens[i].text in _ENDS or tokens[i].text == ",")
    answer = next(ends, len(tokens)) - index - 1
    return 0 < answer <= _ANSWER


def _numbered(tokens: Sequence[Token], index: int) -> bool:
    """Tell whether a dot belongs to a number: "1. clean", "3.5 stars"."""
    return tokens[index].text == "." and index > 0 and tokens[index - 1].text.isdigit() and index + 1 < len(tokens)


def clauses(tokens: Sequence[Token], open_: Sequence[bool]) -> list[Span]:
    """Return where clauses start and end: at marks, at turns ("but", "than", "and"), and at what is not open."""
    spans, start, turns = [], 0, small_words("turns")
    for index in range(len(tokens) + 1):
        ends = index == len(tokens) or not open_[index] or tokens[index].text in _MARKS
        if ends or tokens[index].text in turns:
            if index > start:
                spans.append((start, index))
            start = index + 1 if ends else index
    return spans


def parts(text: str, tokens: Sequence[Token], start: int, end: int) -> list[Span]:
    """Return the parts of a sentence between which something was blanked out of its text."""
    cuts = [n for n in range(start + 1, end) if tokens[n].start - tokens[n - 1].end > 1]
    return list(pairwise([start, *cuts, end]))


def core(tokens: Sequence[Token], start: int, end: int) -> Span:
    """Return a clause without the light words around it, so that cues can be seen beside it."""
    light = small_words("light")
    while start < end and (tokens[start].text in light or not tokens[start].is_word):
        start += 1
    while end > start and (tokens[end - 1].text in light or not tokens[end - 1].is_word):
        end -= 1
    return start, end
