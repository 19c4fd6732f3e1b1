"""What threads gain for each trainer, and what the machine itself allows."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings import registry
from embeddings.compilation.jit import entry_point
from embeddings.indexes.index import parse_spec
from embeddings.kernels.block import FIRST, LAST, fill_block, rewind
from embeddings.support.system import available_threads
from embeddings.training.training_data import prepare
from studies.grid import Grid, Rows, collect, markdown, take_turns, timed

WORK = {  # lines of the text that a trainer learns from, and epochs, so that a run takes a few seconds
    "skipgram": (16000, 1), "cbow": (16000, 2), "fasttext": (8000, 1), "structured-skipgram": (8000, 1),
    "directional-skipgram": (16000, 1), "continuous-window": (8000, 1), "paragraph-dbow": (16000, 4),
    "paragraph-dm": (16000, 1),
}  # fmt: skip


def learn(trainer: str, epochs: int, threads: int, text: Path, barrier: Any = None) -> dict[str, float]:
    """CPU and wall seconds of learning from an encoded text, if given as soon as all processes are ready."""
    name, settings = parse_spec(trainer, group="trainer")
    corpus = em.Corpus(text, tokenizer="whitespace")
    corpus.encode()
    if barrier is not None:
        barrier.wait()
    own = {"epochs": epochs, "subsample": 1e-4, **settings}
    return timed(lambda: em.train(name, corpus, threads=threads, seed=1, **own))


class Threads(Grid):
    """Measures what threads gain for each trainer, beside processes that share nothing.

    Each --trainer NAME[:KEY=VALUE,...] learns from a part of --text with one thread, with several threads, which share
    their tables, and with as many processes, each of which learns from its share of the lines: what the machine itself
    allows at that moment. Lines are documents. Reading and compilation are not timed. All variants of a trainer take
    turns.
    """

    results = "threads/scaling"
    keys = ("trainer",)
    rows = ("trainer", "variant")
    columns: ClassVar = {"CPU s": ".2f", "wall s": ".2f"}
    values = ("variant", "round", "measure", "value")
    packages = ("numba", "numpy")
    defaults: ClassVar = {"text": str, "trainer": [*WORK], "threads": 0, "lines": 0, "rounds": 3}

    def measure(self, trainer: str) -> Iterator[Sequence[Any]]:
        """CPU and wall seconds of each variant."""
        options = self.options
        number = options.threads or max(available_threads(), 2)
        size, epochs = WORK.get(parse_spec(trainer, group="trainer")[0], (4000, 1))
        with Path(options.text).open(encoding="utf-8") as source:
            lines = list(islice(source, options.lines or size))
        parts = [lines, *(lines[share::number] for share in range(number))]
        paths = [self.folder / f"{len(lines)}-{share}.txt" for share in range(len(parts))]
        for path, part in zip(paths, parts, strict=True):
            path.write_text("".join(part), encoding="utf-8")
        context = get_context("spawn")
        with ProcessPoolExecutor(number, context) as pool, context.Manager() as manager:

            def run_processes() -> dict[str, float]:
                share = partial(learn, trainer, epochs, 1, barrier=manager.Barrier(number))
                times = list(pool.map(share, paths[1:]))
                return {"CPU s": sum(one["CPU s"] for one in times), "wall s": max(one["wall s"] for one in times)}

            runs = {
                "1 thread": partial(learn, trainer, epochs, 1, paths[0]),
                f"{number} threads": partial(learn, trainer, epochs, number, paths[0]),
                f"{number} processes": run_processes,
            }
            yield from take_turns(runs, options.rounds)


OWN, OTHER, SHARED = range(
    3
)  # where a row is: in the core's own cache, in another core's, in the third level or memory
PLACES = ("own cache", "another core", "third level or memory")


@entry_point
def move_rows(
    block: tuple[np.ndarray, ...], cursor: np.ndarray, near: int, private: int, owners: np.ndarray, times: np.ndarray,
    clocks: np.ndarray, found: np.ndarray,
) -> None:  # fmt: skip
    """Let all cores, (cores, ...) of each array, learn a block centre by centre in turns, and count where rows are."""
    words, start, stop, noise = block
    cores, negatives = len(words), noise.shape[2]
    for step in range(words.shape[1]):
        for core in range(cores):
            i = cursor[core, 0] + step
            if i >= cursor[core, 1]:
                continue
            contexts = stop[core, i] - start[core, i]
            for n in range(contexts + negatives):
                table, row = 0, words[core, start[core, i] + n] if n < contexts else noise[core, i, n - contexts]
                if n >= contexts or row == words[core, i]:  # the centre is a target, not one of its contexts
                    table = 1
                if row < private:
                    found[OWN] += 1
                    continue
                owner = owners[table, row]
                is_near = owner >= 0 and clocks[owner] - times[table, row] <= near
                found[SHARED if not is_near else OWN if owner == core else OTHER] += 1
                owners[table, row], times[table, row] = core, clocks[core]
                clocks[core] += 1


class ManyCores(Grid):
    """Calculates how many cores share tables of skip-gram: where a core finds the rows that it learns.

    For each number of --cores, each core learns its share of --text; the program records which core had a row last,
    and whether it would still be in that core's second-level cache of --cache KB. From that, and --ns, the time of a
    kept word on one core, the table calculates what the cores can reach, if moving a cache line from core to core takes
    --transfer ns, --in-flight of them move at the same time, and the cores of a socket can move --traffic GB/s. With
    --private N, each core has copies of the N most frequent rows.
    """

    results = "threads/many-cores"
    keys = ("cores", "private")
    packages = ("numba", "numpy")
    defaults: ClassVar = {
        "text": str, "cores": [1, 2, 8, 16, 32, 64, 128], "private": [0, 32, 256], "cache": 2048, "seed": 1,
        "ns": 276.0, "transfer": 100.0, "in_flight": 24, "traffic": 300.0,
    }  # fmt: skip
    about = (
        "Skip-gram, 100 dimensions, 5 negative samples, subsampling 1e-4, a cache of {cache:,} KB in each core. "
        "Assumed: {ns:.0f} ns for a kept word on one core, {transfer:.0f} ns to move a cache line, {in_flight} at a "
        "time, {traffic:.0f} GB/s."
    )

    def prepare(self) -> None:
        """Encode the text."""
        self.encoded = em.Corpus(self.options.text, tokenizer="whitespace").encode()

    def measure(self, cores: int, private: int) -> Iterator[Sequence[Any]]:
        """The rows of a kept word by place, from the second block of each core, and the calculated speed."""
        options = self.options
        settings = registry.create("trainer", "skipgram", {"subsample": 1e-4})
        plan = settings.plan(prepare(settings, self.encoded, threads=1, seed=options.seed))
        source, tables = plan.stream.source, (2, len(self.encoded.vocabulary))
        bounds = np.linspace(0, len(source.ids), cores + 1).astype(int)
        blocks = [plan.stream.new_block() for _ in range(cores)]
        owners, times, clocks = np.full(tables, -1), np.zeros(tables, np.int64), np.zeros(cores, np.int64)
        line_bytes = 64 * -(-settings.dim * 4 // 64)
        for block, begin, end in zip(blocks, bounds[:-1], bounds[1:], strict=True):
            rewind(block, source, int(begin), int(end))
        for _ in range(2):
            for core, block in enumerate(blocks):
                fill_block(block, source, np.array([core + 1, 0], np.uint64))
            arrays = [np.stack([getattr(one, name) for one in blocks]) for name in ("words", "start", "stop", "noise")]
            cursor = np.array([[one.cursor[FIRST], one.cursor[LAST]] for one in blocks])
            found = np.zeros(len(PLACES), np.int64)
            near = options.cache * 1024 // line_bytes
            move_rows(tuple(arrays), cursor, near, private, owners, times, clocks, found)
            rows = found / (cursor[:, 1] - cursor[:, 0]).sum()
        lines = rows[OTHER] * line_bytes / 64
        ns = max(options.ns, lines * options.transfer / options.in_flight)
        limit = options.traffic / (lines * 64 / ns) if lines else float("inf")
        yield from zip(PLACES, map(float, rows), strict=True)
        yield "GB/s between cores", cores * lines * 64 / ns
        yield "times one core", min(cores, limit) * options.ns / ns

    def table(self, rows: Rows) -> str:
        """A line for each number of cores."""
        values = collect(rows, "cores", "private")
        heads = ["cores", "private rows", *map("rows: {}".format, PLACES), "GB/s between cores", "times one core"]
        forms = [*[".1f"] * len(PLACES), ".0f", ".1f"]
        lines = [
            [*names, *(format(one, form) for (one,), form in zip(measures.values(), forms, strict=True))]
            for names, measures in values.items()
        ]
        return markdown(heads, lines)
