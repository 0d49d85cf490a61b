"""Words of other languages reach whatever a catalog has, by one list: its objectives, its texts and its flags."""

from __future__ import annotations

import pytest

from druthers.advisor import Advisor
from druthers.catalogs import Catalog, Item
from druthers.glossary import LANGUAGES, called, translations
from druthers.limits.words import fold
from druthers.types import Objective

COVERS = ("leather", "linen", "wool", "wood")
RESORTS = Catalog(
    name="lodges",
    objectives=[
        Objective("snow", low=1, high=5),
        Objective("queues", low=0, high=60, less_is_better=True),
        Objective("teachers", low=1, high=5),
        Objective("assembly", low=1, high=5),
        Objective("storage", low=1, high=500),
    ],
    items=[
        Item(
            f"l{n}",
            name=f"Lodge {n}",
            values={
                "snow": 1 + n % 4,
                "queues": 5.0 * n,
                "teachers": 4 - n % 3,
                "assembly": 1 + n % 5,
                "storage": 9.0 + n,
            },
            details={
                "cover": COVERS[n % 4],
                "color": ("red", "grey")[n % 2],
                "train station": n % 3 == 0,
                "day": ("Monday", "Friday")[n // 2 % 2],
                "beds": 1 + n % 4,
                "minimum age": 4 + 4 * (n % 4),
            },
        )
        for n in range(12)
    ],
)


def heard(text: str) -> tuple[set[str], dict[str, object]]:
    """Return what is wished for after a text, and which limits hold."""
    with Advisor(RESORTS) as advisor:
        advisor.hear("ada", text)
        card = advisor.preference("ada")
        return set(card.wished), card.limits


@pytest.mark.parametrize(
    ("text", "wished"),
    [
        ("Ich hätte gern viel Schnee", {"snow"}),
        ("möglichst wenig Anstehen bitte", {"queues"}),
        ("der Kofferraum soll groß sein", {"storage"}),
        ("ein riesiger Gepäckstauraum", {"storage"}),  # a compound is what its last part is
        ("des profs patients et de la neige", {"teachers", "snow"}),
        ("je déteste la queue, le montage doit être facile", {"queues", "assembly"}),
        ("buenos profesores, por favor", {"teachers"}),
        ("vorrei tanta neve e niente coda", {"snow", "queues"}),
        ("goede leraar en veel sneeuw", {"teachers", "snow"}),
    ],
)
def test_objectives_are_found(text: str, wished: set[str]) -> None:
    assert heard(text)[0] == wished


@pytest.mark.parametrize(
    ("text", "limits"),
    [
        ("aus Leinen, bitte", {"cover": "linen"}),
        ("que no sea de lana", {"cover": {"not": "wool"}}),
        ("pas en cuir", {"cover": {"not": "leather"}}),
        ("con estación de tren", {"train station": True}),
        ("in Rot oder Grau", {"color": ["red", "grey"]}),
        ("a gray one", {"color": "grey"}),
    ],
)
def test_texts_and_flags_are_found(text: str, limits: dict[str, object]) -> None:
    assert heard(text)[1] == limits


@pytest.mark.parametrize(
    "text", ["the wood must not rot", "show me the son of the owner", "what the hell", "the artwork counts"]
)
def test_english_words_stay_what_they_are(text: str) -> None:
    wished, limits = heard(text)
    assert "color" not in limits
    assert not wished & {"queues", "storage"}


def test_the_list_is_in_its_form() -> None:
    for language in LANGUAGES:
        for word, meanings in translations(language).items():
            assert word == fold(word)
            assert meanings
            assert all(one in called() for one in meanings)


@pytest.mark.parametrize(
    "text",
    ["nicht am Freitag", "pas le vendredi", "no el viernes", "non di venerdì", "niet op vrijdag", "nothing on Friday"],
)
def test_a_day_that_is_denied_is_not_demanded(text: str) -> None:
    assert heard(text)[1] == {"day": {"not": "Friday"}}


@pytest.mark.parametrize("text", ["rot", "rot bitte", "nur rot", "Decke rot, unter 200 Euro"])
def test_a_word_that_is_english_too_counts_where_nothing_is_english(text: str) -> None:
    assert heard(text)[1]["color"] == "red"


@pytest.mark.parametrize(
    "text", ["c'est pour son anniversaire", "bonne chance", "buenas tardes", "je n'ai pas beaucoup d'argent"]
)
def test_common_words_of_other_languages_are_no_wishes(text: str) -> None:
    assert heard(text) == (set(), {})


@pytest.mark.parametrize(
    ("before", "after", "limits"),
    [
        ("at least 3 beds", "2 beds is ok too", {"beds": {"min": 2}}),
        ("on Monday", "at most 3 beds, no, 2 beds", {"day": "Monday", "beds": 2}),
        ("red, on Monday", "the color is not important but the day is", {"day": "Monday"}),
        ("red", "in this color people do not care", {"color": "red"}),
        ("red", "the color of the roof does not matter", {"color": "red"}),
        ("on Monday", "Friday would be good too", {"day": ["Monday", "Friday"]}),
        ("red", "it is 20 minutes away", {"color": "red"}),
        ("on Monday", "I won't say no to the color red", {"day": "Monday", "color": "red"}),
        ("on Monday", "I say no to the color red", {"day": "Monday", "color": {"not": "red"}}),
    ],
)
def test_what_is_said_next_changes_what_it_speaks_of(before: str, after: str, limits: dict[str, object]) -> None:
    with Advisor(RESORTS, parser="lexicon") as advisor:
        for text in (before, after):
            advisor.message("ada", text)
        assert advisor.preference("ada").limits == limits
