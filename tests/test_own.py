"""Parts of one's own work wherever ours do, from CONTRIBUTING.md to the service, and are in nobody's way."""

from __future__ import annotations

import json
import multiprocessing
import re
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from druthers import Policy, make_anchor, make_policy
from druthers.advisor import Advisor
from druthers.engines import Processes
from druthers.environments import find_environment
from druthers.errors import InvalidSetting, OwnFailure, UnknownName
from druthers.experiments import Experiment, Results, load_experiment, run_experiment
from druthers.own import own_digest
from druthers.policies import find_policy
from druthers.service.settings import Settings
from druthers.testing import check_anchor, check_policy

CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"

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

MINE = """
from druthers import SUCB

class Mine(SUCB):
    def __init__(self, *, n_objectives, seed=0, exploration=0.0, width={width}):
        super().__init__(n_objectives=n_objectives, seed=seed, exploration=exploration, width=width)
"""

WORLD = """
import numpy as np

from druthers.environments import Environment

class World(Environment):
    def __init__(self, *, n_arms=5, corruption=0.0):
        super().__init__(corruption=corruption)
        self.n_arms = n_arms

    def draw_truth(self, rng):
        return rng.random((self.n_arms, 3)), rng.random((4, 3))
"""


def example(first_words):
    """Return the file of CONTRIBUTING.md that begins with these words."""
    blocks = re.findall(r"^```py\n(.*?)^```", CONTRIBUTING.read_text("utf-8"), re.M | re.S)
    (found,) = [block for block in blocks if block.startswith(f'"""{first_words}')]
    return found


@pytest.fixture
def borda(druthers, tmp_path):
    (tmp_path / "borda.py").write_text(example("Borda"))
    return druthers


@pytest.mark.plain
def test_the_policy_of_contributing_goes_through_every_command(borda, tmp_path):
    fast = ("tiny.toml", "--workers", "1", "-q")
    assert borda("run", *fast, "--policies", "s-ucb,borda.py:Borda") == (0, "", "")
    assert "borda.py:Borda" in (tmp_path / "results" / "tiny" / "report.html").read_text()
    assert borda("sweep", *fast, "--policies", "borda.py:Borda", "--vary", "width=0.1,1.0") == (0, "", "")
    assert "width" in (tmp_path / "results" / "tiny-sweep" / "report.html").read_text()
    assert borda("report", "results/tiny", "results/tiny-sweep", "--out", "both.html")[0] == 0
    assert "borda.py:Borda" in (tmp_path / "both.html").read_text()
    code, out, _ = borda("compare", "borda.py:Borda", "s-ucb", "--in", "results/tiny", "--json")
    assert (code, json.loads(out)[0]["a"]) == (0, "borda.py:Borda")
    words = ("--policy", "borda.py:Borda", "--set", "exploration=0.3", "--horizon", "150", "-q")
    assert borda("log", "tiny.toml", *words) == (0, "", "")
    code, out, err = borda("evaluate", "log.parquet", "--policies", "borda.py:Borda,s-ucb", "--json")
    assert (code, err) == (0, "")
    assert [one["policy"] for one in json.loads(out)["evaluations"]] == ["borda.py:Borda", "s-ucb"]


@pytest.mark.plain
def test_the_parts_of_contributing_keep_the_laws(borda, tmp_path):
    check_policy(partial(make_policy, "borda.py:Borda"))
    (tmp_path / "onestep.py").write_text(example("The one-step anchor"))
    check_anchor(partial(make_anchor, "onestep.py:OneStep"))
    words = ("--policies", "mo-pqucb", "--set", "anchor=onestep.py:OneStep", "--workers", "1", "--json", "--no-figures")
    code, out, _ = borda("run", "tiny.toml", *words)
    assert (code, json.loads(out)["policies"]["mo-pqucb"]["params"]) == (0, {"anchor": "onestep.py:OneStep"})


