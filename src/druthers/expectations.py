"""Expectations: what must come out for a catalog, written down as scenarios and played against an advisor.

A file holds `catalogs` by name and `scenarios`, each with `id`, `kind`, `catalog` (a name or a whole one) and `steps`.
A step hears a sentence, recommends, gives feedback or looks at a card, and may `expect` things of it: each expectation
names a `check`, a method of `Exam`, with its arguments and a `because`.
"""

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from druthers.advisor import Advisor, Recommendation
from druthers.advisor.reasons import LEARNED, WISHED
from druthers.catalogs import Catalog
from druthers.errors import DruthersError, InvalidExperiment, NothingFits, require_known
from druthers.limits import Columns

Verdict = tuple[bool, str]


class Outcome(NamedTuple):
    """What became of one expectation."""

    scenario: str
    kind: str
    check: str
    passed: bool
    found: str
    because: str


@dataclass
class Shown:
    """A recommendation, what was eligible for it, and which of its items were rated."""

    made: Recommendation | None
    among: list[str]
    rated: set[str] = field(default_factory=set)

    @property
    def ids(self) -> list[str]:
        """The recommended items."""
        return [] if self.made is None else [one.item for one in self.made.items]

    @property
    def first(self) -> str:
        """The first one."""
        return self.ids[0]


