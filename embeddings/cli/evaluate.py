"""`embeddings evaluate`: score vectors on test sets, classifiers on texts."""

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

import click

from embeddings.cli import evaluation_options
from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import FORCE, JSON, PLOT, Drawing, exclude, option, require
from embeddings.cli.output import note, print_rows
from embeddings.cli.vector_input import parse_runs
from embeddings.eval import Suite
from embeddings.eval.statistics.results import RUNS, ItemScores, Scores, result_cells
from embeddings.eval.tasks.evaluation_kind import Evaluable
from embeddings.models.loading import has_classifier
from embeddings.models.model import Model
from embeddings.support.files import check_file
from embeddings.support.logs import mask
from embeddings.support.remote.address import without_query
from embeddings.text_search.index_folder import is_text_index
from embeddings.vectors.vectors import Vectors, as_vectors


@command_by_example(
    "evaluate model --similarity wordsim353",
    params=[
        click.Argument(["vectors"], nargs=-1, required=True),
        *evaluation_options.options(),
        JSON,
        option("--report", "Also write an HTML page: results, paired tests, and how to repeat them.", "FILE"),
        PLOT,
        FORCE,
    ],
)
def command(
    vectors: tuple[str, ...], sections: bool, report: str | None, plot: str | None, force: bool, as_json: bool,
    allow_faiss: bool, reading: dict[str, Any], **options: Any,
) -> None:  # fmt: skip
    """Score one or more VECTORS on test sets, or classifiers on labelled texts.

    The default sets are wordsim353, simlex999 (if gensim is installed) and google-analogies. `covered` of `total` items
    have vectors; analogies are answered among all words and among the 30,000 most frequent. `low` to `high` is a 95 %
    confidence interval: bootstrap, or Wilson's for proportions. With --json, `protocol` says how unknown words, ties
    and duplicates are treated.

    A group of models (`embeddings train --runs`) or NAME=PATH,PATH are runs of one setting: `value` is their mean, `sd`
    the standard deviation over runs, and the interval counts both test items and runs.

    --pairs, --retrieval, --clustering and --documents score vectors of texts, pooled from those of words as `embeddings
    embed` does; labels of documents are predicted by logistic regression, beside the most frequent label.

    With --labels, VECTORS are classifiers: precision, recall and F1 of the K most probable labels, calibration error,
    and the most frequent confusions of labels. Where each text has one label, F1 equals precision and recall, which
    --sections and --json print too, with all labels and the whole confusion matrix. `covered` texts have a known word,
    which the end of a text is to most classifiers. The method `the most frequent labels` is the score of predicting
    these for every text.
    """
    exclude("labels", "report", "unknown")
    require("force", "report", "plot")
    drawing = Drawing(plot, force)
    if report is not None:
        check_file(report, force=force)
    defaults = evaluation_options.DEFAULTS if report is None else evaluation_options.REPORT_DEFAULTS
    evaluation = Evaluation.read(
        vectors, options, defaults, report is not None, allow_faiss=allow_faiss, **reading,
    )  # fmt: skip
    suite, runs = evaluation.suite, evaluation.runs
    shown = Scores()
    # rows are printed as they arrive, and drawn at the end
    results = (shown.append(one) or one for one in (scores.result() for scores in evaluation.scores()))  # type: ignore[func-returns-value]
    if as_json:
        print_rows(map(asdict, results), as_json=True)
    else:
        is_composed = any(getattr(task.settings, "compose", False) for task in suite.tasks)
        others = ["composed"] * is_composed + [*RUNS] * any(len(paths) > 1 for _, paths in runs)
        print_rows(result_cells(result, others) for result in results if sections or not result.is_detail)
        for sentence in shown.caveats:
            note(sentence)
    drawing.draw({"": shown})
    if report is not None:
        from embeddings.eval.report import write_report

        line = shlex.join(["embeddings", *(mask(without_query(word)) for word in sys.argv[1:])])
        sources = cast(list[Model | Vectors], evaluation.vectors)
        if groups := [name for name, paths in runs if len(paths) > 1]:
            note(f"the report lists the vectors of the first run of {', '.join(groups)}")
        write_report(report, suite, sources, evaluation.by_vectors, command=line, force=force)


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
        cls, vectors: Sequence[str], options: dict[str, Any], defaults: dict[str, Any],
        keep_vectors: bool = False, **read_options: Any,
    ) -> "Evaluation":  # fmt: skip
        """Read the test sets, and check the paths of all vectors; with `unknown`, unknown words get a vector."""
        settings = evaluation_options.suite_settings(options, defaults)
        suite = Suite.read(**settings, encoding_errors=read_options["errors"])
        # a misspelled path of the last vectors must not be found after hours of scoring the first
        runs = list(map(parse_runs, vectors))
        for path in (path for _, paths in runs for path in paths):
            if not is_text_index(path) and has_classifier(path) and not suite.of_classifiers:
                note(f"{path} is a classifier, whose word vectors predict labels; --labels evaluates its predictions")

        def load(path: str) -> Evaluable:
            source = suite.load(path, **read_options)
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
