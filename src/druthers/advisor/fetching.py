"""Users for a fold, from its store: those who are not in memory, fetched before their events are folded."""

import contextlib
import logging
import threading
from collections.abc import Collection, Iterable

from druthers.advisor import events
from druthers.advisor.fold import Fold
from druthers.advisor.person import packed, unpacked
from druthers.errors import DamagedState, StoreFailure
from druthers.stores import Event, Store, UserState

_log = logging.getLogger(__name__)

# Of so many users at most it is kept that the journal had nothing of them.
MOST_ABSENT = 1024


class Fetcher:
    """Fetches users for a fold from the store that it follows; it asks the store and changes nothing in the fold.

    A saved state is worth something only if it is whole and holds all events of its user up to the position of the
    fold. Who has events and no such state - it was damaged, or somebody dropped it - is folded anew from the journal.

    Parameters
    ----------
    fold
        Whom users are fetched for; only its settings and who is in memory are looked at.
    store
        The journal.

    Attributes
    ----------
    refolding
        Whether users are being folded anew, which takes as long as reading the whole journal.
    """

    def __init__(self, fold: Fold, store: Store) -> None:
        self.fold = fold
        self.store = store
        self.refolding = False
        self._turn = threading.Lock()
        self._absent: dict[str, int] = {}

    def note_absent(self, user: str, departures: int) -> None:
        """Take it that the journal has nothing of a user, so many having left the fold: the next fetch need not look.

        As long as nobody else leaves, who is still not in memory has no event up to wherever the fold is.
        """
        if len(self._absent) >= MOST_ABSENT:
            self._absent.clear()
        self._absent[user] = departures

    def fetch(self, users: Iterable[str], position: int) -> dict[str, UserState]:
        """Return the states of users for a fold at a position; who has no event up to there is left out."""
        sought = [user for user in users if self._absent.pop(user, None) != self.fold.departures]
        if not sought:
            return {}
        states, lost, _ = self._saved(sought, position)
        if lost:
            with self._turn:  # others may wait for the same users
                more, lost, _ = self._saved(lost, position)
                states |= more
                if lost:
                    states |= self._refold(lost, position)
        return states

    def read(self, position: int, limit: int) -> tuple[list[Event], Iterable[UserState]]:
        """Return the next events of the journal, and the states of all in them who are not in memory."""
        while True:
            page = self.store.read(position, limit=limit)
            strangers = self.fold.strangers(page)
            if not strangers:
                return page, ()
            states, lost, firsts = self._saved(strangers, position)
            if lost:
                states |= self.fetch(lost, position)
            # An erasure between both looks leaves events of somebody of whom nothing else is there: look again.
            if all(firsts[user] == strangers[user] for user in strangers if user not in states):
                return page, states.values()

    def _saved(self, users: Iterable[str], position: int) -> tuple[dict[str, UserState], list[str], dict[str, int]]:
        """Return saved states, who has events but no state that holds them all, and everybody's first event."""
        records = self.store.users(self.fold.name, users, position)
        states, lost = {}, []
        for user, record in records.items():
            state = record.state
            if state is not None:
                try:
                    state = unpacked(state, self.fold.policy)
                except DamagedState as problem:
                    _log.warning("a saved state is made anew from the journal: %s", problem)
                    state = None
            if state is not None and state.position >= record.last:
                states[user] = state
            elif record.last:
                lost.append(user)
        return states, lost, {user: record.first for user, record in records.items()}

    def _refold(self, users: Collection[str], position: int) -> dict[str, UserState]:
        """Fold users anew from the first event on; all that others did counts for items only."""
        _log.warning("%d users have no saved state: they are folded anew from %d events", len(users), position)
        wanted, fold = set(users), self.fold.fresh()
        self.refolding = True
        try:
            for event in self.store.walk():
                if event.position > position:
                    break
                events.check(event)
                fold.apply(event if event.user in wanted else event._replace(user=None))
        finally:
            self.refolding = False
        states = fold.export(users)
        with contextlib.suppress(StoreFailure):  # who is not saved is folded anew once more
            self.store.save(self.fold.name, None, packed(states))
        return {state.user: state for state in states}
