"""The kernels of skip-gram and CBOW against the limits of one core, and the roofline picture.

Parts of the kernels are compiled alone; multiply-adds and row updates in the same code show what the machine can do.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise, product
from statistics import median
from time import thread_time
from timeit import repeat
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings import registry
from embeddings.compilation.jit import entry_point
from embeddings.compilation.vector_emitter import VECTOR_BYTES, Emitter
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.kernels.block import FIRST, LAST, Block, BlockSource, fill_block, new_block, rewind
from embeddings.kernels.gradient_steps import apply_steps, compute_logistic_steps
from embeddings.kernels.row_operations import address, emitted, scatter_add, score
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import (
    backprop_to_contexts,
    combine_contexts,
    gather_contexts,
    gather_inputs,
    prefetch_targets,
)
from embeddings.objectives.negative_sampling import NegativeSamples, gather_samples
from embeddings.support.plots import label_log_axis
from embeddings.training.training_data import prepare
from studies.grid import Grid, Rows, collect, markdown

ACCUMULATORS = 20  # of independent multiply-adds: enough to hide the latency of each
FLOATS = VECTOR_BYTES // 4  # in a vector
STAGES = ("row addresses", "scores", "logistic function", "gradients")
ADDRESSES, SCORES, STEPS, GRADIENTS = range(len(STAGES))
SHAPES = [" ".join(map(str, shape)) for shape in product(("skipgram", "cbow"), (100, 300), (5, 15))]
LEVELS = {"L1 cache": 24, "L2 cache": 512, "L3 cache": 8192, "memory": 262144}  # names, and KB of a table
ROW_FLOATS, RATE = 112, 0.01  # numbers in a row, and the learning rate
LIMITS, FLOPS, BYTES = "limits", "flops", "bytes"
HEADS = [
    "trainer, dim, negatives", "kflop", "KB", "words and windows, ns", "negative samples, ns",
    *(f"{stage}, ns" for stage in STAGES), "kernel, ns", "M words / CPU s", "Gflop/s", "of the peak",
    "of the roof with rows in L2",
]  # fmt: skip
Row = dict[str, float]


@entry_point
def run_stages(
    block: Block, words: np.ndarray, samples: NegativeSamples, buffers: StepBuffers, is_mean: bool, last_stage: int
) -> None:
    """The kernel of skip-gram or, if contexts are averaged, of CBOW, up to one of its stages."""
    width = words.shape[1]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        if is_mean:
            contexts = gather_contexts(block, words, buffers, i)
            m = 1 if contexts > 0 else 0
        else:
            m = contexts = gather_inputs(block, words, buffers, i)
        if m > 0:
            if is_mean and last_stage >= SCORES:
                combine_contexts(buffers, contexts, width, 1 / contexts)
            n = gather_samples(samples, block, buffers, i, 1, 0, 0)
            if last_stage >= SCORES:
                score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
            prefetch_targets(block, samples.output, samples.negatives, i)
            if last_stage >= STEPS:
                compute_logistic_steps(buffers, m, 1, n, RATE, m)
            if last_stage >= GRADIENTS:
                apply_steps(buffers, m, n, width)
                if is_mean:
                    backprop_to_contexts(buffers, contexts, width, 1.0)


@emitted
def multiply_adds(emit: Emitter, numbers: Any, rounds: Any) -> None:
    """`rounds` times `ACCUMULATORS` multiply-adds of the first of 16 numbers, which are overwritten."""
    factor = emit.broadcast(numbers, emit.builder.mul(rounds, rounds.type(0)))
    sums = [emit.variable() for _ in range(ACCUMULATORS)]
    with emit.for_range(rounds):
        for accumulator in sums:
            emit.builder.store(emit.fma(factor, factor, emit.builder.load(accumulator)), accumulator)
    total = emit.zero
    for accumulator in sums:
        total = emit.builder.fadd(total, emit.builder.load(accumulator))
    emit.store(total, numbers, rounds.type(0))


@entry_point
def run_multiply_adds(numbers: np.ndarray, rounds: int) -> None:
    """Multiply and add in registers: 2 x `ACCUMULATORS` x `FLOATS` x `rounds` floating-point operations."""
    multiply_adds(numbers, rounds)


@entry_point
def update_rows(table: np.ndarray, order: np.ndarray, rows: np.ndarray, step: np.ndarray, factor: np.ndarray) -> None:
    """Add a row to the rows of a table in this order, eight at a time: each is read and written once."""
    for i in range(0, order.shape[0] - rows.shape[0] + 1, rows.shape[0]):
        for j in range(rows.shape[0]):
            rows[j] = address(table, order[i + j])
        scatter_add(factor, address(step, 0), rows, rows.shape[0], table.shape[1])


class Kernels(Grid):
    """Measures the kernels of skip-gram and CBOW against the limits of one core, and draws the roofline picture.

    Limits are measured in code compiled like the kernels: multiply-adds in registers, and rows that are read and
    written in random order, from tables of several sizes. For eight shapes (dim 100 and 300, 5 and 15 negative samples,
    skip-gram and CBOW) each part of a kernel is timed on the same blocks of --text, words between spaces, one thread,
    CPU time: drawing words, windows and negative samples, and the stages of learning up to row addresses, scores, steps
    and gradients. Figures are medians of --rounds of --blocks, in which all parts take turns.
    """

    results = "kernels/roofline"
    keys = ("shape",)
    packages = ("numba", "numpy")
    defaults: ClassVar = {"text": str, "shape": [LIMITS, *SHAPES], "blocks": 12, "rounds": 7}

    def measure(self, shape: str) -> Iterable[Sequence[Any]]:
        """Gflop/s and GB/s of the limits; nanoseconds of the parts of a shape, and its flops and bytes, for a word."""
        options = self.options
        if shape == LIMITS:
            return measure_limits(options.rounds * 1_000_000).items()
        trainer, dim, negatives = shape.split()
        encoded = em.Corpus(options.text, tokenizer="whitespace").encode()
        return measure_shape(encoded, trainer, int(dim), int(negatives), options.blocks, options.rounds).items()

    def table(self, rows: Rows) -> str:
        """The limits and the shapes."""
        limits, shapes = records(rows)
        bandwidths = ", ".join(f"{level} {limits[level]:.0f}" for level in LEVELS)
        about = (
            f"One core: {limits[FLOPS]:.0f} Gflop/s of multiply-adds; rows of {ROW_FLOATS} numbers, read and written "
            f"in random order, GB/s: {bandwidths}. Times are of one word of the text, kept or not."
        )
        lines = []
        for name, row in shapes.items():
            drawing = row["words and windows"], max(row["drawing"] - row["words and windows"], 0)
            steps = (max(after - before, 0) for before, after in pairwise(row[stage] for stage in STAGES))
            times = row[FLOPS] / 1e3, row[BYTES] / 1e3, *drawing, row[STAGES[0]], *steps, row["kernel"]
            speed, words = row[FLOPS] / row["kernel"], 1e3 / (row["drawing"] + row["kernel"])
            shares = speed / limits[FLOPS], speed / roof(limits, row[FLOPS] / row[BYTES], "L2 cache")
            cells = *map("{:.1f}".format, times), f"{words:.2f}", f"{speed:.0f}", *map("{:.0%}".format, shares)
            lines.append([name, *cells])
        return f"{about}\n\n{markdown(HEADS, lines)}"

    def figure(self, rows: Rows) -> Any:
        """The roofline picture."""
        from matplotlib.figure import Figure

        (limits, shapes), figure = records(rows), Figure(figsize=(8, 6), layout="constrained")
        axes, x = figure.subplots(), np.geomspace(0.25, 64, 200)
        for style, level in zip(("-", "--", "-.", ":"), LEVELS, strict=True):
            axes.plot(x, [roof(limits, one, level) for one in x], f"k{style}", lw=1, label=f"rows in {level}")
        for name, row in shapes.items():
            trainer, dim, negatives = name.split()
            label = f"{trainer}, {dim} dimensions, {negatives} negative samples"
            marker = "o" if trainer == "skipgram" else "s"
            axes.plot(row[FLOPS] / row[BYTES], row[FLOPS] / row["kernel"], marker, label=label)
        axes.set(xscale="log", yscale="log", xlabel="floating-point operations per byte of rows read or written")
        axes.set_ylabel("billion floating-point operations per second")
        axes.set_title("Kernels of skip-gram and CBOW on one core, and its limits")
        label_log_axis(axes.xaxis)
        label_log_axis(axes.yaxis)
        axes.grid(alpha=0.3)
        figure.legend(loc="outside lower center", fontsize="small", ncols=2, frameon=False)
        return figure


def records(rows: Rows) -> tuple[Row, dict[str, Row]]:
    """The limits, and the measures of each shape."""
    values = collect(rows, "shape").items()
    shapes = {shape: {name: value for name, (value,) in measures.items()} for (shape,), measures in values}
    return shapes.pop(LIMITS), shapes


def roof(limits: Row, intensity: float, level: str) -> float:
    """The Gflop/s that a core can reach with this many flops a byte, if rows are in one level of memory."""
    return min(limits[FLOPS], intensity * limits[level])


def measure_limits(rounds: int) -> Row:
    """Gflop/s of multiply-adds, and GB/s of rows that are read and written, by the size of their table."""

    def best_time(function: Callable[[], None]) -> float:
        return min(repeat(function, timer=thread_time, number=1, repeat=6)[1:])  # the first call compiles

    numbers = np.zeros(FLOATS, np.float32)
    flops = 2 * ACCUMULATORS * FLOATS * rounds
    limits = {FLOPS: flops / best_time(lambda: run_multiply_adds(numbers, rounds)) / 1e9}
    rows, step, factor = np.zeros(8, np.int64), separate_zeros((1, ROW_FLOATS)), np.ones(1, np.float32)
    for level, size in LEVELS.items():
        table = separate_zeros((size * 1024 // (4 * ROW_FLOATS), ROW_FLOATS))
        order = np.random.default_rng(1).permutation(len(table))
        order = np.tile(order, max(1, rounds // 50 // len(order)))
        seconds = best_time(partial(update_rows, table, order, rows, step, factor))
        limits[level] = 2 * 4 * ROW_FLOATS * len(order) / seconds / 1e9
    return limits


def measure_shape(encoded: EncodedCorpus, trainer: str, dim: int, negatives: int, blocks: int, rounds: int) -> Row:
    """Nanoseconds of CPU time for each word of the text, kept or not, and flops and bytes of a word."""
    settings = registry.create("trainer", trainer, {"dim": dim, "negatives": negatives, "subsample": 1e-4})
    plan = settings.plan(prepare(settings, encoded, threads=1, seed=1))
    arrays, buffers = plan.allocate(1), plan.buffers()
    operands = plan.operands(arrays)
    tables = arrays["words"], NegativeSamples(arrays["output"], negatives), buffers, trainer == "cbow"
    parts: dict[str, Callable[[Block], Any]] = {
        stage: lambda block, n=n: run_stages(block, *tables, n) for n, stage in enumerate(STAGES)
    }
    parts["kernel"] = lambda block: plan.kernel(block, operands, buffers, RATE)
    drawn = {"words and windows": new_block(settings.window, 0), "drawing": plan.stream.new_block()}
    random, work, times = np.array([1, 0], np.uint64), np.zeros(3), []
    for _ in range(rounds + 1):
        seconds, words = dict.fromkeys((*drawn, *parts), 0.0), 0
        for _ in range(blocks):
            for name, block in drawn.items():
                start = thread_time()
                read = next_block(block, plan.stream.source, random)
                seconds[name] += thread_time() - start
            words += read
            for name, run in parts.items():
                start = thread_time()
                run(block)
                seconds[name] += thread_time() - start
            work += (read, *count_work(block, trainer, dim))
        times.append({name: 1e9 * one / words for name, one in seconds.items()})
    row = {name: median(one[name] for one in times[1:]) for name in times[0]}
    return {**row, FLOPS: work[1] / work[0], BYTES: work[2] / work[0]}


def next_block(block: Block, source: BlockSource, random: np.ndarray) -> int:
    """Read the next words, from the start of the text before its start and after its end; returns how many."""
    words = fill_block(block, source, random)
    if block.cursor[FIRST] == block.cursor[LAST]:
        rewind(block, source, 0, len(source.ids))
        words = fill_block(block, source, random)
    return int(words)


def count_work(block: Block, trainer: str, dim: int) -> tuple[float, float]:
    """Flops of a block, and its bytes if each row of a window is read and written once."""
    part = slice(block.cursor[FIRST], block.cursor[LAST])
    contexts = (block.stop[part] - block.start[part] - 1).astype(np.float64)
    windows, targets, contexts_of_all = np.count_nonzero(contexts > 0), 1 + block.noise.shape[1], float(contexts.sum())
    if trainer == "cbow":  # a mean, scores and two gradients of one row, and a sum to each context
        flops = dim * (6 * targets * windows + 2 * contexts_of_all)
    else:
        flops = dim * 6 * targets * contexts_of_all
    return flops, 2 * 4 * dim * (contexts_of_all + targets * windows)
