"""Options of commands that read a corpus, pairs or labelled texts: the settings of `embeddings.corpora.Corpus`."""

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

import click

from embeddings.cli.command_help import Option, grouped
from embeddings.cli.options import from_signature, is_given, take_arguments
from embeddings.corpora.corpus import Corpus
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.reading.text_pairs import PairFormat
from embeddings.corpora.reading.text_vectors import VectorFormat
from embeddings.corpora.reading.word_contexts import ContextFormat
from embeddings.models.text_settings import reading_settings

if TYPE_CHECKING:
    from embeddings.training.trainer import Trainer

TEXT = {  # parameters of `Corpus` and the metavars of their options
    **dict.fromkeys(("tokenizer", "case", "normalize")),
    "fold": "LIST",
    "language": "tr|az|lt|el",
    **dict.fromkeys(("hyphens", "apostrophes", "emoji")),
    "encoding": "NAME",
    "encoding_errors": None,
    "text_column": "NAME",
    "tag_column": "NAME...",
    "rows": "N",
    "lines": "--lines --text-lines lines",
    "max_types": "N",
}
TABLES = ("label_column", "pairs", "vector_column", "word_column", "context_column", "weight_column")
COMMON = ("tokenizer", "text_column", "phrases", *TABLES)  # in short help
INPUT = ("encoding", "text_column", "tag_column", "rows", "lines")  # needed to read a model's training text again
PLAIN_TEXT_ONLY = ("tag_column", "rows", "lines")  # refused for pairs, vectors and contexts
TEXT_LINES = "--text-lines"  # the option for `lines` of commands that print a number of lines, --lines
PHRASES = {"phrases": "FILE|auto", "joiner": None, "phrase_mode": None}
LABELS = {"prefix": "--label-prefix TEXT", "label_column": "NAME", "separator": "--label-separator TEXT"}
PAIRS = {
    "kinds": "--pairs KINDS",
    **{name: f"--{name}-column NAME" for name in ("left", "right", "negative", "rating", "weight")},
    "header": None,
    "title_column": "NAME",
}
VECTORS = {"vector_column": "NAME"}
CONTEXTS = {**{name: f"--{name}-column NAME" for name in ("word", "context", "weight")}, "header": None}
FORMATS: dict[str, tuple[str, type, Mapping[str, str | None]]] = {  # by an option that only this format has
    "pairs": ("pairs", PairFormat, PAIRS),
    "word_column": ("pairs", ContextFormat, CONTEXTS),
    "vector_column": ("vectors", VectorFormat, VECTORS),
    "label_prefix": ("labels", LabelFormat, LABELS),
}


def options(
    only: Collection[str] = tuple(TEXT), omit: Collection[str] = (), *, lines: str | None = None, **defaults: Any
) -> list[click.Option]:
    """The options that read and tokenize text; `lines` is another name of the option for `lines`."""
    declarations = TEXT if lines is None else {**TEXT, "lines": lines}
    names = [name for name in TEXT if name in only and name not in omit]
    return grouped("text", from_signature(Corpus, defaults, **{name: declarations[name] for name in names}), COMMON)


PHRASE_OPTIONS = grouped("text", from_signature(Corpus, **PHRASES), COMMON)  # that turn phrases into tokens


def trainer_text_options(trainer: type["Trainer"]) -> list[click.Option]:
    """The options that read the text of a trainer."""
    omit: tuple[str, ...] = ()
    own: list[Option] = []
    if trainer.reads_labels:
        omit, own = ("tag_column", "lines", "max_types"), from_signature(LabelFormat, **LABELS)
    elif trainer.reads_vectors:
        omit, own = PLAIN_TEXT_ONLY, from_signature(VectorFormat, **VECTORS)
    elif trainer.reads_contexts:
        omit, own = (*PLAIN_TEXT_ONLY, "text_column"), from_signature(ContextFormat, **CONTEXTS)
    elif trainer.reads_pairs:
        omit, own = PLAIN_TEXT_ONLY, from_signature(PairFormat, **PAIRS)
    elif trainer.inferencer is None:  # no tag of a document has a vector
        omit = ("tag_column",)
    text = options(omit=omit, tokenizer=trainer.tokenizer, case=trainer.case)
    words = [] if trainer.reads_labels else [*from_signature(Corpus, vocabulary="FILE"), *PHRASE_OPTIONS]
    return [*text, *grouped("text", own, COMMON), *grouped("text", words, COMMON)]


def recorded_reading(model: Any) -> dict[str, Any]:
    """How the training text of a model was read, unless an option of the current command says otherwise."""
    names = {str(one.name) for one in click.get_current_context().command.params}
    lines = "text_lines" if "text_lines" in names else "lines"
    return {
        name: value
        for name, value in reading_settings(model).items()
        if not is_given(lines if name == "lines" else name)
    }


def corpus_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a `Corpus`: options, with the options of a format, such as labels, as an object."""
    # where --lines is a number of lines to print, the parameter `lines` of a corpus has another option
    if "text_lines" in options:
        return {"lines" if name == "text_lines" else name: value for name, value in options.items()}
    for option, (argument, kind, parameters) in FORMATS.items():
        if option in options:
            return {argument: kind(**take_arguments(options, parameters)), **options}
    return options
