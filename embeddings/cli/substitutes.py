"""`embeddings substitutes`: print words that fit a gap in a text."""

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import JSON, option
from embeddings.cli.output import print_rows
from embeddings.models.loading import load_model


@command_by_example(
    'substitutes model "I ate a [] for lunch"',
    params=[
        click.Argument(["model"]),
        click.Argument(["texts"], nargs=-1, required=True),
        option("--top", "Number of words for each text.", 1, default=10),
        JSON,
    ],
)
def command(model: str, texts: tuple[str, ...], top: int, as_json: bool) -> None:
    """Print the words that best fit the gap [] of each of TEXTS, such as "I ate a [] for lunch".

    MODEL is a context2vec model. A text is split into words as in training; all unknown words share one vector.
    """
    source = load_model(model)
    neighbours = [source.vectors.most_similar(row, top=top) for row in source.context_vectors(texts)]
    rows = [
        {"text": text, "substitute": word, "cosine": cosine}
        for text, nearest in zip(texts, neighbours, strict=True)
        for word, cosine in nearest
    ]
    print_rows(rows, as_json)
