"""What an advisor answers: frozen values that turn into plain ones."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Any

from druthers.advisor.asking import Asked
from druthers.advisor.reasons import Fact, TradeOff
from druthers.limits import Stated
from druthers.types import Reading

# Marks a field that is for the program only.
UNTOLD = {"told": False}
SCALARS = frozenset({type(None), str, float, int, bool})


@cache
def told_fields(answer: Any) -> tuple[str, ...]:
    """Return the names of the fields of an answer that are told to who asked."""
    return tuple(one.name for one in fields(answer) if one.metadata.get("told", True))


def plain(value: Any) -> Any:
    """Return an answer, or a part of one, as plain values."""
    kind: Any = type(value)
    if kind in SCALARS:
        return value
    if kind is tuple:
        return [part if type(part) in SCALARS else plain(part) for part in value]
    if isinstance(value, Reading):
        return value.as_dict()
    if is_dataclass(value):
        parts = [(name, getattr(value, name)) for name in told_fields(kind)]
        return {name: part if type(part) in SCALARS else plain(part) for name, part in parts}
    if isinstance(value, tuple):
        return value._asdict() if isinstance(value, Stated) else list(map(plain, value))
    return dict(value) if isinstance(value, dict) else value


class Answer:
    """What all answers can do."""

    __slots__ = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain values."""
        told: dict[str, Any] = plain(self)
        return told


@dataclass(frozen=True, slots=True)
class Heard(Answer):
    """What was understood of a query.

    Parameters
    ----------
    user
        Who said it.
    ranking
        Names of what matters, most important first; empty where nothing was understood.
    reading
        How a text was read; None for a query that came as a ranking.
    position
        Where the journal has it.
    limits
        What an item must be, by the words of this query.
    dropped
        Names whose limits are taken back.
    not_understood
        Pieces that fit nothing in the catalog.
    hopes
        What would be nice in an item, and need not be, by the words of this query.
    new
        Whether it was not heard before, with the same id.
    """

    user: str
    ranking: tuple[str, ...]
    reading: Reading | None
    position: int
    limits: tuple[Stated, ...] = ()
    dropped: tuple[str, ...] = ()
    not_understood: tuple[str, ...] = ()
    hopes: dict[str, Any] = field(default_factory=dict)
    new: bool = field(default=True, compare=False, metadata=UNTOLD)


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An item of a recommendation, and why it is there.

    Parameters
    ----------
    item
        Its id.
    name
        What it is called.
    score
        What it was ranked by: utility and bonuses.
    utility
        How good it should be for this user.
    reward_bonus
        Optimism for not knowing the item.
    preference_bonus
        Optimism for not knowing the user.
    propensity
        The chance of being here, given the places before; None where it is unknown.
    why
        A sentence, made of the facts.
    facts
        What is true of the item in what was asked for, each with its place among what was on offer.
    trade_off
        What it gives up in the first wish for more of another one; None where it gives up nothing.
    """

    item: str
    name: str
    score: float
    utility: float
    reward_bonus: float
    preference_bonus: float
    propensity: float | None
    why: str
    facts: tuple[Fact, ...] = ()
    trade_off: TradeOff | None = None


@dataclass(frozen=True, slots=True)
class Recommendation(Answer):
    """What was recommended to whom.

    Parameters
    ----------
    id
        What feedback refers to.
    user
        Whom it is for.
    items
        The slate, best first.
    heard
        What was understood of the text that came along, if one did.
    regret
        Estimated utility of the best item offered, by estimate, less that of the first one shown: what is paid for
        exploring.
    question
        What to ask the user, where the answer is worth it.
    new
        Whether it was not made before, with the same id.
    """

    id: str
    user: str
    items: tuple[Suggestion, ...]
    heard: Heard | None = None
    regret: float = field(default=0.0, metadata=UNTOLD)
    question: Asked | None = None
    new: bool = field(default=True, compare=False, metadata=UNTOLD)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was told of an item of a decision, at one time.

    Parameters
    ----------
    item
        Which item.
    at
        When, in seconds since 1970.
    rewards
        Values by objective.
    utility
        How good it was as a whole; None if that was not told.
    """

    item: str
    at: float
    rewards: dict[str, float]
    utility: float | None


