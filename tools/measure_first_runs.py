"""Measure the first and the second run of each command: CPU and wall seconds, written as a Markdown table.

    python tools/measure_first_runs.py docs/first_runs.md [COMMAND...]

Each command runs on a small text with an empty cache, then again with only the compiled code in the cache. Measure on
an otherwise idle machine. The row of a trainer is named after it; the others are `infer`, `evaluate` and `neighbours`.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from embeddings.support.markup import table_lines
from embeddings.training.precompile import trainable

SMALL = ["--dim", "20", "--min-count", "1", "--epochs", "1"]
TEXT_OPTIONS = {"sembei": ["--dim", "20", "--epochs", "1"]}
LABELLED = {"classifier"}
NOT_ON_PLAIN_TEXT = {"tensor-indexing"}  # needs phrases
HEADER = ["command", "first run: CPU s", "wall s", "second run: CPU s", "wall s", "difference: CPU s", "wall s"]


@dataclass(frozen=True)
class Cost:
    """What a run takes, in seconds; CPU time is that of all its processes."""

    cpu: float
    wall: float


def measure(arguments: list[str], cache: Path, folder: Path) -> Cost:
    """The cost of one command."""
    environment = {**os.environ, "EMBEDDINGS_CACHE": str(cache)}
    start = perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "embeddings", *arguments], cwd=folder, env=environment, stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"failed: {' '.join(arguments)}")
    return Cost(usage.ru_utime + usage.ru_stime, perf_counter() - start)


def first_and_second(arguments: list[str], folder: Path) -> tuple[Cost, Cost]:
    """The costs of a command with an empty cache, and with compiled code only."""
    cache = Path(tempfile.mkdtemp(dir=folder))
    first = measure(arguments, cache, folder)
    shutil.rmtree(cache / "corpora", ignore_errors=True)
    second = measure(arguments, cache, folder)
    shutil.rmtree(cache)
    return first, second


def write_texts(folder: Path, lines: int = 400) -> None:
    """A text of random words, the same each time, and the same with labels."""
    numbers = random.Random(1)
    text = [" ".join(f"w{numbers.randrange(300)}" for _ in range(20)) + "\n" for _ in range(lines)]
    (folder / "text.txt").write_text("".join(text))
    (folder / "labelled.txt").write_text("".join(f"__label__{i % 3} {line}" for i, line in enumerate(text)))


def commands(folder: Path) -> dict[str, list[str]]:
    """The commands to measure, by name; trains the models that they need."""
    text, labelled, quiet = str(folder / "text.txt"), str(folder / "labelled.txt"), ["--quiet", "--force"]
    write_texts(folder)
    trainers = [name for name in trainable() if name not in NOT_ON_PLAIN_TEXT]
    rows = {}
    for name in trainers:
        corpus = labelled if name in LABELLED else text
        rows[name] = ["train", name, corpus, "-o", f"model-{name}", *TEXT_OPTIONS.get(name, SMALL), *quiet]
    for name in ("skipgram", "paragraph-dm"):
        measure(rows[name], folder / "cache", folder)
    return rows | {
        "infer": ["infer", "model-paragraph-dm", text, "-o", "vectors.npy", *quiet],
        "evaluate": ["evaluate", "model-skipgram"],
        "neighbours": ["neighbours", "model-skipgram", "w1"],
    }


def main(out: str, *only: str) -> None:
    """Measure the commands, and write the table after each."""
    table = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for command, arguments in commands(folder).items():
            if only and command not in only:
                continue
            first, second = first_and_second(arguments, folder)
            numbers = [first.cpu, first.wall, second.cpu, second.wall, first.cpu - second.cpu, first.wall - second.wall]
            table.append([command, *(f"{number:.1f}" for number in numbers)])
            print(*table[-1], sep="\t", flush=True)
            Path(out).write_text("\n".join(table_lines(HEADER, table)) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
