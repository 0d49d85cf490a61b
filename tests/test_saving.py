"""Saved policies continue bit for bit, damaged files are refused, and nothing is ever half written or unpickled."""

from __future__ import annotations

import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import druthers
from druthers import POLICIES, GroupLasso, Policy, load, make_policy, save
from druthers.errors import DamagedState, DruthersError, InvalidSetting
from druthers.testing import same_state

TESTS, PACKAGE = Path(__file__).parent, Path(druthers.__file__).parents[1]
USERS = ("ada", 7, ("room", 3), None)
ARMS = ("inn", "spa", 2, ("loft", None), None, "café")


def build(name, **params):
    """Return a fresh policy; the oracle is told a truth."""
    if name == "oracle":
        params["preferences"] = {user: [1.0, -0.5, 0.2 * k] for k, user in enumerate(USERS)}
        params["rewards"] = {arm: [0.1 * k, 0.5, -0.2 * k] for k, arm in enumerate(ARMS)}
    return make_policy(name, n_objectives=3, seed=5, exploration=0.2, **params)


def play(policy, start, stop):
    """Let a policy live through rounds that depend on nothing but their numbers; return what it chose."""
    chosen = []
    for t in range(start, stop):
        rng = np.random.default_rng(t)
        user = USERS[rng.integers(len(USERS))]
        policy.hear(user, rng.permutation(3)[: rng.integers(0, 4)])
        question = policy.ask(user)
        if question is not None:
            policy.answer(user, question, float(rng.integers(2)))
        decision = policy.choose(user, [ARMS[k] for k in rng.permutation(len(ARMS))[:4]], size=2)
        chosen.append([repr(arm) for arm in decision.arms])
        reward = rng.normal(size=3)
        reward[rng.random(3) < 0.1] = math.nan
        if not np.isnan(reward).all():
            policy.learn(user, decision.arm, reward, float(rng.normal()) if t % 5 else None)
    return chosen


def lived(name, **params):
    """Return a policy after 40 rounds, with a retired arm and a forgotten user behind it."""
    policy = build(name, **params)
    play(policy, 0, 30)
    policy.retire_arm("spa")
    if 7 in policy.users:
        policy.forget_user(7)
    play(policy, 30, 40)
    return policy


def continue_all(folder):
    """Load every policy of a folder, go on with it, and write down choices and state; runs in another process."""
    choices = {}
    for name in POLICIES:
        policy = load(Path(folder) / name)
        choices[name] = play(policy, 40, 60)
        save(policy, Path(folder) / f"{name}.later")
    (Path(folder) / "choices.json").write_text(json.dumps(choices))


@pytest.fixture
def file(tmp_path):
    return tmp_path / "policy.druthers"


@pytest.fixture(scope="module")
def state():
    return lived("mo-oful").state()


@pytest.mark.parametrize("name", POLICIES)
def test_a_loaded_policy_continues_bit_for_bit(name, file):
    policy = lived(name)
    save(policy, file)
    twin = load(str(file))
    assert type(twin) is POLICIES[name]
    assert repr(twin) == repr(policy)
    assert same_state(policy.state(), twin.state())
    assert play(policy, 40, 60) == play(twin, 40, 60)
    assert same_state(policy.state(), twin.state())
    save(twin, file)
    assert same_state(load(file).state(), policy.state())
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_another_process_continues_bit_for_bit(tmp_path):
    """With other hashes of text, too: nothing may hang on the order of a set."""
    policies = {name: lived(name) for name in POLICIES}
    for name, policy in policies.items():
        save(policy, tmp_path / name)
    hashes = "7" if os.environ.get("PYTHONHASHSEED") != "7" else "8"
    places = os.pathsep.join([str(PACKAGE), str(TESTS), os.environ.get("PYTHONPATH", "")])
    subprocess.run(
        [sys.executable, "-c", f"import test_saving; test_saving.continue_all({str(tmp_path)!r})"],
        env={**os.environ, "PYTHONHASHSEED": hashes, "PYTHONPATH": places},
        check=True,
        timeout=600,
    )
    choices = json.loads((tmp_path / "choices.json").read_text())
    for name, policy in policies.items():
        assert play(policy, 40, 60) == choices[name], name
        assert same_state(policy.state(), load(tmp_path / f"{name}.later").state()), name


