"""The HTML table that a notebook shows for vectors."""

from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from embeddings.support.html import Html, number, table, tag, word

if TYPE_CHECKING:
    from embeddings.vectors.vectors import Vectors

MAX_WORDS, MAX_COMPONENTS = 10, 6


def vectors_html(vectors: "Vectors") -> Html:
    """Render the first words with their counts, vector norms and first components."""
    n_components = min(vectors.dim, MAX_COMPONENTS)
    item, counts = vectors.item_name.removesuffix("s"), ["count"] * (vectors.counts is not None)
    header = [item, *counts, "norm", *map(str, range(n_components))]
    rows: list[list[object]] = []
    for index, name in enumerate(islice(vectors.words, MAX_WORDS)):
        vector = np.asarray(vectors.matrix[index], np.float64)
        count = [] if vectors.counts is None else [int(vectors.counts[index])]
        norm = float(np.sqrt((vector * vector).sum()))
        rows.append([tag("td", word(name)), *count, number(norm), *(number(float(x)) for x in vector[:n_components])])
    rest = [f"{len(vectors) - len(rows):,} more {vectors.item_name}"] * (len(vectors) > len(rows))
    rest += [f"{vectors.dim - n_components:,} more components"] * (vectors.dim > n_components)
    compose_note = ["vectors of unseen words are composed"] * (vectors.compose is not None)
    return tag(
        "div",
        tag("p", tag("b", "Vectors"), f": {len(vectors):,} {vectors.item_name}, {vectors.dim:,} components"),
        table(list(header), rows),
        tag("p", "; ".join([" and ".join(rest)] * bool(rest) + compose_note)),
    )
