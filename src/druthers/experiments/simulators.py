"""Who writes what users mean and who reads it, and what the objectives are called."""

import hashlib
import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from druthers import language
from druthers.environments.reviews import read_rows
from druthers.errors import InvalidExperiment, InvalidSetting, require_known
from druthers.experiments.plan import Experiment
from druthers.language import PARSERS, WRITERS, Parser, Writer, item_of, load_domain, make_parser, make_writer
from druthers.sources import our_digest
from druthers.types import Objective

# The domains in which the objectives of known data have their names, in the order of the data.
DOMAINS = {"tripadvisor": "hotels", "hotels": "hotels", "beeradvocate": "beers", "beers": "beers"}

# Settings of a model that its replies depend on; the others say how it is reached.
DECISIVE = ("model", "base_url", "temperature", "options")


@dataclass(frozen=True)
class Simulators:
    """Who writes what users mean (Simulator-1 of the paper) and who reads it (Simulator-2)."""

    objectives: tuple[Objective, ...]  # what users may care about, in the order of the environment
    item: str | None = None  # what they look for, with its article
    writer: str = "template"  # a name in WRITERS, and one in PARSERS; "llm" asks the model
    parser: str = "default"
    typos: float = 0.0  # chance that a word of the template writer has a typing error
    model: Mapping[str, Any] = field(default_factory=dict)  # model, base_url, key_variable, temperature and others
    # Whether policies hear a permutation of all objectives after every text, as in the paper: what was read comes
    # first, what was dismissed last, and the order of the rest is made up.
    whole: bool = False

    def __post_init__(self) -> None:
        for kind, name, known in (("writer", self.writer, WRITERS), ("parser", self.parser, PARSERS)):
            require_known(kind, known, name)
            if name == "llm" and "model" not in self.model:
                raise InvalidSetting(f"a {kind} that is a language model must be named, but got no model; give --model")
        if self.model and "llm" not in (self.writer, self.parser):
            raise InvalidSetting(f"a model must write or read, but {self.writer!r} writes and {self.parser!r} reads")

    def make(self, seed: int, cache: Path) -> tuple[Writer, Parser]:
        """Return both of them; replies of the model are kept in a folder."""
        model = {**self.model, "cache": cache}
        writing = {"seed": seed, "item": self.item, "typos": self.typos, **(model if self.writer == "llm" else {})}
        reading = model if self.parser == "llm" else {}
        return (
            make_writer(self.writer, objectives=self.objectives, **writing),
            make_parser(self.parser, objectives=self.objectives, **reading),
        )

    def settings(self) -> dict[str, Any]:
        """Return all that the texts and their readings depend on, but for the seed."""
        plain = {key: value for key, value in asdict(self).items() if key not in ("objectives", "model", "whole")}
        model = {key: value for key, value in self.model.items() if key in DECISIVE}
        return {**plain, "objectives": [asdict(each) for each in self.objectives], "model": model}

    def options(self) -> str:
        """Return what of this is not a default, as options of `druthers converse`."""
        usual = ("llm", "llm") if self.model else ("template", "default")
        given = {
            "model": self.model.get("model"),
            "base-url": self.model.get("base_url"),
            "writer": None if self.writer == usual[0] else self.writer,
            "parser": None if self.parser == usual[1] else self.parser,
            "typos": self.typos or None,
        }
        options = [f"--{name} {shlex.quote(str(value))}" for name, value in given.items() if value is not None]
        return " ".join([*options, *(["--whole"] if self.whole else [])])

    def fingerprint(self, seed: int) -> str:
        """Return a short name for everything that decides the texts and readings, the code included."""
        found = Path(language.__file__).parent.rglob("*")  # code, word lists, prompts
        sources = our_digest(frozenset(file for file in found if file.is_file() and "__pycache__" not in file.parts))
        content = json.dumps([self.settings(), seed, sources], sort_keys=True, default=str)
        return hashlib.sha256(content.encode()).hexdigest()[:8]


def default_objectives(experiment: Experiment) -> tuple[tuple[Objective, ...], str | None]:
    """Return the objectives of an experiment's environment and what is looked for, or say that they need names."""
    data = experiment.environment.get("data")
    domain = DOMAINS.get(str(data))
    if domain is not None:
        return load_domain(domain), item_of(domain)
    table = None if data is None else Path(data) / "rewards.csv"
    if table is not None and table.exists():
        return tuple(map(Objective, read_rows(table)[0][1:])), None
    raise InvalidExperiment(
        f"objectives must have names to be spoken of, but those of {experiment.name!r} have none; name them with"
        " --objectives A,B,... or --domain NAME"
    )
