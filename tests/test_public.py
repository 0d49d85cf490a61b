"""What a user sees: the public names, their documentation, the registries and the README."""

from __future__ import annotations

import contextlib
import inspect
import io
import json
import os
import re
import subprocess
import sys
import tomllib
import types
from pathlib import Path

import pytest

import druthers
from druthers import ANCHORS, POLICIES, Anchor, Policy, make_anchor, make_policy
from druthers.errors import DruthersError, UnknownName

ROOT = Path(__file__).parents[1]
PACKAGE = Path(druthers.__file__).parents[1]
ENTRIES = {**POLICIES, **ANCHORS}


def test_public_names_are_sorted_and_complete():
    """Constants first, then classes, then functions, each by letter; nothing public is left out."""
    kinds = {name: (not name.isupper(), not name[0].isupper(), name) for name in druthers.__all__}
    assert sorted(druthers.__all__, key=kinds.__getitem__) == druthers.__all__
    assert len(set(druthers.__all__)) == len(druthers.__all__)
    public = {
        name
        for name, value in vars(druthers).items()
        if not name.startswith("_") and not isinstance(value, types.ModuleType)
    }
    assert public | {"Advisor"} == set(druthers.__all__)


def test_every_policy_and_anchor_is_a_public_name():
    for entry in ENTRIES.values():
        assert getattr(druthers, entry.__name__) is entry


@pytest.mark.parametrize("name", druthers.__all__)
def test_every_public_name_is_documented(name):
    """Classes with their public methods and properties, functions, and every entry of a registry."""
    value = getattr(druthers, name)
    if isinstance(value, dict):
        assert value
        assert all(entry.__doc__ for entry in value.values())
        return
    assert value.__doc__
    assert value.__module__.startswith("druthers.")
    if isinstance(value, type):
        own = {key: part for key, part in vars(value).items() if not key.startswith("_") and _is_code(part)}
        assert [key for key in own if not inspect.getdoc(getattr(value, key))] == []


def _is_code(part):
    return isinstance(part, types.FunctionType | property | classmethod | staticmethod)


def test_modules_say_what_they_are():
    modules = [module for name, module in sys.modules.items() if name.split(".")[0] == "druthers"]
    assert len(modules) > 10
    assert [module.__name__ for module in modules if not module.__doc__] == []


HEAVY = ["scipy", "pandas", "matplotlib", "sklearn", "torch", "requests", "hypothesis", "pytest", "choix", "cvxpy"]


def fresh_python(code):
    """Return what a fresh interpreter prints; whatever it says besides is an error."""
    places = os.pathsep.join([str(PACKAGE), os.environ.get("PYTHONPATH", "")])
    answer = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": places},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert (answer.returncode, answer.stderr) == (0, "")
    return answer.stdout


def test_importing_takes_nothing_heavy_along():
    """Beyond what Numba itself loads (it looks at SciPy's version where there is one)."""
    listing = "{name.split('.')[0] for name in sys.modules}"
    code = (
        f"import sys, json, numba\nbefore = {listing}\nimport druthers\nprint(json.dumps(sorted({listing} - before)))"
    )
    loaded = json.loads(fresh_python(code))
    assert "druthers" in loaded
    assert set(loaded) & set(HEAVY) == set()


def test_an_advisor_is_imported_when_it_is_asked_for():
    code = """
import sys
import druthers as dr
print([name for name in sys.modules if name.startswith(("druthers.advisor", "druthers.language", "druthers.stores"))])
print(dr.Advisor.__module__, "druthers.advisor" in sys.modules, hasattr(dr, "Adviser"))
from druthers import *
print(Advisor is dr.Advisor)
"""
    assert fresh_python(code) == "[]\ndruthers.advisor.advisor True False\nTrue\n"


def test_the_library_works_where_nothing_else_is_installed():
    """NumPy and Numba are enough: every other package is made impossible to import."""
    code = f"""
import sys
sys.modules.update(dict.fromkeys({HEAVY!r}))
import druthers
policy = druthers.make_policy("prucb", n_objectives=2)
arm = policy.choose("ada", ["inn", "spa"]).arm
policy.learn("ada", arm, [0.1, 0.2], 0.3)
print(policy.choose("ada").offer)
"""
    assert fresh_python(code) == "('inn', 'spa')\n"


def test_whoever_lacks_a_package_is_told_an_extra_that_brings_it():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    brought = {extra: {re.split(r"[^\w-]", one)[0] for one in packages} for extra, packages in extras.items()}
    sources = "".join(path.read_text("utf-8") for path in (PACKAGE / "druthers").rglob("*.py"))
    told = set(re.findall(r'needs\("(\w+)[\w.]*", "(\w+)"', sources))
    assert ("pandas", "frames") in told
    assert [(package, extra) for package, extra in told if package not in brought.get(extra, ())] == []


