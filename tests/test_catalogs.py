"""Catalogs are what their files say, whatever is wrong is told at once, and values turn into rewards and back."""

from __future__ import annotations

import contextlib
import copy
import io
import itertools
import json
import pickle
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from druthers import CATALOGS, Catalog, Item, Objective
from druthers.__main__ import main
from druthers.catalogs.checking import MOST_LINES, find_mistakes, grouped
from druthers.errors import InvalidCatalog, InvalidFeedback, InvalidSetting, UnknownArm, UnknownName
from druthers.language import domain_names, load_domain

names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12).filter(
    lambda text: text == text.strip()
)
numbers = st.floats(-1e6, 1e6, allow_nan=False)


@st.composite
def catalogs(draw):
    words = draw(st.lists(names, min_size=2, max_size=6, unique_by=str.casefold))
    split = draw(st.integers(1, len(words) - 1))
    objectives = []
    for name in words[:split]:
        low, width = draw(numbers), draw(st.floats(1e-3, 1e6))
        synonyms = tuple(words[split:]) if not objectives else ()
        texts = tuple(draw(st.lists(names, max_size=2)))
        objectives.append(
            Objective(name, draw(st.text(max_size=5)), synonyms, texts, low, low + width, draw(st.booleans()))
        )
    items = []
    for id in draw(st.lists(names, max_size=4, unique=True)):
        known = draw(st.lists(st.sampled_from(objectives), unique_by=lambda objective: objective.name))
        values = {objective.name: draw(st.floats(objective.low, objective.high)) for objective in known}
        facts = names | numbers | st.booleans() | st.integers(-(2**70), 2**70)
        free = names.filter(lambda name: name not in words)
        details = draw(st.dictionaries(free, facts | st.lists(facts, max_size=3), max_size=2))
        items.append(Item(id, draw(names), draw(st.text(max_size=9)), values, details))
    return Catalog(draw(names), objectives, items, draw(st.text(max_size=9)), draw(st.booleans()))


@given(catalog=catalogs(), suffix=st.sampled_from([".toml", ".json"]))
def test_a_saved_catalog_loads_as_it_was(tmp_path_factory, catalog, suffix):
    path = tmp_path_factory.mktemp("catalogs") / f"shop{suffix}"
    catalog.save(path)
    assert Catalog.load(path) == catalog
    assert Catalog.load(str(path)) == catalog
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@given(catalog=catalogs())
def test_copies_and_pickles_are_equal(catalog):
    assert copy.deepcopy(catalog) == catalog == pickle.loads(pickle.dumps(catalog))
    assert Catalog.from_content(json.loads(json.dumps(catalog.content()))) == catalog


@given(low=numbers, width=st.floats(1e-3, 1e6), share=st.floats(0, 1), less=st.booleans())
def test_values_and_rewards_turn_into_each_other(low, width, share, less):
    objective = Objective("x", low=low, high=low + width, less_is_better=less)
    value = min(low + share * width, objective.high)
    reward = objective.to_reward(value)
    assert 0.0 <= reward <= 1.0
    assert objective.to_value(reward) == pytest.approx(value, abs=1e-9 * (1 + abs(low) + width))
    assert objective.to_reward(objective.high if not less else objective.low) == 1.0
    assert objective.to_reward(objective.low if not less else objective.high) == 0.0


def inns():
    return Catalog(
        name="inns",
        objectives=[
            Objective("clean", synonyms=("spotless",), low=1, high=5),
            Objective("price", low=50, high=300, less_is_better=True),
        ],
        items=[Item("mill", "The Mill", values={"clean": 4, "price": 120}), Item("barn", values={"price": 60})],
    )


