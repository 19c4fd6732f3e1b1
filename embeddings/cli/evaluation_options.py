"""Test sets as options, for the commands that evaluate."""

import re
from collections.abc import Sequence
from typing import Any

import click

from embeddings.cli.command_help import Option, grouped
from embeddings.cli.options import POOLING_OPTIONS, THREADS, VECTOR_INPUT, from_signature, option, require
from embeddings.cli.output import note
from embeddings.eval.evaluation import ALL_KINDS, KINDS, evaluate
from embeddings.eval.tasks.evaluation_kind import POOLING, Kind
from embeddings.eval.test_sets import is_installed
from embeddings.models.embed import embed
from embeddings.support.docstrings import argument_texts
from embeddings.vectors.index import load_index

DEFAULTS: dict[str, Any] = {"similarity": ("wordsim353", "simlex999"), "analogy": ("google-analogies",)}
REPORT_DEFAULTS: dict[str, Any] = DEFAULTS | {"categories": ("google-categories",)}
COMMON = (  # in short help
    "similarity", "analogy", "categories", "pairs", "retrieval", "documents", "labels", "half", "ranking", "k",
    "threshold",
)  # fmt: skip


def options() -> list[click.Option]:
    """The options that `evaluate` and `compare` share: the kinds of test sets, and the settings that they declare."""
    unknown = "Also score similarity with the vectors learned for unknown words (`embeddings train --unknown-rows`)."
    groups: dict[str, list[Option]] = {
        "sets": [set_option(kind) for kind in ALL_KINDS],
        "words": [option("--unknown", unknown, ["learned"])],
        "texts": [],
        "pooling": from_signature(embed, dict.fromkeys(POOLING), **POOLING_OPTIONS),
        "labels": [THREADS],
    }
    seen = set[str]()
    for kind in ALL_KINDS:
        group = "words" if kind.of_words else "labels" if kind.name == "labels" else "texts"
        names = {name: metavar for name, metavar in kind.options.items() if name not in seen}
        unset = dict.fromkeys(name for name in names if kind.defaults[name] is not False)
        groups[group] += from_signature(kind.settings, unset, evaluate, **names)
        seen.update(names)
    return [
        *(one for group, members in groups.items() for one in grouped(group, members, COMMON)),
        option("--sections", "Also print scores by section: analogy type, tag, category, label.", bool, common=True),
        *from_signature(load_index, allow_faiss=None),
        *VECTOR_INPUT,
    ]


def set_option(kind: Kind) -> Option:
    """The option for test sets of a kind."""
    help = re.sub(r"`([a-z]+)`", r"--\1", argument_texts(evaluate)[kind.name])
    files = kind.metavar.removesuffix("...")
    return option(f"--{kind.name}", help, files, multiple=True, nargs=len(files.split()))


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
    if any(name in KINDS for name in settings):
        require("unknown", "similarity")
    else:
        settings |= defaults
        settings["similarity"] = installed_sets(settings["similarity"])
    if settings.pop("unknown", None) is not None:
        settings["compose"] = True
    return settings
