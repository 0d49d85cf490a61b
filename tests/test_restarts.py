"""Starting again: what the caller asks for holds, and no state of other settings or other code is taken up."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import druthers
from druthers import POLICIES, sources
from druthers.advisor import Advisor, verify
from druthers.advisor.sources import digest_of
from druthers.catalogs import Catalog, Item
from druthers.language import data
from druthers.language.models import minilm, table
from druthers.stores import open_store
from druthers.types import Objective

PACKAGE = Path(druthers.__file__).parent
INNS = Catalog(
    name="inns",
    objectives=[Objective("clean", low=1, high=5), Objective("quiet", low=1, high=5), Objective("cheap")],
    items=[
        Item("mill", values={"clean": 4.8, "quiet": 2.0, "cheap": 0.2}),
        Item("barn", values={"clean": 2.5, "quiet": 4.9, "cheap": 0.4}),
        Item("tent", values={"clean": 1.5, "quiet": 3.0, "cheap": 0.9}),
    ],
)
# What to ask for next, where it is not simply a larger number.
OTHER = {
    "seed": lambda now: 7,
    "exploration": lambda now: 0.3,
    "horizon": lambda now: 777,
    "feedback_weight": lambda now: 0.7,
    "ridge": lambda now: 0.7,
    "unseen_first": lambda now: not now,
    "guarantee": lambda now: not now,
    "anchor": lambda now: type(now)(**{**now.params, "window": 16}),
    "preferences": lambda now: {"ada": [1.0, 0.0, 0.0], "bob": [0.0, 0.0, 1.0]},
    "rewards": lambda now: {"mill": [1.0, 0.0, 0.0], "barn": [0.0, 1.0, 0.0], "tent": [0.0, 0.0, 1.0]},
}


def live(advisor, rounds=4):
    """Have two users say, take and feel things."""
    for k in range(rounds):
        for user in ("ada", "bob"):
            advisor.hear(user, ["quiet", "cheap"] if user == "bob" else ["clean"])
            made = advisor.recommend(user, offer=[("mill", "barn", "tent")[k % 3]])
            advisor.feedback(made.id, rewards={"clean": 1 + k, "quiet": 2, "cheap": 0.5}, utility=0.2 * k)


def settings_of(name):
    """Return the settings of a policy as the service makes it, but for the number of objectives."""
    with Advisor(INNS, policy=name, parser="lexicon") as advisor:
        return {name: value for name, value in advisor.fold.policy.params.items() if name != "n_objectives"}


def plain(setting):
    return {**setting.params, "class": type(setting)} if hasattr(setting, "params") else setting


# One of each form of what is kept of people, with every setting there is; the others take theirs from these.
QUICK = ("s-ucb", "mo-oful", "conucb", "prucb", "mo-pqucb", "stated-ucb", "fisher-pqucb", "oracle")


def test_the_quick_ones_have_every_setting():
    settings = {name: set(kind(n_objectives=3).params) for name, kind in POLICIES.items()}
    assert set.union(*(settings[name] for name in QUICK)) == set.union(*settings.values())


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in POLICIES]
)
def test_what_is_asked_for_holds_after_a_restart(name):
    store = open_store("memory:")
    first = Advisor(INNS, store=store, policy=name, parser="lexicon")
    live(first)
    first.save()
    for setting, now in settings_of(name).items():
        if setting == "population":  # refused in a service: tests/test_meeting.py
            continue
        asked = OTHER[setting](now) if setting in OTHER else 1.5 * now + 0.1
        second = Advisor(store=store, policy=name, parser="lexicon", policy_settings={setting: asked})
        assert plain(second.fold.policy.params[setting]) == plain(asked), setting
        second.save()
        third = Advisor(store=store, policy=name, parser="lexicon", policy_settings={setting: asked})
        assert plain(third.fold.policy.params[setting]) == plain(asked), setting
        assert verify(third).agrees, setting
        again = Advisor(store=store, policy=name, parser="lexicon")
        assert plain(again.fold.policy.params[setting]) == plain(first.fold.policy.params[setting]), setting


def test_the_exploration_asked_for_is_what_is_journaled():
    store = open_store("memory:")
    first = Advisor(INNS, store=store, policy="s-ucb", parser="lexicon", policy_settings={"exploration": 0.0})
    live(first)
    first.save()
    second = Advisor(store=store, policy="s-ucb", parser="lexicon", policy_settings={"exploration": 0.3})
    assert second.fold.name == first.fold.name  # the state itself does not depend on it
    made = [second.recommend("ada") for _ in range(30)]
    assert {round(one.items[0].propensity, 6) for one in made} <= {0.8, 0.1}
    assert 0.8 in {round(one.items[0].propensity, 6) for one in made}


def test_a_seed_that_is_asked_for_gives_the_same_chance_at_every_start_and_none_another():
    store = open_store("memory:")
    live(Advisor(INNS, store=store, policy="s-ucb", parser="lexicon"))

    def chosen(**settings):
        advisor = Advisor(store=store, policy="s-ucb", parser="lexicon", policy_settings=settings)
        return [advisor.fold.policy.choose("ada").arm for _ in range(40)]

    first = chosen(exploration=1.0, seed=7)
    Advisor(store=store, policy="s-ucb", parser="lexicon").save()
    assert chosen(exploration=1.0, seed=7) == first
    assert chosen(exploration=1.0, seed=8) != first
    assert chosen(exploration=1.0) != chosen(exploration=1.0)


def test_a_start_looks_once_whether_the_journal_lost_its_end(tmp_path):
    with Advisor(INNS, store=f"sqlite:{tmp_path / 'journal.db'}", parser="lexicon") as before:
        before.hear("ada", ["clean"])
        before.save()
    with open_store(f"sqlite:{tmp_path / 'journal.db'}") as store:
        looks, lost = [], store.lost
        store.lost = lambda: looks.append(1) or lost()
        with Advisor(INNS, store=store, parser="lexicon") as again:
            again.hear("ada", ["quiet"])
            again.forget("ada")
    assert looks == [1]


def test_details_of_every_kind_survive_a_restart(tmp_path):
    facts = {"city": "Ely", "price": 120, "stars": 3.5, "pool": True, "near": ["sea", 2, False], "none": []}
    catalog = Catalog("inns", INNS.objectives, [Item("mill", details=facts), Item("old", details={"city": "Ur"})])
    where = f"sqlite:{tmp_path / 'journal.db'}"
    with Advisor(catalog, store=where, policy="s-ucb", parser="lexicon") as advisor:
        advisor.put_item(Item("barn", details={**facts, "near": ["wood"]}))
        before = advisor.items
        advisor.save()
    for _ in range(2):
        with Advisor(store=where, policy="s-ucb", parser="lexicon") as advisor:
            assert advisor.items == before
            assert advisor.items["mill"].content()["details"] == facts
            assert [type(fact) for fact in advisor.items["mill"].details["near"]] == [str, int, bool]
            assert verify(advisor).agrees
            assert not advisor.put_item(before["barn"])
            assert advisor.fold.position == 4  # nothing new was told
            advisor.store.compact()


LIVE = """
import sys
sys.path.insert(0, {tests!r})
from test_restarts import INNS, live
from druthers.advisor import Advisor, verify
with Advisor(INNS, store="sqlite:" + sys.argv[1], policy="s-ucb", parser="lexicon") as advisor:
    print(advisor.fold.name, advisor.fold.position, verify(advisor).agrees)
    live(advisor)
    advisor.save()
