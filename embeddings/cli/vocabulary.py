"""`embeddings vocabulary`: the words of a corpus and their counts."""

from typing import Any

import click

from embeddings.cli import common, corpus_options


def run(
    *,
    corpus: tuple[str, ...],
    out: str,
    force: bool,
    merge: tuple[str, ...],
    min_count: int,
    max_vocab: int | None,
    top: int,
    as_json: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Count, save, print."""
    from embeddings.cli.output_paths import check_apart
    from embeddings.cli.progress_bar import Reading
    from embeddings.corpora import Corpus
    from embeddings.corpora.vocabulary_files import check_target, read, write

    check_target(out, force=force)
    text = Corpus(*corpus, **settings)
    check_apart(out, text)
    others = [read(path) for path in merge]
    with Reading(quiet) as bar:
        encoded = text.encode(report=bar)
    bar.tell(encoded)
    vocabulary = encoded.vocabulary
    for other in others:
        vocabulary = vocabulary.merge(other)
    vocabulary = vocabulary.select(min_count=min_count, max_vocab=max_vocab)
    write(vocabulary, out, force=force)
    first = zip(vocabulary.column[:top], vocabulary.counts[:top].tolist(), strict=True)
    common.print_rows(({"word": str(word), "count": count} for word, count in first), as_json)


command = click.Command(
    "vocabulary",
    callback=run,
    help="Count the words of a corpus, save them to FILE for `train --vocab`, and print the most frequent.",
    params=[
        click.Argument(["corpus"], nargs=-1, required=True),
        click.Option(
            ["-o", "--out"],
            metavar="FILE",
            required=True,
            help="Where to save: Arrow (.arrow), or lines of word and count (.txt).",
        ),
        click.Option(["--force"], is_flag=True, help="Replace the output if it exists."),
        click.Option(
            ["--merge"], metavar="FILE", multiple=True, help="Add the counts of another vocabulary; may be repeated."
        ),
        click.Option(
            ["--min-count"],
            type=click.IntRange(min=1),
            default=1,
            help="Words that occur less often are left out.",
            show_default=True,
        ),
        click.Option(["--max-vocab"], type=click.IntRange(min=1), help="Keep only so many words, the most frequent."),
        *corpus_options.options(),
        *corpus_options.phrases(),
        click.Option(
            ["--top"], type=click.IntRange(min=1), default=10, help="How many words to print.", show_default=True
        ),
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON instead of tab-separated lines."),
        click.Option(["--quiet"], is_flag=True, help="Say nothing but errors and results."),
    ],
)
