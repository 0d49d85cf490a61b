"""What newcomers do wrong is refused with a law, a fact and a remedy, and changes nothing."""

from __future__ import annotations

import dataclasses
from functools import partial

import numpy as np
import pytest

import druthers as dr
from druthers.__main__ import main
from druthers.environments import ENVIRONMENTS
from druthers.errors import (
    DamagedState,
    DruthersError,
    InvalidExperiment,
    InvalidOffer,
    InvalidSetting,
    NoSupport,
    UnknownArm,
    UnknownName,
)
from druthers.evaluation import evaluate
from druthers.experiments import load_experiment, run_experiment
from druthers.language import make_parser
from druthers.language.text import LIMIT, shown_of
from druthers.logs import record
from druthers.policies.choosing import Places
from druthers.policies.contexts import ContextPolicy
from druthers.policies.slates import Floor
from druthers.saving import pack
from druthers.simulation import spread_rounds
from druthers.testing import check_policy, same_state
from druthers.testing.laws import hold


@pytest.mark.parametrize("points", [1, 2, 3, 75, 10**15])
@pytest.mark.parametrize("horizon", [1, 2, 7, 2000])
def test_the_last_round_is_always_kept(points, horizon):
    rounds = spread_rounds(horizon, points)
    assert rounds[-1] == horizon
    assert (np.diff(rounds) > 0).all()


def test_the_final_regret_is_that_of_the_last_round_however_few_points_there_are():
    tiny = load_experiment("synthetic").only(["random"]).with_settings({"runs": 2, "horizon": 60})
    few, many = (run_experiment(tiny.with_settings({"points": points}), workers=1) for points in (1, 60))
    assert few.final_regret("random") == pytest.approx(many.final_regret("random"))


@pytest.mark.parametrize(
    "given",
    [{"runs": 10**9}, {"vary": {"scale": [1.0, 2.0]}, "samples": 10**9}, {"runs": 10**4, "vary": {"scale": [1.0] * 9}}],
)
def test_more_runs_than_could_be_listed_are_refused_at_once(given):
    with pytest.raises(InvalidExperiment, match=r"at most 100,000 pairs of a policy and a run, but got .*; ask for"):
        load_experiment("synthetic").only(["random", "s-ucb"]).with_settings({"horizon": 10, **given})


# By the kind of a setting, what is none, and the law that tells it.
WRONG = {
    "float": (("x", True, [1.0], 10**400, {}), "{} must be a number"),
    "int": (("x", True, 2.5, [1]), "{} must be a whole number"),
    "bool": (("yes", 1, [True]), "{} must be True or False"),
    "float | None": (("x", True, [1.0]), "{} must be a number or None"),
    "int | None": (("x", True, 2.5), "{} must be a whole number or None"),
}


def parts():
    """Yield every registered part with what makes it."""
    for name in dr.POLICIES:
        yield dr.POLICIES[name], lambda name=name, **given: dr.make_policy(name, **{"n_objectives": 2, **given})
    for name in dr.ANCHORS:
        yield dr.ANCHORS[name], lambda name=name, **given: dr.make_anchor(name, **given)
    for environment in ENVIRONMENTS.values():
        yield environment, environment


@pytest.mark.parametrize(("part", "make"), [pytest.param(*one, id=one[0].name) for one in parts()])
def test_a_setting_of_another_kind_is_told_as_such(part, make):
    found = 0
    for one in dataclasses.fields(part):
        kind = one.type if isinstance(one.type, str) else getattr(one.type, "__name__", str(one.type))
        for value in WRONG.get(kind, ((), ""))[0] if one.init else ():
            with pytest.raises(InvalidSetting) as told:
                make(**{one.name: value})
            assert str(told.value) == f"{WRONG[kind][1].format(one.name)}, but got {value!r}"
            found += 1
    assert found


@pytest.mark.parametrize("seed", [-1, "a", 1.5, True, [1]])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(InvalidSetting, match=r"seed must be a whole number.*, but got"):
        dr.make_policy("fisher-pqucb", n_objectives=2, seed=seed)
    policy = dr.make_policy("pareto-ts", n_objectives=2)
    before = policy.state()
    with pytest.raises(InvalidSetting, match="a seed must be a whole number of at least 0, but got"):
        policy.reseed(seed)
    assert policy.state()["noise"] == before["noise"]


