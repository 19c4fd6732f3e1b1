"""The kernels of skip-gram and CBOW against the limits of one core, and the roofline picture."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import pairwise, product
from statistics import median
from time import thread_time
from typing import Any, ClassVar

import numpy as np

import embeddings as em
import studies.kernel_parts as parts
from embeddings import registry
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.kernels.block import FIRST, LAST, Block, BlockSource, fill_block, new_block, rewind
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.objectives.negative_sampling import NegativeSamples
from embeddings.training.training_data import prepare
from studies.grid import Grid, Rows, collect, markdown

SHAPES = [" ".join(map(str, shape)) for shape in product(("skipgram", "cbow"), (100, 300), (5, 15))]
LEVELS = {"L1 cache": 24, "L2 cache": 512, "L3 cache": 8192, "memory": 262144}  # names, and KB of a table
ROW_FLOATS = 112
LIMITS, FLOPS, BYTES = "limits", "flops", "bytes"
HEADS = [
    "trainer, dim, negatives", "kflop", "KB", "words and windows, ns", "negative samples, ns",
    *(f"{stage}, ns" for stage in parts.STAGES), "kernel, ns", "M words / CPU s", "Gflop/s", "of the peak",
    "of the roof with rows in L2",
]  # fmt: skip
Row = dict[str, float]


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

    @cached_property
    def encoded(self) -> EncodedCorpus:
        """The text."""
        return em.Corpus(self.options.text, tokenizer="whitespace").encode()

    def measure(self, shape: str) -> Iterator[Sequence[Any]]:
        """Gflop/s and GB/s of the limits; nanoseconds of the parts of a shape, and its flops and bytes, for a word."""
        if shape == LIMITS:
            yield from measure_limits(self.options.rounds * 1_000_000).items()
            return
        trainer, dim, negatives = shape.split()
        one = Shape(self.encoded, trainer, int(dim), int(negatives))
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

        (limits, shapes), figure = records(rows), Figure(figsize=(8, 5), layout="constrained")
        axes, x = figure.subplots(), np.geomspace(0.25, 64, 200)
        for style, level in zip(("-", "--", "-.", ":"), LEVELS, strict=True):
            axes.plot(x, [roof(limits, one, level) for one in x], f"k{style}", lw=1, label=f"rows in {level}")
        for name, row in shapes.items():
            marker = "o" if name.startswith("skipgram") else "s"
            axes.plot(row[FLOPS] / row[BYTES], row[FLOPS] / row["kernel"], marker, label=name)
        axes.set(xscale="log", yscale="log", xlabel="flops per byte of rows", ylabel="Gflop/s of one core")
        axes.set_title("Kernels of skip-gram and CBOW (trainer, dim, negatives)")
        axes.legend(fontsize="small", ncols=2)
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
    times = []
    for _ in range(repeats + 1):
        start = thread_time()
        function()
        times.append(thread_time() - start)
    return min(times[1:])


def measure_limits(rounds: int) -> dict[str, float]:
    """Gflop/s of multiply-adds, and GB/s of rows that are read and written, by the size of their table."""
    numbers = np.zeros(parts.FLOATS, np.float32)
    limits = {"flops": parts.peak_flops(rounds) / best_time(lambda: parts.run_multiply_adds(numbers, rounds)) / 1e9}
    rows, step, factor = np.zeros(8, np.int64), separate_zeros((1, ROW_FLOATS)), np.ones(1, np.float32)
    for level, size in LEVELS.items():
        table = separate_zeros((size * 1024 // (4 * ROW_FLOATS), ROW_FLOATS))
        order = np.random.default_rng(1).permutation(len(table))
        order = np.tile(order, max(1, rounds // 50 // len(order)))
        seconds = best_time(lambda t=table, o=order: parts.update_rows(t, o, rows, step, factor))  # type: ignore[misc]
        limits[level] = 2 * 4 * ROW_FLOATS * len(order) / seconds / 1e9
    return limits


class Shape:
    """A model of one shape, its blocks, and what is timed."""

    def __init__(self, encoded: EncodedCorpus, trainer: str, dim: int, negatives: int) -> None:
        settings = registry.create("trainer", trainer, {"dim": dim, "negatives": negatives, "subsample": 1e-4})
        plan = settings.plan(prepare(settings, encoded, threads=1, seed=1))
        arrays = plan.allocate(1)
        self.trainer, self.dim, self.source = trainer, dim, plan.stream.source
        self.buffers = plan.buffers()
        operands, samples = plan.operands(arrays), NegativeSamples(arrays["output"], negatives)
        part_operands = parts.PartOperands(arrays["words"], samples, trainer == "cbow")
        self.parts: dict[str, Callable[[Block], None]] = {
            stage: lambda block, n=n: parts.run_stages(block, part_operands, self.buffers, 0.01, n)  # type: ignore[misc]
            for n, stage in enumerate(parts.STAGES)
        }
        self.parts["kernel"] = lambda block: plan.kernel(block, operands, self.buffers, 0.01)
        self.blocks = {"words and windows": new_block(settings.window, 0), "drawing": plan.stream.new_block()}
        self.random = np.array([1, 0], np.uint64)
        for block in self.blocks.values():
            rewind(block, self.source, 0, len(self.source.ids))

    def measure(self, blocks: int, rounds: int) -> Row:
        """Nanoseconds of CPU time for each word of the text, kept or not, and flops and bytes of a word."""
        times: dict[str, list[float]] = {name: [] for name in (*self.blocks, *self.parts)}
        work: list[tuple[int, float, float]] = []
        for _ in range(rounds + 1):
            one, counts = self.run_blocks(blocks)
            for name, seconds in one.items():
                times[name].append(seconds / counts[0] * 1e9)
            work.append(counts)
        words, flops, size = (sum(one[i] for one in work) for i in range(3))
        row = {name: median(values[1:]) for name, values in times.items()}
        return {**row, "flops": flops / words, "bytes": size / words}

    def run_blocks(self, count: int) -> tuple[dict[str, float], tuple[int, float, float]]:
        """Seconds of each part on the next blocks, and their words, flops and bytes."""
        seconds = dict.fromkeys((*self.blocks, *self.parts), 0.0)
        words, flops, size = 0, 0.0, 0.0
        for _ in range(count):
            for name, block in self.blocks.items():
                start = thread_time()
                read = next_block(block, self.source, self.random)
                seconds[name] += thread_time() - start
            words += read
            for name, run in self.parts.items():
                start = thread_time()
                run(block)
                seconds[name] += thread_time() - start
            more_flops, more_bytes = self.count_work(block)
            flops, size = flops + more_flops, size + more_bytes
        return seconds, (words, flops, size)

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


def next_block(block: Block, source: BlockSource, random: np.ndarray) -> int:
    """Read the next words, from the start of the text after its end; returns how many."""
    read = int(fill_block(block, source, random))
    if block.cursor[FIRST] == block.cursor[LAST]:
        rewind(block, source, 0, len(source.ids))
        read = int(fill_block(block, source, random))
    return read


def roof(limits: dict[str, float], intensity: float, level: str) -> float:
    """The Gflop/s that a core can reach with this many flops a byte, if rows are in one level of memory."""
    return min(limits["flops"], intensity * limits[level])


def shape_cells(name: str, row: Row, limits: dict[str, float]) -> list[str]:
    """A row of the table."""
    total, intensity = row["drawing"] + row["kernel"], row["flops"] / row["bytes"]
    speed = row["flops"] / row["kernel"]
    drawing = row["words and windows"], max(row["drawing"] - row["words and windows"], 0)
    stages = [row[stage] for stage in parts.STAGES]
    steps = [stages[0], *(max(b - a, 0) for a, b in pairwise(stages))]
    numbers = [row["flops"] / 1e3, row["bytes"] / 1e3, *drawing, *steps, row["kernel"]]
    shares = [speed / limits["flops"], speed / roof(limits, intensity, "L2 cache")]
    return [name, *(f"{number:.1f}" for number in numbers), f"{1e3 / total:.2f}", f"{speed:.0f}",
            *(f"{share:.0%}" for share in shares)]  # fmt: skip
