"""Options of commands that read a corpus, pairs or labelled texts: the settings of `embeddings.corpora.Corpus`."""

from typing import TYPE_CHECKING, Any

import click

from embeddings.cli.options import ENCODING_ERRORS, option
from embeddings.setting_names import FOLDINGS, LABEL_PREFIX, LANGUAGES

if TYPE_CHECKING:
    from embeddings.training.trainer import Trainer


def format_options() -> list[click.Parameter]:
    """How labels are written: keyword arguments of `LabelFormat`."""
    return [
        option(
            "--label-prefix", "Prefix of the words of a plain text that are its labels.", "TEXT", default=LABEL_PREFIX
        ),
        option(
            "--label-column", "Label column of a table: strings, integers, or lists of them.  [default: label]", "NAME"
        ),
        option(
            "--label-separator",
            "What separates several labels in a cell, such as a comma.  [default: a cell is one label]",
            "TEXT",
        ),
    ]


def prediction_options() -> list[click.Parameter]:
    """How many labels are predicted."""
    return [
        option("-k --top k", "Maximum number of labels per text; -1 for all.", -1, default=1),
        option("--threshold", "Minimum probability of a label.", type=click.FloatRange(0, 1), default=0.0),
    ]


VOCABULARY = option(
    "--vocabulary",
    "Train exactly the words of this vocabulary (output of `embeddings vocabulary`) or model, with its counts.",
    "FILE",
)


def options(tokenizer: str = "words", case: str = "lower") -> list[click.Parameter]:
    """How text is read and tokenized."""
    return [
        option(
            "--tokenizer",
            "How to split text: words (of any language, and emoji), alphanumeric (runs of letters, marks and digits), "
            "whitespace, ascii-whitespace (as fastText), characters (with combining marks, without spaces), codepoints "
            "(spaces included), or an installed tokenizer.",
            default=tokenizer,
        ),
        option(
            "--case",
            "Convert text to lower case, fold its case (ß becomes ss), or keep its case.",
            ["lower", "fold", "keep"],
            default=case,
        ),
        *word_options(),
        *file_options(),
    ]


def file_options() -> list[click.Parameter]:
    """Which texts of a file are read, and from which bytes."""
    return [
        option(
            "--encoding",
            "Encoding of text files, CSV, TSV and JSON lines: any that Python decodes, such as cp1252 or utf-16.",
            "NAME",
            default="utf-8",
        ),
        option(
            "--encoding-errors",
            "Where text is not valid in its encoding: fail, insert U+FFFD, or omit the bytes.",
            ENCODING_ERRORS,
            default="strict",
        ),
        option(
            "--text-column",
            "Text column of a table (Parquet, Arrow, .jsonl, .csv, .tsv); dots select nested JSON fields.  [default: "
            "text, or the only string column]",
            "NAME",
        ),
        option(
            "--tag-column",
            "Column with document tags, or lists of them; a document has the tags of all columns.",
            "NAME",
            multiple=True,
        ),
        option("--rows", "Read only the first N rows or lines.", 1, metavar="N"),
        option("--deduplicate", "Drop lines, or rows of tables, that occurred before.", bool),
        option(
            "--max-types",
            "Keep at most N distinct words in memory. Rare words may be lost and counts may be too low by up to 2/N of "
            "the tokens for each spelling in the text; the maximum is reported.",
            1,
            metavar="N",
        ),
    ]


def input_options() -> list[click.Parameter]:
    """How the text of a model is read again; all other settings are recorded in the model."""
    return [one for one in options() if one.name in ("encoding", "text_column", "tag_column", "rows")]


def labelled_options(tokenizer: str, case: str) -> list[click.Parameter]:
    """How texts with labels are read."""
    left_out = ("tag_column", "max_types")
    return [*(one for one in options(tokenizer, case) if one.name not in left_out), *format_options()]


