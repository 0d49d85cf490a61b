"""Review data come from folders, by name, or from simulated stand-ins that say so."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from druthers.catalogs.standins import STANDS_FOR, make_stand_in
from druthers.environments import Reviews
from druthers.environments.reviews import DATA_VARIABLE
from druthers.errors import InvalidSetting, UnknownName


@pytest.fixture(autouse=True)
def nowhere(monkeypatch):
    monkeypatch.delenv(DATA_VARIABLE, raising=False)


def test_a_folder_of_arrays_and_a_folder_of_tables_are_the_same(tmp_path):
    rewards, preferences = np.array([[4.0, 3.5], [2.0, 5.0], [1.0, 1.25]]), np.array([[1.0, -0.5]])
    arrays, tables = tmp_path / "arrays", tmp_path / "tables"
    arrays.mkdir()
    tables.mkdir()
    np.save(arrays / "objective_reward_item3.npy", rewards)
    np.save(arrays / "objective_preference_u1.npy", preferences)
    (tables / "rewards.csv").write_text('item,clean,quiet\n"Inn, the",4,3.5\nSpa,2,5\n\nBarn,1,1.25\n')
    (tables / "preferences.csv").write_text("user,clean,quiet\nada,1,-0.5\n")
    first, second = Reviews(data=arrays), Reviews(data=str(tables))
    for world in (first, second):
        tape = world.tape(seed=1, horizon=5)
        assert sorted(map(tuple, tape.means)) == sorted(map(tuple, rewards))
        assert np.array_equal(tape.preferences, preferences)
    assert first.source.removeprefix("arrays") == second.source.removeprefix("tables")


def test_items_stand_in_another_order_in_each_run():
    world = Reviews(data="tripadvisor")
    first, again, second = (world.tape(seed=seed, horizon=1).means for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)
    assert np.array_equal(np.sort(first, axis=0), np.sort(second, axis=0))


def test_a_named_data_set_is_looked_for_where_the_variable_points(tmp_path, monkeypatch):
    simulated = Reviews(data="beeradvocate")
    assert simulated.source == "simulated stand-in for beeradvocate"
    folder = tmp_path / "beeradvocate"
    folder.mkdir()
    np.save(folder / "reward.npy", np.ones((2, 3, 4)))  # per user: averaged
    np.save(folder / "preference.npy", np.ones((2, 4)))
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    found = Reviews(data="beeradvocate")
    assert found.source.startswith("beeradvocate data ")
    assert found.tape(seed=1, horizon=1).means.shape == (3, 4)
    with pytest.raises(InvalidSetting, match="must hold one"):
        Reviews(data="tripadvisor")


@pytest.mark.parametrize(("real", "name"), STANDS_FOR.items())
def test_a_stand_in_is_there_under_its_own_name_and_where_real_data_are_not(real, name, tmp_path, monkeypatch):
    ratings, weights = make_stand_in(name)
    for data, source in ((real, f"simulated stand-in for {real}"), (name, f"simulated {name}")):
        world = Reviews(data=data)
        assert world.source == source
        tape = world.tape(seed=1, horizon=1)
        assert sorted(map(tuple, tape.means)) == sorted(map(tuple, ratings))
        assert np.array_equal(tape.preferences, weights)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert Reviews(data=name).source == f"simulated {name}"


def test_a_folder_is_never_taken_for_a_stand_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("hotels", "simulated hotels"):
        Path(name).mkdir()
        np.save(Path(name) / "reward.npy", np.ones((3, 2)))
        np.save(Path(name) / "preference.npy", np.ones((2, 2)))
        assert Reviews(data=Path(name)).source.startswith(f"{name} data ")


def test_what_is_no_review_data_is_refused(tmp_path):
    with pytest.raises(InvalidSetting, match="either as `data` or as `rewards` and `preferences`"):
        Reviews(rewards=np.ones((2, 2)))
    with pytest.raises(UnknownName, match="did you mean 'tripadvisor'"):
        Reviews(data="tripadviser")
    (tmp_path / "rewards.csv").write_text("item,a\nx,one\n")
    (tmp_path / "preferences.csv").write_text("user,a\nx,1\n")
    with pytest.raises(InvalidSetting, match="could not convert string to float"):
        Reviews(data=tmp_path)
    (tmp_path / "rewards.csv").write_text("item,a\nx,1,2\n")
    with pytest.raises(InvalidSetting, match="line 2 has 3 fields, the first has 2"):
        Reviews(data=tmp_path)
    (tmp_path / "rewards.csv").write_text("item,a\n")
    with pytest.raises(InvalidSetting, match="at least one"):
        Reviews(data=tmp_path)
