"""Tables as newcomers bring them: what their names and cells say is neither lost nor guessed in silence."""

import json
from dataclasses import replace
from itertools import permutations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from druthers.catalogs import Catalog
from druthers.cli import app
from druthers.data.catalog.building import build_catalog
from druthers.data.catalog.cells import read_cells
from druthers.data.catalog.roles import Asked
from druthers.data.catalog.units import Hints, decimal_mark
from druthers.errors import InvalidSetting
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


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("shop.jsonl", '{"name": "A", "price": %s, "stars": 1}\n' % ("9" * 400)),
        ("shop.jsonl", '{"name": "A", "price": 1e300, "stars": 1}\n'),
        ("shop.jsonl", '{"name": "A", "price": "1e400", "stars": 1}\n'),
        ("shop.jsonl", '{"name": "A", "price": "1e%s", "stars": 1}\n' % ("9" * 5000)),
        ("shop.csv", "name,price,stars\nA,1e400,1\n"),
        ("shop.csv", f"name,price,stars\nA,{'9' * 400},1\n"),
    ],
)
def test_a_number_beyond_all_prices_is_told_and_not_known(tmp_path, file, text):
    more = [(name, price) for price, name in enumerate("BCDEFGHIJKLMN", 5)]
    lines = [f'{{"name": "{name}", "price": {price}, "stars": {price % 5 + 1}}}' for name, price in more]
    rows = [f"{name},{price},{price % 5 + 1}" for name, price in more]
    (tmp_path / file).write_text(text + "\n".join(lines if file.endswith("jsonl") else rows), "utf-8")
    told = build_catalog(tmp_path / file)
    assert [dict(item.values) for item in told.catalog.items[:2]] == [{"stars": 1}, {"price": 5, "stars": 1}]
    assert [doubt for doubt in told.doubts if "1 number is beyond 1e+15 and taken for not known" in doubt]


def built_with(tmp_path, header, *cells):
    rows = (f"i{place},{10 + place},{1 + place % 5},{cell}" for place, cell in enumerate(cells))
    return built(tmp_path, f"id,price,rating,{header}\n" + "\n".join(rows))


def last_of(made, header):
    """Return the last detail of the items, and what was guessed of its column."""
    guess = next(line for line in made.guesses if f" {header}" in line)
    return made.catalog.items[-1].details.get(header), " ".join(guess.split())


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("account", [str(1357924680135792468 + k) for k in range(20)]),
        ("account", [f"{10**20 + k}" for k in range(18)] + ["7", "8"]),
        ("seen", [f"2021-13-{40 + k}" for k in range(20)]),
        ("zip", [f"0{1067 + k}" for k in range(20)]),
        ("zip", ["01067"] + [f"{80331 + k}" for k in range(19)]),
        ("article", ["0017", "123456", "0018"] * 5),
    ],
)
def test_numbers_that_are_codes_are_kept_as_they_stand(tmp_path, header, cells):
    """Those of accounts are beyond all amounts, those of places and parts begin with 0, and no day is the 45th."""
    made = built_with(tmp_path, header, *cells)
    detail, guess = last_of(made, header)
    assert detail == cells[-1]
    assert guess.startswith(f"detail {header}: texts of ")


def test_numbers_that_are_amounts_are_no_codes(tmp_path):
    """A price may be written with a 0 before it, and one cell among others is a slip."""
    made = built(tmp_path, "id,price,rooms\n" + "".join(f"i{k},0{k + 1},{k + 1}\n" for k in range(9)))
    assert made.catalog.item("i3").values["price"] == 4
    assert made.catalog.item("i3").details["rooms"] == 4
    assert last_of(built_with(tmp_path, "rooms", *"12345678", "10", "08"), "rooms")[0] == 8
    assert last_of(built_with(tmp_path, "part", *["0.5", "0"] * 9), "part")[0] == 0


def test_a_detail_that_is_asked_for_may_be_known_nowhere(tmp_path):
    (tmp_path / "shop.csv").write_text("id,price,rating,fee\na,1,2,1e20\nb,2,3,1e21\n")
    made = build_catalog(tmp_path / "shop.csv", Asked(details=("fee",)))
    assert "detail         fee: nowhere known" in made.guesses


