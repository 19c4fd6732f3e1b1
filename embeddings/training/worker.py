"""One thread of a run: its random numbers, its block and its bundle."""

from collections.abc import Callable
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, fill, rewind
from embeddings.kernels.bundle import LOSS, NEXT, PAIRS, SAMPLED, STEPS, Bundle
from embeddings.kernels.random import keys
from embeddings.training.order import Piece, shuffled
from embeddings.training.progress import Tally

if TYPE_CHECKING:
    from embeddings.training.task import Task

LearnBlock = Callable[[Any, Any, Bundle, float], None]


class Reader(NamedTuple):
    """What threads read, and how: `fill` puts what is learned next of `source` into a block.

    `source` has the fields `ids` and `lines` of `embeddings.kernels.block.Source`, and `block()` makes a block with the
    field `place` of `embeddings.kernels.block.Block`. `fill(block, source, rng)` gives how many ids it read; at the end
    of a share it reads none and leaves `place[FIRST] == place[LAST]`.
    """

    source: Any
    block: Callable[[], Any]
    fill: Callable[[Any, Any, np.ndarray], int] = fill


class Worker:
    """What one thread has to itself: its random numbers, its block and its bundle."""

    def __init__(self, task: "Task", reader: Reader, tally: Tally, thread: int, bundle: Bundle) -> None:
        self.source, self.fill, self.block = reader.source, reader.fill, reader.block()
        self.tally, self.thread, self.bundle = tally, thread, bundle
        key = keys(task.seed, task.threads)[thread]
        self.random = np.array([key, 0], np.uint64)
        self.order = np.random.default_rng(key) if task.settings.shuffle else None
        bundle.tally[NEXT] = float(key % SAMPLED)  # windows are tallied from a random one on

    def compile(self, learn_block: LearnBlock, tables: Any) -> None:
        """Learn from nothing, so that compiling the kernels is over before the clock starts."""
        rewind(self.block, self.source, 0, 0)
        self.fill(self.block, self.source, self.random)
        learn_block(self.block, tables, self.bundle, 0.0)

    def read(self, begin: int, end: int, learn_block: LearnBlock, tables: Any, stop: Event) -> None:
        """Learn from `ids[begin:end]` once, in a random order if the settings say so, unless told to stop."""
        self.tally.begin_epoch(self.thread)
        whole = Piece(self.source, begin, end)
        for piece in [whole] if self.order is None else shuffled(*whole, self.order):
            self.read_piece(piece, learn_block, tables, stop)

    def read_piece(self, piece: Piece, learn_block: LearnBlock, tables: Any, stop: Event) -> None:
        """Learn from a piece once, unless told to stop."""
        block, bundle, tally = self.block, self.bundle, self.tally
        rewind(block, *piece)
        while not stop.is_set():
            read = self.fill(block, piece.source, self.random)
            if read == 0 and block.place[FIRST] == block.place[LAST]:
                return
            rate = tally.rate
            tally.words[self.thread] += read
            learn_block(block, tables, bundle, rate)
            tally.add(self.thread, bundle.tally[LOSS], bundle.tally[PAIRS])
            tally.steps[self.thread] = bundle.tally[STEPS]
            bundle.tally[LOSS] = bundle.tally[PAIRS] = 0
