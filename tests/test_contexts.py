"""Contexts of visits: shifts of weights against a dense twin, and everything as ever where no context is told."""

from __future__ import annotations

import zlib
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from druthers import FisherPQUCB, StatedUCB, make_policy
from druthers.advisor import Advisor, events, verify
from druthers.advisor.history import to_log
from druthers.advisor.person import unpacked
from druthers.catalogs import Catalog, Item
from druthers.environments import Synthetic
from druthers.errors import Contradiction, DamagedState, InvalidEvent, InvalidLog, InvalidSetting
from druthers.logs import from_rows, read_log, record, write_log
from druthers.policies import Policy
from druthers.policies.belief import Posterior
from druthers.policies.contexts import LONGEST_ENTRY, LONGEST_NAME, MOST_ENTRIES, as_entries
from druthers.policies.shifts import FRACTIONS, NOISE_DRAWS, add_row_within, add_within, fresh_visit, shifted
from druthers.simulation import play_by_steps, simulate
from druthers.stores import Event
from druthers.types import Objective

INNS = Catalog(
    "inns",
    [Objective("clean", low=0, high=5), Objective("quiet", low=0, high=5)],
    [Item("clean", values={"clean": 4.5, "quiet": 0.5}), Item("quiet", values={"clean": 0.5, "quiet": 4.5})],
)
WEEKEND, DAY = {"weekend": True}, {"weekend": False}


class Felt:
    """Utilities and choices of one user in contexts, kept one by one."""

    def __init__(self, seed, *, n=4, q=2, rows=25, picks=3, shift=1.0):
        draw = np.random.default_rng(seed)
        self.x, self.z = draw.standard_normal((rows, n)), draw.choice([0.0, 1.0, -0.4], (rows, q))
        truth = draw.standard_normal((1 + q, n)) * np.r_[1.0, np.full(q, shift)][:, None]
        self.y = np.einsum("ra,rn,an->r", np.c_[np.ones(rows), self.z], self.x, truth)
        self.y += 0.5 * draw.standard_normal(rows)
        self.seen, self.drawn = draw.standard_normal((picks, 2, n)), draw.standard_normal((picks, 2))
        self.where = draw.choice([0.0, 1.0], (picks, q))
        self.prior, self.mean = draw.uniform(0.5, 2.0, n), draw.standard_normal(n)
        self.unit, self.variance = 0.7, 1.3

    def design(self):
        """Return all that was felt as rows over w and C, what they equal, and their noise: two rows to a choice."""
        rows = [np.kron(np.r_[1.0, z], x) for x, z in zip(self.x, self.z, strict=True)]
        rows += [np.kron(np.r_[1.0, z], x) for pair, z in zip(self.seen, self.where, strict=True) for x in pair]
        noise = np.r_[np.full(len(self.x), self.variance), np.full(self.drawn.size, self.unit**2)]
        return np.array(rows), np.r_[self.y, self.unit * self.drawn.ravel()], noise

    def base(self):
        """Return what is believed without shifts, and the sums of utilities."""
        rows, values, noise = self.design()
        rows = rows[:, : self.x.shape[1]]
        information = np.diag(self.prior) + rows.T @ (rows / noise[:, None])
        pull = self.prior * self.mean + rows.T @ (values / noise)
        told = np.c_[self.x, self.y]
        root = np.linalg.cholesky(information).T
        return Posterior(np.linalg.solve(information, pull), np.ascontiguousarray(root), self.variance), told.T @ told

    def visit(self, context):
        """Return the sums that a policy would have kept."""
        visit = fresh_visit(len(context), self.x.shape[1], self.x.shape[1])
        for x, y, z in zip(self.x, self.y, self.z, strict=True):
            add_row_within(visit._replace(context=z), np.r_[x, y], 1.0)
        for pair, told, z in zip(self.seen, self.drawn, self.where, strict=True):
            site = np.c_[pair.T @ pair, pair.T @ told]  # of weights in units of choices: rows over the unit
            add_within(visit._replace(context=z), site, True)
        return visit._replace(context=np.array(context))


