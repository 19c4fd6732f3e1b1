"""One thread of a run: its random numbers, its block, its bundle, and where it is in its share of the corpus.

It can halt at the end of any block, and goes on from there as if nothing had been. What decides what it does next is
its `state`: how often it has read its share, the piece it is in, the random state that the order of pieces came from,
its block (words of an unfinished line are held there), its random numbers, and what a bundle carries on.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from embeddings.kernels.block import FIRST, LAST, fill_block, rewind, is_valid_block
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.step_buffers import LOSS, UNTIL_SAMPLE, PAIRS, LOSS_INTERVAL, STEPS, StepBuffers
from embeddings.training.parameters import copy_into
from embeddings.training.progress import Tally
from embeddings.training.shuffle import Piece, shuffled

if TYPE_CHECKING:
    from embeddings.training.task import Task

LearnBlock = Callable[[Any, Any, StepBuffers, float], None]
CARRIED = ("weights", "factor", "tally")  # of a bundle, from block to block


class BlockStream(NamedTuple):
    """What threads read, and how: `fill` puts what is learned next of `source` into a block.

    `source` has the fields `ids` and `lines` of `embeddings.kernels.block.Source`, and `block()` makes a block with the
    field `place` of `embeddings.kernels.block.Block`. `fill(block, source, rng)` gives how many ids it read; at the end
    of a share it reads none and leaves `place[FIRST] == place[LAST]`. All that it goes on from is in the arrays of the
    block and in `rng`. `sound(block, source, begin, end)` tells whether a block that was read from a file, in the midst
    of `ids[begin:end]`, can be gone on from.
    """

    source: Any
    block: Callable[[], Any]
    fill_block: Callable[[Any, Any, np.ndarray], int] = fill_block
    is_valid_block: Callable[[Any, Any, int, int], bool] = is_valid_block


class Worker:
    """What one thread has to itself: its random numbers, its block and its bundle."""

    def __init__(self, task: "Task", reader: BlockStream, tally: Tally, thread: int, buffers: StepBuffers) -> None:
        self.reader, self.source, self.fill, self.block = reader, reader.source, reader.fill, reader.block()
        self.tally, self.thread, self.buffers = tally, thread, buffers
        key = thread_keys(task.seed, task.threads)[thread]
        self.random = np.array([key, 0], np.uint64)
        self.order = np.random.default_rng(key) if task.settings.shuffle else None
        buffers.tally[UNTIL_SAMPLE] = float(key % LOSS_INTERVAL)  # windows are tallied from a random one on
        self.share = tuple(task.shares(self.source.lines)[thread : thread + 2])
        self.epochs = 0  # read to their end
        self.number = 0  # of the piece, in its epoch
        self.piece: Piece | None = None
        self.pieces: Iterator[Piece] = iter(())
        self.drawn: Mapping[str, Any] | None = None  # what the order of this epoch came from

    def compile(self, learn_block: LearnBlock, tables: Any) -> None:
        """Learn from nothing, so that compiling the kernels is over before the clock starts."""
        rewind(self.block, self.source, 0, 0)
        self.fill(self.block, self.source, self.random)
        learn_block(self.block, tables, self.buffers, 0.0)

    def go_on(self, epochs: int, learn_block: LearnBlock, tables: Any, halt: Event) -> None:
        """Learn from where it is until the share was read so many times, unless told to halt."""
        while self.epochs < epochs and not halt.is_set():
            if self.piece is None:
                self.tally.begin_epoch(self.thread)
                self.open(0)
            while self.piece is not None and self.read_piece(self.piece, learn_block, tables, halt):
                self.turn()
            if self.piece is None:
                self.epochs += 1

    def open(self, number: int) -> None:
        """Begin with a piece of an epoch, the first or the one that it was in; in a random order if asked for."""
        whole = Piece(self.source, *self.share)
        if self.order is not None:
            self.drawn = self.order.bit_generator.state
        pieces = iter([whole]) if self.order is None else shuffled(*whole, self.order)
        self.pieces, self.number = islice(pieces, number, None), number - 1
        self.turn()

    def turn(self) -> None:
        """Begin with the next piece, if there is one."""
        self.piece, self.number = next(self.pieces, None), self.number + 1
        if self.piece is not None:
            rewind(self.block, *self.piece)

    def read_piece(self, piece: Piece, learn_block: LearnBlock, tables: Any, halt: Event) -> bool:
        """Learn from the rest of a piece; whether its end was reached, not told to halt before."""
        block, buffers, tally = self.block, self.buffers, self.tally
        while not halt.is_set():
            read = self.fill(block, piece.source, self.random)
            if read == 0 and block.cursor[FIRST] == block.cursor[LAST]:
                return True
            rate = tally.rate
            tally.words[self.thread] += read
            learn_block(block, tables, buffers, rate)
            tally.add(self.thread, buffers.tally[LOSS], buffers.tally[PAIRS])
            tally.steps[self.thread] = buffers.tally[STEPS]
            buffers.tally[LOSS] = buffers.tally[PAIRS] = 0
        return False

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of its state, themselves."""
        block = {f"block.{name}": array for name, array in self.block._asdict().items()}
        return {"random": self.random, **block, **{name: getattr(self.buffers, name) for name in CARRIED}}

    def state(self) -> dict[str, Any]:
        """The rest of its state, as JSON holds it."""
        order = None if self.order is None else self.order.bit_generator.state if self.piece is None else self.drawn
        return {"epochs": self.epochs, "piece": None if self.piece is None else self.number, "order": order}

    def restore(self, state: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Be where a worker was.

        Raises:
            KeyError, TypeError, ValueError: this is nowhere.
        """
        self.epochs = whole(state["epochs"])
        if self.order is not None:
            self.order.bit_generator.state = state["order"]
        if state["piece"] is not None:
            self.open(whole(state["piece"]))
        for name, array in self.arrays().items():
            copy_into(array, arrays[name])
        if self.piece is not None and not self.reader.sound(self.block, *self.piece):
            raise ValueError("its threads stand where there is no text")


def whole(value: Any) -> int:
    """A number of what was read, from 0 up.

    Raises:
        ValueError: it is none.
    """
    if type(value) is not int or value < 0:
        raise ValueError(f"{value!r} stands where a number belongs")
    return value
