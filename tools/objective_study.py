"""Compares the objectives of each model: training time, quality of the vectors and perplexity, next to other tools.

python tools/objective_study.py run RESULTS.tsv --corpus FILE [--words N] [--full-words N] [--heldout FILE]
    [--heldout-words N] [--epochs N] [--seed N...] [--similarity SET...] [--analogy SET...] [--model MODEL...]
    [--objective OBJECTIVE...] [--tool TOOL...] [--word2vec PROGRAM] [--processes N]
python tools/objective_study.py table RESULTS.tsv

`run` trains each cell in a process of its own on one thread, adds its rows to the file, skips cells that it holds, and
writes the table of `table` next to it, RESULTS.md. Give several of an option by repeating it.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from importlib.util import find_spec
from itertools import islice, product
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from objective_tables import FULL, MODELS, OBJECTIVES, REFUSED, SECONDS, table
from study_rows import append_rows, read_rows

import embeddings as em
from embeddings import registry
from embeddings.corpora.reading.compression import open_decompressed
from embeddings.errors import SettingError
from embeddings.eval.benchmark.job import Job, ModelConfig
from embeddings.eval.benchmark.peers import Clock, run_gensim, timing

PEER_MODELS, PEER_OBJECTIVES = ("skipgram", "cbow"), ("negative-sampling", "hierarchical-softmax")
OURS, GENSIM, WORD2VEC = "embeddings", "gensim", "word2vec.c"
COLUMNS = ("model", "objective", "tool", "seed", "words", "epochs", "measure", "value")
PERCENT = ("spearman", "accuracy")
WORDS_PER_LINE = 1000  # which is a document of paragraph vectors


class Cell(NamedTuple):
    """One training run; `words` of the text, from its beginning."""

    model: str
    objective: str
    tool: str
    seed: int
    words: int
    epochs: int

    @property
    def key(self) -> tuple[str, ...]:
        """The cell in a table of results."""
        return tuple(str(value) for value in self)


@dataclass(frozen=True)
class Task:
    """A cell with what it reads: its text, the held-out text, test sets, and the program word2vec."""

    cell: Cell
    text: str
    heldout: str
    similarity: list[str]
    analogy: list[str]
    word2vec: str


def run(path: Path, options: argparse.Namespace) -> None:
    """Train and score the cells that the file does not hold yet, and write the table."""
    done = {tuple(row[column] for column in COLUMNS[:6]) for row in read_rows(path)} if path.exists() else set()
    cells, lock = [cell for cell in iter_cells(options) if cell.key not in done], Lock()
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(options.processes) as pool:
        texts, heldout = cut_texts(options, {cell.words for cell in cells}, Path(folder))
        sets = [list(options.similarity), list(options.analogy)]

        def measure(cell: Cell) -> None:
            task = Task(cell, texts[cell.words], heldout, *sets, options.word2vec or "")
            command = [sys.executable, __file__, "cell", json.dumps(asdict(task))]
            process = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
            lines = (process.stdout if process.returncode == 0 else process.stderr).strip().splitlines() or [""]
            with lock:
                if process.returncode == 0:
                    results = json.loads(lines[-1])
                    append_rows(path, COLUMNS, [[*cell.key, *map(str, one)] for one in results])
                sys.stderr.write(f"{' '.join(cell.key)}: {lines[-1]}\n")

        list(pool.map(measure, cells))
    if path.exists():
        path.with_suffix(".md").write_text(table(path), encoding="utf-8")


def iter_cells(options: argparse.Namespace) -> Iterator[Cell]:
    """The chosen cells, a whole seed after the other; tools that are not installed are left out."""
    tools = {OURS: True, GENSIM: find_spec("gensim") is not None, WORD2VEC: options.word2vec is not None}
    for seed, tool, model, objective in product(
        options.seed or [1], options.tool or tools, options.model or MODELS, options.objective or OBJECTIVES
    ):
        is_ours = tool == OURS or (model in PEER_MODELS and objective in PEER_OBJECTIVES)
        if tools[tool] and is_ours:
            words = options.full_words if objective == FULL else options.words
            yield Cell(model, objective, tool, seed, words, options.epochs)


def cut_texts(options: argparse.Namespace, sizes: Iterable[int], folder: Path) -> tuple[dict[int, str], str]:
    """Files with that many words of the corpus, and one of the held-out text, by default the words that follow."""
    texts = {}
    for size in sizes:
        texts[size] = write_lines(folder / f"{size}.txt", islice(iter_words(options.corpus), size))
    first = 0 if options.heldout else options.words
    words = islice(iter_words(options.heldout or options.corpus), first, first + options.heldout_words)
    heldout = write_lines(folder / "heldout.txt", words)
    if not Path(heldout).stat().st_size:
        sys.exit(f"{options.corpus} has no words after the first {options.words}: reduce --words or give --heldout")
    return texts, heldout


def iter_words(path: Path) -> Iterator[str]:
    """The words of a text, read in parts; it may be compressed."""
    rest = ""
    with open_decompressed(path) as file:
        while part := file.read(1 << 20):
            *words, rest = (rest + part.decode("utf-8", "replace")).split(" ")
            yield from (word for piece in words for word in piece.split())
    yield from rest.split()


def write_lines(path: Path, words: Iterator[str]) -> str:
    """Write words in lines of `WORDS_PER_LINE`; returns the path."""
    with path.open("w", encoding="utf-8") as file:
        while line := list(islice(words, WORDS_PER_LINE)):
            file.write(" ".join(line) + "\n")
    return str(path)


def run_cell(task: Task) -> list[tuple[str, float | str]]:
    """Train and score a cell; returns measures and values."""
    trainers = {OURS: train_ours, GENSIM: train_gensim, WORD2VEC: train_word2vec}
    try:
        seconds, source = trainers[task.cell.tool](task)
    except SettingError as error:
        return [(REFUSED, str(error))]
    sets = {"similarity": task.similarity, "analogy": task.analogy}
    results = em.evaluate(source, name="", restrict=30_000, **sets) if any(sets.values()) else []
    scores = {one.set: 100 * (one.value or 0) for one in results if one.section is None and one.measure in PERCENT}
    with suppress(SettingError):  # it defines no probabilities
        scores |= {one.measure: one.value for one in em.evaluate(source, name="", perplexity=task.heldout)[1:]}
    return [(SECONDS, seconds), *((name, round(value, 4)) for name, value in scores.items())]


def train_ours(task: Task) -> tuple[float, Any]:
    """Our CPU seconds and model: kernels are compiled and the text is encoded beforehand."""
    trainer = registry.create("trainer", task.cell.model, settings_of(task.cell))
    replace(trainer, epochs=1, min_count=1, dim=8).train(em.Corpus(["a b c d e f"] * 50), threads=1)
    corpus, seconds = em.Corpus(task.text), {"cpu": 0.0}
    corpus.encode()
    with timing(seconds):
        model = trainer.train(corpus, threads=1, seed=task.cell.seed)
    return seconds["cpu"], model


def settings_of(cell: Cell) -> dict[str, Any]:
    """Our settings of a cell."""
    return {"epochs": cell.epochs, **OBJECTIVES[cell.objective]}


def train_gensim(task: Task) -> tuple[float, Any]:
    """The CPU seconds and vectors of gensim with the same settings."""
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "vectors.bin")
        run_gensim(Job(model_config(task.cell), task.cell.seed, task.text, out), clock)
        return clock.training["cpu"], em.load(out)


def model_config(cell: Cell) -> ModelConfig:
    """The configuration of a cell for other tools."""
    return ModelConfig(cell.model, asdict(registry.create("trainer", cell.model, settings_of(cell))), 1)


def train_word2vec(task: Task) -> tuple[float, Any]:
    """The CPU seconds and vectors of word2vec.c with the same settings, less those of a run that only counts words."""
    settings, cell = model_config(task.cell).settings, task.cell
    is_tree = settings.get("objective") == "hierarchical-softmax"
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder) / "vectors.bin")
        command = [task.word2vec, "-train", task.text, "-threads", "1", "-min-count", str(settings["min_count"])]
        counting = child_seconds([*command, "-save-vocab", str(Path(folder) / "vocabulary.txt")])
        options = {
            "output": out,
            "binary": 1,
            "cbow": int(cell.model == "cbow"),
            "hs": int(is_tree),
            "negative": 0 if is_tree else settings["negatives"],
            "size": settings["dim"],
            "window": settings["window"],
            "sample": settings["subsample"],
            "alpha": settings["learning_rate"],
            "iter": cell.epochs,
        }
        flags = [part for name, value in options.items() for part in (f"-{name}", str(value))]
        seconds = child_seconds([*command, *flags])
        return seconds - counting, em.load(out)


def child_seconds(command: Sequence[str]) -> float:
    """The CPU seconds of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(arguments: Sequence[str]) -> None:
    """Run the study, write its table to standard output, or run one cell for `run`."""
    if arguments[:1] == ["cell"]:
        task = json.loads(arguments[1])
        results = run_cell(Task(**{**task, "cell": Cell(*task["cell"])}))
        sys.stdout.write(json.dumps(results) + "\n")
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["run", "table"])
    parser.add_argument("results", type=Path)
    parser.add_argument("--corpus", type=Path, help="text, which may be compressed")
    parser.add_argument("--heldout", type=Path, help="text for the perplexity; by default the corpus after --words")
    parser.add_argument("--word2vec", help="compiled word2vec.c")
    sizes = {"words": 1_500_000, "full-words": 100_000, "heldout-words": 10_000, "epochs": 3, "processes": 1}
    for name, size in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--seed", action="append", type=int)
    for name in ("similarity", "analogy"):
        parser.add_argument(f"--{name}", action="append", default=[])
    for name, choices in (("model", MODELS), ("objective", OBJECTIVES), ("tool", (OURS, GENSIM, WORD2VEC))):
        parser.add_argument(f"--{name}", action="append", choices=list(choices))
    options = parser.parse_args(arguments)
    if options.command == "table":
        sys.stdout.write(table(options.results))
    elif options.corpus is None:
        parser.error("run requires --corpus")
    else:
        run(options.results, options)


if __name__ == "__main__":
    main(sys.argv[1:])
