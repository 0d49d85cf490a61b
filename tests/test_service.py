"""The routes over real HTTP: what is said, chosen, felt, corrected and erased."""

import contextlib
import http.client
import json
import shlex
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import uvicorn

from druthers.advisor import Advisor, verify
from druthers.service.app import make_app
from druthers.service.settings import Settings
from druthers.stores import open_store


class Client:
    """Speaks JSON with a service."""

    def __init__(self, port):
        self.port = port

    def __call__(self, method, path, body=None, expect=200):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            headers = {} if body is None else {"Content-Type": "application/json"}
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            content = answer.read()
            assert answer.status == expect, (answer.status, content)
            kind = answer.getheader("content-type") or ""
            return json.loads(content) if "json" in kind else content.decode()
        finally:
            connection.close()


@contextlib.contextmanager
def served(**settings):
    app = make_app(Settings(catalog="hotels", parser="lexicon", follow_seconds=0.05, **settings))
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_config=None, access_log=False, ws="none"))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
            time.sleep(0.005)
        client = Client(server.servers[0].sockets[0].getsockname()[1])
        deadline = time.time() + 60
        while not app.state.desk.can_read:
            assert time.time() < deadline
            time.sleep(0.005)
        yield client
    finally:
        server.should_exit = True
        thread.join(60)


@pytest.fixture(scope="module")
def where(tmp_path_factory):
    return f"sqlite:{tmp_path_factory.mktemp('service') / 'journal.db'}"


@pytest.fixture(scope="module")
def call(where):
    with served(store=where, snapshot_every=50, resident_users=20, max_text=500, max_batch=10) as client:
        yield client


def test_a_visit_has_a_context(call):
    body = {"context": {"device": "phone", "weekend": True, "party": -0.5}}
    made = call("POST", "/v1/users/vera/decisions", body)
    call("POST", f"/v1/decisions/{made['id']}/feedback", {"utility": 0.8})
    assert call("GET", f"/v1/decisions/{made['id']}")["context"] == body["context"]
    for wrong in ({"party": 6}, {"device": ""}, {"at": None}, {"a": [1]}, {str(k): True for k in range(9)}):
        call("POST", "/v1/users/vera/decisions", {"context": wrong}, expect=422)


def test_a_conversation(call):
    heard = call("POST", "/v1/users/ada/queries", {"text": "cheap and clean, I don't mind the location"})
    assert heard["ranking"] == ["value", "cleanliness"]
    assert heard["reading"]["dismissed"] == ["location"]
    assert [piece["text"] for piece in heard["reading"]["evidence"]][:2] == ["cheap", "clean"]
    made = call("POST", "/v1/users/ada/decisions", {"size": 3})
    assert len({item["item"] for item in made["items"]}) == 3
    best = made["items"][0]
    assert best["score"] == pytest.approx(best["utility"] + best["reward_bonus"] + best["preference_bonus"])
    assert "as you asked" in best["why"]
    assert [fact["objective"] for fact in best["facts"]] == ["value", "cleanliness"]
    told = call("POST", f"/v1/decisions/{made['id']}/feedback", {"rewards": {"value": 4.5}, "utility": 0.8})
    assert (told["decision"], told["item"], told["new"], told["revised"]) == (made["id"], best["item"], True, False)
    assert (told["unknown"], told["counted"]) == ([], 1.0)
    assert {change["objective"] for change in told["weights"]} == {
        w["objective"] for w in call("GET", "/v1/users/ada")["weights"]
    }
    again = call("POST", f"/v1/decisions/{made['id']}/feedback", {"rewards": {"value": 4.5}})
    assert again["new"] is False
    booked = call("POST", f"/v1/decisions/{made['id']}/feedback", {"utility": 0.9, "id": "booking"})
    assert booked["revised"] is True
    problem = call("POST", f"/v1/decisions/{made['id']}/feedback", {"rewards": {"value": 3}}, expect=409)
    assert "must stay as first told" in problem["detail"]
    problem = call("POST", f"/v1/decisions/{made['id']}/feedback", {"utility": 0.1, "id": "booking"}, expect=409)
    assert "'booking' must stay as first told" in problem["detail"]
    card = call("GET", "/v1/users/ada")
    assert card["weights"][0]["objective"] == "value"
    assert card["feedbacks"] == 1
    assert call("PATCH", "/v1/users/ada", {"ranking": ["rooms"]})["weights"][0]["objective"] == "rooms"
    nothing = call("PATCH", "/v1/users/ada", {"weights": {"value": 0}}, expect=422)
    assert "one weight must be above 0, but none is" in nothing["errors"][0]["why"]
    past = call("GET", f"/v1/decisions/{made['id']}")
    assert (past["user"], past["size"], past["offer"]) == ("ada", 3, None)
    assert made["items"] == past["items"]
    assert [(one["item"], one["rewards"], one["utility"]) for one in past["feedback"]] == [
        (best["item"], {"value": 4.5}, 0.8),
        (best["item"], {}, 0.9),
    ]
    assert past["at"] < past["feedback"][0]["at"]
    call("DELETE", "/v1/users/ada", expect=204)
    call("GET", "/v1/users/ada", expect=404)
    call("POST", f"/v1/decisions/{made['id']}/feedback", {"utility": 0.8}, expect=404)
    assert "ada" not in json.dumps(call("GET", "/v1/events?limit=1000"))


