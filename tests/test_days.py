"""Limits on days: spans of time that people name, held against columns of days."""

from datetime import date, timedelta

import pytest

import druthers as dr
from druthers.catalogs import Item
from druthers.errors import InvalidOffer, NothingFits
from druthers.limits import Columns, LimitReader, check_where
from druthers.limits.where import merge, widened

FLATS = {
    str(n): Item(str(n), values={"rent": 500.0 + n % 37}, details={"free from": str(date(2026, 1, 1) + timedelta(n))})
    for n in range(300)
}
READER = LimitReader(Columns(FLATS), [])
WINTER = LimitReader(
    Columns({str(n): Item(str(n), details={"opens": f"{day}"}) for n, day in enumerate(["2026-11-20", "2027-02-01"])}),
    [],
)
FILMS = LimitReader(
    Columns({str(year): Item(str(year), details={"released": f"{year}-06-15"}) for year in range(2015, 2027)}), []
)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("free before october", None, "2026-09-30"),
        ("by the end of May", None, "2026-05-31"),
        ("by 20 November 2026 at the latest", None, "2026-11-20"),
        ("not after May 15", None, "2026-05-15"),
        ("until 2026-05-01", None, "2026-05-01"),
        ("it must be free on 1 June", None, "2026-06-01"),
        ("avant le 15 juin", None, "2026-06-14"),
        ("antes de junio", None, "2026-05-31"),
        ("not before 1 March", "2026-03-01", None),
        ("nothing that came free before February", "2026-02-01", None),
        ("it must be good until at least the end of June", "2026-06-30", None),
        ("I need it from 1 jun on", "2026-06-01", None),
        ("ab Mitte Juni", "2026-06-11", None),
        ("after Feb 10th", "2026-02-11", None),
        ("between March and May", "2026-03-01", "2026-05-31"),
        ("between 10 and 20 June", "2026-06-10", "2026-06-20"),
        ("1-15 May", "2026-05-01", "2026-05-15"),
        ("June 10-20", "2026-06-10", "2026-06-20"),
        ("from the 3rd of May to the 4th of July", "2026-05-03", "2026-07-04"),
        ("vom 1.5. bis zum 15.5.", "2026-05-01", "2026-05-15"),
        ("zwischen dem 1. Mai und dem 15. Juni", "2026-05-01", "2026-06-15"),
    ],
)
def test_spans_of_time_are_bounds(text, low, high):
    expected = {bound: day for bound, day in (("min", low), ("max", high)) if day}
    assert READER.read(text).where == {"free from": expected}


BOATS = LimitReader(
    Columns(
        {
            str(n): Item(
                str(n), details={"departs": f"{6 + n:02}:15", "sails on": ("Thu, Sat", "Fri, Sat", "Thu")[n % 3]}
            )
            for n in range(16)
        }
    ),
    [],
)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("not before 6 in the evening", {"departs": {"min": "18:00"}}),
        ("it should leave between 8 am and 2 pm", {"departs": {"min": "08:00", "max": "14:00"}}),
        ("before noon", {"departs": {"max": "11:59"}}),
        ("by 9:30 at the latest", {"departs": {"max": "09:30"}}),
        ("nichts vor 8 Uhr", {"departs": {"min": "08:00"}}),
        ("it has to be a Saturday", {"sails on": {"all": "Sat"}}),
        ("I have 3 children", {}),
    ],
)
def test_times_of_the_day_are_bounds(text, where):
    assert BOATS.read(text).where == where


def test_open_until_is_when_it_closes():
    hours = {"a": Item("a", details={"opens": "07:00", "closes": "16:00"})}
    hours["b"] = Item("b", details={"opens": "09:00", "closes": "18:30"})
    reader = LimitReader(Columns(hours), [])
    assert reader.read("it has to be open by 8 am").where == {"opens": {"max": "08:00"}}
    assert reader.read("open until 17:00").where == {"closes": {"min": "17:00"}}
    assert Columns(hours).eligible({"closes": {"min": "17:00"}}) == ["b"]
    assert Columns(hours).relax({"closes": {"min": "20:00"}})[0].limit == {"min": "18:30"}


def test_a_month_without_a_year_is_in_the_year_that_the_items_are_in():
    assert WINTER.read("opens by January").where == {"opens": {"max": "2027-01-31"}}
    assert WINTER.read("between December and February").where == {"opens": {"min": "2026-12-01", "max": "2027-02-28"}}
    assert FILMS.read("released after May").where == {"released": {"min": "2026-06-01"}}  # of many years the last


def test_a_month_of_many_years_is_a_limit_that_is_allowed():
    days = [str(date(2020, 1, 1) + timedelta(n)) for n in range(2000)]
    items = {day: Item(day, details={"shot": day}) for day in days}
    where = LimitReader(Columns(items), []).read("shot in July").where
    assert check_where(where, ["shot"]) == where
    assert Columns(items).eligible(where)


def test_an_aside_is_only_hoped_for_and_a_price_is_no_year():
    assert READER.read("ideally before June").where == {}
    assert READER.read("up to 2000").where == {"rent": {"max": 2000}}