def test_texts_are_told_among_numbers():
    with pytest.raises(InvalidSetting, match=r'length must be a whole number, "random" or None, but got 2.5'):
        dr.environments.Synthetic(length=2.5)
    with pytest.raises(InvalidSetting, match='penalty must be a number or "auto", but got None'):
        dr.GroupLasso(penalty=None)


@pytest.mark.parametrize("name", ["fisher-pqucb", "fisher-pqucb-robust", "mo-pqucb"])
def test_an_anchor_may_be_named_where_policies_are(name):
    for given in ("mixture", {"name": "mixture"}, dr.Mixture()):
        assert repr(dr.make_policy(name, n_objectives=2, anchor=given).anchor) == repr(dr.Mixture())
    with pytest.raises(InvalidSetting, match="but got 'mixtur'; known: likelihood, group-lasso, mixture; did you mean"):
        dr.make_policy(name, n_objectives=2, anchor="mixtur")
    for wrong in (dr.Mixture, "mixture", {"name": "mixture"}, 5):
        with pytest.raises(InvalidSetting, match=r"must be made, as Mixture\(\) or make_anchor\('mixture'\) are"):
            dr.POLICIES[name](n_objectives=2, anchor=wrong)
    with pytest.raises(InvalidSetting, match="must be made"):
        dr.make_policy(name, n_objectives=2, anchor=dr.Mixture)


def test_what_a_policy_of_ones_own_calls_its_default_is_never_refused():
    class Sloppy(dr.PlainPolicy):
        name = "sloppy"
        limit: int = None
        width: float = 0.5

        def score(self, user, arms):
            return self.width * arms.means.sum(axis=1)

    policy = Sloppy(n_objectives=2, limit=None)
    assert repr(Sloppy(**policy.params)) == repr(policy)
    for name in ("limit", "width"):
        with pytest.raises(InvalidSetting, match=f"{name} must be a (whole )?number, but got 'x'"):
            Sloppy(n_objectives=2, **{name: "x"})


def test_a_name_that_is_no_text_is_an_unknown_name():
    for name in (["s-ucb"], None, 5):
        with pytest.raises(UnknownName):
            dr.make_policy(name, n_objectives=2)


def test_a_setting_of_an_experiment_is_told_as_such():
    with pytest.raises(InvalidSetting, match=r"^corruption must be a number, but got 'abc'$"):
        load_experiment("synthetic").with_settings({"corruption": "abc"})


OWN = """
import pathlib

import druthers as dr
from druthers.own import settings

pathlib.Path(__file__).with_name("ran").touch()


class Listener(dr.PlainPolicy):
    name = "listener"
    width: float = 0.1

    def fresh_user(self):
        return {"points": [0.0] * self.n_objectives}

    def hear(self, user, ranking):
        user.points[ranking[0]] += 1.0

    def score(self, user, arms):
        return arms.means @ user.points


@settings
class Mine(dr.Likelihood):
    name = "mine"
"""


@pytest.fixture
def own(tmp_path):
    """A file with a policy and an anchor of someone's own."""
    (tmp_path / "own.py").write_text(OWN, "utf-8")
    return str(tmp_path / "own.py")


def test_a_saved_policy_of_ones_own_is_loaded_with_its_class(own, tmp_path):
    policy, path = dr.make_policy(f"{own}:Listener", n_objectives=2, width=0.3), tmp_path / "policy.npz"
    policy.hear("ada", (1,))
    policy.learn("ada", "inn", [0.2, 0.7], 0.5)
    dr.save(policy, path)
    with pytest.raises(
        UnknownName, match=r"but got the policy \'listener\'; load it with load\(path, policy=CLASS\) or"
    ):
        dr.load(path)
    for told in (type(policy), f"{own}:Listener"):
        assert same_state(dr.load(path, policy=told).state(), policy.state())
    with pytest.raises(DamagedState, match="a state of s-ucb is needed, but got one of 'listener'"):
        dr.load(path, policy="s-ucb")
    for wrong in (5, int, policy, dr.Mixture):
        with pytest.raises(InvalidSetting, match=r"must be told by its class or by FILE.py:Class, but got"):
            dr.load(path, policy=wrong)


