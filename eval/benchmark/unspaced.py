"""Text without spaces: n-grams of raw text beside characters, and beside words that a segmenter has cut.

`python -m embeddings.eval.benchmark.unspaced TEXT OUT --similarity FILE --categories FILE` trains on the same plain
text by each and writes OUT/results.csv and OUT/results.md.
"""

import argparse
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING, Any

import numpy as np

from embeddings.errors import EmbeddingsError, SettingError
from embeddings.eval.benchmark import result_rows
from embeddings.eval.benchmark.machine import processor
from embeddings.eval.suite import Suite
from embeddings.support.files import check_output

if TYPE_CHECKING:
    from embeddings.vectors.vectors import Vectors

MEASURES = {"spearman": "", "micro-f1": " micro-F1", "macro-f1": " macro-F1"}
NGRAMS = "10000,100000"  # of one character, and of each further length
NOTES = """
- CPU seconds are of all threads: reading and counting, cutting into words where a segmenter does, learning.
- Similarity is Spearman's correlation, F1 that of a linear classifier of names, with 95 % intervals; after them stands
  how many pairs or names had vectors, for each row has its own. Compositional n-grams give vectors to any string, as
  means of characters do to any of known ones.
"""


@dataclass(frozen=True)
class Made:
    """Vectors that were trained on a text, and the CPU seconds it took."""

    name: str
    vectors: "Vectors"
    seconds: float


def contestants(text: Path, work: Path, words: Sequence[str], settings: dict[str, Any]) -> Iterator[Made]:
    """What learns from a text, one after another; of characters the means that words have."""
    yield trained("sembei", "sembei", text, per_length=NGRAMS, **settings)
    yield trained(
        "sembei, compositional", "sembei", text, per_length=NGRAMS, compositional=True, learning_rate=0.025, **settings
    )
    characters = trained("skip-gram of characters, means", "skipgram", text, tokenizer="characters", **settings)
    yield Made(characters.name, of_means(characters.vectors, words), characters.seconds)
    seconds = cut(text, work / "cut.txt")
    segmented = trained("skip-gram of words by jieba", "skipgram", work / "cut.txt", tokenizer="whitespace", **settings)
    yield Made(segmented.name, segmented.vectors, segmented.seconds + seconds)


def trained(name: str, trainer: str, text: Path, tokenizer: str = "codepoints", **settings: Any) -> Made:
    """The vectors that a trainer learns; the corpus is read anew, for it is a generator's."""
    import embeddings as em

    started = process_time()
    with text.open(encoding="utf-8") as lines:
        model = em.train(trainer, em.Corpus(list(lines), tokenizer=tokenizer), **settings)
    return Made(name, model.vectors, process_time() - started)


def cut(text: Path, out: Path) -> float:
    """Write a text with spaces between the words that jieba finds; gives the CPU seconds that took."""
    import jieba

    started = process_time()
    with text.open(encoding="utf-8") as lines, out.open("w", encoding="utf-8") as goal:
        goal.writelines(" ".join(jieba.cut(line)) for line in lines)
    return process_time() - started


def of_means(vectors: "Vectors", words: Iterable[str]) -> "Vectors":
    """Vectors of words as means of those of their characters; a word with an unknown character is left out."""
    from embeddings.vectors.vectors import Vectors

    known = [word for word in dict.fromkeys(words) if word and all(character in vectors for character in word)]
    means = [vectors[list(word)].mean(axis=0) for word in known]
    return Vectors(known, np.array(means, np.float32).reshape(-1, vectors.dim))


def words_of(suite: Suite) -> list[str]:
    """All words of the sets of similarity and of categories, in lower case as the text is."""
    paired = [word for pairs in suite.pairs for pair in pairs.pairs for word in pair]
    return [word.lower() for word in [*paired, *(word for found in suite.categories for word in found.words)]]


def judged(made: Made, suite: Suite) -> result_rows.Row:
    """A row of results; vectors that compose do so for every word that is asked for."""
    suite = replace(suite, compose=made.vectors.compose is not None)
    row: result_rows.Row = {"model": made.name, "cpu": round(made.seconds, 1), "vectors": len(made.vectors)}
    for outcome in suite.judge(made.vectors, made.name):
        found = outcome.result()
        if found.measure in MEASURES and found.section is None and not found.detail:
            name = found.set + MEASURES[found.measure]
            row |= {name: found.value, f"{name} low": found.low, f"{name} high": found.high}
            row |= {name + result_rows.SEEN: found.seen, name + result_rows.TOTAL: found.total}
    return row


def markdown(found: Sequence[result_rows.Row], about: str) -> str:
    """The rows as a table."""
    sets = [name.removesuffix(result_rows.SEEN) for name in found[0] if name.endswith(result_rows.SEEN)]
    lines = [["learned from raw text by", "CPU s", "vectors", *sets], ["---"] * (3 + len(sets))]
    for row in found:
        cells = ["-" if row[name] is None else told(row, name) for name in sets]
        lines.append([row["model"], f"{row['cpu']:.1f}", f"{row['vectors']:,}", *cells])
    return about + "\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n" + NOTES


def told(row: result_rows.Row, name: str) -> str:
    """A value with its interval, and how many items it is of."""
    low, high = row[f"{name} low"], row[f"{name} high"]
    interval = "" if low is None else f" [{low:.3f}, {high:.3f}]"
    return f"{row[name]:.3f}{interval}, {row[name + result_rows.SEEN]:,} of {row[name + result_rows.TOTAL]:,}"


def compare(
    text: str | os.PathLike[str], out: str | os.PathLike[str], suite: Suite, *, force: bool = False, **settings: Any
) -> list[result_rows.Row]:
    """Train by each on a plain text, judge, and write both files; `settings` are of every trainer.

    Raises:
        OutputError: a result exists already (unless `force`), or cannot be written.
        SettingError: jieba is not installed.
    """
    if find_spec("jieba") is None:
        raise SettingError("what is compared with needs jieba: pip install jieba")
    source, folder, found = Path(text), Path(out), []
    folder.mkdir(exist_ok=True)
    for name in ("results.csv", "results.md"):
        check_output(folder / name, force=force)
    about = f"{processor()}; {source.name}, {len(source.read_text(encoding='utf-8')):,} characters; "
    about += ", ".join(f"{name} {value}" for name, value in settings.items()) + "."
    with tempfile.TemporaryDirectory() as work:
        for made in contestants(source, Path(work), words_of(suite), settings):
            found.append(judged(made, suite))
            result_rows.write_text(markdown(found, about), folder / "results.md")
    result_rows.write_cells(found, list(found[0]), folder / "results.csv")
    return found


def main(given: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("text")
    parser.add_argument("out")
    parser.add_argument("--similarity", action="append", default=[])
    parser.add_argument("--categories", action="append", default=[])
    for name, usual in (("dim", 100), ("epochs", 5), ("negatives", 5), ("seed", 1), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument("--sample", type=float, default=1e-4)
    parser.add_argument("--force", action="store_true")
    asked = vars(parser.parse_args(given))
    try:
        suite = Suite.read(similarity=asked.pop("similarity"), categories=asked.pop("categories"))
        compare(asked.pop("text"), asked.pop("out"), suite, **asked)
    except EmbeddingsError as error:
        parser.exit(1, f"Error: {error}\n")


if __name__ == "__main__":
    main()
