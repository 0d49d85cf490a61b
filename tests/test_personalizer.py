"""The surface of Personalizer, driven by its published client over real HTTP; and rewards that wait."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import re
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
import uvicorn
from azure.cognitiveservices.personalizer import PersonalizerClient
from azure.cognitiveservices.personalizer.models import ErrorResponseException, RankableAction, RankRequest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msrest.authentication import CognitiveServicesCredentials
from msrest.exceptions import HttpOperationError

from druthers.advisor import Advisor, events, outcomes, verify
from druthers.catalogs import Catalog, Item
from druthers.errors import InvalidFeedback, UnknownDecision
from druthers.service.app import make_app
from druthers.service.auth import make_key
from druthers.service.personalizer import EVERYONE, _chances, as_id
from druthers.service.schemas import ID
from druthers.service.settings import Settings
from druthers.stores import open_store
from druthers.types import Objective

INNS = Catalog(
    name="inns",
    objectives=[Objective("clean", low=1, high=5), Objective("price", low=50, high=300, less_is_better=True)],
    items=[
        Item("mill", "The Mill", values={"clean": 4.8, "price": 250}),
        Item("tent", "The Tent", values={"clean": 1.5, "price": 60}),
    ],
)


@contextlib.contextmanager
def serving(app):
    """Serve an application on a free port."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(60)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    """A service with keys and some exploration, and its client."""
    folder = tmp_path_factory.mktemp("personalizer")
    INNS.save(folder / "inns.toml")
    where = f"sqlite:{folder / 'inns.db'}"
    text, key = make_key("decide", "shop")
    with Advisor(INNS, store=where, parser="lexicon") as advisor:
        body = {"id": key.id, "digest": key.digest, "role": key.role, "name": key.name}
        advisor.store.append([events.make(events.KEY, body)])
    told = Settings(
        store=where,
        catalog=str(folder / "inns.toml"),
        parser="lexicon",
        keys="required",
        exploration=0.2,
        max_items=40,
        ranking_adds_items=True,
    )
    app = make_app(told)
    with serving(app) as url:
        client = PersonalizerClient(url, CognitiveServicesCredentials(text))
        yield SimpleNamespace(client=client, url=url, desk=app.state.desk, where=where)


def actions(*ids, **features):
    return [RankableAction(id=id, features=[features] if features else []) for id in ids]


def count(service, decision, kind):
    with open_store(service.where) as store:
        return sum(event.kind == kind for event in store.about(decision))


def test_the_published_client_ranks_and_rewards(service):
    foods = [
        RankableAction(id="pasta", features=[{"taste": "salty", "spiceLevel": "medium"}, {"nutritionLevel": 5}]),
        RankableAction(id="ice cream", features=[{"taste": "sweet"}, {"nutritionalLevel": 2}]),
        RankableAction(id="salad", features=[{"taste": "salty"}, {"nutritionLevel": 8}]),
    ]
    context = [{"timeOfDay": "morning"}, {"userProfile": {"tastePreference": "sweet"}}]
    ranked = service.client.rank(RankRequest(actions=foods, context_features=context))
    assert sorted(one.id for one in ranked.ranking) == ["ice cream", "pasta", "salad"]
    assert ranked.ranking[0].id == ranked.reward_action_id
    assert sum(one.probability for one in ranked.ranking) == pytest.approx(1.0)
    assert min(one.probability for one in ranked.ranking) == pytest.approx(0.2 / 3)
    assert service.client.events.reward(ranked.event_id, value=0.75) is None
    assert service.client.events.activate(ranked.event_id) is None
    assert EVERYONE in service.desk.fold.people
    assert count(service, ranked.event_id, events.FEEDBACK) == 1
    assert service.desk.fold.items["a~ice~20cream"].name == "ice cream"


def test_features_that_name_objectives_in_range_become_values(service):
    offered = [  # of names that no other test adds
        RankableAction(id="byre", features=[{"clean": 4, "price": 1000}, {"more": {"price": 80.5}}]),
        RankableAction(id="grotto", features=[{"clean": "very", "price": True}]),
        RankableAction(id="mill", features=[{"clean": 1.0}]),
    ]
    service.client.rank(RankRequest(actions=offered))
    items = service.desk.fold.items
    assert dict(items["byre"].values) == {"clean": 4.0}  # the first price counts, and is out of range
    assert dict(items["grotto"].values) == {}
    assert items["mill"] == INNS.item("mill")  # what is in the catalog stays as it is


def test_actions_with_odd_ids_are_items_like_any(service):
    odd_ids = [" padded ", "\x1c5\x8b}", "\t", "ż" * 256, "a/b"]
    ranked = service.client.rank(RankRequest(actions=actions(*odd_ids)))
    assert {one.id for one in ranked.ranking} == set(odd_ids)
    names = {service.desk.fold.items[as_id(id)].name for id in odd_ids}
    assert {"padded", "ż" * 200, as_id("\t")} <= names


def test_ranking_adds_nothing_to_the_catalog_unless_it_is_told_to(tmp_path):
    """Whoever may ask for decisions must not decide what others are recommended."""
    INNS.save(tmp_path / "inns.toml")
    app = make_app(Settings(store="memory:", catalog=str(tmp_path / "inns.toml"), parser="lexicon"))
    with serving(app) as url:
        client = PersonalizerClient(url, CognitiveServicesCredentials("any"))
        with pytest.raises(ErrorResponseException) as refused:
            client.rank(RankRequest(actions=[RankableAction(id="<script>", features=[{"clean": 5}]), *actions("mill")]))
        assert refused.value.response.status_code == 404
        assert "ranking_adds_items = true" in refused.value.error.error.message
        assert set(app.state.desk.fold.items) == {"mill", "tent"}
        assert client.rank(RankRequest(actions=actions("mill", "tent"))).reward_action_id in ("mill", "tent")


def test_excluded_actions_keep_their_places(service):
    for n, excluded in enumerate(itertools.combinations(["mill", "tent", "barn", "hut"], 2)):
        ids = ["mill", "tent", "barn", "hut"]
        ranked = service.client.rank(RankRequest(actions=actions(*ids), excluded_actions=list(excluded)))
        shown = [one.id for one in ranked.ranking]
        assert sorted(shown) == sorted(ids)
        assert all(shown[ids.index(id)] == id for id in excluded), n
        assert ranked.reward_action_id == next(id for id in shown if id not in excluded)
        chances = {one.id: one.probability for one in ranked.ranking}
        assert {chances[id] for id in excluded} == {0.0}
        assert sum(chances.values()) == pytest.approx(1.0)


def test_what_the_context_says_is_heard_for_its_user(service):
    both = actions("mill", "tent")
    for n, context in enumerate(
        [[{"user": "ada", "text": "as cheap as possible"}], [{"profile": {"userId": 17}}, {"ranking": ["price"]}]]
    ):
        for _ in range(2):  # the second time is the same event: nothing is heard again
            ranked = service.client.rank(RankRequest(actions=both, context_features=context, event_id=f"heard-{n}"))
        assert ranked.event_id == f"heard-{n}"
        person = service.desk.fold.people["ada" if n == 0 else "17"]
        assert person.queries == 1
        weights = service.desk.fold.policy.preference("ada" if n == 0 else "17").weights
        assert weights[1] > weights[0]


def test_an_event_id_makes_repeating_safe(service):
    request = RankRequest(actions=actions("mill", "tent", "hut"), event_id="Ünusual id, 100 %")
    chosen = {service.client.rank(request).reward_action_id for _ in range(20)}
    assert len(chosen) == 1
    service.client.events.reward("Ünusual id, 100 %", 1.0)
    with pytest.raises(ErrorResponseException) as refused:
        service.client.rank(RankRequest(actions=actions("mill"), event_id="Ünusual id, 100 %"))
    assert refused.value.response.status_code == 409
    assert refused.value.error.error.code == "BadRequest"
    assert "another id" in refused.value.error.error.message


def test_the_first_reward_counts_and_others_change_nothing(service):
    ranked = service.client.rank(RankRequest(actions=actions("mill", "tent")))
    for value in (0.5, 0.5, -1.0, 1.0):
        service.client.events.reward(ranked.event_id, value=value)
    assert count(service, ranked.event_id, events.FEEDBACK) == 1
    with open_store(service.where) as store:
        assert store.about(ranked.event_id)[1].body["utility"] == 0.5


def test_a_deferred_event_counts_once_it_is_activated(service):
    request = RankRequest(actions=actions("mill", "tent"), defer_activation=True)
    before, after = (service.client.rank(request).event_id for _ in range(2))
    for _ in range(2):
        service.client.events.reward(before, value=1.0)
        assert count(service, before, events.FEEDBACK) == 0
    for _ in range(2):
        service.client.events.activate(before)
        assert count(service, before, events.FEEDBACK) == 1
        service.client.events.activate(after)
        assert count(service, after, events.FEEDBACK) == 0
    service.client.events.reward(after, value=0.25)
    assert count(service, after, events.FEEDBACK) == 1


@pytest.mark.parametrize(
    ("request_body", "status", "says"),
    [
        ({"actions": []}, 422, "at least 1 item"),
        ({"actions": actions("a", "a")}, 409, "no two actions"),
        ({"actions": actions("a"), "excluded_actions": ["a"]}, 409, "all of them are excluded"),
        ({"actions": actions("a"), "event_id": "a/b"}, 422, "pattern"),
        ({"actions": actions("a"), "context_features": [{"text": "x" * 5000}]}, 422, "2000 characters"),
        ({"actions": actions("a"), "context_features": [{"ranking": ["speed"]}]}, 409, "clean, price"),
        ({"actions": actions(*map(str, range(100)))}, 409, "at most 40 items"),
    ],
)
def test_what_breaks_a_law_is_refused_in_the_words_of_personalizer(service, request_body, status, says):
    known = dict(service.desk.fold.items)
    with pytest.raises(ErrorResponseException) as refused:
        service.client.rank(RankRequest(**request_body))
    assert refused.value.response.status_code == status
    told = refused.value.error.error
    assert told.code == "BadRequest"
    assert says in " ".join([told.message, *(one.message for one in told.details or ())])
    assert service.desk.fold.items == known


def test_rewards_and_keys_that_are_wrong_are_refused(service):
    ranked = service.client.rank(RankRequest(actions=actions("mill", "tent")))
    for event, value, status, code in [
        (ranked.event_id, 1.5, 422, "BadRequest"),
        (ranked.event_id, float("nan"), 400, "BadRequest"),
        ("nothing", 1.0, 404, "ResourceNotFound"),
    ]:
        with pytest.raises(HttpOperationError) as refused:
            service.client.events.reward(event, value=value)
        assert refused.value.response.status_code == status
        assert refused.value.response.json()["error"]["code"] == code
    with pytest.raises(HttpOperationError) as refused:
        service.client.events.activate("nothing")
    assert refused.value.response.status_code == 404
    stranger = PersonalizerClient(service.url, CognitiveServicesCredentials("0123456789abcdef0123456789abcdef"))
    with pytest.raises(ErrorResponseException) as refused:
        stranger.rank(RankRequest(actions=actions("mill")))
    assert refused.value.response.status_code == 401
    assert refused.value.error.error.code == "BadRequest"


@given(st.text(min_size=1, max_size=256), st.text(min_size=1, max_size=256))
@example("_x", "a~_x")
@example("x" * 256, "x" * 255)
@example("y" * 206, "\x05" + hashlib.sha256(b"y" * 206).hexdigest()[2:])  # a hash that looks like an escaped text
@settings(deadline=None, max_examples=50)
def test_any_text_is_an_id_of_its_own(one, other):
    assert re.fullmatch(ID, as_id(one))
    assert (as_id(one) == as_id(other)) == (one == other)


@given(n=st.integers(1, 8), exploration=st.floats(0, 1), first=st.integers(0, 7), alike=st.integers(1, 8))
@settings(deadline=None, max_examples=50)
def test_chances_are_those_of_the_policy(n, exploration, first, alike):
    """A policy draws uniformly with a small chance, else among its `alike` best; the first's own chance is given."""
    by_score = [f"item-{k}" for k in range(n)]
    first, alike = first % n, min(alike, n)
    true = {item: exploration / n + (1.0 - exploration) / alike * (k < alike) for k, item in enumerate(by_score)}
    if alike > 1 and first >= alike:
        return  # which ones were alike cannot be told from this
    order = [by_score[first], *(item for item in by_score if item != by_score[first])]
    chances = _chances(order, by_score[0], true[by_score[first]], exploration)
    assert chances == pytest.approx(true, abs=1e-6)


