"""Whether a text about something speaks well or badly of what it mentions."""

import re
from collections.abc import Sequence
from itertools import pairwise

from druthers.language.data import small_words
from druthers.language.lexicon.concepts import Kind, lexicon, words_of
from druthers.language.lexicon.words import Mention
from druthers.language.text.tokens import Token

# So many words before a mention may deny it, and so many on both sides say how much of it there is.
_DENIED, _BEFORE, _AFTER, _SUPERLATIVE = 3, 3, 4, 6
_UNSURPASSED = re.compile(r"\b(?:could|can) ?not (?:have been|be|get|have gotten)(?: any)?(?: more)?$")
_POLES = {Kind.GOOD: 1, Kind.BAD: -1}


def pole(mention: Mention) -> int:
    """Return 1 of what is wanted, -1 of what is complained about, else 0; by meaning, as the nearest phrase is."""
    if mention.kind is not Kind.MEANS:
        return _POLES.get(mention.kind, 0)
    terms = lexicon().get(words_of(mention.why.removeprefix("like ")), ())
    return next((_POLES[term.kind] for term in terms if term.kind in _POLES), 0)


def sign_of(tokens: Sequence[Token], mention: Mention, less_is_better: bool) -> int:
    """Return 1 if what is mentioned is praised, -1 if it is complained about, 0 if neither.

    What something is called says neither, but how much there is of it does: a long wait, a low price, tiny portions.
    """
    before = [token.text for token in tokens[max(0, mention.first - _BEFORE) : mention.first]]
    sign = _POLES.get(mention.kind, 0)  # phrases that mean the opposite lie near each other
    if not sign and mention.kind in (Kind.NOUN, Kind.WEAK, Kind.MEANS):
        near = {*before, *(token.text for token in tokens[mention.first : mention.last + _AFTER])}
        much, little = (bool(near & small_words(part)) for part in ("much", "little"))
        sign = (much - little) * (-1 if less_is_better else 1)
    denied = _is_denied(tokens, mention)
    if sign and before[-1:] == ["too"]:  # "not too clean" is not clean, "not too loud" is quiet
        return 1 if denied and sign < 0 else -1
    return -sign if denied else sign


def _is_denied(tokens: Sequence[Token], mention: Mention) -> bool:
    """Tell whether the words before a mention deny it, as neither "not only clean" nor "could not be cleaner" do."""
    before = [token.text for token in tokens[max(0, mention.first - _SUPERLATIVE) : mention.first]]
    more = before[-1:] == ["more"] or tokens[mention.first].text.endswith("er")
    if more and _UNSURPASSED.search(" ".join(before)):
        return False
    near = pairwise([*before[-_DENIED:], ""])
    return any(word in small_words("denying") and after not in small_words("merely") for word, after in near)
