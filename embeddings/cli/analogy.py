"""`embeddings analogy`: A is to B as C is to what?"""

from typing import Literal

import click

from embeddings.cli import common


@click.command("analogy")
@click.argument("vectors")
@click.argument("a")
@click.argument("b")
@click.argument("c")
@click.option(
    "--method",
    type=click.Choice(["3cosadd", "3cosmul"]),
    default="3cosadd",
    show_default=True,
    help="Add and subtract cosines (Mikolov et al. 2013), or multiply and divide them (Levy and Goldberg 2014).",
)
@common.top
@common.restrict
@common.as_json
@common.reading
def command(
    vectors: str,
    a: str,
    b: str,
    c: str,
    method: Literal["3cosadd", "3cosmul"],
    top: int,
    restrict: int | None,
    as_json: bool,
    allow_pickle: bool,
    encoding_errors: str,
) -> None:
    """Print the words that are to C as B is to A, such as: man king woman."""
    loaded = common.load(vectors, allow_pickle, encoding_errors)
    found = loaded.analogy(a, b, c, method=method, top=top, restrict=restrict)
    common.tell_composed(loaded, (a, b, c))
    common.print_rows(({"word": word, "score": score} for word, score in found), as_json)
