"""What an advisor answers: frozen values that turn into plain ones.

What a field is stands beside its type, where the description of the service finds it.
"""

from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from typing import Annotated, Any

from druthers.advisor.asking import Asked
from druthers.advisor.reasons import Fact, TradeOff
from druthers.limits import Stated
from druthers.types import Reading

# Marks a field that is for the program only.
UNTOLD = {"told": False}
SCALARS = frozenset({type(None), str, float, int, bool})


@cache
def told_fields(answer: Any) -> tuple[str, ...]:
    """Return the names of the fields of an answer that are told to who asked; none of what is no answer."""
    told = fields(answer) if is_dataclass(answer) else ()
    return tuple(one.name for one in told if one.metadata.get("told", True))


def plain(value: Any) -> Any:
    """Return an answer, or a part of one, as plain values."""
    kind: Any = type(value)
    if kind in SCALARS:
        return value
    if kind is tuple:
        return [part if type(part) in SCALARS else plain(part) for part in value]
    if kind is Reading:
        return value.as_dict()
    if kind is Stated:
        return value._asdict()
    if names := told_fields(kind):
        return {name: part if type(part := getattr(value, name)) in SCALARS else plain(part) for name in names}
    if isinstance(value, tuple):
        return list(map(plain, value))
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
    """What was understood of a query."""

    user: Annotated[str, "Who said it."]
    ranking: Annotated[
        tuple[str, ...], "Names of what matters, most important first; empty where nothing was understood."
    ]
    reading: Annotated[Reading | None, "How a text was read; None for a query that came as a ranking."]
    position: Annotated[int, "Where the journal has it."]
    limits: Annotated[tuple[Stated, ...], "What an item must be, by the words of this query."] = ()
    dropped: Annotated[tuple[str, ...], "Names whose limits are taken back."] = ()
    not_understood: Annotated[tuple[str, ...], "Pieces that fit nothing in the catalog."] = ()
    hopes: Annotated[dict[str, Any], "What would be nice in an item, and need not be, by the words of this query."] = (
        field(default_factory=dict)
    )
    new: bool = field(default=True, compare=False, metadata=UNTOLD)  # whether it was not heard before, with the same id

    @property
    def understood(self) -> bool:
        """Whether anything was: a wish, what does not matter, a limit or a hope, or that one is taken back."""
        set_aside = () if self.reading is None else self.reading.dismissed
        return any((self.ranking, set_aside, self.limits, self.hopes, self.dropped))


@dataclass(frozen=True, slots=True)
class Suggestion:
    """An item of a recommendation, and why it is there."""

    item: Annotated[str, "Its id."]
    name: Annotated[str, "What it is called."]
    score: Annotated[float, "What it was ranked by: utility and bonuses."]
    utility: Annotated[float, "How good it should be for this user."]
    reward_bonus: Annotated[float, "Optimism for not knowing the item."]
    preference_bonus: Annotated[float, "Optimism for not knowing the user."]
    propensity: Annotated[float | None, "The chance of being here, given the places before; None where it is unknown."]
    why: Annotated[str, "A sentence, made of the facts."]
    facts: Annotated[
        tuple[Fact, ...], "What is true of the item in what was asked for, each with its place among what was on offer."
    ] = ()
    trade_off: Annotated[
        TradeOff | None, "What it gives up in the first wish for more of another one; None where it gives up nothing."
    ] = None