def test_a_saved_anchor_of_ones_own_is_loaded_with_its_class(own, tmp_path):
    policy, path = dr.make_policy("mo-pqucb", n_objectives=2, anchor=f"{own}:Mine"), tmp_path / "policy.npz"
    policy.hear("ada", (1, 0))
    dr.save(policy, path)
    with pytest.raises(UnknownName, match=r"but got the anchor 'mine'; load it with load\(path, anchor=CLASS\) or"):
        dr.load(path)
    for told in (type(policy.anchor), f"{own}:Mine"):
        assert same_state(dr.load(path, anchor=told).state(), policy.state())


def test_a_saved_file_runs_no_code_that_its_reader_did_not_name(own, tmp_path):
    policy, path = dr.make_policy("mo-pqucb", n_objectives=2), tmp_path / "policy.npz"
    anchor = {"anchor": f"{own}:Mine", "params": {}}
    for name, params in (
        (f"{own}:Listener", {}),
        ("mo-pqucb", {"anchor": anchor}),
        ("mo-pqucb", {"anchor": f"{own}:Mine"}),
    ):
        state = policy.state()
        path.write_bytes(pack({**state, "policy": name, "params": {**state["params"], **params}}))
        with pytest.raises(DruthersError):
            dr.load(path)
        assert not (tmp_path / "ran").exists()


NAN = float("nan")
UNFIT = (["u"], {}, NAN, ("room", NAN), np.float64("nan"))  # no ids: not hashable, or not equal to themselves


LOOKS = {
    ContextPolicy: "sources shifts entries",
    dr.FisherPQUCB: "noise",
    dr.FisherPQUCBRobust: "trust",
    dr.StatedUCB: "utility_noise",
}


def wrong_looks(policy):
    """Yield calls that look something up by what is no id, or no known one."""
    for user in (["u"], {}):
        yield from (partial(policy.choose, user), partial(policy.choose, user, ["new", "newer"]))
        yield from (partial(policy.choose_slate, user, ["new", "newer"], 2), partial(policy.utilities, user, ["inn"]))
        yield from (partial(policy.slate_chances, user, ["new", "newer"]), partial(policy.forget_user, user))
        yield from (partial(policy.export_user, user), partial(policy.unhear, user))
        for family, names in LOOKS.items():
            if isinstance(policy, family):
                yield from (partial(getattr(policy, name), user) for name in names.split())
        if policy.learns_preference:
            yield from (partial(policy.preference, user), partial(policy.interval, user))
        if policy.asks:
            yield partial(policy.ask, user)
    for arms in (["zz"], ["inn", "zz"], [["inn"]], 5, None, [NAN]):
        yield from (partial(policy.utilities, "u", arms), partial(policy.reward_means, arms))
        yield from (partial(policy.reward_counts, arms), partial(policy.utilities_apart, "u", arms))
        yield from (partial(policy.expectations, arms), partial(policy.expect, arms, [[1.0, 1.0]], [[1.0, 1.0]]))
    for arm in ("zz", ["inn"], NAN):
        yield from (partial(policy.retire_arm, arm), partial(policy.utility_weight, "ada", arm))
        yield partial(policy.revise, "ada", arm, 0.5, before=0.1)
        for name in ("predict", "describe") if policy.learns_features else ():
            yield partial(getattr(policy, name), arm, *([[1.0]] if name == "describe" else []))


