"""Eigenvalues of small symmetric matrices as kernels."""

import numpy as np

from druthers._jit import kernel
from druthers.types import Floats


@kernel
def diagonalize(matrix: Floats, values: Floats, carried: Floats) -> None:
    """Write the eigenvalues of a symmetric matrix QLQ', which is used up, and replace `carried` (D, m) by Q' times it.

    Reflections to three diagonals, then rotations (QL with implicit shifts). Small eigenvalues are exact only as far as
    the largest is.
    """
    size, n_carried = carried.shape
    beside, v, w = np.zeros(size), np.empty(size), np.empty(size)
    along = np.empty(n_carried)
    for k in range(size - 2):
        square = 0.0
        for i in range(k + 1, size):
            v[i] = matrix[k, i]
            square += v[i] * v[i]
        length = np.sqrt(square) if v[k + 1] < 0.0 else -np.sqrt(square)
        beside[k] = length
        if square == v[k + 1] * v[k + 1]:  # nothing to reflect
            beside[k] = v[k + 1]
            continue
        v[k + 1] -= length
        scale = -1.0 / (length * v[k + 1])  # two over the square of v
        reflect(matrix, carried, k + 1, v, scale, w, along)
    if size > 1:
        beside[size - 2] = matrix[size - 2, size - 1]
    for k in range(size):
        values[k] = matrix[k, k]
    for k in range(size):
        for _ in range(60):
            last = k
            while last < size - 1:
                if abs(beside[last]) <= 1e-16 * (abs(values[last]) + abs(values[last + 1])):
                    break
                last += 1
            if last == k:
                break
            chase(values, beside, carried, k, last)


@kernel
def reflect(matrix: Floats, carried: Floats, first: int, v: Floats, scale: float, w: Floats, along: Floats) -> None:
    """Reflect all from row and column `first` on by I - scale vv', and what is carried; w and `along` are used up."""
    size, n_carried = carried.shape
    for i in range(first, size):
        w[i] = 0.0
    for j in range(first, size):
        times = scale * v[j]
        for i in range(first, size):
            w[i] += times * matrix[j, i]
    both = 0.0
    for i in range(first, size):
        both += w[i] * v[i]
    for i in range(first, size):
        w[i] -= 0.5 * scale * both * v[i]
    for j in range(first, size):
        for i in range(first, size):
            matrix[j, i] -= v[j] * w[i] + w[j] * v[i]
    for i in range(n_carried):
        along[i] = 0.0
    for j in range(first, size):
        for i in range(n_carried):
            along[i] += v[j] * carried[j, i]
    for j in range(first, size):
        times = scale * v[j]
        for i in range(n_carried):
            carried[j, i] -= times * along[i]


@kernel
def chase(values: Floats, beside: Floats, carried: Floats, k: int, last: int) -> None:
    """Take one step of the QL method between rows k and `last` of a matrix of three diagonals, and what is carried."""
    ahead = (values[k + 1] - values[k]) / (2.0 * beside[k])
    root = np.sqrt(1.0 + ahead * ahead)
    top = values[last] - values[k] + beside[k] / (ahead + (root if ahead >= 0.0 else -root))
    sine = cosine = 1.0
    moved = 0.0
    for i in range(last - 1, k - 1, -1):
        off, kept = sine * beside[i], cosine * beside[i]
        root = np.sqrt(off * off + top * top)
        beside[i + 1] = root
        if root == 0.0:
            values[i + 1] -= moved
            beside[last] = 0.0
            return
        sine, cosine = off / root, top / root
        top = values[i + 1] - moved
        root = (values[i] - top) * sine + 2.0 * cosine * kept
        moved = sine * root
        values[i + 1] = top + moved
        top = cosine * root - kept
        for j in range(carried.shape[1]):
            upper, lower = carried[i, j], carried[i + 1, j]
            carried[i + 1, j] = sine * upper + cosine * lower
            carried[i, j] = cosine * upper - sine * lower
    values[k] -= moved
    beside[k] = top
    beside[last] = 0.0


@kernel
def eigen(matrix: Floats, values: Floats, vectors: Floats) -> None:
    """Write eigenvalues and eigenvectors (as columns) of a symmetric matrix, in no order; `matrix` is used up."""
    size = values.shape[0]
    turned = np.zeros((size, size))
    for k in range(size):
        turned[k, k] = 1.0
    diagonalize(matrix, values, turned)
    for k in range(size):
        for i in range(size):
            vectors[k, i] = turned[i, k]
