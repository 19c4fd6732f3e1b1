"""`embeddings train`: train vectors on text with one of the installed trainers."""

import dataclasses
from functools import partial
from typing import Any

import click

from embeddings.cli import corpus_options, run_options, saving
from embeddings.cli.command_classes import PluginGroup
from embeddings.cli.command_help import Command, grouped, shared
from embeddings.cli.config_file import CONFIG_OPTION
from embeddings.cli.options import OUTPUT, THREADS, Output, exclude, from_settings, is_given, option, seed
from embeddings.cli.output import note, print_json
from embeddings.cli.progress_bar import Bar, last_loss, read_corpus, report_training
from embeddings.cli.saving import model_writer, save
from embeddings.cli.signals import EXIT_INTERRUPT
from embeddings.corpora import Corpus
from embeddings.models.loading import load
from embeddings.models.model import Model
from embeddings.models.text_settings import continued_corpus_settings
from embeddings.support.docstrings import documentation
from embeddings.support.records import to_jsonable
from embeddings.training.run import Interrupted
from embeddings.training.run_options import RunOptions
from embeddings.training.trainer import Trainer, open_group

RUNS = option(
    "--runs",
    "Train N models, with the seeds from --seed on, and save them in the folder OUT, a group that `evaluate` and "
    "`compare` treat as runs of one setting. --resume trains those that are missing.",
    2,
    metavar="N",
)
FEW_WORDS = 3_000_000
RESULTS = ("seconds", "compile_seconds", "words_per_second", "loss_by_epoch", "early_stopping")  # of the record


def trainer_command(name: str, trainer: type[Trainer]) -> click.Command:
    """The subcommand for one trainer."""
    is_single_threaded = trainer.max_threads == 1
    own = [*run_options.options(trainer), *[RUNS] * trainer.accepts_run_options]
    corpus = [
        click.Argument(["corpus"], nargs=-1, required=True),
        option("-o --out", "A model folder, or a vector file (.bin, .txt, .kv, .npy, ...).", "PATH", required=True),
    ]
    common = [
        *([] if is_single_threaded else [THREADS]),
        seed(f"Random seed; {'' if is_single_threaded else 'with --threads 1 '}the result is bit-reproducible."),
        CONFIG_OPTION,
        *OUTPUT,
    ]
    return Command(
        name,
        example=f"train {name} corpus.txt -o model",
        params=[
            *corpus,
            *shared("settings", dict, *grouped("model", from_settings(trainer))),
            *shared("reading", dict, *corpus_options.trainer_text_options(trainer)),
            *shared("run", dict, *grouped("run", own, ("continued", "resume", "runs"))),
            *common,
        ],
        callback=partial(train, trainer),
        help=documentation(trainer),
    )


def train(
    trainer: type[Trainer], *, corpus: tuple[str, ...], out: str, settings: dict[str, Any], reading: dict[str, Any],
    output: Output, seed: int, threads: int | None = None, run: dict[str, Any] | None = None,
) -> None:  # fmt: skip
    """Train and save a model; an interrupted run is saved too."""
    exclude("vocabulary", "continued", why=", which extends the model's vocabulary")
    exclude("vocabulary", "min_count", "max_vocab", "min_documents", why=": all of its words are trained")
    run = run or {}
    runs = run.pop("runs", None)
    if run.get("init") is not None and "dim" in settings and not is_given("dim"):
        run["init"] = init = load(run["init"])
        settings["dim"] = init.dim
    if runs is not None:
        exclude("runs", "log")
        saving.check_folder_name(out)
    configured = trainer(**settings)
    if reading.get("phrases") is None and run.get("continued") is not None:
        reading["phrases"] = continued_corpus_settings(run["continued"]).get("phrases")
    # settings are checked above, and outputs before the text is read, which may take minutes
    text = Corpus(*corpus, **corpus_options.corpus_arguments(reading))
    if runs is None:
        result = train_run(
            configured, text, out, Bar(output.quiet), run, force=output.force, threads=threads, seed=seed
        )
    else:
        seeds = list(range(seed, seed + runs))
        result = train_runs(configured, text, out, seeds, run, force=output.force, threads=threads, quiet=output.quiet)
    if output.as_json:
        print_json(result)
    if result["interrupted"]:
        click.get_current_context().exit(EXIT_INTERRUPT)


