"""A message with an id may be sent again: it is taken in once, and answered alike."""

from __future__ import annotations

import pytest
from test_advisor import INNS
from test_service import served

from druthers.advisor import Advisor, events, verify
from druthers.advisor.steps import Append
from druthers.catalogs import Catalog, Item
from druthers.errors import Contradiction
from druthers.types import Objective

TALK = (
    "it must be clean, and not more than 250",
    "not the first one",
    "the second one was lovely, but loud",
    "why",
    "I'll take 1",
    "forget that",
    "something else",
    "hello",
    "which is best",
    "what do you know about me",
    "xyzzy frobnicate",
)


@pytest.fixture
def advisor(tmp_path):
    with Advisor(INNS, store=f"sqlite:{tmp_path / 'journal.db'}", parser="lexicon") as advisor:
        yield advisor


def test_a_message_that_comes_again_is_answered_alike_and_changes_nothing(advisor):
    """Each at once and all again at the end, when they would mean something else: nothing is heard twice."""
    replies = {}
    for number, text in enumerate(TALK):
        replies[text] = advisor.message("ada", text, id=f"m{number}").as_dict()
        last = advisor.store.last()
        assert advisor.message("ada", text, id=f"m{number}").as_dict() == replies[text], text
        assert advisor.store.last() == last, text
    told = verify(advisor)
    for number, text in enumerate(TALK):
        assert advisor.message("ada", text, id=f"m{number}").as_dict() == replies[text]
        with pytest.raises(Contradiction, match="its own among those of all users"):
            advisor.message("ada", "clean", id=f"m{number}")
    assert verify(advisor) == told
    assert told.agrees
    assert told.kinds[events.MESSAGE] == told.kinds[events.REPLY] == len(TALK)
    card = advisor.preference("ada")
    with Advisor(store=advisor.store, parser="lexicon") as again:
        assert again.message("ada", TALK[0], id="m0").as_dict() == replies[TALK[0]]
        assert again.preference("ada") == card


@pytest.mark.parametrize("text", ["cheaper than the second one", "quieter than The Mill and cheap", "not over 190"])
def test_what_was_heard_is_told_as_it_was_whatever_is_shown_or_limited_since(advisor, text):
    """Read again, it would be compared with other items, and its limits would stand beside other ones."""
    advisor.message("ada", "quiet please", id="0")
    before = advisor.message("ada", text, id="1").as_dict()
    assert before["heard"]["limits"], before
    advisor.message("ada", "up to 250 now, and clean", id="2")
    advisor.put_item(Item("barn", "The Barn", values={"clean": 2.5, "quiet": 1.1, "price": 290}))
    assert advisor.message("ada", text, id="1").as_dict() == before
    with Advisor(store=advisor.store, parser="lexicon") as again:
        assert again.message("ada", text, id="1").as_dict() == before


def test_a_query_and_a_decision_that_come_again_are_told_as_they_were(advisor):
    advisor.hear("ada", "not over 190, and I don't care about noise")
    heard = advisor.hear("ada", "price does not matter, and somewhere froopy", id="q").as_dict()
    assert advisor.hear("ada", "price does not matter, and somewhere froopy", id="q").as_dict() == heard
    made = advisor.recommend("ada", text="quiet, not over 250", size=2, id="d").as_dict()
    ranked = advisor.hear("ada", ["clean"], id="r").as_dict()
    assert heard["dropped"] == ["price"]
    assert made["heard"]["limits"]
    advisor.hear("ada", "only under 100")
    assert advisor.hear("ada", "price does not matter, and somewhere froopy", id="q").as_dict() == heard
    assert advisor.recommend("ada", text="quiet, not over 250", size=2, id="d").as_dict() == made
    assert advisor.hear("ada", ["clean"], id="r").as_dict() == ranked


