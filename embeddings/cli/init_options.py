"""What a run starts from, as options: given vectors, or a model to go on with."""

from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from embeddings.models.model import Model

NAMES = ("init", "init_duplicates", "freeze", "allow_pickle", "continued")
FLAG = "--continue"


def options() -> list[click.Parameter]:
    """The options of a start."""
    return [
        click.Option(
            ["--init"],
            metavar="VECTORS",
            help="Start words from the vectors that they have there, in any format; others at random.",
        ),
        click.Option(
            ["--init-duplicates"],
            type=click.Choice(["most-frequent", "average", "exact"]),
            help="Of words there that are one when lower-cased take the most frequent, or the average; or only those "
            "that are spelled as here.  [default: most-frequent]",
        ),
        click.Option(["--freeze"], is_flag=True, help="Leave the vectors of --init as they are; learn the others."),
        click.Option(
            ["--allow-pickle"],
            is_flag=True,
            help="Read gensim's own files as --init, which can run code: only from who you trust.",
        ),
        click.Option(
            [FLAG, "continued"],
            metavar="MODEL",
            is_eager=True,
            callback=take_settings,
            help="Go on with a model on new text and new words: its settings are the defaults, its words stay, counts "
            "are added.",
        ),
    ]


def take_settings(ctx: click.Context, parameter: click.Parameter, path: str | None) -> "Model | None":
    """The model, whose settings and reading become the defaults of the command; a configuration file wins."""
    if path is None:
        return None
    from embeddings.cli.output_paths import CONTINUED
    from embeddings.models.loading import load_model
    from embeddings.models.text_settings import joining_of

    ctx.meta[CONTINUED] = path
    model = load_model(path)
    if model.name != ctx.info_name:
        raise click.UsageError(f"{path} is a {model.name} model: train {model.name} goes on with it")
    text = model.record.get("text")
    known = {str(option.name) for option in ctx.command.params} - {"continued", "phrases"}
    found = {**model.settings, **({**text, **joining_of(model)} if isinstance(text, dict) else {})}
    defaults = {name: value for name, value in found.items() if name in known and value is not None}
    ctx.default_map = {**defaults, **(ctx.default_map or {})}
    return model


def phrases_for(phrases: str | None, continued: "Model | None") -> Any:
    """The phrases of a text: as asked for, or those that a model to go on with has learned.

    Raises:
        FormatError, SettingError: as `embeddings.models.text_settings.reading_of`.
    """
    from embeddings.models.text_settings import reading_again

    return phrases if phrases is not None or continued is None else reading_again(continued).get("phrases")


def start_of(
    init: str | None, init_duplicates: str | None, freeze: bool, allow_pickle: bool, continued: "Model | None"
) -> dict[str, Any]:
    """The arguments of `Conduct` that say what a run starts from.

    Raises:
        UsageError: options that do not go together.
        FormatError: vectors that may be pickled cannot be read; others are read later.
    """
    from embeddings.models.loading import load
    from embeddings.training.init_vectors import Init

    if init is None:
        more = (("--init-duplicates", init_duplicates), ("--freeze", freeze), ("--allow-pickle", allow_pickle))
        for name, given in more:
            if given:
                raise click.UsageError(f"{name} is of use only with --init")
        return {"continued": continued}
    vectors = load(init, allow_pickle=True) if allow_pickle else init
    return {"continued": continued, "init": Init(vectors, init_duplicates or "most-frequent", freeze)}  # type: ignore[arg-type]  # click has checked it


def with_trainer(args: list[str]) -> list[str]:
    """The arguments of `train`, with the name of the model's trainer in front where --continue alone says it."""
    from embeddings.models.loading import load_model

    if not args or not args[0].startswith("-"):
        return args
    for number, word in enumerate(args):
        if word.startswith(f"{FLAG}="):
            return [load_model(word.partition("=")[2]).name, *args]
        if word == FLAG and number + 1 == len(args):
            raise click.UsageError(f"{FLAG} needs the path of a model")
        if word == FLAG:
            return [load_model(args[number + 1]).name, *args]
    return args
