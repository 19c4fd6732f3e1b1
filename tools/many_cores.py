"""What threads gain on this machine: words, texts or queries a second with 1, 2, 4 and more threads.

    python tools/many_cores.py TEXT [--threads 1 2 4 8 16] [--seconds 230] [--words 4000000] [--only skipgram cbow]

Needs Linux, the package and a text. A ratio is to the first number of threads; a dash is what was not measured in time.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import embeddings as em
from embeddings.corpora.reading.compression import open_binary
from embeddings.support.system import available_threads

LINE, SHORT_LINE = 1000, 20  # words of a line of text, and of a short text
TEXTS, QUERIES = 40_000, 2_000  # short texts, and words whose neighbours are searched
CORES = available_threads()
Speed = tuple[str, float]  # units, and how many a second
Task = Callable[[Path, int], Speed]


def training(trainer: str, file: str, epochs: float = 1) -> Task:
    """Training with so many epochs a thread: runs must not become too short to be measured."""

    def run(folder: Path, threads: int) -> Speed:
        passes = max(1, round(epochs * threads))
        record = em.train(trainer, folder / file, threads=threads, epochs=passes, progress=False).record
        return record["unit"], record["words_per_second"]

    return run


def speed(unit: str, work: Callable[[], int]) -> Speed:
    """The speed of some work, which returns a count; a first call, which may compile, is not measured."""
    work()
    start = time.perf_counter()
    count = work()
    return unit, count / (time.perf_counter() - start)


def encoding(folder: Path, threads: int) -> Speed:
    """Reading, splitting and counting words; a new copy of the text is not in the cache."""
    text, copies = folder / "text.txt", [folder / f"text-{threads}-{number}.txt" for number in range(2)]
    for copy in copies:
        copy.write_bytes(text.read_bytes())
    return speed("words", lambda: len(em.Corpus(copies.pop()).encode(threads=threads, progress=False).ids))


def using(trainer: str, unit: str, work: Callable[[em.Model, list[str], int], int]) -> Task:
    """Work with a trained model and the short texts."""

    def run(folder: Path, threads: int) -> Speed:
        path, texts = folder / trainer, (folder / "texts.txt").read_text(encoding="utf-8").splitlines()
        if not path.exists():
            text = folder / ("labelled.txt" if trainer == "classifier" else "text.txt")
            em.train(trainer, text, epochs=1, progress=False).save(path)
        model = em.Model.load(path)
        return speed(unit, lambda: work(model, texts, threads))

    return run


TASKS: dict[str, Task] = {
    "skipgram": training("skipgram", "text.txt"),
    "cbow": training("cbow", "text.txt", 2),
    "fasttext": training("fasttext", "text.txt", 0.5),
    "structured-skipgram": training("structured-skipgram", "text.txt", 0.5),
    "paragraph-dbow": training("paragraph-dbow", "texts.txt", 2),
    "paragraph-dm": training("paragraph-dm", "texts.txt", 2),
    "classifier": training("classifier", "labelled.txt", 5),
    "text-pairs": training("text-pairs", "pairs.txt"),
    "distill": training("distill", "taught.parquet"),
    "encoding": encoding,
    "embed": using("skipgram", "texts", lambda m, texts, n: len(em.embed(m, texts, threads=n))),
    "predict": using("classifier", "texts", lambda m, texts, n: len(m.predict(texts, threads=n)[0])),
    "search": using(
        "skipgram", "queries", lambda m, texts, n: len(m.vectors.most_similar_many(m.vectors.words[:QUERIES]))
    ),
    "index": using("skipgram", "texts", lambda m, texts, n: len(em.TextIndex.build(m, texts, threads=n))),
}


def write_data(text: Path, folder: Path, words: int) -> None:
    """Write the first words of a text as lines, short texts, labelled texts, pairs of texts, and texts with vectors."""
    with open_binary(text) as file:
        tokens = file.read(8 * words).decode("utf-8", "replace").split()[:words]
    lines, texts = ([" ".join(tokens[at : at + n]) for at in range(0, len(tokens), n)] for n in (LINE, SHORT_LINE))
    del texts[TEXTS:]
    pairs, labelled = map("\t".join, pairwise(texts)), [f"__label__{len(one) % 10} {one}" for one in texts]
    for name, content in (("text", lines), ("texts", texts), ("pairs", pairs), ("labelled", labelled)):
        (folder / f"{name}.txt").write_text("\n".join(content) + "\n", encoding="utf-8")
    vectors = np.random.default_rng(1).standard_normal((len(texts), 256), np.float32)
    pq.write_table(pa.table({"text": texts, "vector": list(vectors)}), folder / "taught.parquet")


def measure(folder: Path, threads: int, names: list[str], seconds: float) -> list[tuple[str, str, float]]:
    """The name, unit and speed of each kind of work that a process with as many cores as threads measures in time."""
    cores = set(sorted(os.sched_getaffinity(0))[:threads])
    command = [sys.executable, "-u", __file__, str(folder), "--child", "--threads", str(threads), "--only", *names]
    limit = partial(os.sched_setaffinity, 0, cores)
    try:
        output = subprocess.run(command, stdout=subprocess.PIPE, timeout=seconds, preexec_fn=limit).stdout
    except subprocess.TimeoutExpired as error:
        output = error.output or b""
    return [json.loads(line) for line in output.splitlines()]


def main() -> None:
    """Measure one number of threads after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text", type=Path)
    parser.add_argument("--threads", type=int, nargs="+", default=[2**n for n in range(CORES.bit_length())])
    parser.add_argument("--seconds", type=float, default=230)
    parser.add_argument("--words", type=int, default=4_000_000)
    parser.add_argument("--only", nargs="+", choices=list(TASKS), default=list(TASKS), metavar="WORK")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        for name in args.only:
            sys.stdout.write(json.dumps([name, *TASKS[name](args.text, args.threads[0])]) + "\n")
        return
    end, speeds, units = time.monotonic() + args.seconds, {}, {}
    with tempfile.TemporaryDirectory() as name:
        write_data(args.text, Path(name), args.words)
        # The ends first: what all cores gain says most.
        for threads in dict.fromkeys([args.threads[0], args.threads[-1], *args.threads]):
            for work, unit, number in measure(Path(name), threads, args.only, max(end - time.monotonic(), 0.1)):
                units[work], speeds[work, threads] = unit, number
    rows = [["work", "a second", *map(str, args.threads)], ["---"] * 2 + ["---:"] * len(args.threads)]
    for work, unit in units.items():
        numbers = [speeds.get((work, n)) for n in args.threads]
        rows.append([work, unit, *(f"{one:,.0f} ({one / (numbers[0] or one):.2f})" if one else "-" for one in numbers)])
    sys.stdout.writelines(f"| {' | '.join(row)} |\n" for row in rows)


if __name__ == "__main__":
    main()
