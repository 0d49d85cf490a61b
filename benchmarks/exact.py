"""Do intervals miss because normal factors stand for words and picks, or because of what is taken of the unit before?

    python benchmarks/exact.py          40 people of five objectives at units 1 and 3 after 3 and 10 answers

The belief of `fisher-pqucb` beside its slow twin: the exact chance of all rankings, picks and utilities under the same
prior of weights, log-unit (normal around 0, no spike) and noise, by Markov chains (60 walkers that stretch and differ,
3,000 steps kept). Where both hold as many weights, normal factors are not to blame.
"""

from __future__ import annotations

import argparse
import math
from typing import Any, NamedTuple

import numpy as np

from druthers import make_policy
from druthers.policies.choices import LEVEL
from druthers.policies.feedback import evidence_of
from druthers.policies.intervals import unit_normals
from druthers.policies.units import NOISE_SHARE, NOISE_SLAB, UnitLaw

SIZE, ARMS, OFFERED, RIDGE = 5, 40, 5, 0.5
WALKERS, STEPS, BURNT, EVERY = 60, 4_000, 1_000, 10


class Told(NamedTuple):
    """What people told: orders (P, n, D), rewards of length one and utilities, offers with the picked arm first."""

    orders: Any
    rewards: Any
    utilities: Any
    offers: Any


def people(n_people: int, answers: int, unit: float, seed: int) -> tuple[Any, Any, Told]:
    """Return a policy that heard people, their weights, and what they told."""
    rng = np.random.default_rng((seed, round(100 * unit), answers))
    weights, means = rng.normal(size=(n_people, SIZE)), rng.uniform(0.0, math.sqrt(12.0), (ARMS, SIZE))
    policy = make_policy("fisher-pqucb", n_objectives=SIZE)
    for arm in range(ARMS):
        policy.give("catalog", arm, means[arm], np.full(SIZE, 1e9))
    told: list[list[Any]] = [[], [], [], []]
    for person in range(n_people):
        for _ in range(answers):
            order = np.argsort(-(weights[person] + rng.gumbel(size=SIZE)))
            arm, offer = int(rng.integers(ARMS)), rng.choice(ARMS, OFFERED, replace=False)
            length = float(np.linalg.norm(means[arm]))
            utility = unit * (weights[person] @ means[arm] + math.sqrt(0.5) * length * rng.normal())
            offer = np.roll(offer, -int(np.argmax(means[offer] @ weights[person] + rng.gumbel(size=OFFERED))))
            policy.hear(person, order)
            policy.learn(person, arm, utility=utility)
            policy.learn_choice(person, int(offer[0]), offer.tolist())
            for kind, one in zip(told, (order, means[arm] / length, utility / length, means[offer]), strict=True):
                kind.append(one)
    shaped = (np.array(kind).reshape(n_people, answers, *np.shape(kind[0])) for kind in told)
    return policy, unit * weights, Told(*shaped)


def log_chance(x: Any, told: Told) -> Any:
    """Return the log-density (P, W) of weights in the unit of words, log-unit and log-noise (P, W, D + 2)."""
    theta, log_unit, log_noise = x[..., :SIZE], x[..., SIZE], x[..., SIZE + 1]
    level = theta.mean(axis=-1)
    total = -0.5 * RIDGE * (((theta - level[..., None]) ** 2).sum(axis=-1) + LEVEL * SIZE * level**2)
    centre = np.log(NOISE_SHARE * (told.utilities**2).mean(axis=1))[:, None]
    total = total - 0.5 * log_unit**2 - 0.5 * ((log_noise - centre) / NOISE_SLAB) ** 2
    shape = (*theta.shape[:2], *told.orders.shape[1:])
    ranked = np.take_along_axis(
        np.broadcast_to(theta[:, :, None], shape), np.broadcast_to(told.orders[:, None], shape), axis=-1
    )
    left = np.cumsum(np.exp(ranked[..., ::-1]), axis=-1)
    total = total + (ranked.sum(axis=-1) - np.log(left).sum(axis=-1)).sum(axis=-1)
    off = told.utilities[:, None] - np.exp(log_unit)[..., None] * np.einsum("pnd,pwd->pwn", told.rewards, theta)
    total = total - 0.5 * off.shape[-1] * log_noise - 0.5 * (off**2).sum(axis=-1) * np.exp(-log_noise)
    worth = np.einsum("pnkd,pwd->pwnk", told.offers, theta)
    return total - np.log(np.exp(worth - worth[..., :1]).sum(axis=-1)).sum(axis=-1)


def walk(told: Told, rng: Any) -> Any:
    """Return draws (P, n, D + 2) of weights in the unit of words, log-unit and log-noise, given all that was told."""
    n_people, half = len(told.orders), WALKERS // 2
    x = 0.5 * rng.normal(size=(n_people, WALKERS, SIZE + 2))
    x[..., SIZE + 1] += np.log(NOISE_SHARE * (told.utilities**2).mean(axis=1))[:, None]
    chance, kept = log_chance(x, told), []
    for step in range(STEPS):
        for mine, others in ((slice(0, half), slice(half, None)), (slice(half, None), slice(0, half))):
            first = rng.integers(half, size=(n_people, half))
            one = np.take_along_axis(x[:, others], first[..., None], axis=1)
            if rng.random() < 0.5:
                stretch = (rng.uniform(2**-0.5, 2**0.5, (n_people, half))) ** 2
                new, extra = one + stretch[..., None] * (x[:, mine] - one), (SIZE + 1) * np.log(stretch)
            else:
                second = (first + 1 + rng.integers(half - 1, size=first.shape)) % half
                apart = one - np.take_along_axis(x[:, others], second[..., None], axis=1)
                new, extra = x[:, mine] + 2.38 / math.sqrt(2 * (SIZE + 2)) * rng.uniform(0.5, 1.1) * apart, 0.0
            there = log_chance(new, told)
            moved = np.log(rng.random((n_people, half))) < extra + there - chance[:, mine]
            x[:, mine][moved], chance[:, mine][moved] = new[moved], there[moved]
        if step >= BURNT and step % EVERY == 0:
            kept.append(x.copy())
    return np.concatenate(kept, axis=1)


def main() -> None:
    """Read the arguments and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=40)
    given = parser.parse_args()
    for unit in (1.0, 3.0):
        for answers in (3, 10):
            policy, truths, told = people(given.people, answers, unit, 0)
            draws = walk(told, np.random.default_rng(1))
            weights = np.exp(draws[..., SIZE : SIZE + 1]) * draws[..., :SIZE]
            held, widths = [], []
            for person, truth in enumerate(truths):
                known = evidence_of(policy._state, policy._users.rows[person])
                ours = unit_normals(known, UnitLaw(1.0, 0.0, 1.0), 0.0).interval(0.9)
                exact = np.quantile(weights[person], (0.05, 0.95), axis=0)
                ends = (exact, ours, policy.interval(person))
                held.append([np.mean((low <= truth) & (truth <= high)) for low, high in ends])
                widths.append(np.log((ours[1] - ours[0]) / (exact[1] - exact[0])).mean())
            shares = "exact {:.0%}, normal factors {:.0%}, as it is {:.0%}".format(*np.mean(held, axis=0))
            width, mean = math.exp(np.mean(widths)), float(draws[..., SIZE].mean())
            print(
                f"unit {unit:.0f}, n = {answers:2d}: held by {shares}; width with normal factors {width:.2f} times"
                f" exact; mean log-unit {mean:5.2f}, true {math.log(unit):.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
