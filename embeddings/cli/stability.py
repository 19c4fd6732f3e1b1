"""`embeddings stability`: train a model again on resamples of its corpus."""

from pathlib import Path
from time import perf_counter
from typing import Any

import click

from embeddings.analysis.replicates import (
    DEFAULT_RESAMPLES,
    DEFAULT_SEEDS,
    MIN_REPLICATES,
    check_target,
    stability,
    word_trainer,
)
from embeddings.cli import corpus_options
from embeddings.cli.options import OUTPUT, THREADS, option, seed
from embeddings.cli.output import note, print_json, quantity
from embeddings.cli.output_paths import check_outside_corpus
from embeddings.cli.progress_bar import Bar, ReadingBar
from embeddings.cli.saving import save
from embeddings.cli.signals import EXIT_INTERRUPT
from embeddings.corpora import Corpus
from embeddings.models.loading import load_model
from embeddings.models.text_settings import corpus_settings


@click.command(
    "stability",
    params=[
        click.Argument(["model"]),
        click.Argument(["corpus"], nargs=-1, required=True),
        option("-o --out", "Output folder.", "FOLDER", required=True),
        option(
            "--resamples", "Number of trainings on resamples of the text.", MIN_REPLICATES, default=DEFAULT_RESAMPLES
        ),
        option(
            "--seeds", "Number of trainings on the whole text with other seeds; 0 for none.", 0, default=DEFAULT_SEEDS
        ),
        option(
            "--resample-by",
            "What is drawn from the text. Lines of one text are alike, so that lines give narrower intervals.",
            ["documents", "lines"],
            default="documents",
        ),
        seed("Random seed of the first training; the next one has the next seed."),
        THREADS,
        *corpus_options.input_options(),
        *OUTPUT,
    ],
)
def command(
    *, model: str, corpus: tuple[str, ...], out: str, resamples: int, seeds: int, resample_by: Any, seed: int,
    threads: int | None, force: bool, as_json: bool, quiet: bool, **columns: Any,
) -> None:  # fmt: skip
    """Train MODEL again, on resamples of its CORPUS and with other seeds, for `embeddings neighbours --confidence`.

    Each resample draws as many documents as CORPUS has, with replacement. After Ctrl-C the finished trainings are
    saved.
    """
    check_target(out, force=force)
    source = load_model(model)
    word_trainer(source)
    text = Corpus(*corpus, **corpus_settings(source), **columns)
    check_outside_corpus(out, text)
    with ReadingBar(quiet) as reading:
        encoded = text.encode(report=reading, threads=threads)
    if encoded.fingerprint != source.record.get("corpus", encoded.fingerprint):
        note("the model was trained on another text or with other settings: this measures trainings on this text")
    with Bar(quiet, "training") as bar:
        seconds, total = source.record.get("seconds"), resamples + seeds
        if isinstance(seconds, int | float):
            bar.report(f"{quantity(total, 'training')} of about {seconds:.1f} s, as recorded in the model")
        start = perf_counter()
        result = stability(
            source, text, resamples=resamples, seeds=seeds, resample_by=resample_by, seed=seed, threads=threads,
            report=lambda done, total: bar.update(done, total, f"{done} of {quantity(total, 'training')}"),
        )  # fmt: skip
    save(lambda path, replicates, force: replicates.save(path, force=force), result, out, force)
    numbers = {"resamples": len(result.resamples), "seeds": len(result.seeds)}
    bar.report(f"saved {numbers['resamples']} resamples and {numbers['seeds']} seeds to {out}")
    if as_json:
        seconds = round(perf_counter() - start, 3)
        print_json({"out": str(Path(out)), **numbers, "seconds": seconds, "interrupted": result.is_interrupted})
    if result.is_interrupted:
        raise click.exceptions.Exit(EXIT_INTERRUPT)
