"""A policy in plain NumPy, the one of the README, does all that compiled ones do."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from druthers import PlainPolicy, Policy, make_policy
from druthers.advisor import Advisor
from druthers.environments import Synthetic
from druthers.errors import InvalidSetting, UnknownName
from druthers.simulation import play_by_steps, play_tape, simulate
from druthers.testing import check_policy, same_state

README = Path(__file__).parents[1] / "README.md"
TINY = """
horizon = 60
runs = 2

[environment]
name = "synthetic"
n_arms = 6
n_objectives = 4
n_users = 3
offered = 3

[policies.s-ucb]
"""


def example():
    """Return the policy of the README, as a file."""
    blocks = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.M | re.S)
    (found,) = [block for block in blocks if "(PlainPolicy)" in block]
    return found


@pytest.fixture
def listener(druthers, tmp_path):
    """Return what runs a command beside the file listener.py."""
    (tmp_path / "listener.py").write_text(example())
    return druthers


def test_it_is_short():
    assert len(example().partition("class ")[2].strip().splitlines()) <= 25


def test_it_keeps_the_laws(listener):
    check_policy(partial(make_policy, "listener.py:Listener"))


def test_simulations_are_single_steps(listener):
    world = Synthetic(n_arms=8, n_objectives=4, n_users=5, offered=4, users_per_round=2, corruption=0.2)
    tape = world.tape(seed=2, horizon=60)
    for settings in ({}, {"exploration": 0.3, "width": 1.0}):
        whole, stepped = (make_policy("listener.py:Listener", n_objectives=4, **settings) for _ in range(2))
        played = [part for _, part in play_tape(whole, tape, np.array([7, 60]))]
        slow = play_by_steps(stepped, tape)
        np.testing.assert_array_equal(np.concatenate([part.arms for part in played]), slow.arms)
        np.testing.assert_array_equal(np.concatenate([part.regret for part in played]), slow.regret)
        assert same_state(whole.state(), stepped.state())


def test_it_learns(listener):
    tape = Synthetic(n_arms=8, n_objectives=4, n_users=5, offered=4).tape(seed=2, horizon=300)
    mine, chance = (
        simulate(make_policy(name, n_objectives=4), tape).regret[-1] for name in ("listener.py:Listener", "random")
    )
    assert mine < 0.5 * chance


def test_it_goes_through_every_command(listener, tmp_path):
    fast = ("tiny.toml", "--workers", "1", "-q")
    assert listener("run", *fast, "--policies", "s-ucb,listener.py:Listener") == (0, "", "")
    assert "listener.py:Listener" in (tmp_path / "results" / "tiny" / "report.html").read_text()
    assert listener("sweep", *fast, "--policies", "listener.py:Listener", "--vary", "width=0.1,1.0") == (0, "", "")
    words = ("--policy", "listener.py:Listener", "--set", "exploration=0.3", "--horizon", "200", "-q")
    assert listener("log", "tiny.toml", *words) == (0, "", "")
    code, out, err = listener("evaluate", "log.parquet", "--policies", "listener.py:Listener,s-ucb", "--json")
    assert (code, err) == (0, "")
    assert [one["policy"] for one in json.loads(out)["evaluations"]] == ["listener.py:Listener", "s-ucb"]


def test_it_serves(listener, tmp_path):
    """A service hears, recommends and learns with it, and knows all of it again after a restart."""
    store = f"sqlite:{tmp_path}/journal.db"
    ends = []
    for visit in ("first", "second"):
        with Advisor("hotels", parser="lexicon", store=store, policy="listener.py:Listener") as advisor:
            if visit == "second":
                assert advisor.digest(["ada"]) == ends[0]
            advisor.hear("ada", "cheap and clean, quiet if possible")
            found = advisor.recommend("ada", size=2, id=visit)
            assert len(found.items) == 2
            advisor.feedback(visit, rewards={"value": 4.5}, utility=0.7)
            advisor.save()
            ends.append(advisor.digest(["ada"]))


class Two(PlainPolicy):
    name = "two"
    low: float = 0.0

    def score(self, user, arms):
        return np.zeros(len(arms.means) + 1)


class Three(Two):
    name = "three"
    high: float = 1.0

    def hear(self, user, ranking):
        pass

    def preference(self, user):
        return np.full(self.n_objectives, self.high), np.eye(self.n_objectives)


class Without(PlainPolicy):
    name = "without"


def test_what_is_declared_is_what_holds():
    assert (Two.hears, Two.learns_preference, Three.hears, Three.learns_preference) == (False, False, True, True)
    assert repr(Three(n_objectives=2, high=3.0)) == "Three(n_objectives=2, seed=0, exploration=0.0, low=0.0, high=3.0)"
    assert Three(n_objectives=2, high=3.0).preference("ada").weights.tolist() == [3.0, 3.0]
    assert Policy.hear is Three.hear


def test_mistakes_of_authors_are_told():
    with pytest.raises(InvalidSetting, match=r"score must return one number for each of 2 arms, .* but got array"):
        Two(n_objectives=2).choose("ada", ["inn", "spa"])
    with pytest.raises(InvalidSetting, match="a plain policy must have a method score, but Without has none"):
        Without(n_objectives=2)
    with pytest.raises(InvalidSetting, match=r"a setting of two must be one of \['low'\], but got 'hihg'"):
        Two(n_objectives=2, hihg=1.0)


def test_unknown_settings_are_refused_with_a_suggestion(listener):
    with pytest.raises(UnknownName, match="did you mean 'width'"):
        make_policy("listener.py:Listener", n_objectives=2, widht=1.0)
