"""The policy that doubts: probabilities of readings equal to a slow twin, honest users believed, liars seen through."""

from __future__ import annotations

import numpy as np
import pytest

from druthers import FisherPQUCBRobust, Likelihood, make_policy
from druthers.environments import Synthetic
from druthers.errors import InvalidSetting
from druthers.policies.belief import Evidence
from druthers.policies.units import SLAB, SPIKE
from druthers.policies.voices import (
    AGAINST_CONTRARY,
    AGAINST_LIES,
    AGAINST_SLACK,
    NOISES,
    SILENT,
    SLACKS,
    Readings,
    Rival,
    listen,
    mix_readings,
    own_surprise,
    read_as,
    reading_odds,
    weigh_voices,
)
from druthers.simulation import play_tape, simulate

READINGS = ((0, 1.0, 0.0), (0, -1.0, AGAINST_CONTRARY), (1, 1.0, None))


def drawn_case(seed):
    """Return a user's scaled rewards and utilities, two voices with their informations, and settings."""
    rng = np.random.default_rng(seed)
    size, n = int(rng.integers(2, 7)), int(rng.integers(1, 25))
    truth = rng.uniform(0.0, 4.0, size)
    anchors = []
    for preference in (truth, rng.permutation(truth)):
        anchor = Likelihood(ridge=0.5, n_objectives=size)
        for _ in range(int(rng.integers(3, 30))):
            anchor.hear(np.argsort(-(preference + rng.gumbel(size=size))))
        anchors.append(anchor)
    x = rng.uniform(0.0, 1.0, (n, size))
    x /= np.linalg.norm(x, axis=1)[:, None]
    y = x @ truth + 0.5 * rng.normal(size=n)
    return x, y, anchors, float(rng.choice([0.5, 1.0, 2.0])), float(rng.normal())


def naive_voices(anchors, unit, odds, pull=0.5):
    """Return (reading, slack, log-odds against, information, pull) of all readings, by dense matrices."""
    size = len(anchors[0].estimate)
    found = []
    for reading, (voice, sign, against) in enumerate(READINGS):
        estimate, information = anchors[voice].estimate, anchors[voice].information
        for slack in SLACKS:
            if slack == np.inf and reading > 0:
                continue
            if slack == 0.0:
                told, drawn = information, (information + pull * np.eye(size)) @ estimate
            elif slack == np.inf:
                told, drawn = np.zeros_like(information), np.zeros(size)
            else:
                told = np.linalg.pinv(
                    np.linalg.pinv(information, rcond=1e-9) + slack * (np.eye(size) - 1.0 / size), rcond=1e-9
                )
                # What rankings alone say: the anchor was drawn to zero by `pull` already.
                drawn = told @ np.linalg.pinv(information, rcond=1e-9) @ (information + pull * np.eye(size)) @ estimate
            minus = (-odds if against is None else against) + (AGAINST_SLACK if 0.0 < slack < np.inf else 0.0)
            found.append((reading, slack, minus, told / unit**2, sign * drawn / unit))
    return found


def naive_readings(x, y, anchors, variance, unit, odds, ridge=0.5, pull=0.5):
    """Return (reading, slack, noise, log-probability, information, pull) of all readings, by dense normal densities."""
    size = x.shape[1]
    prior = ridge / unit**2 * (np.eye(size) - 1.0 / size) + 1e-6 * np.eye(size)
    found = []
    for reading, slack, against, told, drawn in naive_voices(anchors, unit, odds, pull):
        mean = np.linalg.solve(told + prior, drawn)
        for noise in NOISES:
            spread = x @ np.linalg.solve(told + prior, x.T) + variance * noise * np.eye(len(y))
            off = y - x @ mean
            value = -0.5 * (np.linalg.slogdet(spread)[1] + off @ np.linalg.solve(spread, off))
            found.append((reading, slack, noise, value - against, told, drawn))
    return found


