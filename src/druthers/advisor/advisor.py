"""The advisor: policy, parser and store as one conversation."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from druthers.advisor import events
from druthers.advisor.answers import Card, Heard, Learned, Recommendation
from druthers.advisor.fold import Fold, packed
from druthers.advisor.operations import Append, CatchUp, Erase, Operation, Operations, Step
from druthers.advisor.replies import Conversation, Reply
from druthers.anchors import Mixture
from druthers.catalogs import Catalog, Item
from druthers.catalogs.scales import with_scales
from druthers.errors import InvalidSetting
from druthers.language import Parser, make_parser
from druthers.policies import FisherPQUCB, FisherUCB, Policy, find_policy, make_policy
from druthers.stores import Snapshot, Store, UserState, open_store
from druthers.stores.base import PAGE
from druthers.types import Objective

T = TypeVar("T")
_log = logging.getLogger(__name__)

POLICY = "stated-ucb"
# Rankings per user that are kept for exact refits: a user of the service says less than one in the lab.
WINDOW = 32


class Advisor:
    """A recommender that listens, and keeps its word: what it has acknowledged, its store has.

    All that happens is an event in a journal; what is known is a fold over it. Several advisors may work on one
    journal, in one process or in many. All methods may be called from any thread.

    Parameters
    ----------
    catalog
        What can be recommended: a catalog, its file, or the name of one that comes along. Needed for a new journal;
        for an old one it must have the same objectives, and the items are those of the journal.
    store
        Where the journal is: "memory:", "sqlite:PATH" or "postgresql://...".
    policy
        The name of a policy. Another one than before starts over from the journal.
    parser
        The name of a parser, or one that is made.
    policy_settings, parser_settings
        Settings of the policy and of the parser.

    Examples
    --------
    >>> advisor = Advisor("hotels", parser="lexicon")
    >>> advisor.hear("ada", "cheap and clean").ranking
    ('value', 'cleanliness')
    >>> recommended = advisor.recommend("ada", size=3)
    >>> advisor.feedback(recommended.id, rewards={"value": 4.5}, utility=0.9).new
    True
    >>> [weight.objective for weight in advisor.preference("ada").weights][:2]
    ['value', 'cleanliness']
    """

    def __init__(
        self,
        catalog: Catalog | str | Path | None = None,
        *,
        store: Store | str = "memory:",
        policy: str = POLICY,
        parser: Parser | str = "default",
        policy_settings: Mapping[str, Any] | None = None,
        parser_settings: Mapping[str, Any] | None = None,
    ) -> None:
        given = Catalog.load(catalog) if isinstance(catalog, str | Path) else catalog
        with ExitStack() as failing:
            self.store = failing.enter_context(open_store(store)) if isinstance(store, str) else store
            known = open_journal(self.store, given)
            self.fold = start_fold(self.store, known, policy, policy_settings)
            if isinstance(parser, str):
                parser = make_parser(parser, objectives=known.objectives, **(parser_settings or {}))
            self.operations = Operations(self.fold, self.store, parser)
            self.conversation = Conversation(self.operations)
            self._lock = threading.RLock()
            self.catch_up()
            failing.pop_all()

    def hear(self, user: str, query: str | Sequence[str], *, id: str | None = None) -> Heard:
        """Take in a query: a text, or names of objectives, most important first; with an id, repeating it is safe."""
        return self._run(self.operations.hear(user, query, id=id))

    def message(self, user: str, text: str) -> Reply:
        """Answer whatever a person types: a wish, a limit, how something was, a question, or small talk."""
        return self._run(self.conversation.reply(user, text))

    def recommend(
        self,
        user: str,
        *,
        size: int = 1,
        offer: Sequence[str] | None = None,
        text: str | None = None,
        where: Mapping[str, Any] | None = None,
        id: str | None = None,
    ) -> Recommendation:
        """Choose items for a user.

        Parameters
        ----------
        user
            Any text; nobody needs to be announced.
        size
            How many items.
        offer
            Ids of the items that may be chosen; all by default.
        text
            Something the user says, heard first.
        where
            What an item must be, `{"city": "Vienna", "kind": ["hotel", "hostel"], "price": {"max": 120}}`: a value, a
            list of them, bounds, or `{"not": ...}`, by name of a detail or objective. What the user has said holds too.
        id
            An id for the decision, to make repeating the call safe; made up by default.
        """
        return self._run(self.operations.recommend(user, size=size, offer=offer, text=text, where=where, id=id))

    def feedback(
        self,
        decision: str,
        *,
        item: str | None = None,
        rewards: Mapping[str, float] | None = None,
        utility: float | None = None,
        id: str | None = None,
    ) -> Learned:
        """Take in what came of a decision: some or all of it, now or later, as often as you like.

        A utility that differs from one told before takes its place: of a click, a booking and a cancellation the last
        stands, and all stay in the journal. Measured values stay as first told; another is a `Contradiction`.

        Parameters
        ----------
        decision
            The id of a recommendation.
        item
            Which of its items; the first by default.
        rewards
            Measured values by objective, each in its own range.
        utility
            How good it was as a whole, from -1 to 1.
        id
            An id for this feedback on the decision, to make repeating the call safe whatever came after it. The same id
            with something else is a `Contradiction`.

        Returns
        -------
        What was learned from it.
        """
        return self._run(self.operations.feedback(decision, item=item, rewards=rewards, utility=utility, id=id))

    def preference(self, user: str) -> Card:
        """Return what is believed of a user: the preference card."""
        return self._run(self.operations.preference(user))

    def correct(self, user: str, ranking: Sequence[str]) -> Card:
        """Take back all that a user said, and hear this instead; what the user felt stays."""
        return self._run(self.operations.correct(user, ranking))

    def forget(self, user: str) -> None:
        """Erase a person from journal, states and memory; what was learned about items stays."""
        self._run(self.operations.forget(user))

    def put_item(self, item: Item) -> bool:
        """Add an item, or change what is known of one; returns whether it is new."""
        return self._run(self.operations.put_item(item))

    def retire_item(self, item: str) -> None:
        """Take an item out: it is recommended no more, and what was learned about it is forgotten."""
        self._run(self.operations.retire_item(item))

    @property
    def items(self) -> dict[str, Item]:
        """What can be recommended, by id."""
        return dict(self.fold.items)

    @property
    def objectives(self) -> tuple[str, ...]:
        """The names of what matters."""
        return tuple(objective.name for objective in self.fold.catalog.objectives)

    def catch_up(self) -> int:
        """Fold in what others appended; returns the position."""
        with self._lock:
            while True:
                page, states = self.operations.fetcher.read(self.fold.position, PAGE)
                if not page:
                    return self.fold.position
                self._bring_in(states)
                self.fold.apply_all(page)

    def _bring_in(self, states: Iterable[UserState]) -> None:
        for state in states:
            self.fold.restore(state)

    def digest(self, users: Iterable[str]) -> str:
        """Return a digest of all that is known, of these users among it; advisors that know the same have the same."""
        wanted = list(users)
        with self._lock:
            absent = [user for user in wanted if user not in self.fold.people]
            self._bring_in(self.operations.fetcher.fetch(absent, self.fold.position).values())
            return self.fold.digest(wanted)

    def save(self) -> Snapshot:
        """Keep the state in the store, so that the next start need not read the whole journal."""
        with self._lock:
            snapshot = self.fold.snapshot()
            self.store.save(self.fold.name, snapshot, packed(self.fold.export(list(self.fold.unsaved))))
            return snapshot

    def shrink(self, resident_users: int) -> None:
        """Let the users that were not heard of for longest leave memory, until so many are left."""
        with self._lock:
            leaving = list(self.fold.people)[: max(0, len(self.fold.people) - resident_users)]
            self.store.save(self.fold.name, None, packed(self.fold.export(leaving)))
            for user in leaving:
                self.fold.evict(user)

    def warm_up(self) -> None:
        """Have all that requests need ready: machine code, compiled at the first start on a machine, and words."""
        self.compile()
        self.operations.parser.warm_up()

    def compile(self) -> None:
        """Have machine code ready, which is compiled at the first start on a machine."""
        scratch = type(self.fold.policy)(**self.fold.policy.params)
        scratch.add_arms(["a", "b"])
        scratch.hear("a", range(scratch.n_objectives))
        for _ in range(2 * scratch.n_objectives):
            scratch.learn("a", "a", [0.5] * scratch.n_objectives, 0.5)
        scratch.choose("a", size=2)
        if scratch.learns_preference:
            scratch.preference("a")
            scratch.revise("a", "a", 0.4, before=0.5)
            scratch.utility_weight("a", "b")
        Mixture(n_objectives=scratch.n_objectives).fit([(0,)])

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def __enter__(self) -> Advisor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, operation: Operation[T]) -> T:
        """Drive an operation, with all that it needs done at once; nothing else happens meanwhile."""
        with self._lock:
            answer: Any = None
            try:
                while True:
                    answer = self._do(operation.send(answer))
            except StopIteration as end:
                result: T = end.value
                return result

    def _do(self, step: Step) -> Any:
        if isinstance(step, Append):
            events.check(step.event)  # nothing may get into the journal that cannot be folded
            strangers = self.fold.strangers([step.event])
            if strangers:
                self._bring_in(self.operations.fetcher.fetch(strangers, self.fold.position).values())
            (position,) = self.store.append([step.event])
            if position == self.fold.position + 1:
                self.fold.apply(step.event._replace(position=position))
            elif position:
                self.catch_up()
            return position
        if isinstance(step, Erase):
            position = self.store.erase(step.user, events.make(events.ERASURE, {}), events.scrub)
            self.catch_up()
            return position
        if isinstance(step, CatchUp):
            return self.catch_up()
        return step.question()


def first_catalog(store: Store) -> str | None:
    """Return what to put into a journal if nobody named a catalog: hotels into an empty one, else nothing."""
    return None if store.last() else "hotels"


def open_journal(store: Store, catalog: Catalog | None) -> Catalog:
    """Return the objectives of a journal, after writing them and the items of a catalog into a new one."""
    first = store.read(0, limit=1)
    if not first:
        if catalog is None:
            raise InvalidSetting("a new journal needs a catalog, but got none; name one, such as 'hotels'")
        # Whoever comes second finds the key taken; the items are part of the same transaction.
        _begin(store, catalog)
        first = store.read(0, limit=1)
    known = Catalog.from_content(dict(events.check(first[0]).body["catalog"]), source="the journal")
    if catalog is not None and _unscaled(catalog) != _unscaled(known):
        raise InvalidSetting(
            f"a journal's objectives must stay, {[one.name for one in known.objectives]}, but the catalog"
            f" {catalog.name!r} has {[one.name for one in catalog.objectives]} or describes them otherwise;"
            " start another journal, or leave the catalog out"
        )
    return known


def _unscaled(catalog: Catalog) -> list[Objective]:
    return [replace(one, scale=()) for one in catalog.objectives]


def _begin(store: Store, catalog: Catalog) -> None:
    scaled = with_scales(catalog.objectives, [item.values for item in catalog.items])
    start = [events.opening(replace(catalog, objectives=scaled))]
    start += [events.item(item)._replace(key=f"{events.ITEM}:{item.id}") for item in catalog.items]
    store.append(start)


def start_fold(store: Store, catalog: Catalog, policy: str = POLICY, settings: Mapping[str, Any] | None = None) -> Fold:
    """Return a fold of a journal as far as a snapshot has it; the rest is to be read on."""
    fold = Fold(catalog, make_served(policy, catalog, settings or {}))
    snapshot = store.snapshot(fold.name)
    if snapshot is not None:
        try:
            fold.load(snapshot)
        except Exception as problem:  # whatever is wrong with it: it only saves time
            _log.warning("a snapshot is damaged, and is made anew from the whole journal: %s", problem)
            fold = fold.fresh()
    if "seed" not in (settings or {}):
        fold.policy.reseed()
    return fold


def make_served(name: str, catalog: Catalog, settings: Mapping[str, Any]) -> Policy:
    """Return a policy that knows what rewards and utilities are here: from 0 to 1, and at most 1."""
    params = dict(settings)
    if issubclass(find_policy(name), FisherPQUCB) and name != FisherUCB.name:
        params = {"level": 1.0, "unit": 1.0 / catalog.n_objectives, **params}
    if name == "fisher-pqucb-robust" and "anchor" not in params:
        params["anchor"] = Mixture(ridge=params.get("ridge", 0.5), window=WINDOW)
    return make_policy(name, n_objectives=catalog.n_objectives, **params)
