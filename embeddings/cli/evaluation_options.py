"""Test sets as options, and results as rows, for the commands that evaluate."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from embeddings.cli.options import VECTOR_INPUT, dataset_option, option
from embeddings.cli.output import note
from embeddings.eval import Result
from embeddings.eval.suite import KINDS
from embeddings.eval.tasks.pooled_texts import POOLING
from embeddings.eval.test_sets import ALL, HALVES, is_installed
from embeddings.settings import flag
from embeddings.vectors.pooling import POOLS

COLUMNS = ("vectors", "set", "section", "words", "measure", "method", "value", "low", "high", "covered", "total")


def row(result: Result, with_composed: bool) -> dict[str, Any]:
    """A result as a row of the table."""
    values = {**asdict(result), **labels(result)}
    if result.reason is not None:
        values["value"] = f"none: {result.reason}"
    return {name: values[name] for name in (*COLUMNS, *["composed"] * with_composed)}


def labels(result: Any) -> dict[str, str]:
    """The set with its half, the section and the vocabulary limit of a result or comparison, as shown in tables."""
    name = result.set if result.half == ALL else f"{result.set} ({result.half})"
    words = f"first {result.restrict}" if result.restrict else "all"
    return {"set": name, "section": result.section or "all", "words": words}


DEFAULTS: dict[str, Any] = {"similarity": ("wordsim353", "simlex999"), "analogy": ("google-analogies",)}
REPORT_DEFAULTS: dict[str, Any] = DEFAULTS | {"categories": ("google-categories",), "stats": True}
ALL_WORDS = "all"
METHODS = ["3cosadd", "3cosmul", "pairdirection"]
SETTINGS = {name: kind.settings for name, kind in KINDS.items()}
SETTINGS["similarity"] = (*SETTINGS["similarity"], "unknown")
REQUIRES = {  # of every setting, the test sets of which one must be requested
    name: tuple(test_set for test_set, others in SETTINGS.items() if name in others)
    for names in SETTINGS.values()
    for name in names
}
SECTIONS = {
    "Test sets": tuple(KINDS),
    "Settings of tests": ("half", "compose", "unknown", "method", "restrict", "window"),
    "Documents and texts": (*SETTINGS["documents"], "concat_with"),
    "Pairs and retrieval": ("left_column", "right_column", "rating_column", "index"),
    "Vectors of texts, for pairs, retrieval, clustering and probe": POOLING,
}


class WordLimit(click.ParamType):  # type: ignore[type-arg]  # generic in some versions of click
    """An integer of at least 1, or `all`."""

    name = "words"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The integer, or `all`."""
        return ALL_WORDS if value == ALL_WORDS else click.IntRange(min=1).convert(value, param, ctx)


def options() -> list[click.Parameter]:
    """The options that `evaluate` and `compare` share."""
    return [
        *test_sets(),
        *test_settings(),
        *pooling_options(),
        option("--concat-with", "Concatenate document vectors with those of this model.", "MODEL", multiple=True),
        option("--sections", "Also print scores by section: analogy type, tag, category, label.", bool),
        *VECTOR_INPUT,
    ]


def test_sets() -> list[click.Parameter]:
    """The options that name test sets."""
    return [
        dataset_option("--similarity", "Similarity: wordsim353, simlex999 or a file of word pairs with ratings."),
        dataset_option(
            "--analogy", "Analogies: google-analogies, google-phrases or a file in Google, MSR or BATS format."
        ),
        dataset_option("--phrases", "Phrase ratings, or the held-out phrases of a model.", "FILE|held-out"),
        dataset_option("--categories", "Word categories: google-categories or a file."),
        dataset_option("--tagging", "Tagging: ud-ewt, a treebank, or two CoNLL-U files.", "NAME|FOLDER|TRAIN,TEST"),
        dataset_option("--documents", "Document classification: labelled tables.", "FILE|TRAIN,TEST"),
        option(
            "--perplexity",
            "Held-out loss and perplexity of a text, for models of objectives with probabilities.",
            "TEXT",
            multiple=True,
        ),
        dataset_option("--pairs", "Similarity of texts: pairs with ratings.", "FILE"),
        option(
            "--retrieval",
            "Retrieval in the layout of BEIR: queries, documents, relevance.",
            nargs=3,
            multiple=True,
            metavar="QUERIES CORPUS QRELS",
        ),
        dataset_option("--clustering", "Clustering of texts: a labelled table.", "FILE"),
        dataset_option("--probe", "Classification of texts: labelled tables.", "FILE|TRAIN,TEST"),
        option("--stats", "Statistics: norms, isotropy, hubs among nearest neighbours.", bool),
    ]


