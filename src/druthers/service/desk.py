"""The desk: drives an advisor's operations for many requests at once, and writes for all of them together."""

import asyncio
import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

from druthers.advisor import Advisor, Heard, Recommendation, events
from druthers.advisor.ledger import Ledger
from druthers.advisor.person import packed
from druthers.advisor.steps import Append, CatchUp, Erase, Operation, Read
from druthers.errors import (
    Contradiction,
    DamagedState,
    DruthersError,
    InvalidEvent,
    ObjectivesChanged,
    OtherJournal,
    StoreFailure,
    UnknownOutcome,
)
from druthers.service.auth import Key
from druthers.service.logs import NAME
from druthers.service.metrics import Metrics
from druthers.service.readers import Readers
from druthers.service.settings import Settings
from druthers.stores import Event, UserState

T = TypeVar("T")

# Events that one transaction takes at most, and users that are packed at a time between two requests.
BATCH = 500
FEW = 25
LOOKERS = 4
# More threads read no faster on a few cores; many can wait for another machine.
READERS = 4
READERS_THAT_WAIT = 32
READ_AT_ONCE = 500
SECONDS_DROPPED = 60  # between two snapshots where erasures drop one after the other
LEAST_ROOM = 1 << 20  # bytes on the disk below which a journal counts as full

_log = logging.getLogger(NAME)


class Waiting(NamedTuple):
    """Events that wait to be written, all or none, and who waits for the position of the last."""

    events: list[Event]
    future: asyncio.Future[int]


