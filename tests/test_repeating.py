"""A message with an id may be sent again: it is taken in once, and answered alike."""

from __future__ import annotations

import pytest
from test_advisor import INNS
from test_service import served

from druthers.advisor import Advisor, events, verify
from druthers.advisor.steps import Append
from druthers.errors import Contradiction

TALK = (
    "it must be clean, and not more than 250",
    "not the first one",
    "the second one was lovely, but loud",
    "why",
    "I'll take 1",
    "forget that",
    "something else",
    "hello",
)


@pytest.fixture
def advisor(tmp_path):
    with Advisor(INNS, store=f"sqlite:{tmp_path / 'journal.db'}", parser="lexicon") as advisor:
        yield advisor


def test_a_message_that_comes_again_is_answered_alike_and_changes_nothing(advisor):
    """Each at once and all again at the end, when they would mean something else: nothing is heard twice."""
    replies, wrote = {}, []
    for number, text in enumerate(TALK):
        before = advisor.store.last()
        replies[text] = advisor.message("ada", text, id=f"m{number}").as_dict()
        last = advisor.store.last()
        wrote += [number] if last > before else []  # else it is answered again by what is so then
        assert advisor.message("ada", text, id=f"m{number}").as_dict() == replies[text], text
        assert advisor.store.last() == last, text
    assert {TALK[number] for number in wrote} >= {*TALK[:3], TALK[4]}
    told = verify(advisor)
    for number in wrote:
        assert advisor.message("ada", TALK[number], id=f"m{number}").as_dict() == replies[TALK[number]]
    assert verify(advisor) == told
    assert told.agrees
    assert told.kinds[events.MESSAGE] == told.kinds[events.REPLY] == len(wrote)
    card = advisor.preference("ada")
    with Advisor(store=advisor.store, parser="lexicon") as again:
        assert again.message("ada", TALK[0], id="m0").as_dict() == replies[TALK[0]]
        assert again.preference("ada") == card


def test_an_id_is_that_of_one_message(advisor):
    advisor.message("ada", "quiet please", id="m")
    for user, text in (("ada", "clean please"), ("eve", "quiet please")):
        with pytest.raises(Contradiction, match="a message must stay as it is, but another one came with 'm'"):
            advisor.message(user, text, id="m")
    assert advisor.store.read(user="eve") == []


def drive(advisor, operation, *, upto=None):
    """Take the steps of an operation, up to the first that appends such a kind of event; return what it came to."""
    answer = None
    try:
        while True:
            step = operation.send(answer)
            if isinstance(step, Append) and step.event.kind == upto:
                return step
            answer = advisor._do(step)
    except StopIteration as end:
        return end.value


def test_what_broke_off_before_anything_was_written_may_come_again(advisor):
    drive(advisor, advisor.conversation.reply("ada", "quiet please", id="m"), upto=events.MESSAGE)
    assert advisor.store.find(events.message_key("m")) is None
    assert advisor.message("ada", "quiet please", id="m").heard.ranking == ("quiet",)
    assert len(advisor.store.read(user="ada", kind=events.QUERY)) == 1


def test_of_two_at_once_one_is_taken_in_and_what_broke_off_is_told(advisor):
    slow = advisor.conversation.reply("ada", "quiet please", id="m")
    claim = drive(advisor, slow, upto=events.MESSAGE)  # it has read, and is about to write
    advisor.message("ada", "quiet please", id="m")
    claimed = advisor._do(claim)
    assert claimed == 0
    again = None
    try:
        step = slow.send(claimed)
        while True:
            step = slow.send(advisor._do(step))
    except StopIteration as end:
        again = end.value
    assert again.heard.ranking == ("quiet",)
    assert len(advisor.store.read(user="ada", kind=events.QUERY)) == 1
    drive(advisor, advisor.conversation.reply("ada", "clean please", id="n"), upto=events.REPLY)
    with pytest.raises(Contradiction, match="taken in once, and 'n' was, but it is not answered"):
        advisor.message("ada", "clean please", id="n")
    assert len(advisor.store.read(user="ada", kind=events.QUERY)) == 2


def test_who_is_erased_by_a_message_is_not_brought_back_by_its_answer(advisor):
    advisor.message("ada", "quiet please", id="1")
    advisor.message("ada", "forget me", id="2")
    assert "erased" in advisor.message("ada", "yes, forget me", id="3").text
    assert [event.position for event in advisor.store.read() if event.user is not None] == []
    assert verify(advisor).agrees
    assert "quiet" not in str([event.body for event in advisor.store.walk() if event.kind in events.PERSONAL])


def test_a_decision_that_is_asked_for_again_is_told_whole():
    with Advisor("hotels", parser="lexicon") as advisor:
        made = advisor.recommend("ada", text="cheap and quiet", size=3, id="d").as_dict()
        assert any(one["trade_off"] for one in made["items"])
        assert advisor.recommend("ada", text="cheap and quiet", size=3, id="d").as_dict() == made


def test_messages_are_repeated_over_http(tmp_path):
    with served(store=f"sqlite:{tmp_path / 'journal.db'}") as ask:
        body = {"text": "cheap and quiet", "id": "hello-1"}
        first = ask("POST", "/v1/users/ada/messages", body)
        last = ask("GET", "/v1/events?limit=1000")["events"][-1]["position"]
        assert ask("POST", "/v1/users/ada/messages", body) == first
        assert ask("GET", "/v1/events?limit=1000")["events"][-1]["position"] == last
        assert ask("GET", "/v1/users/ada")["queries"] == 1
        ask("POST", "/v1/users/ada/messages", {**body, "text": "clean"}, expect=409)
        ask("POST", "/v1/users/ada/messages", {**body, "id": ""}, expect=422)