class Exam:
    """One scenario being played: what was shown under which label, and what weights were seen."""

    def __init__(self, catalog: Catalog, *, parser: str = "default") -> None:
        self.items = {item.id: item for item in catalog.items}
        self.less = {one.name: one.less_is_better for one in catalog.objectives}
        self.columns = Columns(self.items)
        self.advisor = Advisor(catalog, parser=parser)
        self.shown: dict[str, Shown] = {}
        self.cards: dict[str, dict[str, float]] = {}
        self.last: dict[str, Shown] = {}

    def play(self, step: Mapping[str, Any]) -> Any:
        """Do a step; return what can be expected of it: what was shown, or the weights of a card."""
        user = step.get("user", "ada")
        if "hear" in step:
            self.advisor.hear(user, step["hear"])
        elif "recommend" in step:
            return self._recommend(user, step)
        elif "feedback" in step:
            told = step["feedback"]
            item = self.ids([told["item"]])[0] if "item" in told else self.last[user].ids[told.get("rank", 1) - 1]
            self._rate(user, item, told.get("utility"), told.get("rewards"))
        elif "live" in step:
            self._live(user, step["live"])
        elif step.get("preference"):
            card = {one.objective: one.weight for one in self.advisor.preference(user).weights}
            if "as" in step:
                self.cards[step["as"]] = card
            return card
        else:
            raise InvalidExperiment(
                f"a step must hear, recommend, give feedback, live or look at the preference, but got {dict(step)!r}"
            )
        return None

    def _recommend(self, user: str, step: Mapping[str, Any]) -> Shown:
        limits = {**step.get("where", {}), **step.get("limits", {})}
        among = self.columns.eligible(limits)
        try:
            made = self.advisor.recommend(user, size=step["recommend"], where=step.get("where"))
        except NothingFits:
            if among:
                raise
            made = None
        shown = self.last[user] = Shown(made, among)
        if "as" in step:
            self.shown[step["as"]] = shown
        return shown

    def _rate(self, user: str, item: str, utility: float | None, rewards: Mapping[str, float] | None = None) -> None:
        """Rate an item of the last recommendation; one that is not there, or was rated there, is met on its own."""
        shown = self.last.get(user)
        if shown is None or shown.made is None or item not in shown.ids or item in shown.rated:
            made = self.advisor.recommend(user, offer=[item])
        else:
            shown.rated.add(item)
            made = shown.made
        self.advisor.feedback(made.id, item=item, utility=utility, rewards=rewards)

    def _live(self, user: str, life: Mapping[str, Any]) -> None:
        """Rate many items as somebody who likes some objectives: each in turn, or what is recommended."""
        likes: dict[str, float] = life["likes"]
        listed = life.get("items", self.items)
        items = [one for one in listed if any(self._good(one, name) is not None for name in likes)]
        for turn in range(life["rounds"]):
            if life.get("on") == "recommended":
                made = self.advisor.recommend(user)
                self.last[user] = Shown(made, list(self.items))
                item = made.items[0].item
            else:
                item = items[turn % len(items)]
            felt = sum(weight * self._place(item, name) for name, weight in likes.items())
            felt = 2.0 * felt / sum(map(abs, likes.values())) - (1.0 if sum(likes.values()) > 0 else -1.0)
            self._rate(user, item, round(min(max(felt, -1.0), 1.0), 2))

    def _good(self, item: str, objective: str) -> float | None:
        """Return a value so that more is better."""
        value = self.items[item].values.get(objective)
        return None if value is None else -value if self.less[objective] else value

    def _percentile(self, item: str, objective: str, among: Iterable[str] | None = None) -> float | None:
        """Return the share of the other known items that are worse, ties by half: 1 for the best, None if unknown."""
        mine = self._good(item, objective)
        if mine is None:
            return None
        others = [self._good(one, objective) for one in (self.items if among is None else among) if one != item]
        worse = [1.0 if one < mine else 0.5 if one == mine else 0.0 for one in others if one is not None]
        return sum(worse) / len(worse) if worse else 1.0

    def _place(self, item: str, objective: str, among: Iterable[str] | None = None) -> float:
        place = self._percentile(item, objective, among)
        return 0.5 if place is None else place

    def ids(self, listed: Sequence[str]) -> list[str]:
        """Return item ids; "@label" stands for the first item that was shown under it."""
        return [self.shown[one[1:]].first if one.startswith("@") else one for one in listed]

    def mean(self, shown: Shown, objective: str, among: Iterable[str] | None = None) -> float:
        """Return the mean percentile of what was shown; what is not known counts half."""
        return sum(self._place(one, objective, among) for one in shown.ids) / len(shown.ids)

    def total(self, item: str, objectives: Sequence[str], among: Iterable[str] | None = None) -> float:
        """Return the sum of an item's percentiles."""
        return sum(self._percentile(item, one, among) or 0.0 for one in objectives)

    # Checks: each returns whether it holds, and what was found.

    def first_at_least(self, now: Shown, objective: str, percentile: float) -> Verdict:
        """The first item has at least this percentile among what was eligible."""
        place = self._percentile(now.first, objective, now.among) if now.first in now.among else None
        return place is not None and place >= percentile, f"{now.first} at {place} in {objective}"

    def first_at_most(self, now: Shown, objective: str, percentile: float) -> Verdict:
        """The first item has at most this percentile."""
        place = self._percentile(now.first, objective, now.among)
        return place is not None and place <= percentile, f"{now.first} at {place} in {objective}"

    def mean_at_least(self, now: Shown, objective: str, percentile: float) -> Verdict:
        """All items together have at least this mean percentile."""
        mean = self.mean(now, objective, now.among)
        return mean >= percentile, f"mean {mean:.2f} in {objective}"

    def first_in(self, now: Shown, items: Sequence[str]) -> Verdict:
        """The first item is one of these."""
        return now.first in self.ids(items), now.first

    def first_not_in(self, now: Shown, items: Sequence[str]) -> Verdict:
        """The first item is none of these."""
        return now.first not in self.ids(items), now.first

    def contains(self, now: Shown, items: Sequence[str]) -> Verdict:
        """All of these are shown."""
        return set(self.ids(items)) <= set(now.ids), str(now.ids)

    def lacks(self, now: Shown, items: Sequence[str]) -> Verdict:
        """None of these is shown."""
        return not set(self.ids(items)) & set(now.ids), str(now.ids)

    def undominated(self, now: Shown) -> Verdict:
        """No eligible item is as good as the first in everything and better in something, as far as all is known."""
        mine: list[Any] = [self._good(now.first, name) for name in self.less]
        goods: dict[str, list[Any]] = {one: [self._good(one, name) for name in self.less] for one in now.among}
        known = {one: good for one, good in goods.items() if None not in mine + good and good != mine}
        better = [one for one, good in known.items() if all(map(operator.ge, good, mine))]
        return not better, f"{now.first} is dominated by {better}"

    def near_best(self, now: Shown, objectives: Sequence[str], share: float) -> Verdict:
        """The first item has this share of the best sum of percentiles there is."""
        best = max(self.total(one, objectives, now.among) for one in now.among)
        mine = self.total(now.first, objectives, now.among) if now.first in now.among else 0.0
        return mine >= share * best, f"{now.first} has {mine:.2f} of {best:.2f}"

    def sum_beats(
        self, now: Shown, objectives: Sequence[str], labels: Sequence[str], tolerance: float = 0.1
    ) -> Verdict:
        """The first item's sum of percentiles is that of other firsts, or more."""
        mine = self.total(now.first, objectives)
        theirs = [self.total(self.shown[one].first, objectives) for one in labels]
        return mine >= max(theirs) - tolerance, f"{mine:.2f} against {theirs}"

    def as_extreme_as(self, now: Shown, objective: str, label: str, tolerance: float = 0.03) -> Verdict:
        """First and mean percentile are those of another recommendation, or more."""
        both = (now, self.shown[label])
        mine, theirs = ((self._place(one.first, objective), self.mean(one, objective)) for one in both)
        pairs = list(zip(mine, theirs, strict=True))
        return all(a >= b - tolerance for a, b in pairs), str(pairs)

    def moves(self, now: Shown, objective: str, label: str, direction: str, by: float = 0.05) -> Verdict:
        """The mean percentile moved up or down since another recommendation."""
        change = self.mean(now, objective) - self.mean(self.shown[label], objective)
        return (change if direction == "up" else -change) >= by, f"moved by {change:+.2f}"

    def differs_from(self, now: Shown, label: str) -> Verdict:
        """The first item is another one than then."""
        return now.first != self.shown[label].first, now.first

    def same_first(self, now: Shown, label: str) -> Verdict:
        """The first item is the one of then."""
        return now.first == self.shown[label].first, now.first

    def distinct_firsts(self, now: Shown, labels: Sequence[str], at_least: int) -> Verdict:
        """So many of the firsts differ."""
        firsts = [self.shown[one].first for one in labels]
        return len(set(firsts)) >= at_least, str(firsts)

    def obeys(self, now: Shown, limits: Mapping[str, Any] | None = None) -> Verdict:
        """Everything shown is within the limits."""
        eligible = now.among if limits is None else self.columns.eligible(dict(limits))
        wrong = [one for one in now.ids if one not in eligible]
        return bool(now.ids) and not wrong, f"outside: {wrong}"

    def nothing_fits(self, now: Shown) -> Verdict:
        """Nothing is shown, since nothing is within the limits."""
        return not now.ids, str(now.ids)

    def _facts(self, now: Shown, roles: Sequence[str] | None = None) -> list[set[str]]:
        made = [] if now.made is None else now.made.items
        return [{fact.objective for fact in one.facts if roles is None or fact.role in roles} for one in made]

    def reason_names(self, now: Shown, objectives: Sequence[str]) -> Verdict:
        """The first reason speaks of all of these."""
        named = self._facts(now)[0]
        return set(objectives) <= named, f"names {sorted(named)}"

    def reason_names_one_of(self, now: Shown, objectives: Sequence[str]) -> Verdict:
        """The first reason speaks of one of these."""
        named = self._facts(now)[0]
        return bool(set(objectives) & named), f"names {sorted(named)}"

    def reason_no_praise(self, now: Shown, objectives: Sequence[str]) -> Verdict:
        """No reason speaks of these."""
        named = set().union(*self._facts(now))
        return not named & set(objectives), f"names {sorted(named)}"

    def reason_matters_only(self, now: Shown, objectives: Sequence[str]) -> Verdict:
        """No reason says of anything else that it was asked for or learned."""
        claimed = set().union(*self._facts(now, (WISHED, LEARNED)))
        return claimed <= set(objectives), f"claims {sorted(claimed)}"

    def reason_true(self, now: Shown) -> Verdict:
        """Every item has a reason, and every fact in it is one."""
        wrong = []
        for one in [] if now.made is None else now.made.items:
            wrong += [] if one.why else [f"{one.item} has no reason"]
            for fact in one.facts:
                share, told = self._percentile(one.item, fact.objective, now.among), fact.better_than
                near = share == told or (share is not None and told is not None and abs(share - told) < 1e-9)
                if fact.value != self.items[one.item].values.get(fact.objective) or not near:
                    wrong.append(f"{one.item}: {fact}")
        return not wrong, str(wrong)

    def weight_below(self, card: Mapping[str, float], objective: str, below: Sequence[str]) -> Verdict:
        """An objective weighs less than each of these."""
        return all(card[objective] < card[one] for one in below), str(card)

    def weight_not_above(self, card: Mapping[str, float], objective: str, others: Sequence[str]) -> Verdict:
        """An objective weighs no more than each of these."""
        return all(card[objective] <= card[one] + 1e-6 for one in others), str(card)

    def weight_top(self, card: Mapping[str, float], objectives: Sequence[str]) -> Verdict:
        """These weigh more than all others."""
        others = [weight for name, weight in card.items() if name not in objectives]
        return min(card[name] for name in objectives) > max(others), str(card)

    def weights_changed(self, card: Mapping[str, float], since: str, by: float = 0.01) -> Verdict:
        """Some weight changed by this share of the largest one."""
        before = self.cards[since]
        change = max(abs(card[name] - before[name]) for name in card) / (max(map(abs, before.values())) or 1.0)
        return change >= by, f"changed by {change:.4f}"

    def weight_rises(self, card: Mapping[str, float], objective: str, since: str, direction: str = "up") -> Verdict:
        """An objective's weight rose or fell against the average one."""
        change = _standing(card, objective) - _standing(self.cards[since], objective)
        return (change if direction == "up" else -change) > 0.01, f"changed by {change:+.3f}"


