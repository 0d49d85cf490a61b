"""Make tests/data/obp.json: a small log and what Open Bandit Pipeline itself estimates on it.

Run it where that pipeline is installed, which druthers does not need:

    pip install numpy pandas scikit-learn scipy matplotlib seaborn pyyaml tqdm torch pyieoe
    pip install --no-deps --ignore-requires-python obp==0.5.7
    python benchmarks/pipeline.py
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import obp
from obp.ope import (
    DirectMethod,
    DoublyRobust,
    InverseProbabilityWeighting,
    OffPolicyEvaluation,
    ReplayMethod,
    SelfNormalizedInverseProbabilityWeighting,
)

ROWS, ARMS, SIZE = 120, 4, 3

ESTIMATORS = (
    InverseProbabilityWeighting(),
    SelfNormalizedInverseProbabilityWeighting(),
    DoublyRobust(),
    DirectMethod(),
)


def main() -> None:
    """Draw a log with offers of three of four arms, ask the pipeline for its figures and write both."""
    rng = np.random.default_rng(20)
    rows = np.arange(ROWS)[:, None]
    offers = np.array([rng.permutation(ARMS)[:SIZE] for _ in range(ROWS)])
    logging, evaluated = (rng.dirichlet(np.ones(SIZE), ROWS).round(4) + 1e-3 for _ in range(2))
    logging, evaluated = (chances / chances.sum(axis=1, keepdims=True) for chances in (logging, evaluated))
    certain = np.zeros((ROWS, SIZE))
    certain[np.arange(ROWS), rng.integers(SIZE, size=ROWS)] = 1.0
    places = np.array([rng.choice(SIZE, p=chances) for chances in logging])
    rewards = rng.normal(1.0, 0.5, ROWS).round(4)
    model = rng.normal(1.0, 0.3, (ROWS, ARMS)).round(4)

    def spread(chances: np.ndarray) -> np.ndarray:
        wide = np.zeros((ROWS, ARMS, 1))
        wide[rows, offers, 0] = chances
        return wide

    feedback = {
        "n_rounds": ROWS,
        "n_actions": ARMS,
        "context": np.ones((ROWS, 1)),
        "action": offers[np.arange(ROWS), places],
        "position": np.zeros(ROWS, dtype=int),
        "reward": rewards,
        "pscore": logging[np.arange(ROWS), places],
        "pi_b": spread(logging),
    }
    figures = {}
    for name, estimators in (("stochastic", list(ESTIMATORS)), ("certain", [ReplayMethod()])):
        judge = OffPolicyEvaluation(bandit_feedback=feedback, ope_estimators=estimators)
        found = judge.estimate_policy_values(
            action_dist=spread(evaluated if name == "stochastic" else certain),
            estimated_rewards_by_reg_model=model[:, :, None],
        )
        figures |= {str(key): float(value) for key, value in found.items()}
    content = {
        "obp": obp.__version__,
        "offers": offers.tolist(),
        "logging": logging.tolist(),
        "evaluated": evaluated.tolist(),
        "certain": certain.tolist(),
        "places": places.tolist(),
        "rewards": rewards.tolist(),
        "model": model.tolist(),
        "figures": figures,
    }
    target = Path(__file__).parents[1] / "tests" / "data" / "obp.json"
    target.write_text(json.dumps(content) + "\n", "utf-8")
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
