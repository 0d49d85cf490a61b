"""Environments: users, arms and all the chance of a run, drawn before any policy plays."""

from druthers.environments.base import Environment
from druthers.environments.people import People, Person, read_people, read_rankings, replay
from druthers.environments.reviews import Reviews
from druthers.environments.synthetic import Items, Synthetic
from druthers.environments.tape import Chunk, Tape
from druthers.own import find_class

ENVIRONMENTS: dict[str, type[Environment]] = {
    environment.name: environment for environment in (Synthetic, Reviews, Items)
}


def find_environment(name: str) -> type[Environment]:
    """Return the class of an environment: one of ours by its name, or anyone's by FILE.py:Class."""
    found: type[Environment] = find_class(name, ENVIRONMENTS, Environment, "environment")
    return found


__all__ = [
    "ENVIRONMENTS",
    "Chunk",
    "Environment",
    "Items",
    "People",
    "Person",
    "Reviews",
    "Synthetic",
    "Tape",
    "find_environment",
    "read_people",
    "read_rankings",
    "replay",
]
