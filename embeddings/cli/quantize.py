"""`embeddings quantize`: small copies of models and classifiers."""

from pathlib import Path
from typing import Any

import click
import numpy as np

from embeddings.classifier.classifier import LabelPredictor
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import OUTPUT, THREADS, Output, from_signature, is_given, option, require, seed
from embeddings.cli.output import print_json
from embeddings.cli.progress_bar import Bar
from embeddings.cli.saving import check_not_input
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.models.loading import has_classifier, load_classifier, load_model_or_vectors
from embeddings.models.model import Model
from embeddings.models.model_files import check_target
from embeddings.settings import flag
from embeddings.support.files import check_file
from embeddings.support.local_paths import local_path
from embeddings.support.system import size_on_disk

OF_CLASSIFIERS = ("retrain", "epochs", "learning_rate", "qnorm", "qout", "threads")


@command_by_example(
    "quantize model -o small --cutoff 100000",
    params=[
        click.Argument(["model"]),
        option("-o --out", "Output: a folder, or the file of a classifier, usually .ftz.", "PATH", required=True),
        *from_signature(LabelPredictor.quantize, cutoff="N"),
        *from_signature(Model.quantize, storage=None),
        option(
            "--retrain", "Train the rows that --cutoff keeps on these labelled texts, usually the training texts.",
            "FILE",
        ),
        option("--epochs", "Passes over the texts of --retrain.  [default: 5]", 1),
        option("--learning-rate", "Learning rate of --retrain.  [default: 0.05]", type=click.FloatRange(0, 100, True)),
        *from_signature(LabelPredictor.quantize, dsub=None, qnorm=None, qout=None),
        *from_signature(Corpus, encoding_errors=None),
        seed("Random seed of k-means and --retrain."),
        THREADS,
        *OUTPUT,
    ],
)  # fmt: skip
def command(
    *, model: str, out: str, retrain: str | None, encoding_errors: Any, threads: int | None, output: Output,
    **settings: Any,
) -> None:  # fmt: skip
    """Write a small copy of MODEL: a saved model, word vectors in any format, or a classifier.

    Each part of a vector of a word or n-gram is replaced by a code of one byte. With --cutoff 100000, a fastText model
    of a gigabyte takes some ten megabytes and loses little accuracy. A small model has vectors of all words and
    composes those of unknown words, but is not trained further. A small classifier is a file that fastText reads too;
    compare it with MODEL by `embeddings evaluate MODEL OUT --labels FILE`.
    """
    # kinds of models have different options, so the model is looked at before they are checked
    is_classifier = has_classifier(model)
    for name in filter(is_given, ("storage",) if is_classifier else OF_CLASSIFIERS):
        kind = "is a classifier" if is_classifier else "is not a classifier"
        raise click.UsageError(f"{flag(name)} does not apply to {model}, which {kind}")
    storage = settings.pop("storage")
    inputs = [(name, Path(path)) for name, path in (("MODEL", model), ("--retrain", retrain)) if path]
    check_not_input([Path(out)], inputs)
    if is_classifier:
        check_file(out, force=output.force)
    else:
        check_target(out, force=output.force)
    changes = {name: value for name, value in settings.items() if value is not None}
    require("epochs", "retrain")
    require("learning_rate", "retrain")
    require("retrain", "cutoff")
    with Bar(output.quiet) as bar:
        if is_classifier:
            classifier = load_classifier(model, errors=encoding_errors)
            run: dict[str, Any] = {name: changes.pop(name) for name in ("epochs", "learning_rate") if name in changes}
            if retrain is not None:
                from embeddings.plugins.classifier import text_classification  # imports numba

                corpus = text_classification.labelled_corpus(classifier, retrain, encoding_errors)
                run |= {"cutoff": changes.pop("cutoff"), "seed": settings["seed"], "threads": threads}
                with Bar(output.quiet) as training:
                    classifier = text_classification.retrain(classifier, corpus, **run, progress=training)
            classifier.quantize(**changes).export(out, force=output.force)
        else:
            changes = {name: value for name, value in changes.items() if name in ("cutoff", "dsub", "seed")}
            whole_model(model, encoding_errors).quantize(storage=storage, **changes).save(out, force=output.force)
        sizes = [size_on_disk(local_path(path)) for path in (model, out)]
        before, after = (f"{size / 1e6:,.1f} MB" if size >= 1e6 else f"{size / 1e3:,.1f} kB" for size in sizes)
        bar.notice(f"saved {out}: {after} instead of {before}")
    if output.as_json:
        print_json({"file": out, "bytes_before": sizes[0], "bytes": sizes[1]})


def whole_model(path: str, errors: str) -> Model:
    """A saved model, or a model without a trainer of vectors in another format."""
    source = load_model_or_vectors(path, errors=errors)
    if isinstance(source, Model):
        return source
    if source.compose is not None:
        raise click.UsageError(f"{path} has vectors of n-grams, but is not a whole model: export it as one")
    vocabulary = Vocabulary(source.words, np.zeros(len(source), np.int64))
    return Model("vectors", vectors=source, vocabulary=vocabulary)
