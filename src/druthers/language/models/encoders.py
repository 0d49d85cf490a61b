"""What turns texts into vectors: a table of words, and a sentence model that is loaded when first needed."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]


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
