"""The card of a study as Croissant metadata: JSON-LD that search engines and loaders of data sets read."""

import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from druthers.data.people.studies import Study

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


def make_card(study: Study, tables: Mapping[str, str]) -> dict[str, Any]:
    """Return the metadata of a study whose tables, by name, have these texts."""
    package = study.package
    version = f" {package.version}" if package.version else ""
    meanings = {**MEANINGS, **study.objectives}
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
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": name,
                "name": name,
                "contentUrl": name,
                "encodingFormat": "text/csv",
                "sha256": hashlib.sha256(text.encode()).hexdigest(),
            }
            for name, text in tables.items()
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": name.removesuffix(".csv"),
                "name": name.removesuffix(".csv"),
                "field": [_field(name, column, meanings) for column in text.partition("\n")[0].split(",")],
            }
            for name, text in tables.items()
        ],
    }


def _field(file: str, column: str, meanings: Mapping[str, str]) -> dict[str, Any]:
    kind = "sc:Text" if column in TEXTS else "sc:Float"
    return {
        "@type": "cr:Field",
        "@id": f"{file.removesuffix('.csv')}/{column}",
        "name": column,
        "description": meanings.get(column, column),
        "dataType": kind,
        "source": {"fileObject": {"@id": file}, "extract": {"column": column}},
    }