def two_voices(x, y, anchors, variance, odds):
    """Return what utilities and the main voice tell, without any choice, and the rival."""
    size, both = x.shape[1], np.column_stack([x, y])
    main, rival = anchors
    sums = both.T @ both, float(len(y)), variance
    told = Evidence(*sums, main.estimate, main.information, np.zeros((size, size + 1)), size - 1.0, 0.5, 0.5)
    return told, Rival(rival.estimate, rival.information, odds)


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(25))
def test_readings_have_the_probability_of_the_utilities_under_them(seed):
    x, y, anchors, unit, odds = drawn_case(seed)
    size, variance = x.shape[1], 0.4
    if seed % 5 == 0:
        odds = -np.inf
    voice, surely = anchors[0].estimate, anchors[0].information
    trust, taken, tempered, pulled = np.zeros(4), np.zeros(2), np.zeros((size, size)), np.zeros(size)
    readings = Readings(trust, taken, tempered, pulled)
    divisor, gain = weigh_voices(*two_voices(x, y, anchors, variance, odds), unit, readings)
    found = naive_readings(x, y, anchors, variance, unit, odds)
    values = np.array([reading[3] for reading in found])
    shares = np.exp(values - values.max())
    shares /= shares.sum()
    wanted, information, pull = np.zeros(4), np.zeros((size, size)), np.zeros(size)
    for share, (reading, slack, _, _, told, drawn) in zip(shares, found, strict=True):
        wanted[3 if slack == np.inf else reading] += share
        information += share * told
        pull += share * drawn
    np.testing.assert_allclose(trust, wanted, atol=1e-5)
    straight = surely / unit**2
    np.testing.assert_allclose(taken.sum() * straight + tempered, information, atol=1e-4 * np.abs(straight).max())
    lean = (surely + 0.5 * np.eye(size)) @ voice / unit
    np.testing.assert_allclose((taken[0] - taken[1]) * lean + pulled, pull, atol=1e-4 * (1.0 + np.abs(lean).max()))
    assert divisor == pytest.approx(
        sum(share / reading[2] for share, reading in zip(shares, found, strict=True)), rel=1e-4
    )
    plain = next(value for value, reading in zip(values, found, strict=True) if reading[:3] == (0, 0.0, 1.0))
    assert gain == pytest.approx(2.0 * (values.max() - plain - np.log(shares.max())), rel=1e-4, abs=1e-4)


@pytest.mark.plain
@pytest.mark.parametrize("slack", [0.25, 4.0])
def test_slack_adds_to_the_variance(slack):
    anchor = Likelihood(ridge=0.5, n_objectives=5).fit([(0, 1, 2, 3, 4), (1, 0, 2, 4, 3), (0, 2, 1, 3, 4)])
    kept, drawn = np.empty((5, 5)), np.empty(5)
    assert listen(anchor.estimate, anchor.information, slack, 1.0, 0.5, kept, drawn)
    centered = np.eye(5) - 0.2
    np.testing.assert_allclose(
        np.linalg.pinv(kept, rcond=1e-9), np.linalg.pinv(anchor.information, rcond=1e-9) + slack * centered, atol=1e-8
    )
    # The anchor was drawn to zero once; what rankings alone say is not.
    alone = np.linalg.pinv(anchor.information, rcond=1e-9) @ (anchor.information + 0.5 * np.eye(5)) @ anchor.estimate
    np.testing.assert_allclose(drawn, kept @ alone, atol=1e-8)


def after(horizon=1_200, seed=4, n_objectives=8, **settings):
    """Return the policy after a game with few users, and the tape."""
    world = Synthetic(n_arms=20, n_objectives=n_objectives, n_users=4, offered=6, **settings)
    tape = world.tape(seed=seed, horizon=horizon)
    policy = FisherPQUCBRobust(n_objectives=n_objectives)
    for _ in play_tape(policy, tape, np.array([horizon])):
        pass
    return policy, tape


def test_honest_users_are_taken_at_their_word():
    policy, tape = after()
    for user, truth in enumerate(tape.preferences):
        assert policy.trust(user).word > 0.9
        assert np.corrcoef(policy.preference(user).weights, truth)[0, 1] > 0.95


def test_an_order_upside_down_is_turned():
    policy, tape = after(corruption=1.0, permutation="reversed")
    for user, truth in enumerate(tape.preferences):
        trust = policy.trust(user)
        assert trust.contrary + trust.nothing > 0.9
        assert sum(trust) == pytest.approx(1.0)
        assert np.corrcoef(policy.preference(user).weights, truth)[0, 1] > 0.9


def test_consistent_nonsense_is_not_believed():
    policy, tape = after(corruption=1.0, permutation="fixed")
    for user, truth in enumerate(tape.preferences):
        assert policy._state.users.open[policy._users.rows[user]].sum() < 0.05
        assert np.corrcoef(policy.preference(user).weights, truth)[0, 1] > 0.8


