"""Off-policy evaluation: estimators against their definitions, against simulated truth and against another pipeline."""

from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from druthers import POLICIES, make_policy
from druthers.environments import Synthetic
from druthers.errors import InvalidSetting, NoSupport, UnknownName
from druthers.evaluation import Evidence, estimate, evaluate
from druthers.evaluation.following import IGNORE, LEARN, REPLAY, believe, follow
from druthers.evaluation.judging import uniform_shares
from druthers.logs import Log, from_rows, record, to_obp
from druthers.testing import same_state

FIXTURE = Path(__file__).parent / "data" / "obp.json"
WORLD = Synthetic(n_arms=6, n_objectives=3, n_users=4, offered=3, length="random", query_rate=0.7)
QUICK = ["s-ucb", "pareto-ucb", "mo-pqucb", "fisher-pqucb", "fisher-ucb"]
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in POLICIES if name not in (*QUICK, "conucb", "oracle")]


def recorded(name="s-ucb", horizon=400, seed=3, world=WORLD, **settings):
    return record(make_policy(name, n_objectives=3, seed=1, **settings), world.tape(seed=seed, horizon=horizon))


def made(users, offers, chances, places, rewards, utilities):
    """Return a log of plain arrays, nothing said."""
    n_rows, size = offers.shape
    return Log(
        objectives=tuple(f"objective {k + 1}" for k in range(rewards.shape[1])),
        user_ids=tuple(range(int(users.max()) + 1)),
        arm_ids=tuple(range(int(offers.max()) + 1)),
        policy_names=("made",),
        rounds=np.arange(n_rows),
        times=None,
        users=users.astype(np.int32),
        offer_starts=np.arange(n_rows + 1) * size,
        offers=offers.ravel().astype(np.int32),
        ranking_starts=np.zeros(n_rows + 1, dtype=np.int64),
        rankings=np.empty(0, dtype=np.int16),
        places=places.astype(np.int32),
        propensities=chances[np.arange(n_rows), places],
        rewards=rewards,
        utilities=utilities,
        policies=np.zeros(n_rows, dtype=np.int32),
        chances=chances.ravel().copy(),
    )