@dataclass(frozen=True, slots=True)
class Decided(Answer):
    """A decision as it was made, and what came of it.

    Parameters
    ----------
    id
        What feedback refers to.
    user
        Whom it was for.
    at
        When, in seconds since 1970.
    items
        The slate, best first, with the reasons of then.
    size
        How many items were asked for.
    offer
        Of which items; None for all.
    where
        Limits that came with the request.
    limits
        The limits that held, what the user had said included.
    deferred
        Whether it was made before anybody knew whether it would be shown.
    activated
        Whether a deferred one was shown.
    held
        A reward that waits for the activation.
    feedback
        What was told of its items, in the order of telling.
    choice
        What the user picked, `{"picked": ..., "offer": [...]}`, if that was told; not what was answered to a question.
    context
        What was so about the visit.
    """

    id: str
    user: str
    at: float
    items: tuple[Suggestion, ...]
    size: int
    offer: list[str] | None
    where: dict[str, Any]
    limits: dict[str, Any]
    deferred: bool
    activated: bool
    held: float | None
    feedback: tuple[Outcome, ...]
    choice: dict[str, Any] | None = None
    context: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Weight:
    """What an objective is worth to a user.

    Parameters
    ----------
    objective
        Its name.
    weight
        The estimate: by how much utility rises when this objective goes from its worst to its best.
    low
        Lower end of a 90 % interval; None where the policy does not know its own errors.
    high
        Upper end of it.
    words
        How much of the estimate comes from what the user said; None where the policy cannot tell.
    behavior
        How much comes from what the user felt; the rest is what is believed of anyone.
    """

    objective: str
    weight: float
    low: float | None = None
    high: float | None = None
    words: float | None = None
    behavior: float | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """By how much the weight of an objective moved."""

    objective: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Learned(Answer):
    """What became of feedback.

    Parameters
    ----------
    decision, item
        What it was about.
    new
        Whether anything was new; if not, nothing was learned.
    revised
        Whether a utility told before was taken back for this one.
    weights
        The weights of the user that moved, most first; none where the policy learns no preferences.
    unknown
        Objectives in which nothing is known of the item. A utility is then taken for that of an item as they are on
        average, and counts for less.
    counted
        How much the utility counted beside one of an item of which all is known, 0 to 1; None without a new utility.
    """

    decision: str
    item: str
    new: bool
    revised: bool = False
    weights: tuple[Change, ...] = ()
    unknown: tuple[str, ...] = ()
    counted: float | None = None


@dataclass(frozen=True, slots=True)
class Picked(Answer):
    """What became of a choice.

    Parameters
    ----------
    decision
        After which decision.
    picked
        The item; None for none of these.
    offer
        The items that could be picked from.
    new
        Whether it was told for the first time; if not, nothing was learned.
    weights
        The weights of the user that moved, most first; none where the policy does not learn from choices.
    """

    decision: str
    picked: str | None
    offer: tuple[str, ...]
    new: bool
    weights: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Suspicion:
    """A query that does not fit what else the user said and felt."""

    position: int
    at: float
    text: str | None
    ranking: tuple[str, ...]
    doubt: float


@dataclass(frozen=True, slots=True)
class Card(Answer):
    """What is believed of a user: the preference card.

    Parameters
    ----------
    user
        Whom it is about.
    weights
        One for each objective, the largest first.
    queries, feedbacks
        How much the user said and told.
    trust
        How the user's words are read, as probabilities; None for a policy that takes them at their word.
    suspicious
        Queries that are more likely not the user's own.
    wished
        Objectives that matter by what was said, most important first.
    dismissed
        Objectives that do not matter by what was said.
    limits
        What an item must be, by what was said.
    hopes
        What would be nice in an item, and need not be, by what was said.
    """

    user: str
    weights: tuple[Weight, ...]
    queries: int
    feedbacks: int
    trust: dict[str, float] | None = None
    suspicious: tuple[Suspicion, ...] = ()
    wished: tuple[str, ...] = ()
    dismissed: tuple[str, ...] = ()
    limits: dict[str, Any] = field(default_factory=dict)
    hopes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reply(Answer):
    """An answer to a message.

    Parameters
    ----------
    kind
        What the message was taken for: wish, limit, dismissal, feedback, why, compare ...
    text
        The answer, in sentences.
    items
        Ids of the items the message was about.
    heard
        What was understood of wishes and limits, if it held any.
    recommendation
        What is recommended now, if anything new is.
    """

    kind: str
    text: str
    items: tuple[str, ...] = ()
    heard: Heard | None = None
    recommendation: Recommendation | None = None