def pair_options(tokenizer: str, case: str) -> list[click.Parameter]:
    """How pairs of texts are read: keyword arguments of `PairFormat`."""
    left_out = ("tag_column", "rows", "deduplicate")
    columns = {
        "left": "first text of a pair.  [default: the first of two columns of strings]",
        "right": "second text of a pair.  [default: the second of two columns of strings]",
        "negative": "text that is less similar to the first one.  [default: the third of three columns of strings]",
        "rating": "rating or binary label of a pair.  [default: a column of numbers called score, rating, label, ...]",
    }
    return [
        *(one for one in options(tokenizer, case) if one.name not in left_out),
        option(
            "--pairs",
            "What a pair is. columns: a row of a table, or a line of texts separated by tabs. Made from documents: "
            "title-body (the title and each paragraph), neighbouring-paragraphs, neighbouring-sentences, neighbours "
            "(both), first-sentence (the first sentence of a paragraph and the rest of it); several are separated "
            "by commas.",
            "KINDS",
            default="columns",
        ),
        *(option(f"--{name}-column", f"Column of the {text}", "NAME") for name, text in columns.items()),
        option("--title-column", "Column of titles.  [default: the first line of a document is its title]", "NAME"),
        option(
            "--header/--no-header",
            "The first row of CSV and TSV holds the names of columns, or a pair.  [default: unless it has a number]",
            bool,
            default=None,
        ),
    ]


def trainer_text_options(trainer: type["Trainer"]) -> list[click.Parameter]:
    """How a trainer's text is read."""
    if trainer.reads_labels:
        return labelled_options(trainer.tokenizer, trainer.case)
    if trainer.reads_pairs:
        pairs = pair_options(trainer.tokenizer, trainer.case)
        return [*pairs, VOCABULARY, *phrase_options()]
    return [*options(trainer.tokenizer, trainer.case), VOCABULARY, *phrase_options()]


def word_options() -> list[click.Parameter]:
    """Which words are equal, and what is part of a word."""
    return [
        option(
            "--normalize",
            "Unicode normalisation form of words.  [default: nfc, or none with --tokenizer ascii-whitespace]",
            ["nfc", "nfkc", "none"],
        ),
        option(
            "--fold",
            f"Treat words that differ only in these as equal: {', '.join(FOLDINGS)}; separate several by commas.",
            "LIST",
        ),
        option("--language", "Apply this language's rules of upper and lower case.", list(LANGUAGES)),
        option("--hyphens", "Split words at hyphens, or join them.  [default: split]", ["split", "join"]),
        option("--apostrophes", "Split words at apostrophes, or join them.  [default: join]", ["split", "join"]),
        option(
            "--emoji",
            "Make emoji tokens, or their names, or drop them.  [default: keep]",
            ["keep", "as-words", "drop"],
        ),
    ]


def phrase_options() -> list[click.Parameter]:
    """Which phrases become tokens, and how."""
    return [
        option("--phrases", "Join the phrases listed in this file into tokens; auto detects phrases.", "FILE|auto"),
        option("--joiner", "String that joins the words of a phrase.", default="_"),
        option(
            "--phrase-mode",
            "Replace every occurrence of a phrase by its token, or every second one, which trains its words too.",
            ["replace", "alternate"],
            default="replace",
        ),
    ]


def corpus_arguments(options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a `Corpus`: options, with those of labels or of pairs as a `LabelFormat` or a `PairFormat`."""
    if "pairs" in options:
        from embeddings.corpora.pair_encoding import PairFormat

        columns = {name: options.pop(f"{name}_column") for name in ("left", "right", "negative", "rating")}
        others = {name: options.pop(name) for name in ("header", "title_column")}
        return {**options, "pairs": PairFormat(options["pairs"], **columns, **others)}
    if "label_prefix" not in options:
        return options
    from embeddings.corpora.reading.labelled_texts import LabelFormat

    prefix, column, separator = (options.pop(f"label_{name}") for name in ("prefix", "column", "separator"))
    return {**options, "labels": LabelFormat(prefix, label_column=column, separator=separator)}
