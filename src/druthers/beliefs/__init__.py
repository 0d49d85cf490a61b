"""Beliefs: what choices, words and utilities say about one person, and what people have in common."""

from druthers.beliefs.choices import choice_site, predict_choice
from druthers.beliefs.crowd import Crowd
from druthers.beliefs.population import Law, first_law, learn_law
from druthers.beliefs.questions import next_question, question_values

__all__ = [
    "Crowd",
    "Law",
    "choice_site",
    "first_law",
    "learn_law",
    "next_question",
    "predict_choice",
    "question_values",
]