def test_rewards_are_vectors_with_gaps():
    shop = inns()
    assert shop.rewards("mill").tolist() == [0.75, 0.72]
    assert np.isnan(shop.rewards("barn")).tolist() == [True, False]
    assert shop.to_values(shop.rewards("barn")) == {"price": pytest.approx(60)}
    assert np.isnan(shop.to_rewards({"clean": float("nan")})).all()
    assert (shop.ids, shop.item("barn").name, shop.n_objectives) == (("mill", "barn"), "barn", 2)
    assert shop.ranking(["price"]) == (1,)
    with pytest.raises(InvalidFeedback, match="'price' must lie between 50 and 300, but got 20; correct the value or"):
        shop.to_rewards({"price": 20})
    with pytest.raises(InvalidFeedback, match="must have 2 entries, but got 3"):
        shop.to_values([0.1, 0.2, 0.3])
    with pytest.raises(UnknownName, match=r"unknown objective of 'inns' 'prize'; .* did you mean 'price'"):
        shop.ranking(["prize"])
    with pytest.raises(UnknownArm, match="did you mean 'mill'"):
        shop.item("mil")


def test_a_catalog_cannot_be_changed():
    shop = inns()
    with pytest.raises(AttributeError):
        shop.name = "other"
    with pytest.raises(AttributeError):
        shop.items[0].name = "other"
    with pytest.raises(TypeError):
        shop.items[0].values["clean"] = 1
    assert isinstance(shop.items, tuple)


def damaged(**changes):
    """Return sound content with some fields replaced by path, such as `items__0__id`; `...` takes one away."""
    content = {
        "format": 1,
        "name": "inns",
        "objectives": [{"name": "clean", "synonyms": ["spotless"]}, {"name": "price", "low": 50, "high": 300}],
        "items": [{"id": "mill", "values": {"price": 120}}, {"id": "barn", "details": {"city": "Ely"}}],
    }
    for path, value in changes.items():
        *way, last = (int(step) if step.isdigit() else step for step in path.split("__"))
        place = content
        for step in way:
            place = place[step]
        if value is ...:
            del place[last]
        else:
            place[last] = value
    return content


