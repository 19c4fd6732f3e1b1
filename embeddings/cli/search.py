"""`embeddings search`: find texts of an index."""

import sys
from collections.abc import Iterator
from typing import Any

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, exclude, from_signature, option
from embeddings.cli.output import asked, is_terminal, note, print_rows
from embeddings.corpora.reading.reader import read_texts
from embeddings.corpora.reading.sources import STANDARD_INPUT, resolve_source
from embeddings.text_search.text_index import TextIndex


@command_by_example(
    'search docs.index "how do I reset my password" --top 5',
    params=[
        click.Argument(["index"]),
        click.Argument(["queries"], nargs=-1),
        *from_signature(TextIndex.search, {"top": 5}, top=None, method=None, where="CONDITION"),
        *from_signature(TextIndex.search, min_cosine="X", lexical_weight="W"),
        option("--queries queries_file", "Search for each line of a file; - is standard input.", "FILE"),
        *from_signature(TextIndex, model="PATH", allow_faiss=None),
        JSON,
    ],
)
def command(
    *, index: str, queries: tuple[str, ...], queries_file: str | None, model: str | None, allow_faiss: bool,
    as_json: bool, **search: Any,
) -> None:  # fmt: skip
    """Print the texts of INDEX that answer QUERIES best, with their ids and scores.

    INDEX is a folder that `embeddings index` wrote. Texts are ranked by the cosines of vectors and by words (BM25).
    Without QUERIES they are read from standard input, a line each; on a terminal they are asked for.
    """
    exclude("queries_file", "queries")
    opened = TextIndex(index, model=model, allow_faiss=allow_faiss)
    is_asked = False

    def hits(texts: str | list[str]) -> Iterator[dict[str, Any]]:
        nonlocal is_asked
        is_asked |= bool("".join(texts).strip())
        found = opened.search(texts, **search)
        if is_asked and texts and not found:
            note(f"no text was found for {texts!r:.200}")
        return map(found.shown if is_terminal() and not as_json else found.record, found)

    if len(queries) == 1:
        print_rows(hits(queries[0]), as_json)
    elif queries or queries_file or not sys.stdin.isatty():
        blocks = read_texts(resolve_source(queries_file or STANDARD_INPUT))
        batches = [list(queries)] if queries else (block.texts() for block in blocks)
        print_rows((row for batch in batches for row in hits(list(filter(str.strip, batch)))), as_json)
    else:
        is_asked = True
        for query in asked("query> "):
            print_rows(list(hits(query)), as_json)
    if not is_asked:
        note("nothing to search for: the queries are empty")
