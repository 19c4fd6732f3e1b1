"""Models of text without spaces: n-grams of raw text, characters, and words cut by a segmenter."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from time import process_time
from typing import Any, ClassVar

import numpy as np

import embeddings as em
from embeddings.eval.evaluation import Suite
from studies.grid import Grid, Rows, markdown, require

MODELS: dict[str, tuple[str, dict[str, Any]]] = {  # the trainer and its settings; n-grams are 10,000 of one character
    "sembei": ("sembei", {"per_length": "10000,100000"}),
    "sembei, compositional": (
        "sembei", {"per_length": "10000,100000", "compositional": True, "learning_rate": 0.025},
    ),
    "skip-gram of characters, means": ("skipgram", {"tokenizer": "characters"}),
    "skip-gram of words by jieba": ("skipgram", {"tokenizer": "whitespace"}),
}  # fmt: skip
MEASURES = {"spearman": "", "micro-f1": " micro-F1", "macro-f1": " macro-F1"}
SECONDS, VECTORS = "CPU s", "vectors"
NOTES = """
- CPU seconds are of all threads: reading and counting, segmentation if any, training.
- Similarity is Spearman's correlation, F1 that of a linear classifier of names, with 95 % intervals, then the number of
  pairs or names that have vectors, which differs between rows. Compositional n-grams have vectors of any string, means
  of characters those of any string of known characters.
"""


class Unsegmented(Grid):
    """Compares models of text without spaces: n-grams of raw text, characters, and words that jieba finds."""

    results = "unspaced/results"
    keys = ("model",)
    values = ("measure", "value", "low", "high", "covered", "total")
    packages = ("jieba",)
    defaults: ClassVar = {
        "text": str, "model": [*MODELS], "similarity": [], "categories": [], "dim": 100, "epochs": 5,
        "negatives": 5, "seed": 1, "threads": 1, "subsample": 1e-4,
    }  # fmt: skip

    def prepare(self) -> None:
        """Check that the segmenter is there."""
        require("jieba")

    @property
    def settings(self) -> dict[str, Any]:
        """The settings of all models."""
        names = ("dim", "epochs", "negatives", "seed", "threads", "subsample")
        return {name: getattr(self.options, name) for name in names}

    @cached_property
    def suite(self) -> Suite:
        """The test sets."""
        return Suite.read(similarity=self.options.similarity, categories=self.options.categories)

    def about(self) -> str:
        """The text and the settings."""
        text = Path(self.options.text)
        settings = ", ".join(f"{name} {value}" for name, value in self.settings.items())
        return f"{text.name}, {len(text.read_text(encoding='utf-8')):,} characters; {settings}."

    def measure(self, model: str) -> Iterator[Sequence[Any]]:
        """Train on the text, which is encoded anew, so that its time is measured, and score the vectors."""
        trainer, settings = MODELS[model]
        settings = {"tokenizer": "codepoints", **settings}
        start = process_time()
        with Path(self.options.text).open(encoding="utf-8") as text:
            lines = list(segmented(text) if "jieba" in model else text)
        corpus = em.Corpus(lines, tokenizer=settings.pop("tokenizer"))
        vectors = em.train(trainer, corpus, **settings, **self.settings).vectors
        seconds = process_time() - start
        if model.endswith("means"):
            vectors = character_means(vectors, suite_words(self.suite))
        yield SECONDS, round(seconds, 1), "", "", "", ""
        yield VECTORS, len(vectors), "", "", "", ""
        settings = replace(self.suite.settings, compose=vectors.compose is not None)
        suite = replace(self.suite, settings=settings)  # vectors that compose do so for every word
        for one in (scores.result() for scores in suite.score(vectors, model)):
            if one.measure in MEASURES and one.section is None and not one.is_detail:
                yield one.set + MEASURES[one.measure], one.value, one.low, one.high, one.covered, one.total

    def table(self, rows: Rows) -> str:
        """A row for each model."""
        cells = {(row["model"], row["measure"]): row for row in rows}
        sets = [name for name in dict.fromkeys(row["measure"] for row in rows) if name not in (SECONDS, VECTORS)]
        lines = []
        for model in dict.fromkeys(row["model"] for row in rows):
            seconds, vectors = (cells[model, name]["value"] for name in (SECONDS, VECTORS))
            scores = (format_score(cells[model, name]) for name in sets)
            lines.append([model, f"{float(seconds):.1f}", f"{int(vectors):,}", *scores])
        return markdown(["model", SECONDS, VECTORS, *sets], lines) + NOTES


def segmented(lines: Iterable[str]) -> Iterator[str]:
    """Lines with spaces between the words that jieba finds."""
    import jieba

    for line in lines:
        yield " ".join(jieba.cut(line))


def character_means(vectors: em.Vectors, words: Iterable[str]) -> em.Vectors:
    """Vectors of words as means of those of their characters; words with an unknown character are left out."""
    known = [word for word in dict.fromkeys(words) if word and all(character in vectors for character in word)]
    means = [vectors[list(word)].mean(axis=0) for word in known]
    return em.Vectors(known, np.array(means, np.float32).reshape(-1, vectors.dim))


def suite_words(suite: Suite) -> list[str]:
    """All words of the sets of similarity and categories, in lower case like the text."""
    paired = [word for pairs in suite.sets["similarity"] for pair in pairs.pairs for word in pair]
    return [word.lower() for word in [*paired, *(word for test in suite.sets["categories"] for word in test.words)]]


def format_score(row: dict[str, str]) -> str:
    """A value with its interval and coverage."""
    if not row["value"]:
        return "-"
    interval = f" [{float(row['low']):.3f}, {float(row['high']):.3f}]" if row["low"] else ""
    return f"{float(row['value']):.3f}{interval}, {int(row['covered']):,} of {int(row['total']):,}"