def wrong_slates(policy):
    """Yield calls that ask for slates there cannot be."""
    offer = ["inn", "spa", "new"]
    for before in (["zz"], ["inn", "inn"], ["inn", "spa"], [["inn"]], 5, [NAN]):
        yield partial(policy.slate_chances, "u", offer, before, 2)
    floors = ([(["inn"], 1.0)], [5], 5, [Floor(["inn"], "x")], [Floor(["inn"], NAN)], [Floor(["inn"], 1.5)])
    for wrong in (*floors, [Floor(5, 0.1)], [Floor([["inn"]], 0.1)], [Floor(["inn"], 0.6), Floor(["spa"], 0.6)]):
        yield partial(policy.choose_slate, "u", offer, 2, floors=wrong)
        yield partial(policy.slate_chances, "u", offer, [], 2, floors=wrong)
    for shift in ({"inn": "x"}, {"inn": NAN}, {"inn": None}, [1.0], "x"):
        yield partial(policy.choose, "u", offer, shift=shift)
        yield partial(policy.choose_slate, "u", offer, 2, shift=shift)
    for wrong in (5, [["inn"]], ["inn", NAN], ["inn", ("loft", NAN)], ["new", ["inn"]]):
        yield partial(policy.slate_chances, "u", wrong, [], 1)
        yield partial(policy.choose, "u", wrong)
        yield partial(policy.choose_slate, "u", wrong, 1)


def wrong_tales(policy):
    """Yield calls that tell something of what is no id, or what is no number."""
    reward = [0.1, 0.2]
    for key in UNFIT:
        yield from (partial(policy.add_users, ["new", key]), partial(policy.add_arms, ["new", key]))
        yield from (partial(policy.learn, key, "new", reward, 0.5), partial(policy.learn, "new", key, reward, 0.5))
        yield from (partial(policy.give, key, "new", reward), partial(policy.give, "new", key, reward))
        yield partial(policy.import_user, key, policy.export_user("ada"))
        yield partial(policy.learn_choice, key, "inn", ["inn", "new"])
        yield partial(policy.learn_choice, "new", "inn", ["inn", key])
        if policy.learns_features:
            yield partial(policy.add_arms, ["new", key], [[1.0], [2.0]])
        if policy.hears:
            yield partial(policy.hear, key, (1, 0))
        yield partial(policy.hear_weights, key, reward, reward)
    yield from (partial(policy.add_users, 5), partial(policy.add_arms, 5), partial(policy.import_user, "new", 5))
    yield from (
        partial(policy.give, "ada", "new", reward, "x"),
        partial(policy.give, "ada", "new", reward, [1.0, None]),
    )
    for wrong in ("x", [1.0], [NAN, 1.0], None, [["a", 2.0]]):
        yield from (
            partial(policy.hear_weights, "ada", wrong, reward),
            partial(policy.hear_weights, "ada", reward, wrong),
        )
        yield from (partial(policy.expect, ["inn"], wrong, [reward]), partial(policy.expect, ["inn"], [reward], wrong))
        if wrong is not None:
            yield from (partial(policy.meet, wrong, reward), partial(policy.meet, reward, wrong))


@pytest.mark.parametrize("calls", [wrong_looks, wrong_slates, wrong_tales])
@pytest.mark.parametrize("name", dr.POLICIES)
def test_a_wrong_call_of_a_policy_is_refused_and_changes_nothing(name, calls):
    policy = dr.make_policy(name, n_objectives=2, exploration=0.1)
    policy.learn("ada", "inn", [0.2, 0.7], 0.5)
    policy.learn("ada", "spa", [0.7, 0.2], 0.4)
    before = policy.state()
    for call in calls(policy):
        with pytest.raises(DruthersError) as told:
            call()
        assert ", but " in str(told.value), f"{call}: {told.value}"
        assert same_state(before, policy.state()), f"{call} changed the state"


def test_what_is_no_id_is_told_as_such():
    policy = dr.make_policy("fisher-pqucb", n_objectives=2)
    policy.add_arms(["inn"])
    with pytest.raises(InvalidSetting, match=r"an id must be hashable, such as .*, but got \['u'\]"):
        policy.choose(["u"])
    with pytest.raises(InvalidSetting, match="an id must be equal to itself to be found again, but got nan; use"):
        policy.hear(NAN, (1, 0))
    with pytest.raises(UnknownArm, match="an arm must be known to be looked up, but 'zz' was never offered or added"):
        policy.utilities("u", ["zz"])
    with pytest.raises(InvalidOffer, match="the arms before must be of the offer, each once, and fewer than the slate"):
        policy.slate_chances("u", ["a", "b"], before=["zz"])
    with pytest.raises(
        InvalidOffer, match=r"floors must each be a Floor of arms and a share, but got \(\['c'\], 1.0\);"
    ):
        policy.choose_slate("u", ["a", "b"], 2, floors=[(["c"], 1.0)])


