"""Tables as people have them become catalogs; what is guessed of them is right, told, and doubted where it must be."""

from __future__ import annotations

import gzip
import json
import random

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from shops import write_hotels
from typer.testing import CliRunner

from druthers.catalogs import Catalog
from druthers.cli import app
from druthers.data.catalog.building import build_catalog
from druthers.data.catalog.cells import read_cells
from druthers.data.catalog.roles import Asked, direction, tidy
from druthers.data.catalog.units import Hints, decimal_mark
from druthers.errors import DruthersError, InvalidCatalog, InvalidSetting


def built(tmp_path, text, name="shop.csv", asked=None, encoding="utf-8"):
    file = tmp_path / name
    file.write_bytes(text.encode(encoding))
    return build_catalog(file, asked)


def objectives(made):
    return {one.name: "cost" if one.less_is_better else "gain" for one in made.catalog.objectives}


def doubted(made, piece):
    return [doubt for doubt in made.doubts if piece in doubt]


def test_hotels(tmp_path):
    made = build_catalog(write_hotels(tmp_path / "hotels.csv"))
    assert objectives(made) == {
        **{"price": "cost", "distance": "cost", "noise": "cost"},
        **{"rating": "gain", "stars": "gain"},
    }
    by_name = {one.name: one for one in made.catalog.objectives}
    assert (by_name["rating"].low, by_name["rating"].high) == (1, 5)
    assert 3.5 < by_name["rating"].doubt < 12
    assert 3.9 < by_name["rating"].typical < 4.1
    assert [by_name[name].doubt for name in ("price", "distance", "noise", "stars")] == [0] * 4
    assert by_name["price"].description == "Price in euros."
    item = made.catalog.item("h0001")
    assert set(item.details) == {"city", "kind", "pool", "amenities", "opened"}
    assert isinstance(item.details["pool"], bool)
    assert isinstance(item.details["amenities"], tuple)
    without = [one for one in made.catalog.items if "rating" not in one.values]
    assert len(without) > 500
    assert all("rating" not in one.counts for one in without)


def test_few_ratings_are_believed_less(tmp_path):
    made = build_catalog(write_hotels(tmp_path / "hotels.csv"))
    catalog = made.catalog
    place, rating = catalog.index("rating"), catalog.objectives[catalog.index("rating")]
    perfect = next(one for one in catalog.items if one.values.get("rating") == 5.0 and one.counts["rating"] == 1)
    loved = next(one for one in catalog.items if one.values.get("rating", 0) >= 4.7 and one.counts["rating"] > 100)
    assert catalog.rewards(perfect.id)[place] < catalog.rewards(loved.id)[place]
    assert rating.believed(5.0, 1) < 4.3


def test_laptops_with_odd_headers_and_units(tmp_path):
    text = """﻿SKU;Model Name;Price (USD);Weight;Battery Life;RAM;Screen Size;User Score;# of reviews;Touch;Tags
A-1;Zephyr 13;$1,299.00;2.8 lbs;12 hours;16 GB;13.3";8.7/10;1,204;Yes;light|office
A-2;Zephyr 15;$1,499;1.9 kg;9.5 hours;16 GB;15.6";8.1/10;310;No;office|gaming
A-3;Brick;$499.99;2.4 kg;5 hours;8 GB;15.6";6.4/10;88;No;office
A-4;Feather;"$2,150";0.99 kg;14 hours;1 TB;13";9.2/10;42;Yes;light
A-5;Tower;call us;3.1 kg;;32 GB;17";n/a;0;No;gaming
A-6;Mid;$899;1.5 kg;600 min;8 GB;14";7.5/10;12;No;office|light
A-7;Mid 2;$950;1.6 kg;10 hours;8 GB;14";7.6/10;15;No;office
A-8;Mid 3;$960;1.6 kg;10 hours;8 GB;14";7.7/10;25;No;office
A-9;Mid 4;$970;1.6 kg;10 hours;8 GB;14";7.8/10;35;No;office
A-10;Mid 5;$980;1.6 kg;10 hours;8 GB;14";7.9/10;45;No;office
"""
    made = built(tmp_path, text)
    assert objectives(made) == {
        **{"price": "cost", "weight": "cost", "battery life": "gain", "ram": "gain", "score": "gain"},
    }
    feather, zephyr = made.catalog.item("A-4"), made.catalog.item("A-1")
    assert zephyr.values["price"] == 1299
    assert feather.values["price"] == 2150
    assert zephyr.values["weight"] == pytest.approx(2.8 * 0.45359237)
    assert made.catalog.item("A-6").values["battery life"] == 10
    assert feather.values["ram"] == 1000
    assert zephyr.counts == {"score": 1204}
    assert made.catalog.objectives[4].high == 10
    assert zephyr.details["tags"] == ("light", "office")
    assert zephyr.details["touch"] is True
    assert zephyr.details["screen size"] == 13.3
    assert doubted(made, "'call us'")
    assert "price" not in made.catalog.item("A-5").values
    assert zephyr.name == "Zephyr 13"


