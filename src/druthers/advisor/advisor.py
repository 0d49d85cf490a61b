"""The advisor: policy, parser and store as one conversation."""

import logging
import threading
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, TypeVar

from druthers.advisor import events
from druthers.advisor.answers import Card, Heard, Learned, Picked, Recommendation, Reply
from druthers.advisor.asking import Asking
from druthers.advisor.editions import Editions
from druthers.advisor.operations import Operations
from druthers.advisor.outcomes import feedback, pick
from druthers.advisor.person import packed
from druthers.advisor.replies import Conversation
from druthers.advisor.serving import compile_steps, start_fold
from druthers.advisor.steps import Append, CatchUp, Erase, Operation, Step
from druthers.advisor.updating import Changes, apply_changes, find_changes, open_journal
from druthers.catalogs import Catalog, Item
from druthers.errors import InvalidSetting, ObjectivesChanged
from druthers.language import Parser, make_parser
from druthers.own import own_parts
from druthers.stores import Snapshot, Store, UserState, open_store
from druthers.stores.base import PAGE
from druthers.types import Context

T = TypeVar("T")
_log = logging.getLogger(__name__)

POLICY = "stated-ucb"
CHANGES = "the journal counts where the catalog %r differs; `druthers catalog apply` would change: %s"


class Advisor:
    """A recommender that listens, and keeps its word: what it has acknowledged, its store has.

    All that happens is an event in a journal; what is known is a fold over it. Several advisors may work on one
    journal, in one process or in many. All methods may be called from any thread.

    Parameters
    ----------
    catalog
        What can be recommended: a catalog, its file, or the name of one that comes along. Needed for a new journal; an
        old one knows its own, and what a catalog of the same name would change is logged. `update` changes it.
    store
        Where the journal is: "memory:", "sqlite:PATH" or "postgresql://...".
    policy
        The name of a policy. Another one than before starts over from the journal.
    parser
        The name of a parser, or one that is made.
    policy_settings, parser_settings
        Settings of the policy and of the parser.
    population
        Whether who has said nothing is met with what others want, once twenty people have said something.
    asking
        When people are asked something: `Asking(price=..., budget=...)`.

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
        population: bool = True,
        asking: Asking | None = None,
    ) -> None:
        given = Catalog.load(catalog) if isinstance(catalog, str | Path) else catalog
        with ExitStack() as failing:
            self.store = failing.enter_context(open_store(store)) if isinstance(store, str) else store
            self.store.refuse_lost()
            editions = open_journal(self.store, given)
            self._policy, self._policy_settings = policy, dict(policy_settings or {})
            self._parser, self._parser_settings = parser, dict(parser_settings or {})
            self._population = population
            self.fold = start_fold(self.store, editions, policy, self._policy_settings, population)
            self.operations = Operations(self.fold, self.store, self._make_parser(), asking)
            self.conversation = Conversation(self.operations)
            self._lock = threading.RLock()
            self.catch_up()
            if given is not None and (changes := self.compare(given)):
                level = logging.INFO if changes.catalog is None else logging.WARNING
                _log.log(level, CHANGES, given.name, "; ".join(changes.lines))
            failing.pop_all()

    def hear(self, user: str, query: str | Sequence[str], *, id: str | None = None) -> Heard:
        """Take in a query: a text, or names of objectives, most important first; with an id, repeating it is safe."""
        return self._run(self.operations.hear(user, query, id=id))

    def message(self, user: str, text: str, *, id: str | None = None) -> Reply:
        """Answer whatever a person types: a wish, a limit, how something was, a question, or small talk.

        With an id, repeating it is safe.
        """
        return self._run(self.conversation.reply(user, text, id=id))

    def recommend(
        self,
        user: str,
        *,
        size: int = 1,
        offer: Sequence[str] | None = None,
        text: str | None = None,
        where: Mapping[str, Any] | None = None,
        id: str | None = None,
        repeats: bool = True,
        floors: Sequence[Mapping[str, Any]] = (),
        context: Context | None = None,
    ) -> Recommendation:
        """Choose items for a user; of several, the best one counts, so they differ as far as tastes are unsure.

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
            What an item must be, `{"city": "Vienna", "kind": {"not": "inn"}, "price": {"max": 120}}`, by name of a
            detail or objective, in the form of `check_where`. What the user has said holds too.
        id
            An id for the decision, to make repeating the call safe; made up by default.
        repeats
            Whether what was shown since the user last said something may come again.
        floors
            Shares of slates that groups of items get at least: `{"share": 0.1, "where": {"city": "Graz"}}`, or with
            `items` in place of `where`. They use the last place; together at most 1.
        context
            What is so about this visit, `{"device": "phone", "weekend": True}`: words, true or false, or numbers from
            -1 to 1, by name. Feedback on the decision tells how the user's weights shift with it.
        """
        asked: dict[str, Any] = {"size": size, "offer": offer, "text": text, "where": where, "id": id}
        asked |= {"repeats": repeats, "floors": floors, "context": context}
        return self._run(self.operations.recommend(user, **asked))

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
        return self._run(feedback(self.operations, decision, item=item, rewards=rewards, utility=utility, id=id))

    def pick(self, decision: str, picked: str | None, *, offer: Sequence[str] | None = None) -> Picked:
        """Take in what a person picked after a decision: once for each, and now or later.

        Parameters
        ----------
        decision
            The id of a recommendation.
        picked
            The id of an item, or None for none of these.
        offer
            The items that could be picked from, two or more (one for None); those of the recommendation by default. The
            choices of its question make it the answer to that, which leaves the pick open.
        """
        return self._run(pick(self.operations, decision, picked, offer=offer))

    def preference(self, user: str) -> Card:
        """Return what is believed of a user: the preference card."""
        return self._run(self.operations.preference(user))

    def correct(self, user: str, ranking: Sequence[str] = (), **instead: Any) -> Card:
        """Take back all that a user said, and hear this instead; what the user felt stays.

        Parameters
        ----------
        user
            Who said it.
        ranking
            What matters, most important first.
        instead
            `weights` by objective in place of a ranking; `dismissed`, what does not matter; `where` and `hopes`, limits
            and what would be nice, in place of those that were said, which stay otherwise.
        """
        return self._run(self.operations.correct(user, ranking, **instead))

    def forget(self, user: str) -> None:
        """Erase a person from journal, states and memory; what was learned about items stays."""
        self._run(self.operations.forget(user))

    def put_item(self, item: Item) -> bool:
        """Add an item, or change what is known of one; returns whether it is new."""
        return self._run(self.operations.put_item(item))

    def retire_item(self, item: str) -> None:
        """Take an item out: it is recommended no more, and what was learned about it is forgotten."""
        self._run(self.operations.retire_item(item))

    def compare(self, catalog: Catalog | str | Path, **how: Any) -> Changes:
        """Return what a catalog would change here; `how` is `renamed`, `retire` and `rescale`, as `update` has them."""
        wanted = Catalog.load(catalog) if isinstance(catalog, str | Path) else catalog
        with self._lock:
            return find_changes(self.fold.catalog, self.fold.items, wanted, **how)

    def update(
        self,
        catalog: Catalog | str | Path,
        *,
        renamed: Mapping[str, str] | None = None,
        retire: bool = False,
        rescale: bool = False,
    ) -> Changes:
        """Make the journal's catalog like this one: objectives, ranges, words and items; return what changed.

        What was said and felt before is read by the new objectives from the first event on, which takes as long as
        folding the whole journal; texts and items alone do not.

        Parameters
        ----------
        catalog
            What the journal should have.
        renamed
            Objectives that get other names: those before, and from then on. Without it, one goes and another one comes.
        retire
            Whether items that the catalog lacks are taken out.
        rescale
            Whether the scales of all objectives are taken anew from the items, not only where the items or what is
            measured changed much.
        """
        with self._lock:
            self.catch_up()
            changes = self.compare(catalog, renamed=renamed, retire=retire, rescale=rescale)
            apply_changes(self.store, self.fold.editions, changes)
            self.catch_up()
            return changes

    @property
    def items(self) -> dict[str, Item]:
        """What can be recommended, by id."""
        return dict(self.fold.items)

    @property
    def objectives(self) -> tuple[str, ...]:
        """The names of what matters."""
        return tuple(objective.name for objective in self.fold.catalog.objectives)

    @own_parts()
    def catch_up(self) -> int:
        """Fold in what others appended; returns the position."""
        with self._lock:
            while True:
                page, states = self.operations.fetcher.read(self.fold.position, PAGE)
                if not page:
                    return self.fold.position
                self._bring_in(states)
                try:
                    self.fold.apply_all(page)
                except ObjectivesChanged:
                    self._start_over()

    def _start_over(self) -> None:
        """Go on with the objectives that the journal has now; where only words changed, all that is known stays."""
        editions = Editions.of(self.store)
        assert editions is not None
        if editions.arithmetic == self.fold.editions.arithmetic:
            self.fold.editions = editions
        else:
            self.fold = start_fold(self.store, editions, self._policy, self._policy_settings, self._population)
        self.operations.adopt(self.fold, self._make_parser())

    def _make_parser(self) -> Parser:
        """Return a parser for the objectives of now: one that was given must be for them."""
        if isinstance(self._parser, str):
            return make_parser(self._parser, objectives=self.fold.catalog.objectives, **self._parser_settings)
        if (names := [objective.name for objective in self._parser.objectives]) != list(self.objectives):
            raise InvalidSetting(
                f"a parser must be for the objectives of the journal, {list(self.objectives)}, but got one for {names};"
                " make another one, or name it"
            )
        return self._parser

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
        compile_steps(self.fold.policy, self.fold.catalog)

    def close(self) -> None:
        """Let go of the store."""
        self.store.close()

    def __enter__(self) -> "Advisor":
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    @own_parts()
    def _run(self, operation: Operation[T]) -> T:
        """Drive an operation, with all that it needs done at once; nothing else happens meanwhile."""
        with self._lock:
            answer: Any = None
            while True:
                try:
                    step = operation.send(answer)
                except StopIteration as end:
                    result: T = end.value
                    return result
                answer = self._do(step)

    def _do(self, step: Step) -> Any:
        if isinstance(step, Append):
            fresh = *step.before, step.event
            for event in fresh:
                events.check(event)  # nothing may get into the journal that cannot be folded
            if strangers := self.fold.strangers(fresh):
                self._bring_in(self.operations.fetcher.fetch(strangers, self.fold.position).values())
            positions = self.store.append(fresh, together=True)
            if positions[0] == self.fold.position + 1:
                for event, position in zip(fresh, positions, strict=True):
                    self.fold.apply(event._replace(position=position))
            elif positions[0]:
                self.catch_up()
            return positions[-1]
        if isinstance(step, Erase):
            position = self.store.erase(step.user, events.make(events.ERASURE, {}), events.scrub)
            self.catch_up()
            return position
        if isinstance(step, CatchUp):
            return self.catch_up()
        return step.question()
