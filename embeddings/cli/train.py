"""`embeddings train`: a command for each installed trainer, made from its settings."""

import inspect
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import corpus_options, init_options, output_paths, run_options
from embeddings.cli.common import INTERRUPTED
from embeddings.cli.config import read_config
from embeddings.cli.model_output import checked, save
from embeddings.cli.plugin_choice import Installed
from embeddings.errors import SettingError

if TYPE_CHECKING:
    from embeddings.training.run_options import Conduct


def made(name: str, trainer: type) -> click.Command:
    """The command of one trainer."""
    from embeddings.cli.click_options import options

    shared = common(getattr(trainer, "tokenizer", "words"))

    def run(**given: Any) -> None:
        others = {name: given.pop(name) for name in [str(parameter.name) for parameter in shared] if name in given}
        check_vocab(others["vocab"], others["continued"])
        try:
            settings = trainer(**given)
        except SettingError as error:
            raise click.UsageError(str(error)) from error
        train_into(settings, **others)

    return click.Command(name, params=[*shared, *options(trainer)], callback=run, help=inspect.getdoc(trainer))


def check_vocab(vocab: str | None, continued: Any) -> None:
    """Refuse settings that choose words where all of a vocabulary are trained."""
    if vocab is not None and continued is not None:
        raise click.UsageError("--continue trains the vocabulary of the model, grown: leave out --vocab")
    context = click.get_current_context()
    for name in ("min_count", "max_vocab"):
        given = context.get_parameter_source(name)
        if vocab is not None and given not in (None, click.core.ParameterSource.DEFAULT):
            raise click.UsageError(f"--vocab trains all its words: leave out --{name.replace('_', '-')}")


def common(tokenizer: str) -> list[click.Parameter]:
    """What every trainer's command takes: the corpus and how it is read, the output, how the run is carried out."""
    known = {"show_default": True}
    return [
        click.Argument(["corpus"], nargs=-1, required=True),
        click.Option(
            ["-o", "--out"],
            required=True,
            help="Where to save: a model folder, or a vector file by its ending (.bin, .txt, .kv, .npy, ...).",
        ),
        click.Option(["--force"], is_flag=True, help="Replace the output if it exists."),
        click.Option(
            ["--config"], is_eager=True, expose_value=False, callback=read_config, help="Settings in a TOML file."
        ),
        click.Option(["--threads"], type=click.IntRange(1, 1024), help="Threads that learn.  [default: all cores]"),
        click.Option(
            ["--seed"],
            type=click.IntRange(0, 2**63 - 1),
            default=1,
            help="With --threads 1 it settles every byte.",
            **known,
        ),
        *init_options.options(),
        *run_options.options(),
        *corpus_options.options(tokenizer),
        *corpus_options.phrases(),
        click.Option(
            ["--vocab"],
            metavar="FILE",
            help="Train just the words of this vocabulary, with the counts they have there: what `embeddings "
            "vocabulary` saved, a model folder, or lines of word and count.",
        ),
        click.Option(["--quiet"], is_flag=True, help="Say nothing but errors."),
    ]


def train_into(
    settings: Any,
    *,
    corpus: tuple[str, ...],
    out: str,
    force: bool,
    threads: int | None,
    seed: int,
    quiet: bool,
    vocab: str | None,
    **others: Any,
) -> None:
    """Train and save; what an interrupted run has learned is saved too."""
    from embeddings.cli.progress_bar import Reading, Training
    from embeddings.corpora import Corpus
    from embeddings.training.result import Interrupted
    from embeddings.training.run_options import arguments

    how = {name: others.pop(name) for name in run_options.NAMES}
    others["phrases"] = init_options.phrases_for(others["phrases"], others["continued"])
    how["start"] = init_options.start_of(**{name: others.pop(name) for name in init_options.NAMES})
    force_out = force or (how["resume"] and run_options.was_saved(out))
    write = checked(out, force_out)
    if not quiet:
        tell_left_behind(settings, out)
    text = Corpus(*corpus, vocabulary=vocab, **others)
    output_paths.check_run(out, how["log"], text)
    bar = Training(quiet)
    conduct = run_options.conduct_of(out, settings, bar.say, force=force, **how)
    run_options.check_resumed(conduct, settings, threads, seed)
    conduct.check_corpus(text)
    with Reading(quiet) as read:
        encoded = text.encode(report=read)
    read.tell(encoded)
    run = {"threads": threads, "seed": seed, "report": bar, **arguments(settings, out, conduct)}
    try:
        with bar:
            model = settings.train(text, **run)
    except Interrupted as stopped:
        save(write, stopped.model, out, force_out)
        tell_interrupted(stopped.model.record, conduct, out)
        raise click.exceptions.Exit(INTERRUPTED) from None
    save(write, model, out, force_out)
    run_options.finished(conduct.checkpoints, out)
    for note in model.record.get("notes", []):
        bar.say(str(note))
    bar.tell(model, out)


def tell_left_behind(settings: Any, out: str) -> None:
    """Say what a file of vectors will not hold."""
    if not output_paths.is_vector_file(out):
        return
    if hasattr(settings, "inferrer"):
        say(f"{out} will hold vectors of words; a folder keeps those of documents, and finds others")
    elif hasattr(settings, "composer"):
        say(f"{out} will hold vectors of words; a folder keeps what gives vectors to others")


def tell_interrupted(record: dict[str, Any], conduct: "Conduct", out: str) -> None:
    """Say what became of a run that was interrupted, and how to go on with it."""
    told = f"interrupted after {record['words']:,} of {record['of_words']:,} words; what was learned is saved in {out}"
    if conduct.checkpoints is not None and conduct.checkpoints.found():
        run_options.note_saved(conduct.checkpoints, out)
        told += "; the same command with --resume goes on from there"
    say(told)


def say(text: str) -> None:
    """A line for people."""
    click.echo(text, err=True)


class Trainers(Installed):
    """The trainers; with --continue the model itself says which it is."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """The arguments, a trainer's name in front."""
        return super().parse_args(ctx, init_options.with_trainer(args))


command = Trainers("train", "trainer", made, help="Learn vectors from text with one of the installed trainers.")