def twin(felt, context, usual):
    """Do the same slowly: a dense regression for each deviation, its evidence by the density of all that was felt."""
    rows, values, noise = felt.design()
    n, size, told = felt.x.shape[1], rows.shape[1], len(felt.y)
    first = noise.copy()
    for turn in range(2):
        means, spreads, odds, losses = [], [], [], []
        for fraction in FRACTIONS:
            prior = np.r_[1.0 / felt.prior, np.full(size - n, (fraction * usual) ** 2)]
            center = np.r_[felt.mean, np.zeros(size - n)]
            whole = rows * prior @ rows.T + np.diag(noise)
            gain = prior[:, None] * rows.T @ np.linalg.inv(whole)
            mean, spread = center + gain @ (values - rows @ center), np.diag(prior) - gain @ rows * prior
            # The noise is fixed here, so what it adds to the density is the same for all.
            odds.append(multivariate_normal.logpdf(values, rows @ center, whole))
            seen = rows[:told]
            losses.append(np.sum((felt.y - seen @ mean) ** 2) + np.trace(seen @ spread @ seen.T))
            here = np.kron(np.r_[1.0, context], np.eye(n))
            means.append(here @ mean)
            spreads.append(here @ spread @ here.T)
        chance = np.exp(odds - np.max(odds)) * np.array([0.5, *[0.5 / (len(FRACTIONS) - 1)] * (len(FRACTIONS) - 1)])
        chance /= chance.sum()
        mean = chance @ np.array(means)
        off = np.array(means) - mean
        spread = np.einsum("g,gij->ij", chance, np.array(spreads)) + (off.T * chance) @ off
        if turn == 0:
            least = NOISE_DRAWS * felt.variance
            noise[:told] = first[:told] * min((least + chance @ losses) / (least + losses[0]), 1.0)
    return mean, spread, noise[0]


@pytest.mark.plain
@pytest.mark.parametrize("seed", range(4))
def test_shifts_are_those_of_a_dense_regression(seed):
    felt, context, usual = Felt(seed, shift=2.5), [1.0, -0.4], 0.9
    believed = shifted(felt.visit(context), *felt.base(), felt.unit, usual)
    mean, spread, noise = twin(felt, context, usual)
    upper = np.triu(believed.root)
    assert np.allclose(believed.estimate, mean, rtol=1e-8, atol=1e-9)
    assert np.allclose(np.linalg.inv(upper.T @ upper), spread, rtol=1e-7, atol=1e-9)
    assert believed.variance == pytest.approx(noise, rel=1e-9)
    assert noise < felt.variance


def test_without_evidence_nothing_is_shifted():
    """Bit for bit; and where there is no shift, one is hardly ever believed."""
    wrong = 0
    for seed in range(40):
        felt = Felt(seed, shift=0.0, rows=40, picks=0)
        felt.variance = 0.25
        base, gram = felt.base()
        believed = shifted(felt.visit([1.0, -0.4]), base, gram, felt.unit, 0.9)
        wrong += not np.array_equal(believed.estimate, base.estimate)
    assert wrong <= 4


def visits(policy, days=24, user="ada"):
    """Let a user like the first objective on weekends, the second otherwise."""
    draw = np.random.default_rng(3)
    for arm, reward in {"inn": [0.9, 0.1], "spa": [0.1, 0.9]}.items():
        policy.learn("shop", arm, reward)
    for day in range(days):
        with policy.in_context(WEEKEND if day % 3 == 0 else DAY):
            arm = "inn" if day % 2 else "spa"
            liked = (arm == "inn") == (day % 3 == 0)
            policy.learn(user, arm, utility=(0.8 if liked else -0.6) + 0.1 * draw.standard_normal())
    return policy


