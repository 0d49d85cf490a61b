"""Studies of what people chose: who was asked what, where it can be had, how it is read, and its card."""

import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Literal

from druthers.data.people.packages import PACKAGES, Package
from druthers.data.people.readers import READERS, Reader

CARD = "croissant.json"

MEANINGS = {
    "person": "who answered",
    "task": "the how manieth question to this person",
    "option": "place in the slate, from 1",
    "picked": "1 for what was picked; nothing is picked where the person had no preference",
    "country": "where the person lives",
    "first": "the aim that is most important",
    "second": "the aim that comes next",
    "user": "who rated",
    "item": "what was rated",
    "overall": "the rating",
}
TEXTS = {
    *("person", "country", "first", "second", "user", "item"),
    *("film", "title", "entity", "head", "relation", "tail"),
}


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


def make_card(study: Study, tables: Mapping[str, str]) -> dict[str, Any]:
    """Return the card of a study whose tables, by name, have these texts, as Croissant metadata.

    That is JSON-LD, which search engines and loaders of data sets read.
    """
    package = study.package
    version = f" {package.version}" if package.version else ""
    meanings = {**MEANINGS, **study.objectives}
    files_told = [
        {"@type": "cr:FileObject", "@id": name, "name": name, "contentUrl": name, "encodingFormat": "text/csv"}
        | {"sha256": hashlib.sha256(text.encode()).hexdigest()}
        for name, text in tables.items()
    ]
    # The names that Croissant 1.0 asks for, as its specification lists them.
    context = json.loads(files("druthers.data.people").joinpath("context.json").read_text("utf-8"))
    return {
        "@context": context,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": study.name,
        "description": f"{study.title}. {study.asked} ({study.when}). Read from {study.path} in the package"
        f" {package.name}{version} of {package.registry}; costs are turned, so that more is better.",
        "license": study.license,
        "url": package.url,
        "citeAs": study.cite,
        "creator": {"@type": "sc:Person", "name": study.cite.partition(",")[0]},
        "datePublished": study.published,
        "temporalCoverage": study.when,
        "version": "1.0.0",
        "distribution": files_told,
        "recordSet": [_record_set(name, text.partition("\n")[0].split(","), meanings) for name, text in tables.items()],
    }


def _record_set(file: str, columns: Sequence[str], meanings: Mapping[str, str]) -> dict[str, Any]:
    name, fields = file.removesuffix(".csv"), []
    for column in columns:
        kind = "sc:Text" if column in TEXTS else "sc:Float"
        told = {"description": meanings.get(column, column), "dataType": kind}
        source = {"fileObject": {"@id": file}, "extract": {"column": column}}
        fields.append({"@type": "cr:Field", "@id": f"{name}/{column}", "name": column, **told, "source": source})
    return {"@type": "cr:RecordSet", "@id": name, "name": name, "field": fields}
