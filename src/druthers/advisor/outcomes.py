"""What was told of a decision so far, and what another feedback adds to it."""

from __future__ import annotations

from typing import Any

from druthers.advisor.asking import CHOICE
from druthers.errors import Contradiction
from druthers.stores import Event


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
