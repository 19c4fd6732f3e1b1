"""The kernels of skip-gram and CBOW against the limits of one core, and the roofline picture.

Parts of the kernels are compiled alone; multiply-adds and row updates in the same code show what the machine can do.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise, product
from statistics import median
from time import thread_time
from typing import Any, ClassVar, NamedTuple

import numpy as np

import embeddings as em
from embeddings import registry
from embeddings.compilation.jit import entry_point
from embeddings.compilation.vector_emitter import VECTOR_BYTES, Emitter
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.kernels.block import FIRST, LAST, Block, fill_block, new_block, rewind
from embeddings.kernels.gradient_steps import apply_steps, compute_logistic_steps
from embeddings.kernels.hidden_layer import backprop_to_contexts, combine_contexts
from embeddings.kernels.row_operations import address, emitted, scatter_add, score
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import StepBuffers
from embeddings.kernels.window import gather_contexts, gather_inputs, prefetch_targets
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
ROW_FLOATS = 112
LIMITS, FLOPS, BYTES = "limits", "flops", "bytes"
HEADS = [
    "trainer, dim, negatives", "kflop", "KB", "words and windows, ns", "negative samples, ns",
    *(f"{stage}, ns" for stage in STAGES), "kernel, ns", "M words / CPU s", "Gflop/s", "of the peak",
    "of the roof with rows in L2",
]  # fmt: skip
Row = dict[str, float]


class PartOperands(NamedTuple):
    """Input vectors, the output vectors with the number of negative samples, and whether contexts are averaged."""

    words: np.ndarray
    samples: NegativeSamples
    is_mean: bool


@entry_point
def run_stages(block: Block, operands: PartOperands, buffers: StepBuffers, rate: float, last_stage: int) -> None:
    """The kernel of skip-gram or, if contexts are averaged, of CBOW, up to one of its stages."""
    width = operands.words.shape[1]
    for i in range(block.cursor[FIRST], block.cursor[LAST]):
        if operands.is_mean:
            contexts = gather_contexts(block, operands.words, buffers, i)
            m = 1 if contexts > 0 else 0
        else:
            m = contexts = gather_inputs(block, operands.words, buffers, i)
        if m > 0:
            if operands.is_mean and last_stage >= SCORES:
                combine_contexts(buffers, contexts, width, 1 / contexts)
            n = gather_samples(operands.samples, block, buffers, i, 1, 0, 0)
            if last_stage >= SCORES:
                score(buffers.scores, buffers.inputs, m, buffers.targets, n, width)
            prefetch_targets(block, operands.samples.output, operands.samples.negatives, i)
            if last_stage >= STEPS:
                compute_logistic_steps(buffers, m, 1, n, rate, m)
            if last_stage >= GRADIENTS:
                apply_steps(buffers, m, n, width)
                if operands.is_mean:
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

    def measure(self, shape: str) -> Iterator[Sequence[Any]]:
        """Gflop/s and GB/s of the limits; nanoseconds of the parts of a shape, and its flops and bytes, for a word."""
        if shape == LIMITS:
            yield from measure_limits(self.options.rounds * 1_000_000).items()
            return
        trainer, dim, negatives = shape.split()
        encoded = em.Corpus(self.options.text, tokenizer="whitespace").encode()
        one = Shape(encoded, trainer, int(dim), int(negatives))
        yield from one.measure(self.options.blocks, self.options.rounds).items()

    def table(self, rows: Rows) -> str:
        """The limits and the shapes."""
        limits, shapes = records(rows)
        bandwidths = ", ".join(f"{level} {limits[level]:.0f}" for level in LEVELS)
        about = (
            f"One core: {limits[FLOPS]:.0f} Gflop/s of multiply-adds; rows of {ROW_FLOATS} numbers, read and written "
            f"in random order, GB/s: {bandwidths}. Times are of one word of the text, kept or not."
        )
        return f"{about}\n\n{markdown(HEADS, (shape_cells(name, row, limits) for name, row in shapes.items()))}"

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
    shapes = {
        shape: {name: value for name, (value,) in measures.items()}
        for (shape,), measures in collect(rows, "shape").items()
    }
    return shapes.pop(LIMITS), shapes


def best_time(function: Callable[[], None], repeats: int = 5) -> float:
    """The shortest CPU time of several calls, after one that compiles."""
    return min([thread_seconds(function) for _ in range(repeats + 1)][1:])


def thread_seconds(function: Callable[..., Any], *arguments: Any) -> float:
    """CPU seconds of this thread during a call."""
    start = thread_time()
    function(*arguments)
    return thread_time() - start


def measure_limits(rounds: int) -> dict[str, float]:
    """Gflop/s of multiply-adds, and GB/s of rows that are read and written, by the size of their table."""
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


class Shape:
    """A model of one shape, its blocks, and what is timed."""

    def __init__(self, encoded: EncodedCorpus, trainer: str, dim: int, negatives: int) -> None:
        settings = registry.create("trainer", trainer, {"dim": dim, "negatives": negatives, "subsample": 1e-4})
        plan = settings.plan(prepare(settings, encoded, threads=1, seed=1))
        arrays, buffers = plan.allocate(1), plan.buffers()
        self.trainer, self.dim, self.source = trainer, dim, plan.stream.source
        samples = NegativeSamples(arrays["output"], negatives)
        operands, part_operands = plan.operands(arrays), PartOperands(arrays["words"], samples, trainer == "cbow")
        self.parts: dict[str, Callable[[Block], Any]] = {
            stage: partial(run_stages, operands=part_operands, buffers=buffers, rate=0.01, last_stage=n)
            for n, stage in enumerate(STAGES)
        }
        self.parts["kernel"] = lambda block: plan.kernel(block, operands, buffers, 0.01)
        self.blocks = {"words and windows": new_block(settings.window, 0), "drawing": plan.stream.new_block()}
        self.random = np.array([1, 0], np.uint64)
        for block in self.blocks.values():
            rewind(block, self.source, 0, len(self.source.ids))

    def next_block(self, block: Block) -> None:
        """Read the next words, from the start of the text after its end."""
        self.words = int(fill_block(block, self.source, self.random))
        if block.cursor[FIRST] == block.cursor[LAST]:
            rewind(block, self.source, 0, len(self.source.ids))
            self.words = int(fill_block(block, self.source, self.random))

    def measure(self, blocks: int, rounds: int) -> Row:
        """Nanoseconds of CPU time for each word of the text, kept or not, and flops and bytes of a word."""
        times: dict[str, list[float]] = {name: [] for name in (*self.blocks, *self.parts)}
        work = np.zeros(3)
        for _ in range(rounds + 1):
            seconds, words = dict.fromkeys(times, 0.0), 0
            for _ in range(blocks):
                for name, block in self.blocks.items():
                    seconds[name] += thread_seconds(self.next_block, block)
                words += self.words
                for name, run in self.parts.items():
                    seconds[name] += thread_seconds(run, block)
                work += (self.words, *self.count_work(block))
            for name, one in seconds.items():
                times[name].append(one / words * 1e9)
        row = {name: median(values[1:]) for name, values in times.items()}
        return {**row, FLOPS: work[1] / work[0], BYTES: work[2] / work[0]}

    def count_work(self, block: Block) -> tuple[float, float]:
        """Flops of a block, and its bytes if each row of a window is read and written once."""
        part = slice(block.cursor[FIRST], block.cursor[LAST])
        contexts = (block.stop[part] - block.start[part] - 1).astype(np.float64)
        contexts, targets = contexts[contexts > 0], 1 + block.noise.shape[1]
        rows = float(contexts.sum()) + targets * len(contexts)
        if self.trainer == "cbow":  # a mean, scores and two gradients of one row, and a sum to each context
            flops = self.dim * (6 * targets * len(contexts) + 2 * float(contexts.sum()))
        else:
            flops = self.dim * 6 * targets * float(contexts.sum())
        return flops, 2 * 4 * self.dim * rows


def roof(limits: dict[str, float], intensity: float, level: str) -> float:
    """The Gflop/s that a core can reach with this many flops a byte, if rows are in one level of memory."""
    return min(limits["flops"], intensity * limits[level])


def shape_cells(name: str, row: Row, limits: dict[str, float]) -> list[str]:
    """A row of the table."""
    total, intensity = row["drawing"] + row["kernel"], row["flops"] / row["bytes"]
    speed = row["flops"] / row["kernel"]
    drawing = row["words and windows"], max(row["drawing"] - row["words and windows"], 0)
    stages = [row[stage] for stage in STAGES]
    steps = [stages[0], *(max(b - a, 0) for a, b in pairwise(stages))]
    numbers = [row["flops"] / 1e3, row["bytes"] / 1e3, *drawing, *steps, row["kernel"]]
    shares = [speed / limits["flops"], speed / roof(limits, intensity, "L2 cache")]
    return [name, *(f"{number:.1f}" for number in numbers), f"{1e3 / total:.2f}", f"{speed:.0f}",
            *(f"{share:.0%}" for share in shares)]  # fmt: skip