class TestEstimators:
    """On arrays, by their definitions."""

    def drawn(self, seed=0, n_rows=50):
        rng = np.random.default_rng(seed)
        return Evidence(rng.exponential(size=n_rows), *rng.normal(1.0, 1.0, (3, n_rows)))

    @pytest.mark.parametrize("name", ["ips", "dr"])
    def test_unbiased_over_every_log_that_could_have_been(self, name):
        """Two rows, two arms, rewards 0 or 1: the mean over all logs, by their chance, is the true value."""
        logging, evaluated = np.array([0.3, 0.7]), np.array([0.6, 0.4])
        success, model = np.array([0.2, 0.9]), np.array([0.5, -1.0])
        total = certainty = 0.0
        for arms in itertools.product(range(2), repeat=2):
            for rewards in itertools.product((0.0, 1.0), repeat=2):
                chance = math.prod(
                    logging[arm] * (success[arm] if reward else 1.0 - success[arm])
                    for arm, reward in zip(arms, rewards, strict=True)
                )
                chosen = list(arms)
                weights = evaluated[chosen] / logging[chosen]
                evidence = Evidence(weights, np.array(rewards), np.full(2, evaluated @ model), model[chosen])
                total += chance * estimate(name, evidence).value.value
                certainty += chance
        assert certainty == pytest.approx(1.0)
        assert total == pytest.approx(evaluated @ success)

    def test_definitions(self):
        weights, outcomes, expected, predicted, _ = evidence = self.drawn()
        for name, value in (
            ("ips", np.mean(weights * outcomes)),
            ("snips", np.sum(weights * outcomes) / np.sum(weights)),
            ("dm", np.mean(expected)),
            ("dr", np.mean(expected + weights * (outcomes - predicted))),
        ):
            found = estimate(name, evidence)
            assert found.value.value == pytest.approx(value)
            assert found.gain.value == pytest.approx(value - outcomes.mean())
            assert found.value.low < found.value.value < found.value.high
        assert found.effective == pytest.approx(weights.sum() ** 2 / np.sum(weights**2))

    def test_snips_follows_a_shift_of_the_outcomes(self):
        evidence = self.drawn()
        before, after = (
            estimate("snips", shifted) for shifted in (evidence, evidence._replace(outcomes=evidence.outcomes + 7.0))
        )
        assert np.array(after.value) - [7.0, 0.0, 7.0, 7.0] == pytest.approx(np.array(before.value))
        assert after.gain == pytest.approx(before.gain)

    def test_an_exact_model_makes_doubly_robust_the_direct_method(self):
        evidence = self.drawn()
        exact = evidence._replace(predicted=evidence.outcomes)
        assert estimate("dr", exact).value[:2] == estimate("dm", exact).value[:2]

    def test_without_a_model_doubly_robust_is_ips(self):
        nothing = np.zeros(50)
        evidence = self.drawn()._replace(expected=nothing, predicted=nothing)
        assert estimate("dr", evidence) == estimate("ips", evidence)

    def test_equal_weights_are_the_logged_mean(self):
        evidence = self.drawn()._replace(weights=np.ones(50))
        for name in ("ips", "snips"):
            found = estimate(name, evidence)
            assert found.gain == (0.0, 0.0, 0.0, 0.0)
            assert found.effective == 50.0
            assert found.value.value == pytest.approx(evidence.outcomes.mean())

    def test_the_error_of_a_ratio_is_that_of_its_jackknife(self):
        weights, outcomes, *_ = evidence = self.drawn(n_rows=2_000)
        left_out = [
            np.delete(weights, k) @ np.delete(outcomes, k) / (weights.sum() - weights[k]) for k in range(len(weights))
        ]
        jackknife = math.sqrt((len(weights) - 1) * np.var(left_out))
        assert estimate("snips", evidence).value.error == pytest.approx(jackknife, rel=0.01)

    def test_weights_that_were_due_widen_the_interval(self):
        """Known to be heavier on average than those drawn: as if the missing ones had been there."""
        evidence = self.drawn()
        seen = (evidence.weights**2).mean()
        for name in ("ips", "snips", "dr"):
            plain, fair, poor = (
                estimate(name, evidence._replace(squares=squares))
                for squares in (None, np.full(50, 0.5 * seen), np.full(50, 3.0 * seen))
            )
            assert fair.value[:2] == plain.value[:2]
            assert poor.value.value == plain.value.value
            assert poor.value.error > 1.2 * plain.value.error
            assert poor.effective == pytest.approx(50 / (3.0 * seen))

    def test_open_bandit_pipeline_finds_the_same(self):
        """Its own figures on the same log, made by benchmarks/pipeline.py."""
        content = json.loads(FIXTURE.read_text())
        offers, logging, places = (np.array(content[key]) for key in ("offers", "logging", "places"))
        rows, rewards = np.arange(len(places)), np.array(content["rewards"])
        log = made(np.zeros(len(rows)), offers, logging, places, rewards[:, None], rewards).check()
        assert to_obp(log)["pi_b"].sum() == pytest.approx(len(rows))
        evaluated, model = np.array(content["evaluated"]), np.array(content["model"])
        expected = np.sum(evaluated * model[rows[:, None], offers], axis=1)
        evidence = Evidence(
            evaluated[rows, places] / log.propensities, rewards, expected, model[rows, offers[rows, places]]
        )
        same = np.array(content["certain"])[rows, places]
        for ours, theirs in (("ips", "ipw"), ("snips", "snipw"), ("dr", "dr"), ("dm", "dm"), ("replay", "rm")):
            given = evidence._replace(weights=same) if ours == "replay" else evidence
            assert estimate(ours, given).value.value == pytest.approx(content["figures"][theirs], rel=1e-12)


