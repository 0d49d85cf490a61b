"""Items that nobody has told about are expected to be as the columns of the catalog say, the same in every fold."""

import numpy as np
import pytest

from druthers.advisor import Advisor
from druthers.advisor.predicting import GROWTH, KNOWING_NOTHING, Predictor
from druthers.advisor.verifying import refold, verify
from druthers.catalogs import Catalog, Item
from druthers.catalogs.features import find_features
from druthers.policies import make_policy
from druthers.stores import open_store
from druthers.types import Objective

OBJECTIVES = (
    Objective("quiet", low=1, high=5),
    Objective("price", low=20, high=500, less_is_better=True),
    Objective("clean", low=1, high=5),
)
NOISE = {"Mitte": 2.2, "Nord": 3.8, "Ost": 3.0, "West": 3.3}


def hotels(seed, n_items=120, informative=True):
    """Return a catalog in which the district tells how quiet it is and a pool what it costs; and the whole truth."""
    rng = np.random.default_rng(seed)
    items, truth = [], {}
    for k in range(n_items):
        district, pool = str(rng.choice(list(NOISE))), bool(rng.random() < 0.4)
        truth[f"h{k:03}"] = {
            "quiet": float(np.clip((NOISE[district] if informative else 3.0) + 0.3 * rng.normal(), 1, 5)),
            "price": float(np.clip(100 + (60 * pool if informative else 0) + 20 * rng.normal(), 20, 500)),
            "clean": float(np.clip(3.5 + 0.5 * rng.normal(), 1, 5)),
        }
        values = {} if k % 30 == 1 else dict(truth[f"h{k:03}"])
        if k % 4 == 0:
            del values["quiet"]
        tags = [str(tag) for tag in rng.choice(["spa", "bar", "dog"], 2, replace=False)]
        details = {"district": district, "pool": pool, "rooms": int(rng.integers(5, 90)), "tags": tags}
        items.append(Item(f"h{k:03}", values=values, details=details))
    return Catalog("rooms", OBJECTIVES, items), truth


def settled(catalog, **kwargs):
    """Return an advisor whose predictions are up to date: somebody has come."""
    advisor = Advisor(catalog, parser="lexicon", policy_settings={"seed": 1}, **kwargs)
    advisor.hear("ada", ["quiet"])
    return advisor


def test_a_blank_is_expected_to_be_like_others_in_its_district():
    catalog, _ = hotels(1)
    with settled(catalog) as advisor:
        believed = dict(zip(advisor.objectives, advisor.fold.predictor.believed, strict=True))
        means, variances = advisor.fold.policy.expectations(catalog.ids)
        quiet = advisor.fold.catalog.objectives[0]
        known = [item for item in catalog.items if "quiet" in item.values]
        assert believed == {"quiet": True, "price": True, "clean": False}
        assert np.isnan(means[:, 2]).all()  # nothing tells how clean one is: as ever, it is simply not known
        for item, mean, variance in zip(catalog.items, means[:, 0], variances[:, 0], strict=True):
            assert np.isnan(mean) == ("quiet" in item.values)
            if "quiet" not in item.values:
                alike = [
                    quiet.to_reward(one.values["quiet"])
                    for one in known
                    if one.details["district"] == item.details["district"]
                ]
                assert mean == pytest.approx(np.mean(alike), abs=0.12)
                assert 0.5 * np.std(alike) < np.sqrt(variance) < 2.0 * np.std(alike)
        assert {part.column.partition(":")[0] for part in advisor.fold.predictor.parts("quiet")[:2]} == {"district"}
        assert advisor.fold.predictor.parts("price")[0].column == "pool"
        assert advisor.fold.predictor.parts("price")[0].change < 0.0  # more is worse
        assert advisor.fold.predictor.parts("clean") == ()