def test_the_environment_of_contributing_is_played(druthers, tmp_path):
    (tmp_path / "tastes.py").write_text(example("Tastes"))
    (tmp_path / "tastes.toml").write_text(re.search(r"```toml\n(.*?)```", CONTRIBUTING.read_text("utf-8"), re.S)[1])
    words = ("--horizon", "50", "--runs", "2", "--policies", "s-ucb,random", "--workers", "1", "--json")
    code, out, err = druthers("run", "tastes.toml", *words)
    assert (code, err) == (0, "")
    assert len(json.loads(out)["policies"]) == 6  # each policy with each number of tastes
    assert (tmp_path / "results" / "tastes" / "report.html").exists()


MORE = """
from druthers.environments import Synthetic

class Tilted(Synthetic):
    def __init__(self, *, tilt=0.1, n_users=4, **more):
        super().__init__(n_users=n_users, **more)
        {kept} = tilt
"""


def test_an_environment_that_takes_more_is_played_with_all_that_it_takes(druthers, tmp_path):
    """`**more` is what the class behind it takes: known, checked, shown and kept like settings that are written out."""
    (tmp_path / "mine.py").write_text(MORE.format(kept="self.tilt"))
    tilted = find_environment("mine.py:Tilted")(tilt=0.3, reward_noise=0.2)
    assert (tilted.params["tilt"], tilted.params["reward_noise"], tilted.params["n_users"]) == (0.3, 0.2, 4)
    assert repr(type(tilted)(**tilted.params)) == repr(tilted)
    for file, setting in {"tilted.toml": "reward_noise", "wrong.toml": "reward_nois"}.items():
        place = TINY.replace('"synthetic"', '"mine.py:Tilted"').replace("[policies", f"{setting} = 0.2\n[policies")
        (tmp_path / file).write_text(place)
    assert druthers("run", "tilted.toml", "--workers", "1", "-q", "--no-figures") == (0, "", "")
    code, _, err = druthers("run", "wrong.toml", "--workers", "1", "-q", "--no-figures")
    assert (code, "did you mean 'reward_noise'" in err) == (2, True), err
    (tmp_path / "mine.py").write_text(MORE.format(kept="self.slope"))
    code, _, err = druthers("run", "tilted.toml", "--workers", "1", "-q", "--no-figures")
    assert (code, "Tilted has no 'tilt'; write `self.tilt = tilt` there" in err, "Traceback" in err) == (2, True, False)


@pytest.mark.slow
def test_results_are_looked_at_where_the_file_is_gone(druthers, tmp_path):
    (tmp_path / "mine.py").write_text(MINE.format(width=1.0))
    words = ("--policies", "s-ucb,mine.py:Mine", "--workers", "1", "-q", "--no-figures")
    assert druthers("run", "tiny.toml", *words) == (0, "", "")
    (tmp_path / "mine.py").write_text("nothing that could be read")
    loaded = Results.load(tmp_path / "results" / "tiny")
    assert [row.defaults.get("width") for row in loaded.rows] == [1.0, 1.0]
    (tmp_path / "mine.py").unlink()
    assert druthers("report", "results/tiny")[0] == 0
    assert druthers("compare", "mine.py:Mine", "s-ucb")[0] == 2  # of results/synthetic, which are not there
    assert druthers("compare", "mine.py:Mine", "s-ucb", "--in", "results/tiny")[0] == 0


def test_no_module_of_others_is_touched(tmp_path):
    (tmp_path / "json.py").write_text(MINE.format(width=0.5))
    before = dict(sys.modules)
    assert make_policy(f"{tmp_path}/json.py:Mine", n_objectives=2).width == 0.5
    assert sys.modules["json"] is json
    assert {name: module for name, module in sys.modules.items() if name in before} == before
    assert all(name.startswith("own_") for name in set(sys.modules) - set(before))
    assert not list(tmp_path.glob("__pycache__"))


def test_two_files_of_one_name_are_two(tmp_path):
    for folder, width in (("a", 1.0), ("b", 2.0)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "mine.py").write_text(MINE.format(width=width))
    first, second = (find_policy(f"{tmp_path}/{folder}/mine.py:Mine") for folder in "ab")
    assert (first(n_objectives=2).width, second(n_objectives=2).width) == (1.0, 2.0)
    assert find_policy(f"{tmp_path}/a/mine.py:Mine") is first


