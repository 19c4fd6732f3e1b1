"""Compares vectors of a text whose words were found by different rules, and writes a table.

`python tools/tokenizer_comparison.py OUT --language German --text de.txt --similarity gur350.tsv --rule "..."` trains
skip-gram once for each rule, appends the results to OUT/results.tsv and writes OUT/results.md from all of them. A rule
is a list of settings of a corpus, such as "tokenizer=alphanumeric normalize=none".
"""

import argparse
import csv
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import embeddings as em

COLUMNS = ("language", "text", "rule", "tokens", "types", "vectors", "set", "value", "low", "high", "covered", "total")
MIN_COUNT = 5
HEADER = "| text | rule | tokens | types | vectors | similarity |\n| --- | --- | --- | --- | --- | --- |\n"


def measure(language: str, text: Path, rule: str, sets: Sequence[str], training: dict[str, Any]) -> list[list[str]]:
    """Count the words of a rule, and train on them if there are test sets; returns a row for each of these, or one."""
    corpus = em.Corpus(text, **dict(setting.split("=") for setting in rule.split()))
    encoded = corpus.encode()
    counts = [len(encoded.ids), len(encoded.vocabulary), int((encoded.vocabulary.counts >= MIN_COUNT).sum())]
    row = [language, f"{text.name}, {text.stat().st_size / 1e6:.0f} MB", rule, *map(str, counts)]
    if not sets:
        return [[*row, *[""] * 6]]
    model = em.train("skipgram", corpus, min_count=MIN_COUNT, **training)
    return [
        [*row, Path(one.set).stem, *map(str, (one.value, one.low, one.high, one.covered, one.total))]
        for one in em.evaluate(model, similarity=sets)
        if one.measure == "spearman"
    ]


def markdown(rows: list[dict[str, str]]) -> str:
    """Return the table of all results: a line for each text and rule."""
    lines: dict[tuple[str, ...], list[str]] = {}
    for row in rows:
        cells = [f"{row['language']}: {row['text']}", f"`{row['rule']}`"]
        cells += [f"{int(row[name]):,}" for name in ("tokens", "types", "vectors")]
        lines.setdefault(tuple(cells), []).append(score(row))
    return HEADER + "".join("| " + " | ".join([*cells, "; ".join(scores)]) + " |\n" for cells, scores in lines.items())


def score(row: dict[str, str]) -> str:
    """Return a correlation with its interval and coverage."""
    if not row["set"]:
        return "-"
    coverage = f"{row['covered']} of {row['total']}"
    if row["value"] == "None":
        return f"{row['set']} -, {coverage}"
    interval = "" if row["low"] == "None" else f" [{float(row['low']):.3f}, {float(row['high']):.3f}]"
    return f"{row['set']} {float(row['value']):.3f}{interval}, {coverage}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--language", required=True)
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--similarity", action="append", default=[])
    parser.add_argument("--rule", action="append", required=True)
    for name, default in (("dim", 100), ("epochs", 5), ("seed", 1), ("threads", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args(arguments)
    training = {name: getattr(options, name) for name in ("dim", "epochs", "seed", "threads")}
    options.out.mkdir(exist_ok=True)
    file = options.out / "results.tsv"
    if not file.exists():
        file.write_text("\t".join(COLUMNS) + "\n", "utf-8")
    for rule in options.rule:
        new = measure(options.language, options.text, rule, options.similarity, training)
        with file.open("a", encoding="utf-8") as stream:
            stream.writelines("\t".join(row) + "\n" for row in new)
        with file.open(encoding="utf-8", newline="") as stream:
            table = markdown(list(csv.DictReader(stream, delimiter="\t")))
        (options.out / "results.md").write_text(table, "utf-8")
    sys.stdout.write(table)


if __name__ == "__main__":
    main()