WORD = "must be a text that is not empty and has no spaces around it"
FACT = f"{WORD}, a finite number, true or false, or a list of these"
DAMAGES = [
    ({"name": ...}, "name must be given: a text that is not empty and has no spaces around it"),
    ({"name": " inns"}, f'name {WORD}, but got " inns"'),
    ({"format": 2}, "format must be 1, the only one so far, but got 2"),
    ({"format": True}, "format must be 1, the only one so far, but got True"),
    ({"description": 3}, "description must be a text, but got 3"),
    ({"simulated": "yes"}, 'simulated must be true or false, but got "yes"'),
    ({"itmes": []}, "\"itmes\" is not a field here; known: *; did you mean 'items'?"),
    ({"objectives": ...}, "objectives must be given: a list of tables"),
    ({"objectives": {}}, "objectives must be a list of tables, but got {}"),
    ({"objectives": [], "items": []}, "objectives must hold at least one table; add [[objectives]] with a name"),
    ({"objectives__0": 7}, "objectives[0]: it must be a table of fields, but got 7"),
    ({"objectives__0__name": ...}, f"objectives[0]: name must be given: {WORD.removeprefix('must be ')}"),
    ({"objectives__0__name": ""}, f'objectives[0] "": name {WORD}, but got ""'),
    ({"objectives__0__weight": 1}, 'objectives[0] "clean": "weight" is not a field here; known: *'),
    ({"objectives__1__low": "50"}, 'objectives[1] "price": low must be a finite number, but got "50"'),
    ({"objectives__1__high": float("inf")}, 'objectives[1] "price": high must be a finite number, but got inf'),
    ({"objectives__1__low": True}, 'objectives[1] "price": low must be a finite number, but got True'),
    (
        {"objectives__1__low": 400, "items": []},
        'objectives[1] "price": low must be below high, but got 400 and 300; exchange them',
    ),
    (
        {"objectives__1__low": 300, "items": []},
        'objectives[1] "price": low must be below high, but got 300 and 300; give it a range',
    ),
    ({"objectives__0__less_is_better": 1}, 'objectives[0] "clean": less_is_better must be true or false, but got 1'),
    (
        {"objectives__0__synonyms": "tidy"},
        'objectives[0] "clean": synonyms must be a list of texts that are not empty, but got "tidy"',
    ),
    (
        {"objectives__0__examples": [""]},
        "objectives[0] \"clean\": examples must be a list of texts that are not empty, but got ['']",
    ),
    (
        {"objectives__1__name": "Spotless", "items": []},
        'objectives[1] "Spotless": a word must stand for one objective, but objectives[0] "clean" has "Spotless" too;*',
    ),
    ({"items": 5}, "items must be a list of tables, but got 5"),
    ({"items__0": "mill"}, 'items[0]: it must be a table of fields, but got "mill"'),
    ({"items__0__id": ...}, f"items[0]: id must be given: {WORD.removeprefix('must be ')}"),
    ({"items__0__id": 7}, f"items[0]: id {WORD}, but got 7"),
    ({"items__1__id": "mill"}, 'items[1] "mill": ids must differ, but items[0] has this one too; change one of them'),
    ({"items__0__name": ""}, f'items[0] "mill": name {WORD}, but got ""'),
    ({"items__0__rewards": {}}, 'items[0] "mill": "rewards" is not a field here; known: *'),
    (
        {"items__0__values": [120]},
        'items[0] "mill": values must be a table of one number for each objective that is known, but got [120]',
    ),
    (
        {"items__0__values__prise": 7},
        "items[0] \"mill\": values.prise is none of the objectives; known: clean, price; did you mean 'price'?",
    ),
    (
        {"items__0__values__price": 1200},
        'items[0] "mill": values.price must lie between 50 and 300, but got 1200; correct it or *',
    ),
    (
        {"items__0__values__price": None},
        'items[0] "mill": values.price must be a finite number, but got None; leave out what is not known',
    ),
    (
        {"items__0__values__price": 10**400},
        'items[0] "mill": values.price must be a finite number, but got 1000*; leave out what is not known',
    ),
    ({"items__1__details": ["Ely"]}, "items[1] \"barn\": details must be a table of facts, but got ['Ely']"),
    ({"items__1__details": {"city": None}}, f'items[1] "barn": details.city {FACT}, but got None'),
    ({"items__1__details": {"city": " Ely"}}, f'items[1] "barn": details.city {FACT}, but got " Ely"'),
    ({"items__1__details": {"stars": float("nan")}}, f'items[1] "barn": details.stars {FACT}, but got nan'),
    ({"items__1__details": {"near": [["sea"]]}}, f"items[1] \"barn\": details.near {FACT}, but got [['sea']]"),
    ({"items__1__details": {"near": {"sea": 1}}}, f"items[1] \"barn\": details.near {FACT}, but got {{'sea': 1}}"),
    (
        {"items__1__details": {"price": 60}},
        'items[1] "barn": details.price must not have the name of an objective, but got 60; give it as values.price, *',
    ),
    (
        {"items__1__counts": {"price": 3}},
        'items[1] "barn": counts.price must count the ratings of a value that is given; leave it out',
    ),
    ({"items__1__details": {"": 3}}, f'items[1] "barn": the name of a detail {WORD}, but got ""'),
]


@pytest.mark.parametrize(("changes", "told"), DAMAGES, ids=[" ".join(changes) for changes, _ in DAMAGES])
def test_every_damage_is_told_and_nothing_else(changes, told):
    """`*` stands for any text."""
    with pytest.raises(InvalidCatalog) as problem:
        Catalog.from_content(damaged(**changes), source="inns.toml")
    (found,) = problem.value.problems
    assert str(problem.value) == f"inns.toml is not a catalog, 1 problem:\n  {found}"
    parts = told.split("*")
    assert found.startswith(parts[0])
    assert found.endswith(parts[-1])


