"""Small dense linear algebra as kernels: a symmetric positive matrix is held as its upper factor R, M = R'R.

All inner loops run along rows and add multiples of one row to another, so they vectorize without changing the
order of any sum; at the sizes of this package (D up to about 64) that is faster than calling LAPACK. Where four rows
are written out, simple loops take longer (processor time, one machine): at D = 8 and 20 `factor` 1.2 and 1.3 times,
`solve_transposed` 1.7 and 2.0, `solve_upper` 1.5 and 1.9, `norms` of 40 columns 1.0 and 1.1; at D = 3 they take less.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from druthers._jit import kernel
from druthers.types import Floats


# Over sixty lines because four rows are written out: that is what makes it fast.
@kernel
def factor(matrix: Floats, out: Floats) -> bool:
    """Write the upper factor R of a positive definite matrix (its upper triangle is read), M = R'R, into `out`.

    Returns False, leaving `out` unfinished, where a pivot is not positive. `out` may be `matrix` itself. Four rows go
    together: four independent sums keep the processor busy where single short loops would leave it waiting.
    """
    size = matrix.shape[0]
    whole = size - size % 4
    for j in range(0, whole, 4):
        a = b = c = d = 0.0  # one over the pivots of the four rows
        for i in range(j, size):
            first = matrix[j, i]
            second = matrix[j + 1, i]
            third = matrix[j + 2, i]
            fourth = matrix[j + 3, i]
            for k in range(j):
                value = out[k, i]
                first -= out[k, j] * value
                second -= out[k, j + 1] * value
                third -= out[k, j + 2] * value
                fourth -= out[k, j + 3] * value
            # Column i of the four rows, from the top; on the diagonal a pivot, below it nothing.
            if i == j:
                if not first > 0.0:
                    return False
                a = 1.0 / np.sqrt(first)
            first *= a
            out[j, i] = first
            if i == j:
                continue
            second -= out[j, j + 1] * first
            if i == j + 1:
                if not second > 0.0:
                    return False
                b = 1.0 / np.sqrt(second)
            second *= b
            out[j + 1, i] = second
            if i == j + 1:
                continue
            third -= out[j, j + 2] * first + out[j + 1, j + 2] * second
            if i == j + 2:
                if not third > 0.0:
                    return False
                c = 1.0 / np.sqrt(third)
            third *= c
            out[j + 2, i] = third
            if i == j + 2:
                continue
            fourth -= out[j, j + 3] * first + out[j + 1, j + 3] * second + out[j + 2, j + 3] * third
            if i == j + 3:
                if not fourth > 0.0:
                    return False
                d = 1.0 / np.sqrt(fourth)
            out[j + 3, i] = fourth * d
    for j in range(whole, size):
        for i in range(j, size):
            value = matrix[j, i]
            for k in range(j):
                value -= out[k, j] * out[k, i]
            if i == j:
                if not value > 0.0:
                    return False
                out[j, i] = np.sqrt(value)
            else:
                out[j, i] = value / out[j, j]
    return True


@kernel
def solve_transposed(root: Floats, x: Floats) -> None:
    """Replace x by the solution y of R'y = x."""
    solve_transposed_from(root, x, 0)


@kernel
def solve_transposed_from(root: Floats, x: Floats, first: int) -> None:
    """Do so where all entries of x before `first` are zero, four at a time, since each waits for those before it."""
    size = x.shape[0]
    whole = size - size % 4
    for k in range(first - first % 4, whole, 4):
        # One over a pivot can be had before the entry is there to be divided.
        a = x[k] * (1.0 / root[k, k])
        b = (x[k + 1] - root[k, k + 1] * a) * (1.0 / root[k + 1, k + 1])
        c = (x[k + 2] - root[k, k + 2] * a - root[k + 1, k + 2] * b) * (1.0 / root[k + 2, k + 2])
        d = x[k + 3] - root[k, k + 3] * a - root[k + 1, k + 3] * b - root[k + 2, k + 3] * c
        d *= 1.0 / root[k + 3, k + 3]
        x[k], x[k + 1], x[k + 2], x[k + 3] = a, b, c, d
        for i in range(k + 4, size):
            x[i] -= (root[k, i] * a + root[k + 1, i] * b) + (root[k + 2, i] * c + root[k + 3, i] * d)
    for k in range(max(whole, first), size):
        value = x[k] / root[k, k]
        x[k] = value
        for i in range(k + 1, size):
            x[i] -= root[k, i] * value


