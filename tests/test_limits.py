"""Limits: in tables and in sentences, no item outside them is ever returned, and what fits nothing is said."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.errors import InvalidOffer, NothingFits, UnknownName
from druthers.limits import Columns, LimitReader, check_where, merge
from druthers.limits.stated import beside
from druthers.limits.where import MOST
from druthers.types import Objective

OBJECTIVES = [
    Objective("rent", low=200, high=6000, less_is_better=True, description="euros a month"),
    Objective("size", low=10, high=250, description="square meters"),
    Objective("commute", low=1, high=120, less_is_better=True, description="minutes to the center"),
]
FLATS = {
    one.id: one
    for one in [
        Item("a", values={"rent": 700, "size": 40, "commute": 30}, details={"district": "Neubau", "pets": "yes"}),
        Item("b", values={"rent": 1200, "size": 70}, details={"district": "Mitte", "pets": "no", "rooms": "3"}),
        Item("c", values={"rent": 1600, "commute": 10}, details={"district": "Old Town", "pets": "yes", "rooms": "4"}),
        Item("d", values={"rent": 900, "size": 55, "commute": 45}, details={"district": "Neubau", "rooms": "2"}),
    ]
}
COLUMNS = Columns(FLATS)
READER = LimitReader(COLUMNS, OBJECTIVES, "flats to rent")


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        ({}, "abcd"),
        ({"district": "neubau"}, "ad"),
        ({"district": ["Mitte", "Old Town"]}, "bc"),
        ({"district": {"not": "Neubau"}}, "bc"),
        ({"pets": True}, "ac"),
        ({"pets": {"not": True}}, "b"),  # what is not known breaks a limit
        ({"rent": {"max": 900}}, "ad"),
        ({"rent": {"min": 900, "max": 1200}}, "bd"),
        ({"rooms": {"min": 3}}, "bc"),
        ({"rooms": 3}, "b"),
        ({"size": {"max": 60}, "district": "Neubau", "rent": {"max": 800}}, "a"),
    ],
)
def test_tables_of_limits(where, ids):
    assert "".join(COLUMNS.eligible(check_where(where, COLUMNS.names))) == ids


@pytest.mark.parametrize(
    "where",
    [
        {"rent": {"max": "a lot"}}, {"rent": {"max": math.nan}}, {"rent": {}}, {"rent": {"most": 3}},
        {"rent": {"min": 3, "max": 2}}, {"rent": []}, {"rent": None}, {"rent": [[1]]}, "rent", {"rent": {"not": {}}},
    ],
)  # fmt: skip
def test_a_table_that_breaks_the_law_is_refused(where):
    with pytest.raises(InvalidOffer, match=r"but got"):
        check_where(where, COLUMNS.names)


@pytest.mark.parametrize(
    ("text", "where", "rest"),
    [
        ("In Neubau, under 1500 euros, and bright", {"district": "Neubau", "rent": {"max": 1500}}, "and bright"),
        ("for less than €1,500", {"rent": {"max": 1500}}, ""),
        ("I can spend 900 euros at most. Quiet!", {"rent": {"max": 900}}, "Quiet!"),
        ("my budget is 1.2k", {"rent": {"max": 1200}}, ""),
        ("between 700 and 900 euros", {"rent": {"min": 700, "max": 900}}, ""),
        ("at least 60 square meters, at most half the way", {"size": {"min": 60}}, "at most half the way"),
        ("no more than an hour to work", {"commute": {"max": 60}}, "to work"),
        ("at most 1 hour commute", {"commute": {"max": 60}}, ""),
        ("pets must be allowed", {"pets": True}, ""),
        ("without pets", {"pets": False}, ""),
        ("I do not need pets", {}, "I do not need pets"),
        ("not with a flat in Neubau", {"district": "Neubau"}, "not with a flat"),
        ("not in Neubau", {"district": {"not": "Neubau"}}, ""),
        ("Neubau or the old town", {"district": ["Neubau", "Old Town"]}, "or the"),
        ("with 3 rooms", {"rooms": {"min": 3}}, "with"),
        ("ideally in Neubau", {}, "ideally in Neubau"),
        ("höchstens 800 Euro", {"rent": {"max": 800}}, ""),
        ("menos de 800 euros", {"rent": {"max": 800}}, ""),
        ("moins de 800 euros", {"rent": {"max": 800}}, ""),
        ("meno di 800 euro", {"rent": {"max": 800}}, ""),
        ("no máximo 800 euros", {"rent": {"max": 800}}, ""),
        ("minder dan 800 euro", {"rent": {"max": 800}}, ""),
        ("cheap and bright", {}, "cheap and bright"),
        ("I was there 3 times in 2019", {}, "I was there 3 times in 2019"),
    ],
)  # fmt: skip
def test_limits_in_sentences(text, where, rest):
    read = READER.read(text)
    assert read.where == where
    assert " ".join(read.rest.replace(",", " ").split()).strip(" .") == rest.strip(" .")
    assert len(read.rest) == len(text)
    for one in read.stated:
        assert one.text in text


def test_limits_are_taken_back():
    assert READER.read("any district is fine").dropped == ("district",)
    assert READER.read("forget the rent limit").dropped == ("rent",)
    assert READER.read("rent limit off").dropped == READER.read("turn off the rent limit").dropped == ("rent",)
    assert set(READER.read("drop all the filters").dropped) == {"district", "pets", "rooms", "rent", "size", "commute"}
    assert READER.read("anywhere").dropped == ("district",)


def test_what_sounds_like_a_limit_and_fits_nothing_is_said():
    assert READER.read("at most 3 toilets").unmatched == ("at most 3",)


def test_a_name_that_nothing_has_is_refused():
    with pytest.raises(UnknownName, match="did you mean 'rent'"):
        check_where({"rents": 1}, COLUMNS.names)


def test_later_limits_count():
    assert merge({"rent": {"min": 500}}, {"rent": {"max": 400}}) == {"rent": {"max": 400}}
    assert merge({"rent": {"min": 300}}, {"rent": {"max": 400}}) == {"rent": {"min": 300, "max": 400}}
    assert merge({"district": "Mitte"}, {"district": {"not": "Neubau"}}) == {"district": {"not": "Neubau"}}


def test_where_nothing_is_left_it_says_what_to_relax():
    relaxed = COLUMNS.relax({"district": "Neubau", "rent": {"max": 600}})
    assert (relaxed[0].name, relaxed[0].limit, relaxed[0].items) == ("rent", {"max": 700.0}, 1)
    with Advisor(Catalog("flats", OBJECTIVES, FLATS.values()), parser="lexicon") as advisor:
        with pytest.raises(NothingFits, match=r"ask for 'rent' up to 700 \(1 left then\)") as refused:
            advisor.recommend("ada", where={"district": "Neubau", "rent": {"max": 600}})
        assert refused.value.relaxations[0].items == 1


def test_what_was_said_holds_and_a_table_counts_over_it():
    with Advisor(Catalog("flats", OBJECTIVES, FLATS.values()), parser="lexicon") as advisor:
        heard = advisor.hear("ada", "In Neubau, a short commute")
        assert [(one.name, one.limit, one.text) for one in heard.limits] == [("district", "Neubau", "In Neubau")]
        assert {one.item for one in advisor.recommend("ada", size=4).items} == {"a", "d"}
        assert [one.item for one in advisor.recommend("ada", where={"district": "Mitte"}, size=4).items] == ["b"]
        assert [one.item for one in advisor.recommend("ada", offer=["b", "c"], where={"pets": True}).items] == ["c"]
        advisor.hear("ada", "any district is fine")
        assert len(advisor.recommend("ada", size=4).items) == 4
        advisor.save()
        advisor.hear("ada", "at most 1000 euros")
        advisor.shrink(0)
        assert {one.item for one in advisor.recommend("ada", size=4).items} == {"a", "d"}


VALUES = st.one_of(st.booleans(), st.integers(0, 4), st.sampled_from(["red", "blue", "Yes", "3"]))
LIMITS = st.one_of(
    VALUES,
    st.lists(VALUES, min_size=1, max_size=3),
    st.builds(lambda values: {"not": values}, VALUES),
    st.builds(lambda low, more: {"min": low, "max": low + more}, st.integers(0, 4), st.integers(0, 3)),
    st.builds(lambda low: {"min": low}, st.integers(0, 4)),
)


def naive(fact, limit):
    """Tell whether one fact is within one limit, the slow way."""
    if fact is None:
        return False
    if isinstance(limit, dict) and "not" in limit:
        return not naive(fact, limit["not"])
    if isinstance(limit, list):
        return any(naive(fact, one) for one in limit)
    if isinstance(limit, dict):
        try:
            number = math.nan if isinstance(fact, bool) else float(fact)
        except ValueError:
            return False
        return limit.get("min", -math.inf) <= number <= limit.get("max", math.inf)
    words = {"yes": True, "no": False}
    plain = [words.get(str(one).lower(), one) if isinstance(one, str) else one for one in (fact, limit)]
    if isinstance(plain[0], bool) or isinstance(plain[1], bool):
        return plain[0] is plain[1]
    try:
        return float(plain[0]) == float(plain[1])
    except ValueError:
        return str(plain[0]).lower() == str(plain[1]).lower()


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.fixed_dictionaries({}, optional={"x": VALUES, "y": VALUES}), min_size=1, max_size=8),
    st.fixed_dictionaries({}, optional={"x": LIMITS, "y": LIMITS}),
)
def test_no_item_outside_its_limits_is_eligible(tables, where):
    items = {str(k): Item(str(k), details=table) for k, table in enumerate(tables)}
    expected = [id for id, item in items.items() if all(naive(item.details.get(k), v) for k, v in where.items())]
    assert Columns(items).eligible(where) == expected


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80))
def test_any_text_can_be_read(text):
    read = READER.read(text)
    assert len(read.rest) == len(text)
    check_where(read.where, [*COLUMNS.names])


def test_columns_hold_numbers_and_gaps():
    assert np.isnan(COLUMNS.numbers("size")).tolist() == [False, False, True, False]


def test_columns_of_a_changed_catalog_are_those_made_anew() -> None:
    draw = random.Random(5)
    facts = ["Vienna", "vienna", True, 1, 1.0, "1", None, ("pool", "bar"), ("bar",)]
    items: dict[str, Item] = {}
    columns = Columns(items)
    for step in range(300):
        if items and draw.random() < 0.1:
            del items[draw.choice(list(items))]
        else:
            id = f"i{draw.randrange(12)}"
            details = {name: fact for name in "abc" if (fact := draw.choice(facts)) is not None}
            items[id] = Item(id, values={"price": float(draw.randrange(4))} if step % 3 else {}, details=details)
        columns, fresh = Columns(dict(items), columns), Columns(dict(items))
        assert sorted(columns.names) == sorted(fresh.names)
        for name in fresh.names:
            mine, other = columns.column(name), fresh.column(name)
            assert mine.facts == other.facts
            assert mine.kinds == other.kinds
            assert np.array_equal(mine.numbers, other.numbers, equal_nan=True)
            for limit in ("Vienna", True, 1, ["bar", "vienna"], {"not": "bar"}, {"max": 2}):
                assert np.array_equal(mine.within(limit), other.within(limit))


FACT_NAMES = ("contains nuts", "dogs allowed", "year", "starts", "vegan", "contract months")
FACTS = {
    id: Item(id, values={"price": price}, details=dict(zip(FACT_NAMES, facts, strict=False)))
    for id, price, facts in [
        ("a", 10, ("yes", "no", 2012, "2026-07-06", "yes")),
        ("b", 20, ("no", "yes", 2016, "2026-07-20", "no")),
        ("c", 30, ("no", "no", 2019, "2026-05-04", "yes", 24)),
        ("d", 40, ("yes", "yes", 2021, "2026-08-03", "no", 0)),
    ]
}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("no nuts, I'm allergic", {"contains nuts": False}),
        ("it has to be nut-free", {"contains nuts": False}),
        ("I'm allergic to nuts", {"contains nuts": False}),
        ("dogs must be allowed", {"dogs allowed": True}),
        ("dogs have to be welcome", {"dogs allowed": True}),
        ("vegan only", {"vegan": True}),
        ("vegan dishes only, please", {"vegan": True}),
        ("Vegan, no nuts, and cheap", {"vegan": True, "contains nuts": False}),
        ("I don't need vegan", {}),
        ("vegan? not needed", {}),
        ("ideally vegan", {}),
        ("built in 2015 or later", {"year": {"min": 2015}}),
        ("newer than 2016, under 35 euros", {"year": {"min": 2017}, "price": {"max": 35}}),
        ("it has to start in July", {"starts": ["2026-07-06", "2026-07-20"]}),
        ("in July or August", {"starts": ["2026-07-06", "2026-07-20", "2026-08-03"]}),
        ("you may decide", {}),
        ("12 months of contract at most", {"contract months": {"max": 12}}),
    ],
)
def test_facts_are_limits_however_they_are_said(text, where):
    reader = LimitReader(Columns(FACTS), [Objective("price", low=0, high=100, less_is_better=True)], "things")
    assert reader.read(text).where == where


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("no more than fifteen hundred a month", {"rent": {"max": 1500}}),
        ("two grand a month at most", {"rent": {"max": 2000}}),
        ("not over 400 dolars", {"rent": {"max": 400}}),
        ("I only have nine hundred pounds", {"rent": {"max": 900}}),
        ("a commute of half an hour at most", {"commute": {"max": 30}}),
        ("- pets allowed\n- under 900 euros\n- balcony", {"pets": True, "rent": {"max": 900}}),
        ("1) 3 rooms\n2) max 1300 euros", {"rooms": {"min": 3}, "rent": {"max": 1300}}),
        ("if it's under 500 I don't care how far", {}),
        ("forty minutes I waited for them", {}),
    ],
)  # fmt: skip
def test_numbers_lists_and_conditions(text, where):
    assert READER.read(text).where == where


def test_what_need_not_be_there_is_not_asked_for_any_more():
    assert READER.read("it doesn't have to allow pets").dropped == ("pets",)
    assert READER.read("pets or not, I don't mind").dropped == ("pets",)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("my daughter is 14", {"minimum age": {"max": 14}}),
        ("the youngest has just turned nine", {"minimum age": {"max": 9}}),
        ("14 June or 15 June 2026", {"date": ["2026-06-14", "2026-06-15"]}),
        ("before June 14", {"date": {"max": "2026-06-13"}}),
        ("15 June at the earliest is when we can", {"date": {"min": "2026-06-15"}}),
        ("the first talk has to be free", {"first talk free": True}),
    ],
)
def test_ages_days_and_facts_of_several_words(text, where):
    details = [
        {"minimum age": 12, "date": "2026-06-13", "first talk free": "yes"},
        {"minimum age": 16, "date": "2026-06-14", "first talk free": "no"},
        {"minimum age": 6, "date": "2026-06-15", "first talk free": "no"},
    ]
    items = {str(k): Item(str(k), details=one) for k, one in enumerate(details)}
    assert LimitReader(Columns(items), [Objective("sound")], "concerts").read(text).where == where


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("I don't want a diesel", {"fuel": {"not": "diesel"}}),
        ("I don't want it to be diesel", {"fuel": {"not": "diesel"}}),
        ("a desk for under 300 a month", {"price": {"max": 300}}),
        ("at most 60 desks", {"desks": {"max": 60}}),
        ("less than 100 thousand kilometers", {"mileage": {"max": 100}}),
        ("under 90000 km", {"mileage": {"max": 90}}),
    ],
)
def test_what_is_not_wanted_and_what_numbers_are_about(text, where):
    items = {
        f"i{k}": Item(
            f"i{k}",
            values={"price": 100.0 + 90 * k, "mileage": 12.0 + 60 * k},
            details={"fuel": ("diesel", "petrol")[k % 2], "desks": 20 + 30 * k},
        )
        for k in range(4)
    }
    objectives = [
        Objective("price", "Euros a month.", low=0, high=2000, less_is_better=True),
        Objective("mileage", "Thousand kilometers driven.", low=0, high=500, less_is_better=True),
    ]
    assert LimitReader(Columns(items), objectives).read(text).where == where


CABINS = {
    f"k{k}": Item(
        f"k{k}",
        values={"price": 60.0 + 40 * k, "battery": 3.0 + k, "sunlight": 1.0 + k},
        details={
            "guests": 2 + k, "storage": 128 * 2**k, "built": 2014 + k, "floor": k, "area": 30 + 10 * k,
            "walls": ("pine", "brick", "clay")[k % 3], "village": ("Aldin", "Brevic", "Corra")[k % 3],
        },
    )
    for k in range(6)
}  # fmt: skip
CABIN_READER = LimitReader(
    Columns(CABINS),
    [
        Objective("price", low=0, high=400, less_is_better=True, description="euros a night"),
        Objective("battery", low=0, high=12, description="hours"),
        Objective("sunlight", low=0, high=10, description="how much daylight comes in"),
    ],
    "cabins",
)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("256 GB is what we need", {"storage": {"min": 256}}),
        ("512 GB is all I need", {"storage": {"min": 512}}),
        ("40 sqm is what we need", {"area": {"min": 40}}),
        ("512 GB to play with", {"storage": {"min": 512}}),
        ("150 is all we have", {"price": {"max": 150}}),
        ("150 euros is what I can pay", {"price": {"max": 150}}),
        ("150 euros is what I pay now", {}),
        ("we have 200 to spend", {"price": {"max": 200}}),
        ("it has to fit a budget of 150", {"price": {"max": 150}}),
        ("must fit under 200", {"price": {"max": 200}}),
        ("room for at least 4", {"guests": {"min": 4}}),
        ("sleeps 4 and more than 256 GB", {"guests": {"min": 4}, "storage": {"min": 256}}),
        ("anywhere but Brevic", {"village": {"not": "Brevic"}}),
        ("everywhere but Corra", {"village": {"not": "Corra"}}),
        ("I hate brick", {"walls": {"not": "brick"}}),
        ("we can't stand clay walls", {"walls": {"not": "clay"}}),
        ("not older than 2016", {"built": {"min": 2016}}),
        ("older than 2016", {"built": {"max": 2015}}),
        ("younger than 2016", {"built": {"min": 2017}}),
        ("not newer than 2016", {"built": {"max": 2016}}),
        ("8 hours", {}),
        ("at least 8 hours", {"battery": {"min": 8}}),
        ("20 minutes to the top floor", {}),
        ("I didn't ask for much: under 150 euros", {"price": {"max": 150}}),
        ("I didn't say Aldin, I said Corra", {"village": "Corra"}),
    ],
)
def test_limits_are_on_what_is_spoken_of_and_the_right_way_round(text, where):
    assert CABIN_READER.read(text).where == where


GYMS = {
    "mill": Item("mill", details={"city": "Graz", "amenities": ("pool", "parking")}),
    "barn": Item("barn", details={"city": "Vienna", "amenities": ("pool",)}),
    "loft": Item("loft", details={"city": "Linz", "amenities": ("gym", "pool", "sauna")}),
    "shed": Item("shed", details={"city": "Graz", "amenities": ("parking", "gym")}),
}


@pytest.mark.parametrize(
    ("texts", "limit", "ids"),
    [
        (["with a pool but without parking"], {"all": "pool", "not": "parking"}, "barn loft"),
        (["must have a pool", "without parking"], {"all": "pool", "not": "parking"}, "barn loft"),
        (["without parking", "with a pool"], {"all": "pool", "not": "parking"}, "barn loft"),
        (["with a pool and a gym"], {"all": ["pool", "gym"]}, "loft"),
        (["it must have a pool", "and a gym"], {"all": ["pool", "gym"]}, "loft"),
        (["with a gym or a pool"], {"any": ["gym", "pool"]}, "mill barn loft shed"),
        (["a gym, a pool or a sauna, no parking"], {"any": ["gym", "pool", "sauna"], "not": "parking"}, "barn loft"),
        (["with a gym or a sauna, and parking"], {"any": ["gym", "sauna"], "all": "parking"}, "shed"),
        (["places with pools and gyms"], {"any": ["pool", "gym"]}, "mill barn loft shed"),  # of each kind some
        (["no parking or sauna"], {"not": ["parking", "sauna"]}, "barn"),
        (["with parking or with a sauna"], {"any": ["parking", "sauna"]}, "mill loft shed"),
        (["a pool, or even a gym"], {"any": ["pool", "gym"]}, "mill barn loft shed"),
        (["pool/gym"], {"any": ["pool", "gym"]}, "mill barn loft shed"),
        (["neither a pool nor a sauna"], {"not": ["pool", "sauna"]}, "shed"),
        (["no sauna, a pool"], {"all": "pool", "not": "sauna"}, "mill barn"),
        (["with pools, saunas and parking"], {"any": ["pool", "sauna", "parking"]}, "mill barn loft shed"),
        (["with a pool", "with a pool or a gym"], {"any": ["pool", "gym"]}, "mill barn loft shed"),
        (["with a pool", "no pool"], {"not": "pool"}, "shed"),
        (["no pool", "with a pool after all"], {"all": "pool"}, "mill barn loft"),
    ],
)
def test_where_items_have_lists_all_that_is_wanted_and_denied_holds_together(texts, limit, ids):
    columns = Columns(GYMS)
    reader, where = LimitReader(columns, []), {}
    for text in texts:
        where = merge(where, reader.read(text).where)
    assert where == check_where({"amenities": limit}, columns.names)
    assert columns.eligible(where) == ids.split()


def test_of_several_things_that_must_be_there_one_is_given_up_at_a_time():
    columns = Columns(GYMS)
    relaxed = columns.relax({"amenities": {"all": ["pool", "gym"], "not": "sauna"}})
    assert [(one.limit, one.items) for one in relaxed] == [
        ({"all": "gym", "not": "sauna"}, 1),
        ({"all": ["pool", "gym"]}, 1),
        ({"all": "pool", "not": "sauna"}, 2),
    ]


BIKES = {
    "volt": Item("volt", details={"kind": "electric bike", "city": "Graz"}),
    "hauler": Item("hauler", details={"kind": "cargo bike", "city": "Linz"}),
    "swift": Item("swift", details={"kind": "city bike", "city": "Linz"}),
    "scoot": Item("scoot", details={"kind": "kick scooter", "city": "Graz"}),
    "chair": Item("chair", details={"kind": "sit-on mower", "city": "Graz"}),
    "push": Item("push", details={"kind": "walk-behind mower", "city": "Graz"}),
}


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("electric, please", {"kind": "electric bike"}),
        ("a cargo one", {"kind": "cargo bike"}),
        ("no electric ones", {"kind": {"not": "electric bike"}}),
        ("an electric bike in Graz", {"kind": "electric bike", "city": "Graz"}),
        ("somewhere in the city", {}),
        ("I walk to work and sit all day", {}),
        ("a kick, please", {}),  # a scooter is no bike
        ("not too electric", {}),
        ("for cargo of all kinds", {}),
    ],
)
def test_what_tells_one_kind_from_the_others_stands_for_it(text, where):
    assert LimitReader(Columns(BIKES), [], "bikes to ride").read(text).where == where


def test_what_is_not_needed_any_more_is_no_limit_and_no_wish():
    read = LimitReader(Columns(BIKES), [], "bikes to ride").read("I don't need a cargo bike any more, electric instead")
    assert read.where == {"kind": "electric bike"}
    assert [(one.name, one.limit) for one in read.freed] == [("kind", "cargo bike")]
    assert read.rest.split() == ["any", "more,", "instead"]


@pytest.mark.parametrize(
    ("known", "text", "left"),
    [
        ({"all": "pool"}, "I don't need parking", {"all": "pool"}),
        ({"all": ["pool", "gym"], "not": "parking"}, "I don't need a gym any more", {"all": "pool", "not": "parking"}),
        ({"all": "pool"}, "no need for a pool", None),
        ({"all": "pool"}, "actually, a gym", {"all": "gym"}),
        ({"all": "pool", "not": "parking"}, "no, a gym", {"all": "gym", "not": "parking"}),
        ({"all": "pool"}, "and a gym", {"all": ["pool", "gym"]}),
    ],
)
def test_only_what_is_spoken_of_is_taken_out_of_the_limits_in_force(known, text, left):
    read = beside(LimitReader(Columns(GYMS), []).read(text), {"amenities": known, "city": "Graz"})
    kept = {name: limit for name, limit in {"amenities": known, "city": "Graz"}.items() if name not in read.dropped}
    assert merge(kept, read.where) == {"city": "Graz"} | ({} if left is None else {"amenities": left})


def test_a_long_chain_of_alternatives_is_read_in_no_time():
    items = {str(k): Item(str(k), details={"codes": (f"qx{k}z", "none")}) for k in range(240)}
    reader = LimitReader(Columns(items), [])
    read = reader.read(" or ".join(f"qx{k}z" for k in range(240))[:2000])
    assert len(read.where["codes"]["any"]) == MOST
