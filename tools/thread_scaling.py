"""Measures what threads gain for each trainer, and what sharing tables costs them.

    python tools/thread_scaling.py wiki.txt -o eval/results/threads
    python tools/thread_scaling.py wiki.txt -o experiments --trainer paragraph-dbow --cached-rows 0 --cached-rows 256

Each trainer learns from a part of the text with one thread, with several threads that share their tables, with as many
that each have tables of their own, and with as many processes, which share nothing: what the machine itself allows at
that moment. Lines are documents. Only training is timed, not reading and compilation. All variants of a trainer take
turns; figures are medians. Writes scaling.json, to which trainers are added as they finish, and scaling.md. Measure on
an otherwise idle machine.
"""

import json
import multiprocessing
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from threading import Event
from typing import Any

import click

import embeddings as em
from embeddings import registry
from embeddings.eval.benchmark.workspace import write_text
from embeddings.eval.machine import describe, environment
from embeddings.indexes.index_spec import parse_spec
from embeddings.kernels import row_cache
from embeddings.support.markup import table_lines
from embeddings.support.system import available_threads
from embeddings.training.progress import Tally
from embeddings.training.training_data import prepare
from embeddings.training.worker import Worker, run_threads

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
    cached_rows: int | None = None
    is_processes: bool = False

    @property
    def name(self) -> str:
        """What the results call it."""
        if self.is_processes:
            return f"{self.threads} processes"
        own = ", separate tables" if self.has_own_tables else ""
        cached = "" if self.cached_rows is None else f", {self.cached_rows} cached rows"
        return f"{self.threads} thread{'s' * (self.threads > 1)}{own}{cached}"


@contextmanager
def cached_rows(count: int | None) -> Iterator[None]:
    """Let threads cache this many frequent rows; None for the default."""
    before = row_cache.MAX_CACHED_ROWS
    row_cache.MAX_CACHED_ROWS = before if count is None else count
    try:
        yield
    finally:
        row_cache.MAX_CACHED_ROWS = before


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
        with cached_rows(0 if is_separate else variant.cached_rows):
            numbers = range(variant.threads) if only is None else [only]
            workers = [Worker(data, plan, shared or plan.allocate(1), tally, number) for number in numbers]
        workers[0].compile()
        tally.start_clock()
        return workers

    def learn(self, workers: list[Worker]) -> tuple[float, float]:
        """CPU and wall seconds of learning with a thread for each worker."""

        def work(thread: int, halt: Event) -> None:
            workers[thread].run_until(self.settings.epochs, halt)

        start = time.process_time(), time.perf_counter()
        run_threads(work, len(workers), lambda: False)
        return time.process_time() - start[0], time.perf_counter() - start[1]


def serve(connection: Connection, trainer: str, text: Path, epochs: int, variant: Variant, number: int) -> None:
    """Learn one share of a text, in a process of its own, each time that the connection asks for it."""
    task = Task(trainer, text, epochs)
    while connection.recv():
        workers = task.workers(variant, number)
        connection.send(None)
        connection.recv()
        connection.send(task.learn(workers))
        del workers


@contextmanager
def processes(trainer: str, text: Path, epochs: int, variant: Variant) -> Iterator[list[Connection]]:
    """Processes that each learn one share of the text; yields connections to them."""
    context = multiprocessing.get_context("spawn")
    started, connections = [], []
    for number in range(variant.threads):
        own, other = context.Pipe()
        started.append(context.Process(target=serve, args=(other, trainer, text, epochs, variant, number), daemon=True))
        started[-1].start()
        other.close()
        connections.append(own)
    try:
        yield connections
        for connection in connections:
            connection.send(False)
    finally:
        for connection in connections:
            connection.close()
        for process in started:
            process.join()


def run_processes(connections: list[Connection]) -> tuple[float, float]:
    """CPU seconds of all processes and wall seconds of the slowest, which learn at the same time."""
    for connection in connections:  # one after another, as they prepare
        connection.send(True)
        connection.recv()
    for connection in connections:
        connection.send(None)
    times = [connection.recv() for connection in connections]
    return sum(cpu for cpu, _ in times), max(wall for _, wall in times)


