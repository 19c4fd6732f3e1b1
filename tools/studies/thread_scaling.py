"""What threads gain for each trainer, and what sharing tables costs them."""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from threading import Event
from typing import Any, ClassVar

import embeddings as em
from embeddings import registry
from embeddings.indexes.index_spec import parse_spec
from embeddings.kernels import row_cache
from embeddings.support.system import available_threads
from embeddings.training.progress import Tally
from embeddings.training.training_data import prepare
from embeddings.training.worker import Worker, run_threads
from studies.grid import Grid, Rows, collect, markdown, medians, take_turns

WORK = {  # lines of the text that a trainer learns from, and epochs, so that a run takes a few seconds
    "skipgram": (16000, 1), "cbow": (16000, 2), "fasttext": (8000, 1), "structured-skipgram": (8000, 1),
    "directional-skipgram": (16000, 1), "continuous-window": (8000, 1), "paragraph-dbow": (16000, 4),
    "paragraph-dm": (16000, 1),
}  # fmt: skip
DEFAULT_WORK = 4000, 1


@dataclass(frozen=True)
class Variant:
    """How threads learn."""

    threads: int
    has_own_tables: bool = False
    is_processes: bool = False

    @property
    def name(self) -> str:
        """What the results call it."""
        if self.is_processes:
            return f"{self.threads} processes"
        own = ", separate tables" if self.has_own_tables else ""
        return f"{self.threads} thread{'s' * (self.threads > 1)}{own}"


class Task:
    """A trainer with its settings, and the text that it learns from."""

    def __init__(self, trainer: str, text: Path, epochs: int) -> None:
        name, settings = parse_spec(trainer, group="trainer")
        self.settings: Any = registry.create("trainer", name, {"epochs": epochs, "subsample": 1e-4, **settings})
        self.encoded = em.Corpus(text, tokenizer=self.settings.tokenizer or "whitespace").encode()

    def workers(self, variant: Variant, only: int | None = None) -> list[Worker]:
        """The workers of all threads, or of one of them, compiled."""
        data = prepare(self.settings, self.encoded, threads=variant.threads, seed=1)
        plan = self.settings.plan(data)
        tally = Tally(data.shares, data.schedule, plan.stream.units, plan.stream.unit)
        is_separate = variant.has_own_tables or variant.is_processes
        shared = None if is_separate else plan.allocate(1)
        numbers = range(variant.threads) if only is None else [only]
        cached = row_cache.MAX_CACHED_ROWS
        row_cache.MAX_CACHED_ROWS = 0 if is_separate else cached  # no other thread reads the rows
        try:
            workers = [Worker(data, plan, shared or plan.allocate(1), tally, number) for number in numbers]
        finally:
            row_cache.MAX_CACHED_ROWS = cached
        workers[0].compile()
        tally.start_clock()
        return workers

    def learn(self, workers: list[Worker]) -> dict[str, float]:
        """CPU and wall seconds of learning with a thread for each worker."""

        def work(thread: int, halt: Event) -> None:
            workers[thread].run_until(self.settings.epochs, halt)

        start = time.process_time(), time.perf_counter()
        run_threads(work, len(workers), lambda: False)
        return {"CPU s": time.process_time() - start[0], "wall s": time.perf_counter() - start[1]}


def learn_share(
    trainer: str, text: Path, epochs: int, variant: Variant, is_ready: Any, number: int
) -> dict[str, float]:
    """Learn one share of a text in a process of its own, as soon as all processes are ready."""
    task = Task(trainer, text, epochs)
    workers = task.workers(variant, number)
    is_ready.wait()
    return task.learn(workers)


class Threads(Grid):
    """Measures what threads gain for each trainer, and what sharing tables costs them.

    Each --trainer NAME[:KEY=VALUE,...] learns from a part of --text with one thread, with several threads that share
    their tables, with as many that each have tables of their own, and with as many processes, which share nothing: what
    the machine itself allows at that moment. Lines are documents. Only training is timed, not reading and compilation.
    All variants of a trainer take turns.
    """

    results = "threads/scaling"
    keys = ("trainer",)
    values = ("variant", "round", "measure", "value")
    packages = ("numba", "numpy")
    defaults: ClassVar = {"text": str, "trainer": [*WORK], "threads": 0, "lines": 0, "rounds": 3}

    def measure(self, trainer: str) -> Iterator[Sequence[Any]]:
        """CPU and wall seconds of each variant."""
        options = self.options
        number = options.threads or max(available_threads(), 2)
        kinds = ({}, {"has_own_tables": True}, {"is_processes": True})
        variants = [Variant(1), *(Variant(number, **kind) for kind in kinds)]
        lines, epochs = WORK.get(parse_spec(trainer, group="trainer")[0], DEFAULT_WORK)
        part = self.folder / f"{len(list(self.folder.iterdir()))}.txt"
        with Path(options.text).open(encoding="utf-8") as source, part.open("w", encoding="utf-8") as target:
            target.writelines(islice(source, options.lines or lines))
        task, context = Task(trainer, part, epochs), get_context("spawn")
        with ProcessPoolExecutor(number, context) as pool, context.Manager() as manager:

            def run(variant: Variant) -> dict[str, float]:
                if not variant.is_processes:
                    return task.learn(task.workers(variant))
                share = partial(learn_share, trainer, part, epochs, variant, manager.Barrier(number))
                times = list(pool.map(share, range(number)))
                return {"CPU s": sum(one["CPU s"] for one in times), "wall s": max(one["wall s"] for one in times)}

            yield from take_turns({variant.name: partial(run, variant) for variant in variants}, options.rounds)

    def table(self, rows: Rows) -> str:
        """A row for each variant; speed by wall time, and CPU time, are relative to the first."""
        lines, first = [], {}
        for (trainer, variant), one in collect(rows, "trainer", "variant").items():
            cpu, wall = medians(one, "CPU s", "wall s")
            first_cpu, first_wall = first.setdefault(trainer, (cpu, wall))
            ratios = f"{first_wall / wall:.2f}", f"{cpu / first_cpu:.2f}"
            lines.append([f"`{trainer}`", variant, f"{cpu:.2f}", f"{wall:.2f}", *ratios])
        return markdown(["trainer", "how threads learn", "CPU s", "wall s", "speed", "CPU time"], lines)
