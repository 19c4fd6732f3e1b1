"""Measures how long the tokenizers of other libraries and training on their words take, and writes a table.

`python tools/segmenter_speed.py OUT.md jieba=zh.txt fugashi=ja.txt` encodes each text with one core and with all, then
trains skip-gram with its defaults. Tokenizers that are not installed are left out.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

import embeddings as em
from embeddings.corpora.tokenizers import resolve_tokenizer
from embeddings.errors import RegistryError
from embeddings.eval.machine import processor

HEADER = "| tokenizer | words | words/s, 1 core | words/s, {0} cores | MB/s, {0} cores | training, {1} epochs |\n"
RULE = "| --- | --- | --- | --- | --- | --- |\n"


def encoding_seconds(lines: list[str], tokenizer: str, cores: set[int]) -> tuple[float, int]:
    """Encode lines, which are not cached, with some cores; returns seconds and the number of words."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        start_time = perf_counter()
        with em.Corpus(lines, tokenizer=tokenizer).encode() as encoded:
            return perf_counter() - start_time, len(encoded.ids)
    finally:
        os.sched_setaffinity(0, allowed)


def row(tokenizer: str, path: Path, epochs: int, cores: Sequence[int]) -> str:
    """Return the figures of a tokenizer and a text."""
    lines = path.read_text("utf-8").splitlines()
    size = sum(len(line.encode()) + 1 for line in lines) / 1e6
    encoding_seconds(lines[:1000], tokenizer, set(cores))  # compilation
    single, words = encoding_seconds(lines, tokenizer, set(cores[:1]))
    parallel, _ = encoding_seconds(lines, tokenizer, set(cores))
    model = em.train("skipgram", em.Corpus(path, tokenizer=tokenizer), epochs=epochs)
    cells = [f"`{tokenizer}`", f"{words:,}", f"{words / single:,.0f}", f"{words / parallel:,.0f}"]
    cells += [
        f"{size / parallel:.2f}",
        f"{model.record['seconds']:.0f} s, {model.record['words_per_second']:,.0f} words/s",
    ]
    return "| " + " | ".join(cells) + " |\n"


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("texts", nargs="+", metavar="TOKENIZER=FILE")
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args(arguments)
    cores = sorted(os.sched_getaffinity(0))
    table = HEADER.format(len(cores), options.epochs) + RULE
    for tokenizer, _, file in (text.rpartition("=") for text in options.texts):
        try:
            resolve_tokenizer(tokenizer)
        except RegistryError as error:
            sys.stderr.write(f"{error}\n")
            continue
        table += row(tokenizer, Path(file), options.epochs, cores)
    options.out.write_text(f"{processor()}\n\n{table}", "utf-8")
    sys.stdout.write(table)


if __name__ == "__main__":
    main()