@pytest.fixture
def advisor():
    with Advisor(INNS, parser="lexicon") as made:
        made.put_item(Item("void"))
        made.put_item(Item("half", values={"clean": 3}))
        yield made


def decide(advisor, item, **options):
    return advisor._run(advisor.operations.recommend("ada", offer=[item], deferred=True, **options)).id


def test_a_reward_tells_of_an_item_what_nobody_told_before(advisor):
    clean, price = (one.to_value(0.7) for one in advisor.fold.catalog.objectives)
    for item, told in {"mill": {}, "half": {"price": price}, "void": {"clean": clean, "price": price}}.items():
        made = advisor.recommend("ada", offer=[item])
        assert advisor._run(outcomes.reward(advisor.operations, made.id, 0.7))
        assert advisor.store.about(made.id)[-1].body["rewards"] == pytest.approx(told)
    assert advisor.preference("ada").feedbacks == 3
    assert advisor.fold.policy.reward_means(["void"]) == pytest.approx(np.full((1, 2), 0.7))


@pytest.mark.parametrize("value", [-1.0, -0.3, 0.0, 1.0])
def test_any_reward_keeps_what_is_known_finite(advisor, value):
    made = advisor.recommend("ada", offer=["void"])
    advisor._run(outcomes.reward(advisor.operations, made.id, value))
    assert advisor.fold.policy.reward_means(["void"]) == pytest.approx(np.full((1, 2), max(value, 0.0)))
    assert np.isfinite([one.weight for one in advisor.preference("ada").weights]).all()
    assert np.isfinite([one.score for one in advisor.recommend("ada", size=4).items]).all()
    assert verify(advisor).agrees


