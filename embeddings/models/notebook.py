"""What a notebook shows of vectors and of a model: small tables, whatever their size."""

from itertools import islice
from typing import Any

from embeddings.models.model import Model
from embeddings.support.html import Html, number, table, tag, word
from embeddings.vectors.vectors import Vectors

WORDS, COMPONENTS = 10, 6  # shown of vectors
RECORD = ("seed", "threads", "words", "seconds", "words_per_second", "loss_by_epoch")


def shown(one: Any) -> Html:
    """Vectors, or a model, as HTML."""
    return of_model(one) if isinstance(one, Model) else of_vectors(one)


def of_vectors(vectors: Vectors) -> Html:
    """The first words with their counts, lengths and first components."""
    import numpy as np

    components = min(vectors.dim, COMPONENTS)
    heads = ["word", *["count"] * (vectors.counts is not None), "length", *map(str, range(components))]
    rows: list[list[object]] = []
    for place, name in enumerate(islice(vectors.words, WORDS)):
        row = np.asarray(vectors.matrix[place], np.float64)
        counts = [] if vectors.counts is None else [int(vectors.counts[place])]
        length = float(np.sqrt((row * row).sum()))
        rows.append([tag("td", word(name)), *counts, number(length), *(number(float(x)) for x in row[:components])])
    more = [f"{len(vectors) - len(rows):,} more words"] * (len(vectors) > len(rows))
    more += [f"{vectors.dim - components:,} more components"] * (vectors.dim > components)
    composed = ["vectors of other words are composed"] * (vectors.compose is not None)
    return tag(
        "div",
        tag("p", tag("b", "Vectors"), f": {len(vectors):,} words, {vectors.dim:,} components"),
        table(list(heads), rows),
        tag("p", "; ".join([" and ".join(more)] * bool(more) + composed)),
    )


def of_model(model: Model) -> Html:
    """The settings, what the training recorded, the tables, and the vectors."""
    settings: list[list[object]] = [[name, value_of(value)] for name, value in model.settings.items()]
    record: list[list[object]] = [[name, value_of(model.record[name])] for name in RECORD if name in model.record]
    tables: list[list[object]] = [[name, value_of(table.shape)] for name, table in model.tables.items()]
    parts = {"settings": settings, "training": record, "tables": tables}
    return tag(
        "div",
        tag("p", tag("b", "Model"), f" {model.name}"),
        *(folded(name, table([name, "value"], rows)) for name, rows in parts.items() if rows),
        of_vectors(model.vectors),
    )


def folded(name: str, inside: Html) -> Html:
    """What opens by a click."""
    return tag("details", tag("summary", name), inside)


def value_of(value: object) -> str:
    """A value in a line of a table."""
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(map(value_of, value))
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
