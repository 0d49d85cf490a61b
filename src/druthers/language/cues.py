"""What is said of the mentions: cues from a data file, found in a sentence in which mentions are numbered."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from druthers.language.clauses import Token
from druthers.language.lists import read_data, small_words
from druthers.language.spotting import Mention
from druthers.types import Strength

_BE = "(?:is|are|was|were|be|being|been|am|s|ist|est|es)"
_FILLER = (
    "(?:the|a|an|my|our|some|any|good|great|nice|decent|excellent|really|very|more|of|to|be|being|having|its|their|your"
    "|that|it|is|too|so|proper|better|best|perfect|high|low|pure|sheer|only|just|overall|general|all|this|having)"
)
_PRAISE = small_words("praise")
_LIGHT = small_words("beside")
_JOIN = small_words("join")
_STARTS = small_words("starts")


@dataclass(frozen=True, slots=True)
class Cue:
    """A way to say something about objectives."""

    name: str
    does: str
    strength: Strength | None
    why: str
    patterns: tuple[re.Pattern[str], ...]
    yes: tuple[str, ...]
    no: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Match:
    """A cue found in a sentence: what it says of which group of mentions, and where."""

    cue: str
    does: str
    strength: Strength | None
    why: str
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
def cues() -> tuple[Cue, ...]:
    """Return all cues, compiled."""
    data = read_data("cues.toml")
    return tuple(
        Cue(
            name,
            cue["does"],
            Strength(cue["strength"]) if "strength" in cue else None,
            cue["why"],
            tuple(_compile(p) for p in cue["patterns"]),
            tuple(cue["yes"]),
            tuple(cue["no"]),
        )
        for name, cue in data.items()
    )


def _compile(pattern: str) -> re.Pattern[str]:
    """Turn a cue's pattern into a regular expression; every repetition is bounded, so matching stays linear."""
    pattern = pattern.replace("{be}", _BE).replace(")*", "){0,6}").replace("~", r"(?: [\w%]+){0,4}")
    pattern = re.sub(r"(?<![\w\\\[])([XY])(?!\w)", lambda m: _slot(m.group(1), m.start() > 0), pattern)
    return re.compile(pattern if pattern[0] in "^[" else r"(?<![\w@])(?:" + pattern + ")")


def _slot(name: str, inside: bool) -> str:
    filler = f"(?:{_FILLER} ){{0,4}}" if inside else ""
    return rf"{filler}@(?P<{name.lower()}>\d+)\b"


def grouped(tokens: Sequence[Token], mentions: Sequence[Mention]) -> list[Group]:
    """Put mentions together that are listed side by side."""
    groups: list[Group] = []
    for mention in mentions:
        if groups:
            last = groups[-1].mentions[-1]
            between = [token.text for token in tokens[last.last : mention.first]]
            joins = [word for word in between if word in _JOIN]
            comma = "," in between
            light = all(word in _LIGHT or word in _JOIN or word == "," for word in between)
            alike = (last.kind == "nouns") == (mention.kind == "nouns")
            after = tokens[mention.last].text if mention.last < len(tokens) else ""
            light = light and not (comma and after in _STARTS)
            if light and len(between) <= 5 and (joins or alike):
                groups[-1] = Group((*groups[-1].mentions, mention), groups[-1].linked or bool(joins) or not comma)
                continue
        groups.append(Group((mention,), False))
    return groups


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


def found(sentence: str, only: str | None = None) -> list[Match]:
    """Return all cues in a numbered sentence, or only those that do one thing."""
    matches = []
    for cue in cues() if only is None else [cue for cue in cues() if cue.does == only]:
        for pattern in cue.patterns:
            slots = pattern.groupindex
            for hit in pattern.finditer(sentence) if slots and "y" not in slots else _overlapping(pattern, sentence):
                x = int(hit["x"]) if "x" in slots else None
                y = int(hit["y"]) if "y" in slots else None
                before = x is not None and hit.end("x") >= hit.end() - 1
                matches.append(Match(cue.name, cue.does, cue.strength, cue.why, x, y, before, hit.group(), hit.start()))
    return matches


def _overlapping(pattern: re.Pattern[str], sentence: str) -> list[re.Match[str]]:
    """Return matches that may share their objectives: "a > b > c" holds two."""
    hits: list[re.Match[str]] = []
    at = 0
    while (hit := pattern.search(sentence, at)) is not None and len(hits) < 32:
        hits.append(hit)
        at = max(hit.start() + 1, min(hit.start("x"), hit.start("y")) if "y" in pattern.groupindex else hit.end())
    return hits


def praised(tokens: Sequence[Token], mention: Mention) -> bool:
    """Tell whether a judgment stands beside a mention: "a nice room", "the room should be big"."""
    near = [*tokens[max(0, mention.first - 2) : mention.first], *tokens[mention.last : mention.last + 4]]
    return any(token.text in _PRAISE for token in near)