@dataclass(frozen=True, slots=True)
class Recommendation(Answer):
    """What was recommended to whom."""

    id: Annotated[str, "What feedback refers to."]
    user: Annotated[str, "Whom it is for."]
    items: Annotated[tuple[Suggestion, ...], "The slate, best first."]
    heard: Annotated[Heard | None, "What was understood of the text that came along, if one did."] = None
    # What is paid for exploring: the most that any item offered is estimated to be worth, less that of the first one.
    regret: float = field(default=0.0, metadata=UNTOLD)
    question: Annotated[Asked | None, "What to ask the user, where the answer is worth it."] = None
    new: bool = field(default=True, compare=False, metadata=UNTOLD)  # whether it was not made before, with the same id


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was told of an item of a decision, at one time."""

    item: Annotated[str, "Which item."]
    at: Annotated[float, "When, in seconds since 1970."]
    rewards: Annotated[dict[str, float], "Values by objective."]
    utility: Annotated[float | None, "How good it was as a whole; None if that was not told."]


@dataclass(frozen=True, slots=True)
class Decided(Answer):
    """A decision as it was made, and what came of it."""

    id: Annotated[str, "What feedback refers to."]
    user: Annotated[str, "Whom it was for."]
    at: Annotated[float, "When, in seconds since 1970."]
    items: Annotated[tuple[Suggestion, ...], "The slate, best first, with the reasons of then."]
    size: Annotated[int, "How many items were asked for."]
    offer: Annotated[list[str] | None, "Of which items; None for all."]
    where: Annotated[dict[str, Any], "Limits that came with the request."]
    limits: Annotated[dict[str, Any], "The limits that held, what the user had said included."]
    deferred: Annotated[bool, "Whether it was made before anybody knew whether it would be shown."]
    activated: Annotated[bool, "Whether a deferred one was shown."]
    held: Annotated[float | None, "A reward that waits for the activation."]
    feedback: Annotated[tuple[Outcome, ...], "What was told of its items, in the order of telling."]
    choice: Annotated[
        dict[str, Any] | None,
        'What the user picked, `{"picked": ..., "offer": [...]}`, if that was told; not what was answered to a'
        " question.",
    ] = None
    context: Annotated[dict[str, Any], "What was so about the visit."] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Weight:
    """What an objective is worth to a user."""

    objective: Annotated[str, "Its name."]
    weight: Annotated[
        float, "The estimate: by how much utility rises when this objective goes from its worst to its best."
    ]
    low: Annotated[
        float | None, "Lower end of a 90 % interval; None where the policy does not know its own errors."
    ] = None
    high: Annotated[float | None, "Upper end of it."] = None
    words: Annotated[
        float | None, "How much of the estimate comes from what the user said; None where the policy cannot tell."
    ] = None
    behavior: Annotated[
        float | None, "How much comes from what the user felt; the rest is what is believed of anyone."
    ] = None


@dataclass(frozen=True, slots=True)
class Change:
    """By how much the weight of an objective moved."""

    objective: str
    before: float
    after: float


@dataclass(frozen=True, slots=True)
class Learned(Answer):
    """What became of feedback."""

    decision: Annotated[str, "What it was about."]
    item: Annotated[str, "What it was about."]
    new: Annotated[bool, "Whether anything was new; if not, nothing was learned."]
    revised: Annotated[bool, "Whether a utility told before was taken back for this one."] = False
    weights: Annotated[
        tuple[Change, ...],
        "The weights of the user that moved, most first; none where the policy learns no preferences.",
    ] = ()
    unknown: Annotated[
        tuple[str, ...],
        "Objectives in which nothing is known of the item. A utility is then taken for that of an item as they"
        " are on average, and counts for less.",
    ] = ()
    counted: Annotated[
        float | None,
        "How much the utility counted beside one of an item of which all is known, 0 to 1; None without a new utility.",
    ] = None


@dataclass(frozen=True, slots=True)
class Picked(Answer):
    """What became of a choice."""

    decision: Annotated[str, "After which decision."]
    picked: Annotated[str | None, "The item; None for none of these."]
    offer: Annotated[tuple[str, ...], "The items that could be picked from."]
    new: Annotated[bool, "Whether it was told for the first time; if not, nothing was learned."]
    weights: Annotated[
        tuple[Change, ...],
        "The weights of the user that moved, most first; none where the policy does not learn from choices.",
    ] = ()


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
    """What is believed of a user: the preference card."""

    user: Annotated[str, "Whom it is about."]
    weights: Annotated[tuple[Weight, ...], "One for each objective, the largest first."]
    queries: Annotated[int, "How much the user said and told."]
    feedbacks: Annotated[int, "How much the user said and told."]
    trust: Annotated[
        dict[str, float] | None,
        "How the user's words are read, as probabilities; None for a policy that takes them at their word.",
    ] = None
    suspicious: Annotated[tuple[Suspicion, ...], "Queries that are more likely not the user's own."] = ()
    wished: Annotated[tuple[str, ...], "Objectives that matter by what was said, most important first."] = ()
    guessed: Annotated[tuple[str, ...], "Those of them that were taken to matter without a word that names them."] = ()
    dismissed: Annotated[tuple[str, ...], "Objectives that do not matter by what was said."] = ()
    limits: Annotated[dict[str, Any], "What an item must be, by what was said."] = field(default_factory=dict)
    hopes: Annotated[dict[str, Any], "What would be nice in an item, and need not be, by what was said."] = field(
        default_factory=dict
    )


@dataclass(frozen=True, slots=True)
class Reply(Answer):
    """An answer to a message."""

    kind: Annotated[str, "What the message was taken for: wish, limit, dismissal, feedback, why, compare ..."]
    text: Annotated[str, "The answer, in sentences."]
    items: Annotated[tuple[str, ...], "Ids of the items the message was about."] = ()
    heard: Annotated[Heard | None, "What was understood of wishes and limits, if it held any."] = None
    recommendation: Annotated[Recommendation | None, "What is recommended now, if anything new is."] = None
    new: bool = field(default=True, compare=False, metadata=UNTOLD)  # whether it was not given before, to the same id
