"""Replies of language models kept on disk, so that the same question need not be asked twice."""

import contextlib
import hashlib
import json
import os
import tempfile
import warnings
from pathlib import Path
from typing import Any

from druthers.errors import Degraded


def question_key(question: Any) -> str:
    """Return a hash of a question: everything that the reply depends on.

    Examples
    --------
    >>> question_key({"model": "m", "text": "cheap"}) == question_key({"text": "cheap", "model": "m"})
    True
    """
    plain = json.dumps(question, sort_keys=True, ensure_ascii=True, separators=(",", ":"), default=str)
    return hashlib.sha256(plain.encode()).hexdigest()


class ReplyCache:
    """A folder of replies, one file each; several processes may share it.

    Parameters
    ----------
    folder
        Where the files are; made when the first reply is kept. They hold what models replied, quotes of users' words
        included, but neither questions nor keys.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)

    def get(self, key: str) -> dict[str, Any] | None:
        """Return what was kept; a damaged file counts as none."""
        try:
            value = json.loads(self._path(key).read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return None
        return value if isinstance(value, dict) and isinstance(value.get("reply"), str) else None

    def put(self, key: str, value: dict[str, Any]) -> None:
        """Keep a reply: whole or not at all; where that fails, a warning says so, since the reply itself is good."""
        try:
            self._write(self._path(key), json.dumps(value))
        except OSError as error:
            why = error.strerror or type(error).__name__
            warnings.warn(f"a reply could not be kept in {self.folder} ({why})", Degraded, stacklevel=2)

    def _write(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                file.write(text)
            Path(name).replace(path)
        except BaseException:
            with contextlib.suppress(OSError):
                Path(name).unlink()
            raise

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}.json"
