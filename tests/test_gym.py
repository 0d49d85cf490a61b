"""Gymnasium's laws and MO-Gymnasium's wrappers hold, and a step is the same interaction as in the lab."""

from __future__ import annotations

import copy
import pickle
import runpy
import subprocess
import sys
from pathlib import Path

import gymnasium
import mo_gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AsyncVectorEnv
from gymnasium.wrappers import FlattenObservation, RecordEpisodeStatistics
from mo_gymnasium import wrappers
from mo_gymnasium.wrappers import vector as vector_wrappers

from druthers import make_policy
from druthers.environments import Reviews, Synthetic
from druthers.environments.gym import REGISTERED, PreferenceBandit, Scalarized
from druthers.errors import InvalidOffer, InvalidSetting, UnknownName
from druthers.simulation import play_by_steps
from druthers.testing import same_state

HOTELS = "druthers/Hotels-v0"
SYNTHETIC = "druthers/PreferenceBandit-v0"
EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.mark.filterwarnings("ignore:.*is different from the unwrapped version:UserWarning")
@pytest.mark.parametrize("id", REGISTERED)
def test_gymnasium_accepts_it_as_one_reward(id):
    check_env(Scalarized(gymnasium.make(id, horizon=60)))
    check_env(Scalarized(gymnasium.make(id, horizon=60), weights=np.ones(gymnasium.make(id).unwrapped.reward_dim)))


@pytest.mark.parametrize("id", REGISTERED)
def test_rewards_are_vectors_in_their_space_and_observations_in_theirs(id):
    env = gymnasium.make(id, horizon=30)
    observation, info = env.reset(seed=3)
    for step in range(30):
        assert observation in env.observation_space
        assert np.array_equal(info["action_mask"], observation["action_mask"])
        assert info["action_mask"].dtype == np.int8
        assert np.array_equal(np.sort(info["offer"]), np.flatnonzero(observation["action_mask"]))
        arm = env.action_space.sample(observation["action_mask"])
        observation, reward, terminated, truncated, info = env.step(arm)
        assert reward in env.unwrapped.reward_space
        assert (reward.dtype, reward.shape) == (np.float32, (env.unwrapped.reward_dim,))
        assert np.array_equal(reward, info["reward"].astype(np.float32))
        assert info["arm"] == arm
        assert info["regret"] >= 0.0
        assert (terminated, truncated) == (False, step == 29)


def play_through_gymnasium(policy, env, **reset):
    """Return arms and regrets of a policy that sees only what Gymnasium shows."""
    arms, regrets = [], []
    observation, info = env.reset(**reset)
    truncated = False
    while not truncated:
        user, ranking = int(observation["user"]), observation["ranking"]
        policy.hear(user, ranking[ranking >= 0])
        decision = policy.choose(user, info["offer"].tolist())
        observation, _, _, truncated, info = env.step(decision.arm)
        policy.learn(user, decision.arm, info["reward"], info["utility"])
        arms.append(decision.arm)
        regrets.append(info["regret"])
    return arms, regrets


WORLDS = {
    "offers": Synthetic(n_arms=12, n_objectives=4, n_users=3, offered=5),
    "corrupted": Synthetic(n_arms=6, n_objectives=3, n_users=2, offered=None, corruption=0.3, length="random"),
    "silent": Synthetic(n_arms=6, n_objectives=3, n_users=2, offered=2, query_rate=0.3),
    "hotels": Reviews(data="hotels"),
}


@pytest.mark.parametrize("name", WORLDS)
def test_a_policy_meets_the_same_luck_as_in_the_lab(name):
    """Users, offers, rankings, noise, utilities and regrets, bit for bit: every choice is the same."""
    world = WORLDS[name]
    env = gymnasium.make(SYNTHETIC, environment=world, horizon=150, unoffered="refuse")
    n_arms, n_objectives = world.tape(seed=9, horizon=1).means.shape
    first, second = (make_policy("mo-pqucb", n_objectives=n_objectives, radius_scale=0.05) for _ in range(2))
    second.add_arms(range(n_arms))
    second.add_users(range(env.observation_space["user"].n))
    played = play_by_steps(first, world.tape(seed=9, horizon=150))
    arms, regrets = play_through_gymnasium(second, env, seed=9)
    assert arms == played.arms.tolist()
    assert regrets == played.regret.tolist()
    assert same_state(first.state(), second.state())