def test_flats_in_german(tmp_path):
    rows = [f"{k};Wohnung {k};{700 + 25 * k},00 €;{40 + k},5;{1 + k % 4};{k % 3};ja;Graz" for k in range(1, 30)]
    rows.append("31;Penthouse;1.950,00 €;120,0;5;12;nein;Wien")
    made = built(
        tmp_path, "Nr;Titel;Miete;Wohnfläche_m2;Zimmer;Etage;Balkon;Ort\n" + "\n".join(rows), encoding="cp1252"
    )
    assert doubted(made, "Windows-1252")
    assert objectives(made)["miete"] == "cost"
    house = next(item for item in made.catalog.items if item.name == "Penthouse")
    assert house.values["miete"] == 1950
    assert house.details["balkon"] is False
    assert made.catalog.objectives[0].description == "Miete in euros."


def test_restaurants_as_json_lines(tmp_path):
    rows = [
        {
            "id": f"r{k}",
            "name": f"Table {k}",
            "rating": {"food": 3 + k % 3, "service": 2 + k % 4 / 2, "count": 5 + k},
            "avgPrice": None if k == 3 else 12.5 + k,
            "cuisines": ["thai", "vegan"] if k % 2 else ["thai"],
            "vegan": bool(k % 2),
            "website": f"https://example.org/{k}",
            "about": "A very small place with a very large terrace, and a cook who does not talk about what she does.",
        }
        for k in range(40)
    ]
    text = "\n".join(json.dumps(row) for row in rows) + "\nnot json\n"
    made = built(tmp_path, text, "places.jsonl")
    assert objectives(made) == {"price": "cost", "food": "gain", "service": "gain"}
    assert made.catalog.item("r1").details == {"cuisines": ("thai", "vegan"), "vegan": True}
    assert made.catalog.item("r1").counts == {"food": 6, "service": 6}
    assert "price" not in made.catalog.item("r3").values
    assert made.catalog.item("r0").description.startswith("A very small place")
    assert doubted(made, "no JSON object")
    assert any("website: links" in line for line in made.guesses)
    assert build_catalog(write_parquet(tmp_path, rows)).catalog.items[1].details == made.catalog.items[1].details


def write_parquet(tmp_path, rows):
    path = tmp_path / "places.parquet"
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def test_a_table_of_ratings(tmp_path):
    draw = random.Random(5)
    true = {f"i{k}": draw.gauss(3.5, 0.4) for k in range(60)}
    lines = ["user_id,item_id,rating,city,comment"]
    for k in range(3_000):
        item = f"i{min(int(draw.expovariate(1 / 15)), 59)}"
        score = round(true[item] + draw.gauss(0, 0.8), 2)
        lines.append(f"u{draw.randint(1, 400)},{item},{score if draw.random() > 0.05 else ''},{item[-1]}ville,text {k}")
    made = built(tmp_path, "\n".join(lines), "ratings.csv")
    (rating,) = made.catalog.objectives
    assert 2.0 < rating.doubt < 8.0  # (0.8/0.4)² is 4
    of_one = [line.split(",")[2] for line in lines[1:] if ",i3," in line]
    scores = [float(score) for score in of_one if score]
    item = made.catalog.item("i3")
    assert item.values["rating"] == pytest.approx(np.mean(scores))
    assert item.counts["rating"] == len(scores)
    assert dict(item.details) == {"city": "3ville"}
    assert any("comment: differs between ratings" in line for line in made.guesses)
    # Believed values are nearer to the truth than means are.
    known = [one for one in made.catalog.items if one.values]
    means = [one.values["rating"] - true[one.id] for one in known]
    believed = [rating.believed(one.values["rating"], one.counts["rating"]) - true[one.id] for one in known]
    assert np.mean(np.square(believed)) < np.mean(np.square(means))


