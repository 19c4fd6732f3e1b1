"""`embeddings neighbours`: the nearest words."""

import click

from embeddings.cli import common


@click.command("neighbours")
@click.argument("vectors")
@click.argument("words", nargs=-1, required=True)
@common.top
@common.restrict
@click.option(
    "--index",
    metavar="PATH|KIND[:NAME=VALUE,...]",
    help="Ask an index: one that `embeddings index` saved, or one to be built now, such as lsh:bits=512.  [default: "
    "compare with every word]",
)
@click.option("--documents", is_flag=True, help="WORDS are tags or numbers of the documents of a saved model.")
@common.as_json
@common.reading
def command(
    vectors: str,
    words: tuple[str, ...],
    top: int,
    restrict: int | None,
    index: str | None,
    documents: bool,
    as_json: bool,
    allow_pickle: bool,
    encoding_errors: str,
) -> None:
    """Print the words nearest to each of WORDS by cosine."""
    loaded = common.load(vectors, allow_pickle, encoding_errors, "documents" if documents else "vectors")
    found = loaded.most_similar_many(list(words), top=top, restrict=restrict, index=index)
    common.tell_composed(loaded, words)
    rows = (
        {"word": word, "neighbour": neighbour, "cosine": cosine}
        for word, near in zip(words, found, strict=True)
        for neighbour, cosine in near
    )
    common.print_rows(rows, as_json)