def test_settings_come_back_with_the_anchor_and_its_own(file):
    anchor = GroupLasso(penalty=math.inf, window=16)
    policy = make_policy(
        "mo-pqucb", n_objectives=np.int64(3), horizon=np.int64(500), risk=np.float64(0.1), anchor=anchor
    )
    policy.hear("ada", (2, 0))
    save(policy, file)
    twin = load(file)
    assert twin.params["anchor"].params == {"penalty": math.inf, "bound": 5.0, "window": 16, "n_objectives": None}
    assert (twin.horizon, twin.risk, twin.corruption) == (500, 0.1, 0.0)
    assert same_state(policy.state(), twin.state())


IDS = ["ada", "", "日本 \ud800", 0, -(10**40), 1.5, True, None, (), ("a", (1, None), ("b",)), np.int64(9), np.str_("n")]


@pytest.mark.parametrize("name", IDS, ids=[ascii(name) for name in IDS])
def test_plain_ids_come_back_as_they_are(name, file):
    policy = make_policy("s-ucb", n_objectives=2)
    policy.choose(name, [name, "other"])
    policy.learn(name, name, [0.5, 0.1], 0.3)
    save(policy, file)
    twin = load(file)
    assert twin.users == (name,)
    assert twin.arms == (name, "other")
    assert hash(twin.users[0]) == hash(name)
    assert isinstance(name, np.generic) or type(twin.users[0]) is type(name)
    assert same_state(policy.state(), twin.state())


@pytest.mark.parametrize(
    "name", [b"bytes", frozenset({1}), object(), 1j, ("a", b"b"), str], ids=lambda name: type(name).__name__
)
def test_an_id_that_cannot_be_saved_is_refused_and_the_older_file_stays(name, file):
    policy = make_policy("s-ucb", n_objectives=2)
    policy.choose("ada", ["inn"])
    save(policy, file)
    before = file.read_bytes()
    policy.add_arms([name])
    with pytest.raises(InvalidSetting) as problem:
        save(policy, file)
    culprit = name[1] if isinstance(name, tuple) else name
    assert str(problem.value) == (
        f"an id must be text, a number, None or a tuple of these to be saved, but got {culprit!r}; use such ids"
    )
    assert file.read_bytes() == before
    assert list(file.parent.iterdir()) == [file]
    assert load(file).arms == ("inn",)


def outcome(file, wanted):
    """Return what became of loading a file: "damaged", "equal", or what should never be."""
    try:
        found = load(file).state()
    except DamagedState:
        return "damaged"
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return "equal" if same_state(wanted, found) else "another policy"


def test_truncated_files_are_refused(file, state):
    save(Policy.from_state(state), file)
    whole = file.read_bytes()
    outcomes = set()
    for size in [0, 1, 2, 3, 4, 8, *range(16, len(whole), 37), len(whole) - 1]:
        file.write_bytes(whole[:size])
        outcomes.add(outcome(file, state))
    assert outcomes == {"damaged"}


def test_a_flipped_byte_is_noticed_or_does_no_harm(file, state):
    """Every fifth byte is flipped, by another mask each time, and the first entry of the directory by several."""
    save(Policy.from_state(state), file)
    whole = file.read_bytes()
    directory = whole.index(b"PK\x01\x02")
    flips = [(place, 1 << place % 8) for place in range(0, directory, 5)]
    flips += [(place, mask) for place in range(directory, directory + 50) for mask in (1, 8, 32, 64, 255)]
    flips += [(place, 1 << place % 8) for place in range(directory + 50, len(whole), 3)]
    outcomes = {}
    for place, mask in flips:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ mask]) + whole[place + 1 :])
        outcomes.setdefault(outcome(file, state), []).append((place, mask))
    assert outcomes.keys() <= {"damaged", "equal"}, {key: places[:3] for key, places in outcomes.items()}
    assert len(outcomes["damaged"]) > 0.5 * len(flips)