@pytest.mark.parametrize(
    ("header", "cells"),
    [
        ("phone", [f"+49 89 {k}234567" for k in range(20)]),
        ("minimum", [f"${k}k" for k in range(20)]),
        ("lasts", [f"{k}:15" for k in range(20)]),
        ("hash", [f"{k:02}f4a91b2c{k:02}" for k in range(20)]),
        ("class", ["★" * k + "!" for k in range(20)]),
    ],
)
def test_figures_units_and_signs_are_no_names(tmp_path, header, cells):
    made = built_with(tmp_path, header, *cells)
    assert [item.name for item in made.catalog.items] == [item.id for item in made.catalog.items]
    assert "name           the id" in made.guesses
    assert last_of(made, header)[0] == cells[-1]


def test_words_with_figures_in_them_are_names(tmp_path):
    cells = [f"{word} {k}" for k in range(5) for word in ("Route", "Inn", "Bar", "Canon EOS")]
    assert [item.name for item in built_with(tmp_path, "called", *cells).catalog.items] == cells


def test_a_column_of_a_parquet_file_that_is_no_text_is_told(tmp_path):
    table = pa.table(
        {
            "id": ["a", "b", "c"],
            "price": [1, 2, 3],
            "called": [b"Anna", b"Berta", b"Cilli"],
            "image": [b"\x00\xff", b"\x89PNG", b"\xff\xd8"],
        }
    )
    pq.write_table(table, tmp_path / "shop.parquet")
    made = build_catalog(tmp_path / "shop.parquet")
    assert [item.name for item in made.catalog.items] == ["Anna", "Berta", "Cilli"]
    assert "left out       image: empty" in made.guesses
    assert "image: bytes that are no text are taken for not known" in made.doubts


def test_lengths_of_time_with_colons_are_numbers_where_a_name_says_so(tmp_path):
    made = built_with(tmp_path, "duration", *(f"{1 + k % 4}:{k:02}" for k in range(20)))
    assert made.catalog.items[1].values["duration"] == 121
    assert made.doubts == ("duration: '1:00' is taken for hours and minutes; if it is not, write it with a unit",)
    made = built_with(tmp_path, "duration_h", *(f"0:{k:02}:30" for k in range(20)))
    assert made.catalog.items[3].values["duration"] == pytest.approx(3.5 / 60)
    assert made.doubts == ()
    made = built_with(tmp_path, "lasts", *["2 h 15 min", "1h05", "45 min", "3 Std. 1 min"] * 5)
    assert [item.details["lasts minutes"] for item in made.catalog.items[:4]] == [135, 65, 45, 181]
    assert last_of(built_with(tmp_path, "departure", *["8:30", "9:45"] * 9), "departure")[0] == "9:45"


def test_stars_are_counted(tmp_path):
    made = built_with(tmp_path, "stars", *["[★★★]", "★★½", "⭐️⭐️⭐️⭐️⭐️", "★"] * 5)
    assert [item.values["stars"] for item in made.catalog.items[:4]] == [3, 2.5, 5, 1]
    made = built_with(tmp_path, "stars", *["★★☆☆☆", "★★★★★", "★★½☆☆"] * 5)
    assert [item.values["stars"] for item in made.catalog.items[:3]] == [2, 5, 2.5]
    assert made.catalog.objectives[-1].high == 5


def test_what_is_called_a_number_and_holds_none_is_doubted(tmp_path):
    made = built_with(tmp_path, "delay", *(f"#{k}#{k}#" for k in range(20)))
    doubt = "delay: called like a number, but texts such as '#0#0#' are read as none; write figures, with a unit"
    assert doubt in made.doubts
    assert built_with(tmp_path, "location", *["Berlin", "Bonn"] * 9).doubts == ()
    made = built_with(tmp_path, "fee", *["#REF!", "#DIV/0!", "3", "4"] * 5)
    assert [item.values.get("fee") for item in made.catalog.items[:4]] == [None, None, 3, 4]


