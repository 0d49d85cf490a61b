"""Data folders: two tables that environments read, the facts behind them and, for one's own data, an experiment."""

import csv
import io
import json
import math
import os
import shutil
import uuid
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from druthers.errors import InvalidSetting
from druthers.types import Floats

FACTS = "facts.json"


def require_free(folder: Path) -> None:
    """Refuse a folder that holds anything but what was built before."""
    if folder.exists() and not folder.is_dir():
        raise InvalidSetting(f"data are written to a folder, but {folder} is a file; name another")
    there = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    if there and FACTS not in there:
        raise InvalidSetting(
            f"a data folder must be new, empty or built before, but {folder} holds {there[0]}; name another"
        )


def write_folder(folder: Path, files: Mapping[str, str]) -> None:
    """Write a folder of text files, whole or not at all; one that was built before is replaced."""
    require_free(folder)
    folder = folder.resolve()
    draft, old = (folder.with_name(f".{folder.name}.{uuid.uuid4().hex}") for _ in range(2))
    try:
        draft.mkdir(parents=True)
        for name, text in files.items():
            with (draft / name).open("w", encoding="utf-8", newline="") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        if folder.exists():
            folder.rename(old)
        draft.rename(folder)
    except OSError as error:
        raise InvalidSetting(f"data must be written to a folder that can be made, but: {error}") from None
    finally:
        if old.exists() and not folder.exists():
            old.rename(folder)
        for leftover in (draft, old):
            shutil.rmtree(leftover, ignore_errors=True)


def as_csv(what: str, names: Sequence[str], objectives: Sequence[str], array: Floats) -> str:
    """Return a table with a line of names first; numbers come back bit for bit.

    Examples
    --------
    >>> import numpy as np
    >>> print(as_csv("item", ["Inn, the"], ["clean", "quiet"], np.array([[4.0, 0.1]])), end="")
    item,clean,quiet
    "Inn, the",4.0,0.1
    """
    return csv_text([what, *objectives], ([name, *values] for name, values in zip(names, array.tolist(), strict=True)))


def csv_text(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table as text, a line of names first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue()


def as_experiment(title: str, reward_noise: float, preference_noise: float) -> str:
    """Return an experiment that compares policies on the data of its folder.

    No constant in it is chosen for the data: what a newcomer can believe at once.
    """
    noises = {"reward_noise": reward_noise, "preference_noise": preference_noise}
    shown = {name: f"{noise if math.isfinite(noise) else 0.5:.4g}" for name, noise in noises.items()}
    template = files("druthers.data").joinpath("experiment.template").read_text("utf-8")
    return template.format(title=json.dumps(title, ensure_ascii=False), **shown)
