"""A person as the fold has one in memory: what was said, felt and shown."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable
from typing import Any

from druthers.advisor.wishes import Wishes
from druthers.errors import DamagedState
from druthers.policies import Policy
from druthers.stores import UserState

# Of a saved state: queries, feedbacks, and bytes of memory.
COUNTS = struct.Struct("<qqq")


class Person:
    """A user in memory.

    Attributes
    ----------
    first, position
        The user's first event, and the one up to which all are in.
    queries, feedbacks
        How often the user said what matters, and how something was.
    wishes
        What the user said, as far as it stands.
    felt
        For each item, how many utilities the user gave it, and their sum.
    visits
        For each item, the sum of the entries of the contexts in which it was rated, of those that count for the user.
    shown
        The id of the last decision, and its items.
    seen
        Items that were shown since the user last said something.
    said
        How many statements and corrections are in.
    rated
        Whether the user rated something after the last statement.
    spoken_of
        After which decision an answer was about which item, the last one that was: what "it" is in a question. It is
        not kept: no event tells of questions.
    """

    __slots__ = (
        *("feedbacks", "felt", "first", "position", "queries", "rated", "said", "seen", "shown", "spoken_of"),
        *("visits", "wishes"),
    )

    def __init__(self, first: int, position: int = 0, queries: int = 0, feedbacks: int = 0) -> None:
        self.first = first
        self.position = position
        self.queries = queries
        self.feedbacks = feedbacks
        self.wishes = Wishes()
        self.felt: dict[str, tuple[int, float]] = {}
        self.visits: dict[str, dict[str, float]] = {}
        self.shown: tuple[str, list[str]] = "", []
        self.seen: list[str] = []
        self.said = 0
        self.rated = False
        self.spoken_of: tuple[str, str] = "", ""

    def memory(self) -> bytes:
        """Return what the user said, felt about items and was shown last, to be kept with the state."""
        content: dict[str, Any] = {"wishes": self.wishes.content(), "felt": self.felt, "shown": self.shown}
        content |= {"seen": self.seen, "said": self.said, "rated": self.rated, "visits": self.visits}
        return json.dumps(content, separators=(",", ":")).encode()

    def recall(self, memory: bytes) -> None:
        """Undo `memory`."""
        content = json.loads(memory)
        self.wishes = Wishes.from_content(content["wishes"])
        self.felt = {item: (int(count), float(total)) for item, (count, total) in content["felt"].items()}
        self.visits = content["visits"]
        decision, items = content["shown"]
        self.shown = decision, items
        self.seen, self.said, self.rated = content["seen"], content["said"], content["rated"]

    def speak(self) -> None:
        """Note that the user said something."""
        self.said += 1
        self.seen, self.rated = [], False


def packed(states: Iterable[UserState]) -> list[UserState]:
    """Return exported states as a store keeps them; this takes time, and needs nothing of the fold."""
    return [state._replace(body=zlib.compress(state.body, 1)) for state in states]


def unpacked(state: UserState, policy: Policy) -> UserState:
    """Return a state as it was exported, if it is whole: what follows the memory is the policy's to check."""
    try:
        body = zlib.decompress(state.body)
        policy.check_user(body[COUNTS.size + COUNTS.unpack_from(body)[2] :])
    except (zlib.error, struct.error, DamagedState) as problem:
        raise DamagedState(f"a saved state must be whole, but one is not: {problem}") from None
    return state._replace(body=body)
