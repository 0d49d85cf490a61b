"""Choices as feedback: what they tell about weights, on tapes, in logs, and beside rankings and utilities."""

from __future__ import annotations

import numpy as np
import pytest

from druthers import POLICIES, make_policy
from druthers.environments import Reviews, Synthetic
from druthers.errors import InvalidFeedback, InvalidLog, InvalidOffer, InvalidSetting, UnknownArm, UnknownName
from druthers.evaluation.following import LEARN, follow
from druthers.logs import from_rows, read_log, record, write_log
from druthers.simulation import play_by_steps, simulate
from druthers.testing import same_state

LEARN_FROM_CHOICES = ("fisher-pqucb", "fisher-pqucb-robust", "fisher-ucb", "stated-ucb")
SMALL = {"n_arms": 9, "n_objectives": 4, "n_users": 3, "offered": 4}


def shop(name, means, *, reports=1, noise=0.0, seed=0, **settings):
    """Return a policy that has had some reports of each arm."""
    rng = np.random.default_rng(seed)
    policy = make_policy(name, n_objectives=means.shape[1], **settings)
    for arm, mean in enumerate(means):
        for _ in range(reports):
            policy.learn("reports", arm, mean + noise * rng.standard_normal(len(mean)))
    return policy


def test_policies_say_whether_they_learn_from_choices():
    assert tuple(sorted(name for name, kind in POLICIES.items() if kind.learns_choices)) == LEARN_FROM_CHOICES
    with pytest.raises(InvalidFeedback, match="learn from choices can take one, but s-ucb does not; tell it utilities"):
        make_policy("s-ucb", n_objectives=2).learn_choice("ada", "inn", ["inn", "spa"])


def test_a_choice_that_breaks_a_law_is_refused_with_what_arrived():
    policy = shop("fisher-pqucb", np.eye(3))
    with pytest.raises(InvalidOffer, match=r"one of two or more offered arms, but got 2 of \(0, 1\)"):
        policy.learn_choice("ada", 2, [0, 1])
    policy.retire_arm(2)
    with pytest.raises(UnknownArm, match="2 has; leave it out of the offer"):
        policy.learn_choice("ada", 0, [0, 2])
    assert "ada" not in policy.users


@pytest.mark.parametrize("name", LEARN_FROM_CHOICES)
def test_intervals_hold_the_truth(name):
    """Of 90 % intervals from choices alone about nine in ten hold the weights, after few choices and after many."""
    rng = np.random.default_rng(3)
    scale = {"stated-ucb": 0.3 * np.sqrt(6.0) / np.pi}.get(name, 1.0)
    held = []
    for person in range(40):
        means = rng.uniform(0.0, 1.0, (12, 4))
        x = 2.0 * means - 1.0 if name == "stated-ucb" else 3.0 * means
        policy = shop(name, means if name == "stated-ucb" else 3.0 * means, reports=30, noise=0.01)
        # As the policy's own prior has it.
        prior = policy.preference("stranger")
        spread = np.sqrt(np.diag(prior.covariance)) if name == "stated-ucb" else np.sqrt(2.0)
        weights = prior.weights + spread * rng.standard_normal(4)
        for n in range(1, 61):
            offer = rng.permutation(12)[:5].tolist()
            felt = x[offer] @ weights + scale * rng.gumbel(size=5)
            policy.learn_choice(person, offer[int(felt.argmax())], offer)
            if n in (15, 60):
                believed = policy.preference(person)
                off = np.abs(believed.weights - weights) / np.sqrt(np.diag(believed.covariance))
                held.append((off < 1.645).mean())
    assert 0.83 < np.mean(held[::2]) < 0.97, "after 15 choices"
    assert 0.83 < np.mean(held[1::2]) < 0.97, "after 60 choices"


@pytest.mark.parametrize("name", LEARN_FROM_CHOICES)
def test_choices_among_arms_hardly_known_tell_less(name):
    """Of the same means, once by two reports that differ and once by forty."""
    means = np.random.default_rng(0).uniform(0.0, 1.0, (6, 3))
    deviations = []
    for reports in (2, 40):
        policy = make_policy(name, n_objectives=3)
        for arm, mean in enumerate(means):
            for k in range(reports):
                policy.learn("reports", arm, mean + 0.6 * (-1) ** k)
        for t in range(10):
            policy.learn_choice("ada", t % 3, [t % 3, 3, 4])
        deviations.append(np.sqrt(np.diag(policy.preference("ada").covariance)))
    assert np.all(deviations[0] > deviations[1])


@pytest.mark.parametrize("name", LEARN_FROM_CHOICES)
def test_words_utilities_and_choices_are_one_belief(name):
    """Each narrows what the others left open, in whichever order they come."""
    means = np.random.default_rng(0).uniform(0.0, 1.0, (6, 3))
    steps = {
        "words": lambda policy: policy.hear("ada", (1, 0, 2)),
        "utilities": lambda policy: [policy.learn("ada", arm, utility=float(means[arm, 1])) for arm in range(6)],
        "choices": lambda policy: [policy.learn_choice("ada", int(means[:k, 1].argmax()), range(k)) for k in (3, 5, 6)],
    }
    believed = {}
    for order in (("utilities",), ("words", "utilities", "choices"), ("choices", "utilities", "words")):
        policy = shop(name, means, reports=5)
        for step in order:
            steps[step](policy)
        believed[order] = policy.preference("ada")
    _, all_three, backwards = believed.values()
    sizes = [np.linalg.slogdet(each.covariance)[1] for each in believed.values()]
    assert sizes[0] > sizes[1]
    assert np.argmax(all_three.weights) == np.argmax(backwards.weights) == 1


