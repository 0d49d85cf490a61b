"""Benchmarks on real people: how well beliefs and their rivals foretell what people chose."""

from druthers.bench.entering import Entry, add_entry, enter, read_entry
from druthers.bench.players import CEILING, OURS, PLAYERS, Player
from druthers.bench.running import Bench, play_bench, read_study
from druthers.bench.scoring import arrival, compare, score

__all__ = [
    "CEILING",
    "OURS",
    "PLAYERS",
    "Bench",
    "Entry",
    "Player",
    "add_entry",
    "arrival",
    "compare",
    "enter",
    "play_bench",
    "read_entry",
    "read_study",
    "score",
]
