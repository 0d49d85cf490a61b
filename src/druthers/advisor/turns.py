"""A message in a conversation with what it is about, and how it is answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from druthers.advisor.answers import Heard, Recommendation, Reply
from druthers.advisor.messages import Message
from druthers.catalogs import Item


@dataclass(frozen=True)
class Turn:
    """A message, and what it is about."""

    user: str  # who says what
    text: str
    message: Message  # as it was understood
    # The last recommendation, those of its items that are still there, and all of them, each at its place.
    decision: str
    shown: Sequence[Item]
    about: Sequence[Item]  # items that the message points at
    size: int  # how many items to recommend next
    at: Sequence[Item] = ()
    spoken_of: Item | None = None  # the item that "it" is
    beside: bool = False  # whether another act of the same message recommends something after it

    def reply(
        self, text: str, *, heard: Heard | None = None, made: Recommendation | None = None, about: Sequence[Item] = ()
    ) -> Reply:
        """Return the answer to this message."""
        return Reply(self.message.kind.value, text, tuple(item.id for item in about or self.about), heard, made)


def joined(replies: Sequence[Reply]) -> Reply:
    """Return the answers to the acts of one message as one, of the kind of the first."""
    text = " ".join(one.text for one in replies if one.text)
    items = next((one.items for one in replies if one.items), ())
    heard = next((one.heard for one in replies if one.heard is not None), None)
    made = next((one.recommendation for one in reversed(replies) if one.recommendation is not None), None)
    return Reply(replies[0].kind, text, items, heard, made)
