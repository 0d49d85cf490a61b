"""What one message says is in the journal as a whole or not at all, and whoever sends it again is answered."""

from __future__ import annotations

import itertools

import pytest
from test_advisor import INNS
from test_service import served

from druthers.advisor import Advisor, events, verify
from druthers.advisor.steps import Append
from druthers.catalogs import Catalog, Item
from druthers.errors import StoreFailure
from druthers.stores import open_store
from druthers.stores.sqlite import SQLiteStore

# Each writes more than one event: what it turns down, rates, takes back, picks and wishes, and what is recommended.
SAYINGS = (
    "not the first one, but quiet",
    "the second one was lovely, but loud. I need it clean",
    "The Mill was dirty and The Barn was quiet",
    "I didn't say cheap, I said clean",
    "more like 1, and not over 250",
    "why 1? and I also need it quiet",
    "I'll take 2",
    "something else",
)
# The same on disks, with a restart between: one that says three things, and one that only asks for something.
FEW = (SAYINGS[1], SAYINGS[-1])
MORE = [Item(f"room-{k}", f"Room {k}", values={"clean": 2.0 + k, "quiet": 4.0 - k, "price": 150 + k}) for k in range(3)]
STORES = ("memory", "sqlite", "postgresql")
SAID = (events.QUERY, events.CORRECTION, events.FEEDBACK, events.CHOICE)


class Killed(BaseException):
    """What no part of the program catches."""


@pytest.fixture(params=STORES)
def fresh(request, tmp_path):
    """Return what opens new journals, and opens them again as another process would."""
    numbers, opened = itertools.count(), []

    def fresh():
        if request.param == "memory":
            store = open_store("memory:")
            return lambda: store
        if request.param == "postgresql":
            url = request.getfixturevalue("postgres").fresh()
        else:
            url = f"sqlite:{tmp_path / f'{next(numbers)}.db'}"

        def reopen():
            opened.append(open_store(url))
            return opened[-1]

        return reopen

    yield fresh
    for store in opened:
        store.close()


def begin(store):
    catalog = Catalog("inns", INNS.objectives, [*INNS.items, *MORE])
    advisor = Advisor(catalog, store=store, parser="lexicon")
    advisor.message("ada", "cheap", id="0")
    return advisor


def breaking(store, at, problem):
    """Have a store break off at its nth append."""
    append, numbers = store.append, itertools.count(1)

    def breaks(given, **how):
        if next(numbers) == at:
            raise problem
        return append(given, **how)

    store.append = breaks
    return append


def finish(do, operation):
    """Have the steps of an operation done; return what it comes to."""
    came = None
    try:
        while True:
            came = do(operation.send(came))
    except StopIteration as end:
        return end.value


def said(store, after=0):
    """Return what was said of what, without ids and times."""
    told = [event for event in store.read(after, user="ada") if event.kind in SAID]
    parts = ("ranking", "limits", "said", "item", "rewards", "utility", "picked", "offer")
    return [(event.kind, *(event.body.get(part) for part in parts)) for event in told]


def whole(fresh, text):
    """Return what a message says, and what it is answered, where nothing breaks off."""
    advisor = begin(fresh()())
    there = advisor.store.last()
    reply = advisor.message("ada", text, id="1")
    return said(advisor.store, there), reply


