"""What is said of the mentions: cues from a data file, found in a sentence in which mentions are numbered."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, lru_cache

from druthers.language.data import read_data, small_words
from druthers.language.lexicon.concepts import Kind
from druthers.language.lexicon.languages import ENGLISH, languages, small_words_of
from druthers.language.lexicon.words import Mention
from druthers.language.text import Token, sentences
from druthers.types import Strength

_BE = "(?:is|are|was|were|be|being|been|am|s|ist|est|es)"
_FILLER = (
    "(?:the|a|an|my|our|some|any|good|great|nice|decent|excellent|really|very|more|of|to|be|being|having|its|their|your"
    "|that|it|is|too|so|proper|better|best|perfect|high|low|pure|sheer|only|just|overall|general|all|this|having"
    r"|\w+s ')"  # "never mind the critics' rating"
)
# A list has no longer gaps between its members.
_GAP = 5
# A text of nothing but marks must not take forever.
_MOST_MATCHES = 32


class Effect(StrEnum):
    """What a cue does with what it speaks of; data/cues.toml tells what each of them means."""

    DISMISS = "dismiss"
    UNNEEDED = "unneeded"
    DENY = "deny"
    ACCEPT = "accept"
    FIRST = "first"
    SECOND = "2"
    THIRD = "3"
    FOURTH = "4"
    LAST = "last"
    MORE = "more"
    STRONG = "strong"
    FAINT = "faint"
    BONUS = "bonus"
    WISH = "wish"
    HOLD = "hold"
    DROP = "drop"
    CASE = "case"
    ABOVE = "above"
    BELOW = "below"
    INSTEAD = "instead"
    RESET = "reset"
    REVERSE = "reverse"
    ALONE = "alone"


# What the kinds of cues in data/languages do, how much is meant by them, and the same in plain words.
_KINDS: dict[str, tuple[Effect, Strength | None, str]] = {
    "hold": (Effect.HOLD, None, "not given up"),
    "dismiss": (Effect.DISMISS, None, "does not matter"),
    "accept": (Effect.ACCEPT, None, "would be accepted"),
    "first": (Effect.FIRST, Strength.ABOVE_ALL, "comes first"),
    "only": (Effect.FIRST, Strength.ONLY, "nothing else"),
    "second": (Effect.SECOND, None, "comes second"),
    "last": (Effect.LAST, None, "comes last"),
    "bonus": (Effect.BONUS, Strength.FAINT, "a bonus"),
    "faint": (Effect.WISH, Strength.FAINT, "if possible"),
    "strong": (Effect.STRONG, Strength.STRONG, "a must"),
    "above": (Effect.ABOVE, None, "matters more"),
    "below": (Effect.BELOW, None, "matters less"),
    "instead": (Effect.INSTEAD, None, "another instead"),
    "alone": (Effect.ALONE, None, "nothing else"),
}


@dataclass(frozen=True, slots=True)
class Cue:
    """A way to say something about objectives."""

    name: str
    does: Effect
    strength: Strength | None
    why: str
    patterns: tuple[re.Pattern[str], ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A cue found in a sentence: what it says of which group of mentions, and where.

    `before` tells whether the cue stands before the group.
    """

    cue: Cue
    x: int | None
    y: int | None
    before: bool
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Group:
    """Mentions that are said in one breath: "clean, quiet and cheap"."""

    mentions: tuple[Mention, ...]
    linked: bool


@cache
def cues(language: str = ENGLISH) -> tuple[Cue, ...]:
    """Return all cues of a language, compiled."""
    if language in languages():
        filler = "(?:" + "|".join(sorted(small_words_of(language, "beside"))) + ")"
        kinds = read_data("languages", f"{language}.toml")["cues"]
        return tuple(
            Cue(name, *_KINDS[name], tuple(_compile(pattern, filler) for pattern in patterns), (), ())
            for name, patterns in kinds.items()
        )
    return tuple(
        Cue(
            name,
            Effect(cue["does"]),
            Strength(cue["strength"]) if "strength" in cue else None,
            cue["why"],
            tuple(_compile(pattern, _FILLER) for pattern in cue["patterns"]),
            tuple(cue["yes"]),
            tuple(cue["no"]),
        )
        for name, cue in read_data("cues.toml").items()
    )


def _compile(pattern: str, filler: str) -> re.Pattern[str]:
    """Turn a cue's pattern into a regular expression; every repetition is bounded, so matching stays linear."""
    pattern = pattern.replace("{be}", _BE).replace(")*", "){0,6}").replace("~", r"(?: [\w%]+){0,4}")
    pattern = re.sub(r"(?<![\w\\\[])([XY])(?!\w)", lambda m: _slot(m.group(1), filler if m.start() else ""), pattern)
    return re.compile(pattern if pattern[0] in "^[" else r"(?<![\w@])(?:" + pattern + ")")