def test_all_problems_of_a_file_come_in_one_error(tmp_path):
    content = damaged(objectives__1__low="50", items__0__id=7, items__1__values={"clean": 2}, itmes=[])
    path = tmp_path / "inns.json"
    path.write_text(json.dumps(content))
    with pytest.raises(InvalidCatalog) as problem:
        Catalog.load(path)
    lines = str(problem.value).splitlines()
    assert lines[0] == f"{path} is not a catalog, 4 problems:"
    assert len(lines) == 5
    assert [line.split(":")[0].split()[0] for line in lines[1:]] == ['"itmes"', "objectives[1]", "items[0]", "items[1]"]


def test_thousands_of_equal_mistakes_are_one_line_and_the_different_one_is_seen(druthers, tmp_path):
    items = [{"id": f"inn-{k}", "stars": 3, "values": {"price": 1000 + k}} for k in range(5000)]
    items[3711] = {"id": "inn-3711", "values": {"price": "dear"}}
    (tmp_path / "inns.json").write_text(json.dumps(damaged(items=items)))
    code, out, err = druthers("check", "inns.json")
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "druthers: inns.json is not a catalog, 9,999 problems:",
        '  4,999 items, such as items[0] "inn-0", items[1] "inn-1", items[2] "inn-2": "stars" is not a field here;'
        " known: id, name, description, values, details, counts",
        '  4,999 items, such as items[0] "inn-0" (got 1000), items[1] "inn-1" (got 1001), items[2] "inn-2" (got 1002):'
        " values.price must lie between 50 and 300; correct it or widen the objective's low and high",
        '  items[3711] "inn-3711": values.price must be a finite number, but got "dear"; leave out what is not known',
    ]


def test_three_mistakes_alike_are_told_one_by_one_and_too_many_kinds_are_counted():
    items = [{"id": f"inn-{k}", "values": {"price": 10}} for k in range(3)]
    with pytest.raises(InvalidCatalog) as problem:
        Catalog.from_content(damaged(items=items))
    assert [line[:8] for line in problem.value.problems] == ["items[0]", "items[1]", "items[2]"]
    with pytest.raises(InvalidCatalog) as problem:
        Catalog.from_content(damaged(items=[{"id": "inn", **{f"field {k}": k for k in range(MOST_LINES + 7)}}]))
    assert str(problem.value).startswith(f"this is not a catalog, {MOST_LINES + 7} problems:")
    assert problem.value.problems[MOST_LINES:] == ("and 7 more of other kinds",)


def test_details_are_facts_of_any_kind_and_cannot_be_changed():
    details = {"city": "Ely", "price": 120, "stars": 3.5, "pool": True, "near": ["sea", 2, False], "none": []}
    item = Item("mill", details=details)
    details["near"].append("wood")
    assert item.details["near"] == ("sea", 2, False)
    assert item.content()["details"] == {**details, "near": ["sea", 2, False]}
    assert {type(detail) for detail in item.details.values()} == {str, int, float, bool, tuple}
    assert Catalog("inns", [Objective("clean")], [item]).content()["items"][0]["details"]["none"] == []


@given(
    content=st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(max_size=3),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["name", "objectives", "items", "id", "values", "low", "x"]), inner, max_size=4
            )
        ),
        max_leaves=12,
    )
)
def test_no_content_breaks_the_checks(content):
    """Whatever JSON can say is either a catalog or refused with reasons."""
    problems = grouped(find_mistakes(content))
    assert all(isinstance(problem, str) and problem for problem in problems)
    if not problems:
        Catalog.from_content(content)


def test_a_catalog_made_in_code_keeps_the_same_laws():
    with pytest.raises(InvalidCatalog, match="ids must differ"):
        Catalog("inns", [Objective("clean")], [Item("mill"), Item("mill")])
    with pytest.raises(InvalidCatalog, match="must lie between 0 and 1, but got 3"):
        Catalog("inns", [Objective("clean")], [Item("mill", values={"clean": 3})])
    for bad in (
        lambda: Objective(""),
        lambda: Objective("x", low=1, high=1),
        lambda: Objective("x", high=float("nan")),
        lambda: Objective("x", synonyms="one"),
        lambda: Objective("x", examples=("",)),
    ):
        with pytest.raises(InvalidSetting):
            bad()


