"""A person as the fold has one in memory: what was said, felt and shown."""

import json
import struct
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from druthers.advisor.wishes import Wishes
from druthers.errors import DamagedState
from druthers.policies import Policy
from druthers.stores import UserState

# Of a saved state: queries, feedbacks, and bytes of memory.
COUNTS = struct.Struct("<qqq")


@dataclass(slots=True, eq=False)
class Person:
    """A user in memory."""

    first: int  # the user's first event
    position: int = 0  # the event up to which all are in
    queries: int = 0  # how often the user said what matters
    feedbacks: int = 0  # and how something was
    wishes: Wishes = field(default_factory=Wishes)  # what the user said, as far as it stands
    felt: dict[str, tuple[int, float]] = field(default_factory=dict)  # by item: how many utilities, and their sum
    # By item, the sum of the entries of the contexts in which it was rated, of those that count for the user.
    visits: dict[str, dict[str, float]] = field(default_factory=dict)
    shown: tuple[str, Sequence[str]] = "", ()  # the id of the last decision, and its items
    seen: list[str] = field(default_factory=list)  # items that were shown since the user last said something
    said: int = 0  # how many statements and corrections are in
    rated: tuple[str, str] = "", ""  # after which decision what was rated or picked last, since the last statement
    # After which decision an answer was about which item, the last one that was: what "it" is in a question. It is not
    # kept: no event tells of questions.
    spoken_of: tuple[str, str] = "", ""

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
        self.seen, self.said, self.rated = content["seen"], content["said"], tuple(content["rated"])

    def speak(self) -> None:
        """Note that the user said something."""
        self.said += 1
        self.seen, self.rated = [], ("", "")


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
