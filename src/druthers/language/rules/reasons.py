"""Reasons for a wish are no wishes: "she is nervous behind the wheel, so we need somebody calm"."""

import re
from collections.abc import Sequence

from druthers.language.data import small_words
from druthers.language.lexicon.concepts import Kind
from druthers.language.lexicon.words import Mention
from druthers.language.text.clauses import Span
from druthers.language.text.tokens import Token

# How sure a clause must be to imply a wish beside one in words, and anywhere beside what is as sure as that.
_IMPLIED, _GUESSED, _SURE = 0.88, 0.6, 0.75
_TOLD = ("was", "were", "ago", "yesterday")  # of the past
_GOING_ON = ("and", "or", "plus", "but", "also", "then")
# What follows a reason and wishes for something.
_SO = re.compile(
    r"(?:so|therefore|hence)(?: ,)? (?:(?:i|we|he|she|they|it|there|that|this|you)(?: really| just| also)?"
    r" (?:need|needs|want|wants|must|should|would|has to|have to)"
    r"|(?:someone|somebody|something|somewhere|anything|please|only|give|show|find)\b)"
)
# A sentence that asks for something, and one that tells of somebody.
_ASKS = re.compile(
    r"\b(?:need|needs|want|wants|must|should|has to|have to|prefer|please|looking for|important|matters?|counts?"
    r"|would (?:like|love|prefer|be (?:nice|great|good|lovely))|i like|we like|above (?:all|everything))\b"
)
_TELLS = re.compile(
    r"^(?:(?:and|but|because|honestly|well|ok|okay|oh|look) )*(?:i|we|my|our|he|she|they|it|there|his|her|their|last"
    r"|the|an?|this|that|yesterday|\w+ (?:is|was|has|had))\b.*\b(?:is|was|are|were|has|had|have|am|been|\w+ed|\w+s|got"
    r"|went|came|took|made|said|sat|stood|lost|told)\b"
)
_SHORT = 6  # words of a sentence that is no story
# What tells more than a reason or a story.
_MORE = re.compile(
    r"\b(?:want|need|like|love|enjoy|prefer|care|hate|count|matter|value|afford|pay|spend|hope|wish)s?\b"
    r"|\b(?:should|must|would|has to|have to|important|please|looking|budget|money|not|yes|no|tight|better|best|main"
    r"|first|second|secondary|third|priority|key|essential|crucial|ideally|will do|enough)\b"
)


def without_reasons(tokens: Sequence[Token], spans: Sequence[Span], mentions: Sequence[Mention]) -> list[Mention]:
    """Return the mentions of a text that do not only tell why something else is wished for.

    Examples
    --------
    >>> from druthers.language import make_parser
    >>> parser = make_parser("lexicon", objectives=["patience", "distance"])
    >>> parser.read("She gets nervous far from home, so we need somebody patient").names
    ('patience',)
    >>> parser.read("It should be near our home, so we need somebody patient who is near").names
    ('distance', 'patience')
    """
    left = [mention for mention in mentions if not _explains(tokens, spans, mention, mentions)]
    for before, wish in _reasons(tokens, spans):
        wished = {one.objective for one in left if wish[0] <= one.first < wish[1]}
        told = " ".join(token.text for token in tokens[slice(*before)])
        if wished and not _MORE.search(told):
            left = [one for one in left if not before[0] <= one.first < before[1] or one.objective in wished]
    return _without_stories(tokens, spans, left)


