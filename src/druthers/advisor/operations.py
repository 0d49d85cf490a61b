"""What an advisor does, step by step, without doing any of it itself.

An operation is a generator. It yields what has to be done outside - append an event, erase a person, look something
up, read on - and is sent what came of it; whoever drives it decides how: at once, or together with the operations of
other requests. Between two yields nothing else runs, so an operation sees and changes the fold as if it were alone.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from druthers.advisor import cards, decisions, events, statements
from druthers.advisor.answers import Card, Decided, Heard, Recommendation, plain
from druthers.advisor.asking import Asked, Asking
from druthers.advisor.choosing import Choosing
from druthers.advisor.corrections import number_instead
from druthers.advisor.decisions import Recent, Told
from druthers.advisor.fetching import Fetcher
from druthers.advisor.fold import Fold
from druthers.advisor.person import Person
from druthers.advisor.stating import stated_in, vocabulary
from druthers.advisor.steps import Append, CatchUp, Erase, Look, Operation, Read
from druthers.advisor.wishes import Wishes
from druthers.advisor.wording import worth_telling
from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction, InvalidRanking, UnknownArm, UnknownDecision, UnknownUser
from druthers.language import Parser
from druthers.limits import Columns, LimitReader, Limits, check_where, merge
from druthers.limits.stated import beside
from druthers.limits.words import alike
from druthers.policies.choosing import Places
from druthers.policies.contexts import as_told
from druthers.stores import Event, Store, UserState
from druthers.types import Context, Reading

ATTEMPTS = 20


class Operations:
    """Everything an advisor can be asked for, as operations on a fold.

    Parameters
    ----------
    fold
        What is known.
    store
        Where events are; asked for what is not in memory.
    parser
        Reads texts.
    asking
        When people are asked something.
    """

    def __init__(self, fold: Fold, store: Store, parser: Parser, asking: Asking | None = None) -> None:
        self.store = store
        self.asking = asking or Asking()
        self.adopt(fold, parser)

    def adopt(self, fold: Fold, parser: Parser) -> None:
        """Go on with another fold of the same journal, and forget all that was kept of the one before."""
        self.fold = fold
        self.parser = parser
        self.fetcher = Fetcher(fold, self.store)
        self.told = Recent(fold, self.store)
        self.choosing = Choosing(fold)
        self._limit_readers: list[tuple[Columns, LimitReader]] = []  # at most one, which those of a message share

    @property
    def catalog(self) -> Catalog:
        """The objectives; items are in the fold."""
        return self.fold.catalog

    @property
    def columns(self) -> Columns:
        """What items are like, column by column."""
        return self.choosing.columns

    def append(self, event: Event) -> Operation[int]:
        """Append an event; gives its position, or 0 if its key is taken or its user was erased."""
        position: int = yield Append(event)
        return position

    def standing(self, person: Person | None) -> Wishes:
        """Return what a person wishes."""
        return Wishes() if person is None else person.wishes

    def find(self, user: str) -> Operation[Person | None]:
        """Bring a user into memory; None for one without events."""
        while (person := self.fold.people.get(user)) is None:
            before = self.fold.departures
            found: dict[str, UserState] = yield Look(partial(self.fetcher.fetch, [user], self.fold.position))
            if self.fold.departures == before:  # nobody came, said more and left again meanwhile, or was erased
                person = self.fold.people.get(user) or (self.fold.restore(found[user]) if user in found else None)
                if person is None:
                    self.fetcher.note_absent(user, before)  # most are written of next
                break
        return person

    def hear(
        self,
        user: str,
        query: str | Sequence[str],
        *,
        id: str | None = None,
        decision: str | None = None,
        read: tuple[Reading, Limits] | None = None,
    ) -> Operation[Heard]:
        """Take in a query: a text, or names of objectives, most important first.

        Parameters
        ----------
        user, query
            Who says what.
        id
            An id for the query: heard again with the same id, it counts once.
        decision
            The id of the decision that it comes along with: once for each.
        read
            What the text says, for who has read it already.
        """
        events.as_id(user, "a user")
        key = None if decision is None else events.query_key(decision)
        if id is not None:
            key = events.said_key(events.as_id(id, "a query"))
        reading, limits = None, Limits()
        lost: tuple[str, ...] = ()
        body: dict[str, Any]
        if isinstance(query, str):
            columns = self.columns
            reading, limits = read or (yield Read(lambda: self._read(query, columns)))
        else:
            body = {"ranking": self._names(query)}
        person = yield from self.find(user)
        if reading is not None:
            known = self.standing(person)
            if read is None and known.limits:  # "make it fifteen hundred"
                text, reader = reading.text, self.limit_reader(columns)
                again = yield Read(lambda: number_instead(text, known.limits, self.parser, reader))
                reading, limits = (reading, limits) if again is None else again
            limits = _beside(limits, reading, known) if known.limits or known.hopes else limits
            lost = *limits.unmatched, *worth_telling(reading.leftover, self.catalog.name, limits.dropped)
            body = statements.content(reading, limits, lost)
        position = yield from self.append(events.make(events.QUERY, body, user=user, key=key))
        if not position:
            return (yield from self.heard_again((yield from self._heard_before(str(key), user, body))))
        hopes = dict(body.get("hopes", {}))
        return Heard(user, tuple(body["ranking"]), reading, position, limits.stated, limits.dropped, lost, hopes)

    def heard_again(self, event: Event) -> Operation[Heard]:
        """Return what was understood of a query that is in the journal, as it was told then."""
        heard = statements.heard_then(event, [one.name for one in self.catalog.objectives])
        if heard is not None:
            return heard
        # Journals of before do not tell: its words are read again.
        columns, text = self.columns, str(event.body["text"])
        reading, limits = yield Read(lambda: self._read(text, columns))
        lost = *limits.unmatched, *worth_telling(reading.leftover, self.catalog.name)
        told = reading, event.position, limits.stated, limits.dropped, lost
        return Heard(str(event.user), tuple(event.body["ranking"]), *told, new=False)

    def limit_reader(self, columns: Columns) -> LimitReader:
        """Return what reads limits against these columns; made once for them, by whichever thread needs it first."""
        known = self._limit_readers[0] if self._limit_readers else None
        if known is None or known[0] is not columns:
            known = columns, LimitReader(columns, self.catalog.objectives, self.catalog.name, vocabulary())
            self._limit_readers[:] = [known]
        return known[1]

    def _read(self, text: str, columns: Columns) -> tuple[Reading, Limits]:
        """Read a text: limits first, and what is left as wishes."""
        reading, limits = stated_in(text, self.limit_reader(columns), self.parser, columns)
        return replace(reading, text=text), limits

    def _heard_before(self, key: str, user: str, body: dict[str, Any]) -> Operation[Event]:
        """Return the query that has this key already, if it is the same one."""
        event: Event | None = yield Look(lambda: self.store.find(key))
        given = "text" if "text" in body else "ranking"
        same = event is not None and event.user == user and event.body.get(given) == body[given]
        if event is None or not same or ("text" in event.body) != ("text" in body):
            id = key.partition(":")[2]
            raise events.taken("a query", id)
        return event

    def correct(
        self,
        user: str,
        ranking: Sequence[str] = (),
        *,
        weights: Mapping[str, float] | None = None,
        dismissed: Sequence[str] = (),
        where: Mapping[str, Any] | None = None,
        hopes: Mapping[str, Any] | None = None,
    ) -> Operation[Card]:
        """Take back all that a user said, and hear this instead: a ranking or weights, limits and hopes.

        Limits and hopes that were said stay unless others are given.
        """
        body: dict[str, Any] = {"ranking": self._names(ranking)}
        if weights is not None:
            body |= statements.of_weights(self.catalog, weights)
        if dismissed:
            body["dismissed"] = self._names(dismissed)
        given = {"limits": where, "hopes": hopes}
        told = {part: check_where(one, self.choosing.limitable()) for part, one in given.items() if one is not None}
        person = yield from self.find(events.as_id(user, "a user"))
        if person is None:
            raise _unknown(user)
        if told:
            kept = {"limits": person.wishes.limits, "hopes": person.wishes.hopes}
            body |= {"limitless": True, **kept, **told}
        self.fold.policy.preference(user)  # what cannot be answered is not begun
        event = events.make(events.CORRECTION, body, user=user, bound=person.first)
        if not (yield from self.append(event)):  # erased meanwhile
            yield CatchUp()
        return (yield from self.preference(user))

    def _names(self, ranking: Sequence[str]) -> list[str]:
        if isinstance(ranking, Mapping):
            law = "a ranking must be a list of objectives, most important first"
            remedy = "to set weights, call `correct(user, weights=...)`"
            raise InvalidRanking(f"{law}, but got a table, {events.shown(ranking)}; {remedy}")
        if not isinstance(ranking, Collection) or isinstance(ranking, str | bytes | bytearray | set | frozenset):
            got = events.shown(ranking)
            raise InvalidRanking(f"what is said must be a text, or a list of objectives in order, but got {got}")
        names = list(ranking)
        self.catalog.ranking(names)
        if len(set(names)) != len(names):
            raise Contradiction(f"a ranking must not repeat an objective, but got {names!r}")
        return names

    # Over sixty lines because it is one story, from what is asked for to what the journal keeps; the work is elsewhere.
    def recommend(
        self,
        user: str,
        *,
        size: int = 1,
        offer: Sequence[str] | None = None,
        text: str | Sequence[str] | None = None,
        where: Mapping[str, Any] | None = None,
        id: str | None = None,
        deferred: bool = False,
        aside: bool = False,
        asks: bool = True,
        repeats: bool = True,
        floors: Sequence[Mapping[str, Any]] = (),
        context: Context | None = None,
    ) -> Operation[Recommendation]:
        """Choose items for a user, after hearing a query if one comes along; the same id gives the same decision.

        Limits that the user has said hold too; `where` counts where both are about the same thing. An offer is taken
        as it is. A decision aside is there to be rated, and was never shown; it asks nothing,
        nor does one for who is asked something else. Without repeats, what was shown since the
        user last said something is left out. Floors promise groups of items, by `where` or `items`, their `share` of
        slates. The context is kept whatever the policy: one that does not learn from contexts leaves it aside.
        """
        events.as_id(user, "a user")
        self.choosing.check_offer(offer, size)
        given = {} if where is None else check_where(where, self.choosing.limitable())
        groups = self.choosing.check_floors(floors)
        told = as_told(context)
        there = {"context": told} if told else {}
        asked: dict[str, Any] = {"offer": None if offer is None else list(offer), "size": int(size), "where": given}
        asked |= {**({} if repeats else {"repeats": False}), **({"floors": groups} if groups else {}), **there}
        if id is not None:
            known = yield from self.told.find(events.as_id(id, "a decision"))
            if known is not None:
                return (yield from self._again(id, user, text, asked))
        heard = None
        if text is not None:
            heard = yield from self.hear(user, text, decision=id)
        person = yield from self.find(user)
        self.choosing.check_offer(offer, size)  # an item may have left meanwhile
        said = {} if person is None or offer is not None else person.wishes.limits
        limits = merge(said, given)
        without = [] if repeats or person is None else [item for item in person.seen if item in self.fold.items]
        rows = self.choosing.eligible(offer, limits, without)
        eligible = None if rows is None else Places(rows)
        count = min(size, len(self.fold.items) if rows is None else len(rows))
        promised = [self.choosing.floor(floor) for floor in groups]
        id = id or secrets.token_hex(12)
        question = None
        usual = not there
        with self.fold.within(there):
            shift = self.choosing.shift(user, person, usual=usual)
            decision = self.fold.policy.choose_slate(user, eligible, count, shift=shift, floors=promised)
            suggestions = self.choosing.suggest(decision, person, rows, usual=usual)
            if asks and not (aside or deferred):
                among_all = usual and rows is None and not shift
                question = self.choosing.question(self.asking, user, person, decision, usual=among_all)
        regret = float(decision.reasons[0].max()) - suggestions[0].utility
        body = {
            "items": [one.item for one in suggestions],
            **asked,
            "heard": text is not None,
            "limits": limits,
            **decisions.content(suggestions, decision, self.fold.policy),
            **({"without": without} if without else {}),
            "facts": [[fact.content() for fact in one.facts] for one in suggestions],
            **({} if question is None else {"question": plain(question)}),
            **({"deferred": True} if deferred else {}),
            **({"aside": True} if aside else {}),
        }
        event = events.make(events.DECISION, body, user=user, about=id, key=events.decision_key(id))
        position = yield from self.append(event)
        if not position:
            return (yield from self._again(id, user, text, asked))
        self.told.keep(id, Told(event._replace(position=position)))
        return Recommendation(id, user, suggestions, heard, regret, question)

    def _again(
        self, id: str, user: str, text: str | Sequence[str] | None, asked: Mapping[str, Any]
    ) -> Operation[Recommendation]:
        """Return a decision that was made, with what was understood, if just the same is asked for."""
        event = yield Look(lambda: self.store.find(events.decision_key(id)))
        parts = ("offer", "size", "where", "repeats", "floors", "context")
        told = {} if event is None else {"where": {}} | {part: event.body[part] for part in parts if part in event.body}
        same = event is not None and event.user == user and asked == told
        if event is not None and "heard" in event.body:
            came = event.body["heard"]
        else:  # journals of before do not say it: a query has the decision's id then
            came = (yield Look(lambda: self.store.find(events.query_key(id)))) is not None
        if event is None or not same or came != (text is not None):
            raise events.taken("a decision", id)
        heard = None if text is None else (yield from self.hear(user, text, decision=id))  # refused if another
        asked_back = Asked.from_content(event.body.get("question"))
        return Recommendation(id, user, decisions.suggestions(event), heard, question=asked_back, new=False)

    def weights(self, user: str) -> list[float]:
        """Return the weights of a user; none where the policy learns no preferences."""
        policy = self.fold.policy
        return policy.preference(user).weights.tolist() if policy.learns_preference else []

    def decision(self, id: str) -> Operation[Decided]:
        """Return a decision as it was made, and what came of it."""
        made: Decided | None = yield Look(lambda: decisions.decided(self.store.about(id)))
        if made is None:
            raise UnknownDecision(f"a decision must have been made, but got {id[:200]!r}")
        return made

    def preference(self, user: str) -> Operation[Card]:
        """Return what is believed of a user."""
        person = yield from self.find(events.as_id(user, "a user"))
        if person is None:
            raise _unknown(user)
        past: list[Event] = yield Look(lambda: self.past(user))
        person = yield from self.find(user)
        if person is None:  # erased meanwhile
            raise _unknown(user)
        policy = self.fold.policy
        return Card(
            user=user,
            weights=cards.weigh(policy, self.catalog, user),
            queries=person.queries,
            feedbacks=person.feedbacks,
            trust=cards.trust(policy, user),
            suspicious=cards.suspect(self.catalog, past),
            **person.wishes.standing(self.catalog),
        )

    def past(self, user: str) -> list[Event]:
        """Return what a user said, as the objectives of today have it; asks the store."""
        said = (event for event in self.store.walk(user=user) if event.kind in (events.QUERY, events.CORRECTION))
        return [self.fold.editions.today(event) for event in said]

    def forget(self, user: str) -> Operation[None]:
        """Erase a person: journal, states and memory; what was learned about items stays."""
        if not (yield Erase(events.as_id(user, "a user"))):
            raise _unknown(user)

    def put_item(self, item: Item) -> Operation[bool]:
        """Add an item, or change what is known of one; returns whether it is new."""
        events.as_id(item.id, "an item")
        Catalog(name="one", objectives=self.catalog.objectives, items=[item])  # checks it
        before = self.fold.items.get(item.id)
        if before != item:
            yield from self.append(events.item(item))
        return before is None

    def retire_item(self, item: str) -> Operation[None]:
        """Take an item out."""
        if not isinstance(item, str) or item not in self.fold.items:
            raise UnknownArm(f"an item must be in the catalog, but got {events.shown(item)}")
        yield from self.append(events.make(events.RETIREMENT, {"item": item}))


def _beside(limits: Limits, reading: Reading, wishes: Wishes) -> Limits:
    """Return limits beside those in force: what does not matter any more is neither limited nor hoped for."""
    limits = beside(limits, wishes.limits)
    gone = [one.text for one in reading.evidence if one.objective in reading.dismissed]
    lifted = [name for name in reading.dismissed_names if name in wishes.hopes | wishes.limits]
    lifted += [name for name in wishes.hopes | wishes.limits if any(alike(name, text) for text in gone)]
    lifted += [one.name for one in limits.freed if one.name in wishes.hopes.keys() - wishes.limits.keys()]
    lifted = [name for name in dict.fromkeys(lifted) if name not in limits.where and name not in limits.dropped]
    return replace(limits, dropped=(*limits.dropped, *lifted))


def _unknown(user: str) -> UnknownUser:
    return UnknownUser(f"a user must have said or felt something, but {user[:200]!r} is not known")
