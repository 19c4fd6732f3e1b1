"""`embeddings align`: map vectors of one language onto another's."""

from pathlib import Path
from typing import Any

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import FORMAT, OUTPUT, VECTOR_INPUT, Output, from_signature, option
from embeddings.cli.output import note, print_json, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_vector_output
from embeddings.models.loading import load
from embeddings.vectors.align import align


@command_by_example(
    "align en.vec de.vec --dictionary en-de.txt -o en-aligned.vec",
    params=[
        click.Argument(["vectors"]),
        click.Argument(["onto"]),
        option(
            "-o --out", "Output file of the mapped VECTORS; its extension selects the format.", "FILE", required=True
        ),
        option(
            "--onto-out",
            "Output file of the vectors of ONTO, which all methods but orthogonal change.",
            "FILE",
        ),
        *from_signature(align, dictionary="FILE|NAME", method=None),
        FORMAT,
        *OUTPUT,
        *VECTOR_INPUT,
    ],
)
def command(
    vectors: str, onto: str, out: str, onto_out: str | None, format: str | None, output: Output,
    reading: dict[str, Any], method: Any, **settings: Any,
) -> None:  # fmt: skip
    """Map VECTORS onto the space of ONTO, such as English onto German, by pairs of words.

    Search the result with `embeddings neighbours OUT WORD --among ONTO --method csls`, and measure it with `embeddings
    evaluate OUT --translation FILE --target ONTO`. Several languages come into one space if each is mapped onto the
    same ONTO.
    """
    if (onto_out is None) != (method == "orthogonal"):
        problem = "requires --onto-out" if onto_out is None else "does not change ONTO: omit --onto-out"
        raise click.UsageError(f"--method {method} {problem}")
    outputs = [path for path in (out, onto_out) if path is not None]
    inputs = [("VECTORS", Path(vectors)), ("ONTO", Path(onto))]
    for path in outputs:
        check_vector_output(path, inputs, format, force=output.force)
        inputs.append(("--out", Path(path)))
    first, second = (load(path, **reading) for path in (vectors, onto))
    result = align(first, second, method=method, **settings, progress=Bar(output.quiet or output.as_json))
    for path, aligned in zip(outputs, (result.vectors, result.onto), strict=False):
        aligned.save(path, format, force=output.force)
    if output.as_json:
        print_json({"files": outputs, "pairs": len(result.pairs), "residual": result.residual})
        return
    note(
        f"aligned by {quantity(len(result.pairs), 'pair')} of words: relative residual {result.residual:.3f}; "
        f"saved {' and '.join(outputs)}"
    )
