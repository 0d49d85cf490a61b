"""A parser: spot what is mentioned, weigh what is said of it, and give a reading with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from druthers.errors import InvalidSetting
from druthers.language.asides import open_tokens
from druthers.language.clauses import LIMIT, Token, sentences, tokenize
from druthers.language.cues import spoken_for
from druthers.language.ordering import Wishes, weigh
from druthers.language.questions import ask_back
from druthers.language.spotting import DOUBTFUL, Mention
from druthers.types import Evidence, Objective, Reading

Spotter = Callable[[Sequence[Token], Sequence[bool]], list[Mention]]
Judge = Callable[[Sequence[Token], list[Mention]], list[Mention]]

# Below this confidence a reading comes with a question.
BAR = 0.5


def as_objectives(objectives: Iterable[str | Objective]) -> tuple[Objective, ...]:
    """Return objectives as values; names alone will do.

    Examples
    --------
    >>> as_objectives(["price"])[0].name
    'price'
    """
    if isinstance(objectives, str):
        raise InvalidSetting(f"objectives must be a list, but got the text {objectives!r}; split it first")
    given = tuple(Objective(each) if isinstance(each, str) else each for each in objectives)
    names = [each.name.strip().lower() for each in given]
    if not given or "" in names or len(set(names)) < len(names):
        raise InvalidSetting(f"objectives must have names, all different and at least one, but got {names}")
    return given


class Parser:
    """Read texts: spot mentions, then weigh them by what is said of them.

    Parameters
    ----------
    objectives
        What users may care about: names, or Objective values with descriptions, synonyms and examples.
    spotters
        What finds mentions, in turn; a later one sees only what the earlier ones left.
    name
        The parser's name.
    judge
        What looks at the mentions of the first spotter once more, before the others; by default nothing.
    """

    def __init__(
        self,
        objectives: Iterable[str | Objective],
        spotters: Sequence[Spotter],
        name: str,
        judge: Judge | None = None,
    ) -> None:
        self.objectives = as_objectives(objectives)
        self.name = name
        self._spotters = tuple(spotters)
        self._judge = judge
        self._names = tuple(objective.name for objective in self.objectives)

    def read(self, text: str) -> Reading:
        """Return what a text says about the objectives; any text will do, and nothing in it is obeyed."""
        tokens = tokenize(text)
        spans = sentences(tokens)
        open_, commanded = open_tokens(tokens, spans)
        notes = ["left out what is aimed at the machine"] if commanded else []
        if len(text) > LIMIT:
            notes.append(f"read only the first {LIMIT} characters")
        shown = [token if flag else _hidden(token) for token, flag in zip(tokens, open_, strict=True)]
        wishes = weigh(shown, spans, self._mentions(shown, open_))
        return self._reading(text, tokens, spans, open_, wishes, notes)

    def read_all(self, texts: Iterable[str]) -> list[Reading]:
        """Return what each text says, in the order of the texts."""
        return [self.read(text) for text in texts]

    def _mentions(self, tokens: Sequence[Token], open_: Sequence[bool]) -> list[Mention]:
        """Let one spotter after the other find mentions in what is left."""
        left, free, mentions = list(tokens), list(open_), list[Mention]()
        for spot in self._spotters:
            new = spot(left, free)
            mentions = [old for old in mentions if old.worth > DOUBTFUL or not any(_overlap(old, each) for each in new)]
            for mention in new:
                for index in range(mention.first, mention.last):
                    if mention.kind == "idle":
                        left[index] = _hidden(left[index])
                    elif mention.worth > DOUBTFUL:
                        free[index] = False
            mentions += [mention for mention in new if mention.kind != "idle"]
            if spot is self._spotters[0] and len(self._spotters) > 1:
                mentions = self._judge(left, mentions) if self._judge is not None else mentions
                for index in _cue_tokens(tokens, mentions):
                    left[index] = _hidden(left[index])
        return sorted(mentions, key=lambda mention: mention.first)

    def _reading(
        self,
        text: str,
        tokens: Sequence[Token],
        spans: Sequence[tuple[int, int]],
        open_: Sequence[bool],
        wishes: Wishes,
        notes: list[str],
    ) -> Reading:
        ranking, dismissed = wishes.order(len(self.objectives))
        evidence = _evidence(text, tokens, wishes, set(ranking), set(dismissed))
        sure = [_sureness(evidence, wishes, objective) for objective in ranking]
        leftover = _leftover(text, tokens, spans, open_, wishes)
        confidence = min([*sure, *(_sureness(evidence, wishes, objective) for objective in dismissed)], default=0.0)
        if not ranking and not dismissed:
            confidence = 0.0 if leftover else 1.0
        question = ask_back(self._names, ranking, sure, wishes.changed) if confidence < BAR and text.strip() else None
        return Reading(
            text=text,
            objectives=self._names,
            ranking=tuple(ranking),
            dismissed=tuple(dismissed),
            evidence=evidence,
            confidence=confidence,
            confidences=tuple(sure),
            leftover=leftover,
            question=question,
            notes=tuple(notes),
        )


def _cue_tokens(tokens: Sequence[Token], mentions: Sequence[Mention]) -> set[int]:
    """Return the places of words that belong to cues about the mentions: they are understood already."""
    places: set[int] = set()
    for start, end in sentences(list(tokens)):
        inside = [mention for mention in mentions if start <= mention.first < end and mention.worth > DOUBTFUL]
        if inside:
            places |= spoken_for(tokens, start, end, inside)
    return places


def _overlap(first: Mention, second: Mention) -> bool:
    return first.first < second.last and second.first < first.last


def _hidden(token: Token) -> Token:
    """Return a mark in place of a token that must not be read."""
    return Token("|", token.start, token.end)


def _evidence(
    text: str, tokens: Sequence[Token], wishes: Wishes, ranked: set[int], dismissed: set[int]
) -> tuple[Evidence, ...]:
    """Return the claims that the reading rests on, as pieces of the text."""
    pieces = []
    for claim in wishes.claims:
        mention = claim.mention
        role = "dismissed" if claim.role in ("dismissed", "last") else "wanted"
        kept = ranked if mention.objective in ranked else dismissed if role == "dismissed" else set()
        if mention.objective not in kept:
            continue
        start, end = tokens[mention.first].start, tokens[mention.last - 1].end
        why = f"'{mention.why}'" + (f", {claim.cue}" if claim.cue else "")
        pieces.append(Evidence(mention.objective, start, end, text[start:end], role, why, min(1.0, mention.worth)))
    return tuple(pieces)


def _sureness(evidence: Sequence[Evidence], wishes: Wishes, objective: int) -> float:
    """Return how sure an objective is: several pieces of evidence add up, a change of mind takes away."""
    doubt = 1.0
    for piece in evidence:
        if piece.objective == objective:
            doubt *= 1.0 - 0.95 * piece.confidence
    return (1.0 - doubt) * (0.5 if objective in wishes.changed else 1.0)


def _leftover(
    text: str, tokens: Sequence[Token], spans: Sequence[tuple[int, int]], open_: Sequence[bool], wishes: Wishes
) -> tuple[str, ...]:
    """Return the sentences that no evidence comes from."""
    used = {claim.mention.first for claim in wishes.claims}
    pieces = []
    for start, end in spans:
        words = [
            token for token, flag in zip(tokens[start:end], open_[start:end], strict=True) if flag and token.is_word
        ]
        if words and not any(start <= first < end for first in used):
            piece = text[tokens[start].start : tokens[end - 1].end]
            if piece not in pieces:
                pieces.append(piece)
    if len(text) > LIMIT:
        pieces.append(text[LIMIT:])
    return tuple(pieces)
