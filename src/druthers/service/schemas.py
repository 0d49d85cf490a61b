"""What comes in, as OpenAPI describes it; made for the objectives and limits of a service."""

from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    create_model,
    model_validator,
)

from druthers.catalogs import Catalog
from druthers.errors import InvalidOffer, NothingFits
from druthers.limits import SCHEMA, check_shape
from druthers.policies.contexts import LONGEST_NAME, MOST_ENTRIES
from druthers.service.settings import Settings

ID = r"^[A-Za-z0-9][A-Za-z0-9._:@+~=-]{0,199}$"
Id = Annotated[str, Field(pattern=ID, description="Letters, figures and ._:@+~=- , up to 200 of them.")]
# Strict: neither true nor "3" is a number.
Finite = Annotated[float, Field(allow_inf_nan=False, strict=True)]

ContextName = Annotated[str, Field(min_length=1, max_length=LONGEST_NAME)]
ContextValue = (
    Annotated[bool, Field(strict=True)]
    | Annotated[Finite, Field(ge=-1, le=1)]
    | Annotated[ContextName, Field(strict=True)]
)


class Closed(BaseModel):
    """A body that must not hold anything else."""

    model_config = ConfigDict(extra="forbid", strict=False, hide_input_in_errors=False)


class MigrationRequest(Closed):
    """Other objectives, from now on."""

    number: Annotated[int, Field(ge=1, le=2**31, strict=True)] = Field(
        description="One more than the catalog's: of two changes at once one is made."
    )
    catalog: dict[str, Any] = Field(description="As a file of it says, without items.")
    renamed: dict[str, str] = Field(
        default_factory=dict, description="Objectives that get other names: those before, and from then on."
    )


class Malformed(NamedTuple):
    """An entry of a batch that is not as described: it is answered with its mistakes, and the others are done."""

    mistakes: list[Any]


def _or_malformed(entry: Any, check: ValidatorFunctionWrapHandler) -> Any:
    try:
        return check(entry)
    except ValidationError as error:
        return Malformed(error.errors(include_url=False))


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


LIMITS: Any = Annotated[
    dict[str, Any] | None,
    AfterValidator(_limits),
    Field(
        json_schema_extra={
            "anyOf": [{"type": "object", "additionalProperties": SCHEMA, "maxProperties": 50}, {"type": "null"}]
        },
        description="What an item must be, by name of a detail or objective: a value, a list of values,"
        ' {"min": ..., "max": ...} with numbers, days (2026-07-06) or hours (17:30), or {"any": ...,'
        ' "all": ..., "not": ...}.'
        " What the user has said holds too.",
        examples=[{"price": {"max": 120}}],
    ),
]


class Schemas:
    """The bodies that one service takes, made for its objectives and limits."""

    def __init__(self, catalog: Catalog, settings: Settings) -> None:
        self._settings = settings
        self._names = [objective.name for objective in catalog.objectives]
        name: Any = Annotated[str, AfterValidator(_one_of(self._names)), Field(json_schema_extra={"enum": self._names})]  # type: ignore[dict-item]
        self._ranking = _distinct(name, "Most important first.", max_length=len(self._names))
        most = settings.max_offer
        self._offer = _distinct(Id, "The items that may be chosen; all by default.", min_length=1, max_length=most)
        self._text: Any = Annotated[str, Field(max_length=settings.max_text, description="What the user says.")]
        safe = Field(description="Makes repeating the request safe.", examples=["visit-1"])
        self._safe: Any = Annotated[Id | None, safe]
        ranges = {
            objective.name: (Annotated[Finite, Field(ge=objective.low, le=objective.high)], None)
            for objective in catalog.objectives
        }
        query: dict[str, Any] = {
            "text": (self._text | None, None),
            "ranking": (self._ranking | None, None),
            "id": (self._safe, None),
        }
        item, decision = self._item_parts(ranges), self._decision_parts()
        feedback = _feedback_parts(_named("Rewards", ranges, least=1))
        self.query = _model("Query", one_of=("text", "ranking"), **query)
        self.message = _model("Message", text=(self._text, ...), id=(self._safe, None))
        self.decision = _model("DecisionRequest", **decision)
        self.feedback = _model("Feedback", some_of=("rewards", "utility"), **feedback)
        self.choice = self._choice()
        self.correction = self._correction()
        self.item = _model("ItemRequest", **item)
        answer = self.item_answer = _model("ItemAnswer", id=(str, ...), **item)
        self.items_answer = create_model("ItemsAnswer", items=(list[answer], ...), next=(str | None, None))  # type: ignore[valid-type]
        self.queries = self._batch("Queries", user=(Id, ...), **query)
        self.decisions = self._batch("Decisions", user=(Id, ...), **decision)
        self.feedbacks = self._batch("Feedbacks", decision=(Id, ...), **feedback)
        self.items = self._batch("Items", id=(Id, ...), **item)

    def _batch(self, title: str, **parts: Any) -> Any:
        entry: Any = Annotated[_model(f"{title}Entry", **parts), WrapValidator(_or_malformed)]
        entries: Any = Annotated[list[entry], Field(min_length=1, max_length=self._settings.max_batch)]
        return _model(title, entries=(entries, ...))

    def _correction(self) -> Any:
        share: Any = Annotated[Finite, Field(ge=0, le=1)]
        weights: Any = _named("Weights", dict.fromkeys(self._names, (share, None)), positive=True)
        instead = "Limits in place of those that were said, which stay otherwise."
        return _model(
            "Correction",
            one_of=("ranking", "weights"),
            ranking=(self._ranking | None, None),
            weights=(weights | None, None),
            dismissed=(Annotated[self._ranking | None, Field(description="What does not matter.")], None),
            where=(Annotated[LIMITS, Field(description=instead)], None),
            hopes=(Annotated[LIMITS, Field(description="What would be nice, in place of what was said.")], None),
        )

    def _decision_parts(self) -> dict[str, Any]:
        most = Field(ge=1, le=self._settings.max_slate, description="How many items, at most.")
        floor: Any = _floor(self._offer)
        again = "Whether what was shown since the last words may come again."
        context = Field(
            max_length=MOST_ENTRIES,
            description="What is so about this visit, by name: words, true or false, or numbers from -1 to 1. Feedback"
            " on the decision tells how the user's weights shift with it.",
            examples=[{"device": "phone", "weekend": True}],
        )
        return {
            "size": (Annotated[int, most, BeforeValidator(_number)], 1),
            "offer": (self._offer | None, None),
            "text": (self._text | None, None),
            "where": (LIMITS, None),
            "repeats": (Annotated[bool, Field(strict=True, description=again)], True),
            "floors": (
                Annotated[list[floor], Field(max_length=50, description="Shares of slates, together at most 1.")],
                Field(default_factory=list),
            ),
            "context": (Annotated[dict[ContextName, ContextValue] | None, context], None),
            "id": (self._safe, None),
        }

    def _choice(self) -> Any:
        about = "The items that could be picked from; those of the decision by default."
        could = Field(description=about, min_length=1, max_length=self._settings.max_slate)
        return _model(
            "Choice",
            picked=(Annotated[Id | None, Field(description="The item that was picked; null for none of these.")], ...),
            offer=(Annotated[list[Id] | None, could], None),
        )

    def _item_parts(self, ranges: dict[str, Any]) -> dict[str, Any]:
        values: Any = _named("Values", ranges)
        counts: Any = _named("Counts", {name: (Annotated[Finite, Field(gt=0)], None) for name in self._names})
        means = "How many ratings a value that is given is the mean of."
        return {
            "name": (Annotated[str, Field(max_length=200)], ""),
            "description": (Annotated[str, Field(max_length=2000)], ""),
            "values": (values, Field(default_factory=values)),
            "details": (Annotated[dict[Text, Detail], Field(max_length=50)], Field(default_factory=dict)),
            "counts": (counts, Field(default_factory=counts, description=means)),
        }