"""


def in_process(package, journal):
    """Open a journal with the code of a package, and go on with it; return what a verification found before."""
    environment = {**os.environ, "PYTHONPATH": str(package.parent), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", LIVE.format(tests=str(Path(__file__).parent)), str(journal)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
        timeout=600,
    )
    name, position, agrees = done.stdout.split()
    return name, int(position), agrees == "True"


def test_states_of_other_code_are_folded_anew(tmp_path):
    """A kernel that learns otherwise, after an upgrade: nothing that the old one saved is mixed with the new."""
    other = tmp_path / "other" / "druthers"
    shutil.copytree(PACKAGE, other, ignore=shutil.ignore_patterns("__pycache__", "*.onnx"))
    source = (other / "policies" / "arms.py").read_text()
    changed = source.replace("(value - arms.means[arm, k]) / arms.pulls[arm, k]", "0.25 * (value - arms.means[arm, k])")
    assert changed != source
    (other / "policies" / "arms.py").write_text(changed)
    journal = tmp_path / "journal.db"
    first, position, _ = in_process(PACKAGE, journal)
    assert position == 4
    again, position, agrees = in_process(PACKAGE, journal)
    assert (again, agrees) == (first, True)
    assert position == 28
    upgraded, position, agrees = in_process(other, journal)
    assert upgraded != first
    assert agrees
    assert position == 52
    assert in_process(PACKAGE, journal)[::2] == (first, True)


def in_the_name():
    """Return the files that the name of a fold depends on, whatever its policy is."""
    found = sources._with_imports(frozenset({PACKAGE / "advisor" / "fold.py"}))
    return {path.relative_to(PACKAGE).as_posix() for path in found}


def test_every_source_that_a_fold_depends_on_is_in_its_name():
    """What the modules that are imported really use: none of ours but what cannot change a number is left out."""
    found = in_the_name()
    kernels = {
        path.relative_to(PACKAGE).as_posix()
        for folder in ("policies", "anchors")
        for path in (PACKAGE / folder).glob("*.py")
    }
    assert kernels <= found
    assert {"_jit.py", "_matrices.py", "rankings.py", "preferences.py", "types.py", "catalogs/catalog.py"} <= found
    assert {"advisor/fold.py", "advisor/events.py", "saving.py", "stores/base.py"} <= found
    assert {"advisor/predicting.py", "language/models/descriptions.py", "language/models/table.py"} <= found
    assert not any(name.startswith(("service", "language/rules", "cli", "report")) for name in found)


def test_every_data_file_that_a_fold_reads_is_in_its_name(monkeypatch):
    """Descriptions are told by tables of numbers and words: other tables give other states."""
    said = ("spotless rooms and fresh linen", "dirty sheets and stained carpets", "a gleaming kitchen by the lake")
    items = [Item(f"i{k}", description=f"{said[k % 3]} {k}", values={"clean": 1 + k % 3}) for k in range(12)]
    read = set()
    find = data.data_file

    def noted(*names):
        read.add("/".join(("language/data", *names)))
        return find(*names)

    with Advisor(Catalog("inns", INNS.objectives, items), parser="lexicon") as advisor:
        advisor.hear("ada", ["clean"])
        monkeypatch.setattr(data, "data_file", noted)
        for one in (data.read_arrays, data.read_words, data.read_data, minilm.vocabulary, table._words, table._weighed):
            one.cache_clear()
        assert verify(advisor).agrees  # folds anew, and reads nothing else
    assert {"language/data/directions.npz", "language/data/words.npz", "language/data/wordpiece.txt.gz"} <= read
    assert read <= in_the_name()


@pytest.mark.parametrize("name", ["words.npz", "directions.npz", "wordpiece.txt.gz"])
def test_other_data_is_another_name(name, tmp_path, monkeypatch):
    other = tmp_path / "druthers"
    shutil.copytree(PACKAGE, other, ignore=shutil.ignore_patterns("__pycache__", "*.onnx", "web"))
    monkeypatch.setattr(sources, "PACKAGE", other)
    fold = frozenset({other / "advisor" / "fold.py"})
    before = sources.digest(fold)
    assert sources.digest(fold) == before
    file = other / "language" / "data" / name
    file.write_bytes(file.read_bytes() + b"0")
    assert sources.digest(fold) != before


OWN = """
from druthers.policies import SUCB

class Mine(SUCB):
    name = "mine"
    extra = {extra}
"""


def test_a_policy_of_ones_own_counts_with_its_file(tmp_path):
    import importlib.util

    digests = []
    for extra in (1, 2, 1):
        file = tmp_path / f"own{len(digests)}" / "mine.py"
        file.parent.mkdir()
        file.write_text(OWN.format(extra=extra))
        spec = importlib.util.spec_from_file_location("mine", file)
        module = importlib.util.module_from_spec(spec)
        sys.modules["mine"] = module
        try:
            spec.loader.exec_module(module)
            digests.append(digest_of(module.Mine(n_objectives=2)))
        finally:
            del sys.modules["mine"]
    assert digests[0] != digests[1]
    assert digests[0] == digests[2]


def test_a_policy_without_a_file_is_like_no_other():
    Mine = type("Mine", (POLICIES["s-ucb"],), {"name": "mine", "__module__": "nowhere"})  # noqa: N806
    assert digest_of(Mine(n_objectives=2)) != digest_of(Mine(n_objectives=2))