def test_settings() -> list[click.Parameter]:
    """The options of how test sets are read and scored."""
    return [
        option("--compose", "Also score similarity with vectors composed for unknown words (fastText models).", bool),
        option(
            "--unknown",
            "Also score similarity with the vectors learned for unknown words (`embeddings train --unknown-rows`).",
            ["learned"],
        ),
        option("--method", "Analogy method.  [default: 3cosadd]", METHODS, multiple=True),
        option(
            "--restrict",
            "Answer analogies among the N most frequent words, or all.  [default: all and 30000]",
            type=WordLimit(),
            multiple=True,
            metavar="N|all",
        ),
        option(
            "--half",
            "Use only this half of the items of similarity, analogy, pairs or labels; a hash of each item decides. "
            "Early stopping and tuning see dev only, so test is left for reports.  [default: all]",
            list(HALVES),
        ),
        option("--window", "Context words on either side of the tagged word.  [default: 2]", type=int),
        option("--text-column", "Column of the text.  [default: text]", "NAME"),
        option("--label-column", "Column of the label.  [default: label]", "NAME"),
        option("--use-trained-vectors", "Use document vectors from training, by number: TRAIN first, then TEST.", bool),
        option("--name-column", "Use document vectors from training, by the tags in this column.", "NAME"),
        option("--left-column", "Column of the first text of a pair.  [default: of two text columns]", "NAME"),
        option("--right-column", "Column of the second text of a pair.", "NAME"),
        option("--rating-column", "Column of the ratings of pairs.  [default: score, rating, label]", "NAME"),
        option("--index", "Retrieve through an index, such as lsh:bits=512.  [default: exact search]", "KIND:SETTINGS"),
    ]


def pooling_options() -> list[click.Parameter]:
    """The options that pool vectors of texts."""
    return [
        option("--pool", "How the vectors of words become one of a text.  [default: mean]", list(POOLS)),
        option("--constant", "The a of sif, or the threshold of subsample.  [default: 0.001]", type=float),
        option("--frequencies", "Word frequencies of sif and subsample.", ["vectors", "texts"]),
        option("--remove-components", "Remove the first N singular vectors of texts.", 0, metavar="N"),
        option("--fit-on", "Texts from which components are learned.  [default: those of the set]", "FILE"),
        option("--dim", "Use only the first N components of word vectors.", 1, metavar="N"),
    ]


def installed_sets(names: Sequence[str]) -> list[str]:
    """The default test sets that are installed; a note names the others."""
    installed = [name for name in names if is_installed(name)]
    for name in names:
        if name not in installed:
            note(f"{name} is left out: it comes with gensim, which is not installed")
    return installed


def suite_settings(options: dict[str, Any], defaults: dict[str, Any]) -> dict[str, Any]:
    """Options as settings of `Suite.read`, with default test sets if none are chosen."""
    settings = {name: value for name, value in options.items() if not (value is None or value is False or value == ())}
    uses_defaults = not any(name in settings for name in options if name not in REQUIRES)
    if uses_defaults:
        settings |= defaults
    for name, test_sets in REQUIRES.items():
        if name in settings and not any(test_set in settings for test_set in test_sets):
            raise click.UsageError(f"{flag(name)} requires {' or '.join(map(flag, test_sets))}")
    if uses_defaults:
        settings["similarity"] = installed_sets(settings["similarity"])
    if settings.pop("unknown", None) is not None:
        settings["compose"] = True
    if "restrict" in settings:
        settings["restrict"] = [None if limit == ALL_WORDS else limit for limit in settings["restrict"]]
    return settings
