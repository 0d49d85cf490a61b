"""What goes out, as OpenAPI describes it: an advisor's answers by what their own classes say, and the service's own."""

import inspect
import re
from dataclasses import is_dataclass
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, Field, create_model

from druthers.advisor import answers, asking, showing
from druthers.advisor.answers import told_fields
from druthers.limits import Stated
from druthers.types import Reading


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


class ChoiceMade(BaseModel):
    """What a user picked."""

    picked: str | None = Field(description="The item; null for none of these.")
    offer: list[str] = Field(description="The items that could be picked from.")


_MODELS: dict[Any, Any] = {Reading: ReadingAnswer, Stated: LimitAnswer}


def _described(answer: Any, name: str = "", **plainer: Any) -> Any:
    """Return the model of an answer: its fields that are told, each with what stands beside its type.

    Of what is `plainer` in the class than in the description, the type is told here.
    """
    told: dict[str, Any] = {}
    for field, hint in get_type_hints(answer, include_extras=True).items():
        if field in told_fields(answer):
            kind, *about = (hint.__origin__, *hint.__metadata__) if get_origin(hint) is Annotated else (hint,)
            words = re.sub(r"\bNone\b", "null", about[0]) if about else None
            told[field] = plainer.get(field, _plain(kind)), Field(description=words)
    about_it = (inspect.getdoc(answer) or "").partition("\n")[0]
    _MODELS[answer] = create_model(name or f"{answer.__name__}Answer", __doc__=about_it, **told)
    return _MODELS[answer]


def _plain(hint: Any) -> Any:
    """Return the type that a part of an answer has once it is plain values."""
    parts = tuple(map(_plain, get_args(hint)))
    if get_origin(hint) in (Union, UnionType):
        return Union[parts]  # noqa: UP007 - of parts that are known only now
    if get_origin(hint) is tuple and parts[-1] is ...:
        return list[parts[0]]  # type: ignore[valid-type]
    if hint not in _MODELS and is_dataclass(hint):
        _described(hint)
    return _MODELS.get(hint, hint)


# What is called otherwise than its class comes first: others hold it.
QuestionAnswer = _described(asking.Asked, "QuestionAnswer")
DecisionAnswer = _described(answers.Recommendation, "DecisionAnswer")
FeedbackAnswer = _described(answers.Learned, "FeedbackAnswer")
ChoiceAnswer = _described(answers.Picked, "ChoiceAnswer")
HeardAnswer = _MODELS[answers.Heard]
DecidedAnswer = _described(answers.Decided, choice=ChoiceMade | None)
ShownAnswer = _described(showing.Shown)
RememberedAnswer = _described(showing.Remembered)
ReplyAnswer = _described(answers.Reply)
CardAnswer = _described(answers.Card)


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
