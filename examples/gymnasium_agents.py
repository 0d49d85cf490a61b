"""Three agents on the simulated hotels, through Gymnasium: chance, UCB from river, and one that listens.

    pip install 'druthers[gym]' river
    python examples/gymnasium_agents.py

River's agent wants one number as reward and knows nothing of users; the listener reads who speaks and what was said.
"""

from __future__ import annotations

import gymnasium
import numpy as np
from river import bandit

import druthers as dr
from druthers.environments.gym import Scalarized


class Chance:
    """Pull any arm that is offered."""

    def __init__(self, env):
        self.rng = np.random.default_rng(1)

    def act(self, observation):
        return int(self.rng.choice(np.flatnonzero(observation["action_mask"])))

    def learn(self, observation, arm, utility, info):
        pass


class RiverUCB:
    """The same arms for everyone: river's UCB on the utility that users felt."""

    def __init__(self, env):
        self.policy = bandit.UCB(delta=1, seed=1)

    def act(self, observation):
        return int(self.policy.pull(np.flatnonzero(observation["action_mask"]).tolist()))

    def learn(self, observation, arm, utility, info):
        self.policy.update(arm, utility)


class Listener:
    """A policy of druthers: it hears the ranking, and learns from the vector and the utility."""

    def __init__(self, env):
        self.policy = dr.make_policy("fisher-pqucb", n_objectives=env.unwrapped.reward_dim)

    def act(self, observation):
        user, ranking = int(observation["user"]), observation["ranking"]
        self.policy.hear(user, ranking[ranking >= 0])
        return self.policy.choose(user, np.flatnonzero(observation["action_mask"]).tolist()).arm

    def learn(self, observation, arm, utility, info):
        self.policy.learn(int(observation["user"]), arm, info["reward"], utility)


AGENTS = {"random": Chance, "river-ucb": RiverUCB, "fisher-pqucb": Listener}


def main(horizon: int = 2_000, episodes: int = 3) -> None:
    """Let each agent play the same episodes; print its regret."""
    print(f"{'agent':<14}{'regret':>8}   ({episodes} episodes of {horizon:,} steps, simulated hotels)")
    env = Scalarized(gymnasium.make("druthers/Hotels-v0", horizon=horizon))
    for name, agent_class in AGENTS.items():
        regret = 0.0
        for seed in range(episodes):
            agent = agent_class(env)
            observation, _ = env.reset(seed=seed)
            truncated = False
            while not truncated:
                arm = agent.act(observation)
                following, utility, _, truncated, info = env.step(arm)
                agent.learn(observation, arm, utility, info)
                observation = following
                regret += info["regret"]
        print(f"{name:<14}{regret / episodes:>8,.0f}")


if __name__ == "__main__":
    main()