def test_files_that_cannot_be_read_are_refused_by_name(tmp_path):
    for name, text, message in (
        ("a.toml", "name = ", "a catalog must be written in TOML, but .*a.toml is not"),
        ("a.json", "{", "a catalog must be written in JSON, but .*a.json is not"),
        ("b.json", '{"name": "a", "name": "b"}', 'the key "name" stands twice in an object'),
        ("c.json", "[" * 100_000, "nested without end"),
        ("a.csv", "name", "must end in .toml or .json, but got .*a.csv.; make one of it with `druthers catalog build"),
        ("a.txt2", "name", "must end in .toml or .json, but got .*a.txt2.; name a file that does"),
    ):
        (tmp_path / name).write_text(text)
        with pytest.raises(InvalidCatalog, match=message):
            Catalog.load(tmp_path / name)
    (tmp_path / "d.toml").write_bytes(b'name = "\xff"')
    with pytest.raises(InvalidCatalog, match=r"must be text in UTF-8, but .* is not at byte 8"):
        Catalog.load(tmp_path / "d.toml")
    with pytest.raises(InvalidCatalog, match=r"a file that can be read, but .*none.toml: No such file"):
        Catalog.load(tmp_path / "none.toml")
    with pytest.raises(UnknownName, match="unknown catalog 'hotel'; known: hotels, beers; did you mean 'hotels'"):
        Catalog.load("hotel")
    with pytest.raises(InvalidCatalog, match="must end in"):
        inns().save(tmp_path / "inns.yaml")