def test_what_was_heard_is_told_by_the_names_of_then(advisor):
    told = advisor.message("ada", "quiet and not over 250", id="m").as_dict()
    renamed = [Objective("calm", low=1, high=5), Objective("clean", low=1, high=5)]
    wanted = Catalog("inns", renamed, [Item("mill", "The Mill", values={"clean": 4.8, "calm": 2.0})])
    advisor.update(wanted, renamed={"quiet": "calm"}, retire=True)
    assert advisor.message("ada", "quiet and not over 250", id="m").as_dict() == told


def test_words_in_a_journal_of_before_are_read_again(advisor):
    told = advisor.hear("ada", "quiet, not over 190", id="q")
    event = advisor.store.find(events.said_key("q"))
    body = {part: event.body[part] for part in event.body if part not in ("reading", "stated", "not_understood")}
    old = events.make(events.QUERY, body, user="eve", key=events.said_key("old"))
    advisor._do(Append(old))
    again = advisor.hear("eve", "quiet, not over 190", id="old")
    assert (again.ranking, again.limits, again.reading) == (told.ranking, told.limits, told.reading)


def test_an_id_is_that_of_one_message(advisor):
    advisor.message("ada", "quiet please", id="m")
    for user, text in (("ada", "clean please"), ("eve", "quiet please")):
        with pytest.raises(
            Contradiction, match="the id of a message must be its own among those of all users, but another one has 'm'"
        ):
            advisor.message(user, text, id="m")
    assert advisor.store.read(user="eve") == []


def drive(advisor, operation, *, upto=None):
    """Take the steps of an operation, up to the first that appends such a kind of event; return what it came to."""
    answer = None
    try:
        while True:
            step = operation.send(answer)
            if isinstance(step, Append) and upto in [event.kind for event in (*step.before, step.event)]:
                return step
            answer = advisor._do(step)
    except StopIteration as end:
        return end.value


def finish(advisor, operation, came):
    """Take the rest of an operation's steps after what came of one; return what it comes to."""
    try:
        while True:
            came = advisor._do(operation.send(came))
    except StopIteration as end:
        return end.value


def test_what_broke_off_before_anything_was_written_may_come_again(advisor):
    drive(advisor, advisor.conversation.reply("ada", "quiet please", id="m"), upto=events.MESSAGE)
    assert advisor.store.find(events.message_key("m")) is None
    assert advisor.message("ada", "quiet please", id="m").heard.ranking == ("quiet",)
    assert len(advisor.store.read(user="ada", kind=events.QUERY)) == 1


def test_a_first_event_that_is_refused_takes_no_id(advisor):
    """What is written next takes it, with all that was done."""
    first = advisor.recommend("ada", size=3)
    slow = advisor.conversation.reply("ada", "I'll take 2", id="m")
    step = drive(advisor, slow, upto=events.MESSAGE)
    assert step.event.kind == events.CHOICE
    advisor.pick(first.id, first.items[0].item)  # another one is taken meanwhile
    came = advisor._do(step)
    assert came == 0
    assert advisor.store.find(events.message_key("m")) is None
    told = finish(advisor, slow, came)
    assert advisor.message("ada", "I'll take 2", id="m").as_dict() == told.as_dict()
    claim = advisor.store.find(events.message_key("m"))
    assert [one.kind for one in advisor.store.read(claim.position)] == [events.FEEDBACK, events.REPLY]


def test_of_two_at_once_one_is_taken_in_and_both_are_answered_alike(advisor):
    slow = advisor.conversation.reply("ada", "quiet please", id="m")
    claim = drive(advisor, slow, upto=events.MESSAGE)  # it has read, and is about to write
    told = advisor.message("ada", "quiet please", id="m").as_dict()
    claimed = advisor._do(claim)
    assert claimed == 0
    assert finish(advisor, slow, claimed).as_dict() == told
    assert len(advisor.store.read(user="ada", kind=events.QUERY)) == 1


