"""`embeddings.plugins.cuda.warp` for numba's simulator, whose threads exchange values through one list.

The warp must be the whole block, and the only one.
"""

from threading import current_thread

SLOTS = [None] * 32


def device(function):
    return function


def all_values(value):
    """The value of each lane."""
    thread = current_thread()
    SLOTS[thread.threadIdx.x] = value
    thread.syncthreads()
    values = list(SLOTS)
    thread.syncthreads()
    return values


def from_lane(value, lane):
    return all_values(value)[int(lane)]


def from_other(value, mask):
    return all_values(value)[current_thread().threadIdx.x ^ mask]


def count_lanes(flag, lane):
    flags = all_values(bool(flag))
    return sum(flags[: int(lane)]), sum(flags)


def load4(table, at):
    return table[at], table[at + 1], table[at + 2], table[at + 3]


def add4(table, at, added):
    for k, number in enumerate(added):
        table[at + k] += number


add4_scalar = add4