def test_slates_of_all_arms_have_chances_too():
    policy = dr.make_policy("fisher-pqucb", n_objectives=2)
    policy.add_arms(["inn", "spa", "pub"])
    chances = policy.slate_chances("ada", ["inn", "spa", "pub"], ["spa"], 2)
    assert chances.tolist() == policy.slate_chances("ada", Places(np.arange(3)), ["spa"], 2).tolist()
    assert chances.tolist() == policy.slate_chances("ada", None, ["spa"], 2).tolist()
    assert chances[1] == 0.0


class Blank(dr.PlainPolicy):
    """A plain policy that divides by the feedback it has not got."""

    name = "blank"

    def score(self, user, arms):
        with np.errstate(invalid="ignore"):
            return arms.means.sum(axis=1) / arms.pulls.sum(axis=1)


def test_scores_that_are_no_numbers_are_refused():
    policy = Blank(n_objectives=2)
    policy.learn("ada", "inn", [0.2, 0.7], 0.5)
    policy.add_arms(["spa"])
    law = r"score must return numbers, and 0 where nothing is known, but got NaN for 'spa': array"
    for call in (policy.choose, policy.choose_slate, lambda user, **_: policy.utilities(user, ["inn", "spa"])):
        with pytest.raises(InvalidSetting, match=law):
            call("ada", size=2)
    assert policy.choose("ada", ["inn"]).arm == "inn"
    with pytest.raises(InvalidSetting, match="score must return numbers"):
        check_policy(Blank)


def test_a_law_that_says_nothing_is_told_by_its_name():
    def silent(build):
        """Nothing is ever right."""
        raise AssertionError

    with pytest.raises(AssertionError, match=r"^broken: Nothing is ever right\.$"):
        hold([silent], None)


def test_a_refused_estimate_names_the_policy_as_it_was_asked_for():
    tape = dr.environments.Synthetic(n_arms=4, n_objectives=2, n_users=2, offered=3).tape(seed=1, horizon=200)
    log = record(dr.make_policy("s-ucb", n_objectives=2), tape)
    chances = np.full(log.offers.shape, 1.0 / 3.0)
    with pytest.raises(NoSupport, match="every arm that stated-ucb may choose to have had a chance"):
        evaluate(log, chances, label="stated-ucb", estimators=["ips"])


def test_a_column_has_one_role_on_the_command_line_too(tmp_path, monkeypatch, capsys):
    words = ["--objectives", "clean,quiet", "--costs", "clean", "--utility", "overall", "--out", str(tmp_path / "inns")]
    monkeypatch.setattr("sys.argv", ["druthers", "data", "build", "table", "--file", "ratings.csv", *words])
    with pytest.raises(SystemExit) as leaving:
        main()
    assert leaving.value.code
    assert "a column must have one role, but 'clean' is objective and cost; name it once" in " ".join(
        capsys.readouterr().err.split()
    )


@pytest.mark.parametrize("blank", [" ", "\n"])
def test_a_long_text_is_cut_between_words(blank):
    before = ("word" + blank) * (LIMIT // 5)  # a word more begins right there
    assert shown_of(before[:-5] + "clean" + "liness") == before[:-6]
    for text in (before, before[:-1], before + "more", before[:-1] + blank + "more"):
        assert shown_of(text).split() == before.split()
    assert shown_of("x" * (LIMIT + 1)) == "x" * LIMIT
    start = "my aunt sings. " * (LIMIT // 16)
    start += "x" * (LIMIT - len(start) - 5) + " "
    reading = make_parser("lexicon", objectives=["price", "cleanliness"]).read(f"{start}cheat me not")
    assert not reading.ranking
    assert reading.leftover[-1] == "cheat me not"
