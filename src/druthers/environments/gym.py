"""The environments for Gymnasium, in the convention of MO-Gymnasium: the same tapes, one interaction a step.

Importing this module registers them:

>>> import gymnasium
>>> import druthers.environments.gym
>>> env = gymnasium.make("druthers/Hotels-v0", horizon=100)
>>> observation, info = env.reset(seed=1)
>>> observation, reward, terminated, truncated, info = env.step(7)
>>> reward.shape, sorted(info)
((6,), ['action_mask', 'arm', 'offer', 'regret', 'reward', 'utility'])
"""

from typing import Any, Literal, SupportsFloat

import numpy as np

from druthers.environments import Chunk, Environment, Tape, find_environment
from druthers.environments.base import expected_utility, felt_utility
from druthers.errors import InvalidOffer, InvalidSetting, needs, require
from druthers.own import check_settings
from druthers.types import Floats, Integers

needs("gymnasium", "gym", load=False)

import gymnasium  # noqa: E402
from gymnasium import spaces  # noqa: E402
from gymnasium.error import ResetNeeded  # noqa: E402

Observation = dict[str, Any]

# Where a ranking ends before the last objective.
NOT_SAID = -1

# The ids and what they are made with; the horizons are those of the paper.
REGISTERED: dict[str, dict[str, Any]] = {
    "druthers/PreferenceBandit-v0": {"environment": "synthetic", "horizon": 2_000},
    "druthers/CorruptedPreferenceBandit-v0": {"environment": "synthetic", "horizon": 2_000, "corruption": 0.2},
    "druthers/Hotels-v0": {"environment": "reviews", "data": "hotels", "horizon": 20_000},
    "druthers/Beers-v0": {"environment": "reviews", "data": "beers", "horizon": 20_000},
}


class PreferenceBandit(gymnasium.Env[Observation, np.int64]):
    """Users who say what matters and feel what they get: one step is one interaction.

    An observation tells who is there (`user`), what was said (`ranking`: objectives, most important first, -1 where
    it ends) and what is offered (`action_mask`). The action is an arm, the reward the vector, as in MO-Gymnasium. In
    `info`: the `utility` that the user felt, the `regret` beside the best arm offered, the `arm` that was played, the
    `reward` in double precision, and the next `action_mask` and `offer`, its arms in the order of the lab.

    An episode is a tape: `reset(seed=7)` plays `world.tape(seed=7, horizon=horizon)`, with the users, offers, rankings
    and noise of the lab. Each tape has its own truth: new arms and users in synthetic worlds, the same ones, the arms
    in another order, in worlds from reviews.

    The environment is one that is made, or a name in `ENVIRONMENTS` or FILE.py:Class with its settings, such as
    `corruption` or `offered`. The last step of an episode is truncated. In place of an arm that is not offered, the
    next one that is gets played (`info["arm"]` tells which), since agents that cannot read masks would not run at all;
    unoffered="refuse" raises InvalidOffer.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - as Gymnasium declares it

    def __init__(
        self,
        environment: str | Environment = "synthetic",
        *,
        horizon: int = 2_000,
        unoffered: Literal["replace", "refuse"] = "replace",
        **settings: Any,
    ) -> None:
        require(unoffered in ("replace", "refuse"), 'unoffered must be "replace" or "refuse"', unoffered)
        self.world = _made(environment, settings)
        users = self.world.users_per_round
        require(users == 1, "a step is one interaction, so users_per_round must be 1", users)
        self.horizon = horizon
        self.unoffered = unoffered
        example = self.world.tape(seed=0, horizon=horizon)
        if example.shifts is not None:
            raise InvalidSetting(
                "an agent observes no contexts, so visits must have none, but these have; leave them out"
            )
        self._n_users, (self._n_arms, n_objectives) = len(example.preferences), example.means.shape
        self._all_arms = np.arange(self._n_arms)
        self.action_space = spaces.Discrete(self._n_arms)
        self.observation_space = spaces.Dict(
            {
                "user": spaces.Discrete(self._n_users),
                "ranking": spaces.MultiDiscrete([n_objectives + 1] * n_objectives, start=[NOT_SAID] * n_objectives),
                "action_mask": spaces.MultiBinary(self._n_arms),
            }
        )
        self.reward_space = spaces.Box(-np.inf, np.inf, shape=(n_objectives,), dtype=np.float32)
        self.reward_dim = n_objectives
        self.tape: Tape | None = None
        self._chunk: Chunk
        self._chunks = self._row = self._step = 0
        self._utilities: dict[int, Floats] = {}

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin an episode: on the tape of this seed, of a new one, or on `options["tape"]`."""
        tape = (options or {}).get("tape")
        if tape is not None:
            self._require_fitting(tape)
        super().reset(seed=seed)
        if tape is None:
            number = int(self.np_random.integers(2**63)) if seed is None else seed
            tape = self.world.tape(seed=number, horizon=self.horizon)
        self.tape = tape
        self._utilities = {}
        self._chunk = tape.chunk(0)
        self._chunks, self._row, self._step = 1, 0, 0
        return self._observation(), {"action_mask": self._mask(), "offer": self._offer().copy()}

    def step(self, action: np.int64) -> tuple[Observation, Any, bool, bool, dict[str, Any]]:
        """Pull an arm; return what comes next, the reward vector, False, whether it was the last step, and the rest."""
        tape = self.tape
        if tape is None:
            raise ResetNeeded("an episode must be begun before a step; call reset")
        if self._step == tape.horizon:
            raise ResetNeeded(f"an episode has {tape.horizon} steps, and all of them were made; call reset")
        arm, chunk, row = self._arm(action), self._chunk, self._row
        user = int(chunk.users[row])
        reward = tape.means[arm] + chunk.reward_noise[row]
        utilities = self._expected(tape, user)
        info = {"arm": arm, "regret": float(utilities[self._offer()].max() - utilities[arm]), "reward": reward}
        if tape.tells_utility:
            info["utility"] = float(felt_utility(tape.preferences[user], chunk.preference_noise[row], reward))
        if chunk.picks is not None:
            info["picked"] = int(self._offer()[chunk.picks[row]])
        self._step += 1
        if self._step < tape.horizon:  # after the last one there is still something to observe
            self._row += 1
            if self._row == len(chunk.users):
                self._chunk, self._row = tape.chunk(self._chunks), 0
                self._chunks += 1
        info |= {"action_mask": self._mask(), "offer": self._offer().copy()}
        return self._observation(), reward.astype(np.float32), False, self._step == tape.horizon, info

    def _observation(self) -> Observation:
        chunk, row = self._chunk, self._row
        ranking = np.full(self.reward_dim, NOT_SAID, dtype=np.int64)
        length = int(chunk.lengths[row])
        ranking[:length] = chunk.orders[row, :length]
        return {"user": np.int64(chunk.users[row]), "ranking": ranking, "action_mask": self._mask()}

    def _mask(self) -> np.ndarray[Any, np.dtype[np.int8]]:
        mask = np.zeros(self._n_arms, dtype=np.int8)
        mask[self._offer()] = 1
        return mask

    def _offer(self) -> Integers:
        offers = self._chunk.offers
        return offers[self._row] if offers.shape[1] else self._all_arms

    def _arm(self, action: Any) -> int:
        if not self.action_space.contains(action):
            raise InvalidOffer(f"an action must be an arm in {self.action_space}, but got {action!r}")
        arm, offer = int(action), self._offer()
        if arm in offer:
            return arm
        if self.unoffered == "refuse":
            raise InvalidOffer(f"arm {arm} is not in the offer {tuple(np.sort(offer).tolist())}; see the action mask")
        return int(offer[np.argmin((offer - arm) % self._n_arms)])

    def _expected(self, tape: Tape, user: int) -> Floats:
        """Return the true utility of every arm for a user, summed as in the lab, to the last bit."""
        if user not in self._utilities:
            preference = tape.preferences[user]
            self._utilities[user] = np.array([expected_utility(preference, mean) for mean in tape.means])
        return self._utilities[user]

    def _require_fitting(self, tape: object) -> None:
        if not isinstance(tape, Tape):
            raise InvalidSetting(f"options['tape'] must be a tape of an environment, but got {type(tape).__name__}")
        sizes = (tape.users_per_round, *tape.means.shape, len(tape.preferences))
        needed = (1, self._n_arms, self.reward_dim, self._n_users)
        require(sizes == needed, f"a tape must have {needed} users a round, arms, objectives and users here", sizes)