def test_the_rival_is_believed_where_most_rankings_lie():
    """Three rankings of five come from one wrong voice; utilities tell which voice is the user's."""
    policy, _ = after(corruption=0.6, permutation="fixed", n_objectives=20)
    believed = [policy.trust(user) for user in range(4)]
    assert sum(trust.rival > 0.5 for trust in believed) >= 3, believed


def test_only_liars_are_doubted():
    policy, tape = after(liars=0.5, permutation="reversed")
    for user in range(4):
        assert (policy.trust(user).word > 0.5) == (not tape.liars[user])


@pytest.mark.slow
def test_lies_cost_little_and_honesty_nothing():
    """Against hearing nothing, and against believing everything; the margins are several standard errors."""
    regrets = {}
    for corruption in (0.0, 1.0):
        for name in ("fisher-pqucb-robust", "fisher-pqucb", "fisher-ucb"):
            total = 0.0
            for run in range(4):
                tape = Synthetic(corruption=corruption, permutation="fixed").tape(seed=(3, run), horizon=1_000)
                total += simulate(make_policy(name, n_objectives=20), tape, np.array([1_000])).regret[-1]
            regrets[name, corruption] = total
    assert regrets["fisher-pqucb-robust", 0.0] < 1.1 * regrets["fisher-pqucb", 0.0]
    assert regrets["fisher-pqucb-robust", 0.0] < 0.7 * regrets["fisher-ucb", 0.0]
    assert regrets["fisher-pqucb-robust", 1.0] < 1.25 * regrets["fisher-ucb", 1.0]
    assert regrets["fisher-pqucb-robust", 1.0] < 0.8 * regrets["fisher-pqucb", 1.0]


def test_other_anchors_are_refused():
    with pytest.raises(InvalidSetting, match=r"must be a Mixture, but got Likelihood\("):
        FisherPQUCBRobust(n_objectives=3, anchor=Likelihood())


def test_fisher_ucb_hears_nothing():
    deaf, silent = make_policy("fisher-ucb", n_objectives=3), make_policy("fisher-pqucb", n_objectives=3)
    deaf.hear("ada", (2, 0, 1))
    for policy in (deaf, silent):
        policy.choose("ada", ["inn", "spa"])
        policy.learn("ada", "inn", [1.0, 2.0, 3.0], 4.0)
    np.testing.assert_array_equal(deaf.preference("ada").weights, silent.preference("ada").weights)
    tape = Synthetic(n_users=3).tape(seed=1, horizon=300)
    quiet = Synthetic(n_users=3, query_rate=0.0).tape(seed=1, horizon=300)
    runs = [simulate(make_policy("fisher-ucb", n_objectives=20), each, np.array([300])) for each in (tape, quiet)]
    assert runs[0].regret[-1] == runs[1].regret[-1]


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(4))
def test_the_stated_belief_is_the_mixture_of_readings_without_slack(seed):
    """With one unit and one noise, by dense normal densities; what lies between readings stays in the covariance."""
    x, y, anchors, _, odds = drawn_case(seed)
    x, y = np.tile(x, (32, 1)), np.tile(y, 32)  # enough utilities for one noise
    size = x.shape[1]
    mean, covariance = np.empty(size), np.empty((size, size))
    assert mix_readings(*two_voices(x, y, anchors, 0.3, odds), 1.0, False, mean, covariance)
    slow_mean, slow_covariance = naive_mixture(x, y, anchors, 0.3, odds)
    deviations = np.sqrt(np.diag(slow_covariance))
    np.testing.assert_allclose(mean / deviations, slow_mean / deviations, atol=0.03)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), deviations, rtol=0.03)