def described(seed, n_items=160, informative=True):
    """Return a catalog whose descriptions alone tell how clean it is, where they do; and the whole truth."""
    rng = np.random.default_rng(seed)
    good = ["spotless rooms", "not a speck of dust", "gleaming bathrooms", "fresh clean linen"]
    bad = ["stained carpets", "dirty sheets", "grimy windows", "a filthy kitchen"]
    items, truth = [], {}
    for k in range(n_items):
        tidy = rng.random() < 0.5
        said = rng.choice(good if tidy or not informative else bad, 2, replace=False)
        text = f"House number {k} on the {rng.choice(['lake', 'square', 'hill'])} has {said[0]} and {said[1]}."
        clean = float(np.clip((4.3 if tidy else 2.6) + 0.3 * rng.normal(), 1, 5))
        truth[f"h{k:03}"] = {"quiet": float(rng.uniform(1, 5)), "price": float(rng.uniform(20, 500)), "clean": clean}
        values = dict(truth[f"h{k:03}"])
        if k % 4 == 0:
            del values["clean"]
        items.append(Item(f"h{k:03}", description=text, values=values))
    return Catalog("rooms", OBJECTIVES, items), truth


def test_descriptions_tell_what_to_expect_as_far_as_they_do():
    catalog, truth = described(1)
    blank = [item.id for item in catalog.items if "clean" not in item.values]
    with settled(catalog) as advisor:
        assert advisor.fold.predictor.believed == [False, False, True]
        means = advisor.fold.policy.expectations(blank)[0][:, 2]
        clean = advisor.fold.catalog.objectives[2]
        true = np.array([clean.to_reward(truth[id]["clean"]) for id in blank])
        assert np.mean((means - true) ** 2) < 0.35 * true.var()
        assert [part.column for part in advisor.fold.predictor.parts("clean")] == ["description"]
        assert verify(advisor).agrees
        facts = advisor.recommend("ada", offer=[blank[0]], text=["clean"]).items[0].facts
        assert ("description",) in [fact.columns for fact in facts]
    with settled(described(2, informative=False)[0]) as advisor:
        assert not any(advisor.fold.predictor.believed)


def test_many_items_are_told_of_event_by_event(monkeypatch):
    monkeypatch.setattr("druthers.advisor.predicting.MOST_ITEMS", 40)
    catalog, _ = hotels(1)
    with settled(catalog) as advisor:
        assert advisor.fold.predictor._told is not None
        blank = ["quiet" not in item.values for item in catalog.items]
        before = np.isnan(advisor.fold.policy.expectations(catalog.ids)[0][:, 0])
        for _ in range(3):
            advisor.hear("ada", ["quiet"])
        means = advisor.fold.policy.expectations(catalog.ids)[0][:, 0]
        assert advisor.fold.predictor._told is None
        assert (~np.isnan(means)).tolist() == blank
        assert before.sum() >= np.isnan(means).sum()
        assert verify(advisor).agrees


def test_where_no_model_is_left_nothing_is_expected_any_more_of_any_item(monkeypatch):
    """Items that would be told of by later events are offered before: they are like any that nobody knows."""
    monkeypatch.setattr("druthers.advisor.predicting.MOST_ITEMS", 40)
    catalog = Catalog("rooms", OBJECTIVES, [Item(f"h{k:03}", details={"rooms": k % 7}) for k in range(100)])
    with settled(catalog) as advisor:
        for k in range(0, 40):
            advisor.put_item(Item(f"h{k:03}", values={"quiet": 1 + k % 7 / 2}, details={"rooms": k % 7}))
        for _ in range(4):
            advisor.hear("ada", ["quiet"])
        assert advisor.fold.predictor.believed[0]
        assert not np.isnan(advisor.fold.policy.expectations(["h099"])[0][0, 0])
        for k in range(0, 40):
            advisor.put_item(Item(f"h{k:03}"))
        for k in range(100, 300):
            advisor.put_item(Item(f"h{k:03}", details={"rooms": 1}))
        advisor.hear("ada", ["quiet"])
        assert advisor.fold.predictor._model is None
        assert np.isnan(advisor.fold.policy.expectations(sorted(advisor.items))[0]).all()
        assert advisor.recommend("ada", offer=["h099"]).items[0].item == "h099"
        assert verify(advisor).agrees


def test_reports_that_are_all_the_same_tell_nothing_of_columns():
    rng = np.random.default_rng(0)
    items = [Item(f"h{k:03}", details={"size": rng.random(), "age": rng.random()}) for k in range(60)]
    with settled(Catalog("rooms", OBJECTIVES, items)) as advisor:
        for k in range(10):
            made = advisor.recommend("bob", offer=[f"h{k:03}"])
            advisor.feedback(made.id, rewards={"clean": 5.0, "quiet": 1 + 0.1 * k})
        advisor.recommend("bob")
        assert not any(advisor.fold.predictor.believed)
        assert np.isnan(advisor.fold.policy.expectations(["h055"])[0]).all()


