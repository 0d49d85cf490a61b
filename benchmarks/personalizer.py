"""Rewards of one number for items without values: what is lost until the best is found, beside UCB1 and Thompson.

python benchmarks/personalizer.py
"""

from __future__ import annotations

import numpy as np

from druthers.advisor.advisor import POLICY, Advisor
from druthers.catalogs import Catalog, Item
from druthers.types import Objective

ROUNDS, RUNS, OBJECTIVES = 2000, 16, 6
RATES = {
    "easy": (0.2, 0.3, 0.4, 0.5, 0.8),
    "close": (0.5, 0.45, 0.4, 0.55, 0.6),
    "rare clicks": (0.05, 0.06, 0.07, 0.1, 0.04, 0.05, 0.06, 0.03, 0.02, 0.05),
}
SETTINGS = {
    "as it comes": {},
    "width √D": {"width": OBJECTIVES**0.5},
    "exploration 0.1": {"exploration": 0.1},
    "width √D, exploration 0.1": {"width": OBJECTIVES**0.5, "exploration": 0.1},
}


def ours(rates, seed, settings):
    """Return what is lost by our policy, told as the service tells it."""
    chance = np.random.default_rng(seed)
    objectives = [Objective(f"objective {k}") for k in range(OBJECTIVES)]
    items = [Item(str(k)) for k in range(len(rates))]
    catalog = Catalog(name="actions", objectives=objectives, items=items)
    with Advisor(catalog, policy=POLICY, parser="lexicon", policy_settings=settings) as advisor:
        policy = advisor.fold.policy
        policy.reseed(seed)
        lost = 0.0
        for _ in range(ROUNDS):
            arm = policy.choose("everyone").arm
            click = float(chance.random() < rates[int(arm)])
            policy.learn("everyone", arm, np.full(OBJECTIVES, click), click)
            lost += max(rates) - rates[int(arm)]
    return lost


def theirs(rates, seed, name):
    """Return what is lost by UCB1 or by Thompson sampling with a uniform prior."""
    chance = np.random.default_rng(seed)
    hits, misses, lost = np.zeros(len(rates)), np.zeros(len(rates)), 0.0
    for t in range(ROUNDS):
        tries = hits + misses
        if name == "Thompson":
            arm = int(chance.beta(1 + hits, 1 + misses).argmax())
        elif t < len(rates):
            arm = t
        else:
            arm = int((hits / tries + np.sqrt(2 * np.log(t) / tries)).argmax())
        click = chance.random() < rates[arm]
        hits[arm] += click
        misses[arm] += not click
        lost += max(rates) - rates[arm]
    return lost


def main():
    """Print a table in Markdown."""
    print(f"| | {' | '.join(RATES)} |\n|---|{'---|' * len(RATES)}")
    players = {name: (ours, settings) for name, settings in SETTINGS.items()}
    players |= {name: (theirs, name) for name in ("UCB1", "Thompson")}
    for name, (play, how) in players.items():
        cells = []
        for rates in RATES.values():
            runs = [play(rates, seed, how) for seed in range(RUNS)]
            cells.append(f"{np.mean(runs):.0f} ± {np.std(runs, ddof=1) / RUNS**0.5:.0f}")
        print(f"| {name} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
