"""Vectors of a text whose words were found by different rules."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import embeddings as em
from studies.grid import Grid, Rows, markdown

MIN_COUNT = 5


class Tokenization(Grid):
    """Compares skip-gram vectors of a text whose words were found by different rules.

    A --rule is a list of settings of a corpus, such as "tokenizer=alphanumeric normalize=none".
    """

    results = "languages/results"
    keys = ("language", "text", "rule")
    values = ("tokens", "types", "vectors", "set", "value", "low", "high", "covered", "total")
    defaults: ClassVar = {
        "language": str, "text": str, "rule": [], "similarity": [], "dim": 100, "epochs": 5, "seed": 1, "threads": 1,
    }  # fmt: skip

    def cells(self) -> Iterable[tuple[Any, ...]]:
        """A cell for each rule."""
        text = Path(self.options.text)
        for rule in self.options.rule:
            yield self.options.language, f"{text.name}, {text.stat().st_size / 1e6:.0f} MB", rule

    def measure(self, language: str, text: str, rule: str) -> Iterable[Sequence[Any]]:
        """Count the words of a rule, and train on them if there are test sets: a row for each of these, or one."""
        options = self.options
        corpus = em.Corpus(options.text, **dict(setting.split("=") for setting in rule.split()))
        encoded = corpus.encode()
        counts = [len(encoded.ids), len(encoded.vocabulary), int((encoded.vocabulary.counts >= MIN_COUNT).sum())]
        if not options.similarity:
            return [[*counts, *[""] * 6]]
        training = {name: getattr(options, name) for name in ("dim", "epochs", "seed", "threads")}
        model = em.train("skipgram", corpus, min_count=MIN_COUNT, **training)
        return [
            [*counts, Path(one.set).stem, *map(str, (one.value, one.low, one.high, one.covered, one.total))]
            for one in em.evaluate(model, similarity=options.similarity)
            if one.measure == "spearman"
        ]

    def table(self, rows: Rows) -> str:
        """A line for each text and rule."""
        lines: dict[tuple[str, ...], list[str]] = {}
        for row in rows:
            cells = [f"{row['language']}: {row['text']}", f"`{row['rule']}`"]
            cells += [f"{int(row[name]):,}" for name in ("tokens", "types", "vectors")]
            lines.setdefault(tuple(cells), []).append(score(row))
        heads = ["text", "rule", "tokens", "types", "vectors", "similarity"]
        return markdown(heads, ([*cells, "; ".join(scores)] for cells, scores in lines.items()))


def score(row: dict[str, str]) -> str:
    """A correlation with its interval and coverage."""
    if not row["set"]:
        return "-"
    coverage = f"{row['covered']} of {row['total']}"
    if row["value"] == "None":
        return f"{row['set']} -, {coverage}"
    interval = "" if row["low"] == "None" else f" [{float(row['low']):.3f}, {float(row['high']):.3f}]"
    return f"{row['set']} {float(row['value']):.3f}{interval}, {coverage}"
