"""`embeddings benchmark`: compare trainers with gensim and fastText."""

import dataclasses
from pathlib import Path
from typing import Any

import click

from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example, grouped
from embeddings.cli.options import OUTPUT, exclude, from_settings, is_given, option
from embeddings.cli.output import note, print_json, print_lines
from embeddings.cli.progress_bar import ReadingBar
from embeddings.cli.signals import EXIT_INTERRUPT
from embeddings.setting_names import WORD_SETTINGS
from embeddings.settings import ContextWindow, Dimension, NegativeSampling, Schedule, VocabularyChoice, flag

TEST_SETS = {  # additional ones, besides the default sets of `evaluate`; help of their options
    "similarity": "Additional similarity set, as in `evaluate`.",
    "analogy": "Additional analogies, as in `evaluate`.",
    "tagging": "Part-of-speech tagging, as in `evaluate`.",
}


def repeatable(settings: type, name: str) -> click.Option:
    """A repeatable option made from a setting; the benchmark runs every value."""
    (one,) = from_settings(settings, [name])
    return option(flag(name), str(one.help), multiple=True, default=[one.default], type=one.type)


@command_by_example(
    "benchmark corpus.txt --trainer skipgram --peer gensim",
    params=[
        click.Argument(["corpus"], nargs=-1, required=True),
        option("-o --out", "Output folder.", "FOLDER", default="benchmark"),
        option(
            "--trainer",
            "A trainer, optionally with settings, such as paragraph-dm:combine=concat,learning_rate=0.025.",
            multiple=True,
            default=["skipgram", "cbow"],
        ),
        option(
            "--peer",
            "Compare with gensim, fasttext, a program that a .toml file describes, or none; append settings for this "
            "tool after a colon, as in gensim:learning_rate=0.05.  [default: all that are installed and support the "
            "model]",
            multiple=True,
        ),
        repeatable(Dimension, "dim"),
        repeatable(NegativeSampling, "negatives"),
        *from_settings(ContextWindow, ["window"]),
        *from_settings(VocabularyChoice, ["subsample", "min_count"]),
        *from_settings(Schedule, ["epochs"]),
        option("--threads", "Number of threads of each tool.  [default: all cores]", (1, 1024), multiple=True),
        option("--seeds", "Runs per tool, one random seed each.", 1, default=3),
        *corpus_options.options(WORD_SETTINGS),
        option("--text-column", "Text column of a table.", "NAME"),
        option(
            "--label-column",
            "Column of document labels, for document models. CORPUS is then TRAIN, TEST and any unlabelled files; "
            "models train on all files, a classifier is fitted to TRAIN and scored on TEST.",
            "NAME",
        ),
        *grouped(
            "tests", (option(f"--{kind}", help, "NAME|FILE", multiple=True) for kind, help in TEST_SETS.items()), ()
        ),
        option("--keep", "Keep the vectors of all runs as OUT/vectors/*.bin.", bool),
        option("--resume", "Keep results in OUT and run only what is missing or failed.", bool),
        *OUTPUT,
    ],
)
def command(
    *, corpus: tuple[str, ...], out: str, trainer: tuple[str, ...], peer: tuple[str, ...], seeds: int,
    text_column: str | None, label_column: str | None, keep: bool, as_json: bool, force: bool, resume: bool,
    quiet: bool, **options: Any,
) -> None:  # fmt: skip
    """Train the same models on CORPUS with this package, gensim and fastText, and compare them.

    For each model, dim and number of negatives, the tools run in turn in fresh processes with the same settings. The
    output folder contains results.csv (all runs), results.md (the printed table), results.png and machine.json.
    """
    from embeddings.corpora import Corpus
    from embeddings.eval.benchmark.runner import Benchmark, BenchmarkError, Interrupted, summaries
    from embeddings.eval.benchmark.tools import model_configs, select_tools

    exclude("resume", "force")
    additional, tokenization = ({name: options.pop(name) for name in names} for names in (TEST_SETS, WORD_SETTINGS))
    models = model_configs(trainer, **options)
    for name in ("dim", "negatives", "window", "subsample", "min_count", "epochs"):
        if is_given(name) and not any(name in model.settings for model in models):
            raise click.UsageError(f"{flag(name)} is not a setting of {' or '.join(trainer)}")
    tools = select_tools(peer, models)
    of_documents = models[0].has_documents
    if of_documents and any(additional.values()):
        raise click.UsageError("test sets are for word models; use --label-column for document models")
    if label_column and not of_documents:
        raise click.UsageError("--label-column is for document models; use test sets for word models")
    tests = document_test_options(corpus, text_column, label_column) if of_documents else word_test_options(additional)
    with ReadingBar(quiet) as reading:
        arguments: dict[str, Any] = {"repeats": seeds, "force": force, "resume": resume, "keep": keep, "tests": tests}
        benchmark = Benchmark(models, tools, Path(out), **arguments, report=reading.report)
        benchmark.prepare_folder()
        column = text_column or ("text" if label_column else None)
        encoded = Corpus(*corpus, text_column=column, **tokenization).encode(progress=reading)
    reading.summarize(encoded)
    try:
        rows = benchmark.run(encoded)
    except Interrupted as interrupt:
        saved = f"; saved to {benchmark.folder / 'results.csv'}, continue with --resume" if interrupt.finished else ""
        note(f"interrupted after {interrupt.finished} runs{saved}")
        raise click.exceptions.Exit(EXIT_INTERRUPT) from None
    results = summaries(rows)
    if as_json:
        print_json([dataclasses.asdict(summary) for summary in results])
    else:
        print_lines((benchmark.folder / "results.md").read_text(encoding="utf-8"))
    reading.report(f"saved results to {benchmark.folder}")
    failed = [f"{one.tool} with {one.settings['trainer']} failed: {one.error}" for one in results if not one.runs]
    if failed:
        raise BenchmarkError(f"all runs of {'; all runs of '.join(failed)}")


def word_test_options(additional: dict[str, Any]) -> list[str]:
    """The options of `embeddings evaluate` for word vectors: the sets that are always used, and additional ones."""
    from embeddings.cli.evaluation_options import DEFAULTS, installed_sets
    from embeddings.eval.evaluation import Suite

    if any(additional.values()):
        Suite.read(**additional)  # reports missing and damaged sets
    names = {kind: (*installed_sets(DEFAULTS.get(kind, ())), *additional[kind]) for kind in TEST_SETS}
    sets = [(kind, name) for kind in TEST_SETS for name in names[kind]]
    return [word for kind, name in sets for word in (f"--{kind}", name)]


def document_test_options(
    corpus: tuple[str, ...], text_column: str | None, label_column: str | None
) -> list[str] | None:
    """The options of `embeddings evaluate` for trained document vectors; None without labels."""
    from embeddings.eval.evaluation import Suite

    if label_column is None:
        return None
    if len(corpus) < 2:
        raise click.UsageError("--label-column requires at least two files, TRAIN and TEST")
    files = ",".join(corpus[:2])
    columns: dict[str, Any] = {"text_column": text_column or "text", "label_column": label_column}
    Suite.read(documents=files, use_trained_vectors=True, **columns)
    options = [word for name, value in columns.items() for word in (flag(name), value)]
    return ["--documents", files, "--use-trained-vectors", *options]