@pytest.mark.parametrize("name", ["stated-ucb", pytest.param("fisher-pqucb", marks=pytest.mark.slow)])
def test_who_wants_something_else_on_weekends_gets_it(name):
    policy = visits(make_policy(name, n_objectives=2))
    with policy.in_context(WEEKEND):
        assert policy.choose("ada", ["inn", "spa"]).arm == "inn"
        assert policy.choose_slate("ada", ["inn", "spa"], size=2).arms[0] == "inn"
        first = policy.preference("ada").weights
    with policy.in_context(DAY):
        assert policy.choose("ada", ["inn", "spa"]).arm == "spa"
    shift = policy.shifts("ada")["weekend"]
    assert shift[0] > 0.2
    assert shift[1] < -0.2
    assert np.allclose(policy.preference("ada").weights + shift, first)
    assert policy.shifts("eve") == {}
    usual, shifts = policy.utilities_apart("ada", ["inn", "spa"])
    with policy.in_context(WEEKEND):
        assert np.allclose(usual + shifts["weekend"], policy.utilities("ada", ["inn", "spa"]))
    assert shifts["weekend"][0] > 0.1


@pytest.mark.parametrize("name", ["stated-ucb", pytest.param("fisher-pqucb", marks=pytest.mark.slow)])
def test_shifts_of_arms_with_unknown_values_are_those_of_their_utilities(name):
    policy = visits(make_policy(name, n_objectives=2))
    policy.learn("shop", "new", [0.5, np.nan])
    for arms in (["new"], ["inn", "spa", "new"]):
        usual, shifts = policy.utilities_apart("ada", arms)
        with policy.in_context(WEEKEND):
            assert np.allclose(usual + shifts["weekend"], policy.utilities("ada", arms))


def test_without_a_context_nothing_changes():
    """Bit for bit: contexts of nothing, those of others, and those nothing was felt in."""
    for name in ("stated-ucb", "fisher-pqucb"):
        plain, told = make_policy(name, n_objectives=2), make_policy(name, n_objectives=2)
        visits(told, user="eve")
        for policy in (plain, told):
            policy.learn("shop", "inn", [0.9, 0.1])
            policy.learn("shop", "spa", [0.1, 0.9])
        told.import_user("ada", told.export_user("shop"))
        plain.import_user("ada", plain.export_user("shop"))
        for policy in (plain, told):
            with policy.in_context({} if policy is plain else {"weekend": False}):
                policy.learn("ada", "inn", utility=0.4)
        with told.in_context(WEEKEND):
            now = told.preference("ada")
        assert np.array_equal(now.weights, plain.preference("ada").weights)
        assert plain.export_user("ada") == told.export_user("ada")


@pytest.mark.parametrize("name", ["stated-ucb", pytest.param("fisher-pqucb", marks=pytest.mark.slow)])
def test_as_long_as_no_shift_is_believed_beliefs_are_those_without_contexts(name):
    """Bit for bit: weights, averages over units in them, and utilities."""
    plain, told = (visits(make_policy(name, n_objectives=2), days=0) for _ in range(2))
    for day in range(4):
        for policy in (plain, told):
            with policy.in_context({"weekend": day % 2 == 0} if policy is told else None):
                policy.learn("ada", "inn" if day < 2 else "spa", utility=0.4 if day < 2 else 0.3)
    assert told.entries("ada") == ("weekend",)
    with told.in_context(WEEKEND):
        now, before = told.preference("ada"), plain.preference("ada")
    assert np.array_equal(now.weights, before.weights)
    assert np.array_equal(now.covariance, before.covariance)
    usual, shifts = told.utilities_apart("ada", ["inn", "spa"])
    assert np.array_equal(usual, plain.utilities("ada", ["inn", "spa"]))
    assert shifts == {}


