"""A simulated guest with a hidden preference, round by round: what a person can watch being learned."""

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from druthers.drafts import finite
from druthers.environments import Synthetic, Tape
from druthers.environments.base import expected_utility, felt_utility
from druthers.environments.tape import Chunk
from druthers.errors import require
from druthers.policies import Policy, make_policy
from druthers.types import Floats

GUEST, OTHERS = 0, 1
INTERVAL = 1.6449  # standard deviations of a normal law that hold 90 %
MOST_ROUNDS = 500
# Of other guests on each arm, before this one comes: as in a service, the items are known and the guest is not.
REPORTS = 20
# Who plays: the policy, and whether it is told how a choice felt. The same policy without utilities only listens.
PLAYERS = {
    "listens and learns": ("fisher-pqucb", True),
    "does not listen": ("fisher-ucb", True),
    "only listens": ("fisher-pqucb", False),
}


@dataclass(frozen=True, slots=True)
class Guest:
    """What a guest is like, and how long it stays."""

    n_objectives: int = 6  # how many things can matter
    seed: int = 1  # which guest: preference, arms and all chance
    rounds: int = 150  # how often it comes
    length: int = 3  # how many objectives it names each time
    corruption: float = 0.0  # chance that what it says is somebody else's
    noise: float = 0.5  # variance of rewards and of moods

    def tape(self) -> Tape:
        """Draw all the chance of this guest's rounds."""
        require(1 <= self.rounds <= MOST_ROUNDS, f"a guest comes 1 to {MOST_ROUNDS} times", self.rounds)
        world: dict[str, Any] = {"n_arms": 40, "n_objectives": self.n_objectives, "n_users": 1, "length": self.length}
        world |= {"reward_noise": self.noise, "preference_noise": self.noise, "corruption": self.corruption}
        return Synthetic(**world).tape(seed=self.seed, horizon=self.rounds)


def play_guest(guest: Guest) -> dict[str, Any]:
    """Let everyone in `PLAYERS` serve the same guest, by the same steps as the service takes.

    Returns
    -------
    The truth; of each round what was said, and whether it was corrupted; cumulative regret of each player; and estimate
    and interval of the one that listens and learns, before the first round and after each one.

    Examples
    --------
    >>> played = play_guest(Guest(rounds=3))
    >>> len(played["truth"]), len(played["estimates"]), sorted(played["regret"])
    (6, 4, ['does not listen', 'listens and learns', 'only listens'])
    """
    tape = guest.tape()
    chunk = tape.chunk(0)
    rng = np.random.default_rng((guest.seed, REPORTS))
    spread = math.sqrt(guest.noise) * rng.standard_normal((REPORTS * len(tape.means), guest.n_objectives))
    reports = np.tile(tape.means, (REPORTS, 1)) + spread
    said = [chunk.orders[t, : chunk.lengths[t]].tolist() for t in range(guest.rounds)]
    told: dict[str, Any] = {
        "guest": asdict(guest),
        "truth": _figures(tape.preferences[GUEST]),
        "said": said,
        "corrupted": chunk.corrupted.tolist(),
        "regret": {},
    }
    for player, (name, feels) in PLAYERS.items():
        policy = make_policy(name, n_objectives=guest.n_objectives)
        policy.add_arms(range(len(tape.means)), tape.features if policy.learns_features else None)
        policy.add_users([GUEST])
        for arm, report in zip(np.tile(np.arange(len(tape.means)), REPORTS), reports, strict=True):
            policy.learn(OTHERS, int(arm), report)
        shown = player == next(iter(PLAYERS))
        beliefs = [policy.preference(GUEST)] if shown else []
        regret = [0.0]
        for t in range(guest.rounds):
            policy.hear(GUEST, said[t])
            regret.append(regret[-1] + serve(policy, tape, chunk, t, feels=feels))
            if shown:
                beliefs.append(policy.preference(GUEST))
        told["regret"][player] = _figures(np.array(regret[1:]))
        if shown:
            told["estimates"] = [_figures(one.weights) for one in beliefs]
            told["spreads"] = [_figures(INTERVAL * np.sqrt(np.diag(one.covariance))) for one in beliefs]
    return told


def serve(policy: Policy, tape: Tape, chunk: Chunk, row: int, *, feels: bool = True) -> float:
    """Let a policy choose for the user of a row and learn what came of it; return the regret."""
    user, offer = int(chunk.users[row]), chunk.offers[row].tolist()
    arm: Any = policy.choose(user, offer).arm
    utilities = [expected_utility(tape.preferences[user], tape.means[other]) for other in offer]
    reward = tape.means[arm] + chunk.reward_noise[row]
    utility = felt_utility(tape.preferences[user], chunk.preference_noise[row], reward)
    policy.learn(user, arm, reward, utility if feels else None)
    return float(max(utilities) - utilities[offer.index(arm)])


def _figures(values: Floats) -> list[float | None]:
    """Return numbers as they are sent: with five digits, and null for what is not finite."""
    return [finite(float(f"{value:.5g}")) for value in values.tolist()]