def test_files_beside_are_found_with_a_dot_and_part_of_what_was_played(tmp_path):
    mine, beside = tmp_path / "mine.py", tmp_path / "beside.py"
    mine.write_text("from .beside import WIDTH\n" + MINE.format(width="WIDTH"))
    beside.write_text("WIDTH = 1.0\n")
    name = f"{mine}:Mine"
    first, digest = make_policy(name, n_objectives=2), own_digest(name)
    beside.write_text("WIDTH = 2.0\n")  # as long, and perhaps of the same second
    assert (first.width, make_policy(name, n_objectives=2).width) == (1.0, 2.0)
    assert own_digest(name) != digest
    (tmp_path / "other.py").write_text("whatever")
    assert own_digest(name) == own_digest(name)


@pytest.mark.parametrize(
    ("first_line", "message"),
    [
        ("from beside import WIDTH", r"must be imported with a dot, but mine.py .* imports 'beside' .* `from .beside"),
        ("from .nowhere import WIDTH", r"a dot must mean a file beside mine.py in .*nowhere"),
        ("from ..above import WIDTH", r"a dot must mean a file beside mine.py .*install it as a package"),
    ],
)
def test_imports_that_cannot_work_say_what_does(tmp_path, first_line, message):
    (tmp_path / "beside.py").write_text("WIDTH = 1.0\n")
    (tmp_path / "mine.py").write_text(f"{first_line}\n{MINE.format(width='WIDTH')}")
    for _ in range(2):  # a file that could not be read is not taken for one that was
        with pytest.raises(InvalidSetting, match=message):
            find_policy(f"{tmp_path}/mine.py:Mine")
    (tmp_path / "mine.py").write_text(f"from .beside import WIDTH\n{MINE.format(width='WIDTH')}")
    assert find_policy(f"{tmp_path}/mine.py:Mine")


def test_what_is_no_part_is_refused(tmp_path):
    (tmp_path / "mine.py").write_text(MINE.format(width=1.0))
    with pytest.raises(UnknownName, match=r"unknown policy of mine.py 'Min'; .*did you mean 'Mine'"):
        find_policy(f"{tmp_path}/mine.py:Min")
    with pytest.raises(UnknownName, match=r"unknown environment of mine.py 'Mine'"):
        find_environment(f"{tmp_path}/mine.py:Mine")
    with pytest.raises(InvalidSetting, match="there is no"):
        find_policy(f"{tmp_path}/none.py:Mine")
    (tmp_path / "mine.py").write_text("import nowhere_at_all")
    with pytest.raises(ModuleNotFoundError, match="nowhere_at_all"):  # a mistake of the file itself keeps its trace
        find_policy(f"{tmp_path}/mine.py:Mine")


FAILING = """
from druthers import PlainPolicy

class Failing(PlainPolicy):
    def learn(self, user, arm, reward, utility):
        pass

    def score(self, user, arms):
        return worth(arms), 0.0, 0.0

def worth(arms):
    return arms.meens
"""


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("import numpy as np)", "mine.py, line 1: SyntaxError: unmatched ')'"),
        ("\nwidth = wide", "mine.py, line 2, in <module>: NameError: name 'wide' is not defined"),
        (FAILING, "mine.py, line 12, in worth, from mine.py, line 9, in score: AttributeError: 'Arms' object has no"),
    ],
)
def test_a_mistake_in_a_file_of_one_s_own_is_told_in_a_line(druthers, tmp_path, source, told):
    """Where it is and what it is, and nothing of ours in between, also out of another process."""
    (tmp_path / "mine.py").write_text(source)
    (tmp_path / "tiny.toml").write_text(TINY)
    code, _, err = druthers("run", "tiny.toml", "--policies", "mine.py:Failing")
    assert code == 1
    assert err.splitlines()[-1].startswith(f"druthers: a part of your own must not fail, but {told}")
    assert "Traceback" not in err


