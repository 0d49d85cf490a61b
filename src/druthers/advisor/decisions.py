"""A decision as it was made, and what came of it: from the events about it; those of late are kept in memory."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from druthers.advisor import events
from druthers.advisor.answers import Decided, Outcome, Suggestion
from druthers.advisor.asking import CHOICE
from druthers.advisor.fold import Fold
from druthers.advisor.reasons import Fact, TradeOff
from druthers.advisor.steps import CatchUp, Look, Operation
from druthers.errors import Contradiction, UnknownDecision
from druthers.policies import Policy
from druthers.stores import Event, Store
from druthers.types import Decision

DECISIONS_KEPT = 20_000
# What is kept of each suggestion, by name; events of version 1 have a list in this order instead.
FIGURES = ("name", "score", "utility", "reward_bonus", "preference_bonus", "propensity", "why")


def content(made: Sequence[Suggestion], decision: Decision, policy: Policy) -> dict[str, Any]:
    """Return what a decision's event holds of its suggestions and of the policy that chose them.

    `best` has for each place what would have stood there without exploring, null where that does; only for policies
    whose choice is otherwise certain.
    """
    told: dict[str, Any] = {"figures": {name: [getattr(one, name) for one in made] for name in FIGURES}}
    told |= {"policy": policy.name, "exploration": policy.exploration}
    if any(one.trade_off for one in made):
        told["traded"] = [one.trade_off and one.trade_off.content() for one in made]
    if policy.exploration and decision.best is not None:
        pairs = zip(decision.best, decision.places, strict=True)
        told["best"] = [None if best == place else str(decision.offer[best]) for best, place in pairs]
    return told


def suggestions(decision: Event) -> tuple[Suggestion, ...]:
    """Return what was recommended."""
    body = decision.body
    facts = body.get("facts", [[]] * len(body["items"]))
    rows = body["why"] if "why" in body else zip(*(body["figures"][name] for name in FIGURES), strict=True)
    traded = map(TradeOff.from_content, body.get("traded", [None] * len(body["items"])))
    return tuple(
        Suggestion(
            item, **dict(zip(FIGURES, row, strict=True)), facts=tuple(Fact(*fact) for fact in told), trade_off=for_it
        )
        for item, row, told, for_it in zip(body["items"], rows, facts, traded, strict=True)
    )


def decided(past: Sequence[Event]) -> Decided | None:
    """Return what all events about a decision tell together; None if it was never made."""
    if not past or past[0].kind != events.DECISION:
        return None
    made = past[0]
    kinds = {event.kind: event for event in reversed(past)}
    held = kinds.get(events.HELD)
    chosen = next((event for event in past if event.key == events.choice_key(str(made.about))), None)
    return Decided(
        id=str(made.about),
        user=str(made.user),
        at=made.at,
        items=suggestions(made),
        size=made.body["size"],
        offer=made.body["offer"],
        where=made.body.get("where", {}),
        limits=made.body.get("limits", {}),
        deferred=made.body.get("deferred", False),
        activated=events.ACTIVATION in kinds,
        held=None if held is None or events.ACTIVATION in kinds else held.body["utility"],
        feedback=tuple(
            Outcome(event.body["item"], event.at, event.body["rewards"], event.body["utility"])
            for event in past
            if event.kind == events.FEEDBACK
        ),
        choice=None if chosen is None else {part: chosen.body[part] for part in ("picked", "offer")},
        context=made.body.get("context", {}),
    )


class Told:
    """A decision and all feedback on it so far, of which the last utility of an item stands.

    A deferred decision may never have been shown.
    """

    __slots__ = (
        *("asked", "beside", "context", "count", "deferred", "ids", "items", "position", "rewards", "user"),
        "utilities",
    )

    def __init__(self, decision: Event) -> None:
        self.user = decision.user
        self.position = decision.position
        self.items: list[str] = decision.body.get("items", [])
        question = decision.body.get("question") or {}
        self.asked: list[str] = question["choices"] if question.get("kind") == CHOICE else []  # which item of these
        self.deferred: bool = decision.body.get("deferred", False)
        self.context: dict[str, Any] = decision.body.get("context", {})
        self.rewards: dict[str, dict[str, float]] = {}
        self.utilities: dict[str, float] = {}
        self.beside: dict[str, dict[str, float]] = {}  # the rewards that came with an item's first utility
        self.count: dict[str, int] = {}
        self.ids: dict[str, tuple[str, dict[str, float], float | None]] = {}

    def where(self, decision: str, key: str) -> dict[str, Any]:
        """Return whom and what an event about this decision is about; it is added only while the user is not erased."""
        return {"user": self.user, "about": decision, "key": key, "bound": self.position}

    @property
    def there(self) -> dict[str, Any]:
        """The context of the decision, as feedback on it carries it; nothing where there was none."""
        return {"context": self.context} if self.context else {}

    def add(self, feedback: Event) -> None:
        """Note what a feedback tells."""
        body = feedback.body
        item, rewards, utility = body["item"], body["rewards"], body["utility"]
        self.count[item] = self.count.get(item, 0) + 1
        self.rewards.setdefault(item, {}).update(rewards)
        if utility is not None:
            if item not in self.utilities:
                self.beside[item] = rewards
            self.utilities[item] = utility
        if "id" in body:
            given = body.get("given", body)
            self.ids[body["id"]] = item, given["rewards"], given["utility"]


def fresh(
    told: Told, item: str, rewards: dict[str, float], utility: float | None, *, revisable: bool
) -> dict[str, Any]:
    """Return what feedback adds to what was told, and which utility, learned with which rewards, it takes back."""
    before = told.rewards.get(item, {})
    for name, value in rewards.items():
        if before.get(name, value) != value:
            raise Contradiction(f"{name!r} of {item!r} must stay as first told, {before[name]!r}, but got {value!r}")
    added = {name: value for name, value in rewards.items() if name not in before}
    felt = told.utilities.get(item)
    if felt is None or utility is None or felt == utility:
        return {"rewards": added, "utility": utility if felt is None else None}
    if not revisable:
        raise Contradiction(f"the utility of {item!r} must stay as first told, {felt!r}, but got {utility!r}")
    return {"rewards": added, "utility": utility, "instead": {"rewards": told.beside[item], "utility": felt}}


class Recent:
    """Decisions by id, those of late from memory.

    Parameters
    ----------
    fold
        What is known; after an erasure in it, all decisions are looked up anew.
    store
        Where the others are.
    """

    def __init__(self, fold: Fold, store: Store) -> None:
        self.fold = fold
        self.store = store
        self._kept: OrderedDict[str, Told] = OrderedDict()
        self._erasures = fold.erasures

    def recall(self, decision: str) -> Operation[Told]:
        """Return a decision with its feedback, and refuse one that was never made."""
        if not isinstance(decision, str):
            raise UnknownDecision(f"feedback must be about the id of a decision, a text, but got {decision!r}")
        told = yield from self.find(decision)
        if told is None:
            raise UnknownDecision(f"feedback must be about a decision that was made, but got {decision[:200]!r}")
        return told

    def find(self, decision: str) -> Operation[Told | None]:
        """Return a decision with its feedback; None for one that was never made."""
        self._forget_erased()
        told = self._kept.get(decision)
        if told is not None:
            self._kept.move_to_end(decision)
            return told
        past: list[Event] = yield Look(lambda: self.store.about(decision))
        if not past or past[0].kind != events.DECISION:
            return None
        if past[-1].position > self.fold.position:
            yield CatchUp()  # made elsewhere: what was said before it has to be known first
        told = Told(past[0])
        for event in past[1:]:
            if event.kind == events.FEEDBACK:
                told.add(self.fold.editions.today(event))
        if not self._forget_erased():
            self.keep(decision, told)
        return told

    def keep(self, decision: str, told: Told) -> None:
        """Keep a decision, in place of the one that nobody asked for longest."""
        self._kept[decision] = told
        if len(self._kept) > DECISIONS_KEPT:
            self._kept.popitem(last=False)

    def dismiss(self, decision: str) -> None:
        """Let a decision be looked up anew."""
        self._kept.pop(decision, None)

    def _forget_erased(self) -> bool:
        """Forget all decisions after somebody was erased, here or elsewhere: whose they were is no longer known."""
        erased = self._erasures != self.fold.erasures
        if erased:
            self._erasures = self.fold.erasures
            self._kept.clear()
        return erased
