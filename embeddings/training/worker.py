"""One training thread: its random numbers, its block, its step buffers, and its position in its share of the stream.

A worker can halt at the end of any block and later continue as if it had not. Its `state` and `arrays` hold everything
that decides what it does next: completed epochs, the current chunk, the random state that ordered the chunks, the block
(which holds the words of an unfinished line), the random counter, and what buffers carry from block to block.

If two threads update the same row at the same time, one of the updates, or part of it, can be lost. This is rare for
all but the most frequent words, and word2vec works the same way. Nothing else is shared: each thread has its share of
the corpus, its random numbers, its buffers and its row of the tally. Single-threaded runs are bit-reproducible.
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from itertools import islice
from threading import Event
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from embeddings.errors import DeclarationError
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, LOSS_INTERVAL, STEPS, UNTIL_SAMPLE
from embeddings.kernels.random_numbers import thread_keys
from embeddings.kernels.row_cache import LEAST_THREADS, flush
from embeddings.kernels.step_buffers import CARRIED, with_frozen_rows, with_row_caches
from embeddings.models.table import Arrays, copy_into
from embeddings.training.plan import Plan
from embeddings.training.progress import Tally
from embeddings.training.stream import Chunk
from embeddings.training.training_data import TrainingData

Work = Callable[[int, Event], None]
REPORT_INTERVAL = 0.1  # seconds
MAX_READS_WITHOUT_UNITS = 1000  # in a row: a block may hold words of earlier units, but not for ever


def run_threads(work: Work, threads: int, report: Callable[[], object]) -> None:
    """Run `work(thread, halt)` on each thread and call `report` regularly.

    `halt` asks the threads to return early. It is set when `report` returns true, and on any exception, including
    KeyboardInterrupt: the first one is raised again when all threads have returned.
    """
    halt = Event()
    running: set[Future[None]] = set()
    with ThreadPoolExecutor(threads, thread_name_prefix="trainer") as pool:
        try:
            running |= {pool.submit(work, thread, halt) for thread in range(threads)}
            while running:
                done, running = wait(running, timeout=REPORT_INTERVAL, return_when=FIRST_EXCEPTION)
                for future in done:
                    future.result()
                if report():
                    halt.set()
        finally:
            halt.set()
            while running:  # threads return within a block; further interrupts change nothing
                with suppress(KeyboardInterrupt):
                    running = wait(running).not_done


def run_uninterrupted(work: Callable[[], None]) -> None:
    """Do some work on another thread; an interrupt of this one is raised when it is done."""
    run_threads(lambda thread, halt: work(), 1, lambda: False)


class Worker:
    """The state of one thread of a run, which leaves the `frozen` (rows,) rows of words unchanged."""

    def __init__(
        self,
        data: TrainingData,
        plan: Plan,
        tables: Arrays,
        tally: Tally,
        thread: int,
        frozen: np.ndarray | None = None,
    ) -> None:
        self.plan, self.stream, self.tally, self.thread = plan, plan.stream, tally, thread
        self.block, self.operands, buffers = plan.stream.new_block(), plan.operands(tables), plan.buffers()
        if frozen is not None:
            buffers = with_frozen_rows(buffers, tables[plan.word_table], frozen)
        elif (data.threads if data.run_options.replicas is None else data.threads_per_replica) >= LEAST_THREADS:
            cached = (tables.get(name or "") for name in (plan.cached_inputs, plan.cached_outputs))
            buffers = with_row_caches(buffers, *cached)  # several threads update the same tables
        self.buffers = buffers
        self.caches = [cache for cache in (buffers.input_cache, buffers.output_cache) if len(cache.uses)]
        key = thread_keys(data.seed, data.shares)[thread]
        self.random = np.array([key, 0], np.uint64)
        self.order = np.random.default_rng(key) if data.schedule.shuffle else None
        # Each thread starts at another step, so that losses are sampled all over the text.
        first_sample = float(int(key) % LOSS_INTERVAL)  # a random step; numpy 1 would divide floats
        self.buffers.tally[UNTIL_SAMPLE] = first_sample
        # Bounds depend on the number of shares only, so that a resumed run reads the same shares.
        self.begin, self.end = self.stream.bounds(data.shares)[thread : thread + 2]
        self.units = (self.end - self.begin) * data.schedule.epochs  # to read over all epochs
        self.limit = math.inf  # units after which it halts
        self.epochs = 0  # completed
        self.units_read = 0  # in this epoch
        self.reads_without_units = 0  # in a row, in this epoch
        self.chunk: Chunk | None = None
        self.chunk_number = 0  # in this epoch
        self.chunks: Iterator[Chunk] = iter(())
        self.order_state: Mapping[str, Any] | None = None  # of `order`, before it ordered the chunks of this epoch

    def compile(self) -> None:
        """Learn from an empty share, so that kernels are compiled before the clock starts; the state stays the same."""
        state = {name: array.copy() for name, array in self.arrays().items()}
        # The first fill compiles the reader; a stream of a plugin may change the block and the random state.
        chunk = self.stream.empty_chunk
        self.stream.rewind(self.block, chunk)
        self.stream.fill(self.block, chunk, self.random)
        for cache in self.caches:
            flush(cache)
        self.compile_kernel()
        # In place, since operands and buffers hold these arrays.
        for name, array in self.arrays().items():
            array[...] = state[name]

    def compile_kernel(self) -> None:
        """Learn from an empty block."""
        try:
            self.plan.kernel(self.block, self.operands, self.buffers, 0.0)
        except NumbaError as error:
            name, text = getattr(self.plan.kernel, "__name__", "kernel"), str(error)
            if missing := re.search(r"Function\(<function (\w+) .*?>>> \w+\((\w+)", text, re.DOTALL):
                problem = f"there is no {missing[1]} for {missing[2]}"
            else:
                causes = "Cannot determine|Unknown attribute|Invalid use|No implementation"
                reasons = re.findall(rf"(?:{causes})[^\n(]*", text)
                lines = [line for line in text.splitlines() if line and not line.startswith("Failed in nopython")]
                problem = (reasons or lines or [text])[-1].strip()
            place = re.findall(r'File "([^"]*)", line (\d+)', text)
            where = f" ({place[-1][0]}, line {place[-1][1]})" if place else ""
            raise DeclarationError(
                f"the kernel {name} does not fit the declared operands, block and buffers: {problem}{where}"
            ) from error

    def run_until(self, epochs: int, halt: Event, share: float | None = None) -> None:
        """Learn until `epochs` epochs are complete, `halt` is set, or this share of all units is read."""
        # Of this thread's units, not of all: replicas merge at equal shares of their own text.
        self.limit = math.inf if share is None or not self.units else share * self.units
        self.plan.load(self.operands)
        try:
            while self.epochs < epochs and not halt.is_set() and not self.has_read(self.limit):
                if self.chunk is None:
                    self.tally.epoch_sums[self.thread].append(np.zeros(2))
                    self.enter_epoch(0)
                while self.chunk is not None and self.learn_chunk(self.chunk, halt):
                    self.next_chunk()
                if self.chunk is None:
                    self.check_units(is_whole=True)
                    self.epochs, self.units_read = self.epochs + 1, 0
        finally:
            self.plan.store(self.operands)

    def check_units(self, *, is_whole: bool) -> None:
        """Refuse a stream that gives more units than it declares, fewer in a whole epoch, or none time and again."""
        expected = self.end - self.begin
        if self.units_read > expected or (is_whole and self.units_read < expected):
            raise DeclarationError(
                f"the stream gave {self.units_read:,} of the {expected:,} {self.stream.unit} of a share"
            )
        if self.reads_without_units > MAX_READS_WITHOUT_UNITS:
            raise DeclarationError(
                f"{type(self.stream).__name__} gave no units in {MAX_READS_WITHOUT_UNITS:,} reads in a row: at the end "
                "of a chunk, fill must leave an empty block, and chunks must end"
            )

    def has_read(self, units: float) -> bool:
        """Whether this many units are read."""
        return bool(self.tally.words[self.thread] >= units)

    def enter_epoch(self, chunk_number: int) -> None:
        """Go to a chunk of a new epoch; the order is random if the settings say so."""
        if self.order is not None:
            # Before the order is drawn: a checkpoint inside the epoch draws it again, and skips to its chunk.
            self.order_state = self.order.bit_generator.state
        self.reads_without_units = 0
        chunks = self.stream.chunks(self.begin, self.end, self.order)
        self.chunks, self.chunk_number = islice(chunks, chunk_number, None), chunk_number - 1
        self.next_chunk()

    def next_chunk(self) -> None:
        """Go to the next chunk, if there is one."""
        self.chunk, self.chunk_number = next(self.chunks, None), self.chunk_number + 1
        if self.chunk is not None:
            self.stream.rewind(self.block, self.chunk)

    def learn_chunk(self, chunk: Chunk, halt: Event) -> bool:
        """Learn from the rest of a chunk; False if `halt` was set or the limit reached before its end."""
        block, counts, tally = self.block, self.buffers.tally, self.tally
        while not halt.is_set() and not self.has_read(self.limit):
            units = self.stream.fill(block, chunk, self.random)
            self.reads_without_units = 0 if units else self.reads_without_units + 1
            self.units_read += units
            self.check_units(is_whole=False)
            if units == 0 and self.stream.is_empty(block):
                return True
            # Before the units are counted, so that the first block learns at the initial rate.
            learning_rate = tally.learning_rate(self.thread)
            tally.words[self.thread] += units
            self.plan.kernel(block, self.operands, self.buffers, learning_rate)
            # After each block: checkpoints, merges and averages read the tables between two blocks.
            for cache in self.caches:
                flush(cache)
            tally.add(self.thread, counts[LOSS], counts[EXAMPLES])
            tally.steps[self.thread] = counts[STEPS]
            counts[LOSS] = counts[EXAMPLES] = 0
        return False

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays of the state (not copies)."""
        block = {f"block.{name}": array for name, array in self.block._asdict().items()}
        return {"random": self.random, **block, **{name: getattr(self.buffers, name) for name in CARRIED}}

    def state(self) -> dict[str, Any]:
        """The rest of the state, as JSON values."""
        in_epoch = self.chunk is not None
        order = None if self.order is None else self.order_state if in_epoch else self.order.bit_generator.state
        chunk = self.chunk_number if in_epoch else None
        return {"epochs": self.epochs, "units_read": self.units_read, "chunk": chunk, "order": order}

    def restore(self, state: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
        """Restore a saved state."""
        self.epochs, self.units_read = check_count(state["epochs"]), check_count(state["units_read"])
        # Before `enter_epoch`, which draws the order of the chunks of the unfinished epoch again.
        if self.order is not None:
            self.order.bit_generator.state = state["order"]
        if state["chunk"] is not None:
            self.enter_epoch(check_count(state["chunk"]))
        # After `enter_epoch`, which moves the block to the start of its chunk.
        for name, array in self.arrays().items():
            copy_into(array, arrays[name])
        if not np.isfinite(self.buffers.tally).all():
            raise ValueError("a count of a thread is not finite")
        if self.chunk is not None:
            self.stream.localize(self.block, self.chunk)
        if self.chunk is not None and not self.stream.is_valid(self.block, self.chunk):
            raise ValueError("the position of a thread is outside its share")


def check_count(value: Any) -> int:
    """The value, which must be an int >= 0."""
    if type(value) is not int or value < 0:
        raise ValueError(f"expected an int >= 0, got {value!r}")
    return value
