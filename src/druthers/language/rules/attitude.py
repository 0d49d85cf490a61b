"""What speaks well or badly of something, asks for its opposite, or only gives the reason of another wish."""

from collections.abc import Sequence
from itertools import pairwise

from druthers.glossary import Wordings
from druthers.language.data import small_words
from druthers.language.lexicon.concepts import Kind, lexicon, words_of
from druthers.language.lexicon.words import Mention
from druthers.language.text import Span, Token, spoken

# So many words before a mention may deny it, and so many on both sides say how much of it there is.
_DENIED, _BEFORE, _AFTER, _SUPERLATIVE = 3, 3, 4, 6
# Patterns by name.
WAYS = Wordings("druthers.language", "data/attitudes.toml")
ways = WAYS.ways
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
    if more and ways("unsurpassed").search(" ".join(before)):
        return False
    near = pairwise([*before[-_DENIED:], ""])
    return any(word in small_words("denying") and after not in small_words("merely") for word, after in near)


OPPOSITE = "the opposite is asked for"
_MARKS = frozenset(",.;:!?|()\n")
_FARTHEST = 8  # words before and after a mention


def is_opposite(tokens: Sequence[Token], mention: Mention) -> bool:
    """Tell whether what is bad is asked for, or what is good is not wanted: "the louder the better", "not quiet".

    Examples
    --------
    >>> from druthers.language import make_parser
    >>> parser = make_parser("lexicon", objectives=["price", "quiet"])
    >>> [parser.read(text).names for text in ("expensive please", "the louder the better", "I hate quiet bars")]
    [(), (), ()]
    >>> [parser.read(text).names for text in ("nothing expensive please", "loud places drive me mad", "no noise")]
    [('price',), ('quiet',), ('quiet',)]
    """
    begin, end = mention.first, mention.last
    while begin > 0 and mention.first - begin < _FARTHEST and tokens[begin - 1].text not in _MARKS:
        begin -= 1
    while end < len(tokens) and end - mention.last < _FARTHEST and tokens[end].text not in _MARKS:
        end += 1
    before, after = spoken(tokens[begin : mention.first]), f" {spoken(tokens[mention.last : end])}".rstrip()
    praised = tokens[mention.first].text in WAYS.table["praised"]
    if mention.kind is Kind.GOOD or praised:
        return _holds("hated", before) or (praised and _holds("not_good", before))
    if mention.kind is Kind.NOUN:  # "I love noise"
        return mention.less_is_better and _holds("loved", before)
    if mention.kind is not Kind.BAD or _holds("denies", before) or _holds("less", after):
        return False
    if mention.last == len(tokens) and ways("alone").fullmatch(spoken(tokens[: mention.first])):
        return True  # "no, expensive"
    on = f" {spoken(tokens[mention.last : mention.last + _FARTHEST])}"  # marks between words too
    most = _holds("most", before) and (_holds("possible", after) or _holds("the_more", on))
    return most or _holds("better", after) or _holds("wanted", before) or _holds("please", after)


def _holds(way: str, text: str) -> bool:
    return ways(way).search(text) is not None


# How sure a clause must be to imply a wish beside one in words, and anywhere beside what is as sure as that.
_IMPLIED, _GUESSED, _SURE = 0.88, 0.6, 0.75
_TOLD = ("was", "were", "ago", "yesterday")  # of the past
_GOING_ON = ("and", "or", "plus", "but", "also", "then")
_SHORT = 6  # words of a sentence that is no story


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
        if wished and not _holds("tells_more", spoken(tokens[slice(*before)])):
            left = [one for one in left if not before[0] <= one.first < before[1] or one.objective in wished]
    return _without_stories(tokens, spans, left)


def _without_stories(tokens: Sequence[Token], spans: Sequence[Span], mentions: list[Mention]) -> list[Mention]:
    """Return mentions without those that a sentence only tells of, where another one asks for something in words.

    "It is our golden wedding and the children pay for it. We would like beautiful scenery" is not about the price.
    """
    said = {span: spoken(tokens[slice(*span)]) for span in spans}
    asking = [span for span in spans if _holds("asks", said[span])]
    worded = [one for one in mentions if one.kind not in (Kind.MEANS, Kind.SAYS)]
    wished = {one.objective for one in worded if any(start <= one.first < end for start, end in asking)}
    long = [span for span in spans if span not in asking and said[span].count(" ") >= _SHORT]
    stories = [span for span in long if _holds("tells", said[span]) and not _holds("tells_more", said[span])]
    if not wished or not stories:
        return mentions
    told = {n for start, end in stories for n in range(start, end)}
    return [one for one in mentions if one.first not in told or one.named or one.objective in wished]


def _reasons(tokens: Sequence[Token], spans: Sequence[Span]) -> list[tuple[Span, Span]]:
    """Return what comes before "so we need", the sentence before where it begins one, and what comes after."""
    found = []
    for number, (start, end) in enumerate(spans):
        for place in range(start, end):
            if ways("so").match(spoken(tokens[place : place + 6])):
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