UNFIT = """
from druthers import PlainPolicy, Policy
from druthers.environments import Environment, Synthetic

class Abstract(Environment):
    name = "abstract"

class NoArrays(Synthetic):
    def draw_truth(self, rng):
        return 3

class Bare(Synthetic):
    def __init__(self, foo):
        pass

class Unmade(PlainPolicy):
    def __init__(self, foo):
        pass

class NoKernels(Policy):
    name = "none"

class NoDictionary(PlainPolicy):
    def fresh_user(self):
        return 3

    def score(self, user, arms):
        return arms.means[:, 0]

class NoNumbers(NoDictionary):
    def fresh_user(self):
        return {"kept": {"a": 1}}
"""


@pytest.mark.parametrize(
    ("part", "told"),
    [
        ("Abstract", r"Abstract in make_environment: TypeError: .*abstract method '?draw_truth"),
        ("NoArrays", "NoArrays in tape: TypeError: cannot unpack"),
        ("Bare", "Bare in make_environment: TypeError: .* missing 1 required positional argument: 'foo'"),
        ("Unmade", "Unmade in make_policy: TypeError: .*unexpected keyword argument"),
        ("NoKernels", "NoKernels in _new_arm: AttributeError: "),
        ("NoDictionary", "NoDictionary in _fresh_users: TypeError: 'int' object is not a mapping"),
        ("NoNumbers", r"NoNumbers in _fresh_users: TypeError: float\(\) argument"),
    ],
)
def test_a_part_that_lacks_or_returns_what_we_cannot_use_is_told_in_a_line(druthers, tmp_path, part, told):
    """Though the error arises in our lines: it is the class that does not do what its kind does."""
    (tmp_path / "mine.py").write_text(UNFIT)
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "world.toml").write_text(
        TINY.split("n_arms", maxsplit=1)[0].replace("synthetic", f"mine.py:{part}") + "[policies.s-ucb]"
    )
    environment = part in ("Abstract", "NoArrays", "Bare")
    words = ("world.toml",) if environment else ("tiny.toml", "--policies", f"mine.py:{part}")
    code, _, err = druthers("run", *words, "--workers", "1")
    assert (code, "Traceback" in err) == (1, False), err
    assert re.match(f"druthers: a part of your own must not fail, but mine.py, {told}", err.splitlines()[-1]), err


def test_an_advisor_tells_of_a_part_that_fails(tmp_path):
    source = FAILING.replace("pass", "raise KeyError('boom')").replace("meens", "means[:, 0]")
    (tmp_path / "mine.py").write_text(source.replace("    def learn", '    name = "failing"\n\n    def learn'))
    options = {"parser": "lexicon", "policy": f"{tmp_path}/mine.py:Failing", "store": f"sqlite:{tmp_path}/journal.db"}
    law = "a part of your own must not fail, but mine.py, line 8, in learn: KeyError: 'boom'; mend it there"
    with Advisor("hotels", **options) as advisor:
        advisor.message("ada", "cheap")
        with pytest.raises(OwnFailure, match=law) as told:
            advisor.message("ada", "the first was great")
        assert isinstance(told.value.__cause__, KeyError)
    with pytest.raises(OwnFailure, match=law):
        Advisor(**options).preference("ada")


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_own_parts_are_played_by_processes_however_they_start(tmp_path, monkeypatch, method):
    """The class of an environment of one's own, and that of a policy, need not be known to another process."""
    monkeypatch.setattr("druthers.engines.START_METHOD", method)
    (tmp_path / "worlds.py").write_text("from .base import World\n")
    (tmp_path / "base.py").write_text(WORLD)
    (tmp_path / "json.py").write_text(MINE.format(width=1.0))
    content = {
        "environment": {"name": f"{tmp_path}/worlds.py:World", "n_arms": 6},
        "policies": {"s-ucb": {}, f"{tmp_path}/json.py:Mine": {}},
        "horizon": 30,
        "runs": 2,
    }
    experiment = Experiment.of(content, "own")
    results = run_experiment(experiment, tmp_path / "out", workers=2)
    first, second = results.labels
    assert np.array_equal(results.curves(first), results.curves(second))
    assert results.summary() == run_experiment(experiment, workers=1).summary()
    kept = set((tmp_path / "out" / "pairs").iterdir())
    (tmp_path / "base.py").write_text(WORLD.replace("rng.random((4, 3))", "rng.random((2, 3))"))
    run_experiment(experiment, tmp_path / "out", workers=2)
    assert len(set((tmp_path / "out" / "pairs").iterdir()) - kept) == 4  # of another world, nothing is reused


