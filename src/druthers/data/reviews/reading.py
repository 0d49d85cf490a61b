"""Raw files, plain or gzip, read once from first to last in blocks of whole records, whatever their bytes."""

import gzip
import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from druthers.errors import InvalidSetting

# Bytes read at a time, and the longest record that is not skipped: together they bound the memory of reading. Larger
# blocks are slower, since the allocator then hands out fresh pages for each.
BLOCK = 1 << 18
LONGEST = 1 << 24
LONGEST_ID = 200
GZIP = b"\x1f\x8b"
ENDINGS = (".txt", ".json", ".jsonl")

# Told how many bytes are read, of how many.
Watch: TypeAlias = Callable[[int, int], None]


def find_files(raw: Path) -> list[Path]:
    """Return the file itself, or the text and JSON files of a folder, plain or gzip, by name."""
    if raw.is_file():
        return [raw]
    try:
        there = sorted(raw.iterdir())
    except OSError as error:
        raise InvalidSetting(f"raw data must be a folder or a file that can be read, but: {error}") from None
    files = [path for path in there if path.name.removesuffix(".gz").endswith(ENDINGS) and path.is_file()]
    if not files:
        names = ", ".join(path.name for path in there[:5]) or "nothing"
        raise InvalidSetting(
            f"a folder of raw data must hold files that end in {', '.join(ENDINGS)}, plain or .gz, but {raw} holds "
            f"{names}; unpack archives first"
        )
    return files


class Source:
    r"""Some files, and what was found wrong in them.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "some.txt"
    >>> _ = path.write_text("one\ntwo\n")
    >>> list(Source([path]).blocks(b"\n"))
    [b'one\ntwo']
    """

    def __init__(self, paths: Iterable[Path], watch: Watch | None = None) -> None:
        self.paths = list(paths)
        self.damaged: Counter[str] = Counter()  # how many records were skipped, by what is wrong with them
        self.repaired: Counter[str] = Counter()  # how many were read in spite of something, by what it was
        self._watch = watch
        try:
            self._sizes = [path.stat().st_size for path in self.paths]
        except OSError as error:
            told = f"{error.filename}: {error.strerror}"
            raise InvalidSetting(f"raw data must be files that can be read, but {told}") from None

    @property
    def skipped(self) -> str:
        """What was skipped, in words; "" for nothing."""
        return ", ".join(f"{number:,} × {kind}" for kind, number in self.damaged.items())

    def blocks(self, separator: bytes) -> Iterator[bytes]:
        """Yield blocks of whole records, without the separator at their end; lines end with a bare newline."""
        for number, path in enumerate(self.paths):
            try:
                with path.open("rb") as file:
                    yield from self._whole(self._pieces(file, sum(self._sizes[:number])), separator)
            except OSError as error:
                raise InvalidSetting(f"raw data must be files that can be read, but: {error}") from None

    def _whole(self, pieces: Iterator[bytes], separator: bytes) -> Iterator[bytes]:
        """Cut pieces anew, at separators; a record that never ends is skipped to the next separator."""
        rest, skipping = b"", False
        for piece in pieces:
            data = rest + piece
            end = data.rfind(separator)
            if end < 0:
                if len(data) > LONGEST and not skipping:
                    self.damaged[f"longer than {LONGEST >> 20} MB"] += 1
                    skipping = True
                rest = data[len(data) - len(separator) + 1 :] if skipping else data
                continue
            start = data.find(separator) + len(separator) if skipping else 0
            skipping = False
            yield data[start:end]
            rest = data[end + len(separator) :]
        if rest and not skipping:
            yield rest

    def _pieces(self, file: BinaryIO, done: int) -> Iterator[bytes]:
        packed = file.read(len(GZIP)) == GZIP
        file.seek(0)
        held = b""
        for piece in self._unpacked(file) if packed else iter(lambda: file.read(BLOCK), b""):
            data = held + piece
            held = data[-1:] if data.endswith(b"\r") else b""  # its newline may be in the next piece
            data = data.removesuffix(held)
            yield data.replace(b"\r\n", b"\n") if b"\r" in data else data
            if self._watch is not None:
                self._watch(done + file.tell(), sum(self._sizes))
        if held:
            yield held

    def _unpacked(self, file: BinaryIO) -> Iterator[bytes]:
        """Yield what a gzip file holds, up to where it is damaged; a piece never exceeds a block."""
        try:
            with gzip.GzipFile(fileobj=file) as packed:
                yield from iter(lambda: packed.read1(BLOCK), b"")
        except EOFError:
            self.damaged["rest of a compressed file, missing"] += 1
        except (zlib.error, gzip.BadGzipFile):
            self.damaged["rest of a compressed file, damaged"] += 1


def json_of(text: str) -> Any:
    """Return what a text of JSON says, None if it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def as_text(value: str | bytes) -> str:
    r"""Return a name that can be written anywhere: valid text in one line without control characters.

    Examples
    --------
    >>> as_text(b"Caf\xe9\x00 Bar ")
    'Caf� Bar'
    """
    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    text = text.encode("utf-8", "replace").decode("utf-8")
    return " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())[:LONGEST_ID]
