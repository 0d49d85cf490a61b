"""What every store is: an append-only journal of events, and what was folded from it so far."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any, ClassVar, NamedTuple, Self

from druthers.errors import OtherJournal

# How many events are read at once by who reads many.
PAGE = 5_000
LAST = 2**63 - 1
# The kind of the notices that stores write themselves.
ERASURE = "erasure"


class Event(NamedTuple):
    """Something that happened, as a journal keeps it.

    Texts other than those in the body are at most 1000 bytes long in UTF-8, without NUL and lone surrogates.
    """

    kind: str  # what happened: "query", "decision", "feedback"...; stores do not care
    # The facts, as JSON can hold them: numbers are finite, and what JSON does not know comes back as what it does (a
    # tuple as a list). Numbers come back to the last bit, and texts with whatever is in them.
    body: dict[str, Any]
    at: float  # when, in seconds since 1970
    user: str | None = None  # whom it is about; None for nobody, or for somebody who was erased
    about: str | None = None  # the decision that it belongs to, if any: the decision itself, and all feedback on it
    key: str | None = None  # at most one event of a journal has this key; None for events that may come again
    # Its place in the journal, from 1 on without gaps; 0 until it is appended, and `append` does not look at it.
    position: int = 0
    # 16 random hex digits that stay for good: an event with the same mark at the same position has the same history.
    # Made when it is appended, unless it has one.
    mark: str = ""
    # 16 hex digits that tell whether the event is as it was written; made along with the mark, and anew by an erasure.
    checksum: str = ""
    # Position of an event that must still bear this user, or this one is not appended; 0 for no such condition. It is
    # asked within the transaction, and not kept.
    bound: int = 0
    # Position of what must be the last event of this user before the call, or this one is not appended; likewise.
    latest: int = 0


class Snapshot(NamedTuple):
    """A fold of all events up to a position, less what belongs to single users."""

    position: int
    body: bytes


class UserState(NamedTuple):
    """What was folded of one user's events."""

    user: str  # whom it is about
    first: int  # position of the first event of this user; a user who was erased and came back has another
    position: int  # all events of this user up to this position are in, and none after it
    body: bytes  # the state, as the fold wrote it


class UserRecord(NamedTuple):
    """What a journal has of a user."""

    first: int = 0  # position of the first event; 0 for somebody without events
    last: int = 0  # position of the last event up to the one that was asked for; 0 where there is none
    # What was kept of a fold; None where nothing was, or where it is of events that this journal does not hold.
    state: UserState | None = None


class Store(ABC):
    """A journal of events with a place for folds of it.

    Several processes may have the same journal open. A method that returns has done its work for good: after `append`
    the events survive the death of the process and of the machine. A method that raises `StoreFailure` has changed
    nothing that it knows of (an append whose answer was lost may have happened: that is what keys are for), and the
    same store object works again as soon as the journal can be reached. All methods may be called from any thread.
    What breaks a law is refused with `InvalidEvent`, all of it: a refused call changes nothing. To ask for a user, a
    decision or a key that cannot exist finds nothing. A store is its own context manager and closes itself.

    A store stays with the history that it has read or written. If the newest event that went through its hands is no
    longer in the journal - an older copy was put back, or another journal - every call is refused with
    `OtherJournal`, until the right journal is back; who opens a new store begins anew. What was saved is a witness too:
    while a snapshot or state tells of an event that the journal lacks, nothing is appended to it.

    A *fold* is named by a text; folds whose states could not be read by each other (policy, settings, version) have
    different names. A snapshot or a state of events that the journal does not hold is never given back.
    """

    name: ClassVar[str]

    @abstractmethod
    def append(self, events: Sequence[Event], *, together: bool = False) -> list[int]:
        """Add events for good, in one transaction, and return their positions; 0 for one that is not added.

        That is one whose key is taken, perhaps by an earlier event of the same call, or one whose `bound` did not
        bear its user, or whose `latest` was not that user's last event, before the call; `together`, none is added
        where one is not.
        Positions rise by one, in the order in which transactions commit: who has read up to a position never finds
        an event before it later.
        """

    @abstractmethod
    def read(
        self, after: int = 0, *, limit: int = 1000, user: str | None = None, kind: str | None = None
    ) -> list[Event]:
        """Return up to `limit` events after a position in their order, of one user or kind or of all."""

    def walk(self, after: int = 0, *, user: str | None = None, kind: str | None = None) -> Iterator[Event]:
        """Yield all events after a position in their order, of one user or kind or of all, read page by page."""
        while page := self.read(after, limit=PAGE, user=user, kind=kind):
            yield from page
            after = page[-1].position

    @abstractmethod
    def about(self, decision: str) -> list[Event]:
        """Return all events about a decision, in their order."""

    @abstractmethod
    def find(self, key: str) -> Event | None:
        """Return the event with this key."""

    @abstractmethod
    def last(self) -> int:
        """Return the position of the last event; 0 for an empty journal."""

    @abstractmethod
    def erase(self, user: str, notice: Event, scrub: Callable[[Event], Event]) -> int:
        """Replace all events of a user by what `scrub` makes of them, drop what was folded of them, append a notice.

        All in one transaction. Of what was folded go the states of the user and all snapshots, for who is in one cannot
        be seen from outside. `scrub` returns an event at the same position without a trace of the user, with the
        same key or none; it must not call the store. The notice has no key and is not about the user; its kind
        becomes "erasure", and its body gets "first", the position of the user's first event. Returns the
        position of the notice; 0 if no event is about this user, and then nothing happens.
        """

    @abstractmethod
    def save(self, fold: str, snapshot: Snapshot | None, users: Sequence[UserState] = ()) -> None:
        """Keep a snapshot and states of users, in one transaction.

        Those of the same fold that are not newer are replaced, newer ones stay. What tells of a position that the
        journal has not reached is not kept; nor is a snapshot from before an erasure, nor the state of a user whose
        events at `first` and `position` do not bear this user, who was erased.
        """

    @abstractmethod
    def snapshot(self, fold: str) -> Snapshot | None:
        """Return the latest snapshot of a fold."""

    @abstractmethod
    def users(self, fold: str, users: Iterable[str], upto: int = LAST) -> dict[str, UserRecord]:
        """Return what the journal has of users, as it stands at one moment."""

    def user(self, fold: str, user: str) -> UserState | None:
        """Return what was kept of a user."""
        return self.users(fold, [user])[user].state

    @abstractmethod
    def folds(self) -> list[str]:
        """Return the names of all folds of which something is kept, the one that is furthest ahead first."""

    def lost(self) -> int:
        """Return the last position of which a snapshot or state tells while the journal lacks its event; 0 for none."""
        return 0

    def refuse_lost(self) -> None:
        """Refuse a journal that is older, or another one, than what was folded and saved in it."""
        if position := self.lost():
            raise OtherJournal(
                f"a journal must hold the events that its saved states were folded from, but {self!r} lacks event"
                f" {position}, or has another one there: its end was cut off, or an older journal was put beside newer"
                " states; bring the right one back as a whole, or go on without what is lost by dropping the states:"
                " druthers store compact --drop-states"
            )

    @abstractmethod
    def compact(self, fold: str | None = None) -> None:
        """Drop the states of all folds but one (of all, with None), and all bytes that are no longer needed.

        Of the other folds, states of events that the journal lacks stay: they show that something was lost.
        """

    @abstractmethod
    def check(self) -> list[str]:
        """Return what the database itself finds wrong with its files, each in a sentence."""

    def room(self) -> int | None:
        """Return how many bytes can still be written where the journal is; None where that cannot be told."""
        return None

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections; closing twice is fine."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