def test_an_episode_goes_on_beyond_a_chunk_and_ends_at_the_horizon():
    env = PreferenceBandit("synthetic", n_arms=3, n_objectives=2, n_users=2, offered=2, horizon=4_100)
    observation, _ = env.reset(seed=5)
    seen = [int(observation["user"])]
    for _ in range(4_100):
        observation, _, _, truncated, _ = env.step(0)
        seen.append(int(observation["user"]))
    assert truncated
    chunks = env.world.tape(seed=5, horizon=4_100).chunks()
    assert seen[:-1] == np.concatenate([chunk.users for chunk in chunks]).tolist()
    assert seen[-1] == seen[-2]
    with pytest.raises(ResetNeeded, match="4100 steps, and all of them were made; call reset"):
        env.step(0)


def test_the_same_seed_gives_the_same_episode_and_none_gives_another():
    env, again = gymnasium.make(SYNTHETIC, horizon=5), gymnasium.make(SYNTHETIC, horizon=5)
    first, second, third, fourth = env.reset(seed=1), again.reset(seed=1), env.reset(), again.reset()
    assert data_equivalence(first, second, exact=True)
    assert data_equivalence(third, fourth, exact=True)
    assert not data_equivalence(first, third)
    fresh = [gymnasium.make(SYNTHETIC, horizon=5).reset()[0]["ranking"].tolist() for _ in range(3)]
    assert len(set(map(tuple, fresh))) > 1  # 20 objectives: equal rankings by chance once in 10^18


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_a_copy_goes_on_where_the_original_was(copied):
    env = gymnasium.make(SYNTHETIC, horizon=10)
    env.reset(seed=2)
    env.step(1)
    other = copied(env)
    for arm in range(9):
        assert data_equivalence(env.step(arm), other.step(arm), exact=True)
    assert data_equivalence(env.reset(), other.reset(), exact=True)


def test_nothing_returned_is_used_again():
    env = gymnasium.make(HOTELS, horizon=10)
    observation, info = env.reset(seed=1)
    kept = copy.deepcopy(observation)
    info["action_mask"][:] = 9
    info["offer"][:] = 9
    _, reward, _, _, info = env.step(0)
    value = float(info["reward"][0])
    reward[:] = 0.0
    assert data_equivalence(observation, kept, exact=True)
    assert info["reward"][0] == value
    info["reward"][:] = 7.0
    _, info = env.reset(seed=1)
    assert info["action_mask"].tolist() == [1] * 62
    assert info["offer"].tolist() == list(range(62))


def test_an_arm_that_is_not_offered_is_replaced_by_the_next_or_refused():
    env = gymnasium.make(SYNTHETIC, horizon=50)
    observation, _ = env.reset(seed=1)
    for _ in range(50):
        mask = observation["action_mask"]
        arm = int(np.flatnonzero(mask == 0)[-1])
        following = [(arm + step) % 40 for step in range(40)]
        observation, _, _, _, info = env.step(arm)
        assert info["arm"] == next(other for other in following if mask[other])
    strict = gymnasium.make(SYNTHETIC, horizon=5, unoffered="refuse")
    observation, _ = strict.reset(seed=1)
    arm = int(np.flatnonzero(observation["action_mask"] == 0)[0])
    with pytest.raises(InvalidOffer, match=f"arm {arm} is not in the offer "):
        strict.step(arm)
    for nothing in (40, -1, 0.5, "arm"):
        with pytest.raises(InvalidOffer, match="an action must be an arm in Discrete"):
            strict.step(nothing)
    assert np.array_equal(strict.unwrapped._observation()["ranking"], observation["ranking"])


