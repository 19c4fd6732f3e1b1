"""One training thread: its random numbers, its block, its step buffers, and its position in its share of the corpus.

A worker can halt at the end of any block and later continue as if it had not. Its `state` and `arrays` hold everything
that decides what it does next: completed epochs, the current chunk, the random state that ordered the chunks, the block
(which holds the words of an unfinished line), the random counter, and what buffers carry from block to block.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from threading import Event
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from embeddings.kernels import step_buffers
from embeddings.kernels.block import FIRST, LAST, fill_block, is_valid_block, rewind
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.step_buffers import LOSS, PAIRS, STEPS, StepBuffers
from embeddings.training.init_vectors import WORDS
from embeddings.training.parameters import copy_into, parameter_arrays
from embeddings.training.progress import Tally
from embeddings.training.shuffle import Chunk, shuffled_chunks

if TYPE_CHECKING:
    from embeddings.training.run import Run

LearnBlock = Callable[[Any, Any, StepBuffers, float], None]  # block, tables, buffers, learning rate
CARRIED_FIELDS = ("weights", "factor", "tally")  # fields of step buffers that carry values from block to block


class BlockStream(NamedTuple):
    """What threads read, and how it gets into a block.

    Arguments:
        source: has the fields `ids` and `lines` of `embeddings.kernels.block.BlockSource`.
        new_block: makes a block with the field `cursor` of `embeddings.kernels.block.Block`.
        fill: `fill(block, source, rng)` puts the next words into a block and returns how many ids it read. At the end
            of a share it reads none and leaves `cursor[FIRST] == cursor[LAST]`. All its state is in the arrays of the
            block and in `rng`.
        is_valid: `is_valid(block, source, begin, end)` returns whether training can continue inside
            `ids[begin:end]` from a block that was read from a file.
    """

    source: Any
    new_block: Callable[[], Any]
    fill: Callable[[Any, Any, np.ndarray], int] = fill_block
    is_valid: Callable[[Any, Any, int, int], bool] = is_valid_block


class Worker:
    """The state of one thread of a run, which leaves the `frozen` (rows,) rows of words unchanged."""

    def __init__(self, run: "Run", tally: Tally, thread: int, frozen: np.ndarray | None = None) -> None:
        task, self.learn_block, self.stream = run.task, run.learn_block, run.stream
        self.block, self.buffers, self.tables = run.stream.new_block(), run.new_buffers(), run.thread_tables()
        if frozen is not None:
            self.buffers = step_buffers.with_frozen_rows(self.buffers, parameter_arrays(run.tables)[WORDS], frozen)
        self.tally, self.thread = tally, thread
        key = thread_keys(task.seed, task.threads)[thread]
        self.random = np.array([key, 0], np.uint64)
        self.order = np.random.default_rng(key) if task.settings.shuffle else None
        first_sample = float(key % step_buffers.LOSS_INTERVAL)  # a random window
        self.buffers.tally[step_buffers.UNTIL_SAMPLE] = first_sample
        begin, end = task.share_bounds(self.stream.source.lines)[thread : thread + 2]
        self.share = Chunk(self.stream.source, begin, end)
        self.epochs = 0  # completed
        self.chunk: Chunk | None = None
        self.chunk_number = 0  # in this epoch
        self.chunks: Iterator[Chunk] = iter(())
        self.order_state: Mapping[str, Any] | None = None  # of `order`, before it ordered the chunks of this epoch

    def compile(self) -> None:
        """Learn from an empty share, so that kernels are compiled before the clock starts."""
        rewind(self.block, self.stream.source, 0, 0)
        self.stream.fill(self.block, self.stream.source, self.random)
        self.learn_block(self.block, self.tables, self.buffers, 0.0)

    def run_until(self, epochs: int, halt: Event) -> None:
        """Learn until `epochs` epochs are complete or `halt` is set."""
        while self.epochs < epochs and not halt.is_set():
            if self.chunk is None:
                self.tally.begin_epoch(self.thread)
                self.enter_epoch(0)
            while self.chunk is not None and self.learn_chunk(self.chunk, halt):
                self.next_chunk()
            if self.chunk is None:
                self.epochs += 1

    def enter_epoch(self, chunk_number: int) -> None:
        """Go to a chunk of a new epoch; the order is random if the settings say so."""
        if self.order is not None:
            self.order_state = self.order.bit_generator.state
        chunks = iter([self.share]) if self.order is None else shuffled_chunks(*self.share, self.order)
        self.chunks, self.chunk_number = islice(chunks, chunk_number, None), chunk_number - 1
        self.next_chunk()

    def next_chunk(self) -> None:
        """Go to the next chunk, if there is one."""
        self.chunk, self.chunk_number = next(self.chunks, None), self.chunk_number + 1
        if self.chunk is not None:
            rewind(self.block, *self.chunk)

    def learn_chunk(self, chunk: Chunk, halt: Event) -> bool:
        """Learn from the rest of a chunk; False if `halt` was set before its end."""
        block, buffers, tally = self.block, self.buffers, self.tally
        while not halt.is_set():
            words = self.stream.fill(block, chunk.source, self.random)
            if words == 0 and block.cursor[FIRST] == block.cursor[LAST]:
                return True
            learning_rate = tally.learning_rate
            tally.words[self.thread] += words
            self.learn_block(block, self.tables, buffers, learning_rate)
            tally.add(self.thread, buffers.tally[LOSS], buffers.tally[PAIRS])
            tally.steps[self.thread] = buffers.tally[STEPS]
            buffers.tally[LOSS] = buffers.tally[PAIRS] = 0
        return False

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the state (not copies)."""
        block = {f"block.{name}": array for name, array in self.block._asdict().items()}
        return {"random": self.random, **block, **{name: getattr(self.buffers, name) for name in CARRIED_FIELDS}}

    def state(self) -> dict[str, Any]:
        """The rest of the state, as JSON values."""
        in_epoch = self.chunk is not None
        order = None if self.order is None else self.order_state if in_epoch else self.order.bit_generator.state
        return {"epochs": self.epochs, "chunk": self.chunk_number if in_epoch else None, "order": order}

    def restore(self, state: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Restore a saved state."""
        self.epochs = check_count(state["epochs"])
        if self.order is not None:
            self.order.bit_generator.state = state["order"]
        if state["chunk"] is not None:
            self.enter_epoch(check_count(state["chunk"]))
        for name, array in self.arrays().items():
            copy_into(array, arrays[name])
        if self.chunk is not None and not self.stream.is_valid(self.block, *self.chunk):
            raise ValueError("the position of a thread is outside its text")


def check_count(value: Any) -> int:
    """The value, which must be an int >= 0."""
    if type(value) is not int or value < 0:
        raise ValueError(f"expected an int >= 0, got {value!r}")
    return value
