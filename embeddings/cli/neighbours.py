"""`embeddings neighbours`: print the nearest neighbours of words."""

import sys
from collections.abc import Sequence
from typing import Any

import click

from embeddings.cli import options
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import CONFIDENCE, JSON, VECTOR_INPUT, exclude, from_signature, option, require
from embeddings.cli.output import asked, note, print_rows
from embeddings.cli.vector_input import SEARCH, report_lookups
from embeddings.corpora.vocabulary import UnknownWordError
from embeddings.models.loading import load
from embeddings.vectors.index import as_index, load_index
from embeddings.vectors.search import Query
from embeddings.vectors.vectors import Vectors


@command_by_example(
    "neighbours model king queen --top 5",
    params=[
        click.Argument(["vectors"]),
        click.Argument(["words"], nargs=-1),
        *SEARCH,
        option(
            "--index",
            "Search an index: one saved by `embeddings index`, or one to build now, such as lsh:bits=512.  "
            "[default: compare with all words]",
            "PATH|KIND[:NAME=VALUE,...]",
        ),
        *from_signature(load_index, allow_faiss=None),
        option(
            "--among", "Search these vectors, such as those of another language; see `embeddings align`.", "VECTORS"
        ),
        *from_signature(Vectors.most_similar, method=None),
        CONFIDENCE,
        options.DOCUMENTS,
        *options.DRAWING,
        JSON,
        *VECTOR_INPUT,
    ],
)
def command(
    vectors: str, words: tuple[str, ...], search: dict[str, Any], index: str | None, allow_faiss: bool,
    among: str | None, method: Any, confidence: str | None, documents: bool, drawing: options.Drawing,
    as_json: bool, reading: dict[str, Any],
) -> None:  # fmt: skip
    """Print the words with the highest cosine similarity to each of WORDS, or the highest score of --method.

    Without WORDS they are asked for on a terminal.
    """
    require("allow_faiss", "index")
    require("force", "plot")
    exclude("confidence", "index", "restrict", "documents", "among", "method")
    if not words and (confidence is not None or drawing.plot or not sys.stdin.isatty()):
        raise click.MissingParameter(param_type="argument", param_hint="WORDS")
    source = load(vectors, table="documents" if documents else "vectors", **reading)
    if confidence is not None:
        from embeddings.analysis.confidence import confident_neighbours  # imports scipy
        from embeddings.analysis.stability_runs import StabilityRuns

        replicates = StabilityRuns.load(confidence)
        report_lookups(source, words)
        tables = {word: confident_neighbours(source, replicates, word, top=search["top"]) for word in words}
        print_rows([{"word": word, **table.record(one)} for word, table in tables.items() for one in table], as_json)
        for remark in tables[words[0]].notes:
            note(remark)
        drawing.draw(tables)
        return
    target = source if among is None else load(among, table="documents" if documents else "vectors", **reading)
    search |= {"index": None if index is None else as_index(index, target, allow_faiss=allow_faiss)}
    search |= {"method": method, "others": None if among is None or method == "cosine" else source}
    column = "document" if documents and not as_json else "word"
    if words:
        show_nearest(source, target, search, column, as_json, drawing, words)
    for word in () if words else asked("word> "):
        try:
            show_nearest(source, target, search, column, as_json, drawing, [word])
        except UnknownWordError as error:
            note(str(error))


def show_nearest(
    source: Vectors, target: Vectors, search: dict[str, Any], column: str, as_json: bool, drawing: options.Drawing,
    words: Sequence[str],
) -> None:  # fmt: skip
    """Print and draw the neighbours of words in `target`; unknown words raise UnknownWordError after the others."""
    unknown = [word for word in words if source.get(word) is None]
    known = [word for word in words if word not in unknown]
    queries: Sequence[Query] = known if target is source else [source[word] for word in known]
    neighbours = target.most_similar_many(queries, **search)
    report_lookups(source, known)
    rows = [
        {column: word, "neighbour": neighbour, search["method"]: score}
        for word, nearest in zip(known, neighbours, strict=True)
        for neighbour, score in nearest
    ]
    if known:
        print_rows(rows, as_json)
        drawing.draw(dict(zip(known, neighbours, strict=True)))
    if len(unknown) == 1:
        source[unknown[0]]  # raises an error with a suggestion
    if unknown:
        missing = ", ".join(map(repr, unknown))
        raise UnknownWordError(f"no vectors for {missing} among {len(source)} {source.item_name}")