def test_a_tape_of_one_s_own_can_be_played():
    env = PreferenceBandit(Synthetic(n_arms=4, n_objectives=3, n_users=2, offered=None), horizon=100)
    tape = env.world.tape(seed=(1, 2), horizon=3).with_rankings([[2], [], [0, 1]])
    said = []
    observation, _ = env.reset(options={"tape": tape})
    for _ in range(3):
        said.append(observation["ranking"].tolist())
        observation, _, _, truncated, _ = env.step(0)
    assert said == [[2, -1, -1], [-1, -1, -1], [0, 1, -1]]
    assert truncated
    with pytest.raises(InvalidSetting, match=r"must have \(1, 4, 3, 2\) .* but got \(1, 40, 20, 20\)"):
        env.reset(options={"tape": Synthetic().tape(seed=1, horizon=3)})
    with pytest.raises(InvalidSetting, match="must be a tape of an environment, but got int"):
        env.reset(options={"tape": 3})


def test_bad_settings_are_refused():
    with pytest.raises(UnknownName, match="did you mean 'synthetic'"):
        PreferenceBandit("synthetik")
    with pytest.raises(UnknownName, match=r"unknown setting of synthetic 'corupption'; .* did you mean 'corruption'"):
        PreferenceBandit(corupption=0.1)
    with pytest.raises(InvalidSetting, match="takes no settings, but got"):
        PreferenceBandit(Synthetic(), corruption=0.1)
    with pytest.raises(InvalidSetting, match="users_per_round must be 1, but got 2"):
        PreferenceBandit(users_per_round=2)
    with pytest.raises(InvalidSetting, match='"replace" or "refuse", but got'):
        PreferenceBandit(unoffered="ignore")
    with pytest.raises(InvalidSetting, match="horizon must be at least 1, but got 0"):
        PreferenceBandit(horizon=0)
    with pytest.raises(InvalidSetting, match=r"weights must have the shape \(6,\), but got \(2,\)"):
        Scalarized(gymnasium.make(HOTELS), weights=[1, 2])
    with pytest.raises(ResetNeeded, match="begun before a step; call reset"):
        PreferenceBandit(n_arms=2, offered=None).step(0)


WRAPPERS = {
    "linear": lambda env: wrappers.LinearReward(env, weight=np.full(6, 0.5)),
    "normalized": lambda env: wrappers.MONormalizeReward(env, idx=2),
    "clipped": lambda env: wrappers.MOClipReward(env, idx=1, min_r=0.0, max_r=3.0),
    "recorded": wrappers.MORecordEpisodeStatistics,
}


@pytest.mark.parametrize("name", WRAPPERS)
def test_wrappers_of_mo_gymnasium_do_their_work(name):
    plain, env = mo_gymnasium.make(HOTELS, horizon=8), WRAPPERS[name](mo_gymnasium.make(HOTELS, horizon=8))
    plain.reset(seed=1)
    env.reset(seed=1)
    total = np.zeros(6)
    for arm in range(8):
        _, expected, _, _, _ = plain.step(arm)
        _, reward, _, truncated, info = env.step(arm)
        total += expected
        if name == "linear":
            assert reward == pytest.approx(expected.sum() / 2)
        elif name == "clipped":
            assert reward.tolist() == pytest.approx([*expected[:1], min(expected[1], 3.0), *expected[2:]])
        elif name == "normalized":
            assert np.array_equal(np.delete(reward, 2), np.delete(expected, 2))
    assert truncated
    if name == "recorded":
        assert info["episode"]["r"] == pytest.approx(total, rel=1e-5)
        assert info["episode"]["l"] == 8


def test_vector_environments_play_each_its_own_seed():
    envs = vector_wrappers.MOSyncVectorEnv([lambda: gymnasium.make(SYNTHETIC, horizon=6)] * 3)
    single = [gymnasium.make(SYNTHETIC, horizon=6) for _ in range(3)]
    observations, _ = envs.reset(seed=[4, 5, 6])
    for number, env in enumerate(single):
        observation, _ = env.reset(seed=4 + number)
        assert np.array_equal(observations["ranking"][number], observation["ranking"])
    for arm in range(6):
        _, rewards, _, truncated, infos = envs.step(np.full(3, arm))
        for number, env in enumerate(single):
            _, reward, _, _, info = env.step(arm)
            assert np.array_equal(rewards[number], reward)
            assert infos["utility"][number] == info["utility"]
            assert infos["regret"][number] == info["regret"]
    assert truncated.all()
    _, rewards, _, truncated, _ = envs.step(np.zeros(3, dtype=int))  # begins the next episodes
    assert not truncated.any()
    assert not rewards.any()
    envs.close()