def test_paths_that_begin_with_a_dot_are_looked_for_from_the_experiment(tmp_path, monkeypatch):
    folder = tmp_path / "there"
    folder.mkdir()
    (folder / "world.py").write_text(WORLD)
    (folder / "mine.py").write_text(MINE.format(width=1.0))
    (folder / "own.toml").write_text(
        '[environment]\nname = "./world.py:World"\n[policies."./mine.py:Mine"]\n[policies.other]\n'
        'policy = "./mine.py:Mine"\nwidth = 2'
    )
    monkeypatch.chdir(tmp_path)
    experiment = load_experiment("there/own.toml")
    assert [row.label for row in experiment.rows()] == ["./mine.py:Mine", "other"]
    assert {name for row in experiment.rows() for name in row.own} == {
        f"{folder}/world.py:World",
        f"{folder}/mine.py:Mine",
    }


def _wait_for(path):
    while not Path(path).exists():
        time.sleep(0.01)


def test_engines_end_only_their_own_processes(tmp_path):
    """Those of the program that uses the lab go on, also when a task fails."""
    other = multiprocessing.get_context("fork").Process(target=_wait_for, args=(tmp_path / "end",))
    other.start()
    with pytest.raises(ZeroDivisionError), Processes(2) as engine:
        for _ in engine.run(_fail_or_wait, [None, tmp_path / "never"]):
            pass
    assert other.is_alive()
    (tmp_path / "end").touch()
    other.join()
    assert other.exitcode == 0


def _fail_or_wait(path):
    if path is None:
        raise ZeroDivisionError
    _wait_for(path)


def test_an_advisor_is_served_by_an_own_policy_and_starts_again(borda, tmp_path):
    settings = Settings(policy="borda.py:Borda", policy_settings={"width": 0.2})
    store = f"sqlite:{tmp_path}/journal.db"
    options = {"parser": "lexicon", "policy": settings.policy, "policy_settings": dict(settings.policy_settings)}
    with Advisor("hotels", store=store, **options) as advisor:
        advisor.hear("ada", "cheap and clean")
        advisor.feedback(advisor.recommend("ada").id, utility=0.5)
        advisor.save()
        weights = [weight.weight for weight in advisor.preference("ada").weights]
        assert type(advisor.fold.policy).__name__ == "Borda"
        assert advisor.fold.policy.width == 0.2
    with Advisor(store=store, **options) as again:
        assert [weight.weight for weight in again.preference("ada").weights] == weights
        name = again.fold.name
    (tmp_path / "borda.py").write_text(example("Borda") + "\n# other code, whose states may be other ones\n")
    with Advisor(store=store, **options) as other:
        assert other.fold.name != name
        assert [weight.weight for weight in other.preference("ada").weights] == weights
    with pytest.raises(InvalidSetting, match="there is no"):
        Settings(policy="bodra.py:Borda")
    with pytest.raises(InvalidSetting, match=r'"widht" is not a setting of borda.py:Borda; .*did you mean .width'):
        Settings(policy="borda.py:Borda", policy_settings={"widht": 1})


def test_serve_takes_a_file_and_says_what_is_wrong_with_it(borda):
    assert issubclass(find_policy("borda.py:Borda"), Policy)
    code, _, err = borda("serve", "--policy", "bodra.py:Borda")
    assert code == 2
    assert "a part of your own must be FILE.py:Class, but there is no" in err
