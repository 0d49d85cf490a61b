"""The decisions of late in memory, each with what was told of it; older ones come from the store."""

from __future__ import annotations

from collections import OrderedDict

from druthers.advisor import events
from druthers.advisor.fold import Fold
from druthers.advisor.outcomes import Told
from druthers.advisor.steps import CatchUp, Look, Operation
from druthers.errors import UnknownDecision
from druthers.stores import Event, Store

DECISIONS_KEPT = 20_000


class Recent:
    """Decisions by id, those of late from memory.

    Parameters
    ----------
    fold
        What is known; after an erasure in it, all decisions are looked up anew.
    store
        Where the others are.
    """

    def __init__(self, fold: Fold, store: Store) -> None:
        self.fold = fold
        self.store = store
        self._kept: OrderedDict[str, Told] = OrderedDict()
        self._erasures = fold.erasures

    def recall(self, decision: str) -> Operation[Told]:
        """Return a decision with its feedback, and refuse one that was never made."""
        if not isinstance(decision, str):
            raise UnknownDecision(f"feedback must be about the id of a decision, a text, but got {decision!r}")
        told = yield from self.find(decision)
        if told is None:
            raise UnknownDecision(f"feedback must be about a decision that was made, but got {decision[:200]!r}")
        return told

    def find(self, decision: str) -> Operation[Told | None]:
        """Return a decision with its feedback; None for one that was never made."""
        self._forget_erased()
        told = self._kept.get(decision)
        if told is not None:
            self._kept.move_to_end(decision)
            return told
        past: list[Event] = yield Look(lambda: self.store.about(decision))
        if not past or past[0].kind != events.DECISION:
            return None
        if past[-1].position > self.fold.position:
            yield CatchUp()  # made elsewhere: what was said before it has to be known first
        told = Told(past[0])
        for event in past[1:]:
            if event.kind == events.FEEDBACK:
                told.add(self.fold.editions.today(event))
        if not self._forget_erased():
            self.keep(decision, told)
        return told

    def keep(self, decision: str, told: Told) -> None:
        """Keep a decision, in place of the one that nobody asked for longest."""
        self._kept[decision] = told
        if len(self._kept) > DECISIONS_KEPT:
            self._kept.popitem(last=False)

    def dismiss(self, decision: str) -> None:
        """Let a decision be looked up anew."""
        self._kept.pop(decision, None)

    def _forget_erased(self) -> bool:
        """Forget all decisions after somebody was erased, here or elsewhere: whose they were is no longer known."""
        erased = self._erasures != self.fold.erasures
        if erased:
            self._erasures = self.fold.erasures
            self._kept.clear()
        return erased