@pytest.mark.parametrize(
    ("fresh", "text"),
    [*itertools.product(STORES[:1], SAYINGS), *itertools.product(STORES[1:], FEW)],
    indirect=["fresh"],
)
def test_a_message_that_breaks_off_anywhere_is_answered_when_it_comes_again(fresh, text):
    """Whichever append a process dies before: nothing of what was said is lost, and nothing is there twice."""
    wanted, answer = whole(fresh, text)
    for at in itertools.count(1):
        reopen = fresh()
        advisor = begin(reopen())
        there = advisor.store.last()
        append = breaking(advisor.store, at, Killed())
        try:
            advisor.message("ada", text, id="1")
            broke = False
        except Killed:
            broke = True
        advisor.store.append = append
        assert said(reopen(), there) in ([], wanted), "half of a message is in the journal"
        with Advisor(store=reopen(), parser="lexicon") as again:
            reply = again.message("ada", text, id="1")
            assert (reply.kind, reply.text, reply.items) == (answer.kind, answer.text, answer.items)
            assert (reply.heard is None) == (answer.heard is None)
            assert (reply.recommendation is None) == (answer.recommendation is None)
            assert said(again.store, there) == wanted
            last = again.store.last()
            assert again.message("ada", text, id="1").as_dict() == reply.as_dict()
            assert again.store.last() == last
            assert verify(again).agrees
            kinds = [event.kind for event in again.store.read(there)]
            assert kinds.count(events.MESSAGE) == kinds.count(events.REPLY) == 1
        if not broke:
            break
    assert at > 1


def test_what_broke_off_is_answered_after_others_said_more(fresh):
    """A second message and somebody else's come between, from another replica: each is answered as itself."""
    text = "not the first one, but quiet"
    reopen = fresh()
    advisor, other = begin(reopen()), Advisor(store=reopen(), parser="lexicon")
    wanted, _ = whole(fresh, text)
    there = advisor.store.last()
    append = breaking(advisor.store, 2, StoreFailure("gone"))
    with pytest.raises(StoreFailure):
        advisor.message("ada", text, id="1")
    advisor.store.append = append
    assert said(advisor.store, there) == wanted
    between = other.message("ada", "not over 190", id="2")
    other.message("eve", "clean", id="3")
    reply = other.message("ada", text, id="1")
    assert reply.heard.ranking == ("quiet",)
    assert reply.recommendation is not None
    assert advisor.message("ada", text, id="1").as_dict() == reply.as_dict()
    assert other.message("ada", "not over 190", id="2").as_dict() == between.as_dict()
    assert len(said(advisor.store, there)) == len(wanted) + 1
    assert verify(other).agrees
    other.close()


def test_what_is_said_while_a_message_takes_something_back_is_not_lost(fresh):
    """It is understood anew, beside what came: nothing of both is lost, and nothing stands that was taken back."""
    reopen = fresh()
    advisor, other = begin(reopen()), Advisor(store=reopen(), parser="lexicon")
    slow, numbers = advisor.conversation.reply("ada", "I didn't say cheap, I said clean", id="1"), []

    def do(step):
        if isinstance(step, Append) and not numbers:
            other.message("ada", "quiet please, not over 250", id="2")
        came = advisor._do(step)
        numbers.extend([came] if isinstance(step, Append) else [])
        return came

    reply = finish(do, slow)
    assert numbers[0] == 0
    assert "Taken back: price" in reply.text
    other.catch_up()
    card = other.preference("ada")
    assert set(card.wished) == {"clean", "quiet"}
    assert card == advisor.preference("ada")
    assert verify(other).agrees
    other.close()


def test_a_message_that_broke_off_is_answered_over_http(tmp_path, monkeypatch):
    """The journal is out of reach when the answer is written, and the service starts anew: the same id is answered."""
    append, url, broken = SQLiteStore.append, f"sqlite:{tmp_path / 'journal.db'}", [True]

    def fails(store, given, **how):
        if broken and events.REPLY in [event.kind for event in given]:
            raise StoreFailure("a journal must be writable, but this one is gone")
        return append(store, given, **how)

    monkeypatch.setattr(SQLiteStore, "append", fails)
    body = {"text": "cheap and quiet, at most 120", "id": "hello-1"}
    with served(store=url) as ask:
        ask("POST", "/v1/users/ada/messages", body, expect=503)
        assert ask("GET", "/v1/users/ada")["queries"] == 1
    broken.clear()
    with served(store=url) as ask:
        answer = ask("POST", "/v1/users/ada/messages", body)
        assert answer["heard"]["ranking"] == ["value", "sleep quality"]
        assert answer["recommendation"]["items"]
        assert ask("POST", "/v1/users/ada/messages", body) == answer
        assert ask("GET", "/v1/users/ada")["queries"] == 1