def test_what_stands_for_nothing(tmp_path):
    lines = ["id,price,rating,reviews,wifi"]
    lines += [f"x{k},{20 + k},{3 + k % 3 / 2},{k},x" for k in range(1, 60)]
    lines += ["y1,-5,0,0,", "y2,99999,4,3,x", "y3,0,4,3,", "y4,5000,4,,x", "x7,33,4,4,x", ",33,4,4,x", "short,1"]
    made = built(tmp_path, "\n".join(lines))
    catalog = made.catalog
    assert "price" not in catalog.item("y1").values
    assert "rating" not in catalog.item("y1").values
    assert "price" not in catalog.item("y2").values
    assert "price" not in catalog.item("y3").values
    assert catalog.item("y4").values["price"] == 5000
    assert doubted(made, "5000 of y4")
    assert catalog.item("y4").counts == {"rating": 1}
    assert doubted(made, "believed like one rating")
    assert catalog.item("x7").values["price"] == 33
    assert doubted(made, "the last row counts")
    assert doubted(made, "1 row without id is left out: line 66")
    assert doubted(made, "too few or too many fields: line 67")
    assert doubted(made, "a blank is taken for not known")


def test_what_is_called_a_price_is_one_though_a_third_of_it_is_words(tmp_path):
    """Else the column that matters most would become a text without a word about it."""
    prices = ["€ 12,50", "9 €", "ask us"]
    lines = ["id;price;kind;# reviews;extras"]
    lines += [f"x{k};{prices[k % 3]};{['5', '7', 'inn'][k % 3]};{k};{k % 4}" for k in range(30)]
    made = built(tmp_path, "\n".join(lines))
    assert objectives(made) == {"price": "cost"}
    assert made.catalog.item("x0").values == {"price": 12.5}
    assert made.catalog.item("x2").values == {}
    assert doubted(made, "price: 10 cells are no number and taken for not known: 'ask us'")
    assert made.catalog.item("x0").details["kind"] == "5"
    assert made.catalog.item("x3").details["reviews"] == 3
    asked = Asked(objectives=(("kind", "cost"),))
    assert built(tmp_path, "\n".join(lines), asked=asked).catalog.item("x1").values == {"kind": 7}
    words = "\n".join(["id,stars", "a,4", *(f"b{k},{'*' * 5}" for k in range(9))])
    with pytest.raises(InvalidSetting, match=r"but 'stars' holds texts such as '\*\*\*\*\*'"):
        built(tmp_path, words, asked=Asked(objectives=(("stars", ""),)))


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("a.csv", b"", "must hold a line of names and rows, but .* is empty"),
        ("a.csv", b"  \n\n", "is empty; export it again"),
        ("a.csv", b"id,price\n", "must have rows below its line of names"),
        ("a.csv", b"1,2\n3,4\n", "must begin with a line of names, but .* begins with 1, 2; add one"),
        ("a.csv", b"id,colour\na,red\nb,blue\n", "no column of a.csv is called like one; add a column of numbers"),
        ("a.csv", b"id,zz\na,1\nb,2\n", "name some of zz: --objectives"),
        ("a.csv", b"PK\x03\x04rubbish", "is a spreadsheet; save it as CSV"),
        ("a.csv", b"id,price\n\0\0,1\n", "holds other bytes; save it as CSV in UTF-8"),
        ("a.csv", b"\xff\xfei\x00d\x00,", "must be text throughout"),
        ("a.csv", b'id,price\n"a,1\n' + b"x" * 2_000_000, "see where a quote is not closed"),
        ("a.csv.gz", gzip.compress(b"id,price\na,1\n", mtime=0)[:-9], "must be whole"),
        ("a.parquet", b"PAR1 and nothing", "a Parquet file must be whole"),
        ("a.jsonl", b'{"id": 1\n{"id": 2\n', "one object for each item"),
        ("a.json", b'{"name": "x", "objectives": [{"name": "p"}]}', "is a catalog already; druthers serve --catalog"),
        (
            "a.csv",
            b"id,price\n" + b"a,1\na,2\na,3\n" * 3,
            "an id must name one item, but 'id' of .* has 1 id in 9 rows",
        ),
        ("a.csv", b"id,price\na,7\nb,7\n", "but 'price' is the same everywhere; add a column of numbers"),
        ("a.csv", b"id,price,rating\na,1,3\nb,1,4\nc,1,5\n", ""),
    ],
)
def test_what_is_no_table_is_refused_with_a_way_out(tmp_path, name, data, why):
    file = tmp_path / name
    file.write_bytes(data)
    if why:
        with pytest.raises(InvalidSetting, match=why):
            build_catalog(file)
    else:
        assert objectives(build_catalog(file)) == {"rating": "gain"}


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(InvalidSetting, match="must be a file that can be read"):
        build_catalog(tmp_path / "none.csv")


