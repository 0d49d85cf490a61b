"""Operations whose events are gathered first: they go into the journal all at once, or none of them does."""

from collections.abc import Sequence
from functools import partial

from druthers.advisor import events
from druthers.advisor.decisions import Recent, Told
from druthers.advisor.operations import Operations
from druthers.advisor.person import Person
from druthers.advisor.statements import limits_after
from druthers.advisor.steps import Append, Look, Operation
from druthers.advisor.wishes import Wishes
from druthers.stores import Event


class Gathering(Operations):
    """An advisor's operations, for one message: what they append waits until it is written together.

    Until then it has a position below 0, its place among the gathered ones counted from -1 on down; the fold and all
    others know nothing of it.

    Parameters
    ----------
    operations
        What can be done.

    Attributes
    ----------
    events
        What is gathered.
    """

    def __init__(self, operations: Operations) -> None:
        vars(self).update(vars(operations))
        self.events: list[Event] = []
        self._common = operations.told
        self.told = Recent(self.fold, self.store)

    def append(self, event: Event) -> Operation[int]:
        """Gather an event; 0 if its key is taken."""
        if event.key is not None:
            gathered = event.key in [one.key for one in self.events]
            if gathered or (yield Look(partial(self.store.find, event.key))) is not None:
                return 0
        self.events.append(event._replace(bound=max(event.bound, 0)))  # what is gathered is there with it, or neither
        return -len(self.events)

    def standing(self, person: Person | None) -> Wishes:
        """Return the limits and hopes of a person, along with what is gathered."""
        return limits_after(super().standing(person), self._said)

    def past(self, user: str) -> list[Event]:
        """Return what a user said, along with what is gathered."""
        return [*super().past(user), *self._said]

    @property
    def _said(self) -> list[Event]:
        return [event for event in self.events if event.kind in (events.QUERY, events.CORRECTION)]

    def write(self, before: Sequence[Event] = (), after: Sequence[Event] = ()) -> Operation[int]:
        """Append what is gathered with others around it; gives the last position, or 0 if anything is in the way."""
        *rest, last = *before, *self.events, *after
        position: int = yield Append(last, tuple(rest))
        if position:
            for place, event in enumerate(self.events, position - len(after) - len(self.events) + 1):
                if event.kind == events.DECISION:
                    self._common.keep(str(event.about), Told(event._replace(position=place)))
                elif event.about is not None:
                    self._common.dismiss(event.about)
        return position