def test_a_reward_after_rewards_of_its_own_kind_adds_what_is_new(advisor):
    made = advisor.recommend("ada", offer=["void"])
    advisor.feedback(made.id, rewards={"clean": 2})
    assert advisor._run(outcomes.reward(advisor.operations, made.id, 0.5))
    price = advisor.fold.catalog.objectives[1].to_value(0.5)
    assert advisor.store.about(made.id)[-1].body["rewards"] == {"price": price}


def test_rewards_outside_their_range_and_unknown_decisions_are_refused(advisor):
    made = advisor.recommend("ada")
    last = advisor.store.last()
    for value in (1.01, -1.01, float("nan")):
        with pytest.raises(InvalidFeedback):
            advisor._run(outcomes.reward(advisor.operations, made.id, value))
    for operation in (outcomes.reward(advisor.operations, "none", 1.0), outcomes.activate(advisor.operations, "none")):
        with pytest.raises(UnknownDecision):
            advisor._run(operation)
    assert advisor.store.last() == last


@pytest.mark.parametrize("order", list(itertools.permutations(["reward", "activate", "other reward"])))
def test_rewards_wait_across_restarts_in_any_order(tmp_path, order):
    where = f"sqlite:{tmp_path / 'inns.db'}"
    with Advisor(INNS, store=where, parser="lexicon") as advisor:
        decision = decide(advisor, "mill")
    first = None
    for step in [*order, *order]:  # everything twice
        with Advisor(store=where, parser="lexicon") as advisor:
            value = 0.25 if step == "reward" else 0.75
            if step == "activate":
                advisor._run(outcomes.activate(advisor.operations, decision))
            else:
                first = value if first is None else first
                advisor._run(outcomes.reward(advisor.operations, decision, value))
    with Advisor(store=where, parser="lexicon") as advisor:
        learned = [event.body["utility"] for event in advisor.store.about(decision) if event.kind == events.FEEDBACK]
        assert learned == [first]
        assert advisor.preference("ada").feedbacks == 1
        assert verify(advisor).agrees