def test_a_loader_keeps_no_file_open(file, state):
    """Under pytest a file left open is an error of its own; on some systems it could not be replaced either."""
    file.write_bytes(b"PK\x03\x04 not a zip archive")
    with pytest.raises(DamagedState):
        load(file)
    save(Policy.from_state(state), file)
    load(file)


def test_a_file_that_is_something_else_is_refused(file, tmp_path, state):
    contents = [b"", b"hello", json.dumps({"version": 1}).encode(), pickle.dumps({"version": 1})]
    for content in contents:
        file.write_bytes(content)
        with pytest.raises(
            DamagedState, match=r"a saved policy must be a whole file written by save\(\), but .* is not"
        ):
            load(file)
    with file.open("wb") as target:
        np.save(target, np.zeros(3))
    with pytest.raises(DamagedState):
        load(file)
    with file.open("wb") as target:
        np.savez(target, clock=np.zeros(2))
    with pytest.raises(DamagedState):
        load(file)
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "nowhere")


FUTURE = "a state must be of version 1, but got version 2; upgrade druthers to read it"
ALIEN = "a state must be of version 1, but got version None; it was not written by a policy's state()"


@pytest.mark.parametrize(("version", "message"), [(2, FUTURE), (None, ALIEN)])
def test_another_version_is_refused_with_a_clear_message(version, message, file, state, monkeypatch):
    altered = {**state, "version": version}
    if version is None:
        del altered["version"]
    for build_anew in (Policy.from_state, POLICIES["mo-oful"].from_state):
        with pytest.raises(DamagedState) as problem:
            build_anew(altered)
        assert str(problem.value) == message
    policy = Policy.from_state(state)
    monkeypatch.setattr(policy, "state", lambda: altered)
    save(policy, file)
    with pytest.raises(DamagedState) as problem:
        load(file)
    assert str(problem.value) == message


def test_a_state_without_one_of_its_parts_is_refused(state):
    found = {}
    for key in state.keys() - {"version"}:
        try:
            Policy.from_state({name: value for name, value in state.items() if name != key})
        except DamagedState as problem:
            found[key] = key in str(problem)
        except Exception as problem:
            found[key] = repr(problem)
    assert found == dict.fromkeys(found, True)


def test_an_array_of_another_shape_or_kind_is_refused(state):
    found = []
    arrays = {key: value for key, value in state.items() if isinstance(value, np.ndarray)}
    for key, value in arrays.items():
        for wrong in (value[:-1], value[:0], value[None], value.astype(str)):
            try:
                Policy.from_state({**state, key: wrong})
            except DamagedState:
                continue
            except Exception as problem:
                found.append((key, repr(problem)))
            else:
                found.append((key, f"taken with shape {wrong.shape} and type {wrong.dtype}"))
    assert found == []


def test_a_state_belongs_to_its_own_policy(state):
    with pytest.raises(DamagedState) as problem:
        POLICIES["s-ucb"].from_state(state)
    assert str(problem.value) == "a state of s-ucb is needed, but got one of 'mo-oful'"
    with pytest.raises(DruthersError, match="mo-ofull"):
        Policy.from_state({**state, "policy": "mo-ofull"})