def _feedback_parts(rewards: Any) -> dict[str, Any]:
    utility: Any = Annotated[Finite, Field(ge=-1, le=1, description="How good it was as a whole; 1 is the best.")]
    safe = Field(description="Makes repeating the request safe, whatever came after it.", examples=["booking-1"])
    return {
        "item": (Annotated[Id | None, Field(description="Which item; the first by default.")], None),
        "rewards": (rewards | None, None),
        "utility": (utility | None, None),
        "id": (Annotated[Id | None, safe], None),
    }


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


def _distinct(entry: Any, about: str, **lengths: Any) -> Any:
    """Return the type of lists in which nothing stands twice."""

    def check(values: list[str]) -> list[str]:
        if len(set(values)) != len(values):
            raise ValueError("nothing may stand in this list twice")
        return values

    told = Field(json_schema_extra={"uniqueItems": True}, description=about, **lengths)
    return Annotated[list[entry], AfterValidator(check), told]


def _floor(items: Any) -> Any:
    """Return the promise that some items get their share of slates."""
    where: Any = Annotated[LIMITS, Field(description="Limits that say which items.")]
    return _model(
        "Floor",
        one_of=("items", "where"),
        share=(Annotated[Finite, Field(ge=0, le=1, description="Least chance that one of them is in a slate.")], ...),
        items=(items | None, None),
        where=(where, None),
    )


def _named(title: str, ranges: dict[str, Any], *, least: int = 0, positive: bool = False) -> Any:
    """Return a model whose fields are called by any names; what is left out is not told, and one may have to be > 0."""
    fields: dict[str, Any] = {
        f"objective_{place}": (Annotated[kind, Field(alias=name)], default)
        for place, (name, (kind, default)) in enumerate(ranges.items())
    }
    above = [{"required": [name], "properties": {name: {"exclusiveMinimum": 0}}} for name in ranges if positive]
    return _model(title, least=least, above=above, **fields)


def _model(
    title: str,
    *,
    one_of: tuple[str, ...] = (),
    some_of: tuple[str, ...] = (),
    least: int = 0,
    above: Sequence[Any] = (),
    **fields: Any,
) -> Any:
    """Return a model; of the fields in `one_of` exactly one must be given, of those in `some_of` at least one.

    `above` are schemas of fields of which one must be above 0.
    """
    extra: dict[str, Any] = {"minProperties": least} if least else {"anyOf": list(above)} if above else {}
    for law, parts in (("oneOf", one_of), ("anyOf", some_of)):
        if parts:
            extra[law] = [{"required": [part], "properties": {part: {"not": {"type": "null"}}}} for part in parts]

    def check(body: Any) -> Any:
        for parts, law in ((one_of, "exactly one"), (some_of, "at least one")):
            given = sum(getattr(body, part) is not None for part in parts)
            if parts and (given == 0 or (given > 1 and law == "exactly one")):
                raise ValueError(f"{law} of {' and '.join(parts)} must be given, but got {given}")
        if len(body.model_fields_set) < least:
            raise ValueError("at least one value must be given, but got none")
        if above and not any(getattr(body, name) for name in body.model_fields_set):
            raise ValueError("one weight must be above 0, but none is; an empty ranking takes back what was said")
        return body

    base = type("Closed", (Closed,), {"model_config": ConfigDict(extra="forbid", json_schema_extra=extra)})
    validators: Any = {"check": model_validator(mode="after")(check)} if one_of or some_of or least or above else {}
    return create_model(title, __base__=base, __validators__=validators, **fields)
