"""From sentences to rankings: what a user wants, read from what the user says."""

from druthers.language.parsing import Parser
from druthers.language.spotting import Words
from druthers.types import Objective
