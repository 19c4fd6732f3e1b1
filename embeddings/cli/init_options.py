"""Options for how training starts: from pretrained vectors, or from a model."""

from typing import Any

import click

from embeddings.cli.options import ALLOW_PICKLE, option
from embeddings.cli.output_paths import CONTINUED_MODEL
from embeddings.models.loading import load, load_model
from embeddings.models.model import Model
from embeddings.models.text_settings import LABEL_PREFIX, label_prefix, phrase_settings
from embeddings.training.init_vectors import INIT_MODES, InitFrom
from embeddings.training.trainer import Trainer
from embeddings.vectors.vectors import Vectors

DEFAULTS = {
    "init": None,
    "init_mode": None,
    "init_duplicates": None,
    "freeze": False,
    "allow_pickle": False,
    "continued": None,
}
DEPENDENT = {  # options that a trainer has only if it supports this
    "init": ("init", "init_mode", "init_duplicates", "freeze", "allow_pickle"),
    "freeze": ("freeze",),
    "continued": ("continued",),
}
CONTINUE = "--continue"


def options(trainer: type[Trainer]) -> list[click.Parameter]:
    """The options of `train` that initialise a model, without those that a trainer does not support."""
    if not trainer.accepts_run_options:
        return []
    left_out = {name for key in trainer.unsupported for name in DEPENDENT[key]}
    if len(trainer.init_modes) == 1:
        left_out.add("init_mode")
    return [option for option in all_options() if option.name not in left_out]


def all_options() -> list[click.Parameter]:
    """All options that initialise a model."""
    return [
        option(
            "--init",
            "Initialise words from these pretrained vectors, and other words randomly; without --dim, the dimension is "
            "theirs.",
            "VECTORS",
        ),
        option(
            "--init-mode",
            "How the vectors of --init are used. initial: training starts from them; concatenate: they are the first "
            "components of the vectors, zeros for other words, and only the remaining components are trained; project: "
            "vectors are their products with a trained matrix, and other words are trained as usual.  "
            "[default: initial]",
            list(INIT_MODES),
        ),
        option(
            "--init-duplicates",
            "Vector of a word that several pretrained words match in lower case: that of the most frequent, or the "
            "average. exact matches only identical spellings.  [default: most-frequent]",
            ["most-frequent", "average", "exact"],
        ),
        option("--freeze", "Do not update the pretrained vectors of --init.", bool),
        ALLOW_PICKLE,
        click.Option(
            [CONTINUE, "continued"],
            metavar="MODEL",
            is_eager=True,
            callback=use_model_settings,
            help="Continue training this model on new text: its settings become the defaults, new words are added, "
            "counts are summed.",
        ),
    ]


def use_model_settings(ctx: click.Context, parameter: click.Parameter, path: str | None) -> Model | None:
    """Load the model and make its settings the defaults of the command; a configuration file overrides them."""
    if path is None:
        return None
    ctx.meta[CONTINUED_MODEL] = path
    model = load_model(path)
    if model.name != ctx.info_name:
        raise click.UsageError(f"{path} is a {model.name} model; continue it with: embeddings train {model.name}")
    from embeddings.corpora.word_rules import recorded_settings

    text = model.record.get("text")
    known = {str(option.name) for option in ctx.command.params} - {"continued", "phrases"}
    settings = dict(model.settings)
    if isinstance(text, dict):
        settings |= {**text, **recorded_settings(text), **phrase_settings(model)}
    settings |= {LABEL_PREFIX: prefix} if (prefix := label_prefix(model)) else {}
    defaults = {name: value for name, value in settings.items() if name in known and value is not None}
    ctx.default_map = {**defaults, **(ctx.default_map or {})}
    return model


def load_vectors(init: str | Vectors, *, allow_pickle: bool) -> Vectors:
    """The vectors of --init, which may be loaded already."""
    return init if isinstance(init, Vectors) else load(init, allow_pickle=allow_pickle)


def default_dim(init: Vectors, mode: str | None, dim: int) -> int:
    """The dimension of a model without --dim, given the vectors of --init and the default of the trainer."""
    return {"concatenate": init.dim + dim, "project": dim}.get(mode or "initial", init.dim)


def run_arguments(
    init: str | Vectors | None, init_mode: Any, init_duplicates: Any, freeze: bool, allow_pickle: bool,
    continued: Model | None,
) -> dict[str, Any]:  # fmt: skip
    """The arguments of `RunOptions` for these options."""
    if init is None:
        options = {
            "--init-mode": init_mode,
            "--init-duplicates": init_duplicates,
            "--freeze": freeze,
            "--allow-pickle": allow_pickle,
        }
        for name, value in options.items():
            if value:
                raise click.UsageError(f"{name} requires --init")
        return {"continued": continued}
    return {
        "continued": continued,
        "init": InitFrom(
            load_vectors(init, allow_pickle=allow_pickle),
            init_duplicates or "most-frequent",
            freeze,
            init_mode or "initial",
        ),
    }


def add_trainer_name(arguments: list[str]) -> list[str]:
    """Prepend the name of the trainer of the --continue model to the arguments of `train` if they have none."""
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