@pytest.mark.parametrize("name", ["stated-ucb", pytest.param("fisher-pqucb", marks=pytest.mark.slow)])
def test_what_was_felt_in_contexts_is_saved_moved_and_forgotten(name):
    policy = visits(make_policy(name, n_objectives=2))
    with policy.in_context(WEEKEND):
        policy.learn_choice("ada", "inn", ["inn", "spa"])
        expected = policy.preference("ada").weights
        assert np.array_equal(
            Policy.from_state(policy.state()).shifts("ada")["weekend"], policy.shifts("ada")["weekend"]
        )
    other = visits(make_policy(name, n_objectives=2), days=0)
    other.import_user("ben", policy.export_user("ada"))
    with other.in_context(WEEKEND):
        assert np.array_equal(other.preference("ben").weights, expected)
    with pytest.raises(DamagedState):
        other.import_user("eve", policy.export_user("ada")[:-3])
    policy.forget_user("ada")
    policy.add_users(["eve"])
    assert policy.shifts("eve") == {}
    assert len(policy.export_user("eve")) < len(other.export_user("ben"))
    older = {key: value for key, value in policy.state().items() if key != "shifts"}
    assert Policy.from_state(older).shifts("ada") == {}


@pytest.mark.parametrize("name", ["stated-ucb", pytest.param("fisher-pqucb", marks=pytest.mark.slow)])
def test_a_utility_is_revised_in_its_context(name):
    once, twice = (visits(make_policy(name, n_objectives=2), days=6) for _ in range(2))
    with once.in_context(WEEKEND):
        once.learn("ada", "inn", utility=0.9)
    with twice.in_context(WEEKEND):
        twice.learn("ada", "inn", utility=-0.2)
        twice.revise("ada", "inn", 0.9, before=-0.2)
    assert np.allclose(once.shifts("ada")["weekend"], twice.shifts("ada")["weekend"], atol=1e-9)
    assert np.allclose(once.preference("ada").weights, twice.preference("ada").weights, atol=1e-9)


def test_so_many_entries_count_in_the_order_in_which_they_came():
    policy = visits(StatedUCB(n_objectives=2), days=0)
    for k in (3, 1, 2, *range(4, 14)):
        with policy.in_context({f"b{k:02}": 1.0, f"a{k:02}": 0.5}):
            policy.learn("ada", "inn", utility=0.1)
    names = ["a03", "b03", "a01", "b01", "a02", "b02", "a04", "b04"]
    assert list(policy.shifts("ada")) == names
    assert len(names) == MOST_ENTRIES


def test_contexts_are_words_yes_or_no_or_small_numbers():
    assert as_entries({"device": "phone", "night": False, "party": -1}) == {
        "device: phone": 1.0,
        "night": 0.0,
        "party": -1.0,
    }
    for wrong in ({"party": 6}, {"": 1.0}, {"device": ""}, {"at": None}, {"x": float("nan")}, {"a" * 99: True}):
        with pytest.raises(InvalidSetting):
            as_entries(wrong)
    with (
        pytest.raises(InvalidSetting, match="such as stated-ucb"),
        make_policy("s-ucb", n_objectives=2).in_context(DAY),
    ):
        pass
    with pytest.raises(InvalidSetting), FisherPQUCB(n_objectives=2, guarantee=True).in_context(DAY):
        pass


def test_visits_of_a_tape_shift_what_is_felt_and_nothing_else():
    plain = Synthetic(n_objectives=4).tape(seed=5, horizon=60)
    tape = Synthetic(n_objectives=4, contexts=2, shift=1.0).tape(seed=5, horizon=60)
    before, chunk = next(plain.chunks()), next(tape.chunks())
    assert all(np.array_equal(getattr(before, name), getattr(chunk, name)) for name in ("users", "orders", "offers"))
    row = int(np.flatnonzero(chunk.contexts.all(axis=1))[0])
    user = chunk.users[row]
    assert np.allclose(tape.wanted(chunk)[row], plain.preferences[user] + tape.shifts[user].sum(axis=0))
    run = simulate(FisherPQUCB(n_objectives=4), tape, np.array([20, 60]))
    played = play_by_steps(FisherPQUCB(n_objectives=4), tape)
    assert run.regret.tolist() == pytest.approx([played.regret[:20].sum(), played.regret.sum()])