@kernel
def solve_upper(root: Floats, x: Floats) -> None:
    """Replace x by the solution y of Ry = x, four entries at a time."""
    size = x.shape[0]
    first = size % 4
    for k in range(size - 4, first - 1, -4):
        d = x[k + 3] * (1.0 / root[k + 3, k + 3])
        c = (x[k + 2] - root[k + 2, k + 3] * d) * (1.0 / root[k + 2, k + 2])
        b = (x[k + 1] - root[k + 1, k + 3] * d - root[k + 1, k + 2] * c) * (1.0 / root[k + 1, k + 1])
        a = x[k] - root[k, k + 3] * d - root[k, k + 2] * c - root[k, k + 1] * b
        a *= 1.0 / root[k, k]
        x[k], x[k + 1], x[k + 2], x[k + 3] = a, b, c, d
        for i in range(k):
            x[i] -= (root[i, k] * a + root[i, k + 1] * b) + (root[i, k + 2] * c + root[i, k + 3] * d)
    for k in range(first - 1, -1, -1):
        value = x[k] / root[k, k]
        x[k] = value
        for i in range(k):
            x[i] -= root[i, k] * value


@kernel
def solve(root: Floats, x: Floats) -> None:
    """Replace x by the solution y of My = x, M = R'R."""
    solve_transposed(root, x)
    solve_upper(root, x)


@kernel
def add_rank_one(root: Floats, vector: Floats) -> None:
    """Turn the factor of M into that of M + vv'; `vector` is used up.

    Givens rotations: backward stable, so a million updates lose no more than rounding (tested).
    """
    size = vector.shape[0]
    for k in range(size):
        old = root[k, k]
        new = np.sqrt(old * old + vector[k] * vector[k])
        cosine = old / new
        sine = vector[k] / new
        root[k, k] = new
        for i in range(k + 1, size):
            above = root[k, i]
            below = vector[i]
            root[k, i] = cosine * above + sine * below
            vector[i] = cosine * below - sine * above


@kernel
def norms(root: Floats, columns: Floats, out: Floats) -> None:
    """Replace each column x of `columns` (D, n) by the solution y of R'y = x; write |y| = |x|_{M^-1}, M = R'R."""
    square_norms(root, columns, out)
    for j in range(out.shape[0]):
        out[j] = np.sqrt(out[j])


@kernel
def square_norms(root: Floats, columns: Floats, out: Floats) -> None:
    """Do the same and write |y|^2."""
    size, n_columns = columns.shape
    for j in range(n_columns):
        out[j] = 0.0
    for i in range(size):
        fours = i - i % 4
        for k in range(0, fours, 4):
            first, second, third, fourth = root[k, i], root[k + 1, i], root[k + 2, i], root[k + 3, i]
            for j in range(n_columns):
                value = columns[i, j] - first * columns[k, j] - second * columns[k + 1, j]
                columns[i, j] = value - third * columns[k + 2, j] - fourth * columns[k + 3, j]
        for k in range(fours, i):
            scale = root[k, i]
            for j in range(n_columns):
                columns[i, j] -= scale * columns[k, j]
        scale = 1.0 / root[i, i]
        for j in range(n_columns):
            columns[i, j] *= scale
            out[j] += columns[i, j] * columns[i, j]


@kernel
def solve_transposed_columns(root: Floats, columns: Floats) -> None:
    """Replace each column x of `columns` (D, n) by the solution y of R'y = x."""
    square_norms(root, columns, np.empty(columns.shape[1]))


@kernel
def solve_upper_columns(root: Floats, columns: Floats) -> None:
    """Replace each column x of `columns` (D, n) by the solution y of Ry = x."""
    size, n_columns = columns.shape
    for i in range(size - 1, -1, -1):
        for k in range(i + 1, size):
            scale = root[i, k]
            for j in range(n_columns):
                columns[i, j] -= scale * columns[k, j]
        scale = 1.0 / root[i, i]
        for j in range(n_columns):
            columns[i, j] *= scale


@kernel
def inverse(root: Floats, out: Floats) -> None:
    """Write M^-1, M = R'R, into `out` (symmetric)."""
    size = root.shape[0]
    for j in range(size):
        for i in range(size):
            out[j, i] = 0.0
        out[j, j] = 1.0
        solve_transposed_from(root, out[j], j)
        solve_upper(root, out[j])


@kernel
def invert(matrix: Floats, out: Floats) -> bool:
    """Write M^-1 into `out`, which may be `matrix`; False, with nothing written, where M is not positive definite."""
    root = np.empty((matrix.shape[0], matrix.shape[0]))
    if not factor(matrix, root):
        return False
    inverse(root, out)
    return True


@kernel
def log_evidence(information: Floats, pull: Floats) -> float:
    """Return (b'M^-1 b - ln |M|)/2, of an information M and a pull b, both used up; NaN where M is none."""
    if not factor(information, information):
        return np.nan
    solve_transposed(information, pull)
    total = 0.0
    for k in range(pull.shape[0]):
        total += 0.5 * pull[k] * pull[k] - np.log(information[k, k])
    return float(total)


