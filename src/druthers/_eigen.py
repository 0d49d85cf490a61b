"""Eigenvalues of small symmetric matrices as a kernel."""

from __future__ import annotations

import numpy as np

from druthers._jit import kernel
from druthers.types import Floats


@kernel
def eigen(matrix: Floats, values: Floats, vectors: Floats) -> None:
    """Write eigenvalues and eigenvectors (as columns) of a symmetric matrix, in no order; `matrix` is used up."""
    size = values.shape[0]
    for k in range(size):
        for i in range(size):
            vectors[k, i] = 1.0 if k == i else 0.0
    diagonalize(matrix, values, vectors)
    for k in range(size):
        for i in range(k):
            vectors[k, i], vectors[i, k] = vectors[i, k], vectors[k, i]


@kernel
def diagonalize(matrix: Floats, values: Floats, carried: Floats) -> None:
    """Write the eigenvalues of a symmetric matrix QLQ', which is used up, and replace `carried` (D, m) by Q' times it.

    Jacobi's rotations: at a dozen rows as fast as anything, and exact to rounding for small eigenvalues too.
    """
    size = values.shape[0]
    for _ in range(60):
        off = 0.0
        whole = 0.0
        for k in range(size):
            whole += matrix[k, k] * matrix[k, k]
            for i in range(k):
                off += matrix[k, i] * matrix[k, i]
        if not off > 1e-32 * whole:
            break
        for k in range(size - 1):
            for i in range(k + 1, size):
                _rotate(matrix, carried, k, i)
    for k in range(size):
        values[k] = matrix[k, k]


@kernel
def _rotate(matrix: Floats, carried: Floats, k: int, i: int) -> None:
    """Rotate rows and columns k and i of a symmetric matrix so that their common entry is zero."""
    common = matrix[k, i]
    if common == 0.0:
        return
    upper, lower = matrix[k, k], matrix[i, i]
    if common * common < 1e-34 * abs(upper * lower):  # less than rounding makes of both
        matrix[k, i] = matrix[i, k] = 0.0
        return
    gap = lower - upper
    if abs(gap) > 1e100 * abs(common):  # their ratio may be no number
        tangent = common / gap
    else:
        ratio = gap / (2.0 * common)
        tangent = 1.0 / (abs(ratio) + np.sqrt(1.0 + ratio * ratio))
        if ratio < 0.0:
            tangent = -tangent
    cosine = 1.0 / np.sqrt(1.0 + tangent * tangent)
    sine = tangent * cosine
    # Along rows, which vector instructions can do; the columns are the same numbers.
    for j in range(matrix.shape[0]):
        first, second = matrix[k, j], matrix[i, j]
        matrix[k, j] = cosine * first - sine * second
        matrix[i, j] = sine * first + cosine * second
    for j in range(carried.shape[1]):
        first, second = carried[k, j], carried[i, j]
        carried[k, j] = cosine * first - sine * second
        carried[i, j] = sine * first + cosine * second
    for j in range(matrix.shape[0]):
        matrix[j, k] = matrix[k, j]
        matrix[j, i] = matrix[i, j]
    matrix[k, k], matrix[i, i] = upper - tangent * common, lower + tangent * common
    matrix[k, i] = matrix[i, k] = 0.0  # else rounding would leave something there that no sweep takes away