def train_run(
    settings: Trainer, text: Corpus, out: str, bar: Bar, run: dict[str, Any], *, force: bool,
    threads: int | None, seed: int,
) -> dict[str, Any]:  # fmt: skip
    """Train a model and save it; returns what --json prints."""
    saving.check_training_outputs(out, run.get("log"), text)
    write = model_writer(out, force, is_classifier=settings.reads_labels)
    if not bar.quiet and saving.is_vector_file(out):
        only = f"{out} will contain word vectors only; save a"
        if settings.reads_labels and not saving.keeps_classifier(out):
            note(f"{only} folder, or a .bin file for fastText, to predict labels")
        elif settings.inferencer is not None:
            note(f"{only} folder to keep document vectors and infer new ones")
        elif settings.composer is not None and getattr(settings, "max_n", True):
            note(f"{out} will contain the vocabulary only; save a folder to compose vectors for other words")
    how = run_options.run_options_for(out, bar.notice, run, force=force, threads=threads, labels=text.labels)
    model, interrupted = train_until_interrupted(settings, text, how, bar, threads, seed)
    if interrupted and model.record.get("steps") == 0:  # its vectors are random
        note("interrupted before the first training step; nothing is saved")
        click.get_current_context().exit(EXIT_INTERRUPT)
    # checkpoints go only after the model is safe
    save(write, model, out, force)
    if interrupted:
        report_interrupt(model.record, how, out)
    else:
        if how.checkpoints is not None:
            how.checkpoints.remove_all()
        for message in model.record.get("notes", []):
            bar.notice(str(message))
        report_training(model, out, bar)
        epochs = model.settings.get("epochs") or 0  # None, or no setting of some trainers
        is_small = "window" in model.settings and model.record["words"] < FEW_WORDS * epochs
        if is_small and "early_stopping" not in model.record and not is_given("epochs"):
            bar.notice(f"a text of fewer than {FEW_WORDS:,} words is often learned better in more epochs: --epochs 20")
    return summary(model, out, interrupted)


def train_runs(
    settings: Trainer, text: Corpus, out: str, seeds: list[int], run: dict[str, Any], *, force: bool,
    threads: int | None, quiet: bool,
) -> dict[str, Any]:  # fmt: skip
    """Train a model for each seed, and save them as a group; returns what --json prints."""
    saving.check_training_outputs(out, None, text)
    how = run_options.run_options_for(out, note, dict(run), force=True, threads=threads, labels=text.labels)
    with Bar(quiet) as reading:
        how = dataclasses.replace(how, read=lambda corpus: corpus.encode(progress=reading, threads=threads))
        resume = run.get("resume", False)
        group = open_group(out, settings, text, seeds, threads, how, resume=resume, force=force)
    summaries = [summary(Model.load(path), str(path), False) for path in map(group.path, group.finished)]
    for one, path in group.train_missing():
        bar = Bar(quiet)
        bar.notice(f"run {group.seeds.index(one) + 1} of {len(group.seeds)}, seed {one}")
        summaries.append(train_run(settings, text, str(path), bar, dict(run), force=True, threads=threads, seed=one))
        if summaries[-1]["interrupted"]:
            break
    return {"out": out, "interrupted": bool(group.missing), "runs": summaries}


def train_until_interrupted(
    settings: Trainer, text: Corpus, how: RunOptions, bar: Bar, threads: int | None, seed: int
) -> tuple[Model, bool]:
    """Read and train, with progress; returns the model, and whether the user interrupted."""
    read = partial(read_corpus, quiet=bar.quiet, threads=threads)
    with bar:
        # a cluster reads shares of the text on its workers, so this process must not read it
        if how.cluster is None:
            how = dataclasses.replace(how, read=read)
        try:
            return settings.train(text, threads=threads, seed=seed, progress=bar, run_options=how), False
        except Interrupted as interrupt:
            return interrupt.model, True


def report_interrupt(record: dict[str, Any], how: RunOptions, out: str) -> None:
    """Report how far an interrupted run got, and how to continue it."""
    message = f"interrupted after {record['words']:,} of {record['total_words']:,} {record['unit']}; saved to {out}"
    if how.checkpoints is not None and how.checkpoints.paths():
        message += "; repeat the command with --resume --force to continue"
    note(message)


def summary(model: Model, out: str, interrupted: bool) -> dict[str, Any]:
    """The result of training, for --json."""
    values = {
        "out": out,
        "model": model.name,
        "words": len(model.vectors),
        **({} if model.labels is None else {"labels": len(model.labels)}),
        "dim": model.vectors.dim,
        "interrupted": interrupted,
        **{name: model.record.get(name) for name in RESULTS},
        "loss": last_loss(model),
        "settings": model.settings,
    }
    result: dict[str, Any] = to_jsonable(values)
    return result


class TrainerGroup(PluginGroup):
    """The trainers; with --continue the name of the trainer may be omitted."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, after adding the name of the trainer if it is omitted."""
        return super().parse_args(ctx, run_options.add_trainer_name(args))


command = TrainerGroup("train", "trainer", trainer_command, help="Train vectors on text with one of these trainers.")
