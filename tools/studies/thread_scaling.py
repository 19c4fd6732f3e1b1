"""What threads gain for each trainer, and what sharing tables costs them."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
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
from studies.grid import Grid, Rows, collect, markdown, medians, take_turns, timed

WORK = {  # lines of the text that a trainer learns from, and epochs, so that a run takes a few seconds
    "skipgram": (16000, 1), "cbow": (16000, 2), "fasttext": (8000, 1), "structured-skipgram": (8000, 1),
    "directional-skipgram": (16000, 1), "continuous-window": (8000, 1), "paragraph-dbow": (16000, 4),
    "paragraph-dm": (16000, 1),
}  # fmt: skip


class Task:
    """A trainer with its settings, and the text that it learns from."""

    def __init__(self, trainer: str, text: Path, epochs: int) -> None:
        name, settings = parse_spec(trainer, group="trainer")
        self.settings: Any = registry.create("trainer", name, {"epochs": epochs, "subsample": 1e-4, **settings})
        self.encoded = em.Corpus(text, tokenizer=self.settings.tokenizer or "whitespace").encode()

    def learn(
        self, threads: int, only: int | None = None, wait: Callable[[], Any] = lambda: None, *, is_separate: bool
    ) -> dict[str, float]:
        """CPU and wall seconds of learning with several threads, or of one of them; `wait` is called before.

        is_separate: whether each thread has tables of its own.
        """
        data = prepare(self.settings, self.encoded, threads=threads, seed=1)
        plan = self.settings.plan(data)
        tally = Tally(data.shares, data.schedule, plan.stream.units, plan.stream.unit)
        shared = None if is_separate else plan.allocate(1)
        cached = row_cache.MAX_CACHED_ROWS
        row_cache.MAX_CACHED_ROWS = 0 if is_separate else cached  # no other thread reads the rows
        try:
            numbers = range(threads) if only is None else [only]
            workers = [Worker(data, plan, shared or plan.allocate(1), tally, number) for number in numbers]
        finally:
            row_cache.MAX_CACHED_ROWS = cached
        workers[0].compile()
        tally.start_clock()

        def work(thread: int, halt: Event) -> None:
            workers[thread].run_until(self.settings.epochs, halt)

        wait()
        return timed(lambda: run_threads(work, len(workers), lambda: False))


def learn_share(trainer: str, text: Path, epochs: int, threads: int, barrier: Any, number: int) -> dict[str, float]:
    """Learn one share of a text in a process of its own, as soon as all processes are ready."""
    return Task(trainer, text, epochs).learn(threads, number, barrier.wait, is_separate=True)


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
        lines, epochs = WORK.get(parse_spec(trainer, group="trainer")[0], (4000, 1))
        part = self.folder / f"{len(list(self.folder.iterdir()))}.txt"
        with Path(options.text).open(encoding="utf-8") as source, part.open("w", encoding="utf-8") as target:
            target.writelines(islice(source, options.lines or lines))
        task, context = Task(trainer, part, epochs), get_context("spawn")
        with ProcessPoolExecutor(number, context) as pool, context.Manager() as manager:

            def run_processes() -> dict[str, float]:
                share = partial(learn_share, trainer, part, epochs, number, manager.Barrier(number))
                times = list(pool.map(share, range(number)))
                return {"CPU s": sum(one["CPU s"] for one in times), "wall s": max(one["wall s"] for one in times)}

            runs = {
                "1 thread": partial(task.learn, 1, is_separate=False),
                f"{number} threads": partial(task.learn, number, is_separate=False),
                f"{number} threads, separate tables": partial(task.learn, number, is_separate=True),
                f"{number} processes": run_processes,
            }
            yield from take_turns(runs, options.rounds)

    def table(self, rows: Rows) -> str:
        """A row for each variant; speed by wall time, and CPU time, are relative to the first."""
        lines, first = [], {}
        for (trainer, variant), one in collect(rows, "trainer", "variant").items():
            cpu, wall = medians(one, "CPU s", "wall s")
            first_cpu, first_wall = first.setdefault(trainer, (cpu, wall))
            ratios = f"{first_wall / wall:.2f}", f"{cpu / first_cpu:.2f}"
            lines.append([f"`{trainer}`", variant, f"{cpu:.2f}", f"{wall:.2f}", *ratios])
        return markdown(["trainer", "how threads learn", "CPU s", "wall s", "speed", "CPU time"], lines)
