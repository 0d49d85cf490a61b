"""Experiments: what is played, how it is spread over machines, and what came of it."""

from __future__ import annotations

from druthers.experiments.plan import Experiment, Row, experiment_names, load_experiment
from druthers.experiments.results import Paired, Results, mean_and_error, paired
from druthers.experiments.running import Progress, run_experiment

__all__ = [
    "Experiment",
    "Paired",
    "Progress",
    "Results",
    "Row",
    "experiment_names",
    "load_experiment",
    "mean_and_error",
    "paired",
    "run_experiment",
]