@pytest.mark.parametrize("second", ["Price", "PRICE", "price"])
@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_columns_that_differ_by_capitals_alone_have_names_of_their_own(tmp_path, form, second):
    rows = [(f"i{k}", k, 10 - k) for k in range(5)]
    if form == "csv":
        text = f"id,price,{second}\n" + "\n".join(",".join(map(str, row)) for row in rows)
    elif second != "price":
        text = "\n".join(json.dumps(dict(zip(("id", "price", second), row, strict=True))) for row in rows)
    else:
        return
    file = tmp_path / f"shop.{form}"
    file.write_text(text)
    made = build_catalog(file)
    assert [one.name for one in made.catalog.objectives] == ["price", "price 3"]
    assert f"{second!r} stands above two columns: the second one is called {second + ' 3'!r}" in made.doubts
    assert build_catalog(file, like=made.catalog).catalog.objectives == made.catalog.objectives


def test_markup_is_no_list_and_one_kind_is_one(tmp_path):
    made = built_with(tmp_path, "html", *["<div>ok</div>"] * 20)
    assert "left out       html: the same everywhere" in made.guesses
    made = built_with(tmp_path, "html", *["<b>ok</b>", "<b>no</b>"] * 10)
    assert last_of(made, "html") == ("<b>no</b>", "detail html: texts of 2 kinds (<b>ok</b>, <b>no</b>)")
    made = built_with(tmp_path, "offers", *["wifi; pool"] * 20)
    assert "left out       offers: the same everywhere" in made.guesses
    assert last_of(built_with(tmp_path, "city", *["Bonn"] * 19, ""), "city")[1].startswith(
        "detail city: texts of 1 kind ("
    )


def test_an_earlier_catalog_says_that_it_asks_for_a_column(tmp_path):
    earlier = built(tmp_path, "id,name,rent,size\na,A,5,1\nb,B,7,3\n").catalog
    (tmp_path / "later.csv").write_text("id,name,size,cost\na,A,5,1\nb,B,7,3\n")
    with pytest.raises(InvalidSetting) as refused:
        build_catalog(tmp_path / "later.csv", like=earlier)
    assert str(refused.value) == (
        "a table must have the objectives of the earlier catalog (--like), but later.csv has no column 'rent';"
        " known: id, name, size, cost; add it, or say what matters now: --objectives"
    )


def test_a_column_of_gaps_is_not_called_the_same_everywhere(tmp_path):
    told = built(tmp_path, "name,price,stars\nA,1e300,4\nB,-1e300,3\nC,5,5\n")
    assert [" ".join(line.split()) for line in told.guesses][-1] == "left out price: the same wherever it is known"
    with pytest.raises(InvalidSetting, match="'price' is nowhere known; add a column of numbers that differ"):
        built(tmp_path, "name,price\nA,1e300\nB,1e301\n")
    with pytest.raises(InvalidSetting, match="'price' is the same everywhere; add a column of numbers that differ"):
        built(tmp_path, "name,price\nA,5\n")


def test_halves_of_characters_do_not_stop_a_catalog_from_being_written(tmp_path):
    """JSON may hold them, and no file or journal can."""
    rows = ['{"name": "A\\ud800", "price": 1, "f\\udc00": "x\\ud83d"}', '{"name": "B", "price": 3, "f\\udc00": "y"}']
    (tmp_path / "shop.jsonl").write_text("\n".join(rows), "utf-8")
    catalog = build_catalog(tmp_path / "shop.jsonl").catalog
    catalog.save(tmp_path / "shop.toml")
    assert [(item.name, dict(item.details)) for item in catalog.items] == [("A?", {"f": "x?"}), ("B", {"f": "y"})]
    assert Catalog.load(tmp_path / "shop.toml") == catalog


@pytest.mark.parametrize("end", ["\u2028", "\x85"])
def test_an_end_of_line_in_a_text_of_json_is_none_of_the_file(tmp_path, end):
    rows = [f'{{"name": "A", "about": "one{end}two", "price": 1}}', '{"name": "B", "price": 3}']
    (tmp_path / "shop.jsonl").write_text("\r".join(rows), "utf-8", newline="")
    assert [item.name for item in build_catalog(tmp_path / "shop.jsonl").catalog.items] == ["A", "B"]


def test_an_objective_is_not_a_cost_and_a_gain(tmp_path):
    (tmp_path / "shop.csv").write_text("name,price\nA,1\nB,2\n", "utf-8")
    asked = Asked(objectives=(("price", "cost"), ("price", "gain")))
    with pytest.raises(InvalidSetting, match="an objective must be a cost or a gain, but 'price' is named as both"):
        build_catalog(tmp_path / "shop.csv", asked)


