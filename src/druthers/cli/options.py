"""What several commands are told: options that mean the same everywhere, and how their texts are read."""

import os
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from druthers.drafts import read_value
from druthers.environments.reviews import DATA_VARIABLE
from druthers.errors import InvalidExperiment, InvalidSetting
from druthers.experiments import Experiment, load_experiment
from druthers.language import PARSERS, domain_names
from druthers.types import Objective


def option(metavar: str, about: str, *names: str, **more: Any) -> Any:
    """Return an option: what stands for its value, and what it is."""
    return typer.Option(*names, metavar=metavar, help=about, **more)


def argument(metavar: str, about: str, **more: Any) -> Any:
    """Return an argument: what stands for its value, and what it is."""
    return typer.Argument(metavar=metavar, help=about, **more)


def flag(about: str, *names: str) -> Any:
    """Return an option that is there or not: what it does."""
    return typer.Option(*names, help=about)


Name = Annotated[str, argument("NAME|FILE", "An experiment of `druthers list`, or a TOML file.")]
Runs = Annotated[int | None, option("N", "Independent runs, each with its own draws.", min=1)]
Horizon = Annotated[int | None, option("T", "Rounds of a run.", min=1)]
Seed = Annotated[int | None, option("N", "The seed of all runs: the same seed, the same results.", min=0)]
Points = Annotated[int | None, option("N", "About how many rounds of a run to keep in the curves.", min=1)]
Policies = Annotated[
    str | None, option("A,B,...", "Only these policies, or others by name; your own as FILE.py:Class.")
]
Set = Annotated[
    list[str] | None,
    option(
        "KEY=VALUE",
        "Change a setting; may be repeated. KEY is a path such as `environment.corruption` or"
        " `policies.s-ucb.width`; a single word is that of the environment, or of all policies that take it.",
        "--set",
    ),
]
EngineName = Annotated[str, option("NAME", "Where to play: `processes`, `ray`, or an address `ray://HOST:PORT`.")]
Workers = Annotated[int | None, option("N", "How many processes; one for each core by default.", min=1)]
Data = Annotated[Path | None, option("DIR", f"Folder with the review data; else `{DATA_VARIABLE}`, else a stand-in.")]
Quiet = Annotated[bool, flag("Show nothing but errors.", "--quiet", "-q")]
AsJson = Annotated[bool, flag("Print JSON and nothing else.", "--json")]
NoFigures = Annotated[bool, flag("Write tables and curves only.", "--no-figures")]
Parser = Annotated[str, option("NAME", f"How to read: {', '.join(PARSERS)}.")]
Listed = Annotated[str | None, option("A,B,...", "The objectives, by name; any will do.")]
Domain = Annotated[str | None, option("NAME", f"A catalog of objectives: {', '.join(domain_names())}.")]
Model = Annotated[str | None, option("NAME", "A language model that reads, and writes if there is something to write.")]
BaseUrl = Annotated[str | None, option("URL", "With --model: where its server is.")]
KeyVariable = Annotated[str | None, option("NAME", "With --model: the environment variable that holds the key.")]


def load_named(
    name: str,
    data: Path | None,
    *,
    policies: str | None = None,
    settings: list[str] | None = None,
    **changes: int | None,
) -> Experiment:
    """Return an experiment as the options of a command change it.

    A folder of review data is made known to all that look for it.
    """
    if data is not None:
        if not data.is_dir():
            raise InvalidExperiment(f"--data must be a folder, but got {data}")
        os.environ[DATA_VARIABLE] = str(data.resolve())  # so that other processes find it too
    known = load_experiment(name)
    experiment = known if policies is None else known.only(named(policies))
    given: dict[str, Any] = {key: value for key, value in changes.items() if value is not None}
    found = experiment.with_settings(given | dict(map(read_setting, settings or ())))
    if known.about and any(
        getattr(found, key) != getattr(known, key) for key in ("environment", "policies", "horizon")
    ):
        found = replace(found, about=f"As it comes along: {known.about}")  # which may not hold of what is asked for
    return found


def read_setting(text: str) -> tuple[str, Any]:
    """Read KEY=VALUE, the value as TOML does."""
    key, equals, value = text.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise InvalidExperiment(f"a setting must look like KEY=VALUE, but got {text!r}")
    return key.strip(), read_value(value)


def listed(text: str) -> list[str]:
    """Read A,B,...

    Examples
    --------
    >>> listed("clean, quiet,")
    ['clean', 'quiet']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def named(text: str) -> list[str]:
    """Read A,B,... of which there must be some: nothing listed is a name that is not known."""
    return listed(text) or [text]


def listed_objectives(text: str | None, domain: str | None) -> tuple[Objective, ...] | None:
    """Return the objectives that are listed, if any are; those of a domain are others."""
    if text is not None and domain is not None:
        raise InvalidSetting(f"give --objectives or --domain, not both, but got {text!r} and {domain!r}")
    return None if text is None else tuple(map(Objective, listed(text)))


def model_settings(model: str | None, **more: Any) -> dict[str, Any]:
    """Return what is told of a language model; nothing is told of none."""
    given = {name: value for name, value in more.items() if value is not None}
    if given and model is None:
        raise InvalidSetting(f"--{next(iter(given)).replace('_', '-')} goes with --model, but got no model; name it")
    return {} if model is None else {"model": model, **given}