def test_the_lines_of_the_readme_work_as_they_stand(tmp_path):
    text = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    lines = [shlex.split(line) for line in text.splitlines() if line.startswith("curl localhost:8000/")]
    assert len(lines) == 3
    with served(store=f"sqlite:{tmp_path / 'journal.db'}") as call:
        for _, address, *more in lines:
            assert more[:1] in ([], ["--json"])
            body = json.loads(more[1]) if more else None
            answer = call("POST" if more else "GET", address.removeprefix("localhost:8000"), body)
    assert answer["user"] == "ada"
    assert (answer["queries"], answer["feedbacks"]) == (1, 1)


def counted(call):
    """Return how many queries and decisions the figures have."""
    names = ("druthers_queries_total", "druthers_decisions_total")
    return [line for line in call("GET", "/metrics").splitlines() if line.startswith(names)]


def test_one_request_hears_and_decides(call):
    made = call("POST", "/v1/users/ben/decisions", {"text": "quiet nights above all", "id": "visit-7"})
    assert made["heard"]["ranking"] == ["sleep quality"]
    assert made["id"] == "visit-7"
    told = counted(call)
    again = call("POST", "/v1/users/ben/decisions", {"text": "quiet nights above all", "id": "visit-7"})
    assert again["items"] == made["items"]
    assert counted(call) == told  # what is repeated counts once
    call("POST", "/v1/users/eve/decisions", {"id": "visit-7"}, expect=409)


def test_a_choice_is_learned_once(call):
    made = call("POST", "/v1/users/chooser/decisions", {"size": 3, "id": "shelf"})
    shown = [item["item"] for item in made["items"]]
    assert call("GET", "/v1/decisions/shelf")["choice"] is None
    told = call("POST", "/v1/decisions/shelf/choice", {"picked": shown[1]})
    assert (told["new"], told["picked"], told["offer"]) == (True, shown[1], shown)
    assert told["weights"]
    assert call("POST", "/v1/decisions/shelf/choice", {"picked": shown[1]})["new"] is False
    assert call("GET", "/v1/decisions/shelf")["choice"] == {"picked": shown[1], "offer": shown}
    assert "as first told" in str(call("POST", "/v1/decisions/shelf/choice", {"picked": None}, expect=409))
    call("POST", "/v1/decisions/shelf/choice", {}, expect=422)  # what was picked must be said, if only as null
    call("POST", "/v1/decisions/shelf/choice", {"picked": "nowhere"}, expect=404)
    call("POST", "/v1/decisions/nowhere/choice", {"picked": None}, expect=404)


