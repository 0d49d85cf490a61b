"""How good are the first recommendations of the service, and what its prior is worth.

Users with weights that sum to one say three objectives, in the order of their weights with Plackett-Luce noise, at
every third visit; the 62 simulated hotels are known by one report each, as a catalog's values are. Printed is the
regret of a visit, mean over users: how much worse than the best hotel for this user, where a perfect one is worth 1.

    python benchmarks/first_picks.py
"""

from __future__ import annotations

import argparse

import numpy as np

from druthers.anchors import Mixture
from druthers.catalogs import Catalog
from druthers.policies import make_policy

VISITS = (1, 2, 3, 5, 10, 20)


def play(catalog: Catalog, params: dict[str, float], n_users: int, seed: int) -> np.ndarray:
    """Return the mean regret of each visit."""
    rng = np.random.default_rng(seed)
    known = np.array([catalog.rewards(item) for item in catalog.ids])
    size, horizon = catalog.n_objectives, max(VISITS)
    weights = rng.dirichlet(np.ones(size), n_users)
    chance = rng.gumbel(size=(horizon, n_users, size))
    noise = 0.15 * rng.standard_normal((horizon, n_users, size))
    mood = 0.1 * rng.standard_normal((horizon, n_users))
    policy = make_policy("fisher-pqucb-robust", n_objectives=size, anchor=Mixture(window=32), **params)
    policy.add_arms(catalog.ids)
    for item, reward in zip(catalog.ids, known, strict=True):
        policy.learn("", item, reward)
    regret = np.zeros(horizon)
    for visit in range(horizon):
        for user in range(n_users):
            if visit % 3 == 0:
                policy.hear(user, np.argsort(-(5.0 * weights[user] + chance[visit, user]))[:3])
            item = policy.choose(user).arm
            place = catalog.ids.index(str(item))
            utilities = known @ weights[user]
            regret[visit] += (utilities.max() - utilities[place]) / n_users
            reward = np.clip(known[place] + noise[visit, user], 0.0, 1.0)
            policy.learn(user, item, reward, float(np.clip(reward @ weights[user] + mood[visit, user], -1.0, 1.0)))
    return regret


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=60)
    parser.add_argument("--seeds", type=int, default=5)
    asked = parser.parse_args()
    catalog = Catalog.load("hotels")
    size = catalog.n_objectives
    settings = {"no prior": {}, "level 1, unit 1/D": {"level": 1.0, "unit": 1.0 / size}}
    settings |= {"level 1, unit 1": {"level": 1.0}, "level 1, unit 2/D": {"level": 1.0, "unit": 2.0 / size}}
    print(f"{'visit':22}" + "".join(f"{visit:>8}" for visit in VISITS))
    for name, params in settings.items():
        runs = np.array([play(catalog, params, asked.users, seed) for seed in range(asked.seeds)])
        mean, error = runs.mean(axis=0), runs.std(axis=0, ddof=1) / np.sqrt(asked.seeds)
        print(f"{name:22}" + "".join(f"{mean[visit - 1]:8.3f}" for visit in VISITS))
        print(f"{'  standard error':22}" + "".join(f"{error[visit - 1]:8.3f}" for visit in VISITS))


if __name__ == "__main__":
    main()
