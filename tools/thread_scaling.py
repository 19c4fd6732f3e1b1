"""Measures what threads gain for each trainer, and what sharing tables costs them.

    python tools/thread_scaling.py wiki.txt -o eval/results/threads
    python tools/thread_scaling.py wiki.txt -o experiments --trainer paragraph-dbow --cached-rows 0 --cached-rows 256

Each trainer learns one epoch of a part of the text with one thread, with several threads that share their tables, and
with as many that each have tables of their own, which shows what the same machine reaches at that moment without
sharing. Lines are documents. Only training is timed, not reading and compilation. All variants of a trainer take turns;
figures are medians. Writes scaling.json, to which trainers are added as they finish, and scaling.md. Measure on an
otherwise idle machine.
"""

import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median
from threading import Event
from typing import Any

import click

import embeddings as em
from embeddings import registry
from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.eval.benchmark.result_rows import write_text
from embeddings.eval.machine import describe, environment
from embeddings.indexes.index_spec import parse_spec
from embeddings.kernels import step_buffers
from embeddings.support.markdown import table_lines
from embeddings.support.system import available_threads
from embeddings.training.hogwild import run_threads
from embeddings.training.progress import Tally
from embeddings.training.training_data import prepare
from embeddings.training.worker import Worker

LINES = {  # of the text that a trainer learns from, so that a run takes a few seconds
    "skipgram": 8000, "cbow": 16000, "fasttext": 4000, "structured-skipgram": 4000, "directional-skipgram": 4000,
    "continuous-window": 4000, "paragraph-dbow": 16000, "paragraph-dm": 8000,
}  # fmt: skip
SETTINGS = {"epochs": 1, "subsample": 1e-4}


@dataclass(frozen=True)
class Variant:
    """How threads learn."""

    threads: int
    has_own_tables: bool = False
    cached_rows: int | None = None

    @property
    def name(self) -> str:
        """What the results call it."""
        own = ", separate tables" if self.has_own_tables else ""
        cached = "" if self.cached_rows is None else f", {self.cached_rows} cached rows"
        return f"{self.threads} thread{'s' * (self.threads > 1)}{own}{cached}"


@contextmanager
def cached_rows(count: int | None) -> Iterator[None]:
    """Let threads cache this many frequent rows; None for the default."""
    before = step_buffers.MAX_CACHED_ROWS
    step_buffers.MAX_CACHED_ROWS = before if count is None else count
    try:
        yield
    finally:
        step_buffers.MAX_CACHED_ROWS = before


def run(settings: Any, encoded: EncodedCorpus, variant: Variant) -> tuple[float, float]:
    """CPU and wall seconds of learning."""
    data = prepare(settings, encoded, threads=variant.threads, seed=1)
    plan, shared = settings.plan(data), {}
    tally = Tally(data.shares, data.schedule, plan.stream.units, plan.stream.unit)
    with cached_rows(0 if variant.has_own_tables else variant.cached_rows):
        shared = plan.allocate(1)
        tables = [plan.allocate(1) if variant.has_own_tables else shared for _ in range(variant.threads)]
        workers = [Worker(data, plan, tables[number], tally, number) for number in range(variant.threads)]
    workers[0].compile()
    tally.start_clock()

    def work(thread: int, halt: Event) -> None:
        workers[thread].run_until(settings.epochs, halt)

    start = time.process_time(), time.perf_counter()
    run_threads(work, variant.threads, lambda: False)
    return time.process_time() - start[0], time.perf_counter() - start[1]


def measure(trainer: str, text: Path, variants: list[Variant], lines: int | None, rounds: int) -> dict[str, Any]:
    """Medians of CPU and wall seconds of each variant."""
    name, settings = parse_spec(trainer, group="trainer")
    trained = registry.create("trainer", name, {**SETTINGS, **settings})
    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder, "text.txt")
        with text.open(encoding="utf-8") as source, part.open("w", encoding="utf-8") as target:
            target.writelines(islice(source, lines or LINES.get(name, 4000)))
        encoded = em.Corpus(part, tokenizer=trained.tokenizer or "whitespace").encode()
        times: dict[str, list[tuple[float, float]]] = {variant.name: [] for variant in variants}
        for _ in range(rounds + 1):
            for variant in variants:
                times[variant.name].append(run(trained, encoded, variant))
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
    variants = [Variant(1), Variant(number), Variant(number, has_own_tables=True)]
    variants += [Variant(number, cached_rows=size) for size in sizes]
    out.mkdir(parents=True, exist_ok=True)
    file = out / "scaling.json"
    record = json.loads(file.read_text(encoding="utf-8")) if file.exists() and not force else {"trainers": {}}
    record.setdefault("machine", environment(("embeddings-toolkit", "numba", "numpy")))
    for trainer in trainers or LINES:
        if set(record["trainers"].get(trainer, ())) != {variant.name for variant in variants}:
            record["trainers"][trainer] = measure(trainer, corpus, variants, lines, rounds)
            write_text(json.dumps(record, indent=1) + "\n", file)
            for row in table_rows(trainer, record["trainers"][trainer]):
                click.echo("\t".join(row))
    write_text(markdown(record), out / "scaling.md")


if __name__ == "__main__":
    main()