def test_reward_and_activation_find_each_other_from_two_replicas(tmp_path):
    where = f"sqlite:{tmp_path / 'inns.db'}"
    with Advisor(INNS, store=where, parser="lexicon") as one, Advisor(store=where, parser="lexicon") as other:
        for _ in range(10):
            decision = decide(one, "mill")
            both = [
                threading.Thread(target=one._run, args=(outcomes.reward(one.operations, decision, 0.5),)),
                threading.Thread(target=other._run, args=(outcomes.activate(other.operations, decision),)),
            ]
            for thread in both:
                thread.start()
            for thread in both:
                thread.join()
            kinds = [event.kind for event in one.store.about(decision)]
            assert sorted(kinds) == [events.ACTIVATION, events.DECISION, events.FEEDBACK, events.HELD]


def test_erasing_a_person_leaves_nothing_of_what_waited(advisor):
    decision = decide(advisor, "mill")
    advisor._run(outcomes.reward(advisor.operations, decision, 0.5))
    advisor._run(outcomes.activate(advisor.operations, decision))
    advisor.forget("ada")
    left = [event for event in advisor.store.read() if event.kind in (events.HELD, events.ACTIVATION)]
    assert [dict(event.body) for event in left] == [{"version": events.VERSION}] * 2
    assert {(event.user, event.about, event.key) for event in left} == {(None, None, None)}
    assert verify(advisor).agrees


def test_the_best_of_actions_without_values_is_found():
    """Five actions with clicks at these rates, nothing known of them: most of the later ranks go to the best."""
    rates = dict(zip("abcde", (0.2, 0.3, 0.4, 0.5, 0.8), strict=True))
    chance = np.random.default_rng(5)
    with Advisor(INNS, parser="lexicon", policy_settings={"exploration": 0.1}) as advisor:
        advisor.fold.policy.reseed(5)  # else its coins are of the machine's own chance
        for id in rates:
            advisor.put_item(Item(id))
        chosen = []
        for visit in range(400):
            made = advisor.recommend(EVERYONE, offer=list(rates), id=f"visit-{visit}")
            chosen.append(made.items[0].item)
            click = float(chance.random() < rates[chosen[-1]])
            advisor._run(outcomes.reward(advisor.operations, made.id, click))
    assert chosen[200:].count("e") > 150
