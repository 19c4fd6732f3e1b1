"""Compares GloVe with the original programs (Pennington, Socher and Manning 2014) on one text.

python tools/glove_study.py PROGRAMS --corpus TEXT [--words N] [--dim N] [--epochs N] [--seed N...] [--results FILE.tsv]

PROGRAMS is the folder with the compiled programs vocab_count, cooccur, shuffle and glove. Both sides read the first
words of the text in lines of a thousand, with the settings of the demonstration of the original, on one thread.
"""

import argparse
import csv
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from objective_study import iter_words, write_lines

import embeddings as em

SETTINGS: dict[str, Any] = {"min_count": 5, "window": 15, "x_max": 10.0, "learning_rate": 0.05}
SETS: dict[str, Any] = {"similarity": ["wordsim353"], "analogy": ["google-analogies"]}
COLUMNS = ("tool", "seed", "words", "dim", "epochs", "measure", "value")


def train_original(programs: Path, text: Path, folder: Path, dim: int, epochs: int) -> em.Vectors:
    """The vectors of the original programs."""
    vocabulary, counts, shuffled = (folder / name for name in ("vocabulary.txt", "counts.bin", "shuffled.bin"))
    settings = SETTINGS
    pipe(programs / "vocab_count", text, vocabulary, "-min-count", settings["min_count"])
    window = ("-window-size", settings["window"])
    pipe(programs / "cooccur", text, counts, "-vocab-file", vocabulary, *window, "-overflow-file", folder / "overflow")
    pipe(programs / "shuffle", counts, shuffled, "-temp-file", folder / "part", "-memory", "1.0")
    run = ("-input-file", shuffled, "-vocab-file", vocabulary, "-save-file", folder / "vectors", "-binary", "0")
    sizes = ("-threads", "1", "-vector-size", dim, "-iter", epochs)
    rates = ("-x-max", settings["x_max"], "-eta", settings["learning_rate"])
    subprocess.run([str(part) for part in (programs / "glove", *run, *sizes, *rates)], check=True)
    lines = (folder / "vectors.txt").read_text(encoding="utf-8").splitlines(keepends=True)
    path = folder / "vectors.glove"
    path.write_text("".join(line for line in lines if not line.startswith("<unk> ")), encoding="utf-8")
    return em.load(path)


def pipe(program: Path, source: Path, target: Path, *arguments: object) -> None:
    """Run a program from a file to a file."""
    with source.open("rb") as read, target.open("wb") as write:
        subprocess.run([str(program), *map(str, arguments)], stdin=read, stdout=write, check=True)


def scores(vectors: em.Vectors | em.Model) -> dict[str, float]:
    """Spearman's correlation and the accuracy of analogies, in percent."""
    results = em.evaluate(vectors, name="", restrict=30_000, **SETS)
    kinds = ("spearman", "accuracy")
    return {one.set: 100 * (one.value or 0) for one in results if one.section is None and one.measure in kinds}


def main(arguments: Sequence[str]) -> None:
    """Train and score both sides."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", type=Path)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--dim", type=int, default=50)
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--results", type=Path, default=Path("eval/results/glove.tsv"))
    options = parser.parse_args(arguments)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        text = Path(write_lines(Path(name) / "text.txt", islice(iter_words(options.corpus), options.words)))
        sizes: dict[str, Any] = {"dim": options.dim, "epochs": options.epochs}
        measured = [("original", 1, scores(train_original(options.programs, text, Path(name), **sizes)))]
        for seed in options.seed or [1]:
            model = em.train("glove", text, threads=1, seed=seed, **sizes, **SETTINGS)
            measured.append(("embeddings", seed, scores(model)))
    for tool, seed, values in measured:
        shared = (tool, seed, options.words, options.dim, options.epochs)
        rows += [(*shared, measure, f"{value:.4f}") for measure, value in values.items()]
    with options.results.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t", lineterminator="\n").writerows([COLUMNS, *rows])


if __name__ == "__main__":
    main(sys.argv[1:])
