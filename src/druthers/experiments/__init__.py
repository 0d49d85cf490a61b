"""Experiments: what is played, how it is spread over machines, and what came of it."""

from druthers.experiments.conversing import Conversation, converse
from druthers.experiments.plan import Experiment, Row, experiment_names, load_experiment
from druthers.experiments.results import Paired, Results, mean_and_error, paired
from druthers.experiments.running import run_experiment
from druthers.experiments.simulators import Simulators, default_objectives

__all__ = [
    "Conversation",
    "Experiment",
    "Paired",
    "Results",
    "Row",
    "Simulators",
    "converse",
    "default_objectives",
    "experiment_names",
    "load_experiment",
    "mean_and_error",
    "paired",
    "run_experiment",
]