def test_a_query_with_an_id_counts_once(call, where):
    """However often, and from however many sides at once, it is sent."""
    for user, body in (("ida", {"text": "quiet nights", "id": "q-1"}), ("ivo", {"ranking": ["rooms"], "id": "q-2"})):
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: call("POST", f"/v1/users/{user}/queries", body), range(16)))  # noqa: B023
        assert all(answer == answers[0] for answer in answers)
        assert call("GET", f"/v1/users/{user}")["queries"] == 1
        other = {"text": "clean", "id": body["id"]}
        assert "choose another id" in call("POST", f"/v1/users/{user}/queries", other, expect=409)["detail"]
        call("POST", "/v1/users/eve/queries", body, expect=409)
    results = call("POST", "/v1/batch/queries", {"entries": [{"user": "ida", **other}, {"user": "ina", **other}]})
    assert [result["status"] for result in results["results"]] == [409, 409]
    made = call("POST", "/v1/users/ida/decisions", {"text": "clean", "id": "q-1"})  # ids of decisions are their own
    assert made["heard"]["ranking"] == ["cleanliness"]


def test_items_are_live(call):
    details = {"city": "Ghent", "price": 120, "stars": 3.5, "pool": True, "near": ["sea", 2]}
    inn = {"name": "The New Inn", "values": {"value": 5, "cleanliness": 5}, "details": details}
    assert call("PUT", "/v1/items/new-inn", inn, expect=201)["id"] == "new-inn"
    assert call("PUT", "/v1/items/new-inn", inn)["details"] == details
    assert call("GET", "/v1/items/new-inn")["values"] == {"value": 5.0, "cleanliness": 5.0}
    made = call("POST", "/v1/users/cy/decisions", {"offer": ["new-inn"]})
    assert made["items"][0]["name"] == "The New Inn"
    call("DELETE", "/v1/items/new-inn", expect=204)
    call("GET", "/v1/items/new-inn", expect=404)
    call("DELETE", "/v1/items/new-inn", expect=404)
    call("POST", "/v1/users/cy/decisions", {"offer": ["new-inn"]}, expect=404)
    first = call("GET", "/v1/items?limit=40")
    rest = call("GET", f"/v1/items?limit=40&after={first['next']}")
    assert len(first["items"]) + len(rest["items"]) == 62
    assert rest["next"] is None
    assert call("GET", "/v1/objectives")[0]["name"] == "cleanliness"


def test_a_count_of_ratings_without_a_value_is_refused(call):
    for body in ({"counts": {"value": 5}}, {"values": {"cleanliness": 5}, "counts": {"value": 5}}):
        refused = call("PUT", "/v1/items/new-inn", body, expect=422)
        assert "counts.value must count the ratings of a value that is given; leave it out" in str(refused)
    rated = {"values": {"value": 4}, "counts": {"value": 5}}
    assert call("PUT", "/v1/items/new-inn", rated, expect=201)["counts"] == {"value": 5}
    call("DELETE", "/v1/items/new-inn", expect=204)


def test_pages_of_items_hold_each_once_in_order(call):
    """Items that came and went before are no trouble; no page sorts them."""
    for k in (5, 1, 9, 3):
        call("PUT", f"/v1/items/zz-{k}", {}, expect=201)
    call("DELETE", "/v1/items/zz-9", expect=204)
    found, after = [], ""
    while after is not None:
        page = call("GET", f"/v1/items?limit=7{after and f'&after={after}'}")
        found += [item["id"] for item in page["items"]]
        after = page["next"]
    assert found == sorted(found)
    assert found[-3:] == ["zz-1", "zz-3", "zz-5"]
    assert len(found) == 65
    assert call("GET", "/v1/items?after=zz-4")["items"][0]["id"] == "zz-5"
    for k in (5, 1, 3):
        call("DELETE", f"/v1/items/zz-{k}", expect=204)


def test_batches_answer_entry_by_entry(call):
    entries = [{"user": f"many-{k}", "ranking": ["rooms"]} for k in range(5)] + [{"user": "many-9", "text": "cheap"}]
    results = call("POST", "/v1/batch/queries", {"entries": entries})["results"]
    assert [result["status"] for result in results] == [200] * 6
    assert results[5]["answer"]["ranking"] == ["value"]
    made = call("POST", "/v1/batch/decisions", {"entries": [{"user": "many-1"}, {"user": "many-2", "offer": ["x"]}]})
    assert [result["status"] for result in made["results"]] == [200, 404]
    decision = made["results"][0]["answer"]["id"]
    entries = [{"decision": decision, "utility": 0.5}, {"decision": "unknown", "utility": 0.5}]
    told = call("POST", "/v1/batch/feedback", {"entries": entries})["results"]
    assert [result["status"] for result in told] == [200, 404]
    put = call("PUT", "/v1/batch/items", {"entries": [{"id": "b-1"}, {"id": "b-2", "name": "B"}]})["results"]
    assert [result["answer"]["name"] for result in put] == ["b-1", "B"]
    for item in ("b-1", "b-2"):
        call("DELETE", f"/v1/items/{item}", expect=204)