class Desk:
    """An advisor for many requests at once.

    Only the event loop touches what the advisor knows, so nothing needs a lock. What takes time - transactions,
    look-ups, reading a text - is done by threads meanwhile. All events that arrive while a transaction runs go into
    the next one.

    Erasures and revocations are noted in the ledger, if there is one.
    """

    def __init__(self, advisor: Advisor, settings: Settings, metrics: Metrics, ledger: Ledger | None = None) -> None:
        self.advisor = advisor
        self.fold = advisor.fold
        self.store = advisor.store
        self.operations = advisor.operations
        self.settings = settings
        self.metrics = metrics
        self.ledger = ledger
        self._noted = self.fold.erasures, self.fold.keys
        self.unreadable = self.unwritable = self.full = False  # what the last try told of the journal
        self.can_read = False  # sentences, once the first one was read
        self.other = ""  # what is wrong, as long as the journal is not the one that was folded
        self.outdated = False  # whether the journal has other objectives since
        self.when_outdated: Callable[[], None] = lambda: None
        self._keys: tuple[Any, dict[str, Key]] = None, {}
        self._queue: list[Waiting] = []
        self._waiting = asyncio.Event()
        self._order = asyncio.Lock()  # one transaction after the other, and folded in before the next
        self._writer = ThreadPoolExecutor(1, "journal")
        self._lookers = ThreadPoolExecutor(LOOKERS, "looker")
        asks_others = self.operations.parser.asks_others
        self._readers = Readers(READERS_THAT_WAIT if asks_others else READERS, settings.reading_seconds)
        self._tasks: list[asyncio.Task[None]] = []
        self._saved = self.fold.position
        self._kept = 0, -math.inf  # erasures in the last snapshot, and when it was taken

    async def start(self) -> None:
        """Begin to write, to follow, and to load what reading needs."""
        _ = self.fold.ids  # sorted before anybody has to wait for it
        self._tasks = [asyncio.create_task(work) for work in (self._write(), self._follow(), self._warm_up())]

    async def stop(self) -> None:
        """Write what is waiting, save the state, let go."""
        while self._queue:
            await asyncio.sleep(0.01)
        for task in self._tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
        async with self._order:
            with contextlib.suppress(StoreFailure):
                await self._save()
        self._writer.shutdown()
        self._lookers.shutdown()
        self._readers.close()
        self.advisor.close()

    @property
    def failing(self) -> bool:
        """Whether the journal is out of reach, for reading or for writing, or is being folded anew."""
        return self.unreadable or self.unwritable or self.full or self.operations.fetcher.refolding

    def keys(self) -> dict[str, Key]:
        """Return the keys that the journal holds, by id; none holds while it is not the journal that was folded."""
        if self.other:
            raise OtherJournal(self.other)
        if self._keys[0] is not self.fold.keys:
            self._keys = self.fold.keys, {id: Key(**key) for id, key in self.fold.keys.items()}
        return self._keys[1]

    async def run(self, operation: Operation[T], *, counts_feedback: bool = False) -> T:
        """Drive an operation to its end; where its answer does not tell, feedback is counted as it is written."""
        answer: Any = None
        written = False
        try:
            while True:
                step = operation.send(answer)
                if type(step) is Append:
                    answer = await self.append(*step.before, step.event)
                    written |= answer > 0
                    if counts_feedback and answer:
                        for event in (*step.before, step.event):
                            if event.kind in (events.FEEDBACK, events.CHOICE):
                                self.metrics.learned("revised" if "instead" in event.body else "new")
                elif type(step) is Erase:
                    answer = await self._erase(step.user)
                elif type(step) is CatchUp:
                    async with self._order:
                        await self._catch_up()
                elif type(step) is Read:
                    answer = await self._readers.read(step.question)
                else:
                    answer = await self._in_thread(self._lookers, step.question)  # type: ignore[union-attr]
        except StopIteration as end:
            result: T = end.value
            return result
        except StoreFailure as problem:
            if written:
                raise UnknownOutcome(
                    f"a part of what was asked for was written before the journal failed: {problem}"
                ) from None
            raise

    def count(self, heard: Heard | None, made: Recommendation | None) -> None:
        """Count what was heard and recommended, once however often it is repeated."""
        if heard is not None and heard.new:
            self.metrics.heard(understood=heard.understood)
        if made is not None and made.new:
            self.metrics.decided(made.regret)

    def append(self, *events: Event) -> asyncio.Future[int]:
        """Have events written, all or none, and folded in; the future gives the last position, or 0 for none."""
        future: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._queue.append(Waiting(list(events), future))
        self._waiting.set()
        return future

    async def _in_thread(self, pool: ThreadPoolExecutor, work: Callable[..., T], *given: Any) -> T:
        try:
            return await asyncio.get_running_loop().run_in_executor(pool, work, *given)
        except OtherJournal as problem:
            self.other = str(problem)
            raise

    async def _warm_up(self) -> None:
        """Read a first sentence, however long that takes: models are loaded by that."""
        try:
            await asyncio.to_thread(self.operations.parser.warm_up)
            self.can_read = True
        except Exception:
            _log.exception("sentences cannot be read, so the service will not be ready")

    async def _write(self) -> None:
        while True:
            await self._waiting.wait()
            self._waiting.clear()
            while self._queue:
                size = self._fitting()
                batch, self._queue = self._queue[:size], self._queue[size:]
                try:
                    async with self._order:
                        await self._write_batch(self._checked(batch))
                except Exception as problem:
                    if not isinstance(problem, StoreFailure):
                        _log.exception("a batch of events could not be written")
                    self.unwritable = True
                    for _, future in batch:
                        if not future.done():
                            future.set_exception(problem)

    def _fitting(self) -> int:
        """Return how many that wait go into one transaction; what is all or none, or must be next, has its own."""
        waiting = enumerate(self._queue[:BATCH])
        return max(next((place for place, one in waiting if len(one.events) > 1 or one.events[0].latest), BATCH), 1)

    @staticmethod
    def _checked(batch: list[Waiting]) -> list[Waiting]:
        """Return what may be written: nothing may get into the journal that cannot be folded."""
        whole = []
        for one in batch:
            try:
                for event in one.events:
                    events.check(event)
                whole.append(one)
            except DruthersError as problem:
                if not one.future.done():
                    one.future.set_exception(problem)
        return whole

    async def _write_batch(self, batch: list[Waiting]) -> None:
        fresh = [event for one in batch for event in one.events]
        # Who cannot fold does not write: neither what others wrote nor a user's state may be in the way.
        if self.unreadable:
            await self._catch_up()
        strangers = self.fold.strangers(fresh)
        fetch = partial(self.operations.fetcher.fetch, strangers, self.fold.position) if strangers else dict
        append = partial(self.store.append, fresh, together=len(fresh) > len(batch))
        # Both in one errand: to send for it and to wait takes longer than to look.
        found, positions = await self._in_thread(self._writer, lambda: (fetch(), append()))
        self.unwritable = False
        before = self.fold.position
        futures = (future for one in batch for future in (*[None] * (len(one.events) - 1), one.future))
        try:
            self._bring_in(found.values())
            for event, position, future in zip(fresh, positions, futures, strict=True):
                if position > self.fold.position:
                    if position > self.fold.position + 1:  # others wrote in between
                        await self._catch_up(position)
                    else:
                        self.fold.apply(event._replace(position=position))
                if future is not None and not future.done():
                    future.set_result(position)
        except Exception as problem:
            raise self._unfolded(problem) from None
        self.metrics.followed(events=self.fold.position - before, position=self.fold.position, last=self.fold.position)

    def _unfolded(self, problem: Exception) -> UnknownOutcome:
        """Note that the journal cannot be read on after something was written."""
        self._complain("read on", problem, told=self.unreadable)
        self.unreadable = True
        return UnknownOutcome(
            f"a change must be folded in once it is written, but the journal cannot be read: {problem}"
        )

    async def _catch_up(self, least: int = 0) -> None:
        """Fold in what others wrote, up to a position at least."""
        while True:
            read = self.operations.fetcher.read
            page, states = await self._in_thread(self._writer, read, self.fold.position, READ_AT_ONCE)
            self._bring_in(states)
            try:
                self.fold.apply_all(page)
            except ObjectivesChanged as change:
                if not self.outdated:
                    _log.info("%s", change)
                self.outdated = self.unreadable = True  # so nothing more is written
                self.when_outdated()
                raise
            except (InvalidEvent, DamagedState) as problem:
                raise StoreFailure(f"a journal must be readable to its end, but is not: {problem}") from problem
            self.unreadable = False
            if len(page) < READ_AT_ONCE and self.fold.position >= least:
                return

    def _bring_in(self, states: Iterable[UserState]) -> None:
        for state in states:
            self.fold.restore(state)

    async def migrate(self, event: Event) -> int:
        """Have objectives changed, the nth time as the event says; whoever follows the journal starts over."""
        async with self._order:
            if event.body["number"] != self.fold.editions.number + 1:
                position = 0
            else:
                (position,) = await self._in_thread(self._writer, self.store.append, [event])
        if not position:
            raise Contradiction("a catalog must not change twice at once, but somebody else changed it; look again")
        return position

    async def _erase(self, user: str) -> int:
        async with self._order:
            notice = events.make(events.ERASURE, {})
            position = await self._in_thread(self._writer, self.store.erase, user, notice, events.scrub)
            try:
                await self._catch_up(position)
                await self._note()
            except Exception as problem:
                raise self._unfolded(problem) from None
            return position

    async def _note(self) -> None:
        """Note in the ledger what was erased or revoked, here or elsewhere."""
        told = self.fold.erasures, self.fold.keys
        if self.ledger is not None and (told[0] != self._noted[0] or told[1] is not self._noted[1]):
            await self._in_thread(self._writer, self.ledger.follow, self.store)
            self._noted = told

    async def _follow(self) -> None:
        """Look again and again at what others wrote; save and make room now and then."""
        while True:
            await asyncio.sleep(self.settings.follow_seconds)
            try:
                async with self._order:
                    before = self.fold.position
                    last = await self._in_thread(self._writer, self.store.last)
                    self.other = ""
                    room = await self._in_thread(self._writer, self.store.room)
                    self.full = room is not None and room < LEAST_ROOM
                    self.metrics.followed(events=0, position=before, last=last)
                    if last > before or self.unreadable:
                        await self._catch_up(last)
                        position = self.fold.position
                        self.metrics.followed(events=position - before, position=position, last=position)
                    await self._note()
            except Exception as problem:
                self._complain("read", problem, told=self.unreadable)
                self.unreadable = True
                continue
            try:
                # Whoever could not write tries again here: no request may come as long as we say that we are not ready.
                if self.unwritable or self._is_due():
                    await self._save()
                await self._make_room()
                self.metrics.residents.set(len(self.fold.people))
            except Exception as problem:
                self._complain("written", problem, told=self.unwritable)
                self.unwritable = True

    @staticmethod
    def _complain(what: str, problem: Exception, *, told: bool) -> None:
        """Log a failure once, and all that is no failure of the journal every time."""
        if not told or not isinstance(problem, StoreFailure):
            _log.warning("the journal cannot be %s: %s", what, problem, exc_info=problem)

    def _is_due(self) -> bool:
        """Tell whether it is time for a snapshot: after enough events, and soon after an erasure, which drops the last.

        Else a start after a crash would have to read the whole journal.
        """
        erasures, at = self._kept
        dropped = self.fold.erasures > erasures and time.monotonic() - at >= SECONDS_DROPPED
        return dropped or self.fold.position - self._saved >= self.settings.snapshot_every

    async def _save(self) -> None:
        """Save the state: users a few at a time, then the rest as it was when this began."""
        snapshot, self._kept = self.fold.snapshot(), (self.fold.erasures, time.monotonic())
        await self._save_users(list(self.fold.unsaved))
        await self._in_thread(self._writer, self.store.save, self.fold.name, snapshot)
        self._saved = snapshot.position
        self.unwritable = False
        self.metrics.snapshot.set(time.time())

    async def _save_users(self, users: list[str]) -> None:
        for start in range(0, len(users), FEW):
            few = users[start : start + FEW]
            states = self.fold.export(few)
            try:
                await self._in_thread(self._writer, self._keep, states)
            except BaseException:
                self.fold.unsaved.update(dict.fromkeys(user for user in few if user in self.fold.people))
                raise

    def _keep(self, states: list[UserState]) -> None:
        self.store.save(self.fold.name, None, packed(states))

    async def _make_room(self) -> None:
        """Let the users that were not heard of for longest leave memory."""
        surplus = len(self.fold.people) - self.settings.resident_users
        if surplus > 0:
            leaving = list(self.fold.people)[:surplus]
            for start in range(0, surplus, FEW):
                few = leaving[start : start + FEW]
                async with self._order:  # nobody leaves whose event is being written
                    await self._save_users([user for user in few if user in self.fold.unsaved])
                    for user in few:
                        self.fold.evict(user)