class TestFollowing:
    """Compiled walks along a log, against single steps."""

    @pytest.mark.parametrize("name", [*QUICK, *SLOW])
    def test_a_policy_that_follows_its_own_log_decides_the_same(self, name):
        world = Synthetic(n_arms=6, n_objectives=3, n_users=4, offered=3, users_per_round=2, length="random")
        log = recorded(name, world=world, exploration=0.3)
        policy = make_policy(name, n_objectives=3, seed=1, exploration=0.3)
        followed = follow(policy, log, LEARN)
        assert followed.same.all()
        assert np.array_equal(followed.chances[log.chosen], log.propensities, equal_nan=True)
        if log.chances is not None:
            known = ~np.isnan(log.chances)
            assert followed.chances[known] == pytest.approx(log.chances[known])

    @pytest.mark.parametrize("name", [*QUICK, *SLOW])
    def test_replay_leaves_no_trace_of_rows_on_which_it_chose_otherwise(self, name):
        """It ends as if it had only seen the others: what was heard in a rejected row is unheard."""
        log = recorded("random")
        replayed, taught = (make_policy(name, n_objectives=3, seed=2) for _ in range(2))
        same = follow(replayed, log, REPLAY).same
        assert 0.2 < same.mean() < 0.5
        follow(taught, log.select(same), LEARN)
        ours, theirs = replayed.state(), taught.state()
        for chance in ("noise", "coins"):  # as many numbers were drawn as there were rows
            del ours[chance], theirs[chance]
        assert same_state(ours, theirs)

    def test_nothing_is_learned_unless_told(self):
        log = recorded("random")
        policy = make_policy("mo-pqucb", n_objectives=3)
        follow(policy, log, IGNORE)
        assert policy._state.clock[0] == 0.0
        assert np.abs(policy.preference(0).weights).max() > 0.0  # but it heard

    def test_beliefs_are_those_before_the_row(self):
        log = recorded("random", horizon=60)
        chances = np.tile([0.2, 0.3, 0.5], 60)
        believed = believe(make_policy("fisher-pqucb", n_objectives=3), log, chances)
        policy = make_policy("fisher-pqucb", n_objectives=3)
        policy.add_arms(log.arm_ids)
        sums, counts = np.zeros((6, 3)), np.zeros(6)
        for t, row in enumerate(log.rows()):
            policy.hear(row["user"], [log.objectives.index(name) for name in row["ranking"]])
            utilities = policy.choose(row["user"], row["offer"]).reasons[0]
            means = sums[row["offer"]] / np.maximum(counts[row["offer"]], 1)[:, None]
            assert believed.expected[t, 0] == pytest.approx(chances[:3] @ utilities)
            assert believed.expected[t, 1:] == pytest.approx(chances[:3] @ means)
            assert believed.predicted[t] == pytest.approx([utilities[log.places[t]], *means[log.places[t]]])
            policy.learn(row["user"], row["arm"], log.rewards[t], log.utilities[t])
            sums[row["arm"]] += log.rewards[t]
            counts[row["arm"]] += 1

    def test_blocks_join(self, monkeypatch):
        log = recorded("random", horizon=200)
        whole = follow(make_policy("mo-pqucb", n_objectives=3), log, LEARN)
        monkeypatch.setattr("druthers.evaluation.following.BLOCK", 17)
        parts = follow(make_policy("mo-pqucb", n_objectives=3), log, LEARN)
        assert np.array_equal(whole.chances, parts.chances)
        assert np.array_equal(whole.same, parts.same)

    @pytest.mark.slow
    def test_machine_code_from_the_cache_is_whole(self):
        """In a process that compiles nothing, all that the code calls is found."""
        code = (
            "from druthers import make_policy; from druthers.environments import Synthetic\n"
            "from druthers.logs import record; from druthers.evaluation import evaluate\n"
            "tape = Synthetic(n_arms=4, n_objectives=3, n_users=2, offered=3).tape(seed=1, horizon=300)\n"
            "log = record(make_policy('random', n_objectives=3), tape)\n"
            "print(evaluate(log, 'fisher-pqucb').estimates['utility']['dr'].value.value)"
        )
        first, second = (
            subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
            for _ in range(2)
        )
        assert first == second

    def test_offers_of_any_size_and_missing_feedback(self):
        rng = np.random.default_rng(5)
        rows = []
        for _ in range(200):
            offer = rng.permutation(6)[: rng.integers(1, 7)].tolist()
            row = {"user": int(rng.integers(3)), "offer": offer, "arm": offer[0], "propensity": 1 / len(offer)}
            row["reward"] = [float(value) if rng.random() < 0.7 else None for value in rng.normal(size=3)]
            rows.append(row | ({"utility": float(rng.normal())} if rng.random() < 0.7 else {}))
        log = from_rows(rows, ["a", "b", "c"])
        policy, steps = (make_policy("prucb", n_objectives=3) for _ in range(2))
        followed = follow(policy, log, LEARN)
        steps.add_arms(log.arm_ids)
        for t, row in enumerate(rows):
            decision = steps.choose(row["user"], row["offer"])
            begin, end = log.offer_starts[t : t + 2]
            assert followed.chances[begin + decision.places[0]] == 1.0
            assert followed.chances[begin:end].sum() == 1.0
            if not np.isnan([*log.rewards[t], log.utilities[t]]).all():
                known = None if np.isnan(log.rewards[t]).all() else log.rewards[t]
                steps.learn(row["user"], row["arm"], known, row.get("utility"))