def test_a_malformed_entry_of_a_batch_does_not_stop_the_others(call):
    made = call("POST", "/v1/users/mixed/decisions", {"size": 1})
    entries = [{"utility": 3}, {"decision": made["id"], "utility": 0.1}, 7, {"decision": made["id"], "utilty": 0.2}]
    results = call("POST", "/v1/batch/feedback", {"entries": entries})["results"]
    assert [result["status"] for result in results] == [422, 200, 422, 422]
    assert results[1]["answer"]["new"]
    assert "body.entries[0].decision: this must be given" in results[0]["problem"]
    assert "body.entries[0].utility: Input should be less than or equal to 1, but got 3" in results[0]["problem"]
    assert "body.entries[2]: " in results[2]["problem"]
    assert results[3]["problem"].endswith("did you mean 'utility'?")
    assert [event["utility"] for event in call("GET", f"/v1/decisions/{made['id']}")["feedback"]] == [0.1]


def test_batches_and_pages_count_for_the_rate(tmp_path):
    """At a rate of one a minute, of which ten may come at once."""
    with served(store=f"sqlite:{tmp_path / 'journal.db'}", rate=1 / 60, burst=10) as call:
        entries = [{"user": "ada", "ranking": ["rooms"]}] * 12
        call("POST", "/v1/batch/queries", {"entries": entries})
        assert "each entry of a batch counted" in call("GET", "/v1/objectives", expect=429)["detail"]
        call("GET", "/docs", expect=429)
        call("GET", "/openapi.json", expect=429)
        for _ in range(20):
            call("GET", "/healthz")
            call("GET", "/readyz")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/v1/users/ada/queries", {}, 422),
        ("/v1/users/ada/queries", {"text": "cheap", "ranking": ["value"]}, 422),
        ("/v1/users/ada/queries", {"text": "x" * 501}, 422),
        ("/v1/users/ada/queries", {"ranking": ["taste"]}, 422),
        ("/v1/users/ada/queries", {"ranking": ["value", "value"]}, 422),
        ("/v1/users/a%20b/queries", {"text": "cheap"}, 422),
        ("/v1/users/ada/decisions", {"size": 0}, 422),
        ("/v1/users/ada/decisions", {"size": 10**30}, 422),
        ("/v1/users/ada/decisions", {"offer": []}, 422),
        ("/v1/users/ada/decisions", {"colour": "red"}, 422),
        ("/v1/decisions/none/feedback", {"utility": 0.5}, 404),
        ("/v1/decisions/none/feedback", {}, 422),
        ("/v1/decisions/none/feedback", {"rewards": {}}, 422),
        ("/v1/decisions/none/feedback", {"rewards": {"value": 7}}, 422),
        ("/v1/decisions/none/feedback", {"rewards": {"taste": 1}}, 422),
        ("/v1/decisions/none/feedback", {"utility": 2}, 422),
        ("/v1/batch/queries", {"entries": []}, 422),
        ("/v1/batch/queries", {"entries": [{"user": "a", "text": "b"}] * 11}, 422),
    ],
)
def test_what_is_refused_says_why(call, path, body, status):
    problem = call("POST", path, body, expect=status)
    assert problem["status"] == status
    assert problem["detail"] or problem["errors"]


@pytest.mark.parametrize(
    ("path", "body", "place", "says"),
    [
        ("/v1/users/ada/decisions", {"sise": 3}, "body.sise", "known: size, offer, text"),
        ("/v1/users/ada/decisions", {"sise": 3}, "body.sise", "did you mean 'size'?"),
        ("/v1/decisions/none/feedback", {"rewards": {"Value": 4}}, "body.rewards.Value", "did you mean 'value'?"),
        ("/v1/users/a%20b/queries", {"text": "cheap"}, "path.user", "an id must be letters, figures and"),
    ],
)
def test_a_wrong_name_is_told_with_those_that_are_known(call, path, body, place, says):
    told = {mistake["where"]: mistake["why"] for mistake in call("POST", path, body, expect=422)["errors"]}
    assert says in told[place]


