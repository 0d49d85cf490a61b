"""What comes in and what goes out, as OpenAPI describes it; made for the objectives and limits of a service."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, create_model, model_validator

from druthers.catalogs import Catalog
from druthers.errors import InvalidOffer, NothingFits
from druthers.limits import SCHEMA, check_shape
from druthers.service.settings import Settings

ID = r"^[A-Za-z0-9][A-Za-z0-9._:@+~=-]{0,199}$"
Id = Annotated[str, Field(pattern=ID, description="Letters, figures and ._:@+~=- , up to 200 of them.")]
# Strict: neither true nor "3" is a number.
Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]


class Closed(BaseModel):
    """A body that must not hold anything else."""

    model_config = ConfigDict(extra="forbid", strict=False, hide_input_in_errors=False)


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


class MigrationRequest(Closed):
    """Other objectives, from now on."""

    number: Annotated[int, Field(ge=1, le=2**31, strict=True)] = Field(
        description="One more than the catalog's: of two changes at once one is made."
    )
    catalog: dict[str, Any] = Field(description="As a file of it says, without items.")
    renamed: dict[str, str] = Field(
        default_factory=dict, description="Objectives that get other names: those before, and from then on."
    )


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


class Schemas(NamedTuple):
    """The bodies that one service takes."""

    query: type[BaseModel]
    message: type[BaseModel]
    decision: type[BaseModel]
    feedback: type[BaseModel]
    choice: type[BaseModel]
    correction: type[BaseModel]
    item: type[BaseModel]
    item_answer: type[BaseModel]
    items_answer: type[BaseModel]
    queries: type[BaseModel]
    decisions: type[BaseModel]
    feedbacks: type[BaseModel]
    items: type[BaseModel]


def make_schemas(catalog: Catalog, settings: Settings) -> Schemas:
    """Return the bodies for these objectives and limits."""
    names = [objective.name for objective in catalog.objectives]
    names_schema: Any = {"enum": names}
    name: Any = Annotated[str, AfterValidator(_one_of(names)), Field(json_schema_extra=names_schema)]
    ranking: Any = Annotated[
        list[name],
        AfterValidator(_distinct),
        Field(max_length=len(names), json_schema_extra={"uniqueItems": True}, description="Most important first."),
    ]
    text: Any = Annotated[str, Field(max_length=settings.max_text, description="What the user says.")]
    offer: Any = Annotated[
        list[Id],
        AfterValidator(_distinct),
        Field(
            min_length=1,
            max_length=settings.max_offer,
            json_schema_extra={"uniqueItems": True},
            description="The items that may be chosen; all by default.",
        ),
    ]
    size: Any = Annotated[
        int, Field(ge=1, le=settings.max_slate, description="How many items, at most."), BeforeValidator(_number)
    ]
    ranges = {
        objective.name: (Annotated[Finite, Field(ge=objective.low, le=objective.high)], None)
        for objective in catalog.objectives
    }
    values: Any = _named("Values", ranges)
    rewards: Any = _named("Rewards", ranges, least=1)
    utility: Any = Annotated[Finite, Field(ge=-1, le=1, description="How good it was as a whole; 1 is the best.")]

    safe: Any = Annotated[Id | None, Field(description="Makes repeating the request safe.", examples=["visit-1"])]
    query_parts: dict[str, Any] = {"text": (text | None, None), "ranking": (ranking | None, None), "id": (safe, None)}
    query = _model("Query", one_of=("text", "ranking"), **query_parts)
    limits: Any = Annotated[
        dict[str, Any] | None,
        AfterValidator(_limits),
        Field(
            json_schema_extra={
                "anyOf": [{"type": "object", "additionalProperties": SCHEMA, "maxProperties": 50}, {"type": "null"}]
            },
            description="What an item must be, by name of a detail or objective: a value, a list of values,"
            ' {"min": ..., "max": ...} or {"not": ...}. What the user has said holds too.',
            examples=[{"price": {"max": 120}}],
        ),
    ]
    instead: Any = Annotated[
        limits, Field(description="Limits in place of those that were said, which stay otherwise.")
    ]
    weight: Any = Annotated[Finite, Field(ge=0, le=1)]
    weights: Any = _named("Weights", {objective.name: (weight, None) for objective in catalog.objectives}, least=1)
    correction_parts: dict[str, Any] = {
        "ranking": (ranking | None, None),
        "weights": (weights | None, None),
        "dismissed": (Annotated[ranking | None, Field(description="What does not matter.")], None),
        "where": (instead, None),
    }
    floor: Any = _floor(offer, limits)
    decision_parts: dict[str, Any] = {
        "size": (size, 1),
        "offer": (offer | None, None),
        "text": (text | None, None),
        "where": (limits, None),
        "repeats": (
            Annotated[
                bool, Field(strict=True, description="Whether what was shown since the last words may come again.")
            ],
            True,
        ),
        "floors": (
            Annotated[list[floor], Field(max_length=50, description="Shares of slates, together at most 1.")],
            Field(default_factory=list),
        ),
        "id": (safe, None),
    }
    feedback_parts: dict[str, Any] = {
        "item": (Annotated[Id | None, Field(description="Which item; the first by default.")], None),
        "rewards": (rewards | None, None),
        "utility": (utility | None, None),
        "id": (
            Annotated[
                Id | None,
                Field(description="Makes repeating the request safe, whatever came after it.", examples=["booking-1"]),
            ],
            None,
        ),
    }
    numbers = {name: (Annotated[Finite, Field(gt=0)], None) for name in names}
    counts: Any = _named("Counts", numbers)
    item_parts: dict[str, Any] = {
        "name": (Annotated[str, Field(max_length=200)], ""),
        "description": (Annotated[str, Field(max_length=2000)], ""),
        "values": (values, Field(default_factory=values)),
        "details": (Annotated[dict[Text, Detail], Field(max_length=50)], Field(default_factory=dict)),
        "counts": (
            counts,
            Field(default_factory=counts, description="How many ratings a value that is given is the mean of."),
        ),
    }
    item_answer = _model("ItemAnswer", id=(str, ...), **item_parts)
    many = settings.max_batch

    def batch(title: str, **parts: Any) -> Any:
        entry: Any = _model(f"{title}Entry", **parts)
        return _model(title, entries=(Annotated[list[entry], Field(min_length=1, max_length=many)], ...))

    return Schemas(
        query=query,
        message=_model("Message", text=(text, ...)),
        decision=_model("DecisionRequest", **decision_parts),
        feedback=_model("Feedback", some_of=("rewards", "utility"), **feedback_parts),
        choice=_model(
            "Choice",
            picked=(Annotated[Id | None, Field(description="The item that was picked; null for none of these.")], ...),
            offer=(
                Annotated[
                    list[Id] | None,
                    Field(
                        description="The items that could be picked from; those of the decision by default.",
                        min_length=1,
                        max_length=settings.max_slate,
                    ),
                ],
                None,
            ),
        ),
        correction=_model("Correction", one_of=("ranking", "weights"), **correction_parts),
        item=_model("ItemRequest", **item_parts),
        item_answer=item_answer,
        items_answer=create_model("ItemsAnswer", items=(list[item_answer], ...), next=(str | None, None)),  # type: ignore[valid-type]
        queries=batch("Queries", user=(Id, ...), **query_parts),
        decisions=batch("Decisions", user=(Id, ...), **decision_parts),
        feedbacks=batch("Feedbacks", decision=(Id, ...), **feedback_parts),
        items=batch("Items", id=(Id, ...), **item_parts),
    )


Text = Annotated[str, Field(max_length=500, strict=True)]
Fact = Text | Annotated[bool, Field(strict=True)] | Finite
Detail = Fact | Annotated[list[Fact], Field(max_length=50)]


def _limits(where: dict[str, Any] | None) -> dict[str, Any] | None:
    try:
        return where if where is None else check_shape(where)
    except NothingFits:
        return where  # a lawful range that holds nothing
    except InvalidOffer as error:
        raise ValueError(str(error)) from error


def _one_of(names: list[str]) -> Any:
    def check(value: str) -> str:
        if value not in names:
            raise ValueError(f"an objective must be one of {', '.join(names)}")
        return value

    return check


def _number(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("a number must be given as such")
    return value


def _distinct(values: list[str]) -> list[str]:
    if len(set(values)) != len(values):
        raise ValueError("nothing may stand in this list twice")
    return values


def _floor(items: Any, limits: Any) -> Any:
    """Return the promise that some items get their share of slates."""
    where: Any = Annotated[limits, Field(description="Limits that say which items.")]
    return _model(
        "Floor",
        one_of=("items", "where"),
        share=(Annotated[Finite, Field(ge=0, le=1, description="Least chance that one of them is in a slate.")], ...),
        items=(items | None, None),
        where=(where, None),
    )


def _named(title: str, ranges: dict[str, Any], least: int = 0) -> Any:
    """Return a model whose fields are called by any names; what is left out is not told."""
    fields: dict[str, Any] = {
        f"objective_{place}": (Annotated[kind, Field(alias=name)], default)
        for place, (name, (kind, default)) in enumerate(ranges.items())
    }
    return _model(title, least=least, **fields)


def _model(
    title: str, *, one_of: tuple[str, ...] = (), some_of: tuple[str, ...] = (), least: int = 0, **fields: Any
) -> Any:
    """Return a model; of the fields in `one_of` exactly one must be given, of those in `some_of` at least one."""
    extra: dict[str, Any] = {"minProperties": least} if least else {}
    if one_of:
        extra["oneOf"] = [{"required": [part], "properties": {part: {"not": {"type": "null"}}}} for part in one_of]
    if some_of:
        extra["anyOf"] = [{"required": [part], "properties": {part: {"not": {"type": "null"}}}} for part in some_of]

    def check(body: Any) -> Any:
        for parts, law in ((one_of, "exactly one"), (some_of, "at least one")):
            given = sum(getattr(body, part) is not None for part in parts)
            if parts and (given == 0 or (given > 1 and law == "exactly one")):
                raise ValueError(f"{law} of {' and '.join(parts)} must be given, but got {given}")
        if len(body.model_fields_set) < least:
            raise ValueError("at least one value must be given, but got none")
        return body

    base = type("Closed", (Closed,), {"model_config": ConfigDict(extra="forbid", json_schema_extra=extra)})
    validators: Any = {"check": model_validator(mode="after")(check)} if one_of or some_of or least else {}
    return create_model(title, __base__=base, __validators__=validators, **fields)
