"""Studies of what people chose: who was asked what, where it can be had, and how it is read."""

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from druthers.data.people.packages import PACKAGES, Package
from druthers.data.people.readers import READERS, Reader


@dataclass(frozen=True)
class Study:
    """What is known of a study, as studies.toml has it."""

    name: str
    kind: Literal["choices", "rankings", "ratings"]  # of an option from a slate, of objectives, of items
    title: str
    asked: str  # who was asked what
    when: str
    objectives: dict[str, str]  # what options differ in, and what each of them is
    package: Package  # where it can be had, and the file in it
    path: str
    read: Reader
    sha256: str  # of the table as it is written, whatever package it was read from
    license: str  # of the package that carries it
    cite: str

    @property
    def published(self) -> str:
        """The year in which the study was published, as its citation has it."""
        return self.cite.partition("(")[2].partition(")")[0]


def _study(name: str, content: dict[str, Any]) -> Study:
    levels = dict.fromkeys(content.pop("levels", ()), "1 for this one, 0 else")
    content["objectives"] = levels | content.get("objectives", {})
    content["package"] = PACKAGES[content["package"]]
    return Study(name=name, read=READERS[name], **content)


_TABLE = tomllib.loads(files("druthers.data.people").joinpath("studies.toml").read_text("utf-8"))
STUDIES = {name: _study(name, content) for name, content in _TABLE.items()}
