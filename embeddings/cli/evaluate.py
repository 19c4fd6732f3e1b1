"""`embeddings evaluate`: score vectors on test sets, classifiers on texts."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from itertools import combinations
from typing import Any, cast

import click

from embeddings.cli import corpus_options, evaluation_options
from embeddings.cli.command_help import command_by_example, grouped
from embeddings.cli.error_messages import typed_name
from embeddings.cli.options import FORCE, JSON, THREADS, exclude, from_signature, is_given, option, require
from embeddings.cli.output import note, print_json, print_rows, quantity
from embeddings.cli.progress_bar import ByteBar
from embeddings.cli.vector_input import check_paths, parse_runs
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.eval import Suite
from embeddings.eval.evaluation import evaluate_classifier, load_evaluable
from embeddings.eval.statistics.results import RUNS, Comparisons, ItemScores, result_cells
from embeddings.eval.statistics.run_scores import compare_settings, group_runs
from embeddings.eval.tasks.evaluation_kind import Evaluable
from embeddings.eval.tasks.label_scores import CONFUSION, LabelMetric, LabelScores, share
from embeddings.eval.test_sets import ALL
from embeddings.models.loading import has_classifier, load_classifier, load_concatenated
from embeddings.models.model import Model
from embeddings.support.files import check_file
from embeddings.support.logs import mask
from embeddings.support.remote.address import without_credentials
from embeddings.text_search.index_folder import is_text_index
from embeddings.vectors.vectors import Vectors, as_vectors

LABEL_SECTION = ("labels", "k", "threshold", "metrics", "label_prefix", "label_separator", "encoding", "threads")
SHARED_OPTIONS = ("text_column", "label_column", "half")  # with test sets of vectors
LABEL_ALLOWED = (*LABEL_SECTION, *SHARED_OPTIONS, "vectors", "sections", "as_json", "errors")
N_CONFUSIONS = 10  # rows of the table


def label_options() -> list[click.Option]:
    """The options of classifiers that `evaluate` and `compare` share."""
    help = "Score classifiers on labelled texts: lines with labels as for fastText, or a table."
    labels = [
        option("--labels", help, "FILE", multiple=True),
        *from_signature(evaluate_classifier, k="--top k", threshold=None),
        *(one for one in from_signature(LabelFormat, **corpus_options.LABELS) if one.name not in SHARED_OPTIONS),
        *corpus_options.options(("encoding",)),
        THREADS,
    ]
    return grouped("labels", labels, ["labels"])


def classifier_arguments(options: dict[str, Any]) -> dict[str, Any] | None:
    """The arguments of `evaluate_classifiers`, None without --labels; refuses options that do not go together."""
    names = [name for name in click.get_current_context().params if is_given(name)]
    known = {option.name: option for option in click.get_current_context().command.params}
    if "labels" not in names:
        others = [name for name in names if name in LABEL_SECTION]
        if others:
            raise click.UsageError(f"{typed_name(known[others[0]])} requires --labels")
        return None
    others = [name for name in names if name not in LABEL_ALLOWED]
    if others:
        raise click.UsageError(f"--labels cannot be combined with {typed_name(known[others[0]])}")
    return {name: options[name] for name in (*LABEL_SECTION, *SHARED_OPTIONS) if name in options}


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
            by_model.append([])
            for name, runs in label_scores([model], labels, bar, errors=errors, **settings):
                by_model[-1] += group_runs(name, [list(run.overall(run.predictions)) for run in runs])
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


@command_by_example(
    "evaluate model --similarity wordsim353",
    params=[
        click.Argument(["vectors"], nargs=-1, required=True),
        *evaluation_options.options(),
        *label_options(),
        *from_signature(evaluate_classifier, metrics="--metric metrics METRIC..."),
        JSON,
        option("--report", "Also write an HTML page: tables, plots, paired tests, neighbours, maps.", "FILE"),
        FORCE,
    ],
)
def command(
    vectors: tuple[str, ...], sections: bool, concat_with: tuple[str, ...], report: str | None,
    force: bool, as_json: bool, allow_faiss: bool, allow_pickle: bool, errors: str,
    **options: Any,
) -> None:  # fmt: skip
    """Score one or more VECTORS on test sets, or classifiers on labelled texts.

    The default sets are wordsim353, simlex999 (if gensim is installed) and google-analogies. `covered` of `total` items
    have vectors; analogies are answered among all words and among the 30,000 most frequent. `low` to `high` is a 95 %
    confidence interval: bootstrap, or Wilson's for proportions. With --json, `protocol` says how unknown words, ties
    and duplicates are treated.

    A group of models (`embeddings train --runs`) or NAME=PATH,PATH are runs of one setting: `value` is their mean, `sd`
    the standard deviation over runs, and the interval counts both test items and runs.

    --pairs, --retrieval, --clustering and --probe score vectors of texts, pooled from those of words as `embeddings
    embed` does; a probe is logistic regression, reported with the score of the most frequent label.

    With --labels, VECTORS are classifiers: precision, recall and F1 of the K most probable labels, calibration error,
    and the most frequent confusions of labels; --json has the confusion matrix. `covered` texts have a known word. The
    method `the most frequent labels` is the score of predicting these for every text.
    """
    if (of_labels := classifier_arguments(options)) is not None:
        evaluate_classifiers(vectors, sections=sections, as_json=as_json, errors=errors, **of_labels)
        return
    exclude("report", "concat_with", why=": it requires word vectors")
    require("force", "report")
    if report is not None:
        check_file(report, force=force)
    defaults = evaluation_options.DEFAULTS if report is None else evaluation_options.REPORT_DEFAULTS
    evaluation = Evaluation.read(
        vectors, options, defaults, concat_with, report is not None, allow_faiss=allow_faiss, allow_pickle=allow_pickle,
        errors=errors,
    )  # fmt: skip
    suite, runs = evaluation.suite, evaluation.runs
    results = (scores.result() for scores in evaluation.scores())
    if as_json:
        print_rows(map(asdict, results), as_json=True)
    else:
        others = ["composed"] * suite.settings.compose + [*RUNS] * any(len(paths) > 1 for _, paths in runs)
        print_rows(result_cells(result, others) for result in results if sections or not result.is_detail)
    if report is not None:
        from embeddings.eval.report import EvaluatedVectors, write_report

        line = shlex.join(["embeddings", *(mask(without_credentials(word)) for word in sys.argv[1:])])
        sources = cast(list[Model | Vectors], evaluation.vectors)
        names = [name for name, _ in runs]
        if groups := [name for name, paths in runs if len(paths) > 1]:
            note(f"the report lists the vectors of the first run of {', '.join(groups)}")
        evaluations = [EvaluatedVectors.of(*one) for one in zip(names, sources, evaluation.by_vectors, strict=True)]
        write_report(report, suite, evaluations, command=line, force=force)


@dataclass
class Evaluation:
    """Evaluates vectors, or runs of one setting, in turn; collects the scores.

    With `keep_vectors` it collects the vectors too, of a setting those of its first run.
    """

    suite: Suite
    runs: Sequence[tuple[str, Sequence[str]]]  # the name and the paths of each
    load: Callable[[str], Evaluable]
    keep_vectors: bool = False
    vectors: list[Evaluable] = field(default_factory=list)
    by_vectors: list[list[ItemScores]] = field(default_factory=list)

    @classmethod
    def read(
        cls, vectors: Sequence[str], options: dict[str, Any], defaults: dict[str, Any], concat_with: Sequence[str],
        keep_vectors: bool = False, **read_options: Any,
    ) -> "Evaluation":  # fmt: skip
        """Read the test sets, and check the paths of all vectors; with `unknown`, unknown words get a vector."""
        options = {name: value for name, value in options.items() if name not in LABEL_SECTION}
        settings = evaluation_options.suite_settings(options, defaults)
        suite = Suite.read(**settings, encoding_errors=read_options["errors"])
        runs = list(map(parse_runs, vectors))
        check_paths((*(path for _, paths in runs for path in paths), *concat_with))
        for path in (path for _, paths in runs for path in paths):
            if not is_text_index(path) and has_classifier(path):
                note(f"{path} is a classifier, whose word vectors predict labels; --labels evaluates its predictions")
        exclude("unknown", "concat_with", why=": it requires word vectors")

        def load(path: str) -> Evaluable:
            if concat_with:
                return load_concatenated([path, *concat_with])
            source = load_evaluable(path, **read_options)
            if options["unknown"] is not None:
                words = as_vectors(source)
                words.compose = words.with_unknown_rows().compose
            return source

        return cls(suite, runs, load, keep_vectors)

    def scores(self) -> Iterator[ItemScores]:
        """The scores on every set, as soon as they are known."""
        notes = set()
        for name, paths in self.runs:
            vectors = [self.load(path) for path in paths]
            self.by_vectors.append([])
            for scores in self.suite.iter_scores(vectors if len(paths) > 1 else vectors[0], name):
                self.by_vectors[-1].append(scores)
                message = f"{scores.vectors}, {scores.key.set}: {scores.note}"
                if scores.note is not None and message not in notes:
                    notes.add(message)
                    note(message)
                yield scores
            self.vectors += vectors[:1] if self.keep_vectors else []