MEANS = np.random.default_rng(1).uniform(0.0, 2.0, (5, 3))
PREFERENCES = np.random.default_rng(2).uniform(0.0, 1.0, (3, 3))
TASTE = np.array([-1.0, 0.5, 0.5])


def drawn_log(rng, n_rows, exploration):
    """Draw a log of a policy that mostly takes what suits nobody: offers of three of five arms."""
    users, rows = rng.integers(3, size=n_rows), np.arange(n_rows)
    offers = np.argsort(rng.random((n_rows, 5)), axis=1)[:, :3]
    chances = np.full((n_rows, 3), exploration / 3)
    chances[rows, (MEANS @ TASTE)[offers].argmax(axis=1)] += 1.0 - exploration
    places = (rng.random((n_rows, 1)) > chances.cumsum(axis=1)).sum(axis=1)
    rewards = MEANS[offers[rows, places]] + rng.normal(0.0, 0.5, (n_rows, 3))
    utilities = np.sum((PREFERENCES[users] + rng.normal(0.0, 0.3, (n_rows, 3))) * rewards, axis=1)
    return made(users, offers, chances, places, rewards, utilities)


def wise(log):
    """Return chances that mostly follow the user's true taste."""
    utilities = np.einsum("nd,nad->na", PREFERENCES[log.users], MEANS[log.offers.reshape(-1, 3)])
    chances = np.full(utilities.shape, 0.05)
    chances[np.arange(len(log)), utilities.argmax(axis=1)] += 0.85
    return chances.ravel()


def true_values(taste=None, exploration=0.15):
    """Return what the wise policy is worth, over all users and offers: utility, then objectives.

    With a taste, of one that follows it whoever the user is.
    """
    values = []
    for user, offer in itertools.product(range(3), itertools.combinations(range(5), 3)):
        means = MEANS[list(offer)]
        scores = means @ (PREFERENCES[user] if taste is None else taste)
        chances = exploration / 3 + (1.0 - exploration) * (scores == scores.max())
        values.append([chances @ means @ PREFERENCES[user], *(chances @ means)])
    return np.mean(values, axis=0)


