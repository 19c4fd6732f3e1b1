"""`embeddings stability`: train a model again to measure how it varies."""

from pathlib import Path
from time import perf_counter
from typing import Any

import click

from embeddings.analysis import stability_runs
from embeddings.cli import corpus_options
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import OUT_FOLDER, OUTPUT, THREADS, Output, from_signature, seed
from embeddings.cli.output import note, print_json, quantity
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_outside_corpus, save
from embeddings.cli.signals import EXIT_INTERRUPT
from embeddings.corpora import Corpus
from embeddings.models.loading import load_model
from embeddings.models.text_settings import corpus_settings
from embeddings.training.run import NOTES


@command_by_example(
    "stability model corpus.txt -o model.stability",
    params=[
        click.Argument(["model"]),
        click.Argument(["corpus"], nargs=-1, required=True),
        OUT_FOLDER,
        *from_signature(stability_runs.stability, resamples=None, seeds=None, resample_by=None),
        seed("Random seed of the first training; the next one has the next seed."),
        THREADS,
        *corpus_options.options(corpus_options.INPUT),
        *OUTPUT,
    ],
)
def command(
    *, model: str, corpus: tuple[str, ...], out: str, resamples: int, seeds: int, resample_by: Any, seed: int,
    threads: int | None, output: Output, **columns: Any,
) -> None:  # fmt: skip
    """Measure how stable MODEL is: train it again on resamples of its CORPUS and with new seeds.

    `embeddings neighbours --confidence` shows the result.

    Each resample draws as many documents as CORPUS has, with replacement. After Ctrl-C the finished trainings are
    saved.
    """
    stability_runs.check_numbers(resamples, seeds)
    stability_runs.REPLICATES_FOLDER.check_target(out, force=output.force)
    source = load_model(model)
    stability_runs.word_trainer(source)
    for what in source.record.get(NOTES, []):
        note(f"unlike the model, the trainings start from random values: {what}")
    text = Corpus(*corpus, **{**columns, **corpus_options.recorded_reading(source), **corpus_settings(source)})
    check_outside_corpus(out, text)
    with Bar(output.quiet) as reading:
        encoded = text.encode(progress=reading, threads=threads)
    if encoded.fingerprint != source.record.get("corpus", encoded.fingerprint):
        note("the model was trained on another text or with other settings; the results are those of this text")
    with Bar(output.quiet, "training") as bar:
        bar.notice(f"{quantity(resamples + seeds, 'training')} of about the time that the model took")
        start = perf_counter()
        result = stability_runs.stability(
            source, text, resamples=resamples, seeds=seeds, resample_by=resample_by, seed=seed, threads=threads,
            progress=bar,
        )  # fmt: skip
    save(lambda path, replicates, force: replicates.save(path, force=force), result, out, output.force)
    numbers = {"resamples": len(result.resamples), "seeds": len(result.seeds)}
    bar.notice(f"saved {numbers['resamples']} resamples and {numbers['seeds']} seeds to {out}")
    if output.as_json:
        seconds = round(perf_counter() - start, 3)
        print_json({"out": str(Path(out)), **numbers, "seconds": seconds, "interrupted": result.is_interrupted})
    if result.is_interrupted:
        click.get_current_context().exit(EXIT_INTERRUPT)