def test_many_at_once_lose_nothing(call, where):
    def work(number):
        user = f"crowd-{number % 12}"
        made = call("POST", f"/v1/users/{user}/decisions", {"text": "clean rooms" if number % 3 else None})
        call("POST", f"/v1/decisions/{made['id']}/feedback", {"rewards": {"rooms": 3 + number % 3}, "utility": 0.4})
        return made["id"]

    with ThreadPoolExecutor(12) as pool:
        ids = list(pool.map(work, range(120)))
    time.sleep(0.3)
    store = open_store(where)
    for id in ids:
        assert [event.kind for event in store.about(id)] == ["decision", "feedback"]
    with Advisor(store=store, parser="lexicon") as advisor:
        assert verify(advisor).agrees


def test_it_tells_how_it_is(call):
    assert call("GET", "/healthz") == {"status": "alive"}
    ready = call("GET", "/readyz")
    assert ready["status"] == "ready"
    call("POST", "/v1/users/ada/decisions", {})
    figures = call("GET", "/metrics")
    assert "druthers_decisions_total" in figures
    assert 'route="/v1/users/{user}/decisions"' in figures
    assert "ada" not in figures
    document = call("GET", "/openapi.json")
    assert document["openapi"].startswith("3.1")
    assert "/v1/users/{user}/decisions" in document["paths"]
    assert "druthers" in call("GET", "/docs")
    call("GET", "/v1/nothing", expect=404)


def test_two_services_on_one_journal_follow_each_other(call, where):
    with served(store=where) as other:
        made = other("POST", "/v1/users/twin/decisions", {"text": "clean"})
        assert call("POST", f"/v1/decisions/{made['id']}/feedback", {"utility": 0.7})["new"]
        assert not other("POST", f"/v1/decisions/{made['id']}/feedback", {"utility": 0.7})["new"]
        deadline = time.time() + 60
        while call("GET", "/v1/users/twin") != other("GET", "/v1/users/twin"):
            assert time.time() < deadline
            time.sleep(0.02)


def test_a_restart_goes_on(tmp_path):
    where = f"sqlite:{tmp_path / 'journal.db'}"
    with served(store=where) as call:
        call("POST", "/v1/users/ada/queries", {"text": "clean"})
        made = call("POST", "/v1/users/ada/decisions", {})
        card = call("GET", "/v1/users/ada")
    with served(store=where) as call:
        assert call("GET", "/v1/users/ada") == card
        assert call("POST", f"/v1/decisions/{made['id']}/feedback", {"utility": 0.9})["new"]


def test_an_event_that_is_damaged_is_no_mistake_of_who_asks(tmp_path):
    with served(store=f"sqlite:{tmp_path / 'journal.db'}") as call:
        call("POST", "/v1/users/ada/queries", {"text": "clean"})
        with contextlib.closing(sqlite3.connect(tmp_path / "journal.db", isolation_level=None)) as journal:
            journal.execute("UPDATE druthers_events SET body = '{' WHERE \"user\" = 'ada'")
        told = call("GET", "/v1/events?user=ada", expect=500)
        assert "JSON" not in told["detail"]


def test_what_would_say_nothing_is_refused_in_an_address_as_in_a_body(call):
    call("POST", "/v1/users/una/messages", {"text": "cheap"})
    refused = call("GET", "/v1/users/una/history?limit=abc", expect=422)
    assert refused["detail"] == (
        "a parameter must be one that is known at this address, but got 'limit'; leave it out: there are none"
    )
    refused = call("GET", "/v1/items?limits=3", expect=422)
    assert refused["detail"].endswith("but got 'limits'; known: after, limit; did you mean 'limit'?")
    assert call("GET", "/v1/items?limit=3")["items"]
    refused = call("PATCH", "/v1/users/una", {"ranking": [], "limits": {"price": {"max": 90}}}, expect=422)
    assert refused["errors"][0]["why"] == "this is no field here; what an answer tells as 'limits' is given as 'where'"