def coverage(n_logs, n_rows, exploration, seed):
    """Return how often the intervals hold the truth, of values and of gains: the share of logs for each outcome."""
    rng, truth = np.random.default_rng(seed), true_values()
    gains = truth - true_values(TASTE, exploration)
    names = ("dr", "snips", "ips", "replay")
    held = {name: np.zeros((2, len(truth))) for name in names}
    for number in range(n_logs):
        log = drawn_log(rng, n_rows, exploration)
        found = evaluate(log, wise(log), estimators=names, seed=number).estimates
        for (k, outcome), name in itertools.product(enumerate(log.outcomes), names):
            value, gain, *_ = found[outcome][name]
            held[name][0, k] += value.low <= truth[k] <= value.high
            held[name][1, k] += gain.low <= gains[k] <= gain.high
    return {name: held[name] / n_logs for name in names}


def test_intervals_hold_the_truth_as_often_as_they_say():
    """250 logs of 400 rows; a share below 0.91 or above 0.99 has a chance below 1 % where 0.95 is right."""
    for shares in coverage(250, 400, 0.3, seed=11).values():
        assert np.all(shares > 0.91)
        assert np.all(shares < 0.99)


@pytest.mark.slow
def test_intervals_hold_the_truth_on_many_logs_with_little_exploration():
    """2000 logs; the standard error of a share is 0.5 %."""
    for shares in coverage(2_000, 1_000, 0.1, seed=12).values():
        assert np.all(shares > 0.925)
        assert np.all(shares < 0.99)


def test_estimates_are_right_on_average():
    """Over 200 logs, IPS and DR of every outcome within 4 standard errors: chance of a false alarm below 0.1 %."""
    rng, values = np.random.default_rng(4), []
    for _ in range(200):
        log = drawn_log(rng, 300, 0.4)
        found = evaluate(log, wise(log), estimators=["ips", "dr"]).estimates
        values.append([[found[outcome][name].value.value for name in ("ips", "dr")] for outcome in log.outcomes])
    means, errors = np.mean(values, axis=0), np.std(values, axis=0) / math.sqrt(200)
    assert np.all(np.abs(means - true_values()[:, None]) < 4.0 * errors)
    assert np.all(errors[:, 1] < errors[:, 0])  # what the model is for


def test_replay_is_a_run_of_its_own():
    """Utility of 60 replayed rounds against 60 rounds of play, 80 runs each; false alarm below 0.2 % (3.3 errors)."""
    replayed, played = [], []
    for seed in range(80):
        log = recorded("random", horizon=300, seed=(1, seed))
        same = follow(make_policy("mo-pqucb", n_objectives=3, radius_scale=0.05, reward_scale=0.05), log, REPLAY).same
        replayed.append(truth_of(log.select(same).select(slice(0, 60)), (1, seed)))
        own = recorded("mo-pqucb", horizon=60, seed=(1, seed), radius_scale=0.05, reward_scale=0.05)
        played.append(truth_of(own, (1, seed)))
    differences = np.array(replayed) - np.array(played)
    error = differences.std(ddof=1) / math.sqrt(80)
    assert abs(differences.mean()) < 3.3 * error
    assert error < 0.05 * np.mean(played)


def truth_of(log, seed):
    """Return the mean true utility of the logged choices."""
    tape = WORLD.tape(seed=seed, horizon=1)
    return float(np.mean(np.sum(tape.preferences[log.users] * tape.means[log.arms], axis=1)))