ODD = {
    "a b": "Blank",
    "a-b": "Dash",
    "отель": "One",
    "дом": "Two",
    "旅館-1": "Three",
    "x" * 250: "Four",
    "x" * 249 + "y": "Five",
    "-c-": "Six",
}


def of_rows(tmp_path, names, header="id,name"):
    rows = [f"{id},{name},{place + 3}" for place, (id, name) in enumerate(names)]
    return built(tmp_path, "\n".join([f"{header},price", *rows]))


def test_an_id_does_not_depend_on_the_order_of_rows_nor_on_other_rows(tmp_path):
    made = of_rows(tmp_path, ODD.items())
    ids = {item.name: item.id for item in made.catalog.items}
    assert ids["Dash"] == "a-b"
    assert ids["Blank"].startswith("a-b-")
    assert len({id.casefold() for id in ids.values()}) == len(ODD)
    assert max(map(len, ids.values())) == 200
    for some in permutations(ODD.items(), 3):
        assert {item.name: item.id for item in of_rows(tmp_path, some).catalog.items}.items() <= ids.items()
    again = of_rows(tmp_path, [(id, name) for name, id in ids.items()])
    assert {item.name: item.id for item in again.catalog.items} == ids
    assert not [doubt for doubt in again.doubts if "changed" in doubt]


def test_all_ids_that_are_changed_are_counted(tmp_path):
    made = of_rows(tmp_path, ODD.items())
    (doubt,) = [doubt for doubt in made.doubts if "changed" in doubt]
    one, two, three = (made.catalog.ids[place] for place in (0, 2, 3))
    assert doubt == (
        f"7 ids are changed: 'a b' is now '{one}', 'отель' is now '{two}', 'дом' is now '{three}', ...; ids begin with"
        " a letter or figure of ASCII and hold these and ._:@+~=- only, 200 signs at most"
    )
    (cut,) = [doubt for doubt in of_rows(tmp_path, [("x" * 250, "A"), ("b", "B")]).doubts if "changed" in doubt]
    assert cut.startswith(f"1 id is changed: '{'x' * 40}...' is now '{'x' * 40}...'; ids begin with")


def test_names_that_serve_as_ids_give_the_same_ones_in_any_order(tmp_path):
    names = ["Grand Hotel", "Grand-Hotel", "Hôtel", "旅館", "宿", "Bar", "Bar-2"]
    ids = {item.name: item.id for item in of_rows(tmp_path, [(n, "t") for n in names], "name,kind").catalog.items}
    back = of_rows(tmp_path, [(n, "t") for n in reversed(names)], "name,kind").catalog
    assert {item.name: item.id for item in back.items} == ids
    assert ids["Bar-2"] == "Bar-2"
    twice = of_rows(tmp_path, [("Bar", "t"), ("Bar", "t"), ("Bar-2", "t")], "name,kind").catalog
    assert twice.ids == ("Bar", "Bar-3", "Bar-2")


