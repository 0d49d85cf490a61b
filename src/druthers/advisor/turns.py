"""A message in a conversation: what it is about, and the answer to it as far as it is known."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from druthers.advisor.answers import Heard, Reply
from druthers.advisor.messages import POINTING, Message
from druthers.advisor.operations import Operations
from druthers.advisor.reasons import spaced
from druthers.advisor.sayings import called, ways
from druthers.catalogs import Item
from druthers.limits.words import fold


@dataclass(frozen=True)
class Turn:
    """A message, and what it is about."""

    ask: Operations  # by which it is taken in
    user: str  # who says what
    text: str
    message: Message  # as it was understood
    # The last recommendation, those of its items that are still there, and all of them, each at its place.
    decision: str
    shown: Sequence[Item]
    about: Sequence[Item]  # items that the message points at
    size: int  # how many items to recommend next
    at: Sequence[Item] = ()
    spoken_of: Item | None = None  # the item that "it" is, if no answer was about another one since
    beside: bool = False  # whether another act of the same message recommends something after it
    rated: tuple[str, str] = "", ""  # after which decision what was rated or picked last
    instead: Item | None = None  # of which item something was told by mistake, and is told of another one now

    @property
    def pointed(self) -> Sequence[Item]:
        """The items that it is about: those that it points at, or else what "it" is."""
        return self.about or (self.shown[:1] if self.spoken_of is None else [self.spoken_of])

    @property
    def namesakes(self) -> Sequence[Item]:
        """Items that it calls by a name that they share, and so does not tell apart."""
        plain = " ".join(fold(self.text).split())
        many = Counter(item.name for item in self.about)
        return [item for item in self.about if many[item.name] > 1 and called(plain, item) >= 0]

    @property
    def corrects(self) -> bool:
        """Whether it puts right what was told of an item before: "sorry, I meant it was great"."""
        plain = " ".join(fold(self.text).split())
        return ways("corrects").search(plain) is not None and ways("past_of_one").search(plain) is not None

    def made_in(self, item: Item) -> Sequence[str]:
        """Return the decisions that what is told of an item belongs to, the likeliest first."""
        decision, rated = self.rated
        again = [decision] if rated == item.id and (self.corrects or item not in self.shown) else []
        return [*again, *([self.decision] if item in self.shown else [])]

    @property
    def vanished(self) -> Sequence[Item]:
        """All items that were shown, where none of them is left and what is said is about one."""
        return self.at if self.message.kind in POINTING and not (self.shown or self.about) else ()

    def reply(self, text: str, *, heard: Heard | None = None, about: Sequence[Item] = ()) -> Reply:
        """Return the answer to this message."""
        text = spaced(text, self.ask.columns.names)
        return Reply(self.message.kind.value, text, tuple(item.id for item in about or self.about), heard)

    def draft(self, text: str, *, heard: Heard | None = None, about: Sequence[Item] = (), **how: Any) -> "Draft":
        """Return the answer to this message as far as it is known; `how` says what it recommends, if it does."""
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


def joined(replies: Sequence[Reply]) -> Reply:
    """Return the answers to the acts of one message as one, of the kind of the first."""
    text = " ".join(one.text for one in replies if one.text)
    items = next((one.items for one in replies if one.items), ())
    heard = next((one.heard for one in replies if one.heard is not None), None)
    made = next((one.recommendation for one in reversed(replies) if one.recommendation is not None), None)
    return Reply(replies[0].kind, text, items, heard, made)