def test_what_is_asked_for_counts(tmp_path):
    text = "code,title,euros,beds,noise,town\n" + "".join(f"c{k},Inn {k},{50 + k},{k % 4},{k},Graz\n" for k in range(9))
    asked = Asked(id="code", name="Title", objectives=(("euros", "cost"), ("beds", "")), details=("town", "noise"))
    made = built(tmp_path, text, asked=asked)
    assert objectives(made) == {"euros": "cost", "beds": "gain"}
    assert made.catalog.item("c1").details == {"town": "Graz", "noise": 1}
    assert doubted(made, "beds: more is taken for better")
    with pytest.raises(
        InvalidSetting, match=r"a column must be one of shop.csv, but 'towns' is not; .*did you mean 'town'"
    ):
        built(tmp_path, text, asked=Asked(details=("towns",)))
    with pytest.raises(InvalidSetting, match="must be a column of numbers, but 'town' holds texts such as 'Graz'"):
        built(tmp_path, text, asked=Asked(objectives=(("town", ""),)))


def test_a_table_of_tomorrow_changes_no_objective(tmp_path):
    today = build_catalog(write_hotels(tmp_path / "hotels.csv", 400)).catalog
    file = write_hotels(tmp_path / "tomorrow.csv", 380)
    made = build_catalog(file, like=today)
    assert (made.catalog.name, made.catalog.objectives) == ("hotels", today.objectives)
    assert len(made.catalog.items) == 380
    dear = file.read_text("utf-8") + "h9,Dear,Graz,hotel,5200,1,50,4,9,3,no,wifi,2020-01-15\n"
    file.write_text(dear, "utf-8")
    wider = build_catalog(file, like=today)
    assert doubted(wider, "price: the range 0 to ")
    assert wider.catalog.objectives[1:] == today.objectives[1:]
    assert wider.catalog.objectives[0].high >= 5200


def test_names_that_serve_as_ids_stay_apart(tmp_path):
    made = built(tmp_path, "name,price\nCafé Zoë,5\nCafe Zoe,6\nBar,7\nBar,8\n")
    assert made.catalog.ids == ("Cafe-Zoe-84e8f327be72", "Cafe-Zoe-91b04162b691", "Bar", "Bar-2")
    assert doubted(made, "no column is called id")


@pytest.mark.parametrize(
    ("cells", "kind", "first"),
    [
        (["€ 120", "95 €"], "number", 120),
        (["1.234,50", "9,99"], "number", 1234.5),
        (["1,234", "12,500"], "number", 1234),
        (["1'234.50", "7"], "number", 1234.5),
        (["1 234", "7"], "number", 1234),
        (["85%", "90 %"], "number", 85),
        (["0,5", "1,25"], "number", 0.5),
        (["-3", "4"], "number", -3),
        (["1e3", "2e3"], "number", 1000),
        (["120 € / night", "95 €/night"], "number", 120),
        (["1.2 km", "800 m"], "number", 1.2),
        (["250 Mbit/s", "50 Mbit/s"], "number", 250),
        (["3,7", "4.1", "4.5"], "number", 3.7),
        (["1.234,50 €", "3.20", "4.10", "3.30"], "number", 1234.5),
        (["4.5 out of 5", "3 out of 5"], "number", 4.5),
        (["yes", "no"], "yes or no", True),
        (["1", "0", "1"], "yes or no", True),
        (["x", "", "X"], "yes or no", True),
        (["x", "y"], "text", "x"),
        (["2021-05-03", "2020-01-31"], "date", "2021-05-03"),
        (["3.5.2021", "31.12.2020"], "date", "2021-05-03"),
        (["12/31/2020", "01/02/2020"], "date", "2020-12-31"),
        (["['wifi', 'pool']", "[]", "['wifi']"], "list", ["wifi", "pool"]),
        (["+43 1 234 5678", "+43 664 123"], "text", "+43 1 234 5678"),
        (["12 Main Street", "5 High Road", "9 Low Lane", "1 Elm Row", "7 Oak Way"], "text", "12 Main Street"),
        (["12:30", "14:00"], "text", "12:30"),
        (["n/a", "", "-"], "empty", None),
    ],
)
def test_cells(cells, kind, first):
    read = read_cells(cells)
    assert (read.kind, read.values[0]) == (kind, first)


