"""`embeddings compare`: test score differences between vectors."""

from collections import deque
from typing import Any

import click

from embeddings.cli import evaluation_options
from embeddings.cli.command_help import command_by_example
from embeddings.cli.evaluate import Evaluation
from embeddings.cli.options import DRAWING, JSON, Drawing, exclude, require
from embeddings.cli.output import note, print_rows
from embeddings.eval.evaluation import compare_scores


@command_by_example(
    "compare model-a model-b --similarity wordsim353",
    params=[
        click.Argument(["vectors"], nargs=-1, required=True),
        *(one for one in evaluation_options.options() if one.name != "metrics"),
        *DRAWING,
        JSON,
    ],
)
def command(
    vectors: tuple[str, ...], sections: bool, drawing: Drawing, as_json: bool, allow_faiss: bool,
    reading: dict[str, Any], **options: Any,
) -> None:  # fmt: skip
    """Test whether the scores of VECTORS differ, pair by pair.

    Each pair is scored on the items that both cover: `items` is their number, `total` that of the set or its half.
    `low` to `high` is a 95 % confidence interval of the difference, `p` the p-value of the paired test, and `p_holm` is
    corrected for the number of tests. A group of models (`embeddings train --runs`) or NAME=PATH,PATH are runs of one
    setting: values are means, and interval and test count both test items and runs.

    With --labels, VECTORS are classifiers, which are scored on the same labelled texts.
    """
    if len(vectors) < 2 and len(set(options["ranking"])) < 2:
        raise click.UsageError("compare requires at least two VECTORS, or two --ranking")
    require("force", "plot")
    exclude("labels", "sections", "unknown")
    defaults = evaluation_options.DEFAULTS
    evaluation = Evaluation.read(vectors, options, defaults, allow_faiss=allow_faiss, **reading)
    finished = False
    try:
        deque(evaluation.scores(), maxlen=0)
        finished = True
    finally:  # on an error, print the comparisons completed so far
        comparisons = compare_scores(evaluation.by_vectors)
        if comparisons or finished:
            print_rows(map(comparisons.shown, comparisons) if sections and not as_json else comparisons, as_json)
    if comparisons:
        drawing.draw({"": comparisons})
    sides = {side.partition(" (")[0] for one in comparisons for side in (one.first, one.second)}  # without the ranking
    if not comparisons:
        note("nothing to compare: no test set has items for which two of VECTORS have scores")
    elif missing := sorted({name for name, _ in evaluation.runs if name.partition(" (")[0] not in sides}):
        note(f"not compared, for lack of items with scores: {', '.join(missing)}")