def test_an_accent_that_is_written_in_two_ways_is_one(tmp_path):
    made = of_rows(tmp_path, [("Zo\u00eb", "A"), ("Zoe\u0308", "B"), ("Zoe", "C")])
    assert len(made.catalog.items) == 2
    assert any("in several rows" in doubt for doubt in made.doubts)


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["3 days", "5 days", "48 h", "1 week", "1 day", "2 weeks"], [3, 5, 2, 7, 1, 14]),
        (["24 h", "48 hours", "36 h", "2 days", "30 min", "1 hr"], [24, 48, 36, 48, 0.5, 1]),
        (["1 year", "2 years", "18 months", "6 mo"], [1, 2, 1.5, 0.5]),
        (["90 min", "90 s", "1 Stunde", "2 Tage", "1 minute"], [90, 1.5, 60, 2880, 1]),
        (["1day", "2days", "48hours", "3weeks"], [1, 2, 2, 21]),
        (["2 kg", "1 kg", "500 g", "3 oz", "1 lb", "2 pounds", "1 t", "300 mg"], None),
        (["12 oz", "8 ounces", "1 pound", "2 lbs"], [12, 8, 16, 32]),
        (["2 km", "3 km", "500 m", "1 mi", "2000 ft", "5 miles"], None),
        (["90 cm", "1.2 m", "800 mm", "12 in", '24"', "3 ft", "120 cm"], [90, 120, 80, 30.48, 60.96, 91.44, 120]),
        (["1 l", "75 cl", "500 ml", "2 liters", "1 m³", "1 gal"], [1, 0.75, 0.5, 2, 1000, 3.785411784]),
        (["512 GB", "256 GB", "1 TB", "500 MB", "2 terabytes"], [512, 256, 1000, 0.5, 2000]),
        (["16 GB RAM", "8 GB", "1 TB SSD"], [16, 8, 1000]),
        (["5 min walk", "10 min", "1 h drive"], [5, 10, 60]),
        (["100 m²", "80 sqm", "60 qm", "1 ha"], [100, 80, 60, 10000]),
        (["100 Mbit/s", "1 Gbit/s", "50 Mbps"], [100, 1000, 50]),
    ],
)
def test_units_of_one_kind_are_turned_into_the_usual_one(cells, values):
    read = read_cells(cells)
    assert (read.kind, read.doubts, dict(read.odd)) == ("number", [], {})
    expected = (
        values
        or {
            "kg": [2, 1, 0.5, 0.085048569375, 0.45359237, 0.90718474, 1000, 0.0003],
            "km": [2, 3, 0.5, 1.609344, 0.6096, 8.04672],
        }[read.unit]
    )
    assert read.values == pytest.approx(expected, rel=1e-11)


@pytest.mark.parametrize(
    ("cells", "values", "other"),
    [
        (["2 km", "1 km", "3 blocks", "5 km"], [2, 1, None, 5], "'blocks'"),
        (["3 days", "2 nights", "5 days", "1 week"], [3, None, 5, 7], "'nights'"),
        (["2 h", "1 h", "30 m"], [2, 1, None], "'meters'"),
        (["2 kg", "3 pieces", "1 kg"], [2, None, 1], "'pieces'"),
        (["3 pieces", "2 kg", "4 pieces"], [3, None, 4], "'kg'"),
        (["€12", "€14", "3 kg"], [12, 14, None], "'kg'"),
        (["£12", "5 pounds", "3 kg"], [12, 5, None], "'kg'"),
        (["12 dollars", "1 dollar", "$5", "3 €"], [12, 1, 5, None], "'euros'"),
    ],
)
def test_what_is_of_another_kind_is_unknown_and_told(cells, values, other):
    read = read_cells(cells)
    assert read.values == values
    (doubt,) = read.doubts
    assert f"1 numbers are in {other}" in doubt
    assert "they count as unknown" in doubt


def test_a_unit_in_the_name_of_a_column_is_that_of_its_numbers(tmp_path):
    rows = ["a,A,2,500 g,3 days", "b,B,48 h,2,36 h", "c,C,1 week,1.5 kg,12 h", "d,D,72 hours,3 lb,1 week"]
    made = built(tmp_path, "\n".join(["id,name,delivery_days,weight_kg,trip", *rows]))
    values = [tuple(item.values.values()) for item in made.catalog.items]
    assert values == [(2, 0.5), (2, 2), (7, 1.5), (3, pytest.approx(1.36077711))]
    assert [item.details["trip hours"] for item in made.catalog.items] == [72, 36, 12, 168]
    assert not [doubt for doubt in made.doubts if "unit" in doubt or "numbers are in" in doubt]
    wrong = built(tmp_path, "id,name,price_eur\na,A,$12\nb,B,$13\n").doubts
    assert (
        "price_eur: the name says 'euros' and cells say 'dollars': they are taken as they stand; correct one of them"
        in wrong
    )


def test_numbers_without_a_unit_beside_some_with_one_are_told():
    read = read_cells(["2 h", "3", "30 min", "1 h"])
    assert (read.values, read.doubts) == ([2, 3, 0.5, 1], ["1 numbers have no unit and count as 'hours'"])


GERMAN = """name;preis;gewicht;note
Alm;1.234;3,5;4.125
Bar;2.890;12,25;3.875
Dom;9.500;0,75;2.625
"""


