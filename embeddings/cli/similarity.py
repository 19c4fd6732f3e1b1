"""`embeddings similarity`: print the cosine similarity of words."""

from typing import Any

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import CONFIDENCE, JSON, VECTOR_INPUT
from embeddings.cli.output import note, print_rows
from embeddings.cli.vector_input import report_lookups
from embeddings.models.loading import load

DIFFERENCE = ("difference", "difference_low", "difference_high", "first_closer")


@command_by_example(
    "similarity model king queen man",
    params=[
        click.Argument(["vectors"]),
        click.Argument(["word"]),
        click.Argument(["others"], nargs=-1, required=True),
        CONFIDENCE,
        JSON,
        *VECTOR_INPUT,
    ],
)
def command(
    vectors: str, word: str, others: tuple[str, ...], confidence: str | None, as_json: bool, reading: dict[str, Any]
) -> None:
    """Print the cosine similarity of WORD to each of OTHERS.

    With --confidence, `low` to `high` is a 95 % interval of the cosine, and `difference` is the cosine of the first of
    OTHERS less that of this one: if its interval does not contain 0, one of them is closer to WORD.
    """
    source = load(vectors, **reading)
    rows: list[dict[str, Any]] = [
        {"word": word, "other": other, "cosine": float(source.similarity(word, other))} for other in others
    ]
    report_lookups(source, (word, *others))
    if confidence is not None:
        from embeddings.analysis.confidence import confident_difference, confident_similarity  # imports scipy
        from embeddings.analysis.stability_runs import StabilityRuns

        replicates = StabilityRuns.load(confidence)
        for other, row in zip(others, rows, strict=True):
            cosine = confident_similarity(source, replicates, word, other)
            row |= {"low": cosine.low, "high": cosine.high, "data_sd": cosine.data_sd, "seed_sd": cosine.seed_sd}
            row |= dict.fromkeys(DIFFERENCE)
            if other != others[0]:
                one = confident_difference(source, replicates, word, others[0], other)
                values = one.difference, one.low, one.high, one.first_closer
                row |= dict(zip(DIFFERENCE, values, strict=True))
    print_rows(rows, as_json)
    if confidence is not None:
        note(f"{replicates.note}; not corrected for a selection of words")
