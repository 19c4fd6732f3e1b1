"""`embeddings tune`: search for the settings of a trainer."""

import shlex
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli import corpus_options, saving
from embeddings.cli.command_classes import PluginGroup
from embeddings.cli.command_help import GENERAL, Command, Option, grouped, shared
from embeddings.cli.config_file import CONFIG_OPTION
from embeddings.cli.options import (
    OUTPUT,
    THREADS,
    Output,
    exclude,
    from_settings,
    from_signature,
    is_given,
    option,
    seed,
)
from embeddings.cli.output import note, print_json, print_lines, print_rows
from embeddings.cli.progress_bar import Bar, read_corpus
from embeddings.cli.run_options import text_or_share
from embeddings.cli.signals import EXIT_INTERRUPT, ignored_signals
from embeddings.corpora import Corpus
from embeddings.corpora.corpus_cache import parse_size
from embeddings.settings import field_types, flag
from embeddings.support.records import to_jsonable
from embeddings.training.trainer import Trainer

if TYPE_CHECKING:
    from embeddings.eval.tuning import Trial, Tuning

SEARCH = ("trials", "seconds", "metric", "vary", "halving", "validation", "labels", "half", "k", "size")
NOT_REPEATED = (*SEARCH, "out", "resume", "config", "force", "quiet", "as_json")
BEST = "best"
TUNED = "tuned"  # the output of the command that trains the best settings
INTERRUPTED = "nothing was scored on the test half yet; repeat the command with --resume to continue"


def tune_command(name: str, trainer: type[Trainer]) -> click.Command:
    """The subcommand for one trainer."""
    from embeddings.eval.tuning.tune_settings import tune

    corpus = [
        click.Argument(["corpus"], nargs=-1, required=True),
        option("-o --out", "Output folder: the trials, the best model and a report.", "FOLDER", required=True),
    ]
    common = [
        *shared("search", dict, *grouped(GENERAL, from_signature(tune, resume=None), ["resume"])),
        *([] if trainer.max_threads == 1 else [THREADS]),
        seed("Random seed of the search and of each training run; with --threads 1 the trials are reproducible."),
        CONFIG_OPTION,
        *OUTPUT,
    ]
    forms = "similarity:NAME|FILE, analogy:NAME|FILE or pairs:FILE; repeat it for the mean"
    own: list[Option] = []
    if trainer.word_predictor is not None:
        forms += "; or loss, of held-out text"
        own = from_signature(tune, validation="TEXT|SHARE")
    if trainer.reads_labels:
        forms = (
            "f1, precision or recall, over all labels or of one, as in f1:LABEL; macro-f1; or "
            "precision-at-recall:PERCENT or recall-at-precision:PERCENT, also with :LABEL"
        )
        size = "Quantise each classifier so that its file has at most this size, such as 2M, and score the small one."
        own += from_signature(tune, labels="FILE", half=None, k="--top k K")
        own.append(option("--size", size, "SIZE"))
    options = [
        *from_signature(tune, trials="N", seconds="SECONDS"),
        option("--metric", f"Score of a trial: {forms}.", "METRIC", multiple=True, required=True),
        *from_signature(tune, vary="SETTING[=RANGE]...", halving=None),
        *own,
    ]
    search = grouped("search", options, ("trials", "seconds", "metric", "vary", "validation", "labels"))
    metric = "f1" if trainer.reads_labels else "similarity:wordsim353"
    return Command(
        name,
        example=f"tune {name} corpus.txt -o search --trials 20 --metric {metric}",
        params=[
            *corpus,
            *shared("search", dict, *search),
            *shared("settings", dict, *grouped("model", from_settings(trainer), ())),
            *shared("reading", dict, *corpus_options.trainer_text_options(trainer)),
            *common,
        ],
        callback=partial(tune_trainer, trainer),
        help=f"Search for the settings of {name} that score best.\n\nTrials are scored by the dev half of a test set, "
        "which a hash of its items fixes; the best one is judged on the test half at the end, against the given "
        "settings, which the first trial has. Settings that are given keep their values, unless --vary names them. "
        "After Ctrl-C, --resume continues.",
    )