def test_descriptions_of_items_that_left_are_not_kept():
    catalog, _ = described(1, n_items=40)
    with settled(catalog) as advisor:
        assert set(advisor.fold.predictor._read) == set(catalog.ids)
        for id in catalog.ids[:10]:
            advisor.retire_item(id)
        for item in catalog.items[10:]:
            advisor.put_item(Item(item.id, description=item.description + " again", values=item.values))
        advisor.hear("ada", ["clean"])
        assert set(advisor.fold.predictor._read) == set(catalog.ids[10:])


def test_intervals_hold_the_truth_as_often_as_they_say():
    held = []
    for seed in range(12):
        catalog, truth = hotels(100 + seed)
        with settled(catalog) as advisor:
            means, variances = advisor.fold.policy.expectations(catalog.ids)
            for k, objective in enumerate(advisor.fold.catalog.objectives):
                true = np.array([objective.to_reward(truth[id][objective.name]) for id in catalog.ids])
                told = ~np.isnan(means[:, k])
                held += (np.abs(true - means[:, k])[told] < 1.645 * np.sqrt(variances[told, k])).tolist()
    assert len(held) > 350
    assert 0.85 < np.mean(held) < 0.95


def test_columns_that_tell_nothing_change_nothing():
    plain, _ = hotels(5, informative=False)
    bare = Catalog("rooms", OBJECTIVES, [Item(item.id, values=item.values) for item in plain.items])
    with settled(plain) as with_columns, settled(bare) as without:
        assert not any(with_columns.fold.predictor.believed)
        one, other = (advisor.recommend("ada", size=20, id="d").items for advisor in (with_columns, without))
        assert [(item.item, item.score, item.why) for item in one] == [
            (item.item, item.score, item.why) for item in other
        ]


def test_what_is_expected_is_told_as_a_fact_and_a_sentence():
    catalog, _ = hotels(1)
    with settled(catalog) as advisor:
        item = catalog.item("h004")
        (suggestion,) = advisor.recommend("ada", offer=["h004"]).items
        (fact,) = suggestion.facts
        assert fact.columns[0] == "district"
        alike = [
            one
            for one in catalog.items
            if "quiet" in one.values and one.details["district"] == item.details["district"]
        ]
        if fact.columns == ("district",):
            assert fact.alike == len(alike)
        else:
            assert 0 < fact.alike < len(alike)
        mean, variance = (float(table[0, 0]) for table in advisor.fold.policy.expectations(["h004"]))
        quiet = advisor.fold.catalog.objectives[0]
        assert (fact.value, fact.expected) == (None, quiet.to_value(mean))
        spread = quiet.to_value(mean + variance**0.5) - quiet.to_value(mean - variance**0.5)
        assert fact.deviation == pytest.approx(spread / 2.0)
        assert suggestion.why.startswith(
            f"Expected quiet {fact.expected:.1f} ± {fact.deviation:.1f}, from its district"
        )
        assert f"and {fact.alike} like it; nobody has told yet." in suggestion.why
        made = advisor.recommend("ada", offer=["h004"], id="kept")
        assert advisor.recommend("ada", offer=["h004"], id="kept").items[0].facts == made.items[0].facts
        (unknown,) = advisor.recommend("eve", offer=["h001"]).items  # nothing asked for, and nothing known of it
        assert unknown.facts
        assert all(fact.expected is not None for fact in unknown.facts)


def test_a_new_item_is_expected_at_once_until_somebody_tells():
    catalog, _ = hotels(2)
    with settled(catalog) as advisor:
        advisor.put_item(Item("calm", details={"district": "Nord"}))
        advisor.put_item(Item("loud", details={"district": "Mitte"}))
        made = advisor.recommend("ada", offer=["loud", "calm"], size=2)
        assert [one.item for one in made.items] == ["calm", "loud"]
        assert made.items[0].utility > made.items[1].utility + 0.1
        advisor.feedback(made.id, item="calm", rewards={"quiet": 1.0})
        assert np.isnan(advisor.fold.policy.expectations(["calm"])[0][0, 0])
        advisor.put_item(Item("loud", details={"district": "Nord"}))  # it was noted down wrongly
        assert [one.item for one in advisor.recommend("ada", offer=["calm", "loud"], size=2).items] == ["loud", "calm"]


