"""`embeddings duplicates`: find texts of an index that say the same."""

from pathlib import Path

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import OUTPUT, Output, exclude, from_signature, option, require
from embeddings.cli.output import print_rows, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_extension, check_not_input
from embeddings.support.files import TABLES, write_rows
from embeddings.text_search.similar_texts import (
    COLUMNS,
    GROUP_COLUMNS,
    find_pairs,
    group_rows,
    pair_rows,
    similar_pairs,
)
from embeddings.text_search.text_index import TextIndex


@command_by_example(
    "duplicates docs.index -o pairs.csv",
    params=[
        click.Argument(["index"]),
        option("-o --out", "Output file: .csv or .tsv.  [default: standard output]", "FILE"),
        *from_signature(similar_pairs, min_cosine="X", neighbours="N"),
        option("--groups", "Write groups of texts that are all similar to the first, instead of pairs.", bool),
        *from_signature(TextIndex, allow_faiss=None),
        *OUTPUT,
    ],
)
def command(
    *, index: str, out: str | None, min_cosine: float, neighbours: int, groups: bool, allow_faiss: bool, output: Output
) -> None:
    """Find pairs of texts of INDEX whose vectors are similar: near-duplicates and paraphrases, most similar first.

    INDEX is a folder that `embeddings index` wrote.
    """
    require("force", "out")
    exclude("as_json", "out")
    if out is not None:
        check_not_input([Path(out)], [("INDEX", Path(index))], may_add=False)
        check_extension(out, TABLES, force=output.force)
    opened = TextIndex(index, allow_faiss=allow_faiss)
    with Bar(output.quiet) as bar:
        found = find_pairs(opened, min_cosine, neighbours, bar)
        bar.notice(f"found {quantity(len(found[1]), 'pair')} among {quantity(len(opened), 'text')}")
    rows, columns = (group_rows(*found), GROUP_COLUMNS) if groups else (pair_rows(*found), COLUMNS)
    if out is None:
        print_rows(rows, output.as_json)
    else:
        write_rows(columns, rows, Path(out), force=output.force)
