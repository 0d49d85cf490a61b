"""What goes out, as OpenAPI describes it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field


class EvidenceAnswer(BaseModel):
    """A piece of text, and how it was understood."""

    objective: str
    role: str
    start: int
    end: int
    text: str
    why: str
    confidence: float
    strength: str


class ReadingAnswer(BaseModel):
    """How a text was read."""

    text: str
    ranking: list[str]
    dismissed: list[str]
    confidence: float
    confidences: list[float]
    strengths: list[str] = Field(description="How much each place is meant: only, above all, strong, plain or faint.")
    evidence: list[EvidenceAnswer]
    leftover: list[str]
    question: str | None = Field(description="What to ask back where the text was not clear.")
    notes: list[str]


class LimitAnswer(BaseModel):
    """A limit, and the words behind it."""

    name: str
    limit: Any = Field(description="A value, a list of values, min and max, or not with values.")
    text: str
    start: int
    end: int


class HeardAnswer(BaseModel):
    """What was understood of a query."""

    user: str
    ranking: list[str] = Field(description="What matters, most important first; empty if nothing was understood.")
    reading: ReadingAnswer | None
    position: int = Field(description="Where the journal has it.")
    limits: list[LimitAnswer] = Field(description="What an item must be, by the words of this query.")
    dropped: list[str] = Field(description="Names whose limits are taken back.")
    not_understood: list[str] = Field(description="Pieces of the text that fit nothing in the catalog.")


class FactAnswer(BaseModel):
    """What is true of an item in one objective, among what was on offer."""

    objective: str
    role: str = Field(description="Why it is spoken of: wished, learned from ratings, or a strength.")
    value: float | None = Field(description="In the objective's own unit; null where nobody knows it.")
    place: int | None = Field(description="1 is the best; equal ones share the better place.")
    of: int | None = Field(description="Among how many that are known.")
    better_than: float | None = Field(description="The share of the others that are worse, equal ones counting half.")
    expected: float | None = Field(description="Where nobody knows the value: what to expect by what else is known.")
    deviation: float | None = Field(description="One standard deviation of what is expected.")
    columns: list[str] = Field(description="The details that this comes from most.")
    alike: int | None = Field(description="How many items of which the value is known are like it in these details.")


class TradeOffAnswer(BaseModel):
    """What an item gives up against the best one in the first wish, and what it has more of."""

    rival: str
    loses: tuple[str, float] = Field(description="Objective and by how much, in its own unit.")
    gains: tuple[str, float]


class SuggestionAnswer(BaseModel):
    """A recommended item, and why."""

    item: str
    name: str
    score: float = Field(description="What it was ranked by: utility and both bonuses.")
    utility: float = Field(description="How good it should be for this user.")
    reward_bonus: float = Field(description="Optimism for not knowing the item.")
    preference_bonus: float = Field(description="Optimism for not knowing the user.")
    propensity: float | None = Field(description="The chance of being here, given the places before.")
    why: str = Field(description="The facts as a sentence.")
    facts: list[FactAnswer]
    trade_off: TradeOffAnswer | None


class QuestionAnswer(BaseModel):
    """A question to a user whose answer is worth more than it costs."""

    kind: str = Field(description="ranking, answered by a query, or choice, answered by a choice with this offer.")
    text: str
    choices: list[str] = Field(description="Names of objectives, or ids of items.")
    names: list[str] = Field(description="What people call them.")
    value: float = Field(description="By how much the next recommendation should be better for the answer, in utility.")


class DecisionAnswer(BaseModel):
    """A recommendation."""

    id: str = Field(description="What feedback refers to.")
    user: str
    items: list[SuggestionAnswer]
    heard: HeardAnswer | None
    question: QuestionAnswer | None = Field(description="What to ask the user, where the answer is worth it.")


class OutcomeAnswer(BaseModel):
    """What was told of an item, at one time."""

    item: str
    at: float = Field(description="When, in seconds since 1970.")
    rewards: dict[str, float] = Field(description="Values by objective.")
    utility: float | None


class ChoiceMade(BaseModel):
    """What a user picked."""

    picked: str | None = Field(description="The item; null for none of these.")
    offer: list[str] = Field(description="The items that could be picked from.")


class DecidedAnswer(BaseModel):
    """A decision as it was made, and what came of it."""

    id: str
    user: str
    at: float = Field(description="When, in seconds since 1970.")
    items: list[SuggestionAnswer] = Field(description="The slate, best first, with the reasons of then.")
    size: int
    offer: list[str] | None = Field(description="Of which items it was chosen; null for all.")
    where: dict[str, Any] = Field(description="Limits that came with the request.")
    limits: dict[str, Any] = Field(description="Limits that held, what the user had said included.")
    deferred: bool
    activated: bool = Field(description="Whether a deferred decision was shown.")
    held: float | None = Field(description="A reward that waits for the activation.")
    feedback: list[OutcomeAnswer] = Field(description="In the order of telling.")
    choice: ChoiceMade | None = Field(description="What the user picked, if that was told.")
    context: dict[str, Any] = Field(description="What was so about the visit.")


class ShownAnswer(BaseModel):
    """An item of a decision, among all that was on offer."""

    item: dict[str, Any] = Field(description="All that is known of it.")
    facts: list[FactAnswer] = Field(description="Its value and place in every objective.")
    explored: bool = Field(description="Whether chance put it there, to learn from.")
    rewards: dict[str, float] = Field(description="Values that were told of it in this decision.")
    utility: float | None


class RememberedAnswer(BaseModel):
    """Something that a user said, corrected or felt."""

    position: int
    at: float = Field(description="When, in seconds since 1970.")
    kind: str = Field(
        description="said, corrected, felt, or picked out of a slate, no item standing for none of these."
    )
    counts: bool = Field(description="Whether it still does: what was taken back or told anew does not.")
    text: str | None
    ranking: list[str]
    dismissed: list[str]
    limits: dict[str, Any] | None
    dropped: list[str]
    item: str | None
    name: str | None
    rewards: dict[str, float] | None
    utility: float | None


class ChangeAnswer(BaseModel):
    """By how much the weight of an objective moved."""

    objective: str
    before: float
    after: float


class FeedbackAnswer(BaseModel):
    """What became of feedback."""

    decision: str
    item: str
    new: bool = Field(description="False if all of it was told before.")
    revised: bool = Field(description="True if a utility told before was taken back for this one.")
    weights: list[ChangeAnswer] = Field(description="Weights of the user that moved, most first.")
    unknown: list[str] = Field(description="Objectives in which nothing is known of the item.")
    counted: float | None = Field(
        description="How much the utility counted beside one of an item of which all is known."
    )


class ChoiceAnswer(ChoiceMade):
    """What became of a choice."""

    decision: str
    new: bool = Field(description="False if it was told before.")
    weights: list[ChangeAnswer] = Field(description="Weights of the user that moved, most first.")


class ReplyAnswer(BaseModel):
    """An answer to a message."""

    kind: str = Field(description="What the message was taken for: wish, limit, dismissal, feedback, why, compare ...")
    text: str = Field(description="What was understood and done, or the answer to a question.")
    items: list[str] = Field(description="The items that the message was about.")
    heard: HeardAnswer | None
    recommendation: DecisionAnswer | None


class WeightAnswer(BaseModel):
    """What an objective is worth to a user."""

    objective: str
    weight: float
    low: float | None = Field(description="Lower end of a 90 % interval.")
    high: float | None
    words: float | None = Field(description="Share of the estimate that comes from what the user said.")
    behavior: float | None = Field(description="Share that comes from what the user felt.")


class SuspicionAnswer(BaseModel):
    """A query that is more likely not the user's own."""

    position: int
    at: float
    text: str | None
    ranking: list[str]
    doubt: float


