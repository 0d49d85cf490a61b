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
from druthers.advisor.wording import fact_in_words
from druthers.cli.chat import HELP
from druthers.cli.chat import Talk as Chat
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
        self.talk = Chat(advisor, user, Console(file=self.paper, width=100))

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


def shown(talk):
    """Return the id of the last decision and its items."""
    return talk.advisor.fold.people[talk.user].shown


def test_a_sentence_is_understood_and_three_items_are_recommended(talk):
    answer = talk.say("cheap and clean, I don't care about the rooms")
    assert "You want value and cleanliness." in answer
    assert "Set aside: rooms." in answer
    for id in shown(talk)[1]:
        item = talk.advisor.items[id]
        assert item.name in " ".join(answer.split())
        assert all(fact_in_words(fact) in " ".join(answer.split()) for fact in item.details.values())
    assert len(shown(talk)[1]) == 3


def test_what_an_item_has_none_of_is_not_named(talk):
    bare = next(item for item in talk.advisor.items.values() if not item.details["amenities"])
    answer = " ".join(talk.say(f"under {bare.details['price'] + 1:g} in {bare.details['city']}").split())
    assert bare.name in answer
    assert f"price {bare.details['price']} ·" in answer


def test_what_is_not_understood_is_said(talk):
    assert "I did not understand this: nothing was changed." in talk.say("blorp fnord")
    assert "Nothing is known of you yet." in talk.say("card")
    assert "You want value" in talk.say("the price")


@pytest.mark.parametrize(
    ("line", "place", "utility"),
    [
        ("1 was great", 1, 1.0),
        ("I took 2: 4 stars", 2, 0.5),
        ("3: 1/5", 3, -1.0),
        ("took number 2, it was awful!", 2, -1.0),
        ("#1 wasn't good", 1, -0.3),
        ("2 ***", 2, 0.0),
        ("I booked 3 - okay", 3, 0.2),
    ],
)
def test_grades_in_words_and_stars_are_learned(talk, line, place, utility):
    talk.say("clean")
    decision, ids = shown(talk)
    assert "Noted" in talk.say(line)
    felt = talk.advisor.store.about(decision)[-1]
    assert (felt.kind, felt.body["item"]) == ("feedback", ids[place - 1])
    assert felt.body["utility"] == pytest.approx(utility)
    assert talk.card.feedbacks == 1


def test_sentences_that_begin_with_a_number_are_sentences(talk):
    talk.say("clean")
    assert "value" in talk.say("2 rooms for a week, cheap")
    assert talk.card.queries == 2


def test_the_card_and_forgetting(talk):
    assert "Nothing is known of you yet." in talk.say("card")
    answer = talk.say("cheap and clean", "1 was great", "card")
    for word in (*talk.advisor.objectives, "1 said, 1 felt", "from words"):
        assert word in answer
    assert "yes, forget me" in talk.say("forget me")
    assert "erased" in talk.say("yes, forget me")
    with pytest.raises(UnknownUser):
        talk.advisor.preference(talk.user)
    assert "value" in talk.say("cheap")


def test_help_tells_lines_that_work(talk):
    answer = talk.say("help")
    for line, about in HELP:
        assert line in answer
        assert about in answer
        if line not in ("quit", "at most 120 euros"):  # these hotels have no price
            assert "did not understand" not in talk.say(line)
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
    assert "was great" in out
    assert "never heard" not in out
    out = chat("card\n", "--user", "ada")
    assert "1 said, 1 felt" in out
    with open_store(where) as store:
        assert {event.user for event in store.read()} == {None, "ada"}
