"""Test sets as options, for the commands that evaluate."""

from collections.abc import Mapping, Sequence
from typing import Any

import click

from embeddings.cli.command_help import Option, grouped
from embeddings.cli.options import POOLING_OPTIONS, VECTOR_INPUT, from_signature, option
from embeddings.cli.output import note
from embeddings.eval.evaluation import KINDS, Suite, evaluate
from embeddings.eval.tasks.evaluation_kind import METHODS, POOLING
from embeddings.eval.test_sets import is_installed
from embeddings.indexes.index import load_index
from embeddings.models.embed import embed
from embeddings.settings import flag

DEFAULTS: dict[str, Any] = {"similarity": ("wordsim353", "simlex999"), "analogy": ("google-analogies",)}
REPORT_DEFAULTS: dict[str, Any] = DEFAULTS | {"categories": ("google-categories",), "stats": True}
ALL_WORDS = "all"
SETTINGS = {name: kind.settings for name, kind in KINDS.items()}
SETTINGS["similarity"] = (*SETTINGS["similarity"], "unknown")
REQUIRES = {  # for each setting, the tests that use it; at least one of them must be requested
    name: tuple(test_set for test_set, others in SETTINGS.items() if name in others)
    for names in SETTINGS.values()
    for name in names
}
TEST_SETS = {  # parameters of `evaluate` and the metavars of their options
    **dict.fromkeys(("similarity", "analogy", "categories"), "NAME|FILE..."),
    "translation": "FILE...",
    "association": "FILE...",
    "phrases": "FILE|held-out...",
    "tagging": "NAME|FOLDER|TRAIN,TEST...",
    "documents": "FILE|TRAIN,TEST...",
    "perplexity": "TEXT...",
    "pairs": "FILE...",
    "clustering": "FILE...",
    "probe": "FILE|TRAIN,TEST...",
    "stats": None,
}
TEXT_SETTINGS = {
    **dict.fromkeys(("text_column", "label_column"), "NAME"),
    "use_trained_vectors": None,
    **dict.fromkeys(("name_column", "left_column", "right_column", "rating_column"), "NAME"),
    "candidates": "N|given...",
    "ranking": "RANKING...",
    "stemming": "LANGUAGE",
    "index": "KIND:SETTINGS",
}
COMMON = ("similarity", "analogy", "categories", "pairs", "retrieval", "probe", "half")  # in short help


def options() -> list[click.Option]:
    """The options that `evaluate` and `compare` share."""
    retrieval = option(
        "--retrieval",
        "Retrieval in the layout of BEIR: queries, documents, relevance.",
        nargs=3,
        multiple=True,
        metavar="QUERIES CORPUS QRELS",
    )
    words = [
        *from_suite({"compose": None}),
        option(
            "--unknown",
            "Also score similarity with the vectors learned for unknown words (`embeddings train --unknown-rows`).",
            ["learned"],
        ),
        option("--method", "Analogy method.  [default: 3cosadd]", list(METHODS), multiple=True),
        option(
            "--restrict",
            "Answer analogies among the N most frequent words, or all.  [default: all and 30000]",
            "N|all",
            multiple=True,
        ),
        *from_suite({"half": "HALF", "window": "N", "target": "VECTORS"}),
    ]
    concat_with = option(
        "--concat-with", "Concatenate document vectors with those of this model.", "MODEL", multiple=True
    )
    return [
        *grouped("sets", [*from_suite(TEST_SETS), retrieval], COMMON),
        *grouped("words", words, COMMON),
        *grouped("texts", [*from_suite(TEXT_SETTINGS), concat_with], ("ranking",)),
        *grouped("pooling", from_signature(embed, dict.fromkeys(POOLING), **POOLING_OPTIONS), ()),
        option("--sections", "Also print scores by section: analogy type, tag, category, label.", bool, common=True),
        *from_signature(load_index, allow_faiss=None),
        *VECTOR_INPUT,
    ]


def from_suite(parameters: Mapping[str, str | None]) -> list[Option]:
    """Options for arguments of `evaluate`."""
    without_defaults = dict.fromkeys(name for name, metavar in parameters.items() if metavar is not None)
    return from_signature(Suite.read, without_defaults, evaluate, **parameters)


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
        settings["restrict"] = [
            None if limit == ALL_WORDS else int(limit) if limit.isdecimal() else limit for limit in settings["restrict"]
        ]
    return settings
