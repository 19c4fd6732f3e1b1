"""Options for how training starts: from pretrained vectors, or from a model."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from embeddings.models.model import Model

NAMES = ("init", "init_duplicates", "freeze", "allow_pickle", "continued")
META = "embeddings.continued"  # key of the continued model's path in the click context
CONTINUE = "--continue"


def options() -> list[click.Parameter]:
    """The options."""
    return [
        click.Option(
            ["--init"],
            metavar="VECTORS",
            help="Initialize words from these pretrained vectors, in any format; other words randomly.",
        ),
        click.Option(
            ["--init-duplicates"],
            type=click.Choice(["most-frequent", "average", "exact"]),
            help="If several pretrained words are equal in lower case: use the most frequent, the average, or only "
            "exact matches.  [default: most-frequent]",
        ),
        click.Option(["--freeze"], is_flag=True, help="Do not update the pretrained vectors of --init."),
        click.Option(
            ["--allow-pickle"],
            is_flag=True,
            help="Read gensim's own files for --init, which can execute code: only from trusted sources.",
        ),
        click.Option(
            [CONTINUE, "continued"],
            metavar="MODEL",
            is_eager=True,
            callback=use_model_settings,
            help="Continue training this model on new text: its settings become the defaults, new words are added, "
            "counts are summed.",
        ),
    ]


def use_model_settings(ctx: click.Context, parameter: click.Parameter, path: str | None) -> "Model | None":
    """Load the model and make its settings the defaults of the command; those of a configuration file win."""
    if path is None:
        return None
    from embeddings.models.loading import load_model
    from embeddings.models.text_settings import phrase_settings

    ctx.meta[META] = path
    model = load_model(path)
    if model.name != ctx.info_name:
        raise click.UsageError(f"{path} is a {model.name} model; continue it with: embeddings train {model.name}")
    text = model.record.get("text")
    known = {str(option.name) for option in ctx.command.params} - {"continued", "phrases"}
    settings = {**model.settings, **({**text, **phrase_settings(model)} if isinstance(text, dict) else {})}
    defaults = {name: value for name, value in settings.items() if name in known and value is not None}
    ctx.default_map = {**defaults, **(ctx.default_map or {})}
    return model


def phrases_to_join(phrases: str | None, continued: "Model | None") -> Any:
    """The value of --phrases, by default the phrases of the model that training continues."""
    from embeddings.models.text_settings import continued_corpus_settings

    return phrases if phrases is not None or continued is None else continued_corpus_settings(continued).get("phrases")


def run_arguments(
    init: str | None, init_duplicates: Any, freeze: bool, allow_pickle: bool, continued: "Model | None"
) -> dict[str, Any]:
    """The arguments of `RunOptions` for these options."""
    from embeddings.models.loading import load
    from embeddings.training.init_vectors import InitFrom

    if init is None:
        options = {"--init-duplicates": init_duplicates, "--freeze": freeze, "--allow-pickle": allow_pickle}
        for name, value in options.items():
            if value:
                raise click.UsageError(f"{name} requires --init")
        return {"continued": continued}
    vectors = load(init, allow_pickle=True) if allow_pickle else init
    return {"continued": continued, "init": InitFrom(vectors, init_duplicates or "most-frequent", freeze)}


def add_trainer_name(arguments: list[str]) -> list[str]:
    """Prepend the name of the trainer of the --continue model to the arguments of `train` if they have none."""
    from embeddings.models.loading import load_model

    if not arguments or not arguments[0].startswith("-"):
        return arguments
    for word, following in zip(arguments, [*arguments[1:], None], strict=True):
        name, _, value = word.partition("=")
        if name == CONTINUE:
            path = value or following
            if path is None:
                raise click.UsageError(f"{CONTINUE} requires the path of a model")
            return [load_model(path).name, *arguments]
    return arguments