def _slot(name: str, filler: str) -> str:
    return (f"(?:{filler} ){{0,4}}" if filler else "") + rf"@(?P<{name.lower()}>\d+)\b"


def grouped(tokens: Sequence[Token], mentions: Sequence[Mention], language: str = ENGLISH) -> list[Group]:
    """Put mentions together that are listed side by side."""
    groups: list[Group] = []
    for mention in mentions:
        if groups:
            last = groups[-1].mentions[-1]
            between = [token.text for token in tokens[last.last : mention.first]]
            joined = any(word in small_words_of(language, "join") for word in between)
            light = small_words_of(language, "beside") | small_words_of(language, "join") | {","}
            if light.issuperset(between) and _listed(tokens, last, mention, between, joined, language):
                linked = groups[-1].linked or joined or "," not in between
                groups[-1] = Group((*groups[-1].mentions, mention), linked)
                continue
        groups.append(Group((mention,), False))
    return groups


def _listed(
    tokens: Sequence[Token], last: Mention, mention: Mention, between: Sequence[str], joined: bool, language: str
) -> bool:
    """Tell whether two mentions are members of one list, with nothing but words of a list between them."""
    after = tokens[mention.last].text if mention.last < len(tokens) else ""
    restarts = "," in between and after in small_words_of(language, "starts")
    alike = (last.kind is Kind.NOUN) == (mention.kind is Kind.NOUN)
    begins = (
        last.kind is Kind.GOOD and not alike and after in ("does", "do", "is", "are")
    )  # "quiet and price is no issue"
    return not (restarts or begins) and len(between) <= _GAP and (joined or alike)


def numbered(tokens: Sequence[Token], start: int, end: int, groups: Sequence[Group]) -> str:
    """Return a sentence as one string in which each group of mentions is a number: "i do not care about @0"."""
    words: list[str] = []
    at = start
    for number, group in enumerate(groups):
        words.extend(token.text for token in tokens[at : max(at, group.mentions[0].first)])
        words.append(f"@{number}")
        at = max(at, group.mentions[-1].last)
    words.extend(token.text for token in tokens[at:end])
    return " ".join(words)


@lru_cache(maxsize=1024)
def find_cues(sentence: str, only: Effect | None = None, language: str = ENGLISH) -> tuple[Match, ...]:
    """Return all cues in a numbered sentence, or only those that do one thing."""
    matches = []
    for cue in cues(language):
        for pattern in cue.patterns if only is None or cue.does is only else ():
            slots = pattern.groupindex
            for hit in pattern.finditer(sentence) if slots and "y" not in slots else _overlapping(pattern, sentence):
                x = int(hit["x"]) if "x" in slots else None
                y = int(hit["y"]) if "y" in slots else None
                before = x is not None and hit.end("x") >= hit.end() - 1
                matches.append(Match(cue, x, y, before, hit.group(), hit.start()))
    return tuple(matches)


def _overlapping(pattern: re.Pattern[str], sentence: str) -> list[re.Match[str]]:
    """Return matches that may share their objectives: "a > b > c" holds two."""
    hits: list[re.Match[str]] = []
    at = 0
    while (hit := pattern.search(sentence, at)) is not None and len(hits) < _MOST_MATCHES:
        hits.append(hit)
        at = max(hit.start() + 1, min(hit.start("x"), hit.start("y")) if "y" in pattern.groupindex else hit.end())
    return hits


def spoken_of(tokens: Sequence[Token], mentions: Sequence[Mention], new: Mention) -> bool:
    """Tell whether a cue speaks of a mention beside others."""
    start, end = next(span for span in sentences(tokens) if span[0] <= new.first < span[1])
    inside = [m for m in mentions if start <= m.first < end and (m.last <= new.first or new.last <= m.first)]
    groups = grouped(tokens, sorted([*inside, new], key=lambda m: m.first))
    place = next(n for n, group in enumerate(groups) if new in group.mentions)
    return any(place in (match.x, match.y) for match in find_cues(numbered(tokens, start, end, groups)))


def praised(tokens: Sequence[Token], mention: Mention) -> bool:
    """Tell whether a judgment stands beside a mention: "a nice room", "the room should be big"."""
    near = [*tokens[max(0, mention.first - 2) : mention.first], *tokens[mention.last : mention.last + 4]]
    return any(token.text in small_words("praise") for token in near)