def measure(trainer: str, text: Path, variants: list[Variant], lines: int | None, rounds: int) -> dict[str, Any]:
    """Medians of CPU and wall seconds of each variant."""
    default_lines, epochs = WORK.get(parse_spec(trainer, group="trainer")[0], DEFAULT_WORK)
    times: dict[str, list[tuple[float, float]]] = {variant.name: [] for variant in variants}
    with ExitStack() as stack:
        part = Path(stack.enter_context(tempfile.TemporaryDirectory()), "text.txt")
        with text.open(encoding="utf-8") as source, part.open("w", encoding="utf-8") as target:
            target.writelines(islice(source, lines or default_lines))
        task = Task(trainer, part, epochs)
        served = {
            variant: stack.enter_context(processes(trainer, part, epochs, variant))
            for variant in variants
            if variant.is_processes
        }
        for _ in range(rounds + 1):
            for variant in variants:
                is_served = variant in served
                one = run_processes(served[variant]) if is_served else task.learn(task.workers(variant))
                times[variant.name].append(one)
    return {name: [median(one[i] for one in runs[1:]) for i in (0, 1)] for name, runs in times.items()}


HEADER = ["trainer", "how threads learn", "CPU s", "wall s", "speed", "CPU time"]


def table_rows(trainer: str, times: dict[str, list[float]]) -> Iterator[list[str]]:
    """A row for each variant; speed by wall time, and CPU time, are relative to the first."""
    (first_cpu, first_wall), *_ = times.values()
    for name, (cpu, wall) in times.items():
        yield [f"`{trainer}`", name, f"{cpu:.2f}", f"{wall:.2f}", f"{first_wall / wall:.2f}", f"{cpu / first_cpu:.2f}"]


def markdown(record: dict[str, Any]) -> str:
    """The machine and the table."""
    rows = [row for trainer, times in record["trainers"].items() for row in table_rows(trainer, times)]
    machine = describe(record["machine"], record["machine"]["packages"])
    return "\n".join([machine, "", *table_lines(HEADER, rows)]) + "\n"


@click.command()
@click.argument("corpus", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--trainer", "trainers", multiple=True, help="Trainers, as NAME:KEY=VALUE,...  [default: those of windows]"
)
@click.option("--threads", type=click.IntRange(2), help="Number of threads.  [default: all]")
@click.option("--cached-rows", "sizes", multiple=True, type=click.IntRange(0), help="Rows that each thread caches.")
@click.option("--lines", type=click.IntRange(1), help="Lines of the text.  [default: by trainer]")
@click.option("--rounds", type=click.IntRange(1), default=3, show_default=True, help="Runs of each variant.")
@click.option("-o", "--out", required=True, type=click.Path(file_okay=False, path_type=Path), help="Output folder.")
@click.option("--force", is_flag=True, help="Measure everything again.")
def main(
    corpus: Path, trainers: tuple[str, ...], threads: int | None, sizes: tuple[int, ...], lines: int | None,
    rounds: int, out: Path, force: bool,
) -> None:  # fmt: skip
    """Measure threads on a text of words between spaces whose lines are documents."""
    number = threads or max(available_threads(), 2)
    variants = [
        Variant(1), Variant(number), Variant(number, has_own_tables=True), Variant(number, is_processes=True)
    ]  # fmt: skip
    variants += [Variant(number, cached_rows=size) for size in sizes]
    out.mkdir(parents=True, exist_ok=True)
    file = out / "scaling.json"
    record = json.loads(file.read_text(encoding="utf-8")) if file.exists() and not force else {"trainers": {}}
    record.setdefault("machine", environment(("embeddings-toolkit", "numba", "numpy")))
    for trainer in trainers or WORK:
        if set(record["trainers"].get(trainer, ())) != {variant.name for variant in variants}:
            record["trainers"][trainer] = measure(trainer, corpus, variants, lines, rounds)
            write_text(json.dumps(record, indent=1) + "\n", file)
            for row in table_rows(trainer, record["trainers"][trainer]):
                click.echo("\t".join(row))
    write_text(markdown(record), out / "scaling.md")


if __name__ == "__main__":
    main()
