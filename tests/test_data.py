"""Raw reviews become exactly the arrays of a slow, obvious version, and folders that the lab reads."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import naive_data as naive
import numpy as np
import pytest

from druthers.data import build_beeradvocate, build_tripadvisor
from druthers.data.reviews.estimates import weights_of
from druthers.data.reviews.samples import write_beers, write_hotels
from druthers.environments import Reviews
from druthers.environments.reviews import DATA_VARIABLE, read_folder
from druthers.errors import InvalidSetting, UnknownName

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
absent = pytest.mark.skipif(not SHARED.exists(), reason="the authors' arrays are not here")


@pytest.fixture(scope="module")
def beers(tmp_path_factory):
    path = tmp_path_factory.mktemp("raw") / "beers.txt"
    write_beers(path, n_reviews=12_000, seed=1, ugly=0.1, n_users=200, n_beers=400)
    return path


@pytest.fixture(scope="module")
def hotels(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hotels")
    write_hotels(folder, n_reviews=8_000, seed=2, ugly=0.1, n_users=1_500, n_hotels=300)
    return folder


def numbers(built):
    return [tuple(step[1:]) for step in built.steps]


def item_ids(built):
    return [entry["id"] for entry in json.loads((built.folder / "facts.json").read_text())["items"]]


@pytest.mark.parametrize("ridge", [0.0, 2.5])
def test_beers_are_exactly_those_of_the_naive_version(beers, tmp_path, ridge):
    built = build_beeradvocate(beers, tmp_path, of_user=150, of_item=30, ridge=ridge)
    steps, rewards, preferences, users, damaged = naive.beers(beers, 150, 30, ridge)
    assert numbers(built) == steps
    assert item_ids(built) == [key.decode() for key in rewards.index]
    assert len(users) > 3
    assert len(rewards) > 10
    assert damaged > 300
    assert sum(built.damaged.values()) == damaged
    for written, expected in zip(read_folder(built.folder), (rewards.to_numpy(), preferences), strict=True):
        np.testing.assert_array_equal(written, expected)


@pytest.mark.parametrize("fixed_point", [False, True])
def test_hotels_are_exactly_those_of_the_naive_version(hotels, tmp_path, fixed_point):
    built = build_tripadvisor(hotels, tmp_path, of_user=8, of_item=12, n_users=7, fixed_point=fixed_point)
    steps, rewards, preferences, users, damaged = naive.hotels(hotels / "review.txt", 8, 12, 7, fixed_point=fixed_point)
    changes = [step for step, before in zip(steps, [None, *steps], strict=False) if step != before]
    assert list(dict.fromkeys(numbers(built))) == changes
    assert item_ids(built) == [key.decode() for key in rewards.index]
    assert len(users) == 7
    assert damaged > 200
    assert sum(built.damaged.values()) == damaged
    for written, expected in zip(read_folder(built.folder), (rewards.to_numpy(), preferences), strict=True):
        np.testing.assert_array_equal(written, expected)


def test_a_fixed_point_asks_again_what_one_pass_leaves(hotels, tmp_path):
    once = build_tripadvisor(hotels, tmp_path / "once", of_user=8, of_item=12)
    stable = build_tripadvisor(hotels, tmp_path / "stable", of_user=8, of_item=12, fixed_point=True)
    assert stable.estimates.item_counts.min() >= 12
    assert stable.steps[-1].reviews < once.steps[-1].reviews
    facts = (f"{count:,}" for count in stable.steps[-1][1:])
    assert "{} reviews of {} users and {} hotels would be left".format(*facts) in once.notes[0]


@pytest.mark.slow
def test_compressed_files_blocks_and_file_names_make_no_difference(beers, hotels, tmp_path, monkeypatch):
    first = build_beeradvocate(beers, tmp_path / "plain", of_user=150, of_item=30)
    half = beers.read_bytes().find(b"\n\n", 500_000) + 2
    packed = tmp_path / "beers.txt.gz"  # two members, and zeros to fill the last block
    data = beers.read_bytes()
    packed.write_bytes(gzip.compress(data[:half], 1) + gzip.compress(data[half:], 1) + bytes(100))
    monkeypatch.setattr("druthers.data.reviews.reading.BLOCK", 10_007)
    second = build_beeradvocate(packed, tmp_path / "packed", of_user=150, of_item=30)
    third = build_beeradvocate(beers, tmp_path / "pieces", of_user=150, of_item=30)
    monkeypatch.undo()
    for other in (second, third):
        assert other.steps == first.steps
        assert other.damaged == first.damaged
        for name in ("rewards.csv", "preferences.csv"):
            assert (other.folder / name).read_bytes() == (first.folder / name).read_bytes()
    both = tmp_path / "both"
    both.mkdir()
    (both / "all.jsonl.gz").write_bytes(
        gzip.compress(b"".join((hotels / name).read_bytes() for name in ("review.txt", "offering.txt")))
    )
    (both / "README.md").write_text("not read")
    apart, mixed = (
        build_tripadvisor(raw, tmp_path / name, of_user=8, of_item=12) for name, raw in (("a", hotels), ("b", both))
    )
    assert (mixed.folder / "rewards.csv").read_bytes() == (apart.folder / "rewards.csv").read_bytes()


def test_progress_is_told_in_bytes_to_the_end(hotels, tmp_path):
    told = []
    build_tripadvisor(hotels, tmp_path, of_user=8, of_item=12, watch=lambda done, total: told.append((done, total)))
    size = sum(path.stat().st_size for path in hotels.iterdir())
    assert {total for _, total in told} == {size}
    assert told[-1] == (size, size)
    assert told == sorted(told)


def test_a_compressed_file_that_breaks_off_is_read_as_far_as_it_goes(beers, tmp_path):
    data = gzip.compress(beers.read_bytes(), 1, mtime=0)
    for name, broken, kind in (
        ("cut", data[: len(data) // 2], "missing"),
        ("bent", data[: len(data) // 2] + data[:100] + data[len(data) // 2 :], "damaged"),
    ):
        path = tmp_path / f"{name}.txt.gz"
        path.write_bytes(broken)
        built = build_beeradvocate(path, tmp_path / name, of_user=70, of_item=15)
        assert built.damaged[f"rest of a compressed file, {kind}"] == 1
        assert 4_000 < built.steps[0].reviews < 8_000


def test_a_record_without_an_end_is_skipped_and_the_next_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr("druthers.data.reviews.reading.BLOCK", 64)
    monkeypatch.setattr("druthers.data.reviews.reading.LONGEST", 4_096)
    path = tmp_path / "beers.txt"
    write_beers(path, n_reviews=30, ugly=0.0, n_users=2, n_beers=2)
    endless = b"beer/name: " + b"x\n" * 10_000 + b"\n\n"
    path.write_bytes(path.read_bytes() + endless + path.read_bytes())
    built = build_beeradvocate(path, tmp_path, of_user=1, of_item=1)
    assert built.steps[0].reviews == 60
    assert list(built.damaged.values()) == [1]


def test_the_last_line_needs_no_end(tmp_path):
    record = "\r\n".join(["beer/beerId: 7", "review/profileName: ada", *(f"review/{name}: 4" for name in naive.BEERS)])
    path = tmp_path / "beers.txt"
    for end in ("", "\r", "\n", "\r\n\r\n\r"):
        path.write_bytes((record + "\r\nreview/overall: 5" + end).encode())
        built = build_beeradvocate(path, tmp_path, of_user=1, of_item=1)
        assert built.damaged == {}
        assert built.estimates.rewards.tolist() == [[4.0] * 4]
        assert built.estimates.preferences == pytest.approx(np.full((1, 4), 5 / 16))


def test_the_most_active_users_and_a_single_city(hotels, tmp_path):
    built = build_tripadvisor(hotels, tmp_path, of_user=3, of_item=5, n_users=4, city="Houston")
    facts = json.loads((built.folder / "facts.json").read_text())
    assert {entry["city"] for entry in facts["items"]} == {"Houston"}
    assert facts["items"][0]["name"].startswith("Hotel No. ")
    reviews = [entry["reviews"] for entry in facts["users"]]
    assert len(reviews) == 4
    assert reviews == sorted(reviews, reverse=True)
    with pytest.raises(UnknownName, match=r"unknown city 'Huston'; known: .* did you mean 'Houston'?"):
        build_tripadvisor(hotels, tmp_path, city="Huston")


def test_the_lab_finds_what_was_built(beers, hotels, tmp_path, monkeypatch):
    build_beeradvocate(beers, tmp_path, of_user=150, of_item=30)
    build_tripadvisor(hotels, tmp_path, of_user=8, of_item=12)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    for name, n_objectives in (("beeradvocate", 4), ("tripadvisor", 6)):
        world = Reviews(data=name)
        assert world.source.startswith(f"{name} data ")
        assert world.tape(seed=1, horizon=5).means.shape[1] == n_objectives


def test_noise_is_estimated_where_it_is_known(tmp_path):
    """Ratings around known means by users with known, trembling weights; within five standard errors (1e-6)."""
    rng = np.random.default_rng(3)
    truth, weights = rng.uniform(2, 4, (20, 4)), rng.uniform(0.15, 0.25, (8, 4))
    records = []
    for _ in range(6_000):
        user, beer = rng.integers(8), rng.integers(20)
        scores = truth[beer] + 0.2 * rng.standard_normal(4)
        overall = (weights[user] + 0.05 * rng.standard_normal(4)) @ scores
        lines = [f"review/{name}: {value!r}" for name, value in zip(naive.BEERS, scores.tolist(), strict=True)]
        lines += [f"review/overall: {float(overall)!r}", f"review/profileName: u{user}", f"beer/beerId: {beer}"]
        records.append("\n".join(lines))
    path = tmp_path / "beers.txt"
    path.write_text("\n\n".join(records))
    built = build_beeradvocate(path, tmp_path / "out", of_user=100, of_item=100)
    assert built.damaged == {}
    assert built.estimates.reward_noise == pytest.approx([0.04] * 4, rel=5 * np.sqrt(2 / 6_000))
    assert built.estimates.preference_noise == pytest.approx(0.0025, rel=5 * np.sqrt(2 / 6_000))
    assert built.estimates.rewards.shape == (20, 4)
    users = json.loads((built.folder / "facts.json").read_text())["users"]
    order = [int(entry["id"][1:]) for entry in users]
    np.testing.assert_allclose(built.estimates.preferences, weights[order], atol=0.05)


def test_a_ridge_is_the_minimum_of_its_formula():
    rng = np.random.default_rng(4)
    scores, utilities = rng.uniform(1, 5, (7, 3)), rng.uniform(1, 5, 7)
    for ridge in (0.0, 0.3, 10.0):
        weights = weights_of(scores, utilities, ridge)
        assert scores.T @ (scores @ weights - utilities) + ridge * weights == pytest.approx(np.zeros(3), abs=1e-9)
    few = weights_of(scores[:2], utilities[:2], 0.0)
    assert scores[:2] @ few == pytest.approx(utilities[:2])
    assert weights_of(scores[:2], utilities[:2], 1e-9) == pytest.approx(few, abs=1e-6)


def test_a_folder_is_written_whole_or_not_at_all(beers, tmp_path, monkeypatch):
    build_beeradvocate(beers, tmp_path, of_user=150, of_item=30)
    folder = tmp_path / "beeradvocate"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    monkeypatch.setattr("os.fsync", lambda file: (_ for _ in ()).throw(OSError("the disk is full")))
    with pytest.raises(InvalidSetting, match="the disk is full"):
        build_beeradvocate(beers, tmp_path, of_user=100, of_item=30)
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["beeradvocate"]
    build_beeradvocate(beers, tmp_path, of_user=100, of_item=30)
    assert (folder / "rewards.csv").read_bytes() != before["rewards.csv"]
    assert [path.name for path in tmp_path.iterdir()] == ["beeradvocate"]


def test_what_cannot_be_built_is_refused_with_the_way_out(beers, hotels, tmp_path):
    with pytest.raises(InvalidSetting, match=r"must be a folder or a file that can be read, but: .*nowhere"):
        build_tripadvisor("nowhere", tmp_path)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InvalidSetting, match=r"must hold files that end in .*, but .*empty holds nothing"):
        build_tripadvisor(empty, tmp_path)
    (empty / "review.zip").write_bytes(b"PK")
    with pytest.raises(InvalidSetting, match=r"holds review\.zip; unpack archives first"):
        build_tripadvisor(empty, tmp_path)
    with pytest.raises(InvalidSetting, match=r"must hold reviews, but beers\.txt held 1.* × no JSON object"):
        build_tripadvisor(beers, tmp_path)
    with pytest.raises(InvalidSetting, match="none is left as: users with 9,000 or more; ask users for fewer"):
        build_beeradvocate(beers, tmp_path, of_user=9_000, of_item=30)
    with pytest.raises(InvalidSetting, match="ridge must be a number not below 0, but got -1"):
        build_beeradvocate(beers, tmp_path, of_user=150, of_item=30, ridge=-1)
    full = tmp_path / "beeradvocate"
    full.mkdir()
    (full / "objective_reward_u14.npy").write_bytes(b"")
    with pytest.raises(InvalidSetting, match=r"new, empty or built before, but .* holds objective_reward_u14\.npy"):
        build_beeradvocate(beers, tmp_path)
    assert [path.name for path in full.iterdir()] == ["objective_reward_u14.npy"]
    assert not (tmp_path / "tripadvisor").exists()


@absent
def test_the_authors_beers_come_back_from_raw_reviews(tmp_path):
    """Written as raw reviews, overall ratings made by their weights: the same shapes, ranges and numbers."""
    rewards = np.load(SHARED / "beeradvocate" / "objective_reward_u14.npy")
    weights = np.load(SHARED / "beeradvocate" / "objective_preference_u14.npy")
    records = []
    for user, beer in np.ndindex(14, 167):
        scores = rewards[user, beer]
        lines = [f"review/{name}: {value}" for name, value in zip(naive.BEERS, scores.tolist(), strict=True)]
        overall = np.clip(weights[user] @ scores, 1.0, 5.0)  # a few would be 5.1
        lines += [f"review/overall: {float(overall)!r}", f"review/profileName: u{user}", f"beer/beerId: {beer}"]
        records.append("\n".join(lines))
    path = tmp_path / "beers.txt"
    path.write_text("\n\n".join(records))
    built = build_beeradvocate(path, tmp_path / "out", of_user=167, of_item=14)
    assert built.steps[-1][2:] == built.paper[2:] == (14, 167)
    np.testing.assert_allclose(built.estimates.rewards, rewards.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(built.estimates.preferences, weights, atol=0.03)


@absent
def test_ours_and_the_authors_data_are_of_one_kind(beers, hotels, tmp_path):
    """As many objectives and users, ratings in the same range, weights of about the same size."""
    ours = (
        build_tripadvisor(hotels, tmp_path, of_user=8, of_item=12),
        build_beeradvocate(beers, tmp_path, of_user=150, of_item=30),
    )
    for built, name in zip(ours, ("tripadvisor", "beeradvocate"), strict=True):
        rewards, preferences = read_folder(SHARED / name)
        assert built.estimates.rewards.shape[-1] == rewards.shape[-1]
        assert built.estimates.preferences.shape[-1] == preferences.shape[-1]
        for array in (rewards, built.estimates.rewards):
            assert array.min() >= 1.0
            assert array.max() <= 5.0
        assert np.abs(preferences).max() < 3.0
        assert np.abs(built.estimates.preferences).max() < 3.0
    assert ours[0].estimates.preferences.shape == read_folder(SHARED / "tripadvisor")[1].shape


@absent
def test_paper_the_hotels_means_rest_on_786_reviews_ten_or_more_each():
    """So hotels were filtered last, and the 257 users, three reviews each, before."""
    rewards = read_folder(SHARED / "tripadvisor")[0]
    least = []
    for means in rewards:
        sums = means * np.arange(1, 100)[:, None]
        least.append(1 + int(np.argmax(np.all(np.abs(sums - sums.round()) < 1e-9, axis=1))))
    assert min(least) == 10
    assert sum(least) == 786


@absent
def test_paper_the_preferences_have_no_visible_ridge():
    """Least squares on whole numbers gives simple fractions; any ridge above 1e-12 would blur them."""
    preferences = read_folder(SHARED / "tripadvisor")[1]
    for user, denominator in ((3, 1), (4, 189), (5, 1), (6, 1), (7, 9), (8, 21), (9, 5)):
        multiples = preferences[user] * denominator
        assert multiples == pytest.approx(multiples.round(), abs=1e-12)
    sums = read_folder(SHARED / "beeradvocate")[1].sum(axis=1)
    assert np.all(np.abs(sums - 1.0) < 0.04)  # as without a constant term


@absent
def test_paper_every_beer_was_reviewed_by_all_fourteen_users():
    rewards = read_folder(SHARED / "beeradvocate")[0]
    assert rewards.shape == (14, 167, 4)
    assert np.all(rewards * 2 == (rewards * 2).round())  # single ratings, no averages
