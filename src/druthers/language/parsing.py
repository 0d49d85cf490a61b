"""A parser: spot what is mentioned, weigh what is said of it, and give a reading with its reasons."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import ClassVar

from druthers.errors import InvalidSetting
from druthers.language.asides import open_tokens
from druthers.language.clauses import LIMIT, Token, sentences, tokenize
from druthers.language.ordering import Wishes, weigh
from druthers.language.questions import ask_back
from druthers.language.spotting import Mention
from druthers.types import Evidence, Objective, Reading

Spotter = Callable[[Sequence[Token], Sequence[bool]], list[Mention]]
Verdict = Callable[[Sequence[Token], Sequence[bool], list[Mention]], list[Mention]]

# Below this confidence a reading comes with a question.
BAR = 0.5
# Wishes that no list of words knows, so that reading them takes all that a parser has.
WARMING = "somewhere that does not ruin us, where the little one can nap after lunch and nobody sends us away"


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
        What finds mentions.
    name
        The parser's name.
    judge
        What decides which of the mentions stand, and may find more; by default all stand.

    Attributes
    ----------
    asks_others
        Whether reading is mostly waiting for another machine, so that many texts are read at a time.
    """

    asks_others: ClassVar[bool] = False

    def __init__(
        self,
        objectives: Iterable[str | Objective],
        spotters: Sequence[Spotter],
        name: str,
        judge: Verdict | None = None,
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

    def warm_up(self) -> None:
        """Load all that reading needs on this machine, by reading a sentence."""
        self.read(WARMING)

    def read_all(self, texts: Iterable[str]) -> list[Reading]:
        """Return what each text says, in the order of the texts."""
        return [self.read(text) for text in texts]

    def _mentions(self, tokens: Sequence[Token], open_: Sequence[bool]) -> list[Mention]:
        """Find mentions, and let the judge decide about them."""
        mentions = [mention for spot in self._spotters for mention in spot(tokens, open_)]
        if self._judge is not None:
            mentions = self._judge(tokens, open_, mentions)
        return sorted((m for m in mentions if m.kind != "idle"), key=lambda mention: mention.first)

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
            strengths=tuple(wishes.strength(objective, ranking) for objective in ranking),
            leftover=leftover,
            question=question,
            notes=tuple(notes),
        )


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
        sure = min(1.0, mention.worth)
        pieces.append(Evidence(mention.objective, start, end, text[start:end], role, why, sure, claim.strength))
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
