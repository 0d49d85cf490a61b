"""Does a journal hold what it should, and do saved states agree with it?"""

from collections import Counter
from dataclasses import dataclass

from druthers.advisor import events
from druthers.advisor.advisor import Advisor
from druthers.advisor.fold import Fold


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found in a journal."""

    kinds: dict[str, int]  # how many events there are of each kind
    users: int  # how many there are now
    items: int
    digest: str  # of a fold of the whole journal, from its first event
    agrees: bool  # whether the saved states, carried on to the end of the journal, give the same bits

    @property
    def events(self) -> int:
        """How many events there are."""
        return sum(self.kinds.values())


def refold(advisor: Advisor, upto: int | None = None) -> tuple[Fold, Counter[str], set[str]]:
    """Fold the journal anew from its first event, every event checked; return also the kinds and the users."""
    fold = advisor.fold.fresh()
    kinds: Counter[str] = Counter()
    users: set[str] = set()
    for event in advisor.store.walk():
        if upto is not None and event.position > upto:
            break
        fold.apply(events.check(event))
        kinds[event.kind] += 1
        if event.user is not None:
            users.add(event.user)
    return fold, kinds, users


def verify(advisor: Advisor) -> Verified:
    """Return whether what an advisor knows is what its journal says, bit for bit."""
    position = advisor.catch_up()
    fold, kinds, users = refold(advisor, position)
    digest = fold.digest(users)
    return Verified(dict(kinds), len(fold.people), len(fold.items), digest, digest == advisor.digest(users))
