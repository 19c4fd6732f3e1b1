"""Compares models of text without spaces: n-grams of raw text, characters, and words cut by a segmenter.

`python tools/unsegmented_text.py TEXT OUT --similarity FILE --categories FILE` trains each on the same plain text and
writes OUT/results.csv and OUT/results.md. It requires jieba.
"""

import argparse
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np

import embeddings as em
from embeddings.errors import EmbeddingsError, SettingError
from embeddings.eval.benchmark.workspace import COVERED, TOTAL, Row, write_rows, write_text
from embeddings.eval.machine import processor
from embeddings.eval.suite import Suite
from embeddings.support.files import check_output

MEASURES = {"spearman": "", "micro-f1": " micro-F1", "macro-f1": " macro-F1"}
NGRAMS = "10000,100000"  # unigrams, and n-grams of each further length
NOTES = """
- CPU seconds are of all threads: reading and counting, segmentation if any, training.
- Similarity is Spearman's correlation, F1 that of a linear classifier of names, with 95 % intervals, then the number of
  pairs or names that have vectors, which differs between rows. Compositional n-grams have vectors of any string, means
  of characters those of any string of known characters.
"""


@dataclass(frozen=True)
class TrainedVectors:
    """Vectors trained on a text, and the CPU seconds that took."""

    name: str
    vectors: em.Vectors
    seconds: float


def iter_models(text: Path, work: Path, words: Sequence[str], settings: dict[str, Any]) -> Iterator[TrainedVectors]:
    """Every model trained on a text; of characters the mean vectors of `words`."""
    yield train("sembei", "sembei", text, per_length=NGRAMS, **settings)
    compositional = {"per_length": NGRAMS, "compositional": True, "learning_rate": 0.025, **settings}
    yield train("sembei, compositional", "sembei", text, **compositional)
    characters = train("skip-gram of characters, means", "skipgram", text, tokenizer="characters", **settings)
    yield replace(characters, vectors=character_means(characters.vectors, words))
    seconds = segment(text, work / "segmented.txt")
    segmented = work / "segmented.txt"
    by_word = train("skip-gram of words by jieba", "skipgram", segmented, tokenizer="whitespace", **settings)
    yield replace(by_word, seconds=by_word.seconds + seconds)


def train(name: str, trainer: str, text: Path, tokenizer: str = "codepoints", **settings: Any) -> TrainedVectors:
    """Train on a text, which is encoded anew, so that its time is measured."""
    start_time = process_time()
    with text.open(encoding="utf-8") as lines:
        model = em.train(trainer, em.Corpus(list(lines), tokenizer=tokenizer), **settings)
    return TrainedVectors(name, model.vectors, process_time() - start_time)


def segment(text: Path, out: Path) -> float:
    """Write a text with spaces between the words that jieba finds; returns CPU seconds."""
    import jieba

    start_time = process_time()
    with text.open(encoding="utf-8") as lines, out.open("w", encoding="utf-8") as goal:
        goal.writelines(" ".join(jieba.cut(line)) for line in lines)
    return process_time() - start_time


def character_means(vectors: em.Vectors, words: Iterable[str]) -> em.Vectors:
    """Vectors of words as means of those of their characters; words with an unknown character are left out."""
    known = [word for word in dict.fromkeys(words) if word and all(character in vectors for character in word)]
    means = [vectors[list(word)].mean(axis=0) for word in known]
    return em.Vectors(known, np.array(means, np.float32).reshape(-1, vectors.dim))


def suite_words(suite: Suite) -> list[str]:
    """All words of the sets of similarity and categories, in lower case like the text."""
    paired = [word for pairs in suite.sets["similarity"] for pair in pairs.pairs for word in pair]
    return [word.lower() for word in [*paired, *(word for test in suite.sets["categories"] for word in test.words)]]


def score(model: TrainedVectors, suite: Suite) -> Row:
    """A row of results; vectors that compose do so for every word."""
    suite = replace(suite, compose=model.vectors.compose is not None)
    row: Row = {"model": model.name, "cpu": round(model.seconds, 1), "vectors": len(model.vectors)}
    for scores in suite.score(model.vectors, model.name):
        result = scores.result()
        if result.measure in MEASURES and result.section is None and not result.is_detail:
            name = result.set + MEASURES[result.measure]
            row |= {name: result.value, f"{name} low": result.low, f"{name} high": result.high}
            row |= {name + COVERED: result.covered, name + TOTAL: result.total}
    return row


def markdown(rows: Sequence[Row], description: str) -> str:
    """The rows as a table below the description."""
    sets = [name.removesuffix(COVERED) for name in rows[0] if name.endswith(COVERED)]
    lines = [["model", "CPU s", "vectors", *sets], ["---"] * (3 + len(sets))]
    for row in rows:
        cells = ["-" if row[name] is None else format_score(row, name) for name in sets]
        lines.append([row["model"], f"{row['cpu']:.1f}", f"{row['vectors']:,}", *cells])
    return description + "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n" + NOTES


def format_score(row: Row, name: str) -> str:
    """A value with its interval and coverage."""
    low, high = row[f"{name} low"], row[f"{name} high"]
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return f"{row[name]:.3f}{interval}, {row[name + COVERED]:,} of {row[name + TOTAL]:,}"


def compare_models(
    text: str | os.PathLike[str], out: str | os.PathLike[str], suite: Suite, *, force: bool = False, **settings: Any
) -> list[Row]:
    """Train every model on a plain text, score it, and write both files; `settings` apply to every trainer.

    Raises:
        OutputError: a result exists already (without `force`), or cannot be written.
        SettingError: jieba is not installed.
    """
    if find_spec("jieba") is None:
        raise SettingError("jieba is not installed: pip install jieba")
    source, folder, rows = Path(text), Path(out), []
    folder.mkdir(exist_ok=True)
    for name in ("results.csv", "results.md"):
        check_output(folder / name, force=force)
    description = f"{processor()}; {source.name}, {len(source.read_text(encoding='utf-8')):,} characters; "
    description += ", ".join(f"{name} {value}" for name, value in settings.items()) + "."
    with tempfile.TemporaryDirectory() as work:
        for model in iter_models(source, Path(work), suite_words(suite), settings):
            rows.append(score(model, suite))
            write_text(markdown(rows, description), folder / "results.md")
    write_rows(rows, folder / "results.csv", list(rows[0]))
    return rows


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text")
    parser.add_argument("out")
    parser.add_argument("--similarity", action="append", default=[])
    parser.add_argument("--categories", action="append", default=[])
    for name, default in (("dim", 100), ("epochs", 5), ("negatives", 5), ("seed", 1), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--subsample", type=float, default=1e-4)
    parser.add_argument("--force", action="store_true")
    options = vars(parser.parse_args(arguments))
    try:
        suite = Suite.read(similarity=options.pop("similarity"), categories=options.pop("categories"))
        compare_models(options.pop("text"), options.pop("out"), suite, **options)
    except EmbeddingsError as error:
        parser.exit(1, f"Error: {error}\n")


if __name__ == "__main__":
    main()
