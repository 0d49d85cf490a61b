"""Studies of what people chose, brought into data folders with a card; nothing of them is in this package."""

import hashlib
import json
from functools import partial
from pathlib import Path
from typing import NamedTuple

from druthers.data.folders import FACTS, write_folder
from druthers.data.people.studies import CARD, STUDIES, Shelf, Study, make_card
from druthers.drafts import to_json
from druthers.errors import InvalidSetting, require_known

__all__ = ["STUDIES", "Brought", "Shelf", "Study", "bring"]


class Brought(NamedTuple):
    """A study in the folder of its table and card, with how many lines and people the table has."""

    study: Study
    folder: Path
    rows: int
    people: int


def bring(name: str, home: Path, shelf: Shelf) -> Brought:
    """Read a study from its package, see that it is what it should be, and write table and card into its folder."""
    require_known("study", STUDIES, name)
    study = STUDIES[name]
    more = partial(shelf.read, study.package)
    table = study.read(more(study.path), more, tuple(study.objectives))
    files = {f"{study.kind}.csv": table.as_csv(), **table.other}
    digest = hashlib.sha256("".join(files.values()).encode()).hexdigest()
    if digest != study.sha256:
        raise InvalidSetting(
            f"what is read from {study.package.name} must have the SHA-256 {study.sha256[:16]}..., but {name} has"
            f" {digest[:16]}...; the package's data changed, or the file is another: take version"
            f" {study.package.version or 'of another release'}"
        )
    about = f"{study.title}; {CARD} has the whole card"
    facts = {"about": about, "package": list(study.package), "file": study.path, "sha256": digest}
    card = json.dumps(make_card(study, files), indent=1, ensure_ascii=False) + "\n"
    write_folder(home / name, {**files, CARD: card, FACTS: to_json(facts)})
    return Brought(study, home / name, len(table.rows), len({row[0] for row in table.rows}))