def test_decimals_are_as_in_the_other_columns_of_the_file(tmp_path):
    made = built(tmp_path, GERMAN)
    assert [tuple(item.values.values()) for item in made.catalog.items] == [
        (1234, 3.5, 4.125),
        (2890, 12.25, 3.875),
        (9500, 0.75, 2.625),
    ]
    doubts = [doubt for doubt in made.doubts if "234" in doubt]
    assert doubts == ["note: 1.234 is taken for one and a part; if it is a thousand and more, write 1234"]
    weights = built(tmp_path, "name;price;weight\nA;3,5;1,250\nB;4,5;2,125\n")
    assert [item.values["weight"] for item in weights.catalog.items] == [1.25, 2.125]
    assert "weight: 1,234 is taken for one and a part; if it is a thousand and more, write 1234" in weights.doubts


@pytest.mark.parametrize(
    ("numerals", "hints", "mark", "doubted"),
    [
        (["1.234", "2.890"], Hints(money=True), ",", True),
        (["1.234", "2.890"], Hints(money=True, usual=","), ",", False),
        (["1.234", "2.890"], Hints(money=True, usual="."), ",", True),
        (["1,234", "2,890"], Hints(money=True), ".", False),
        (["1,234", "2,890"], Hints(money=True, usual=","), ".", True),
        (["1.204", "310"], Hints(counted=True), ",", True),
        (["1.234", "2.890"], Hints(), ".", False),
        (["1.234", "2.890"], Hints(usual=","), ",", True),
        (["1.234", "2.890"], Hints(usual="."), ".", False),
        (["1.234", "2.890"], Hints(semicolons=True), ".", True),
        (["1.234", "2.890"], Hints(usual=",", rated=True), ".", True),
        (["1,234", "2,890"], Hints(), ".", False),
        (["1,234", "2,890"], Hints(usual=","), ",", True),
        (["1,234", "2,890"], Hints(usual="."), ".", False),
        (["1,234", "2,890"], Hints(semicolons=True), ",", True),
        (["1,234", "890"], Hints(semicolons=True), ".", False),
        (["1,234", "2.890"], Hints(), ".", True),
        (["1.234", "2.89"], Hints(money=True, usual=","), ".", False),
    ],
)
def test_groups_of_three_are_read_by_what_is_known_beside_them(numerals, hints, mark, doubted):
    found, doubts = decimal_mark(numerals, hints)
    assert (found, bool(doubts)) == (mark, doubted)


@pytest.mark.parametrize("header", ["preis", "price", "Miete", "main (EUR)", "avgPrice"])
def test_a_price_in_groups_of_three_is_in_thousands(tmp_path, header):
    made = built(tmp_path, f"name,{header}\nA,1.234\nB,2.890\nC,9.500\n")
    assert [next(iter(item.values.values())) for item in made.catalog.items] == [1234, 2890, 9500]
    assert f"{header}: 1.234 is taken for a thousand and more; if it is not, write 1.2340" in made.doubts


def test_a_table_of_tomorrow_keeps_the_unit_of_an_objective(tmp_path):
    today = built(tmp_path, "id,name,delivery,stars\na,A,48 h,3\nb,B,12 h,4\nc,C,2 days,5\n").catalog
    (tmp_path / "shop.csv").write_text("id,name,delivery,stars\na,A,2 days,3\nb,B,1 day,4\nc,C,36 h,5\n", "utf-8")
    made = build_catalog(tmp_path / "shop.csv", like=today).catalog
    assert [item.values["delivery"] for item in made.items] == [48, 24, 36]
    assert made.objectives == today.objectives


@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("inns.csv", "inns.json"),
        ("inns.2024.csv", "inns.2024.json"),
        ("inns.2025.CSV", "inns.2025.json"),
        (".hidden.csv", ".hidden.json"),
        ("inns", "inns.json"),
        ("inns.v2", "inns.v2.json"),
    ],
)
def test_a_catalog_is_called_as_its_table_is(tmp_path, file, target):
    (tmp_path / file).write_text("name,price\nA,3\nB,4\n", "utf-8")
    result = CliRunner().invoke(app, ["catalog", "build", str(tmp_path / file)])
    assert result.exit_code == 0, result.output
    assert Catalog.load(tmp_path / target).name == file.lstrip(".").partition(".")[0]