def _standing(card: Mapping[str, float], objective: str) -> float:
    """Return how far an objective is above the average one, in units of the average size."""
    mean = sum(card.values()) / len(card)
    return (card[objective] - mean) / (sum(map(abs, card.values())) / len(card) + 1e-9)


def examine(scenario: Mapping[str, Any], catalog: Catalog, *, parser: str = "default") -> list[Outcome]:
    """Play a scenario and return what became of each expectation; after an error all that follow have failed."""
    exam, outcomes, problem = Exam(catalog, parser=parser), [], ""
    with exam.advisor:
        for step in scenario["steps"]:
            now = None
            if not problem:
                try:
                    now = exam.play(step)
                except InvalidExperiment:  # a mistake of the file, and not of the advisor
                    raise
                except (DruthersError, LookupError) as error:
                    problem = f"{type(error).__name__}: {error}"
            for one in _expected(step):
                given = {key: value for key, value in one.items() if key not in ("check", "because", "kind")}
                passed, found = (False, problem) if problem else _checked(exam, now, one["check"], given)
                told = scenario["id"], one.get("kind", scenario.get("kind", "")), one["check"]
                outcomes.append(Outcome(*told, passed, found, one.get("because", "")))
    if problem and all(one.found != problem for one in outcomes):  # nothing was expected any more
        outcomes.append(Outcome(scenario["id"], scenario.get("kind", ""), "steps", False, problem, ""))
    return outcomes


def _expected(step: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return what is expected of a step; limits are expected to be kept without a word."""
    found = list(step.get("expect", ()))
    limited = "recommend" in step and ("where" in step or "limits" in step)
    if limited and not any(one["check"] in ("obeys", "nothing_fits") for one in found):
        found.insert(0, {"check": "obeys", "because": "what breaks a limit is of no use"})
    return found


def _checked(exam: Exam, now: Any, check: str, given: Mapping[str, Any]) -> Verdict:
    known = [name for name in vars(Exam) if not name.startswith("_") and name not in ("play", "ids", "mean", "total")]
    require_known("check", known, check)
    if isinstance(now, Shown) and not now.ids and check != "nothing_fits":
        return False, "nothing was recommended"
    passed, found = getattr(exam, check)(now, **given)
    return bool(passed), found