def test_days_are_bounds_of_what_callers_ask_for_too():
    columns = Columns(FLATS)
    assert columns.eligible({"free from": {"min": "2026-01-03", "max": "2026-01-05"}}) == ["2", "3", "4"]
    lists = {"a": Item("a", details={"dates": ["2026-01-01", "2026-08-01"]}), "b": Item("b", details={"dates": "soon"})}
    assert Columns(lists).eligible({"dates": {"min": "2026-07-01"}}) == ["a"]
    assert columns.relax({"free from": {"max": "2025-12-01"}})[0].limit == {"max": "2026-01-01"}
    with pytest.raises(InvalidOffer, match="numbers, days"):
        check_where({"free from": {"max": "soon"}}, ["free from"])
    with pytest.raises(InvalidOffer, match="numbers, days"):
        check_where({"free from": {"min": 3, "max": "2026-01-01"}}, ["free from"])
    with pytest.raises(NothingFits, match="min up to max"):
        check_where({"free from": {"min": "2026-02-01", "max": "2026-01-01"}}, ["free from"])


def test_what_was_said_of_days_holds_for_items_that_come_later(tmp_path):
    rent = dr.Objective("rent", low=0, high=1000, less_is_better=True)
    catalog = dr.Catalog("flats", [rent], list(FLATS.values()))
    where = f"sqlite:{tmp_path / 'flats.db'}"
    with dr.Advisor(catalog, store=where) as advisor:
        advisor.hear("ada", "free by 10 January")
        advisor.hear("ada", "and not before 5 January")
        advisor.put_item(Item("new", values={"rent": 100.0}, details={"free from": "2026-01-08"}))
        assert advisor.recommend("ada").items[0].item == "new"
    with dr.Advisor(store=where) as advisor:
        told = advisor.preference("ada").limits
        assert told == {"free from": {"min": "2026-01-05", "max": "2026-01-10"}}
        assert {one.item for one in advisor.recommend("ada", size=7).items} == {"4", "5", "6", "7", "8", "9", "new"}


HOTELS = LimitReader(
    Columns(
        {
            str(n): Item(str(n), values={"price": 8.0 + n}, details={"check in": f"{12 + n}:00", "stars": 2 + n})
            for n in range(4)
        }
    ),
    [dr.Objective("price", "Euros.", low=0, high=100, less_is_better=True)],
)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("between 9 and 11 euros", {"price": {"min": 9, "max": 11}}),
        ("from 2 to 4 stars", {"stars": {"min": 2, "max": 4}}),
        ("up to 12.50 euros", {"price": {"max": 12.5}}),
        ("check in between 1 and 3 pm", {"check in": {"min": "13:00", "max": "15:00"}}),
        ("check in by 12.30 pm", {"check in": {"max": "12:30"}}),
        ("between 22:00 and 06:00", {}),
        ("before 0:00", {}),
        ("I work until 17:00", {}),
        ("I may arrive late, around 11 pm", {}),
    ],
)
def test_numbers_are_no_times_unless_they_are_told_to_be(text, where):
    assert HOTELS.read(text).where == where


@pytest.mark.parametrize(
    ("days", "text", "where"),
    [
        (["2024-11-01", "2026-02-01", "2026-06-01"], "out by December", {"max": "2026-12-31"}),
        (["0000-00-00", "2026-03-01", "2026-05-01"], "out by June", {"max": "2026-06-30"}),
        (["2026-01-01", "9999-12-31"], "out after 31 December", {"min": "2027-01-01"}),
    ],
)
def test_old_and_odd_days_do_not_move_the_year(days, text, where):
    items = {str(n): Item(str(n), details={"out": day}) for n, day in enumerate(days)}
    assert LimitReader(Columns(items), []).read(text).where == {"out": where}


@pytest.mark.parametrize("text", ["by 2026-13-01", "after 2026-00-10", "between 2026-02-30 and 2026-13-40"])
def test_what_is_no_day_breaks_nothing(text):
    where = READER.read(text).where
    assert check_where(where, ["free from", "rent"]) == where


def test_hours_of_what_is_open():
    items = {"a": Item("a", details={"opens": "07:00", "closes": "23:00"})}
    reader = LimitReader(Columns(items), [])
    assert reader.read("open from 8 am to 10 pm").where == {"opens": {"max": "08:00"}, "closes": {"min": "22:00"}}
    assert reader.read("closes after 10 pm").where == {"closes": {"min": "22:01"}}


def test_bounds_of_different_kinds_do_not_join():
    assert merge({"d": {"min": "09:00"}}, {"d": {"max": "2026-01-01"}}) == {"d": {"max": "2026-01-01"}}
    assert widened({"max": "2026-01-01"}, "March") == {"max": "2026-01-01"}
    assert widened({"max": "2026-01-01"}, {"max": "2026-04-01"}) == {"max": "2026-04-01"}
    assert widened(["2026-01-01"], {"max": "2026-04-01"}) == {"max": "2026-04-01"}


SHOPS = LimitReader(
    Columns(
        {
            str(n): Item(str(n), details={"opens": opens, "closes": closes, "starts": starts})
            for n, (opens, closes, starts) in enumerate([(6.5, 16, 17), (8, 18, 18.5), (9, 20, 20)])
        }
    ),
    [],
)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("I work till late so they'd have to be open until at least 7 in the evening", {"closes": {"min": 19}}),
        ("open till 7pm at least", {"closes": {"min": 19}}),
        ("open until seven", {"closes": {"min": 19}}),
        ("I start work at half past seven, so you'd have to be open by 7", {"opens": {"max": 7}}),
        ("I can't make it before half past six", {"starts": {"min": 18.5}}),
        ("it can't start before seven in the evening, I'm at work until then", {"starts": {"min": 19}}),
        ("quarter to eight at the latest", {"starts": {"max": 19.75}}),
        ("open from 8 to 6", {"opens": {"max": 8}, "closes": {"min": 18}}),
        ("I finish work at 5", {}),
    ],
)
def test_numbers_are_hours_where_a_column_is_called_like_a_clock(text, where):
    assert SHOPS.read(text).where == where