def test_of_two_answers_at_once_one_is_given(advisor):
    """It is taken in and not answered yet when it comes again: who is slower gives the answer of the other."""
    slow = advisor.conversation.reply("ada", "clean please", id="n")
    answer = drive(advisor, slow, upto=events.REPLY)
    told = advisor.message("ada", "clean please", id="n").as_dict()
    assert told["recommendation"]
    came = advisor._do(answer)
    assert came == 0
    assert finish(advisor, slow, came).as_dict() == told
    kinds = [event.kind for event in advisor.store.read(user="ada")]
    assert kinds == [events.MESSAGE, events.QUERY, events.DECISION, events.REPLY]


def test_nobody_gets_the_answer_to_a_message_of_somebody_else(advisor):
    """Two take the same id at once, and the slower one says nothing that is written before its answer."""
    advisor.put_item(Item("loft", "The Loft", values={"clean": 3.0, "quiet": 3.0, "price": 120}))
    advisor.message("ada", "clean please")
    slow = advisor.conversation.reply("ada", "something else", id="m")
    answer = drive(advisor, slow, upto=events.REPLY)
    assert [event.kind for event in (*answer.before, answer.event)] == [events.MESSAGE, events.DECISION, events.REPLY]
    advisor.message("eve", "quiet please", id="m")
    came = advisor._do(answer)
    assert came == 0
    with pytest.raises(Contradiction, match="another one has 'm'"):
        finish(advisor, slow, came)


def test_a_message_in_a_journal_of_before_that_broke_off_is_told(advisor):
    advisor._do(Append(events.make(events.MESSAGE, {"text": "clean"}, user="ada", key=events.message_key("old"))))
    with pytest.raises(Contradiction, match="its answer broke off, in a journal of before; see the history"):
        advisor.message("ada", "clean", id="old")


def test_who_is_erased_while_an_answer_is_written_is_not_brought_back(advisor):
    slow = advisor.conversation.reply("ada", "clean please", id="n")
    answer = drive(advisor, slow, upto=events.REPLY)
    advisor.forget("ada")
    reply = finish(advisor, slow, advisor._do(answer))
    assert (reply.heard.ranking, reply.recommendation) == (("clean",), None)
    assert advisor.store.read(user="ada") == []


def test_who_is_erased_by_a_message_is_not_brought_back_by_its_answer(advisor):
    advisor.message("ada", "quiet please", id="1")
    advisor.message("ada", "forget me", id="2")
    assert "erased" in advisor.message("ada", "yes, forget me", id="3").text
    assert [event.position for event in advisor.store.read() if event.user is not None] == []
    assert verify(advisor).agrees
    assert "quiet" not in str([event.body for event in advisor.store.walk() if event.kind in events.PERSONAL])


def test_who_was_erased_by_a_message_is_not_brought_back_when_it_comes_again(advisor):
    for _ in range(2):
        advisor.message("ada", "forget me", id="1")
        advisor.message("ada", "yes, forget me", id="2")
    assert [event for event in advisor.store.read() if event.user is not None] == []


def test_who_is_erased_while_a_question_is_answered_is_not_brought_back(advisor):
    advisor.message("ada", "clean please", id="1")
    slow = advisor.conversation.reply("ada", "why", id="2")
    answer = drive(advisor, slow, upto=events.REPLY)
    advisor.forget("ada")
    assert finish(advisor, slow, advisor._do(answer)).text
    assert advisor.store.read(user="ada") == []


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


def test_a_message_that_comes_again_counts_once_whatever_it_is(tmp_path):
    with served(store=f"sqlite:{tmp_path / 'journal.db'}") as ask:
        name = 'druthers_queries_total{understood="no"}'
        for id in ("1", "1", "2"):
            reply = ask("POST", "/v1/users/ada/messages", {"text": "xyzzy frobnicate", "id": id})
            assert reply["kind"] == "unclear"
        figures = ask("GET", "/metrics")
        assert f"{name} 2.0" in figures
