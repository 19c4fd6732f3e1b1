"""`embeddings compose`: what two words mean together."""

import click

from embeddings.cli import common


@click.command("compose")
@click.argument("model")
@click.argument("first")
@click.argument("second")
@click.option("--type", help="Whose functions are used.  [default: the type the phrase was listed with, else any]")
@click.option(
    "--function",
    help="additive, multiplicative, own (the phrase's own vector), and what the model has learned: weighted-additive, "
    "full-additive, tensor-indexing, full-tensor.  [default: tensor-indexing]",
)
@click.option("--vector", is_flag=True, help="Print the vector itself.")
@common.top
@common.restrict
@common.as_json
@common.reading
def command(
    model: str,
    first: str,
    second: str,
    type: str | None,
    function: str | None,
    vector: bool,
    top: int,
    restrict: int | None,
    as_json: bool,
    allow_pickle: bool,
    encoding_errors: str,
) -> None:
    """Print the words and phrases nearest to the phrase FIRST SECOND, such as: red car.

    MODEL is what `embeddings fit` or `embeddings train tensor-indexing` saved; vectors of any other kind are added or
    multiplied. The two words themselves are not among the answers.
    """
    from embeddings.plugins.tensor_indexing.composer import Composer

    composer = Composer.of(common.load_whole(model, allow_pickle, encoding_errors))
    if vector:
        made = composer.compose(first, second, type=type, function=function).tolist()
        common.print_json(made) if as_json else click.echo("\t".join(f"{number:.9g}" for number in made))
        return
    found = composer.neighbours(first, second, type=type, function=function, top=top, restrict=restrict)
    common.print_rows(({"neighbour": word, "cosine": cosine} for word, cosine in found), as_json)