def test_logs_tell_contexts(tmp_path):
    tape = Synthetic(n_arms=6, n_objectives=3, n_users=2, offered=4, contexts=2, shift=1.0).tape(seed=5, horizon=30)
    log = record(make_policy("stated-ucb", n_objectives=3, exploration=0.2), tape)
    assert np.array_equal(log.contexts, next(tape.chunks()).contexts)
    write_log(log, tmp_path / "log.parquet")
    for again in (read_log(tmp_path / "log.parquet"), from_rows(log.rows(), log.objectives)):
        order = [again.entries.index(name) for name in log.entries]
        assert np.array_equal(again.contexts[:, order], log.contexts)
    advisor = open_advisor()
    visit(advisor, days=3)
    served = to_log(advisor.store)
    assert [row["context"] for row in served.rows()][::2] == [
        {"weekend": 1.0, "device: phone": 1.0},
        {"device: desk": 1.0},
        {"device: desk": 1.0},
    ]
    with pytest.raises(InvalidLog, match="numbers from -1 to 1"):
        from_rows([{"user": 1, "offer": [1], "arm": 1, "context": {"party": 6}}], ["a"])


def open_advisor(store="memory:", **more):
    return Advisor(INNS, store=store, parser="lexicon", **more)


def visit(advisor, user="ada", days=18):
    """Rate both inns, the clean one well on weekends and the quiet one well otherwise; pick now and then."""
    for day in range(days):
        context = {"weekend": day % 3 == 0, "device": "phone" if day % 4 == 0 else "desk"}
        made = advisor.recommend(user, offer=["clean", "quiet"], size=2, context=context)
        for item in ("clean", "quiet"):
            advisor.feedback(made.id, item=item, utility=0.9 if (item == "clean") == context["weekend"] else -0.7)
        if day % 5 == 0:
            advisor.pick(made.id, "clean" if context["weekend"] else "quiet")


def first(advisor, **context):
    return advisor.recommend("ada", offer=["clean", "quiet"], context=context).items[0].item


def test_the_advisor_learns_what_visits_have_in_common():
    advisor = open_advisor()
    visit(advisor)
    assert first(advisor, weekend=True) == "clean"
    assert first(advisor, weekend=False) == first(advisor) == "quiet"
    made = advisor.recommend("ada", context={"weekend": True}, id="d1")
    assert advisor.recommend("ada", context={"weekend": True}, id="d1") == replace(made, regret=0.0)
    with pytest.raises(Contradiction):
        advisor.recommend("ada", context={"weekend": False}, id="d1")
    told = [event for event in advisor.store.walk() if event.kind in (events.FEEDBACK, events.CHOICE)]
    assert all(event.body["context"] == {"weekend": True, "device": "phone"} for event in told if event.position < 6)
    assert verify(advisor).agrees
    advisor.feedback(made.id, utility=0.5)
    advisor.feedback(made.id, utility=-0.5)
    assert verify(advisor).agrees
    advisor.forget("ada")
    assert not any("context" in event.body for event in advisor.store.walk())
    assert verify(advisor).agrees


def test_who_left_memory_comes_back_with_contexts(tmp_path):
    """Saved one by one, folded anew after the state was lost, or from a snapshot: the same bits."""
    store = f"sqlite:{tmp_path / 'journal.db'}"
    advisor = open_advisor(store)
    visit(advisor)
    known = advisor.fold.policy.export_user("ada")
    visit(advisor, "ben", days=2)
    advisor.shrink(0)
    assert "ada" not in advisor.fold.people
    assert first(advisor, weekend=True) == "clean"
    assert advisor.fold.policy.export_user("ada") == known
    advisor.close()
    again = open_advisor(store)
    assert first(again, weekend=True) == "clean"
    assert again.fold.policy.export_user("ada") == known
    with again.fold.policy.in_context({"weekend": True}):
        assert again.fold.policy.shifts("ada").keys() == {"device: phone", "weekend", "device: desk"}
    again.close()