@pytest.mark.parametrize("folder", [".", "/", ".."])
@pytest.mark.parametrize("more", [(), ("--out", "x.json")])
def test_a_folder_is_no_table(folder, more):
    result = CliRunner().invoke(app, ["catalog", "build", folder, *more])
    assert isinstance(result.exception, InvalidSetting)
    assert str(result.exception) == f"a table must be a file, but {folder} is a folder; name a file in it"


@pytest.mark.parametrize(
    ("text", "error", "doubts"),
    [
        (
            "id,name,price\na,A,1\n,B,2\n,C,3\n",
            "an objective must tell items apart, but 'price' has one value in 1 item; mend its cells, or name others:"
            " --objectives",
            ["2 rows without id are left out: lines 3, 4"],
        ),
        (
            "id,name,price\na,A,1\na,B,2\nb,C,1,9\n",
            "an objective must tell items apart, but 'price' has one value in 1 item; mend its cells, or name others:"
            " --objectives",
            [
                "1 row is left out, with too few or too many fields: line 4",
                "1 id stands in several rows, such as 'a' in lines 2, 3: the last row counts",
            ],
        ),
        (
            "id,name,price\na,A,€5\nb,B,$7\nc,C,€5\n",
            "a catalog must have something that matters, a number such as a price or a rating, but 'price' is the same"
            " wherever it is known; add a column of numbers that differ: --objectives price:cost,rating",
            [
                "price: 1 numbers are in 'dollars' and most in 'euros', and one cannot be turned into the other: they"
                " count as unknown; write all in one"
            ],
        ),
        (
            "id,name,price\na,A,5\nb,B,-7\nc,C,5\n",
            "an objective must tell items apart, but 'price' has one value in 3 items; mend its cells, or name others:"
            " --objectives",
            ["price: 1 value is below 0 and taken for not known: line 3"],
        ),
    ],
)
def test_an_error_comes_with_the_doubts_that_explain_it(tmp_path, text, error, doubts):
    with pytest.raises(InvalidSetting) as refused:
        built(tmp_path, text)
    assert str(refused.value).split("\n") == [error, *(f"doubt          {doubt}" for doubt in doubts)]


def test_an_objective_that_was_asked_for_is_to_be_left_out(tmp_path):
    (tmp_path / "shop.csv").write_text("name,beds\nA,4\nB,4\n", "utf-8")
    with pytest.raises(InvalidSetting, match="'beds' has one value in 2 items; leave it out of --objectives"):
        build_catalog(tmp_path / "shop.csv", Asked(objectives=(("beds", ""),)))


def test_a_price_below_0_is_no_bargain_in_a_small_table_either(tmp_path):
    made = built(tmp_path, "id,name,price,profit,weight\na,A,-5,-3,-1\nb,B,90,4,2\nc,C,80,5,3\n")
    assert [item.values.get("price") for item in made.catalog.items] == [None, 90, 80]
    assert [item.values["weight"] for item in made.catalog.items] == [-1, 2, 3]
    told = [doubt for doubt in made.doubts if "below 0" in doubt]
    assert told == [
        "price: 1 value is below 0 and taken for not known: line 2",
        "weight: 1 value is below 0 and kept, though most are above: line 2",
    ]
    large = built(tmp_path, "id,price\n" + "".join(f"a{k},{k - 20}\n" for k in range(200)))
    assert large.catalog.item("a0").values["price"] == -20
    assert "price: 20 values are below 0 and kept, though most are above: lines 2, 3, 4, ..." in large.doubts


@pytest.mark.parametrize(
    "cells", [["1", "0", "yes", "no"], ["0", "TRUE", "1", "false"], [1, 0, "ja", "Nein"], ["1", "0"]]
)
def test_figures_beside_words_are_yes_and_no(cells):
    read = read_cells(cells * 5)
    truths = [str(cell).casefold() in ("1", "yes", "true", "ja") for cell in cells]
    assert (read.kind, read.values) == ("yes or no", truths * 5)
    assert read_cells([*cells, "2"] * 5).kind != "yes or no"


def test_a_size_of_classes_is_guessed_in_no_direction(tmp_path):
    catalog = built(tmp_path, TOURS.replace("cable_cm", "class size")).catalog
    assert "class size" not in [one.name for one in catalog.objectives]