def naive_mixture(x, y, anchors, variance, odds):
    """Return mean and covariance over readings and a fine grid of units, by quadratic forms of utilities."""
    size, grid = x.shape[1], np.linspace(-3.2, 3.2, 401)
    chances = (1.0 - SPIKE) * np.exp(-0.5 * (grid / SLAB) ** 2) / (SLAB * np.sqrt(2.0 * np.pi)) * (grid[1] - grid[0])
    logs, means, covariances = [], [], []
    # Noise has the chance of words at no weights at all; those of a person, or of somebody else, that of a normal law.
    information, drawn = naive_voices(anchors, 1.0, 0.0)[0][3:]
    chance = total = 0.0
    for factor in (1 / 16, 1 / 4, 1, 4, 16):
        prior = 0.5 * factor * (np.eye(size) - 1.0 / size) + 1e-6 * np.eye(size)
        words = drawn @ np.linalg.solve(information + prior, drawn)
        words -= np.linalg.slogdet(information + prior)[1] - np.linalg.slogdet(prior)[1]
        chance += np.exp(-0.5 * np.log(factor) ** 2 + 0.5 * words)
        total += np.exp(-0.5 * np.log(factor) ** 2)
    odds_against = {0: 0.0, 1: AGAINST_LIES, 2: -odds, SILENT: AGAINST_LIES - np.log1p(total / chance)}
    for log_unit, chance in [*zip(grid, chances, strict=True), (0.0, SPIKE)]:
        unit = np.exp(log_unit)
        prior = 0.5 / unit**2 * (np.eye(size) - 1.0 / size) + 1e-6 * np.eye(size)
        for reading, slack, _, told, drawn in naive_voices(anchors, unit, odds):
            if 0.0 < slack < np.inf:
                continue  # what is told takes words as they are or not at all
            own, matrix = told + prior, told + prior + x.T @ x / variance
            pulled = drawn + x.T @ y / variance
            value = np.linalg.slogdet(own)[1] - drawn @ np.linalg.solve(own, drawn)
            value += pulled @ np.linalg.solve(matrix, pulled) - np.linalg.slogdet(matrix)[1]
            logs.append(np.log(chance) + 0.5 * value - odds_against[SILENT if slack == np.inf else reading])
            means.append(np.linalg.solve(matrix, pulled))
            covariances.append(np.linalg.inv(matrix))
    shares = np.exp(np.array(logs) - max(logs))
    shares /= shares.sum()
    mean = shares @ np.array(means)
    apart = np.array(means) - mean
    return mean, np.einsum("n,nij->ij", shares, np.array(covariances)) + (shares * apart.T) @ apart


def test_words_themselves_show_that_they_are_noise():
    """Before anything is felt: consistent words are at most somebody else's, those without any order are noise."""
    rng, said = np.random.default_rng(2), {}
    for weights in (np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.zeros(5)):
        anchor = Likelihood(ridge=0.5, n_objectives=5)
        for _ in range(30):
            anchor.hear(np.argsort(-(weights + rng.gumbel(size=5))))
        told, rival = two_voices(np.empty((0, 5)), np.empty(0), (anchor, anchor), 1.0, -np.inf)
        said[weights.any()] = reading_odds(told, rival, SILENT) - own_surprise(read_as(told, rival, SILENT))
    assert said[True] == pytest.approx(-AGAINST_LIES, abs=1e-6)
    assert said[False] > 1.0


def test_words_of_someone_whose_weights_are_alike_are_no_noise():
    """How far apart weights lie is not known before: a prior that is too wide does not silence honest words."""
    odds = []
    for seed in range(10):
        rng, anchor = np.random.default_rng(seed), Likelihood(ridge=0.5, n_objectives=15)
        weights = 0.3 * rng.normal(size=15)
        for _ in range(60):
            anchor.hear(np.argsort(-(weights + rng.gumbel(size=15))))
        told, rival = two_voices(np.empty((0, 15)), np.empty(0), (anchor, anchor), 1.0, -np.inf)
        odds.append(reading_odds(told, rival, SILENT) - own_surprise(read_as(told, rival, SILENT)))
    assert np.median(odds) < 0.0


@pytest.mark.slow
def test_a_gate_that_closes_again_leaves_no_rival_behind():
    """Where the main voice explains all rankings, what a rival once heard is gone with the next one."""
    policy = FisherPQUCBRobust(n_objectives=4)
    policy.hear("ada", (0, 1, 2, 3))
    users = policy._state.users
    users.rival.queries[1], users.rival.kept[1], users.rival.estimate[1] = 2, 2, [1.0, 0.0, -1.0, 0.0]
    policy.hear("ada", (0, 1, 3, 2))
    assert users.anchor.corruption[1] == 0.0
    for name in users.rival._fields:
        if name not in ("ridge", "gate", "prior", "orders", "lengths"):  # the last two count as far as `kept` says
            part = getattr(users.rival, name)
            np.testing.assert_array_equal(part[1], part[0], err_msg=name)