def test_every_way_to_a_state_gives_the_same_bits(tmp_path):
    catalog, truth = hotels(3, 60)
    address = f"sqlite:{tmp_path / 'journal.db'}"
    rng = np.random.default_rng(0)
    with settled(catalog, store=address) as advisor:
        for turn in range(40):
            user = f"user-{turn % 9}"
            made = advisor.recommend(user, size=2)
            item = made.items[0].item
            advisor.feedback(made.id, rewards={"quiet": truth[item]["quiet"]}, utility=float(rng.uniform(-1, 1)))
            if turn == 15:
                advisor.save()
                advisor.shrink(3)
            if turn % 10 == 5:
                truth[f"new-{turn}"] = {"quiet": 4.0}
                advisor.put_item(Item(f"new-{turn}", details={"district": "Nord", "pool": bool(turn % 4)}))
            if turn == 20:
                advisor.retire_item("h005")
            if turn == 25:
                advisor.forget("user-2")
        users = ["ada", *(f"user-{k}" for k in range(9))]
        digest = advisor.digest(users)
        assert verify(advisor).agrees
        fold = refold(advisor)[0]
        for one, other in zip(
            fold.policy.expectations(fold.ids), advisor.fold.policy.expectations(fold.ids), strict=True
        ):
            assert one.tobytes() == other.tobytes()
        assert fold.predictor.state()["predictor"] == advisor.fold.predictor.state()["predictor"]
    with Advisor(store=address, parser="lexicon", policy_settings={"seed": 1}) as again:  # from the snapshot
        assert again.digest(users) == digest


def test_fits_are_few_and_bounded():
    policy = make_policy("stated-ucb", n_objectives=1)
    predictor, fits = Predictor(policy, [Objective("quiet")]), []
    items = {}
    for k in range(300):
        items[f"{k}"] = Item(f"{k}", details={"size": k})
        policy.learn("shop", f"{k}", [k / 300])
        predictor.note(items, f"{k}")
        fits.append(predictor._fitted)
    assert len(set(fits)) - 1 <= 1 + np.log(300 / 8) / np.log(GROWTH)
    assert predictor.believed == [True]
    many = [Item(f"{k}", details={f"d{j}": f"w{(k + j) % 20}" for j in range(30)}) for k in range(200)]
    assert len(find_features(many)) == 480
    assert len(find_features(many, 40)) == 30
    assert (
        find_features([Item("a", details={"n": 10**400}), Item("b", details={"n": 1})], 40)[0].of(
            Item("a", details={"n": 10**400})
        )
        != 1.0
    )


def test_policies_that_expect_nothing_are_left_alone():
    catalog, _ = hotels(1, 40)
    with Advisor(catalog, parser="lexicon", policy="fisher-pqucb") as advisor:
        advisor.hear("ada", ["quiet"])
        assert advisor.recommend("ada", offer=["h004"]).items[0].facts[0].expected is None
        assert verify(advisor).agrees


def test_a_catalog_may_be_emptied_and_its_journal_read_again():
    with open_store("memory:") as store:
        catalog, _ = hotels(0, n_items=9)
        advisor = settled(catalog, store=store)
        for item in catalog.ids:
            advisor.retire_item(item)
        advisor.hear("bob", ["clean"])
        assert refold(advisor)[0].position == advisor.fold.position


def test_a_column_far_from_all_others_tells_no_less_than_nothing():
    rng = np.random.default_rng(0)
    sizes = rng.normal(30, 5, 40)
    items = [
        Item(f"i{k}", values={"quiet": float(np.clip(size / 12, 1, 5))}, details={"size": float(size)})
        for k, size in enumerate(sizes)
    ]
    odd = Item("odd", details={"size": 3100.0})
    with settled(Catalog("rooms", OBJECTIVES, items)) as advisor:
        advisor.put_item(odd)
        means, variances = advisor.fold.policy.expectations(["odd"])
        assert advisor.fold.predictor.believed[0]
        assert 0.0 <= means[0, 0] <= 1.0
        assert variances[0, 0] <= KNOWING_NOTHING
