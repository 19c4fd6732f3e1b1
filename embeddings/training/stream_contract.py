"""What plans and streams must fulfil, checked before a run and while units are read."""

from typing import Any

import numpy as np

from embeddings.errors import CorpusError, DeclarationError
from embeddings.training.stream import Stream

MAX_READS_WITHOUT_UNITS = 1000  # in a row: a block may hold words of earlier units, but not for ever


class WatchedGenerator(np.random.Generator):
    """A random generator that notes whether it is used."""

    is_used = False

    def __getattribute__(self, name: str) -> Any:
        if not name.startswith("_") and name != "is_used":
            self.is_used = True
        return super().__getattribute__(name)


def check_stream(stream: Stream, threads: int, *, is_shuffled: bool) -> None:
    """Refuse a stream whose units cannot be shared by threads, or shuffled if the settings say so.

    Raises:
        DeclarationError: the stream is wrong.
        CorpusError: it has no units.
    """
    name, units = type(stream).__name__, stream.units
    if not is_count(units):
        raise DeclarationError(f"units of {name} must be an int, got {units!r:.80}")
    if units < 1:
        raise CorpusError(f"the corpus has no {stream.unit} to learn from")
    bounds = list(stream.bounds(threads))
    is_sorted = all(map(is_count, bounds)) and bounds == sorted(bounds)
    if not is_sorted or len(bounds) != threads + 1 or (bounds[0], bounds[-1]) != (0, units):
        raise DeclarationError(
            f"bounds of {name} must be {threads + 1} numbers in order from 0 to {units}, got {bounds!r:.80}"
        )
    order = WatchedGenerator(np.random.PCG64(0))
    if is_shuffled and next(iter(stream.chunks(0, units, order)), None) is not None and not order.is_used:
        raise DeclarationError(f"{name} has no random order: use the `order` of chunks, or refuse the setting shuffle")


def check_block(stream: Stream, block: Any) -> None:
    """Refuse a block whose state cannot be saved."""
    if not is_named_tuple(block) or not all(isinstance(field, np.ndarray) for field in block):
        raise DeclarationError(
            f"new_block of {type(stream).__name__} must return a NamedTuple of arrays, got {block!r:.80}"
        )


def checked_units(stream: Stream, units: Any) -> int:
    """The number of units that a stream has read into a block."""
    if not is_count(units):
        raise DeclarationError(f"fill of {type(stream).__name__} must return the number of units, got {units!r:.80}")
    return int(units)


def is_count(value: Any) -> bool:
    """Whether a value is an integer >= 0, of Python or numpy."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool) and int(value) >= 0


def is_named_tuple(value: Any) -> bool:
    """Whether a value is a NamedTuple."""
    return isinstance(value, tuple) and hasattr(value, "_fields")