def test_statistics_of_vectors_of_environments():
    envs = vector_wrappers.MORecordEpisodeStatistics(
        vector_wrappers.MOSyncVectorEnv([lambda: gymnasium.make(HOTELS, horizon=4)] * 2)
    )
    envs.reset(seed=1)
    total = sum(envs.step(np.zeros(2, dtype=int))[1] for _ in range(3))
    _, rewards, _, _, infos = envs.step(np.zeros(2, dtype=int))
    assert infos["episode"]["r"] == pytest.approx(total + rewards, rel=1e-5)
    envs.close()


def test_gymnasium_s_own_vectors_and_wrappers_work_on_the_scalar_reward():
    envs = gymnasium.make_vec(
        HOTELS, num_envs=2, vectorization_mode="sync", wrappers=(Scalarized, FlattenObservation), horizon=5
    )
    observations, _ = envs.reset(seed=1)
    assert observations.shape == (2, 62 + 6 * 7 + 10)
    assert np.all(observations.sum(axis=1) == 62 + 6 + 1)
    _, rewards, _, _, infos = envs.step(np.array([3, 4]))
    assert rewards == pytest.approx(infos["utility"])
    envs.close()
    env = RecordEpisodeStatistics(Scalarized(gymnasium.make(HOTELS, horizon=5)))
    env.reset(seed=1)
    utilities = [env.step(arm)[1] for arm in range(4)]
    _, last, _, _, info = env.step(4)
    assert info["episode"]["r"] == pytest.approx(sum(utilities) + last)
    assert gymnasium.make(env.spec).unwrapped.world.data == "hotels"


@pytest.mark.slow
def test_environments_in_other_processes_play_the_same():
    envs = AsyncVectorEnv([lambda: Scalarized(gymnasium.make(SYNTHETIC, horizon=6))] * 2)
    single = Scalarized(gymnasium.make(SYNTHETIC, horizon=6))
    envs.reset(seed=[1, 2])
    single.reset(seed=2)
    for arm in range(6):
        _, utilities, _, _, _ = envs.step(np.array([0, arm]))
        assert utilities[1] == single.step(arm)[1]
    envs.close()


def test_ids_work_with_the_module_s_name_alone():
    code = "import gymnasium; gymnasium.make('druthers.environments.gym:druthers/Beers-v0', horizon=3).reset(seed=1)"
    subprocess.run([sys.executable, "-W", "error", "-c", code], check=True, timeout=300)


def test_a_missing_gymnasium_is_told():
    code = """
import sys, importlib.util
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *rest: None if name == "gymnasium" else real(name, *rest)
try:
    import druthers.environments.gym
except ImportError as error:
    print(error)
"""
    told = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, timeout=300).stdout
    assert told == (
        "this needs gymnasium, which is not installed; install it with: pip install 'druthers[gym]' (in a clone:"
        " '.[gym]')\n"
    )


def test_river_evaluates_its_policies_on_it():
    """It copies the environment in the middle of an episode, which must go on with the same luck in each copy."""
    from river import bandit

    env = Scalarized(gymnasium.make(HOTELS, horizon=100))
    policies = [bandit.UCB(delta=1, seed=1), bandit.UCB(delta=1, seed=1), bandit.EpsilonGreedy(epsilon=0.5, seed=1)]
    trace = list(bandit.evaluate(policies, env, n_episodes=2, seed=1))
    assert len(trace) == 600
    totals = [[step["reward"] for step in trace if step["policy_idx"] == number] for number in range(3)]
    assert totals[0] == totals[1] != totals[2]


def test_the_example_runs(capsys):
    main = runpy.run_path(str(EXAMPLES / "gymnasium_agents.py"))["main"]
    main(horizon=400, episodes=1)
    lines = capsys.readouterr().out.splitlines()
    regret = {line.split()[0]: float(line.split()[-1].replace(",", "")) for line in lines[1:]}
    assert set(regret) == {"random", "river-ucb", "fisher-pqucb"}
    assert regret["fisher-pqucb"] < regret["river-ucb"] < regret["random"]