class Scalarized(
    gymnasium.Wrapper[Observation, np.int64, Observation, np.int64], gymnasium.utils.RecordConstructorArgs
):
    """One number as reward, for agents that want one: the utility the user felt, or a fixed weighing of the vector.

    Without weights, one per objective, it is the utility, in which every user's own weights are at work.
    """

    def __init__(self, env: gymnasium.Env[Observation, np.int64], weights: Any = None) -> None:
        gymnasium.utils.RecordConstructorArgs.__init__(self, weights=weights)
        gymnasium.Wrapper.__init__(self, env)
        space: Any = env.unwrapped.reward_space  # type: ignore[attr-defined]
        self.weights = None if weights is None else np.array(weights, dtype=np.float64)
        if self.weights is None and env.unwrapped.world.feedback == "choice":  # type: ignore[attr-defined]
            raise InvalidSetting('without weights the reward is the utility, but with feedback="choice" none is told')
        shape = None if self.weights is None else self.weights.shape
        require(shape in (None, space.shape), f"weights must have the shape {space.shape}", shape)

    def step(self, action: np.int64) -> tuple[Observation, SupportsFloat, bool, bool, dict[str, Any]]:
        """Pull an arm; the vector stays in `info["reward"]`."""
        observation, reward, terminated, truncated, info = self.env.step(action)
        scalar = info["utility"] if self.weights is None else float(np.dot(self.weights, np.asarray(reward)))
        return observation, scalar, terminated, truncated, info


def _made(environment: str | Environment, settings: dict[str, Any]) -> Environment:
    if isinstance(environment, Environment):
        require(not settings, "an environment that is made already takes no settings", sorted(settings))
        return environment
    kind = find_environment(environment)
    check_settings(kind, settings, environment)
    return kind(**settings)


for _id, _settings in REGISTERED.items():
    if _id not in gymnasium.registry:
        # Gymnasium's own checker would complain of vectors as rewards.
        gymnasium.register(_id, f"{__name__}:PreferenceBandit", kwargs=_settings, disable_env_checker=True)
