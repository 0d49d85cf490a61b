"""A journal that earlier code wrote is read, and people get what they said then.

`data/journals/first.db.gz` was written by the code of 7e04930, before there were scales, strengths of words, limits and
marks of events: an SQLite journal of ten inns with four people, one of whom was erased; one item was changed and one
retired. Prices run from 40 to 148 in a declared range of 0 to 1000.
"""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from druthers.advisor import Advisor, verify
from druthers.advisor.history import to_log
from druthers.cli import app
from druthers.errors import StoreFailure, UnknownUser
from druthers.stores import open_store
from druthers.stores.moving import export_events, import_events

FIRST = Path(__file__).parent / "data" / "journals" / "first.db.gz"


@pytest.fixture
def url(tmp_path):
    path = tmp_path / "journal.db"
    path.write_bytes(gzip.decompress(FIRST.read_bytes()))
    with pytest.raises(StoreFailure, match="druthers store migrate"):
        open_store(f"sqlite:{path}")
    assert CliRunner().invoke(app, ["store", "migrate", "--store", f"sqlite:{path}"]).exit_code == 0
    return f"sqlite:{path}"


@pytest.fixture
def advisor(url):
    with Advisor(store=url, parser="lexicon") as opened:
        yield opened


def test_wishes_and_dismissals_of_then_count_today(advisor):
    ada, bob, cyd = (advisor.preference(user) for user in ("ada", "bob", "cyd"))
    assert (ada.wished, ada.dismissed) == (("quiet",), ("breakfast",))
    assert ({one.objective: one.weight for one in ada.weights}["breakfast"]) < 0.01
    assert bob.wished == ("price", "quiet"), "a ranking"
    assert cyd.wished == ("price",), "a correction, after a good breakfast was asked for"
    with pytest.raises(UnknownUser):
        advisor.preference("dan")


def test_what_was_awful_then_is_not_the_first_today(advisor):
    """The Crown was recommended to ada first of all, and she told -0.9."""
    made = advisor.recommend("ada", size=3)
    assert made.items[0].item == "barn", "changed later: with 4.9 the quietest of all"
    assert "crown" not in [one.item for one in made.items]
    assert "as you asked" in made.items[0].why
    assert "breakfast" not in made.items[0].why
    assert "yard" not in advisor.items, "retired"


def test_limits_and_words_of_today_go_on_from_there(advisor):
    advisor.hear("ada", "in Graz, under 100, and cheap above all")
    made = advisor.recommend("ada", size=9)
    assert {advisor.items[one.item].details["city"] for one in made.items} == {"Graz"}
    assert all(advisor.items[one.item].values["price"] < 100 for one in made.items)
    advisor.feedback(made.id, item=made.items[0].item, utility=0.5)
    assert advisor.preference("ada").feedbacks == 2


def test_scales_come_only_when_asked_for(advisor):
    """Until then rewards are straight over declared ranges, as they were: all prices are much the same."""
    assert all(not one.scale for one in advisor.fold.catalog.objectives)
    there = {"city": "Graz"}
    assert advisor.recommend("bob", where=there).items[0].item == "gate"
    catalog = replace(advisor.fold.catalog, items=tuple(advisor.items.values()))
    assert advisor.update(catalog, rescale=True)
    assert all(one.scale for one in advisor.fold.catalog.objectives)
    assert advisor.recommend("bob", where=there).items[0].item == "mill", "the cheapest: price was named first"


def test_nothing_is_lost_on_the_way(advisor, tmp_path):
    assert verify(advisor).agrees
    export_events(advisor.store, tmp_path / "journal.jsonl")
    with open_store("memory:") as copy:
        import_events(tmp_path / "journal.jsonl", copy)
        assert copy.read() == advisor.store.read()
    assert len(to_log(advisor.store)) == 5, "three places of ada's slate, one of bob's and of cyd's"
