"""The fold: what all events of a journal add up to. The same events in the same order give the same bits."""

import contextlib
import functools
import hashlib
import json
from bisect import bisect_left, insort
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from druthers.advisor import events
from druthers.advisor.editions import Editions
from druthers.advisor.person import COUNTS, Person
from druthers.advisor.population import Population
from druthers.advisor.predicting import Predictor
from druthers.advisor.sources import digest_of
from druthers.advisor.wishes import PLAIN, Statement
from druthers.catalogs import Catalog, Item
from druthers.errors import DamagedState, ObjectivesChanged, UnknownUser
from druthers.policies import Policy
from druthers.policies.contexts import as_entries
from druthers.saving import pack, unpack
from druthers.stores import Event, Snapshot, UserState
from druthers.types import Floats

# Settings that what is learned does not depend on.
NOT_LEARNED = ("exploration", "seed")
# Whose feedback tells about items only; no id of a user is empty.
NOBODY = ""
# Items whose utilities by one person are remembered, the latest ones.
MOST_SEEN = 100  # items that are not shown again to somebody who asks for others
MOST_FELT = 500


class Fold:
    """Items, keys, users and a policy, as the events so far made them.

    It asks nobody: whoever drives it brings users in before their events, and lets them leave when they are saved. Who
    is not in memory when an event comes is new. A state that was brought in may be ahead of this fold, since others
    save theirs too; the user's events that it already holds then count for items only.

    Parameters
    ----------
    editions
        What mattered when, without items: those come as events.
    policy
        A fresh policy.
    population
        Whether strangers are met with what people have in common.
    """

    def __init__(self, editions: Editions, policy: Policy, *, population: bool = True) -> None:
        self.editions = editions
        self.policy = policy
        self.predictor = Predictor(policy, editions.catalog.objectives)
        self.population = Population(policy, used=population)
        self.position = 0
        self.items: dict[str, Item] = {}
        self.items_changed = 0  # how often the items did
        self.worked_out: dict[Any, Any] = {}  # for decisions, since anything was learned or forgotten
        self._ids: list[str] | None = None
        self.keys: dict[str, dict[str, Any]] = {}  # replaced whenever one changes
        self.people: dict[str, Person] = {}  # those not heard of for long come first
        self.unsaved: dict[str, None] = {}  # whose state no store has; a dict, for its order
        self.erasures = 0
        self.departures = 0  # how often somebody left memory: a state that was fetched before may be outdated
        self._by_first: dict[int, str] = {}
        # All others are only noted: they teach nothing.
        self._teach: dict[str, Callable[[Event], None]] = {
            events.MIGRATION: self._migration,
            events.ITEM: self._item,
            events.RETIREMENT: self._retirement,
            events.QUERY: self._query,
            events.CORRECTION: self._correction,
            events.FEEDBACK: self._feedback,
            events.CHOICE: self._choice,
            events.ERASURE: self._erasure,
            events.KEY: self._keys,
            events.REVOCATION: self._keys,
        }

    @functools.cached_property
    def name(self) -> str:
        """What this fold's states are kept under: all that they depend on but events, the code included.

        So states of other settings, objectives or code are never taken for its own; they are folded anew.
        """
        params = self.policy.state(users=False)["params"]
        settings = {key: value for key, value in params.items() if key not in NOT_LEARNED}
        told = repr((digest_of(self.policy), settings, self.editions.arithmetic))
        return f"{self.policy.name}-{hashlib.sha256(told.encode()).hexdigest()[:16]}"

    def fresh(self) -> "Fold":
        """Return a fold of the same kind that knows of no event."""
        return Fold(self.editions, type(self.policy)(**self.policy.params), population=self.population.used)

    @property
    def catalog(self) -> Catalog:
        """The objectives of today."""
        return self.editions.catalog

    @property
    def ids(self) -> list[str]:
        """The ids of all items in order; sorted once, and then kept in order."""
        if self._ids is None:
            self._ids = sorted(self.items)
        return self._ids

    def apply(self, event: Event) -> None:
        """Take in the next event of the journal."""
        if event.position != self.position + 1:
            raise DamagedState(f"the next event must be number {self.position + 1}, but got {event.position}")
        settled = event.kind in events.PERSONAL and self.predictor.settle(self.items)
        teach = self._teach.get(event.kind)
        if settled or teach is not None:
            self.worked_out.clear()
        (teach or self._note)(self.editions.today(event))
        self.position = event.position

    def apply_all(self, more: Iterable[Event]) -> None:
        """Take in events that were read from a journal, each checked before."""
        for event in more:
            self.apply(events.check(event))

    def strangers(self, more: Iterable[Event]) -> dict[str, int]:
        """Return the users of events who are not in memory, each with the position of the first event."""
        strangers: dict[str, int] = {}
        for event in more:
            if event.user is not None and event.user not in self.people:
                strangers.setdefault(event.user, event.position)
        return strangers

    def restore(self, state: UserState) -> Person:
        """Bring a user in, by a state that was unpacked; who is in memory stays as is."""
        person = self.people.get(state.user)
        if person is None:
            queries, feedbacks, size = COUNTS.unpack_from(state.body)
            person = Person(state.first, state.position, queries, feedbacks)
            person.recall(state.body[COUNTS.size : COUNTS.size + size])
            self.policy.import_user(state.user, state.body[COUNTS.size + size :])
            self.people[state.user] = person
            self._by_first[state.first] = state.user
        return person

    def export(self, users: Iterable[str]) -> list[UserState]:
        """Return the states of users in memory, to be packed and saved; they then count as saved."""
        states = []
        for user in users:
            person = self.people.get(user)
            if person is not None:
                self.unsaved.pop(user, None)
                memory = person.memory()
                body = COUNTS.pack(person.queries, person.feedbacks, len(memory)) + memory + self._row(user)
                states.append(UserState(user, person.first, person.position, body))
        return states

    def evict(self, user: str) -> None:
        """Let a user leave memory, who must be saved."""
        if user in self.people and user not in self.unsaved:
            self._drop(user)

    def snapshot(self) -> Snapshot:
        """Return all but the users, who are saved one by one."""
        state = self.policy.state(users=False)
        items = [events.item(item).body["item"] for item in self.items.values()]
        more = {"fold.items": json.dumps(items), "fold.keys": json.dumps(self.keys)}
        more["fold.population"] = self.population.state()
        return Snapshot(self.position, pack({**state, **self.predictor.state(), **more}))

    def load(self, snapshot: Snapshot) -> None:
        """Start from a snapshot; the policy's settings and chance stay those it was made with."""
        state = unpack(snapshot.body)
        self.items = {item["id"]: Item(**item) for item in json.loads(state.pop("fold.items"))}
        self.items_changed += 1
        self.worked_out.clear()
        self._ids = None
        self.keys = json.loads(state.pop("fold.keys"))
        self.predictor.restore(state)
        self.population.restore(state.pop("fold.population"))
        self.policy.restore(state)
        self.people.clear()
        self.unsaved.clear()
        self._by_first.clear()
        self.position = snapshot.position

    def digest(self, users: Iterable[str]) -> str:
        """Return a digest of everything that events decide, with these users, who must be in memory or unknown.

        Equal folds have equal digests.
        """
        state = self.policy.state(users=False)
        whole = hashlib.sha256(repr((self.position, sorted(self.keys.items()))).encode())
        whole.update(self.population.state().encode())
        whole.update(np.ascontiguousarray(state["clock"]).tobytes())
        rows = dict(zip(state["arms"]["ids"], state["arms"]["rows"], strict=True))
        for arm in sorted(rows):
            whole.update(repr((arm, self.items[arm])).encode())
            for key in ("arm.pulls", "arm.means", "arm.expected", "arm.doubt"):
                whole.update(state[key][rows[arm]].tobytes() if key in state else b"")
        for user in sorted(users):
            person = self.people.get(user)
            if person is not None:
                whole.update(repr((user, person.first, person.queries, person.feedbacks)).encode())
                whole.update(person.memory())
                whole.update(self._row(user))
        return whole.hexdigest()

    def _row(self, user: str) -> bytes:
        self.policy.add_users([user])  # who was only decided for has no row yet
        return self.policy.export_user(user)

    def _person(self, event: Event) -> Person | None:
        """Return whom an event is about, as the latest heard of; None if nobody, or if the event is in already."""
        if event.user is None:
            return None
        user = event.user
        person = self.people.pop(user, None)
        if person is None:
            person = Person(event.position)
            self._by_first[event.position] = user
        self.people[user] = person
        if event.position <= person.position:
            return None
        person.position = event.position
        self.unsaved[user] = None
        return person

    def _drop(self, user: str) -> None:
        self.departures += 1
        self.worked_out.clear()
        del self._by_first[self.people.pop(user).first]
        self.unsaved.pop(user, None)
        with contextlib.suppress(UnknownUser):  # who was only decided for has no row
            self.policy.forget_user(user)

    def _migration(self, event: Event) -> None:
        if event.body["number"] > self.editions.number:
            raise ObjectivesChanged(f"the objectives of the journal changed at event {event.position}: fold it anew")

    def _item(self, event: Event) -> None:
        item = Item(**event.body["item"])
        before = self.items.get(item.id)
        self.items[item.id] = item
        self.items_changed += 1
        if before is None and self._ids is not None:
            insort(self._ids, item.id)
        self.policy.add_arms([item.id])
        given, told = (None if one is None or not one.values else self._given(one) for one in (before, item))
        if told is None and given is not None:
            told = np.full(self.catalog.n_objectives, np.nan), given[1]
        if told is not None and (given is None or not all(map(_same, given, told))):
            self.policy.give(NOBODY, item.id, *told, instead=given)
        self.predictor.note(self.items, item.id, changed=True)

    def _given(self, item: Item) -> tuple[Floats, Floats]:
        return self.catalog.to_rewards(item.values, item.counts), self.catalog.to_counts(item.counts)

    def _retirement(self, event: Event) -> None:
        if self.items.pop(event.body["item"], None) is not None:
            self.items_changed += 1
            if self._ids is not None:
                del self._ids[bisect_left(self._ids, event.body["item"])]
            self.policy.retire_arm(event.body["item"])

    def _query(self, event: Event) -> None:
        person = self._person(event)
        if event.user is not None:
            self.population.hear(self.people[event.user].first, self._statement(event.body))
        if person is not None:
            person.queries += 1
            person.speak()
            self._hear(str(event.user), person, event.body)

    def _correction(self, event: Event) -> None:
        person = self._person(event)
        if event.user is not None:
            said = [self._statement(one) for one in (*event.body.get("said", ()), event.body)]
            self.population.correct(self.people[event.user].first, said, event.body.get("heard"))
        if person is not None and event.body.get("heard", person.said) == person.said:  # else more was said meanwhile
            person.speak()
            person.wishes = person.wishes.unsaid(limitless=bool(event.body.get("limitless")))
            self.policy.unhear(event.user)
            for said in (*event.body.get("said", ()), event.body):
                self._hear(str(event.user), person, said)

    def _hear(self, user: str, person: Person, said: Mapping[str, Any]) -> None:
        """Take in what a message says, as wishes; a policy that cannot hear weights hears the ranking."""
        person.wishes.hear(statement := self._statement(said))
        person.wishes.limit(said.get("limits", {}), said.get("dropped", ()), said.get("hopes"))
        if self.policy.hears_weights and not (person.wishes.draws or person.wishes.dismissed):
            self.policy.unhear(user)  # met as a stranger: nothing was said of what matters
        elif self.policy.hears_weights:
            self.policy.hear_weights(user, *person.wishes.weights(self.catalog.n_objectives))
        else:
            self.policy.hear(user, statement.wanted)

    def _statement(self, said: Mapping[str, Any]) -> Statement:
        """Return what a message says of objectives."""
        ranking = self.catalog.ranking(said["ranking"])
        draws = tuple(said.get("draws") or [PLAIN] * len(ranking))
        dismissed, guessed = (self.catalog.ranking(said.get(part, ())) for part in ("dismissed", "guessed"))
        return Statement(ranking, draws, dismissed, said.get("only", False), guessed)

    def within(self, body: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Be in the context that an event has; a policy that does not learn from contexts leaves it aside."""
        context = body.get("context") if self.policy.learns_contexts else None
        return self.policy.in_context(context) if context else contextlib.nullcontext()

    def _note(self, event: Event) -> None:
        """Note only who did something, and what was shown."""
        person = self._person(event)
        if person is not None and event.kind == events.DECISION and not event.body.get("aside"):
            person.shown = str(event.about), list(event.body["items"])
            person.seen = [*person.seen, *person.shown[1]][-MOST_SEEN:]

    def _feedback(self, event: Event) -> None:
        person = self._person(event)
        item, rewards = event.body.get("item"), event.body.get("rewards") or {}
        if person is not None:
            person.feedbacks += "instead" not in event.body
            person.rated = str(event.about), str(item)
        if item not in self.items:
            return  # it has retired, and nothing more is to be known about it
        reward = self.catalog.to_rewards(rewards) if rewards else None
        with self.within(event.body):
            self._learn(event, person, item, reward)
        if reward is not None:
            self.predictor.note(self.items, item)

    def _learn(self, event: Event, person: Person | None, item: str, reward: Floats | None) -> None:
        """Learn from feedback on an item that is there; of who is nobody, or ahead, what the item was like."""
        if person is None:
            if reward is not None:
                self.policy.learn(NOBODY, item, reward)
            return
        utility, instead = event.body["utility"], event.body.get("instead")
        if instead is not None:
            self._revise(str(event.user), person, item, utility, instead)
            utility = None
        if reward is not None or utility is not None:
            self.policy.learn(event.user, item, reward, utility)
        if utility is not None:
            count, total = person.felt.pop(item, (0, 0.0))
            person.felt[item] = count + 1, total + utility
            counted = self.policy.entries(event.user)
            for name, told in as_entries(event.body.get("context")).items() if counted else ():
                if told and name in counted:  # others shift nothing, and there may be many
                    sums = person.visits.setdefault(item, {})
                    sums[name] = sums.get(name, 0.0) + told
            if len(person.felt) > MOST_FELT:
                oldest = next(iter(person.felt))
                del person.felt[oldest]
                person.visits.pop(oldest, None)

    def _revise(self, user: str, person: Person, item: str, utility: float, instead: Mapping[str, Any]) -> None:
        """Take back a utility that was learned, with the rewards that were learned with it, for another."""
        rewards, before = instead["rewards"], instead["utility"]
        then = self.catalog.to_rewards(rewards) if rewards else None
        self.policy.revise(user, item, utility, before=before, reward=then)
        if item in person.felt:
            count, total = person.felt[item]
            person.felt[item] = count, total + (utility - before)

    def _choice(self, event: Event) -> None:
        """Learn from what was picked, beside what is still there of the offer."""
        person = self._person(event)
        if person is None:
            return
        person.feedbacks += 1
        picked = event.body["picked"]
        person.rated = str(event.about), picked or ""
        offer = [item for item in event.body["offer"] if item in self.items]
        tells = bool(offer) if picked is None else picked in offer and len(offer) > 1
        if tells and self.policy.learns_choices:
            with self.within(event.body):
                self.policy.learn_choice(event.user, picked, offer)

    def _erasure(self, event: Event) -> None:
        self.erasures += 1
        self.departures += 1
        self.population.forget(event.body["first"])
        user = self._by_first.get(event.body["first"])
        if user is not None:
            self._drop(user)

    def _keys(self, event: Event) -> None:
        self.keys = events.keys_after(self.keys, event)


def _same(one: Floats, other: Floats) -> bool:
    return np.array_equal(one, other, equal_nan=True)