class Trap:
    """Leaves a mark where it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


def test_object_arrays_are_refused_and_nothing_in_them_runs(file, tmp_path, state):
    mark = tmp_path / "mark"
    save(Policy.from_state(state), file)
    with np.load(file, allow_pickle=False) as saved:
        members = {key: saved[key] for key in saved.files}
    assert not any(member.dtype.hasobject for member in members.values())
    with file.open("wb") as target:
        np.savez(target, **members, extra=np.array([Trap(mark)], dtype=object))
    with pytest.raises(DamagedState):
        load(file)
    file.write_bytes(pickle.dumps(Trap(mark)))
    with pytest.raises(DamagedState):
        load(file)
    assert not mark.exists()


def test_saving_and_loading_do_without_pickle(file, monkeypatch, state):
    def refuse(*args, **kwargs):
        raise AssertionError("pickle was used")

    for name in ("dump", "dumps", "load", "loads"):
        monkeypatch.setattr(pickle, name, refuse)
    save(Policy.from_state(state), file)
    assert same_state(load(file).state(), state)


@pytest.mark.parametrize("failure", [OSError("disk full"), KeyboardInterrupt()], ids=["disk full", "interrupt"])
@pytest.mark.parametrize("step", ["write", "sync", "replace"])
@pytest.mark.parametrize("older", [True, False], ids=["older file", "no older file"])
def test_a_failing_write_leaves_the_older_file_and_no_draft(failure, step, older, file, monkeypatch):
    policy = make_policy("s-ucb", n_objectives=2)
    policy.choose("ada", ["inn"])
    if older:
        save(policy, file)
    before = file.read_bytes() if older else None
    policy.choose("ada", ["inn", "spa"])

    def fail(*args, **kwargs):
        if step == "write":
            args[0].write(b"half of it")
        raise failure

    owner, name = {"write": (np, "savez"), "sync": (os, "fsync"), "replace": (Path, "replace")}[step]
    with monkeypatch.context() as patch:
        patch.setattr(owner, name, fail)
        with pytest.raises(type(failure)):
            save(policy, file)
    assert list(file.parent.iterdir()) == ([file] if older else [])
    if older:
        assert file.read_bytes() == before
        assert load(file).arms == ("inn",)
    save(policy, file)
    assert load(file).arms == ("inn", "spa")


def walk(value, path="state"):
    """Yield where something stands that is neither an array of numbers nor a plain value."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            yield path, value.dtype
    elif type(value) in (list, tuple):
        for place, item in enumerate(value):
            yield from walk(item, f"{path}[{place}]")
    elif type(value) is dict:
        for key, item in value.items():
            yield from walk(key, f"a key of {path}")
            yield from walk(item, f"{path}[{key!r}]")
    elif type(value) not in (str, int, float, bool, type(None)):
        yield path, type(value)


@pytest.mark.parametrize("name", POLICIES)
def test_a_state_holds_only_arrays_and_plain_values(name):
    assert list(walk(lived(name).state())) == []


@pytest.mark.parametrize("name", ["pareto-ts", "mo-pqucb"])
def test_a_state_is_a_snapshot(name):
    """What a policy does later changes neither the states it gave nor those it was made from."""
    policy = lived(name)
    first, second = policy.state(), policy.state()
    twin = Policy.from_state(first)
    play(policy, 40, 50)
    play(twin, 40, 45)
    assert same_state(first, second)
    assert same_state(Policy.from_state(first).state(), second)


@pytest.mark.parametrize("settings", [{}, pytest.param({"population": True}, marks=pytest.mark.plain)])
def test_a_state_from_before_products_of_rewards_were_kept_is_read(settings):
    policy = make_policy("fisher-pqucb", n_objectives=2, **settings)
    policy.hear("ada", (1, 0))
    for reward in ([0.1, 0.9], [0.3, 0.5]):
        policy.learn("ada", "inn", reward, 0.4)
    known = policy.state()
    older = {**known, "clock": np.delete(known["clock"], range(12, 16))}  # 2 counts, 5 numbers for each objective
    restored = make_policy("fisher-pqucb", n_objectives=2, **settings)
    restored.restore(older)
    assert np.array_equal(restored.preference("ada").weights, policy.preference("ada").weights)
    assert np.array_equal(np.delete(restored.state()["clock"], range(12, 16)), older["clock"])
    with pytest.raises(DamagedState, match="clock"):
        restored.restore({**known, "clock": known["clock"][:-1]})
