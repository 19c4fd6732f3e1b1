"""`embeddings quantize`: write a small copy of a classifier."""

from pathlib import Path
from typing import Any

import click

from embeddings.classifier.classifier import LabelPredictor
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import OUTPUT, THREADS, from_signature, option, require, seed
from embeddings.cli.output import print_json
from embeddings.cli.progress_bar import ByteBar, TrainingBar
from embeddings.cli.saving import check_not_input
from embeddings.corpora.corpus import Corpus
from embeddings.models.loading import load_classifier
from embeddings.support.files import check_file
from embeddings.support.local_paths import local_path
from embeddings.support.system import size_on_disk


@command_by_example(
    "quantize model -o model.ftz --cutoff 100000 --qnorm",
    params=[
        click.Argument(["model"]),
        option("-o --out", "Output file, usually with the extension .ftz.", "FILE", required=True),
        *from_signature(LabelPredictor.quantize, cutoff="N"),
        option(
            "--retrain", "Train the rows that --cutoff keeps on these labelled texts, usually the training texts.",
            "FILE",
        ),
        option("--epochs", "Passes over the texts of --retrain.  [default: 5]", 1),
        option("--learning-rate", "Learning rate of --retrain.  [default: 0.05]", type=click.FloatRange(0, 100, True)),
        *from_signature(LabelPredictor.quantize, dsub=None, qnorm=None, qout=None),
        option("--test", "Labelled texts on which to compare the models before and after.", "FILE"),
        *from_signature(Corpus, encoding_errors=None),
        seed("Random seed of k-means and --retrain."),
        THREADS,
        *OUTPUT,
    ],
)  # fmt: skip
def command(
    *, model: str, out: str, retrain: str | None, test: str | None, encoding_errors: Any, threads: int | None,
    force: bool, as_json: bool, quiet: bool, **settings: Any,
) -> None:  # fmt: skip
    """Write a small copy of MODEL, a classifier, which `embeddings predict` and fastText read.

    Each part of a row of a word or n-gram is replaced by a code of one byte, as by fastText's quantize. With --cutoff
    100000 --qnorm, a model of a gigabyte takes a few megabytes and loses little accuracy.
    """
    inputs = [(name, Path(path)) for name, path in (("MODEL", model), ("--retrain", retrain), ("--test", test)) if path]
    check_not_input([Path(out)], inputs)
    check_file(out, force=force)
    changes = {name: value for name, value in settings.items() if value is not None}
    require("epochs", "retrain")
    require("learning_rate", "retrain")
    require("retrain", "cutoff")
    result: dict[str, Any] = {"file": out}
    with ByteBar(quiet, "predicting") as bar:
        classifier = load_classifier(model, errors=encoding_errors)
        scores = [precision(classifier, test, encoding_errors, threads, bar)]
        if retrain is None:
            small = classifier.quantize(**changes)
        else:
            from embeddings.plugins.classifier.retraining import labelled_corpus, quantize

            texts = labelled_corpus(classifier, retrain, encoding_errors)
            with TrainingBar(quiet) as training:
                small = quantize(classifier, retrain=texts, threads=threads, progress=training, **changes)
        small.export(out, force=force)
        sizes = [size_on_disk(local_path(path)) for path in (model, out)]
        scores.append(precision(small, test, encoding_errors, threads, bar))
        for names, values in ((("bytes_before", "bytes"), sizes), (("precision_before", "precision"), scores)):
            result |= {name: value for name, value in zip(names, values, strict=True) if value is not None}
        before, after = (f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB" for size in sizes)
        bar.report(f"saved {out}: {after} instead of {before}")
        if test is not None:
            bar.report(f"precision of the most probable label on {test}: {scores[1]:.4f} instead of {scores[0]:.4f}")
    if as_json:
        print_json(result)


def precision(
    classifier: LabelPredictor, test: str | None, encoding_errors: Any, threads: int | None, bar: ByteBar
) -> float | None:
    """The share of labelled texts whose most probable label is right; None without texts."""
    if test is None:
        return None
    from embeddings.eval.evaluation import evaluate_classifier

    scores = evaluate_classifier(classifier, test, encoding_errors=encoding_errors, threads=threads, progress=bar)
    return next(iter(scores.overall(scores.predictions))).row.value