def test_what_was_foreseen_tells_nothing():
    """Where the unit is known, as for a guarantee; else picks would tell it."""
    policy = shop("fisher-pqucb", np.array([[3.0, 0.0], [0.0, 3.0]]), reports=5, guarantee=True)
    for _ in range(400):
        policy.learn("ada", 0, utility=60.0)
        policy.learn("ada", 1, utility=0.0)
    users, row = policy._state.users, policy._users.rows["ada"]
    policy.learn_choice("ada", 0, [0, 1])
    before = users.sites[row].copy()
    for _ in range(4):
        policy.learn_choice("ada", 0, [0, 1])
    assert users.choices[row] == 5.0
    assert np.array_equal(users.sites[row], before)
    policy.learn_choice("ada", 1, [0, 1])
    assert not np.array_equal(users.sites[row], before)


def test_picks_are_on_the_tape_and_change_nothing_else():
    plain = Synthetic(**SMALL).tape(seed=4, horizon=5_000)
    choosing = Synthetic(**SMALL, feedback="both").tape(seed=4, horizon=5_000)
    lying = Synthetic(**SMALL, feedback="choice", corruption=0.5).tape(seed=4, horizon=5_000)
    for first, second, third in zip(plain.chunks(), choosing.chunks(), lying.chunks(), strict=True):
        assert first.picks is None
        for field in ("users", "offers", "orders", "reward_noise", "preference_noise"):
            assert np.array_equal(getattr(first, field), getattr(second, field))
        assert np.array_equal(second.picks, third.picks), "what is said changed what is picked"
    assert (plain.tells_utility, choosing.tells_utility, lying.tells_utility) == (True, True, False)


@pytest.mark.parametrize("scale", [1.0, 4.0])
def test_users_pick_by_a_conditional_logit(scale):
    rewards, weights = np.array([[0.0], [1.0], [3.0]]), [[1.0]]
    world = Reviews(rewards=rewards, preferences=weights, feedback="choice", choice_noise=scale)
    tape = world.tape(seed=1, horizon=20_000)
    picks = np.concatenate([chunk.picks for chunk in tape.chunks()])
    odds = np.exp(tape.means[:, 0] / scale)
    shares = np.bincount(picks, minlength=3) / len(picks)
    np.testing.assert_allclose(shares, odds / odds.sum(), atol=4.0 * np.sqrt(0.25 / len(picks)))


def test_settings_of_environments_are_checked():
    with pytest.raises(UnknownName, match="feedback"):
        Synthetic(feedback="choices")  # type: ignore[arg-type]
    with pytest.raises(InvalidSetting, match="choice_noise is a scale"):
        Synthetic(choice_noise=-1.0)


@pytest.mark.parametrize("name", ["stated-ucb", pytest.param("fisher-pqucb", marks=pytest.mark.slow)])
def test_a_log_of_choices_teaches_what_the_game_taught(tmp_path, name):
    """Recorded, written and read again, and followed: the policy ends with the knowledge of one that played."""
    tape = Synthetic(**SMALL, users_per_round=2, feedback="choice").tape(seed=2, horizon=60)
    played, recorded = (make_policy(name, n_objectives=4) for _ in range(2))
    play_by_steps(played, tape)
    log = record(recorded, tape)
    assert same_state(played.state(), recorded.state())
    assert np.isnan(log.utilities).all()
    write_log(log, tmp_path / "log.parquet")
    again = read_log(tmp_path / "log.parquet")
    assert [row["picked"] for row in again.rows()] == [row["picked"] for row in log.rows()]
    for kept in (log, again.select(slice(None))):
        follower = make_policy(name, n_objectives=4)
        follower.add_arms(range(9))
        follower.add_users(range(3))
        follow(follower, kept, LEARN)
        assert same_state(played.state(), follower.state())
    deaf = make_policy("s-ucb", n_objectives=4)
    follow(deaf, log, LEARN)


def test_logs_tell_none_of_these_from_nothing_told(tmp_path):
    rows = [
        {"user": "ada", "offer": ["inn", "spa"], "arm": "spa", "picked": "inn"},
        {"user": "ada", "offer": ["inn", "spa"], "arm": "spa", "picked": None},
        {"user": "ada", "offer": ["spa", "inn"], "arm": "spa"},
    ]
    log = from_rows(rows, ["clean"])
    assert log.picks is not None
    assert log.picks.tolist() == [0, -1, -2]
    write_log(log, tmp_path / "log.parquet")
    again = read_log(tmp_path / "log.parquet")
    assert again.picks is not None
    assert again.picks.tolist() == [0, -1, -2]
    assert [row.get("picked", "nothing") for row in again.rows()] == ["inn", None, "nothing"]
    with pytest.raises(InvalidLog, match="picked arm must be in the offer, but row 0 has 'bed'"):
        from_rows([{**rows[0], "picked": "bed"}], ["clean"])
    write_log(log.select([2]), tmp_path / "old.parquet")
    assert from_rows(rows[2:], ["clean"]).picks is None


@pytest.mark.slow
def test_choices_are_nearly_as_good_as_utilities():
    """On the same tapes, ten arms offered: at most 1.5 times the regret; both together are not worse than either."""
    regret = {}
    for feedback in ("utility", "choice", "both"):
        tapes = [Synthetic(feedback=feedback).tape(seed=run, horizon=2_000) for run in range(6)]
        runs = [simulate(make_policy("fisher-pqucb", n_objectives=20), tape, np.array([2_000])) for tape in tapes]
        regret[feedback] = np.mean([run.regret[-1] for run in runs])
    assert regret["choice"] < 1.5 * regret["utility"]
    assert regret["both"] < 1.02 * min(regret["choice"], regret["utility"])