@kernel
def multiply(matrix: Floats, x: Floats, out: Floats) -> None:
    """Write Mx into `out`, four rows at a time."""
    n_rows, size = matrix.shape
    whole = n_rows - n_rows % 4
    for k in range(0, whole, 4):
        first = second = third = fourth = 0.0
        for j in range(size):
            value = x[j]
            first += matrix[k, j] * value
            second += matrix[k + 1, j] * value
            third += matrix[k + 2, j] * value
            fourth += matrix[k + 3, j] * value
        out[k], out[k + 1], out[k + 2], out[k + 3] = first, second, third, fourth
    for k in range(whole, n_rows):
        value = 0.0
        for j in range(size):
            value += matrix[k, j] * x[j]
        out[k] = value


@kernel
def add_product(left: Floats, right: Floats, out: Floats) -> None:
    """Add LR to `out`, four rows of R at a time."""
    n_rows, size = left.shape
    whole = size - size % 4
    for j in range(n_rows):
        for i in range(0, whole, 4):
            first, second, third, fourth = left[j, i], left[j, i + 1], left[j, i + 2], left[j, i + 3]
            for k in range(right.shape[1]):
                value = out[j, k] + first * right[i, k]
                value += second * right[i + 1, k]
                value += third * right[i + 2, k]
                out[j, k] = value + fourth * right[i + 3, k]
        for i in range(whole, size):
            value = left[j, i]
            for k in range(right.shape[1]):
                out[j, k] += value * right[i, k]


@kernel
def sandwich(axes: Floats, matrix: Floats, out: Floats) -> None:
    """Write B'MB into `out` (D, D), M symmetric and B `axes` (n, D)."""
    n_rows, size = axes.shape
    half = np.zeros((n_rows, size))
    add_product(matrix, axes, half)
    for k in range(size):
        for i in range(size):
            out[k, i] = 0.0
    add_product(axes.T, half, out)
    for k in range(size):
        for i in range(k):
            out[i, k] = out[k, i]


@kernel
def softmax(logs: Floats) -> float:
    """Replace logarithms by shares that sum to one; return the logarithm of their sum, -inf where there is none."""
    top = -np.inf
    for i in range(logs.shape[0]):
        top = max(top, logs[i])
    if top == -np.inf:
        return top
    total = 0.0
    for i in range(logs.shape[0]):
        logs[i] = np.exp(logs[i] - top)
        total += logs[i]
    for i in range(logs.shape[0]):
        logs[i] /= total
    return float(top + np.log(total))


@kernel
def center(x: Floats) -> None:
    """Subtract the mean of x from it."""
    mean = sum_of(x) / x.shape[0]
    for i in range(x.shape[0]):
        x[i] -= mean


@kernel
def center_matrix(matrix: Floats) -> None:
    """Take from a symmetric matrix what it holds along the constant."""
    size = matrix.shape[0]
    means = np.empty(size)
    for k in range(size):
        means[k] = sum_of(matrix[k]) / size
    mean = sum_of(means) / size
    for k in range(size):
        for i in range(size):
            matrix[k, i] += mean - (means[k] + means[i])


@kernel
def max_abs(x: Floats) -> float:
    """Return the largest absolute entry."""
    size = 0.0
    for i in range(x.shape[0]):
        size = max(size, abs(x[i]))
    return size


@kernel
def sum_of(x: Floats) -> float:
    """Return the sum."""
    result = 0.0
    for i in range(x.shape[0]):
        result += x[i]
    return result


@kernel
def square_of(x: Floats) -> float:
    """Return the squared length."""
    result = 0.0
    for i in range(x.shape[0]):
        result += x[i] * x[i]
    return result


@kernel
def copy_vector(x: NDArray[Any], out: NDArray[Any]) -> None:
    """Copy x into `out`; an assignment to a slice or a row would take Numba seconds to compile."""
    for i in range(x.shape[0]):
        out[i] = x[i]


@kernel
def copy_matrix(x: NDArray[Any], out: NDArray[Any]) -> None:
    """Copy x into `out`."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] = x[i, j]


@kernel
def add_matrix(x: Floats, out: Floats) -> None:
    """Add x to `out`."""
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            out[i, j] += x[i, j]


@kernel
def clear(vector: Floats, matrix: Floats) -> None:
    """Set a vector (n,) and a matrix (n, n) to zero."""
    for i in range(vector.shape[0]):
        vector[i] = 0.0
        for j in range(vector.shape[0]):
            matrix[i, j] = 0.0