class CardAnswer(BaseModel):
    """What is believed of a user."""

    user: str
    weights: list[WeightAnswer]
    queries: int
    feedbacks: int
    trust: dict[str, float] | None
    suspicious: list[SuspicionAnswer]
    wished: list[str] = Field(description="What matters by what was said, most important first.")
    dismissed: list[str] = Field(description="What does not matter by what was said.")
    limits: dict[str, Any] = Field(description="What an item must be by what was said.")


class EventAnswer(BaseModel):
    """Something that happened."""

    position: int
    kind: str
    at: float
    user: str | None
    about: str | None
    body: dict[str, Any]


class EventsAnswer(BaseModel):
    """A page of the journal."""

    events: list[EventAnswer]
    next: int | None = Field(description="Ask for events after this position; null at the end.")


class PartAnswer(BaseModel):
    """By how much a detail of items moves an objective."""

    column: str = Field(description="The detail, and the entry that it has or not.")
    change: float = Field(
        description="Of the scale from bad, 0, to good, 1: by a standard deviation more, or by having the entry."
    )


class ObjectiveAnswer(BaseModel):
    """Something that matters."""

    name: str
    description: str
    low: float
    high: float
    less_is_better: bool
    bad: float = Field(description="A value as bad as items come.")
    fair: float = Field(description="A value as items are on average.")
    good: float = Field(description="A value as good as items come.")
    columns: list[PartAnswer] = Field(
        description="What the details of items came to tell about it, the most first; empty if nothing."
    )


class CatalogAnswer(BaseModel):
    """The catalog without its items."""

    number: int = Field(description="How often its objectives changed.")
    catalog: dict[str, Any] = Field(description="As a file of it says: name, description and objectives.")
    columns: list[dict[str, Any]] = Field(
        description="What limits can be on: a `name` with `low` and `high` of numbers, or with the `values` there are."
    )
    limits: dict[str, int] = Field(description="Most entries in a batch, and bytes in a body.")


class MigrationAnswer(BaseModel):
    """A change of objectives that was made."""

    number: int
    position: int = Field(description="Where the journal has it.")


class BatchEntry(BaseModel):
    """What became of one entry of a batch: an answer, or a problem."""

    status: int
    answer: dict[str, Any] | None = None
    problem: str | None = None


class BatchAnswer(BaseModel):
    """What became of each entry, in their order."""

    results: list[BatchEntry]
