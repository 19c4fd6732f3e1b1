"""Measure what it costs to check a cached corpus when it is opened, compared with encoding it.

    python tools/measure_corpus_check.py TEXT [--repeats 9]

Prints a tab-separated table of CPU seconds: the median, least and greatest over the repeats, and the median in per cent
of encoding. Encoding and checking alternate, in one process that has compiled everything before. The vocabulary, which
training loads in any case, has a row of its own. Measure on an otherwise idle machine, with a text that takes some
seconds to encode.
"""

import os
import statistics
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import process_time

import click

from embeddings.corpora.corpus import Corpus
from embeddings.corpora.corpus_validation import check_content
from embeddings.corpora.encoded_corpus import EncodedCorpus

ENCODING = "encoding"


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU seconds of a function, in all its threads."""
    start = process_time()
    work()
    return process_time() - start


def measure(text: Path) -> dict[str, float]:
    """CPU seconds of encoding a text into an empty cache, of loading its vocabulary, and of checking it."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["EMBEDDINGS_CACHE"] = cache
        start = process_time()
        with Corpus(text).encode() as encoded:
            encoding = process_time() - start
            folder = encoded.folder
            with EncodedCorpus(folder, is_new=True) as opened:  # not checked
                vocabulary = cpu_seconds(lambda: opened.vocabulary)
                check = cpu_seconds(lambda: check_content(opened))
    return {ENCODING: encoding, "loading the vocabulary": vocabulary, "checking the rest": check}


@click.command(help=__doc__)
@click.argument("text", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--repeats", type=click.IntRange(min=1), default=9)
def main(text: Path, repeats: int) -> None:
    """Print the table."""
    measure(text)  # compiles
    results = [measure(text) for _ in range(repeats)]
    click.echo("\t".join(["work", "median", "least", "greatest", "% of encoding"]))
    encoding = statistics.median(result[ENCODING] for result in results)
    for name in results[0]:
        values = [result[name] for result in results]
        median = statistics.median(values)
        numbers = [*(f"{value:.4f}" for value in (median, min(values), max(values))), f"{100 * median / encoding:.2f}"]
        click.echo("\t".join([name, *numbers]))


if __name__ == "__main__":
    main()
