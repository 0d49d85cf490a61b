"""A turn in a conversation: an act of a message, what it points at, and the answer to it as far as it is known."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from druthers.advisor import decisions, events
from druthers.advisor.answers import Heard, Reply
from druthers.advisor.messages import Context, Kind, Message
from druthers.advisor.operations import Operations
from druthers.advisor.person import Person
from druthers.advisor.reasons import spaced
from druthers.advisor.said import called, references, ways
from druthers.advisor.steps import Look, Operation
from druthers.catalogs import Item
from druthers.limits import Where
from druthers.limits.words import fold
from druthers.stores import Event


@dataclass(frozen=True)
class Turn:
    """An act of a message, and what it is about."""

    ask: Operations  # what can be done, and is known
    user: str  # who says it
    message: Message  # what is said
    decision: str  # the last recommendation
    at: Sequence[Item]  # its items, each at its place, whether or not they are still there
    about: Sequence[Item]  # items that the message points at
    size: int  # how many items to recommend next
    spoken_of: Item | None = None  # the item that "it" is, if no answer was about another one since
    beside: bool = False  # whether another act of the same message recommends something after it
    rated: tuple[str, str] = "", ""  # after which decision what was rated or picked last
    instead: Item | None = None  # of which item something was told by mistake, and is told of another one now
    person: Person | None = None  # what is known of who says it, for an answer that only tells

    @property
    def text(self) -> str:
        """What is said, as it was written."""
        return self.message.text

    @property
    def plain(self) -> str:
        """The same in small plain letters."""
        return " ".join(fold(self.text).split())

    @property
    def shown(self) -> Sequence[Item]:
        """The items shown last that are still there."""
        return [item for item in self.at if item.id in self.ask.fold.items]

    @property
    def held(self) -> Where:
        """The limits of the person."""
        return {} if self.person is None else self.person.wishes.limits

    @property
    def pointed(self) -> Sequence[Item]:
        """The items that it is about: those that it points at, or else what "it" is."""
        return self.about or (self.shown[:1] if self.spoken_of is None else [self.spoken_of])

    @property
    def namesakes(self) -> Sequence[Item]:
        """Items that it calls by a name that they share, and so does not tell apart."""
        many = Counter(item.name for item in self.about)
        return [item for item in self.about if many[item.name] > 1 and called(self.plain, item) >= 0]

    @property
    def corrects(self) -> bool:
        """Whether it puts right what was told of an item before: "sorry, I meant it was great"."""
        return ways("corrects").search(self.plain) is not None and ways("past_of_one").search(self.plain) is not None

    def reply(self, text: str, *, heard: Heard | None = None, about: Sequence[Item] = ()) -> Reply:
        """Return the answer to this act."""
        text = spaced(text, self.ask.columns.names)
        return Reply(self.message.kind.value, text, tuple(item.id for item in about or self.about), heard)

    def draft(self, text: str, *, heard: Heard | None = None, about: Sequence[Item] = (), **how: Any) -> "Draft":
        """Return the answer to this act as far as it is known; `how` says what it recommends, if it does."""
        next = None if self.beside or not how else Next(self.size, **how)
        return Draft(self.reply(text, heard=heard, about=about), self, next)


@dataclass(frozen=True)
class Next:
    """What an answer recommends."""

    size: int  # how many items
    without: Sequence[str] = ()  # items that are left out
    only: Sequence[str] | None = None  # the items among which it chooses
    asks: bool = True  # whether it may ask something


@dataclass(frozen=True)
class Draft:
    """The answer to an act as it is known when the message is taken in; the rest is found out after that.

    It is kept along with what the message says, so that whoever finds that taken in, and not answered, can answer it.
    """

    reply: Reply
    turn: Turn | None = None  # what was said, for who has read it
    next: Next | None = None
    asked: str | None = None  # the words of an act that asks

    def placed(self, before: int) -> "Draft":
        """Return it for a message whose gathered events come after a position."""
        heard = self.reply.heard
        if heard is None:
            return self
        return replace(self, reply=replace(self.reply, heard=replace(heard, position=before - heard.position)))

    def content(self) -> dict[str, Any]:
        """Return plain values: of what was heard, its place among the events behind the message."""
        heard, next = self.reply.heard, self.next
        told = {"kind": self.reply.kind, "text": self.reply.text, "items": list(self.reply.items), "asked": self.asked}
        place = None if heard is None else -heard.position
        return {**told, "heard": place, "next": None if next is None else {**vars(next)}}

    @classmethod
    def from_content(cls, content: Mapping[str, Any], heard: Heard | None) -> "Draft":
        """Undo `content`, with what was heard."""
        reply = Reply(content["kind"], content["text"], tuple(content["items"]), heard)
        return cls(reply, None, content["next"] and Next(**content["next"]), content["asked"])


def at_their_places(ask: Operations, decision: str, ids: Sequence[str]) -> Operation[list[Item]]:
    """Return the items of a decision, each at the place at which it was shown: numbers point at no other one.

    Of those that are there no longer only the name is left.
    """
    items = ask.fold.items
    if all(id in items for id in ids):
        return [items[id] for id in ids]
    past: Event | None = yield Look(partial(ask.store.find, events.decision_key(decision)))
    names = {} if past is None else {one.item: one.name for one in decisions.suggestions(past)}
    return [items.get(id) or Item(id, names.get(id, id)) for id in ids]


def context_of(ask: Operations, person: Person | None, at: Sequence[Item]) -> Operation[Context]:
    """Return what a message comes after, where these were shown last."""
    if person is None:
        return Context(at)
    picked = (yield from _taken_after(ask, person.shown[0])) if at else None
    wished = person.wishes.standing(ask.catalog)["wished"]
    items, spoken_of = ask.fold.items, _answered_about(person)
    there = [place for place, item in enumerate(at) if item.id in items]
    meant = spoken_of or picked or next(reversed(person.felt), None)
    latest = next((place for place in there if at[place].id == meant), there[0] if there else 0)
    # What an answer since was about is meant before what was rated, or picked, among items shown earlier.
    rated = None if spoken_of else items.get(person.rated[1])
    known = rated is not None or (bool(at) and at[latest].id == meant)
    return Context(at, wished, person.wishes.hopes | person.wishes.limits, latest, rated, known, bool(picked))


def put_right(turn: Turn) -> Operation[Turn]:
    """Return a turn about the items among which one was rated last, if it puts that right by number.

    "No, I mean the second was terrible" is said of what was shown then, not of what is shown since.
    """
    ask, (decision, rated) = turn.ask, turn.rated
    if turn.message.kind != Kind.FEEDBACK or not (decision and turn.corrects):
        return turn
    numbered = references(turn.plain, turn.at) and all(called(turn.plain, item) < 0 for item in turn.about)
    if numbered and decision != turn.decision:
        told = yield from ask.told.recall(decision)
        if max(turn.message.places) < len(told.items):
            at = yield from at_their_places(ask, decision, told.items)
            about = tuple(at[place] for place in turn.message.places if at[place].id in ask.fold.items)
            turn = replace(turn, decision=decision, at=at, about=about)
    wrong = ask.fold.items.get(rated)
    return turn if wrong in turn.about else replace(turn, instead=wrong)


def answering(turn: Turn, ask: Operations) -> Operation[Turn]:
    """Return a turn as it is when it is answered: another act of the message may have been about an item since."""
    person = yield from ask.find(turn.user)
    latest = None if person is None or person.shown[0] != turn.decision else _answered_about(person)
    before = "" if turn.spoken_of is None else turn.spoken_of.id
    here = ask.fold.items.get(latest or "") or (turn.spoken_of if before in ask.fold.items else None)
    return replace(turn, ask=ask, person=person, spoken_of=here)


def remember(turn: Turn, reply: Reply) -> None:
    """Keep in mind which item an answer was about: one alone, or the best."""
    person = turn.ask.fold.people.get(turn.user)
    if person is not None and reply.items and (len(reply.items) == 1 or turn.message.kind == Kind.BEST):
        person.spoken_of = turn.decision, reply.items[0]


def _answered_about(person: Person) -> str | None:
    """Return the item that the last answer since a decision was about."""
    decision, item = person.spoken_of
    return item if item and decision == person.shown[0] else None


def _taken_after(ask: Operations, decision: str) -> Operation[str | None]:
    """Return what was picked after a decision, from its items or in answer to its question."""
    for key in (events.choice_key(decision), events.answer_key(decision)):
        event: Event | None = yield Look(partial(ask.store.find, key))
        if event is not None:
            return str(event.body["picked"] or "") or None
    return None