class TestEvaluate:
    """The door: what may be judged, and what is refused."""

    def test_functions_arrays_and_policies_are_judged_alike(self):
        log = recorded("random")
        array = np.tile([1.0, 0.0, 0.0], len(log))
        first = evaluate(log, array).estimates
        assert evaluate(log, lambda user, offer, ranking: [1.0, 0.0, 0.0]).estimates == first
        random = make_policy("random", n_objectives=3)
        before = random.state()
        found = evaluate(log, random, estimators=["ips"])
        assert same_state(random.state(), before)
        assert found.estimates["utility"]["ips"].gain == pytest.approx([0.0] * 4, abs=1e-9)
        assert (found.learned, found.judged) == (0, 400)
        assert found.policy == "random"

    def test_a_function_is_told_user_offer_and_ranking(self):
        log = recorded("random", horizon=20)
        heard = []
        evaluate(log, lambda *context: heard.append(context) or [0.2, 0.3, 0.5], estimators=["dm"])
        for (user, offer, ranking), row in zip(heard, log.rows(), strict=True):
            assert (user, list(offer)) == (row["user"], row["offer"])
            assert [log.objectives[k] for k in ranking] == row["ranking"]

    def test_a_policy_by_name_learns_first(self):
        world = Synthetic(n_arms=6, n_objectives=3, n_users=4, offered=3, users_per_round=2)
        log = recorded("random", horizon=201, world=world)
        found = evaluate(log, "mo-pqucb", settings={"radius_scale": 0.1}, label="mine", learn=0.5)
        assert (found.policy, found.learned, found.judged) == ("mine", 200, 202)  # rounds stay whole
        policy = make_policy("mo-pqucb", n_objectives=3, radius_scale=0.1, horizon=402)
        follow(policy, log.select(slice(0, 200)), LEARN)
        fixed = evaluate(log.select(slice(200, None)), policy, estimators=["snips"])
        assert found.estimates["utility"]["snips"] == fixed.estimates["utility"]["snips"]
        assert set(found.estimates) == set(log.outcomes)
        assert json.loads(json.dumps(found.plain()))["estimates"]["utility"]["dr"]["rows"] == 202

    def test_a_frozen_policy_is_worth_what_its_choices_are_worth(self):
        """Of a policy that learned from an adaptive log, within 4 errors for each outcome."""
        tape = WORLD.tape(seed=8, horizon=4_000)
        log = record(make_policy("s-ucb", n_objectives=3, exploration=0.3), tape)
        found = evaluate(log, "fisher-pqucb", estimators=["dr", "snips", "ips"])
        policy, rest = make_policy("fisher-pqucb", n_objectives=3), log.select(slice(2_000, None))
        follow(policy, log.select(slice(0, 2_000)), LEARN)
        chances = follow(policy, rest, IGNORE).chances
        rewards = tape.means[rest.offers]
        utilities = np.sum(np.repeat(tape.preferences[rest.users], 3, axis=0) * rewards, axis=1)
        truth = [chances @ utilities / 2_000, *(chances @ rewards / 2_000)]
        for value, outcome in zip(truth, log.outcomes, strict=True):
            for estimated in found.estimates[outcome].values():
                assert abs(estimated.value.value - value) < 4.0 * estimated.value.error
        assert found.estimates["utility"]["dr"].gain.low > 0.0  # and better than what does not tell users apart

    def test_outcomes_that_were_not_observed_are_left_out(self):
        log = recorded("random", horizon=600)
        log.rewards[:, 1] = np.nan
        log.rewards[::2, 2] = np.nan
        log.utilities[:] = np.nan
        found = evaluate(log, "s-ucb", learn=0.0)
        assert list(found.estimates) == ["objective 1", "objective 3"]
        assert found.estimates["objective 3"]["ips"].rows == 300

    def test_certain_decisions_cannot_judge_others(self):
        log = recorded("s-ucb")
        for name in ("mo-pqucb", "random"):
            with pytest.raises(NoSupport, match=r"may choose to have had a chance, but in .* log with exploration > 0"):
                evaluate(log, name)
        with pytest.raises(NoSupport, match=r"in 400 of 400 rows some had none; log with exploration > 0"):
            evaluate(log, "mo-pqucb", estimators=["replay"])
        found = evaluate(log, log.chances)  # but they can judge themselves
        assert found.estimates["utility"]["ips"].gain.value == 0.0
        assert list(found.refusals) == ["replay"]
        assert list(evaluate(log, "mo-pqucb", estimators=["dm", "ips"]).refusals) == ["ips"]

    def test_what_was_never_tried_cannot_be_judged(self):
        """By the chances in the log; or, where there are none, by weights that do not average 1."""
        rng = np.random.default_rng(0)
        offers = np.tile(np.arange(3), (900, 1))
        chances, places = np.tile([0.5, 0.5, 0.0], (900, 1)), rng.integers(2, size=900)
        log = made(np.zeros(900), offers, chances, places, rng.random((900, 1)), rng.random(900))
        even = np.full(2700, 1 / 3)
        with pytest.raises(NoSupport, match=r"in 900 of 900 rows it had none"):
            evaluate(log, even, estimators=["ips"])
        with pytest.raises(
            NoSupport, match=r"weights must average 1, by chance up to 0.15 off, but those of given average 0.67"
        ):
            evaluate(replace(log, chances=None), even, estimators=["ips"])

    def test_unknown_chances_are_refused(self):
        log = recorded("pareto-ts", exploration=0.5)
        with pytest.raises(NoSupport, match="needs the propensity of every decision, but 400 of 400 rows have none"):
            evaluate(log, "s-ucb")
        found = evaluate(recorded("random"), "pareto-ts")
        assert list(found.estimates["utility"]) == ["replay"]
        assert "pareto-ts does not know its own; use replay" in found.refusals["ips"]

    def test_too_few_rows_are_refused(self):
        log = recorded("s-ucb", exploration=0.02)
        with pytest.raises(NoSupport, match=r"an effective sample of at least 10 rows to hold, but got \d"):
            evaluate(log, "random", learn=0.9, estimators=["ips", "replay"])

    def test_replay_keeps_every_arm_equally_often(self):
        log = recorded("s-ucb", horizon=6_000, exploration=0.5)
        shares = uniform_shares(log)
        assert np.all((shares > 0.0) & (shares <= 1.0))
        assert shares * log.propensities == pytest.approx(np.full(6_000, log.chances.min()))
        assert np.all(uniform_shares(recorded("random")) == pytest.approx(1.0))

    def test_a_policy_with_the_seed_of_the_log_has_luck_of_its_own(self):
        log = record(make_policy("random", n_objectives=3), WORLD.tape(seed=3, horizon=900))
        for policy in ("random", make_policy("random", n_objectives=3)):
            found = evaluate(log, policy, estimators=["replay"])
            assert 250 < found.estimates["utility"]["replay"].effective < 350

    def test_requests_that_cannot_be_met(self):
        log = recorded("random", horizon=30)
        for call, error, message in (
            (lambda: evaluate(log, "s-ucp"), UnknownName, "did you mean 's-ucb'"),
            (lambda: evaluate(log, "s-ucb", estimators=["isp"]), UnknownName, "unknown estimator 'isp'"),
            (lambda: evaluate(log, "s-ucb", settings={"widht": 1}), UnknownName, "did you mean 'width'"),
            (lambda: evaluate(log, "s-ucb", settings={"width": -1}), InvalidSetting, "width"),
            (lambda: evaluate(log, "s-ucb", learn=1.0), InvalidSetting, "learn is a share"),
            (lambda: evaluate(log, np.ones(90)), InvalidSetting, "must add up to 1, but row 0"),
            (lambda: evaluate(log, np.ones(7)), InvalidSetting, "each of 90 offered arms, but gave"),
            (lambda: evaluate(log, lambda *_: [1.0]), InvalidSetting, "must give 3 chances for row 0"),
            (
                lambda: evaluate(log, make_policy("random", n_objectives=2)),
                InvalidSetting,
                "must have the 3 objectives",
            ),
            (lambda: evaluate(log, np.full(90, 1 / 3), settings={"a": 1}), InvalidSetting, "settings are for"),
        ):
            with pytest.raises(error, match=message):
                call()
