"""A conversation in the terminal: what is said is understood, what is told is learned, and nothing breaks it."""

from __future__ import annotations

import io
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from rich.console import Console

from druthers.__main__ import main
from druthers.advisor import Advisor
from druthers.cli.chat import HELP, Conversation, as_stars
from druthers.errors import UnknownUser
from druthers.stores import open_store


@pytest.fixture(scope="module")
def advisor():
    with Advisor("hotels", parser="lexicon") as made:
        yield made


class Talk:
    """One who talks, and reads what is answered."""

    def __init__(self, advisor, user):
        self.advisor, self.user, self.paper = advisor, user, io.StringIO()
        self.talk = Conversation(advisor, user, Console(file=self.paper, width=100))

    def say(self, *lines):
        """Say some lines; returns the answer to the last."""
        for line in lines:
            self.paper.truncate(self.paper.seek(0))
            assert self.talk.take(line)
        return self.paper.getvalue()

    @property
    def card(self):
        return self.advisor.preference(self.user)


@pytest.fixture
def talk(advisor, request):
    return Talk(advisor, request.node.name[:100])


def test_a_sentence_is_understood_and_three_items_are_recommended(talk):
    answer = talk.say("cheap and clean, I don't care about the rooms")
    for word in ("value", "“cheap”", "cleanliness", "“clean”", "rooms", "95%"):
        assert word in answer
    assert [one.name in answer and one.why.split(",")[0] in answer for one in talk.talk.shown.items] == [True] * 3


def test_what_is_not_understood_is_asked_back(talk):
    answer = talk.say("whatever")
    assert "I found no wish in this." in answer
    assert "What matters most to you" in answer
    assert talk.talk.shown is None
    assert "value" in talk.say("the price")
    assert len(talk.talk.shown.items) == 3


@pytest.mark.parametrize(("answer", "heard"), [("yes", ["value"]), ("No.", []), ("location", ["location"])])
def test_a_question_about_one_objective_takes_yes_and_no(talk, answer, heard):
    talk.say("cheap")
    talk.talk.asked = "Is it the value that matters to you?"
    talk.say(answer)
    said = [
        event.body["ranking"] for event in talk.advisor.store.read(user=talk.user, limit=99) if event.kind == "query"
    ]
    assert said[1:] == ([heard] if heard else [])


@pytest.mark.parametrize(
    ("line", "place", "utility"),
    [
        ("1 was great", 1, 1.0),
        ("I took 2: 4 stars", 2, 0.75),
        ("3: 1/5", 3, 0.0),
        ("took number 2, it was awful!", 2, 0.0),
        ("#1 wasn't good", 1, 0.25),
        ("2 ***", 2, 0.5),
        ("I booked 3 - okay", 3, 0.5),
    ],
)
def test_grades_in_words_and_stars_are_learned(talk, line, place, utility):
    talk.say("clean")
    shown = talk.talk.shown
    assert "noted" in talk.say(line)
    felt = talk.advisor.store.about(shown.id)[-1]
    assert (felt.kind, felt.body["item"], felt.body["utility"]) == ("feedback", shown.items[place - 1].item, utility)
    assert "you said so before" in talk.say(line)
    assert talk.card.feedbacks == 1


def test_grades_before_anything_was_shown_are_not_heard_as_wishes(talk):
    assert "say what you want" in talk.say("1 was great")
    assert "Nothing is known of you yet." in talk.say("card")


def test_a_bare_number_is_asked_for_its_grade(talk):
    talk.say("clean")
    assert f"How was {talk.talk.shown.items[1].name}" in talk.say("2")
    assert "★★★★☆" in talk.say("4")
    assert "1 to 3" in talk.say("7")
    assert talk.card.feedbacks == 1


def test_a_changed_grade_is_refused_and_the_talk_goes_on(talk):
    talk.say("clean", "1 was great")
    assert "must stay as first told" in talk.say("1 was awful")
    assert "★" in talk.say("2 was good")
    assert talk.card.feedbacks == 2


def test_sentences_that_begin_with_a_number_are_sentences(talk):
    talk.say("clean")
    assert "value" in talk.say("2 cheap rooms for a week")
    assert talk.card.queries == 2


def test_the_card_and_forgetting(talk):
    assert "Nothing is known of you yet." in talk.say("card")
    answer = talk.say("cheap and clean", "1 was great", "card")
    for word in (*talk.advisor.objectives, "1 said, 1 felt", "from words"):
        assert word in answer
    assert "erased" in talk.say("forget")
    assert "Nothing is known of you." in talk.say("forget")
    with pytest.raises(UnknownUser):
        talk.advisor.preference(talk.user)
    assert "value" in talk.say("cheap")


def test_help_tells_lines_that_work(talk):
    answer = talk.say("help")
    for line, about in HELP:
        assert line in answer
        assert about in answer
        if line != "quit":
            talk.say(line)
    assert not talk.talk.take("quit")
    assert not talk.talk.take(" Bye! ")


@pytest.fixture(scope="module")
def listener(advisor):
    return Talk(advisor, "anybody")


@given(line=st.text(max_size=200) | st.from_regex(r"\A(i took )?\d{1,3} ?(was|:)? ?(great|\d stars|\[bold\])?\Z"))
@example("[/red] [bold]1 was great[/]")
@example("\x1b[31mred")
@example("9" * 300)
@settings(deadline=None, max_examples=60)
def test_no_line_breaks_the_talk(listener, line):
    listener.talk.take("cheap")
    listener.talk.take(line)
    assert "\x1b" not in listener.paper.getvalue()


@given(st.integers(1, 5), st.sampled_from(["{} stars", "{}", "{}/5", "it was {} stars"]))
@settings(deadline=None)
def test_stars_are_read_as_they_are_written(stars, form):
    assert as_stars(form.format(stars)) == stars


def test_a_piped_talk_is_kept_in_its_store(tmp_path, monkeypatch, capsys):
    where = f"sqlite:{tmp_path / 'beers.db'}"
    monkeypatch.setenv("COLUMNS", "100")

    def chat(lines, *words):
        monkeypatch.setattr(sys, "stdin", io.StringIO(lines))
        monkeypatch.setattr(sys, "argv", ["druthers", "chat", "--store", where, "--parser", "lexicon", *words])
        with pytest.raises(SystemExit) as leaving:
            main()
        assert not leaving.value.code
        return capsys.readouterr().out

    out = chat("\nbitter, with a good aroma\n1 was great\nquit\nnever heard\n", "--catalog", "beers", "--user", "ada")
    assert "> bitter, with a good aroma" in out
    assert "★★★★★" in out
    assert "never heard" not in out
    out = chat("card\n", "--user", "ada")
    assert "1 said, 1 felt" in out
    with open_store(where) as store:
        assert {event.user for event in store.read()} == {None, "ada"}
