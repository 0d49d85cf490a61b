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
            details={"cover": COVERS[n % 4], "color": ("red", "grey")[n % 2], "train station": n % 3 == 0},
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
