"""What can be judged from a log: chances, a policy as it stands, or one that learns from the log first."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from druthers.anchors import Anchor
from druthers.errors import InvalidSetting
from druthers.evaluation.following import IGNORE, LEARN, REPLAY, Followed, follow
from druthers.logs import Log
from druthers.own import check_settings, settings_of
from druthers.policies import Policy, find_policy
from druthers.types import Floats

# A policy that does not change: chances of the offered arms, for a user who said this.
Stationary: TypeAlias = Callable[[Hashable, tuple[Hashable, ...], tuple[int, ...]], Sequence[float]]

# What may be evaluated.
Evaluated: TypeAlias = str | type[Policy] | Policy | Stationary | Floats

ROUNDING = 1e-6


class Given:
    """Chances that are known beforehand: from a function of user, offer and ranking, or in an array."""

    cut = 0

    def __init__(self, log: Log, policy: Stationary | Floats) -> None:
        self.name = getattr(policy, "__name__", "given")
        self._chances = _checked(log, policy)

    def chances(self, log: Log) -> Floats:
        """Return the chances themselves."""
        return self._chances

    def same(self, log: Log, kept: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Draw choices by their chances."""
        return kept & (rng.random(len(log)) < self._chances[log.chosen])


class Fixed:
    """A policy as it stands, which hears on but learns no more; the one that was given stays as it is."""

    cut = 0

    def __init__(self, log: Log, policy: Policy, seed: int) -> None:
        if policy.n_objectives != len(log.objectives):
            raise InvalidSetting(
                f"a policy must have the {len(log.objectives)} objectives of the log, but has {policy.n_objectives}"
            )
        self.name = policy.name
        self._class, self._state, self._seed = type(policy), policy.state(), seed
        anchor = getattr(policy, "anchor", None)
        self._anchor = type(anchor) if isinstance(anchor, Anchor) else None

    def chances(self, log: Log) -> Floats:
        """Follow the log."""
        return self._followed(log).chances

    def same(self, log: Log, kept: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Follow the log."""
        return kept & self._followed(log).same

    def _followed(self, log: Log) -> Followed:
        policy = self._class.from_state(self._state, anchor=self._anchor)
        return follow(_with_own_chance(policy, self._seed), log, IGNORE)


class Learner:
    """A fresh policy: it learns the first rows and is judged on the rest, or replays a run of its own."""

    def __init__(self, log: Log, family: type[Policy], settings: Mapping[str, Any], learn: float, seed: int) -> None:
        self.name = family.name
        check_settings(family, settings, family.name)
        arguments: dict[str, Any] = {"n_objectives": len(log.objectives), **settings}
        if "horizon" in settings_of(family):
            arguments.setdefault("horizon", len(log))
        self._family, self._arguments, self._seed = family, arguments, seed
        self._make()  # so that its laws speak before anything is played
        begins = np.flatnonzero(np.diff(log.rounds, prepend=log.rounds[0] - 1))  # rounds stay whole
        self.cut = int(begins[np.searchsorted(begins, int(learn * len(log)), "right") - 1])

    def _make(self) -> Policy:
        return _with_own_chance(self._family(**self._arguments), self._seed)

    def chances(self, log: Log) -> Floats:
        """Learn up to `cut`, then hear only."""
        policy = self._make()
        if self.cut:
            follow(policy, log.select(slice(0, self.cut)), LEARN)
        return follow(policy, log.select(slice(self.cut, None)), IGNORE).chances

    def same(self, log: Log, kept: NDArray[np.bool_], rng: np.random.Generator) -> NDArray[np.bool_]:
        """Replay: learn where it chooses what was logged, as if all other rows had never been."""
        same = np.zeros(len(log), dtype=bool)
        if kept.any():
            same[kept] = follow(self._make(), log.select(kept), REPLAY).same
        return same


# A policy to be judged on the rows of a log from `cut` on. Its `chances` are those of each arm offered there, NaN where
# they are not known; `same` tells on which of the kept rows, which are uniformly random, it chooses what was logged.
Candidate: TypeAlias = Given | Fixed | Learner


def make_candidate(log: Log, policy: Evaluated, settings: Mapping[str, Any], learn: float, seed: int) -> Candidate:
    """Return what stands behind a name, a class, a policy, a function or an array."""
    if isinstance(policy, str):
        return Learner(log, find_policy(policy), settings, learn, seed)
    if isinstance(policy, type):
        return Learner(log, policy, settings, learn, seed)
    if settings:
        raise InvalidSetting(f"settings are for policies given by name, but got {dict(settings)!r}")
    return Fixed(log, policy, seed) if isinstance(policy, Policy) else Given(log, policy)


def _with_own_chance(policy: Policy, seed: int) -> Policy:
    """Give a policy chance that no other has: one with the seed of the logging policy would choose what that chose."""
    noise, coins = np.random.SeedSequence(seed, spawn_key=(5,)).spawn(2)
    policy._noise = np.random.Generator(np.random.PCG64(noise))
    policy._coins = np.random.Generator(np.random.PCG64(coins))
    return policy


def _checked(log: Log, policy: Stationary | Floats) -> Floats:
    chances = np.concatenate(list(_called(log, policy))) if callable(policy) else np.asarray(policy, dtype=float)
    if chances.shape != log.offers.shape:
        raise InvalidSetting(
            f"a policy must give one chance for each of {len(log.offers):,} offered arms, but gave {chances.shape}"
        )
    sums, least = (ufunc.reduceat(chances, log.offer_starts[:-1]) for ufunc in (np.add, np.minimum))
    wrong = ~((np.abs(sums - 1.0) <= ROUNDING) & (least >= 0.0))
    if wrong.any():
        row = int(wrong.argmax())
        given = chances[log.offer_starts[row] : log.offer_starts[row + 1]].tolist()
        raise InvalidSetting(f"chances must not be negative and must add up to 1, but row {row} got {given!r}")
    return chances


def _called(log: Log, policy: Stationary) -> Iterator[Floats]:
    for t, user in enumerate(log.users.tolist()):
        offer = log.offers[log.offer_starts[t] : log.offer_starts[t + 1]].tolist()
        ranking = log.rankings[log.ranking_starts[t] : log.ranking_starts[t + 1]].tolist()
        chances = policy(log.user_ids[user], tuple(log.arm_ids[arm] for arm in offer), tuple(ranking))
        array = np.atleast_1d(np.asarray(chances, dtype=float))
        if array.shape != (len(offer),):
            raise InvalidSetting(f"a policy must give {len(offer)} chances for row {t}, but gave {chances!r}")
        yield array
