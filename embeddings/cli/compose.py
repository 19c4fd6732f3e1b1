"""`embeddings compose`: print the nearest neighbours of a two-word phrase."""

from typing import Any

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, VECTOR_INPUT, from_signature, option
from embeddings.cli.output import print_json, print_rows
from embeddings.cli.vector_input import SEARCH, report_lookups
from embeddings.models.loading import load_model_or_vectors
from embeddings.plugins.tensor_indexing.composer import Composer


@command_by_example(
    "compose model red car",
    params=[
        *(click.Argument([name]) for name in ("model", "first", "second")),
        *from_signature(Composer.compose, type=None, function=None),
        option("--vector", "Print the composed vector itself.", bool),
        *SEARCH,
        JSON,
        *VECTOR_INPUT,
    ],
)
def command(
    model: str, first: str, second: str, type: str | None, function: str | None, vector: bool, search: dict[str, Any],
    as_json: bool, reading: dict[str, Any],
) -> None:  # fmt: skip
    """Print the words and phrases nearest to the phrase FIRST SECOND, such as: red car.

    MODEL is the output of `embeddings fit` or `embeddings train tensor-indexing`, or any vectors (additive and
    multiplicative composition only). FIRST and SECOND are not among the results.
    """
    composer = Composer.of(load_model_or_vectors(model, **reading))
    if vector:
        values = composer.compose(first, second, type=type, function=function).tolist()
        report_lookups(composer.vectors, (first, second))
        print_json(values) if as_json else click.echo("\t".join(f"{value:.9g}" for value in values))
        return
    neighbours = composer.neighbours(first, second, type=type, function=function, **search)
    report_lookups(composer.vectors, (first, second))
    print_rows([{"neighbour": word, "cosine": cosine} for word, cosine in neighbours], as_json)