def described(entry):
    """Return the names that the Parameters section of a class's docstring describes."""
    sections = re.split(r"\n([A-Z][a-z]+)\n-+\n", "\n" + inspect.cleandoc(entry.__doc__ or ""))
    text = dict(zip(sections[1::2], sections[2::2], strict=True)).get("Parameters", "")
    lines = [line for line in text.splitlines() if line and not line.startswith(" ")]
    return {name for line in lines for name in line.split(", ")}


def parameters(entry):
    return set(inspect.signature(entry).parameters)


@pytest.mark.parametrize("name", ENTRIES)
def test_every_setting_is_described(name):
    """In the class's own docstring, or in that of the class it names for them; common ones in Policy and Anchor."""
    entry = ENTRIES[name]
    shared = parameters(Policy if issubclass(entry, Policy) else Anchor)
    told = described(entry)
    assert told <= parameters(entry)
    for other in re.findall(r"(?:parameters are those of|As in) `(\w+)`", entry.__doc__ or ""):
        told |= described(getattr(druthers, other))
    assert parameters(entry) - shared - told == set()
    assert described(Policy if issubclass(entry, Policy) else Anchor) >= shared


@pytest.mark.parametrize("registry", [POLICIES, ANCHORS], ids=["policies", "anchors"])
def test_registries_hold_classes_by_their_names(registry):
    for name, entry in registry.items():
        assert entry.name == name
        assert re.fullmatch(r"[a-z]+(-[a-z]+)*", name)
    assert len(set(registry.values())) == len(registry)


@pytest.mark.parametrize("name", POLICIES)
def test_make_policy_builds_by_name(name):
    policy = make_policy(name, n_objectives=3, seed=4)
    assert type(policy) is POLICIES[name]
    assert (policy.n_objectives, policy.seed) == (3, 4)
    assert set(policy.params) == parameters(type(policy))


def test_make_anchor_builds_by_name():
    for name, entry in ANCHORS.items():
        anchor = make_anchor(name, n_objectives=3)
        assert type(anchor) is entry
        assert set(anchor.params) == parameters(entry)


def test_unknown_names_are_refused_with_a_suggestion():
    known = ", ".join(POLICIES)
    with pytest.raises(UnknownName) as problem:
        make_policy("mo-pqucd", n_objectives=2)
    assert str(problem.value) == f"unknown policy 'mo-pqucd'; known: {known}; did you mean 'mo-pqucb'?"
    with pytest.raises(UnknownName) as problem:
        make_policy("???", n_objectives=2)
    assert str(problem.value) == f"unknown policy '???'; known: {known}"
    with pytest.raises(UnknownName) as problem:
        make_anchor("likelyhood")
    assert str(problem.value) == f"unknown anchor 'likelyhood'; known: {', '.join(ANCHORS)}; did you mean 'likelihood'?"
    assert isinstance(problem.value, KeyError)
    assert isinstance(problem.value, DruthersError)


def test_unknown_settings_are_refused_with_a_suggestion():
    with pytest.raises(UnknownName) as problem:
        make_policy("s-ucb", n_objectives=2, widht=0.5)
    assert str(problem.value) == (
        "unknown setting of s-ucb 'widht'; known: n_objectives, seed, exploration, width, unseen_first;"
        " did you mean 'width'?"
    )
    with pytest.raises(UnknownName, match="did you mean 'feedback_weight'"):
        make_policy("mo-pqucb", n_objectives=2, feedback_weigth=0.5)


def test_unknown_settings_of_an_anchor_are_refused_by_name():
    with pytest.raises(DruthersError, match="bonud"):
        make_anchor("likelihood", bonud=2.0)


@pytest.mark.parametrize("page", ["README.md", "docs/index.md"])
def test_python_blocks_of_the_first_pages_run(page, tmp_path, monkeypatch):
    """As they stand and in order, as a reader would type them; a text block right after one is what it prints."""
    text = (ROOT / page).read_text("utf-8")
    blocks = list(re.finditer(r"^```(?:python|py)\n(.*?)^```\n(?:\n?```text\n(.*?)^```)?", text, re.M | re.S))
    assert blocks
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "readme"}
    for block in blocks:
        where = f"{page}, line {text.count(chr(10), 0, block.start()) + 1}"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block[1], where, "exec"), names)
        if block[2] is not None:
            assert printed.getvalue() == block[2], where