def tune_trainer(
    trainer: type[Trainer], *, corpus: tuple[str, ...], out: str, search: dict[str, Any], settings: dict[str, Any],
    reading: dict[str, Any], output: Output, seed: int, threads: int | None = None,
) -> None:  # fmt: skip
    """Search, and report."""
    from embeddings.eval.tuning.study_folder import StudyFolder, write_report
    from embeddings.eval.tuning.tune_settings import check_search, tune

    if search["trials"] is None and search["seconds"] is None:
        raise click.UsageError("give the number of --trials, or --seconds")
    exclude("trials", "seconds")
    configured = trainer(**settings)
    if search.get("size") is not None:
        search["size"] = parse_size(search["size"])
    if isinstance(search.get("validation"), str):
        search["validation"] = text_or_share(search["validation"])
    text = Corpus(*corpus, **corpus_options.corpus_arguments(reading))
    saving.check_outside_corpus(out, text)
    checked = {name: search[name] for name in ("metric", "vary", "resume")}
    check_search(configured, out, **checked, force=output.force)
    fixed = [name for name in field_types(trainer) if is_given(name)]
    with read_corpus(text, output.quiet, threads), Bar(output.quiet, "searching") as bar:
        tuning = tune(
            configured, text, **search, fixed=fixed, out=out, force=output.force, threads=threads,
            seed=seed, report=lambda trial: bar.notice(describe(trial)), progress=bar,
        )  # fmt: skip
    command = winning_command(tuning, trainer.trainer_name, is_quantised=search.get("size") is not None)
    # a second Ctrl-C, after the search has stopped, must not leave half a report
    with ignored_signals():
        write_report(StudyFolder.open(out), tuning, command)
    report(tuning, out, command, as_json=output.as_json)


def describe(trial: "Trial") -> str:
    """A trial as a line."""
    from embeddings.eval.tuning.study_folder import describe_state

    settings = " ".join(f"{flag(name)} {value}" for name, value in trial.settings.items())
    result = "" if trial.score is None else f"score {trial.score:.4f}, "
    state = "" if trial.state == "complete" else f"{describe_state(trial)}, "
    return f"trial {trial.number}: {result}{state}{trial.seconds:.1f} s  {settings}"


def report(tuning: "Tuning", out: str, command: str, *, as_json: bool) -> None:
    """Print the trials, the results on the test half, and the command that repeats the best one."""
    assert tuning.best is not None
    trials, test, comparisons = tuning.tables
    if as_json:
        best = {"trial": tuning.best.number, "score": tuning.best.score, "metric": tuning.metric, "command": command}
        tables = {"trials": trials, "test": tuning.test, "comparisons": tuning.comparisons}
        print_json(to_jsonable({"out": out, **best, "interrupted": tuning.is_interrupted, **tables}))
    else:
        print_rows(trials)
        for rows in (test, comparisons):
            if rows:
                print_lines("")
                print_rows(rows)
    best_score = f"trial {tuning.best.number} with {tuning.best.score:.4f}"
    note(f"best by {tuning.metric}: {best_score}, saved in {out}/{BEST}")
    if tuning.is_interrupted:
        note(f"interrupted: {INTERRUPTED}")
    note("the command that trains the best settings:")
    note(command)
    if tuning.is_interrupted:
        click.get_current_context().exit(EXIT_INTERRUPT)


def winning_command(tuning: "Tuning", trainer: str, *, is_quantised: bool) -> str:
    """The command line that trains with the best settings, and quantises the classifier if the search did."""
    context = click.get_current_context()
    assert tuning.best is not None
    given = {name: value for name, value in context.params.items() if is_given(name) or name == "corpus"}
    repeated = {name: value for name, value in given.items() if name not in NOT_REPEATED}
    words = ["embeddings", "train", trainer, *repeated.pop("corpus")]
    parameters = {str(parameter.name): parameter for parameter in context.command.params}
    for name, value in (repeated | tuning.best.settings).items():
        parameter = parameters[name]
        if isinstance(parameter, click.Option) and parameter.is_flag and value is not None:
            words.append(parameter.opts[0] if value else (parameter.secondary_opts or parameter.opts)[0])
        elif value is not None:
            words += [parameter.opts[0], str(value)]
    words += ["-o", TUNED]
    if not is_quantised:
        return shlex.join(words)
    quantize = ["embeddings", "quantize", TUNED, "-o", f"{TUNED}.ftz", "--cutoff", str(tuning.best.details["cutoff"])]
    quantize += ["--qnorm", *["--qout"] * (tuning.result.quantised_output is not None)]
    quantize += ["--seed", str(context.params["seed"])] * is_given("seed")
    return f"{shlex.join(words)} && {shlex.join(quantize)}"


command = PluginGroup("tune", "trainer", tune_command, help="Search for the settings of one of these trainers.")
