"""Prints how fast text of several languages is encoded, in MB per CPU second: `python tools/tokenizer_speed.py`.

A further text is read from a file with `--text NAME=FILE`. Each figure is the best of several runs; compilation is not
included.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.reader import BLOCK_SIZE

SIZE = 20_000_000  # bytes of repeated text
ARTICLES = Path(__file__).with_name("human_rights.tsv")  # article 1 of the Universal Declaration of Human Rights


def speed(path: Path, tokenizer: str) -> float:
    """Return MB per CPU second of one run."""
    with tempfile.TemporaryDirectory() as folder:
        before = time.process_time()
        Corpus(path, tokenizer=tokenizer).write_text(Path(folder), None, BLOCK_SIZE)
        return path.stat().st_size / (time.process_time() - before) / 1e6


def main() -> None:
    """Encode every text with every tokenizer, in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--text", action="append", default=[], metavar="NAME=FILE")
    parser.add_argument("--tokenizer", action="append", default=[])
    parser.add_argument("--runs", type=int, default=3)
    arguments = parser.parse_args()
    tokenizers = arguments.tokenizer or ["words"]
    with tempfile.TemporaryDirectory() as folder:
        texts = {}
        for row in ARTICLES.read_text("utf-8").splitlines():
            name, article = row.split("\t")
            texts[name] = Path(folder, name)
            texts[name].write_bytes((article.encode() + b"\n") * (SIZE // len(article.encode())))
        texts |= {name: Path(file) for name, _, file in (text.partition("=") for text in arguments.text)}
        sys.stdout.write("\t".join(["text", *tokenizers]) + "\n")
        for name, path in texts.items():
            runs = [[speed(path, tokenizer) for tokenizer in tokenizers] for _ in range(arguments.runs + 1)][1:]
            sys.stdout.write("\t".join([name, *(f"{max(column):.0f}" for column in zip(*runs, strict=True))]) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
