"""Does a journal hold what it should, and do saved states agree with it?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from druthers.advisor.advisor import READ_AT_ONCE, Advisor
from druthers.advisor.fold import Fold


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in a journal.

    Parameters
    ----------
    kinds
        How many events there are of each kind.
    users, items
        How many there are now.
    digest
        Of a fold of the whole journal, from its first event.
    agrees
        Whether the saved states, carried on to the end of the journal, give the same bits.
    """

    kinds: dict[str, int]
    users: int
    items: int
    digest: str
    agrees: bool

    @property
    def events(self) -> int:
        """How many events there are."""
        return sum(self.kinds.values())


def refold(advisor: Advisor, upto: int | None = None) -> tuple[Fold, Counter[str], set[str]]:
    """Fold the journal anew from its first event, every event checked; return also the kinds and the users."""
    known = advisor.fold
    fold = Fold(known.catalog, type(known.policy)(**known.policy.params), lambda user: None)
    kinds: Counter[str] = Counter()
    users: set[str] = set()
    while more := advisor.store.read(fold.position, limit=READ_AT_ONCE):
        if upto is not None:
            more = [event for event in more if event.position <= upto]
            if not more:
                break
        fold.apply_all(more)
        kinds.update(event.kind for event in more)
        users.update(event.user for event in more if event.user is not None)
    return fold, kinds, users


def verify(advisor: Advisor) -> Verified:
    """Return whether what an advisor knows is what its journal says, bit for bit."""
    position = advisor.catch_up()
    fold, kinds, users = refold(advisor, position)
    digest = fold.digest(users)
    return Verified(dict(kinds), len(fold.people), len(fold.items), digest, digest == advisor.fold.digest(users))