def _without_stories(tokens: Sequence[Token], spans: Sequence[Span], mentions: list[Mention]) -> list[Mention]:
    """Return mentions without those that a sentence only tells of, where another one asks for something in words.

    "It is our golden wedding and the children pay for it. We would like beautiful scenery" is not about the price.
    """
    said = [" ".join(token.text for token in tokens[slice(*span)]) for span in spans]
    asking = [span for span, words in zip(spans, said, strict=True) if _ASKS.search(words)]
    worded = [one for one in mentions if one.kind not in (Kind.MEANS, Kind.SAYS)]
    wished = {one.objective for one in worded if any(start <= one.first < end for start, end in asking)}
    stories = [
        span
        for span, words in zip(spans, said, strict=True)
        if span not in asking and words.count(" ") >= _SHORT and _TELLS.search(words) and not _MORE.search(words)
    ]
    if not wished or not stories:
        return mentions
    told = {n for start, end in stories for n in range(start, end)}
    return [one for one in mentions if one.first not in told or one.named or one.objective in wished]


def _reasons(tokens: Sequence[Token], spans: Sequence[Span]) -> list[tuple[Span, Span]]:
    """Return what comes before "so we need", the sentence before where it begins one, and what comes after."""
    found = []
    for number, (start, end) in enumerate(spans):
        for place in range(start, end):
            if tokens[place].text in ("so", "therefore", "hence") and _SO.match(
                " ".join(token.text for token in tokens[place : place + 6])
            ):
                before = (start, place) if place - start > 1 else spans[number - 1] if number else (start, start)
                found.append((before, (place, end)))
    return found


def _explains(tokens: Sequence[Token], spans: Sequence[Span], mention: Mention, mentions: Sequence[Mention]) -> bool:
    """Tell whether a clause only gives the reason of a wish in words, or tells a story: "small groups, I get shy"."""
    start, end = next(span for span in spans if span[0] <= mention.first < span[1])
    if mention.kind is Kind.GIVES_UP and any(token.text == "otherwise" for token in tokens[start:end]):
        return True  # "the kids won't eat them otherwise"
    worded = [one for one in mentions if one.stands_alone and one.kind in (Kind.GOOD, Kind.BAD, Kind.NOUN)]
    if mention.kind is Kind.NOUN and not mention.named:  # "when my wallet was stolen ... A good hotline!"
        told = not {token.text for token in tokens[start:end]}.isdisjoint(_TOLD)
        later = (one for one in worded if one.first >= end and one.objective != mention.objective)
        return told and any(one.named or one.kind is Kind.GOOD for one in later)
    if mention.kind not in (Kind.MEANS, Kind.SAYS):
        return False
    if _leads_to(tokens, mention, end, [one for one in mentions if one.kind is not Kind.MEANS and one.stands_alone]):
        return True
    begin = max((n + 1 for n in range(start, mention.first) if not tokens[n].is_word), default=start)
    said = {token.text for token in tokens[begin : mention.last]}
    first = {token.text for token in tokens[begin : begin + 3]}
    if mention.kind is Kind.SAYS or tokens[begin].text in _GOING_ON or not said.isdisjoint(small_words("wishing")):
        return False
    after_a_wish = any(start <= one.first and one.last <= begin for one in worded)
    reasons = not (first.isdisjoint(small_words("subjects")) and said.isdisjoint(small_words("being")))
    if after_a_wish and reasons and mention.worth < _IMPLIED:
        return True
    surer = any(one.worth >= _SURE and one.objective != mention.objective for one in mentions)
    of_them = not first.isdisjoint(small_words("subjects"))
    if of_them and mention.worth < _GUESSED and surer:  # "my tooth hurts, I need to be seen soon"
        return True
    return bool(worded) and not said.isdisjoint(small_words("past"))


def _leads_to(tokens: Sequence[Token], mention: Mention, end: int, wishes: Sequence[Mention]) -> bool:
    """Tell whether a wish for something else follows from a clause: "I have a bad back: it has to be light"."""
    at = mention.last
    while at < end and tokens[at].is_word and tokens[at].text != "so":
        at += 1
    at += at + 1 < end and tokens[at].text == "," and tokens[at + 1].text == "so"
    if at >= end or tokens[at].text not in (":", "so"):
        return False
    stop = next((n for n in range(at + 1, end) if not tokens[n].is_word), end)
    return any(at < one.first < stop and one.objective != mention.objective for one in wishes)
