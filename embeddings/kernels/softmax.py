"""Softmax: the gradient step from a score matrix, and its loss."""

import numpy as np

from embeddings.compilation.jit import inline, noinline
from embeddings.kernels.row_operations import row_stride

LOG2_E = np.float32(np.log2(np.e))
LN2_HIGH, LN2_LOW = np.float32(0.693359375), np.float32(-2.12194440e-4)  # the sum is ln 2; the first has few digits
SMALLEST_EXPONENT = np.float32(-87)  # below, exp would be subnormal
SMALLEST_INT32, LARGEST_INT32 = np.int32(-(2**31)), np.int32(2**31 - 1)
ONE, HALF = np.float32(1), np.float32(0.5)
C2, C3, C4, C5, C6, C7 = (
    np.float32(c)
    for c in (5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.3981999507e-3, 1.9875691500e-4)
)


@inline
def polynomial_exp(x: np.float32) -> np.float32:
    """exp(x) of a float32 that is not positive, with a relative error below 1e-5; vectorises.

    The Cephes library's method: exp(x) = 2^n exp(r) with |r| <= ln(2) / 2, where exp(r) is a polynomial. Below -87 the
    result is exp(-87), which is 2e-38.
    """
    x = SMALLEST_EXPONENT if x < SMALLEST_EXPONENT else x
    n = np.floor(x * LOG2_E + HALF)
    r = x - n * LN2_HIGH - n * LN2_LOW
    power = ONE + r + r * r * (C2 + r * (C3 + r * (C4 + r * (C5 + r * (C6 + r * C7)))))
    # 2^n by writing n into the exponent bits of a float32.
    exponent = np.int32((np.int32(n) + np.int32(127)) << np.int32(23))
    return power * exponent.view(np.float32)  # type: ignore[no-any-return]


@noinline
def softmax_steps(scores: np.ndarray, m: int, n: int, first: int, last: int, target: int, rate: float) -> float:
    """Replace columns first to last of S, (m, n), by G = rate (Y - softmax(S)); returns the summed cross-entropy.

    Column `target` is the positive. If it is outside of these columns, the softmax is without it, and its step is the
    rate.
    """
    stride, loss = row_stride(n), 0.0
    for i in range(m):
        row, own = scores[i * stride + first : i * stride + last], scores[i * stride + target]
        # The largest score is subtracted first, so that no exponential overflows.
        peak = scores.dtype.type(largest(row))
        total = exponentiate(row, peak)
        loss += np.log(np.float64(total)) + peak - own
        # The sum is divided once into the rate, not into each probability.
        factor = scores.dtype.type(-rate / total)
        for j in range(row.shape[0]):
            row[j] *= factor
        # The word itself was not normalised: its step is the rate alone, so its score is cleared first.
        if not first <= target < last:
            scores[i * stride + target] = 0
        scores[i * stride + target] += rate
    return loss


@inline
def largest(row: np.ndarray) -> float:
    """The largest number of a row.

    Of float32, it is found by their bits as integers, whose order is the same once those of negative numbers are
    inverted: the maximum of floats does not vectorise, as it must not depend on NaN.
    """
    if row.itemsize == 4:
        bits, peak = row.view(np.int32), SMALLEST_INT32
        for j in range(row.shape[0]):
            peak = max(peak, np.int32(bits[j] ^ ((bits[j] >> np.int32(31)) & LARGEST_INT32)))
        return np.float64(np.int32(peak ^ ((peak >> np.int32(31)) & LARGEST_INT32)).view(np.float32))
    top = row[0]
    for j in range(row.shape[0]):
        top = row[j] if row[j] > top else top
    return np.float64(top)


@inline
def exponentiate(row: np.ndarray, peak: float) -> float:
    """Replace x by exp(x - peak); returns the sum."""
    total = row.dtype.type(0)
    if row.itemsize == 4:
        for j in range(row.shape[0]):
            row[j] = polynomial_exp(row[j] - peak)
            total += row[j]
    else:
        for j in range(row.shape[0]):
            row[j] = np.exp(row[j] - peak)
            total += row[j]
    return total  # type: ignore[no-any-return]


@inline
def subtract_offsets(scores: np.ndarray, m: int, n: int, offsets: np.ndarray) -> None:
    """Subtract the offset of each of n targets from its scores."""
    stride = row_stride(n)
    for i in range(m):
        for j in range(n):
            scores[i * stride + j] -= offsets[j]