@pytest.mark.parametrize("names", [("x", "y"), ("n", "y"), ("0", "1"), ("t", "f")])
def test_items_of_one_letter_are_items_and_no_answers(tmp_path, names):
    """Also where the letters could be answers: what tells items apart is neither yes nor no."""
    file = tmp_path / "t.csv"
    file.write_text("id,name,price\n" + "".join(f"{one},{one},{k + 3}\n" for k, one in enumerate(names)))
    built = build_catalog(file)
    assert [item.id for item in built.catalog.items] == list(names)
    assert not any("same everywhere" in line for line in built.guesses)
    file.write_text("name,price\nx,3\ny,4\n")
    assert [item.name for item in build_catalog(file).catalog.items] == ["x", "y"]


def test_a_doubtful_decimal_is_doubted():
    assert decimal_mark(["1.234", "2.500"], Hints(money=True))[1]
    assert decimal_mark(["1.234", "2.500"])[0] == "."
    assert decimal_mark(["1.5", "2,5", "3.5"])[1]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.lists(st.text(max_size=12), min_size=3, max_size=3), min_size=1, max_size=8), st.sampled_from(",;\t")
)
def test_whatever_is_typed_is_read_or_refused(tmp_path_factory, rows, sign):
    file = tmp_path_factory.mktemp("typed") / "shop.csv"
    text = sign.join(("id", "price", "kind")) + "\n" + "\n".join(sign.join(row) for row in rows)
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    try:
        made = build_catalog(file)
    except DruthersError:
        return
    assert Catalog.from_content(made.catalog.content()) == made.catalog


def test_the_command_tells_what_it_guessed_and_what_comes_next(tmp_path):
    file = write_hotels(tmp_path / "hotels.csv", 200)
    told = run("build", str(file))
    assert told[0] == "hotels.csv: CSV with commas, 200 rows, 13 columns"
    assert told[-1] == f"now: druthers serve --catalog {tmp_path / 'hotels.json'}"
    assert Catalog.load(tmp_path / "hotels.json") == build_catalog(file).catalog
    with pytest.raises(InvalidCatalog, match="must not replace a file unasked"):
        run("build", str(file))
    some = run(
        "build", str(file), "--objectives", "price:cost,rating", "--details", "city", "--out", str(tmp_path / "b.toml")
    )
    assert some[-2].startswith(f"{tmp_path / 'b.toml'}: 2 objectives, 200 items")
    with pytest.raises(InvalidSetting, match=":cost or :gain, but got 'price:low'"):
        run("build", str(file), "--objectives", "price:low", "--force")
    assert run("diff", str(tmp_path / "hotels.json"), str(tmp_path / "hotels.json")) == ["nothing differs"]
    lines = run("diff", str(tmp_path / "hotels.json"), str(tmp_path / "b.toml"))
    assert "objective 'noise' goes: what was said of it stays in the journal and no longer counts" in lines


def run(*words):
    result = CliRunner().invoke(app, ["catalog", *words])
    if result.exception is not None:
        raise result.exception
    return result.output.splitlines()


def test_amounts_that_cannot_be_turned_into_each_other_are_never_mixed():
    """Of euros, dollars and none told, those in dollars are unknown; metres are kilometres, and beds are a bed."""
    mixed = read_cells(["€120", "95 USD", "€80", "110 €", "$130", "EUR 99", "70"])
    assert mixed.values == [120.0, None, 80.0, 110.0, None, 99.0, 70.0]
    assert (mixed.unit, dict(mixed.odd)) == ("euros", {})
    assert mixed.doubts == [
        "2 numbers are in 'dollars' and most in 'euros', and one cannot be turned into the other:"
        " they count as unknown; write all in one"
    ]
    assert read_cells(["1 km", "500 m", "10 min", "2 km"]).values == [1.0, 0.5, None, 2.0]
    assert read_cells(["1 bed", "2 beds", "3 beds"]).values == [1.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("header", "name", "way"),
    [
        ("Price per person", "price", "cost"),
        ("avg main (EUR)", "main", "cost"),
        ("customer_rating", "rating", "gain"),
        ("Rating /5", "rating", "gain"),
        ("max guests", "max guests", None),
        ("min nights", "min nights", None),
        ("salary_eur", "salary", "gain"),
        ("Top speed (km/h)", "top speed", "gain"),
    ],
)
def test_names_of_columns_tell_what_they_are(header, name, way):
    assert (tidy(header)[0], direction(header)) == (name, way)