def test_a_file_without_a_name_is_named_after_itself(tmp_path):
    path = tmp_path / "inns.toml"
    path.write_text('\ufeff[[objectives]]\nname = "clean"\n', encoding="utf-8")
    assert Catalog.load(path) == Catalog("inns", [Objective("clean")])


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "inns.toml"
    inns().save(path)
    before = path.read_bytes()
    monkeypatch.setattr("pathlib.Path.replace", lambda self, target: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(InvalidCatalog, match=r"where files can be written, but .*inns.toml: disk full"):
        inns().save(path)
    with pytest.raises(InvalidCatalog, match=r"nowhere/inns.toml: No such file or directory"):
        inns().save(tmp_path / "nowhere" / "inns.toml")
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("name", CATALOGS)
def test_catalogs_that_come_along_are_whole_and_say_that_they_are_simulated(name):
    shop = Catalog.load(name)
    assert shop.name == name
    assert shop.simulated
    assert shop.description.startswith("Simulated: ")
    for item in shop.items:
        assert item.description
        assert item.details
        assert np.isfinite(shop.rewards(item.id)).all()
    for objective in shop.objectives:
        assert objective.description
        assert objective.synonyms
        assert objective.examples
    assert shop == Catalog.load(name)


@pytest.fixture
def druthers(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["druthers", "catalog", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        return leaving.value.code or 0, printed.out, printed.err

    return call


def test_the_command_shows_a_catalog_and_says_when_it_is_simulated(druthers):
    code, out, err = druthers("show", "hotels", "--items", "2")
    assert (code, err) == (0, "")
    assert out.splitlines()[0].split() == ["hotels", "simulated"]
    for word in ("The Amberwick", "cleanliness ↑", "1 to 5", "and 60 more"):
        assert word in out
    code, out, _ = druthers("show", "beers", "--json")
    assert Catalog.from_content(json.loads(out)) == Catalog.load("beers")


def test_the_command_shows_what_sentences_can_be_read_for(druthers, tmp_path):
    """What `druthers read --domain` takes, this takes: objectives without items, to start a catalog from."""
    code, out, err = druthers("show", "restaurants")
    assert (code, err) == (0, "")
    assert "ambience" in out
    assert druthers("write", "restaurants", "mine.toml")[:2] == (0, "mine.toml: 6 objectives, 0 items\n")
    assert Catalog.load(tmp_path / "mine.toml").objectives == load_domain("restaurants")
    code, _, err = druthers("show", "restaurant")
    assert code == 2
    assert "known: hotels, beers, apartments, flights, phones, restaurants; did you mean 'restaurants'?" in err
    for name in domain_names():
        assert druthers("show", name)[0] == 0


def test_the_command_shows_costs_and_gaps(druthers, tmp_path):
    inns().save(tmp_path / "inns.toml")
    _, out, _ = druthers("show", "inns.toml")
    assert "price ↓" in out
    assert "less" in out
    assert re.search(r"^barn +- +60 *$", out, re.M)
    assert "simulated" not in out
    assert "more;" not in out


def test_the_command_checks_files_and_tells_all_of_them(druthers, tmp_path):
    inns().save(tmp_path / "inns.toml")
    assert druthers("check", "inns.toml") == (0, "inns.toml: 2 objectives, 2 items, 1 value not known\n", "")
    (tmp_path / "bad.toml").write_text("itmes = 1")
    code, out, err = druthers("check", "bad.toml", "inns.toml", "none.json")
    assert code == 2
    assert out.startswith("inns.toml: ")
    assert "bad.toml is not a catalog, 2 problems:" in err
    assert "none.json: No such file" in err


def test_the_command_writes_and_replaces_nothing_unasked(druthers, tmp_path):
    assert druthers("write", "hotels", "mine.json")[:2] == (0, "mine.json: 6 objectives, 62 items\n")
    assert Catalog.load(tmp_path / "mine.json") == Catalog.load("hotels")
    code, _, err = druthers("write", "beers", "mine.json")
    assert (code, err) == (
        2,
        "druthers: a catalog must not replace a file unasked, but mine.json is there; add --force\n",
    )
    assert druthers("write", "beers", "mine.json", "--force")[0] == 0
    assert Catalog.load(tmp_path / "mine.json").name == "beers"


@pytest.mark.parametrize("page", ["catalogs.md", "gymnasium.md"])
def test_python_blocks_of_the_pages_run(page, tmp_path, monkeypatch):
    """As they stand and in order; a text block right after one is what it prints, a TOML block the file it names."""
    text = (Path(__file__).parents[1] / "docs" / page).read_text("utf-8")
    monkeypatch.chdir(tmp_path)
    for content in re.findall(r"^```toml\n(.*?)^```", text, re.M | re.S):
        Path("inns.toml").write_text(content, encoding="utf-8")
    names: dict[str, object] = {"__name__": page}
    blocks = list(re.finditer(r"^```python\n(.*?)^```\n(?:\n?```text\n(.*?)^```)?", text, re.M | re.S))
    assert blocks
    for block in blocks:
        where = f"{page}, line {text.count(chr(10), 0, block.start()) + 1}"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(block[1], where, "exec"), names)
        if block[2] is not None:
            assert printed.getvalue() == block[2], where


thousandths = st.integers(0, 1000).map(lambda count: count / 1000)


@given(st.lists(st.tuples(numbers, thousandths), min_size=2, max_size=30, unique_by=lambda pair: pair[0]))
def test_a_scale_is_straight_between_its_points(points):
    """To the last bit as NumPy has it, at points, between and beyond them, there and back."""
    values, rewards = (sorted(column) for column in zip(*points, strict=True))
    for less in (False, True):
        scale = tuple(zip(values, rewards[::-1] if less else rewards, strict=True))
        one = Objective("price", low=-2e6, high=2e6, scale=scale, less_is_better=less)
        between = [0.3 * low + 0.7 * high for low, high in itertools.pairwise(values)]
        for value in (*values, *between, -1.5e6, 1.5e6, np.nan):
            expected = np.interp(value, values, [reward for _, reward in scale])
            assert one.to_reward(value) == expected or (np.isnan(value) and np.isnan(one.to_reward(value)))
        back = [value for value, _ in (scale[::-1] if less else scale)]
        for reward in (*rewards, 0.123, 0.9, -0.5, 1.5):
            assert one.to_value(reward) == np.interp(reward, rewards, back)
