"""`embeddings duplicates`: find texts of an index that say the same."""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import OUTPUT, Output, from_signature, option, require
from embeddings.cli.output import print_rows, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_extension, check_not_input
from embeddings.support.files import atomic_write
from embeddings.text_search.similar_texts import find_pairs, group_rows, pair_rows, similar_pairs
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
    if out is not None:
        check_not_input([Path(out)], [("INDEX", Path(index))], may_add=False)
        check_extension(out, [".csv", ".tsv"], force=output.force)
    opened = TextIndex(index, allow_faiss=allow_faiss)
    with Bar(output.quiet) as bar:
        found = find_pairs(opened, min_cosine, neighbours, bar)
        bar.notice(f"found {quantity(len(found[1]), 'pair')} among {quantity(len(opened), 'text')}")
    rows = group_rows(*found) if groups else pair_rows(*found)
    print_rows(rows, output.as_json) if out is None else write(rows, Path(out), output.force)


def write(rows: Iterator[dict[str, Any]], path: Path, force: bool) -> None:
    """Write rows separated by commas, or by tabs as the extension says."""
    with atomic_write(path, force=force) as fresh, fresh.open("w", encoding="utf-8", newline="") as stream:
        out = csv.writer(stream, delimiter="," if path.suffix.lower() == ".csv" else "\t", lineterminator="\n")
        for number, row in enumerate(rows):
            out.writerows([row] * (number == 0) + [row.values()])
