"""What can be judged from a log: chances, a policy as it stands, or one that learns from the log first."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

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

Mask: TypeAlias = NDArray[np.bool_]


class Candidate(NamedTuple):
    """A policy to be judged on the rows of a log from `cut` on."""

    name: str
    chances: Callable[[], Floats]  # of each arm offered there, NaN where they are not known
    # On which of the kept rows, which are uniformly random, it chooses what was logged.
    same: Callable[[Mask, np.random.Generator], Mask]
    cut: int = 0


def make_candidate(log: Log, policy: Evaluated, settings: Mapping[str, Any], learn: float, seed: int) -> Candidate:
    """Return what stands behind a name, a class, a policy, a function or an array."""
    if isinstance(policy, str | type):
        return _learner(log, find_policy(policy) if isinstance(policy, str) else policy, settings, learn, seed)
    if settings:
        raise InvalidSetting(f"settings are for policies given by name, but got {dict(settings)!r}")
    return _fixed(log, policy, seed) if isinstance(policy, Policy) else _given(log, policy)


def _given(log: Log, policy: Stationary | Floats) -> Candidate:
    """Return chances that are known beforehand: from a function of user, offer and ranking, or in an array."""
    chances = _checked(log, policy)
    return Candidate(
        getattr(policy, "__name__", "given"),
        chances=lambda: chances,
        same=lambda kept, rng: kept & (rng.random(len(log)) < chances[log.chosen]),
    )


def _fixed(log: Log, policy: Policy, seed: int) -> Candidate:
    """Return a policy as it stands, which hears on but learns no more; the one that was given stays as it is."""
    if policy.n_objectives != len(log.objectives):
        raise InvalidSetting(
            f"a policy must have the {len(log.objectives)} objectives of the log, but has {policy.n_objectives}"
        )
    state, anchor = policy.state(), getattr(policy, "anchor", None)

    def followed() -> Followed:
        twin = type(policy).from_state(state, anchor=type(anchor) if isinstance(anchor, Anchor) else None)
        return follow(_with_own_chance(twin, seed), log, IGNORE)

    return Candidate(policy.name, lambda: followed().chances, lambda kept, rng: kept & followed().same)


def _learner(log: Log, family: type[Policy], settings: Mapping[str, Any], learn: float, seed: int) -> Candidate:
    """Return a fresh policy: it learns the first rows and is judged on the rest, or replays a run of its own."""
    check_settings(family, settings, family.name)
    arguments: dict[str, Any] = {"n_objectives": len(log.objectives), **settings}
    if "horizon" in settings_of(family):
        arguments.setdefault("horizon", len(log))

    def make() -> Policy:
        return _with_own_chance(family(**arguments), seed)

    make()  # so that its laws speak before anything is played
    begins = np.flatnonzero(np.diff(log.rounds, prepend=log.rounds[0] - 1))  # rounds stay whole
    cut = int(begins[np.searchsorted(begins, int(learn * len(log)), "right") - 1])

    def chances() -> Floats:
        """Learn up to `cut`, then hear only."""
        policy = make()
        if cut:
            follow(policy, log.select(slice(0, cut)), LEARN)
        return follow(policy, log.select(slice(cut, None)), IGNORE).chances

    def same(kept: Mask, rng: np.random.Generator) -> Mask:
        """Replay: learn where it chooses what was logged, as if all other rows had never been."""
        found = np.zeros(len(log), dtype=bool)
        if kept.any():
            found[kept] = follow(make(), log.select(kept), REPLAY).same
        return found

    return Candidate(family.name, chances, same, cut)


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
