"""Whatever the bytes, the pipelines read what there is and count the rest; they refuse, but never break."""

from __future__ import annotations

import gzip
import json
import tempfile
from pathlib import Path

import naive_data as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from druthers.data import Columns, build_beeradvocate, build_table, build_tripadvisor
from druthers.data.reviews.beeradvocate import read_beeradvocate
from druthers.data.reviews.reading import Source
from druthers.data.reviews.samples import write_beers, write_hotels
from druthers.data.reviews.tripadvisor import read_tripadvisor
from druthers.environments.reviews import read_folder
from druthers.errors import DruthersError

PIECES = [
    *(b"\n", b"\n\n", b"\r\n", b"\x00", b"\xff\xfe", b"\xc3(", b"\xef\xbb\xbf", b"\xed\xa0\x80", b" ", b"\t\n", b":"),
    *(b"review/taste: 4\n", b"review/taste: nan\n", b"beer/beerId: 7\n", b"review/overall: 1_0\n", b"beer/name"),
    *(b'"ratings"', b'"author": null,', b'{"id": 1, "name": "x"}\n', b'"\\ud800"', b"NaN", b"1e999", b"{" * 50, b"}]"),
    *(b"\x1f\x8b\x08", b"x" * 3_000),
]
edits = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 400), st.one_of(st.sampled_from(PIECES), st.binary(max_size=20))),
    max_size=12,
)
fuzzed = settings(max_examples=80, deadline=None, derandomize=True, database=None)


@pytest.fixture(scope="module")
def home():
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def beers(home):
    write_beers(home / "beers.txt", n_reviews=60, ugly=0.3, seed=3, n_users=4, n_beers=6)
    return (home / "beers.txt").read_bytes().replace(b" long" * 5_000, b" long")


@pytest.fixture(scope="module")
def hotels(home):
    write_hotels(home / "hotels", n_reviews=60, ugly=0.3, seed=3, n_users=4, n_hotels=6)
    return (home / "hotels" / "review.txt").read_bytes().replace(b"[" * 20_000, b"[" * 3_000)


def edited(data, changes):
    for place, cut, piece in changes:
        start = int(place * len(data))
        data = data[:start] + piece + data[start + cut :]
    return data


def same_reading(ratings, damaged, frame, count, aspects):
    assert len(ratings) == len(frame)
    assert sum(damaged.values()) == count
    np.testing.assert_array_equal(ratings.scores, frame[aspects].to_numpy(dtype=float))
    np.testing.assert_array_equal(ratings.utilities, frame["overall"].to_numpy(dtype=float))
    users = [None if user < 0 else ratings.user_ids[user] for user in ratings.users]
    assert [user.encode("utf-8", "surrogatepass") if isinstance(user, str) else user for user in users] == list(
        frame["user"].where(frame["user"].notna(), None)
    )


@fuzzed
@given(edits)
def test_edited_beer_reviews_are_read_as_the_naive_version_reads_them(home, beers, changes):
    path = home / "edited.txt"
    path.write_bytes(b" " + edited(beers, changes))
    source = Source([path])
    ratings, names = read_beeradvocate(source)
    same_reading(ratings, source.damaged, *naive.beer_reviews(path), naive.BEERS)
    assert len(names) == len(ratings.item_ids)


@fuzzed
@given(edits)
def test_edited_hotel_reviews_are_read_as_the_naive_version_reads_them(home, hotels, changes):
    path = home / "edited.txt"
    data = b" " + edited(hotels, changes)
    path.write_bytes(b"\n".join(line for line in data.split(b"\n") if b'"name"' not in line))
    source = Source([path])
    ratings, _ = read_tripadvisor(source)
    same_reading(ratings, source.damaged, *naive.hotel_reviews(path), naive.HOTELS)


@fuzzed
@given(edits, edits, st.sampled_from([build_beeradvocate, build_tripadvisor]))
def test_a_folder_is_built_or_refused_whatever_the_bytes(home, beers, hotels, changes, later, build):
    path = home / "packed.txt.gz"
    data = edited(beers if build is build_beeradvocate else hotels, changes)
    path.write_bytes(edited(gzip.compress(data, mtime=0), later))
    with tempfile.TemporaryDirectory() as out:
        try:
            built = build(path, out, of_user=1, of_item=1)
        except DruthersError:
            assert not list(Path(out).iterdir())
            return
        rewards, preferences = read_folder(built.folder)
        assert rewards.shape[1] == preferences.shape[1] == len(built.objectives)
        facts = json.loads((built.folder / "facts.json").read_text("utf-8"))
        assert facts["damaged"] == built.damaged


@fuzzed
@given(st.binary(max_size=300), st.booleans(), edits)
def test_any_bytes_are_a_table_or_refused(home, data, headed, changes):
    path = home / "any.csv"
    rows = b"".join(b"u%d,i%d,%d,%d,%d\n" % (n % 3, n % 4, n % 5, n % 7, n % 6) for n in range(40))
    path.write_bytes(edited((b"user,item,a,b,overall\n" if headed else b"") + rows, changes) + data)
    with tempfile.TemporaryDirectory() as out:
        try:
            built = build_table(path, Path(out) / "built", Columns("user", "item", "overall", ("a", "b")))
        except DruthersError:
            assert not list(Path(out).iterdir())
            return
        assert np.isfinite(read_folder(built.folder)[1]).all()
