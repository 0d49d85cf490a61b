"""Tables as newcomers bring them: what their names and cells say is neither lost nor guessed in silence."""

from dataclasses import replace

import pytest

from druthers.catalogs import Catalog
from druthers.data.catalog.building import build_catalog
from druthers.data.catalog.cells import read_cells
from druthers.limits import Columns, LimitReader

TOURS = """id,name,price_eur,rating,length_days,cable_cm,altitude_m,delivery_days,warranty_years,drive
a,Anna,100,4.1,3,90,800,2,1,40 min
b,Berta,200,3.9,5,120,1200,9,2,55 min
c,Cilli,150,4.5,8,200,400,14,3,75 min
d,Dora,180,4.4,12,150,1500,5,5,90 min
"""


def built(tmp_path, text):
    file = tmp_path / "shop.csv"
    file.write_text(text, "utf-8")
    return build_catalog(file)


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("a length of at most 5 days", {"length days": {"max": 5}}),
        ("cable at least 1 m", {"cable cm": {"min": 100}}),
        ("altitude below 1 km", {"altitude meters": {"max": 1000}}),
        ("delivered within a week", {"delivery": {"max": 7}}),
        ("delivery within 3 days", {"delivery": {"max": 3}}),
        ("warranty of at least 2 years", {"warranty": {"min": 2}}),
        ("a drive of at most an hour", {"drive minutes": {"max": 60}}),
    ],
)
def test_what_is_said_is_turned_into_the_unit_of_the_column(tmp_path, text, where):
    catalog = built(tmp_path, TOURS).catalog
    reader = LimitReader(Columns({item.id: item for item in catalog.items}), catalog.objectives, catalog.name)
    assert reader.read(text).where == where


def test_a_delivery_is_better_soon(tmp_path):
    ways = {one.name: one.less_is_better for one in built(tmp_path, TOURS).catalog.objectives}
    assert ways == {"price": True, "rating": False, "delivery": True, "warranty": False}


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("distanceToStation", "distance to station"),
        ("timeToCenterMin", "time to center"),
        ("opening_hours", "opening hours"),
        ("business hours", "business hours"),
        ("Größe", "größe"),
        ("Wohnfläche_m2", "wohnfläche"),
        ("hasWiFi", "wifi"),
        ("size_m", "size m"),
    ],
)
def test_names_keep_their_words_and_letters(tmp_path, header, name):
    cells = ["9-17", "8-12", "9-18"] if "hours" in header else "358"
    cells = ["yes", "no", "no"] if header in ("hasWiFi", "size_m") else cells
    rows = [f"{id},{id},{10 + place},{cell}" for place, (id, cell) in enumerate(zip("abc", cells, strict=True))]
    item = built(tmp_path, "\n".join([f"id,name,price,{header}", *rows])).catalog.items[0]
    assert [*item.values, *item.details] == ["price", name]


def test_an_earlier_catalog_keeps_what_it_calls_an_objective(tmp_path):
    text = "id,Lärm,preis\na,40,3\nb,50,4\n"
    made = built(tmp_path, text).catalog
    assert [one.name for one in made.objectives] == ["lärm", "preis"]
    objectives = [replace(made.objectives[0], name="larm", high=90.0), made.objectives[1]]
    items = [replace(item, values={"larm": 40.0}) for item in made.items]
    again = build_catalog(tmp_path / "shop.csv", like=Catalog("old", objectives, items)).catalog
    assert again.objectives == tuple(objectives)
    assert again.items[0].values == {"larm": 40.0, "preis": 3.0}


def test_a_description_is_no_list(tmp_path):
    told = ["Fast, light, fun", "Light, fun, fast", "Fun, fast", "Light, fast"]
    rows = [f'b{place},Bike {place},{90 + place},"{told[place % 4]}"' for place in range(24)]
    made = built(tmp_path, "\n".join(["id,name,price,description", *rows]))
    assert made.catalog.items[0].description == "Fast, light, fun"
    assert read_cells([f"{one}." for one in told] * 6).kind == "text"


def test_dates_in_several_forms(tmp_path):
    read = read_cells(["12.03.2015", "2019-07-01", "03/04/2020", "31.12.2018", "2011"])
    assert (read.kind, read.values) == ("date", ["2015-03-12", "2019-07-01", "2020-04-03", "2018-12-31", None])
    assert dict(read.odd) == {"2011": 1}
    assert read.doubts == ["3/4/2021 is taken for the third of April"]
    mixed = read_cells(["03/04/2020", "2020-05-01", "soon", "in May", "later"] * 5)
    assert (mixed.kind, mixed.values[0]) == ("text", "03/04/2020")
    assert mixed.doubts == ["10 cells are dates and the others are not: all are kept as texts"]


def test_lists_with_several_signs_between(tmp_path):
    read = read_cells(["WiFi; Bar", "Bar/WiFi", "bar, WiFi", "wifi"] * 3)
    assert read.kind == "list"
    assert read.values[:4] == [["WiFi", "Bar"], ["Bar", "WiFi"], ["Bar", "WiFi"], ["WiFi"]]
    assert read_cells(["24/7; WiFi", "WiFi", "24/7"] * 6).values[0] == ["24/7", "WiFi"]
    assert read_cells(["2026-05-01; 2026-06-01", "2026-05-01", "2026-06-01"] * 6).values[1] == ["2026-05-01"]


LODGES = """name,price,currency,cleaningFee,rating
Alm,120,EUR,20,4
Bar,95,USD,10,4.5
Bar,130,EUR,free,3.5
Dom,80,EUR,none,4.1
Fee,60,n/a,12,4.0
Eck,7000,HUF,1500,4.2
"""


def test_currencies_in_a_column_of_their_own_are_never_mixed(tmp_path):
    made = built(tmp_path, LODGES)
    assert [item.values.get("price") for item in made.catalog.items] == [120, None, 130, 80, 60, None]
    assert made.catalog.objectives[0].description == "Price in euros."
    for other in ("dollars", "forint"):
        assert any(doubt.startswith(f"price: 1 numbers are in '{other}' and most in 'euros'") for doubt in made.doubts)
    plain = built(tmp_path, LODGES.replace("USD", "EUR").replace("HUF", "EUR"))
    assert [item.values["price"] for item in plain.catalog.items] == [120, 95, 130, 80, 60, 7000]


def test_no_fee_is_a_fee_of_nothing(tmp_path):
    assert [item.values.get("cleaning fee") for item in built(tmp_path, LODGES).catalog.items] == [
        20,
        None,
        0,
        0,
        12,
        None,
    ]


def test_rows_that_are_called_the_same_are_told(tmp_path):
    made = built(tmp_path, LODGES)
    told = "name: 1 name stands in several rows, such as 'Bar' in lines 3, 4: each row is an item of its own"
    assert told in made.doubts


def test_of_two_lengths_that_in_meters_is_meant(tmp_path):
    catalog = built(tmp_path, "id,name,price,length_days,cableLengthCm\na,A,1,3,90\nb,B,2,5,120\nc,C,3,7,150\n").catalog
    reader = LimitReader(Columns({item.id: item for item in catalog.items}), catalog.objectives, catalog.name)
    assert reader.read("cable length at least 1 m").where == {"cable length cm": {"min": 100}}
