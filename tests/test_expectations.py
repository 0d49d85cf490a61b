"""What ordinary people expect comes out, and the command that tells so tells the truth."""

import json
import sys

import pytest

from druthers.__main__ import main
from druthers.catalogs import Catalog
from druthers.cli.expect import read_scenarios
from druthers.errors import InvalidExperiment, UnknownName
from druthers.expectations import examine

BOATS = {
    "name": "boats",
    "objectives": [
        {"name": "price", "low": 10, "high": 100000, "less_is_better": True},
        {"name": "speed", "low": 1, "high": 60},
        {"name": "comfort", "low": 1, "high": 5},
    ],
    "items": [
        {
            "id": f"boat-{k}",
            "values": {"price": 900 + 350 * k, "speed": 4 + (7 * k) % 23, "comfort": 1 + (3 * k % 9) / 2},
            "details": {"harbor": ("Piran", "Izola")[k % 2], "berths": 2 + k % 5},
        }
        for k in range(14)
    ],
}


def scenario(*steps):
    return {"id": "one", "kind": "test", "catalog": "boats", "steps": list(steps)}


CHEAP = {"check": "first_at_least", "objective": "price", "percentile": 0.8, "because": "it was asked for"}
EXPECTED = scenario(
    {"hear": "As cheap as possible."},
    {"recommend": 3, "as": "cheap", "expect": [CHEAP, {"check": "reason_names", "objectives": ["price"]}]},
    {"hear": "In Izola, and speed does not matter."},
    {"recommend": 3, "limits": {"harbor": "Izola"}, "expect": [{"check": "reason_no_praise", "objectives": ["speed"]}]},
    {"preference": True, "expect": [{"check": "weight_top", "objectives": ["price"]}]},
    {"recommend": 1, "where": {"berths": {"min": 40}}, "expect": [{"check": "nothing_fits"}]},
    {"recommend": 3, "limits": {"harbor": "Izola"}, "as": "again", "expect": [{"check": "reason_true"}]},
    {"feedback": {"item": "@again", "utility": -1}},
    {"recommend": 3, "expect": [{"check": "first_not_in", "items": ["@again"]}]},
    {"live": {"rounds": 20, "likes": {"comfort": 1}}},
    {"recommend": 3, "expect": [{"check": "moves", "objective": "comfort", "label": "cheap", "direction": "up"}]},
)


def test_what_people_expect_comes_out():
    outcomes = examine(EXPECTED, Catalog.from_content(BOATS), parser="lexicon")
    assert [(one.check, one.found) for one in outcomes if not one.passed] == []
    assert len(outcomes) == 10


def test_what_does_not_come_out_is_told():
    dear = {**CHEAP, "check": "first_at_most", "percentile": 0.1}
    steps = [
        {"hear": "As cheap as possible."},
        {"recommend": 1, "expect": [dear]},
        {"preference": True, "user": "bob", "expect": [CHEAP]},
    ]
    first, second = examine(scenario(*steps), Catalog.from_content(BOATS), parser="lexicon")
    assert not first.passed
    assert "boat-" in first.found
    assert not second.passed
    assert "UnknownUser" in second.found


def test_mistakes_in_a_file_are_refused(tmp_path):
    with pytest.raises(UnknownName, match="did you mean 'first_in'"):
        examine(
            scenario({"recommend": 1, "expect": [{"check": "first_inn"}]}),
            Catalog.from_content(BOATS),
            parser="lexicon",
        )
    (tmp_path / "bad.json").write_text("[1")
    with pytest.raises(InvalidExperiment, match="cannot be read"):
        read_scenarios(tmp_path / "bad.json")
    for content, told in (
        ("[]", r"bad\.json must hold scenarios, each with its id, catalog and steps, but it is '\[\]'"),
        ('{"scenarios": {}}', "but it is "),
        ('{"scenarios": [[]]}', r"but scenarios\[0\] has no id"),
        ('{"scenarios": [{"id": "a", "catalog": "hotels"}]}', r"but scenarios\[0\] has no steps"),
        (
            '{"scenarios": [{"id": "a", "catalog": "hotels", "steps": [{"recomend": 3}]}]}',
            r"but scenario 'a' has 'recomend' in steps\[0\]; known: .*; did you mean 'recommend'\?",
        ),
    ):
        (tmp_path / "bad.json").write_text(content)
        with pytest.raises(InvalidExperiment, match=told):
            read_scenarios(tmp_path / "bad.json")
    for step in ({"recomend": 3}, {"user": "ada"}):
        with pytest.raises(InvalidExperiment, match="a step must hear, recommend"):
            examine(scenario(step), Catalog.from_content(BOATS), parser="lexicon")


def test_a_step_that_fails_is_told_where_nothing_is_expected():
    (one,) = examine(scenario({"recommend": 1, "where": {"wings": 2}}), Catalog.from_content(BOATS), parser="lexicon")
    assert not one.passed
    (one,) = examine(scenario({"preference": True, "user": "bob"}), Catalog.from_content(BOATS), parser="lexicon")
    assert (one.check, one.passed) == ("steps", False)
    assert "UnknownUser" in one.found


def test_the_command(tmp_path, monkeypatch, capsys):
    file = tmp_path / "boats.json"
    file.write_text(json.dumps({"catalogs": {"boats": BOATS}, "scenarios": [EXPECTED]}))

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["druthers", "expect", str(file), "--parser", "lexicon", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        return leaving.value.code or 0, capsys.readouterr().out

    code, out = run()
    assert code == 0
    assert "10 of 10 expectations met, 1 of 1 scenarios whole" in out
    code, out = run("--json")
    assert [json.loads(line)["passed"] for line in out.splitlines()] == [True] * 10
    assert run("--only", "nothing")[0] == 1