def test_names_and_words_may_be_as_long_as_they_may():
    """Each of them, and then so may the entry that both make."""
    advisor = open_advisor()
    context = {"n" * LONGEST_NAME: "w" * LONGEST_NAME}
    for utility in (0.5, -0.5):
        advisor.feedback(advisor.recommend("ada", context=context).id, utility=utility)
    (name,) = advisor.fold.policy.shifts("ada")
    assert len(name) == LONGEST_ENTRY
    log = to_log(advisor.store)
    assert from_rows(log.rows(), log.objectives).entries == (name,)
    assert verify(advisor).agrees


@pytest.mark.parametrize("lost", [3, 40, 1000])
def test_a_damaged_state_of_contexts_is_folded_anew(tmp_path, lost):
    store = f"sqlite:{tmp_path / 'journal.db'}"
    advisor = open_advisor(store)
    visit(advisor, days=3)
    known, name = advisor.fold.policy.export_user("ada"), advisor.fold.name
    advisor.shrink(0)
    (state,) = (one.state for one in advisor.store.users(name, ["ada"], advisor.fold.position).values())
    short = state._replace(body=zlib.compress(zlib.decompress(state.body)[:-lost]))
    with pytest.raises(DamagedState):
        unpacked(short, advisor.fold.policy)
    advisor.store.save(name, None, [short])
    advisor.close()
    again = open_advisor(store)
    again.recommend("ada")
    assert again.fold.policy.export_user("ada") == known
    again.close()


def test_only_entries_that_count_are_remembered_with_items():
    advisor = open_advisor()
    for day in range(MOST_ENTRIES + 4):
        made = advisor.recommend("ada", offer=["clean"], context={"day": str(day), "weekend": False})
        advisor.feedback(made.id, utility=0.5)
    person = advisor.fold.people["ada"]
    assert person.visits == {"clean": {f"day: {day}": 1.0 for day in range(MOST_ENTRIES)}}
    assert verify(advisor).agrees


def test_journals_hold_only_contexts_that_can_be_told():
    body = {"version": events.VERSION, "item": "clean", "rewards": {}, "utility": 0.5}
    for wrong in ({"party": 6}, {"": 1.0}, {"at": None}, ["weekend"], "phone"):
        with pytest.raises(InvalidEvent, match="event 7 must have a context"):
            events.check(Event(events.FEEDBACK, {**body, "context": wrong}, 0.0, user="ada", position=7))
    advisor = open_advisor()
    told = {"party": np.float32(0.5), "weekend": np.bool_(True), "device": np.str_("phone")}
    advisor.feedback(advisor.recommend("ada", context=told).id, utility=0.5)
    (context,) = (event.body["context"] for event in advisor.store.walk() if event.kind == events.FEEDBACK)
    assert context == {"party": 0.5, "weekend": True, "device": "phone"}
    assert [type(one) for one in context.values()] == [float, bool, str]
    for wrong in (["weekend"], "phone", [("weekend", True)]):
        with pytest.raises(InvalidSetting, match="by name"):
            advisor.recommend("ada", context=wrong)


def test_a_guarantee_leaves_contexts_aside(tmp_path):
    store = f"sqlite:{tmp_path / 'journal.db'}"
    advisor = open_advisor(store)
    visit(advisor, days=2)
    advisor.close()
    again = open_advisor(store, policy="fisher-pqucb", policy_settings={"guarantee": True})
    assert not again.fold.policy.learns_contexts
    assert not FisherPQUCB(n_objectives=2, population=True).learns_contexts
    assert again.fold.people["ada"].feedbacks == 5
    again.close()


def test_a_policy_without_contexts_leaves_them_aside():
    advisor = open_advisor(policy="s-ucb")
    visit(advisor, days=2)
    assert verify(advisor).agrees
    with pytest.raises(InvalidSetting, match="numbers from -1 to 1"):
        advisor.recommend("ada", context={"party": 6})
