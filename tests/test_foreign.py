"""Sentences in other languages said to catalogs in English, as people type them: wishes, limits, and verdicts."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from druthers.advisor import Advisor
from druthers.advisor.stating import stated_in, vocabulary
from druthers.catalogs import Catalog, Item
from druthers.glossary import meanings
from druthers.language import make_parser
from druthers.limits import Columns, LimitReader
from druthers.types import Objective

# Names of objectives, those of which less is better with a minus, with their highest values; then details.
SHOPS: dict[str, tuple[dict[str, float], dict[str, list[Any]]]] = {
    "cheeses": (
        {"-price": 60, "flavor": 10, "-saltiness": 10, "melting": 10, "shelf life": 90},
        {
            "milk": ["cow", "goat", "sheep"],
            "texture": ["soft", "hard"],
            "organic": [True, False],
            "country": ["France", "Switzerland", "Spain"],
            "smoked": [False, True],
        },
    ),
    "music teachers": (
        {"-price": 90, "patience": 10, "experience": 40, "-travel time": 60, "progress": 10},
        {
            "instrument": ["guitar", "piano", "violin", "drums"],
            "times": ["morning", "afternoon", "evening"],
            "trial lesson": [True, False],
            "home visits": [False, True],
            "level": ["beginner", "advanced"],
        },
    ),
    "nursing homes": (
        {"-price": 5000, "food": 10, "kindness": 10, "activities": 10, "-distance": 60},
        {
            "room": ["single", "double"],
            "garden": [True, False],
            "pets allowed": [False, True],
            "physiotherapy": [True, False],
            "waiting list": [False, True],
        },
    ),
    "camper vans": (
        {"-price": 90000, "-mileage": 300, "-age": 25, "-consumption": 15, "comfort": 10},
        {
            "toilet": [True, False],
            "shower": [False, True],
            "berths": [2, 3, 4, 5],
            "gearbox": ["manual", "automatic"],
            "heating": [True, False],
        },
    ),
    "books": (
        {"humor": 10, "suspense": 10, "readability": 10, "depth": 10, "-price": 40},
        {
            "genre": ["crime", "romance", "biography"],
            "readers": ["adults", "children"],
            "format": ["paperback", "hardcover", "audiobook"],
            "pages": [120, 240, 310, 420],
            "illustrated": [True, False],
        },
    ),
    "restaurants": (
        {"food": 10, "service": 10, "-price": 90, "atmosphere": 10, "-noise": 10},
        {
            "cuisine": ["Italian", "Indian", "Japanese"],
            "terrace": [True, False],
            "vegan options": [False, True],
            "parking": [True, False],
            "closed on": ["Monday", "Sunday"],
            "good with cats": [False, True],
        },
    ),
}


@cache
def catalog(name: str) -> Catalog:
    """Return a small catalog in which all details differ."""
    highs, details = SHOPS[name]
    return Catalog(
        name=name,
        objectives=[
            Objective(one.strip("-"), low=0, high=high, less_is_better=one.startswith("-"))
            for one, high in highs.items()
        ],
        items=[
            Item(
                f"i{n}",
                name=f"Item {'ABCDEFGHIJKL'[n]}",
                values={
                    one.strip("-"): round(high * (0.1 + 0.07 * ((n * (3 + k) + k) % 12)), 1)
                    for k, (one, high) in enumerate(highs.items())
                },
                details={key: texts[(n + n // 3 * k) % len(texts)] for k, (key, texts) in enumerate(details.items())},
            )
            for n in range(12)
        ],
    )


@cache
def readers(name: str) -> tuple[LimitReader, Any, Columns]:
    """Return what reads sentences about a catalog."""
    shop = catalog(name)
    columns = Columns({item.id: item for item in shop.items})
    reader = LimitReader(columns, shop.objectives, shop.name, vocabulary())
    return reader, make_parser("lexicon", objectives=shop.objectives), columns


@pytest.mark.parametrize(
    ("shop", "text", "wanted", "where"),
    [
        ("cheeses", "que sea de oveja y poco salado", {"saltiness"}, {"milk": "sheep"}),
        (
            "cheeses",
            "Ziegenkäse bitte, höchstens 25 Euro das Kilo",
            set(),
            {"milk": "goat", "price": {"max": 25}},
        ),
        ("cheeses", "Il doit bien fondre et ne pas etre trop cher", {"melting", "price"}, {}),
        (
            "cheeses",
            "niente formaggi affumicati, e che venga dalla Svizzera",
            set(),
            {"smoked": False, "country": "Switzerland"},
        ),
        ("cheeses", "queso blando, ecologico si o si", set(), {"texture": "soft", "organic": True}),
        ("cheeses", "che duri a lungo in frigo e abbia tanto sapore", {"shelf life", "flavor"}, {}),
        ("music teachers", "Gitarrenlehrer mit Abendterminen", set(), {"instrument": "guitar", "times": "evening"}),
        (
            "music teachers",
            "Un prof de piano qui se deplace a domicile",
            set(),
            {"instrument": "piano", "home visits": True},
        ),
        (
            "music teachers",
            "violino, non più di 40 euro a lezione",
            set(),
            {"instrument": "violin", "price": {"max": 40}},
        ),
        (
            "music teachers",
            "Eine Probestunde muss dabei sein, und er soll geduldig sein",
            {"patience"},
            {"trial lesson": True},
        ),
        (
            "music teachers",
            "batería para principiantes, por la tarde",
            set(),
            {"instrument": "drums", "level": "beginner", "times": "afternoon"},
        ),
        (
            "nursing homes",
            "Il lui faut absolument une chambre individuelle, et on doit bien y manger",
            {"food"},
            {"room": "single"},
        ),
        (
            "nursing homes",
            "Einzelzimmer und nicht weiter als 20 km von der Stadt",
            set(),
            {"room": "single", "distance": {"max": 20}},
        ),
        ("nursing homes", "tiene que tener jardín y fisioterapia", set(), {"garden": True, "physiotherapy": True}),
        ("nursing homes", "personale gentile e tante attività", {"kindness", "activities"}, {}),
        ("nursing homes", "Das Essen soll gut sein und die Pfleger freundlich", {"food", "kindness"}, {}),
        (
            "nursing homes",
            "pas de liste d'attente, et au plus 3000 euros par mois",
            set(),
            {"waiting list": False, "price": {"max": 3000}},
        ),
        ("nursing homes", "keine Warteliste", set(), {"waiting list": False}),  # both parts of a compound
        ("nursing homes", "deve accettare animali domestici", set(), {"pets allowed": True}),
        ("nursing homes", "ein Garten ist nicht nötig, aber gutes Essen", {"food"}, {}),
        (
            "camper vans",
            "nicht älter als 10 Jahre und eine Toilette muss drin sein",
            set(),
            {"age": {"max": 10}, "toilet": True},
        ),
        (
            "camper vans",
            "Boîte automatique, au moins 4 couchages",
            set(),
            {"gearbox": "automatic", "berths": {"min": 4}},
        ),
        (
            "camper vans",
            "con ducha y calefacción, menos de 40000 euros",
            set(),
            {"shower": True, "heating": True, "price": {"max": 40000}},
        ),
        ("camper vans", "che consumi poco e sia comodo", {"consumption", "comfort"}, {}),
        ("camper vans", "wenig Kilometer auf dem Tacho, und sparsam", {"mileage", "consumption"}, {}),
        ("camper vans", "que no sea muy viejo y gaste poco", {"age", "consumption"}, {}),
        ("books", "un livre drôle et facile à lire", {"humor", "readability"}, {}),
        ("books", "Ein Krimi mit höchstens 300 Seiten", set(), {"genre": "crime", "pages": {"max": 300}}),
        ("books", "para niños, con ilustraciones", set(), {"readers": "children", "illustrated": True}),
        ("books", "qualcosa di avvincente, non troppo caro", {"suspense", "price"}, {}),
        ("books", "una biografia, meno di 20 euro", set(), {"genre": "biography", "price": {"max": 20}}),
        ("restaurants", "que se coma bien y el servicio sea amable", {"food", "service"}, {}),
        ("restaurants", "gemütlich und nicht so laut", {"atmosphere", "noise"}, {}),
        ("restaurants", "un giapponese con parcheggio", set(), {"cuisine": "Japanese", "parking": True}),
        (
            "restaurants",
            "Was Indisches, und sonntags offen",
            set(),
            {"cuisine": "Indian", "closed on": {"not": "Sunday"}},
        ),
        ("restaurants", "il doit s'entendre avec les chats", set(), {"good with cats": True}),
    ],
)
def test_wishes_and_limits_are_read(shop: str, text: str, wanted: set[str], where: dict[str, Any]) -> None:
    reader, parser, columns = readers(shop)
    reading, limits = stated_in(text, reader, parser, columns)
    assert (set(reading.names), limits.where) == (wanted, where)


@pytest.mark.parametrize(
    ("shop", "text", "wanted", "dismissed"),
    [
        (
            "cheeses",
            "wie lange er sich hält ist mir egal, aber mild gesalzen sollte er sein",
            {"saltiness"},
            {"shelf life"},
        ),
        (
            "music teachers",
            "Peu importe le prix, il faut surtout quelqu'un d'expérimenté",
            {"experience"},
            {"price"},
        ),
        ("camper vans", "l'âge m'est égal", set(), {"age"}),
        ("books", "spannend und lustig, der Preis spielt keine Rolle", {"suspense", "humor"}, {"price"}),
        ("restaurants", "il servizio non mi interessa, conta solo il cibo", {"food"}, {"service"}),
    ],
)
def test_what_does_not_matter_is_set_aside(shop: str, text: str, wanted: set[str], dismissed: set[str]) -> None:
    reader, parser, columns = readers(shop)
    reading, limits = stated_in(text, reader, parser, columns)
    assert (set(reading.names), set(reading.dismissed_names), limits.where) == (wanted, dismissed, {})


@pytest.mark.parametrize(
    ("shop", "text", "place", "sign", "about"),
    [
        ("cheeses", "le premier est beaucoup trop sale", 0, -1, None),
        ("music teachers", "il secondo mi piace molto", 1, 1, None),
        ("nursing homes", "la primera es demasiado cara", 0, -1, "price"),
        ("camper vans", "il terzo non mi piace, consuma troppo", 2, -1, "consumption"),
        ("books", "el tercero me encanta", 2, 1, None),
    ],
)
def test_verdicts_on_what_is_shown_are_taken(shop: str, text: str, place: int, sign: int, about: str | None) -> None:
    with Advisor(catalog(shop), parser="lexicon") as advisor:
        made = advisor.message("ada", f"good {catalog(shop).objectives[1].name}").recommendation
        assert made is not None
        assert advisor.message("ada", text).kind == "feedback"
        told = [one.body for one in advisor.store.walk() if one.kind == "feedback"][-1]
        assert told["item"] == made.items[place].item
        assert told["utility"] * sign > 0.0
        assert about is None or about in told["rewards"]


def test_what_begins_with_que_is_no_question() -> None:
    with Advisor(catalog("music teachers"), parser="lexicon") as advisor:
        advisor.message("ada", "a good teacher")
        assert advisor.message("ada", "que sea paciente").kind == "wish"
        assert advisor.message("ada", "el segundo no me gusta nada").kind == "not that one"


@pytest.mark.parametrize(
    ("word", "language", "english"),
    [
        ("gitarrenlehrerin", "de", "guitar"),
        ("ziegenkase", "de", "goat"),
        ("kueche", "de", "kitchen"),
        ("affumicati", "it", "smoked"),
        ("individuelles", "fr", "single"),
        ("ovejas", "es", "sheep"),
    ],
)
def test_words_are_known_in_their_forms_and_in_compounds(word: str, language: str, english: str) -> None:
    assert english in meanings(word, language)
