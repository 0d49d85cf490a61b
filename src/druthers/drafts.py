"""Files that are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator
from pathlib import Path


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
