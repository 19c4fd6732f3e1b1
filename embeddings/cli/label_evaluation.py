"""`embeddings evaluate --labels`: scores of classifiers on labelled texts."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Any

import click

from embeddings.cli import corpus_options
from embeddings.cli.command_help import grouped
from embeddings.cli.error_messages import typed_name
from embeddings.cli.options import THREADS, from_signature, is_given, option
from embeddings.cli.output import note, print_json, print_rows, quantity
from embeddings.cli.progress_bar import ByteBar
from embeddings.cli.vector_input import parse_runs
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.eval.evaluation import evaluate_classifier
from embeddings.eval.statistics.results import RUNS, Comparisons, ItemScores, result_cells
from embeddings.eval.statistics.run_scores import compare_settings, group_runs
from embeddings.eval.tasks.label_scores import CONFUSION, LabelMetric, LabelScores, share
from embeddings.eval.test_sets import ALL
from embeddings.models.loading import load_classifier

SECTION = ("labels", "k", "threshold", "metrics", "label_prefix", "label_separator", "encoding", "threads")
SHARED = ("text_column", "label_column", "half")  # with test sets of vectors
ALLOWED = (*SECTION, *SHARED, "vectors", "sections", "as_json", "errors")
N_CONFUSIONS = 10  # rows of the table


def options() -> list[click.Option]:
    """The options of classifiers that `evaluate` and `compare` share."""
    labels = [
        option(
            "--labels",
            "Score classifiers on labelled texts: lines with labels as for fastText, or a table.",
            "FILE",
            multiple=True,
        ),
        *from_signature(evaluate_classifier, k="--top k", threshold=None),
        *(one for one in from_signature(LabelFormat, **corpus_options.LABELS) if one.name not in SHARED),
        *corpus_options.options(("encoding",)),
        THREADS,
    ]
    return grouped("labels", labels, ["labels"])


def classifier_arguments(options: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of `evaluate_classifiers`, None without --labels; refuses options that do not go together."""
    names = [name for name in click.get_current_context().params if is_given(name)]
    known = {option.name: option for option in click.get_current_context().command.params}
    if "labels" not in names:
        others = [name for name in names if name in SECTION]
        if others:
            raise click.UsageError(f"{typed_name(known[others[0]])} requires --labels")
        return None
    others = [name for name in names if name not in ALLOWED]
    if others:
        raise click.UsageError(f"--labels cannot be combined with {typed_name(known[others[0]])}")
    return {name: options[name] for name in (*SECTION, *SHARED) if name in options}


def evaluate_classifiers(
    models: Sequence[str], labels: Sequence[str], *, sections: bool, as_json: bool, errors: str, **settings: Any
) -> None:
    """Print the scores of each model on each file."""
    for metric in settings["metrics"]:  # refused before anything is read
        LabelMetric.parse(metric, settings["label_prefix"])
    entries: list[dict[str, Any]] = []
    with ByteBar(False, "predicting") as bar:
        rows = score_rows(models, labels, bar, sections=sections, entries=entries, errors=errors, **settings)
        if not as_json:
            print_rows(rows)
            return
        try:
            for _ in rows:
                pass
        finally:
            if entries:
                print_json(entries)


def compare_classifiers(models: Sequence[str], labels: Sequence[str], *, errors: str, **settings: Any) -> Comparisons:
    """Paired tests of each pair of models, or of groups of runs, on each file."""
    by_model: list[list[ItemScores]] = []
    with ByteBar(False, "predicting") as bar:
        for model in models:
            scored = label_scores([model], labels, bar, errors=errors, **settings)
            by_model.append(
                [
                    one
                    for name, runs in scored
                    for one in group_runs(name, [list(run.overall(run.predictions)) for run in runs])
                ]
            )
    pairs = (zip(*pair, strict=True) for pair in combinations(by_model, 2))
    tests = (compare_settings(*sides) for pair in pairs for sides in pair)
    return Comparisons.corrected(test for test in tests if test is not None)


def label_scores(
    models: Sequence[str], labels: Sequence[str], bar: ByteBar, *, errors: str, half: str | None, **settings: Any
) -> Iterator[tuple[str, list[LabelScores]]]:
    """The name of each model or group, and the scores of its runs on each file."""
    for name, paths in map(parse_runs, models):
        classifiers = [load_classifier(path, errors=errors) for path in paths]
        common: dict[str, Any] = {"name": name, "progress": bar, "encoding_errors": errors, "half": half or ALL}
        for file in labels:
            yield name, [evaluate_classifier(classifier, file, **common, **settings) for classifier in classifiers]


def score_rows(
    models: Sequence[str], labels: Sequence[str], bar: ByteBar, *, sections: bool, entries: list[dict[str, Any]],
    errors: str, **settings: Any,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the rows of the table; append what --json prints to `entries`."""
    others = RUNS * any(len(parse_runs(model)[1]) > 1 for model in models)
    for name, runs in label_scores(models, labels, bar, errors=errors, **settings):
        scores = runs[0]
        if scores.predictions.unlabelled:
            note(f"{scores.set}: {quantity(scores.predictions.unlabelled, 'text')} without labels left out")
        groups = group_runs(name, [run.item_scores() for run in runs]) if len(runs) > 1 else []
        results = [one.result() for one in groups] or scores.results()
        entries += map(asdict, results)
        yield from (result_cells(result, others) for result in results if sections or not result.is_detail)
        if not groups:
            counts = [confusion._asdict() for confusion in scores.confusion_matrix]  # without zeros
            matrix = {"set": scores.set, "vectors": scores.classifier, "measure": "confusion matrix", "counts": counts}
            entries.append(matrix)
            _, actual, _ = scores.label_counts(scores.predictions)
            texts = dict(zip(scores.predictions.names, actual.tolist(), strict=True))
            for label, predicted, count in scores.confusions[:N_CONFUSIONS]:
                section = f"{label} -> {'no label' if predicted is None else predicted}"
                share_of_texts = scores.result(CONFUSION, section, *share(count, texts[label]), texts=texts[label])
                yield result_cells(share_of_texts) | dict.fromkeys(others)
