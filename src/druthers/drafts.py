"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any


@contextlib.contextmanager
def replaced(path: str | os.PathLike[str], *, mode: int = 0o666) -> Iterator[Path]:
    """Yield a path to write to; the file takes its final name only when the block ends well, and is on disk then.

    The mode says who may read and write it, less what the process gives nobody.
    """
    target = Path(path)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}")
    try:
        os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode))
        yield draft
        with draft.open("rb+") as written:
            os.fsync(written.fileno())
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def write_json(path: str | os.PathLike[str], content: Any) -> None:
    """Write plain values as JSON, whole or not at all; what JSON does not know is written as its `repr`."""
    with replaced(path) as draft:
        draft.write_text(json.dumps(content, indent=1, allow_nan=False, default=repr) + "\n", "utf-8")
