"""The page as it is served, and what the service tells it, without a browser."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import urllib.request
from importlib.resources import files

import pytest
from fastapi.testclient import TestClient
from service_processes import free_port, until

from druthers.language.evaluation import load_sentences
from druthers.service import overview
from druthers.service.app import make_app
from druthers.service.settings import Settings
from druthers.web import POLICY, VIEWS, load

MOST_BYTES = 250_000


def serving():
    return TestClient(make_app(Settings(store="memory:", parser="lexicon")), base_url="http://localhost")


@pytest.fixture(scope="module")
def client():
    with serving() as client:
        yield client


@pytest.fixture
def fresh():
    """Return a client of a service that nobody else speaks to."""
    with serving() as client:
        yield client


def test_every_view_is_the_same_document_under_a_strict_policy(client):
    for path in VIEWS:
        answer = client.get(path)
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["cache-control"] == "no-cache"
        assert client.get(path, headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=", answer.text)
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY


def test_files_are_kept_for_ever_under_their_version(client):
    site = load()
    for path, (kind, content) in site.files.items():
        answer = client.get(f"/assets/{site.version}/{path}")
        assert (answer.status_code, answer.content, answer.headers["content-type"]) == (200, content, kind)
        assert "immutable" in answer.headers["cache-control"]
    for path in (f"/assets/{site.version}/nothing.js", "/assets/0000/main.js", f"/assets/{site.version}/../app.py"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert "immutable" not in answer.headers["cache-control"]


def test_the_whole_page_is_small_and_brings_its_licenses():
    site = load()
    assert sum(len(content) for _, content in site.files.values()) + len(site.document) < MOST_BYTES
    for name in ("preact", "htm", "uplot"):
        assert len(site.files[f"vendor/LICENSE-{name}.txt"][1]) > 500


def test_modules_are_short_and_ask_nobody_else():
    for path, (kind, content) in load().files.items():
        if not path.startswith("vendor/"):
            text = content.decode()
            assert text.count("\n") <= 400, path
            assert not re.search(r"https?://(?!www\.w3\.org)", text), path
            assert "dangerouslySetInnerHTML" not in text
            assert "innerHTML" not in text
            for name in (
                re.findall(r'^import .* from "(.+)";|import\("(.+)"\)', text, re.M) if "javascript" in kind else ()
            ):
                assert "".join(name).startswith("."), (path, name)


def test_every_file_is_in_the_package():
    folder = files("druthers.web") / "files"
    assert (folder / "main.js").is_file()
    assert not (folder / "vendor" / "package.json").is_file()


def say(client, user, text):
    answer = client.post(f"/v1/users/{user}/messages", json={"text": text})
    assert answer.status_code == 200, answer.text
    return answer.json()


def figure(client, name):
    found = re.search(rf"^{re.escape(name)} (\S+)$", client.get("/metrics").text, re.M)
    return float(found[1]) if found else 0.0


def test_messages_are_counted_as_what_they_are(client):
    names = ('druthers_queries_total{understood="yes"}', "druthers_decisions_total")
    before = [figure(client, name) for name in names]
    say(client, "counted", "cheap and clean")
    say(client, "counted", "thanks")
    assert [figure(client, name) for name in names] == [one + 1 for one in before]


def test_a_limit_is_understood_nonsense_is_not_and_feedback_in_words_is_feedback(fresh):
    names = (
        'druthers_queries_total{understood="yes"}',
        'druthers_queries_total{understood="no"}',
        'druthers_feedback_total{outcome="new"}',
        'druthers_feedback_total{outcome="revised"}',
    )

    def counted():
        return [figure(fresh, name) for name in names]

    first = say(fresh, "limits", "in Solmara, under 200 euros")
    assert first["heard"]["ranking"] == []
    assert counted() == [1, 0, 0, 0]
    assert fresh.get("/v1/operate/readings").json()["readings"] == []
    say(fresh, "limits", "flarn zibble")
    assert counted() == [1, 1, 0, 0]
    fresh.post(f"/v1/decisions/{first['recommendation']['id']}/feedback", json={"utility": 0.5})
    say(fresh, "limits", "1 was awful")
    assert counted() == [1, 1, 1, 1]
    say(fresh, "limits", "1 was great")  # of what was recommended then
    assert counted() == [1, 1, 2, 1]
    fresh.post("/v1/users/limits/queries", json={"text": "the location does not matter"})
    assert counted() == [2, 1, 2, 1]
    fresh.post("/v1/users/limits/queries", json={"text": "flarn zibble"})
    assert counted() == [2, 2, 2, 1]
    heard = fresh.post("/v1/users/limits/queries", json={"text": "under 150 euros, zibble"}).json()
    assert heard["not_understood"] == ["zibble"]  # it is told so, and the limit is no doubt
    assert [one["text"] for one in fresh.get("/v1/operate/readings").json()["readings"]] == ["flarn zibble"]


def test_items_of_a_decision_stand_among_what_was_on_offer(client):
    made = say(client, "places", "clean, at most 90 euros")["recommendation"]
    items = client.get(f"/v1/decisions/{made['id']}/items").json()
    assert [one["item"]["id"] for one in items] == [one["item"] for one in made["items"]]
    everything = client.get("/v1/items", params={"limit": 1000}).json()["items"]
    offered = [one for one in everything if one["details"]["price"] <= 90]
    assert 3 < len(offered) < len(everything)
    for one in items:
        for fact in one["facts"]:
            better = sum(other["values"][fact["objective"]] > fact["value"] for other in offered)
            assert (fact["place"], fact["of"]) == (better + 1, len(offered))
    assert [fact["role"] for fact in items[0]["facts"] if fact["objective"] == "cleanliness"] == ["wished"]
    client.post(f"/v1/decisions/{made['id']}/feedback", json={"rewards": {"rooms": 4.0}, "utility": 0.5})
    first = client.get(f"/v1/decisions/{made['id']}/items").json()[0]
    assert (first["rewards"], first["utility"]) == ({"rooms": 4.0}, 0.5)
    assert client.get("/v1/decisions/never/items").status_code == 404


def test_weights_that_are_set_by_hand_are_what_words_suggest(client):
    say(client, "hand", "cheap, in Solmara")
    wanted = {"value": 0.1, "rooms": 0.55, "service": 0.2, "cleanliness": 0.05, "location": 0.05, "sleep quality": 0.05}
    card = client.patch("/v1/users/hand", json={"weights": wanted}).json()
    assert {one["objective"]: one["weight"] for one in card["weights"]} == pytest.approx(wanted, abs=1e-9)
    assert card["wished"][:2] == ["rooms", "service"]
    assert card["limits"] == {"city": "Solmara"}


def test_what_was_read_can_be_put_right_with_its_limits(client):
    say(client, "right", "cheap and clean, at most 120 euros, in Brennick; the rooms do not matter")
    card = client.get("/v1/users/right").json()
    assert (card["wished"], card["dismissed"]) == (["value", "cleanliness"], ["rooms"])
    assert set(card["limits"]) == {"price", "city"}
    body = {"ranking": ["cleanliness", "value"], "dismissed": ["rooms"], "where": {"city": "Brennick"}}
    card = client.patch("/v1/users/right", json=body).json()
    assert (card["wished"], card["dismissed"], card["limits"]) == (
        ["cleanliness", "value"],
        ["rooms"],
        {"city": "Brennick"},
    )
    made = client.post("/v1/users/right/decisions", json={"size": 3}).json()
    items = client.get(f"/v1/decisions/{made['id']}/items").json()
    assert {one["item"]["details"]["city"] for one in items} == {"Brennick"}


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"ranking": ["value"], "weights": {"value": 1.0}},
        {"weights": {"value": -1.0}},
        {"weights": {"wit": 1.0}},
        {"ranking": ["value"], "where": {"nothing": 1}},
    ],
)
def test_a_correction_that_says_nothing_lawful_changes_nothing(client, body):
    say(client, "lawful", "cheap and clean")
    before = client.get("/v1/users/lawful").json()
    answer = client.patch("/v1/users/lawful", json=body)
    assert 400 <= answer.status_code < 500
    assert client.get("/v1/users/lawful").json() == before


def test_history_tells_what_still_counts(client):
    assert client.get("/v1/users/nobody-yet/history").json() == []
    made = say(client, "past", "cheap and clean")["recommendation"]
    client.post(f"/v1/decisions/{made['id']}/feedback", json={"utility": 0.5})
    client.post(f"/v1/decisions/{made['id']}/feedback", json={"utility": -1.0})
    client.patch("/v1/users/past", json={"ranking": ["rooms"]})
    told = client.get("/v1/users/past/history").json()
    assert [(one["kind"], one["counts"]) for one in told] == [
        ("corrected", True),
        ("felt", True),
        ("felt", False),
        ("said", False),
    ]
    assert told[-1]["text"] == "cheap and clean"
    assert told[-1]["ranking"] == ["value", "cleanliness"]
    assert told[1]["utility"] == -1.0
    assert told[1]["name"] == made["items"][0]["name"]


def test_an_operator_sees_every_item_or_those_that_are_shown(client, monkeypatch):
    say(client, "shown", "as clean as possible")
    rows = client.get("/v1/operate/items").json()
    items = client.get("/v1/items", params={"limit": 1000}).json()["items"]
    assert [row["id"] for row in rows] == [item["id"] for item in items]
    assert sum(row["share"] for row in rows) == pytest.approx(1.0)
    for row, item in zip(rows, items, strict=True):
        for name, figures in row["values"].items():
            assert figures["low"] <= figures["mean"] <= figures["high"]
            if row["reports"] == 1.0:
                assert figures["mean"] == pytest.approx(item["values"][name], abs=1e-6)
    monkeypatch.setattr(overview, "MOST_ITEMS", 20)
    few = client.get("/v1/operate/items").json()
    assert len(few) == 20
    left = {row["id"] for row in rows} - {row["id"] for row in few}
    assert min(row["shown"] for row in few) >= max(row["shown"] for row in rows if row["id"] in left)


def test_a_map_has_everybody_who_spoke_and_clusters_that_differ(fresh):
    said = {"east": "cheap above all", "west": "central above all", "north": "cheap, nothing else"}
    for user, text in {**said, "south": "clean above all"}.items():
        say(fresh, user, text)
    found = fresh.get("/v1/operate/map").json()
    groups = {point["user"]: point["cluster"] for point in found["points"]}
    assert groups["east"] == groups["north"] != groups["west"]
    assert sum(cluster["users"] for cluster in found["clusters"]) == len(found["points"])
    mine = found["clusters"][groups["west"]]["weights"]
    assert max(mine, key=mine.get) == "location"


@pytest.mark.slow
def test_a_demo_opens_in_a_browser_without_catalog_and_key(tmp_path):
    script = tmp_path / "browser.sh"
    script.write_text(
        f'#!/bin/sh\nprintf %s "$1" > {tmp_path}/opened.new && mv {tmp_path}/opened.new {tmp_path}/opened\n'
    )
    script.chmod(0o755)
    port = free_port()
    command = [sys.executable, "-m", "druthers", "serve", "--demo", "--open", "--port", str(port)]
    known = {name: value for name, value in os.environ.items() if not name.startswith("DRUTHERS_")}
    process = subprocess.Popen(command, cwd=tmp_path, env={**known, "BROWSER": f"{script} %s"})
    try:
        opened = tmp_path / "opened"
        until(lambda: opened.exists() or process.poll() is not None, "the browser to be opened", patience=300)
        assert opened.read_text() == f"http://127.0.0.1:{port}/"
        with urllib.request.urlopen(opened.read_text()) as answer:
            assert answer.read() == load().document
        assert sorted(path.name for path in tmp_path.iterdir()) == ["browser.sh", "opened"]  # nothing is kept
    finally:
        process.terminate()
        process.wait()


def test_marks_on_readings_are_kept_and_become_sentences_until_their_author_is_erased(client, tmp_path):
    said = {
        text: client.post("/v1/users/marks/queries", json={"text": text}).json()
        for text in ("flarn", "zibble", "cheap")
    }
    place = {text: f"/v1/operate/readings/{one['position']}" for text, one in said.items()}
    assert client.put(place["flarn"], json={"right": False, "ranking": ["rooms", "value"]}).status_code == 204
    assert client.put(place["zibble"], json={"right": False, "ranking": ["rooms"]}).status_code == 204
    assert client.put(place["zibble"], json={"right": True}).status_code == 204
    assert client.put(place["cheap"], json={"right": True}).status_code == 204
    rows = {row["text"]: row["mark"] for row in client.get("/v1/operate/readings").json()["readings"]}
    assert rows["flarn"] == {"right": False, "ranking": ["rooms", "value"], "dismissed": []}
    assert rows["zibble"] == {"right": True, "ranking": [], "dismissed": []}
    (tmp_path / "sentences.json").write_text(client.get("/v1/operate/sentences").text)
    gold = {one.query: one.gold for one in load_sentences(tmp_path / "sentences.json")}
    assert gold == {"flarn": ("rooms", "value"), "zibble": (), "cheap": ("value",)}
    assert client.put(place["flarn"], json={"right": False, "ranking": ["beauty"]}).status_code == 404
    assert client.put("/v1/operate/readings/1", json={"right": True}).status_code == 404
    assert client.delete(place["cheap"]).status_code == 204
    assert len(client.get("/v1/operate/sentences").json()) == 2
    assert client.delete("/v1/users/marks").status_code == 204
    assert client.get("/v1/operate/sentences").json() == []
