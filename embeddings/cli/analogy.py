"""`embeddings analogy`: solve an analogy: A is to B as C is to what?"""

from typing import Any, Literal

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import CONFIDENCE, JSON, VECTOR_INPUT, exclude, from_signature
from embeddings.cli.output import note, print_rows
from embeddings.cli.vector_input import SEARCH, report_lookups
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors


@command_by_example(
    "analogy model man king woman",
    params=[
        *(click.Argument([name]) for name in ("vectors", "a", "b", "c")),
        *from_signature(Vectors.analogy, method=None),
        *SEARCH,
        CONFIDENCE,
        JSON,
        *VECTOR_INPUT,
    ],
)
def command(
    vectors: str, a: str, b: str, c: str, method: Literal["3cosadd", "3cosmul"], search: dict[str, Any],
    confidence: str | None, as_json: bool, reading: dict[str, Any],
) -> None:  # fmt: skip
    """Print the words that are to C as B is to A, such as: man king woman."""
    exclude("confidence", "method", "restrict")
    source = load(vectors, **reading)
    if confidence is not None:
        from embeddings.analysis.confidence import confident_analogy  # imports scipy
        from embeddings.analysis.stability_runs import StabilityRuns

        confident = confident_analogy(source, StabilityRuns.load(confidence), a, b, c, top=search["top"])
        report_lookups(source, (a, b, c))
        renamed = {"neighbour": "word", "cosine": "score"}
        rows = [{renamed.get(name, name): cell for name, cell in confident.record(one).items()} for one in confident]
        print_rows(rows, as_json)
        for remark in confident.notes:
            note(remark)
        return
    answers = source.analogy(a, b, c, method=method, **search)
    report_lookups(source, (a, b, c))
    print_rows([{"word": word, "score": score} for word, score in answers], as_json)
