"""`embeddings analogy`: A is to B as C is to what?"""

from typing import Any, Literal

import click

from embeddings.cli.options import JSON, SEARCH, VECTOR_INPUT, option
from embeddings.cli.output import print_rows
from embeddings.cli.vector_input import report_lookups
from embeddings.models.loading import load


@click.command(
    "analogy",
    params=[
        *(click.Argument([name]) for name in ("vectors", "a", "b", "c")),
        option("--method", "Add or multiply cosines.", ["3cosadd", "3cosmul"], default="3cosadd"),
        *SEARCH,
        JSON,
        *VECTOR_INPUT,
    ],
)
def command(
    vectors: str, a: str, b: str, c: str, method: Literal["3cosadd", "3cosmul"], top: int, restrict: int | None,
    as_json: bool, **read_options: Any,
) -> None:  # fmt: skip
    """Print the words that are to C as B is to A, such as: man king woman."""
    source = load(vectors, **read_options)
    answers = source.analogy(a, b, c, method=method, top=top, restrict=restrict)
    report_lookups(source, (a, b, c))
    print_rows([{"word": word, "score": score} for word, score in answers], as_json)
