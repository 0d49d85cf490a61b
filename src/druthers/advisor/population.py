"""What people have in common: whoever has said nothing yet is met with what others want.

Kept is what a sample of people said, one entry for each, by events of the journal alone and not by states of users: so
it does not matter who is in memory, who is saved ahead, and in which order what became known. Shares of wishes are
summed as whole numbers, which has no rounding: who is erased leaves it at once, to the last bit.
"""

import json
import zlib
from typing import Any

import numpy as np

from druthers.advisor.wishes import Statement, Wishes
from druthers.policies import Policy
from druthers.policies.statements import stated_variance

# Everybody counts whose first event is among so many; of those who came at event n, the share `EVERYBODY`/n.
EVERYBODY = 4096
# From so many people on there is something in common to speak of, and nobody stands out in it.
FEWEST = 20
# People that the prior is worth: all objectives alike.
PRIOR_PEOPLE = 8
# Shares of wishes are whole numbers of this.
UNIT = 1_000_000


class Population:
    """What people want on average and how far they differ, for a policy that `meets` strangers with it.

    Parameters
    ----------
    policy
        Who is told.
    used
        Whether it is told; if not, what people said is only kept.
    """

    def __init__(self, policy: Policy, *, used: bool = True) -> None:
        self._policy = policy
        self.used = used and policy.meets
        self._people: dict[int, tuple[int, Wishes]] = {}
        self._begin()

    def _begin(self) -> None:
        size = self._policy.n_objectives
        self._count, self._sums, self._squares = 0, [0] * size, [0] * size

    def hear(self, first: int, said: Statement) -> None:
        """Take in what somebody, known by the first event, said."""
        if _sampled(first):
            count, wishes = self._people.get(first, (0, Wishes()))
            self._replace(first, count + 1, wishes, [said])

    def correct(self, first: int, said: list[Statement], heard: int | None) -> None:
        """Take in that somebody says this in place of all before, if no more was said than was `heard`."""
        count, _ = self._people.get(first, (0, Wishes()))
        if _sampled(first) and (heard is None or heard == count):
            self._replace(first, count + 1, Wishes(), said)

    def forget(self, first: int) -> None:
        """Take out who was erased."""
        if first in self._people:
            self._add(self._people.pop(first)[1], -1)
            self._tell()

    def _replace(self, first: int, count: int, wishes: Wishes, said: list[Statement]) -> None:
        if first in self._people:
            self._add(self._people[first][1], -1)
        wishes = Wishes(wishes.draws, wishes.dismissed)
        for one in said:
            wishes.hear(one)
        self._people[first] = count, wishes
        self._add(wishes, 1)
        self._tell()

    def _add(self, wishes: Wishes, sign: int) -> None:
        """Add somebody's shares, or take them away; who wants nothing in particular tells nothing."""
        if wishes.draws or wishes.dismissed:
            self._count += sign
            for k, share in enumerate(wishes.weights(len(self._sums))[0].tolist()):
                whole = round(UNIT * share)
                self._sums[k] += sign * whole
                self._squares[k] += sign * whole * whole

    def _tell(self) -> None:
        """Tell the policy mean and variance of the weights of whoever comes next."""
        size, count = len(self._sums), self._count
        if not self.used:
            return
        if count < FEWEST:
            self._policy.meet(None, None)
            return
        sums, squares = np.array(self._sums) / UNIT, np.array(self._squares) / UNIT**2
        total = count + PRIOR_PEOPLE
        mean = (sums + PRIOR_PEOPLE / size) / total
        spread = squares - 2.0 * mean * sums + count * mean * mean
        prior = stated_variance(1.0 / size, 0.0) + (mean - 1.0 / size) ** 2
        self._policy.meet(mean, (spread + PRIOR_PEOPLE * prior) / total * (1.0 + 1.0 / total))

    def state(self) -> str:
        """Return all of it as text."""
        people = [
            [first, count, list(wishes.draws.items()), wishes.dismissed]
            for first, (count, wishes) in sorted(self._people.items())
        ]
        return json.dumps(people)

    def restore(self, state: str) -> None:
        """Know what the one knew that gave this state."""
        self._people.clear()
        self._begin()
        for first, count, draws, dismissed in json.loads(state):
            wishes = Wishes.from_content({"draws": draws, "dismissed": dismissed, "limits": {}})
            self._people[first] = count, wishes
            self._add(wishes, 1)
        self._tell()

    def summary(self) -> dict[str, Any]:
        """Return how many people are in it, and the sums."""
        return {"people": self._count, "sums": self._sums, "squares": self._squares}


def _sampled(first: int) -> bool:
    """Tell whether somebody counts: by the first event alone, so that nobody's leaving changes who else does."""
    return first <= EVERYBODY or zlib.crc32(b"%d" % first) * first < EVERYBODY << 32
