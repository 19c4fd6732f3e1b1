"""`embeddings export`: convert vectors to another format."""

import inspect
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from embeddings.cli.command_help import command_by_example, grouped, shared
from embeddings.cli.options import FORMAT, OUTPUT, VECTOR_INPUT, Output, from_signature, option, require, take_arguments
from embeddings.cli.output import note, print_json, quantity
from embeddings.cli.saving import check_not_input
from embeddings.errors import FormatError
from embeddings.models import loading
from embeddings.models.weighted_vectors import weight_vectors
from embeddings.support.remote.address import display_name
from embeddings.support.text_lines import read_text_lines
from embeddings.vectors import file_format
from embeddings.vectors.merge import retrofit as retrofitted
from embeddings.vectors.precision import rounding_error
from embeddings.vectors.vectors import Vectors

WEIGHTING = {  # parameters of `weight_vectors` and the metavars of their options
    **dict.fromkeys(("weighting", "constant")),
    **dict.fromkeys(("remove_components", "pca"), "N"),
    "fit_on": "FILE",
    "text_column": "NAME",
}
CHANGES = ("weighting", "remove_components", "pca")  # those that change rows


def weighting_note(weighting: Mapping[str, Any]) -> str:
    """How the rows were weighted and projected, as a note for a model card."""
    kind = weighting.get("weighting", "none")
    steps = ["no weights" if kind == "none" else f"{kind} weights of words"]
    if removed := weighting.get("remove_components"):
        steps.append(f"the projection onto the first {removed} principal directions removed")
    if "pca" in weighting:
        steps.append(f"projected onto the next {weighting['pca']} principal directions")
    source = "the text of --fit-on" if "fit_on" in weighting else "word counts"
    return (
        f"The rows contain: {', '.join(steps)} (learned from {source}). The unweighted mean of a text's rows "
        "already equals the weighted mean up to a positive factor; do not apply word weights again."
    )


@command_by_example(
    "export model vectors.txt",
    params=[
        click.Argument(["vectors"]),
        click.Argument(["out"]),
        *shared(
            "choice",
            dict,
            FORMAT,
            option(
                "--counts/--no-counts",
                "Write word counts, to OUT.vocab if the format does not store them.  [default: if the format does]",
                default=None,
            ),
        ),
        *from_signature(loading.load, table="TEXT"),
        option("--words", "Export only the first N words, or those listed in a file.", "N|FILE"),
        option("--retrofit", "Move words that this lexicon lists on one line towards each other.", "FILE"),
        *shared(
            "own_options",
            dict,
            option(
                "--dtype",
                "Number type for safetensors, parquet, arrow and model2vec; float16 also for npy and "
                "sentence-transformers.  [default: float32]",
                ["float32", "float16", "int8"],
            ),
            option(
                "--normalize",
                "Scale vectors of texts to length 1 in folders of model2vec and sentence-transformers.",
                bool,
            ),
            option("--language", "Language of a spacy export, such as en.  [default: xx]", "CODE"),
        ),
        *grouped(
            "weighting",
            from_signature(weight_vectors, {"weighting": None, "remove_components": None}, **WEIGHTING),
            ["weighting"],
        ),
        *OUTPUT[:2],
        *VECTOR_INPUT,
    ],
)
def command(
    vectors: str, out: str, choice: dict[str, Any], table: str, words: str | None, retrofit: str | None,
    own_options: dict[str, Any], output: Output, reading: dict[str, Any], **weighting: Any,
) -> None:  # fmt: skip
    """Write VECTORS to the file or folder OUT.

    The extension of OUT selects the format: .bin word2vec-binary, .txt and .vec word2vec-text, .glove glove, .kv
    gensim, .npy npy (words in a .txt of the same name), .parquet parquet, .arrow and .feather arrow, .safetensors
    safetensors; packages can add formats. --format fasttext writes a whole model as .bin for fastText and gensim, and
    a classifier as .bin or, if it is quantised, .ftz for fastText; model2vec, sentence-transformers and spacy
    write folders.
    """
    require("constant", *CHANGES)
    require("fit_on", *CHANGES)
    require("text_column", "fit_on")
    options = {name: value for name, value in own_options.items() if value not in (None, False)}
    targets = file_format.output_files(out, **choice, options=options)
    check_not_input(targets, [("the input", Path(vectors))], replaceable=["the input"])
    file_format.check_export(out, **choice, force=output.force, options=options)
    name = choice["format"] or file_format.format_for_path(out)
    weighting = take_arguments(weighting, WEIGHTING)
    changes_rows = any(name in weighting for name in CHANGES)
    is_unchanged = words is None and table == "vectors" and not changes_rows and retrofit is None
    if is_unchanged and file_format.load_format(name).write_classifier is not None and loading.has_classifier(vectors):
        classifier = loading.load_classifier(vectors, errors=reading["errors"])
        classifier.export(out, name, force=output.force)
        labels = len(classifier.labels)
        if output.as_json:
            print_json({"files": [out], "format": name, "labels": labels, "words": classifier.features.words})
        else:
            note(f"exported a classifier of {quantity(labels, 'label')} to {out}")
        return
    if is_unchanged and file_format.load_format(name).write_model is not None and loading.has_model(vectors):
        model = loading.load_model(vectors, **reading)
        exported = model.vectors
        files = file_format.write_model(model, out, **choice, force=output.force, **options)
    else:
        exported = loading.load(vectors, table=table, **reading)
        if changes_rows:
            source = loading.load_model_or_vectors(vectors, **reading) if table == "vectors" else exported
            if "fit_on" in weighting:
                weighting["fit_on"] = Path(weighting["fit_on"])
            exported = weight_vectors(source, **{"weighting": "none", **weighting})
        if retrofit is not None:
            exported = retrofitted(exported, retrofit)
        if words is not None:
            exported = select_words(exported, words)
        if changes_rows and "note" in inspect.signature(file_format.load_format(name).write).parameters:
            options["note"] = weighting_note(weighting)
        files = file_format.write(exported, out, **choice, force=output.force, **options)
    report_export(exported, list(map(display_name, files)), name, options.get("dtype"), output.as_json)


def report_export(vectors: Vectors, paths: list[str], format: str, dtype: str | None, as_json: bool) -> None:
    """Report the files that were written, and the error of rounding."""
    rounding = rounding_error(vectors, dtype) if dtype not in (None, "float32") else None
    if as_json:
        result = {"files": paths, "format": format, "words": len(vectors), "dim": vectors.dim}
        print_json(result | ({} if rounding is None else {"dtype": dtype, **rounding._asdict()}))
        return
    note(f"exported {quantity(len(vectors), 'vector')} of dimension {vectors.dim} to {' and '.join(paths)}")
    if rounding is not None:
        note(f"{dtype} rounding: maximum error {rounding.max_error:.3g}, minimum cosine {rounding.min_cosine:.6f}")


def select_words(vectors: Vectors, words: str) -> Vectors:
    """The vectors of the first N words, or of the words in a file; reports how many listed words have no vector."""
    if words.isdecimal() and words.isascii():
        return vectors.subset(int(words))
    listed_words = [word for word in dict.fromkeys(read_text_lines(Path(words), "list of words")) if word]
    known = [word for word in listed_words if word in vectors]
    if not known:
        raise FormatError(f"none of the {len(listed_words)} words in {words} has a vector")
    missing = [word for word in listed_words if word not in vectors]
    if missing:
        count = f"{len(missing)} of the {len(listed_words)}"
        note(f"{count} words in {words} have no vector, such as {missing[0]!r}")
    return vectors.subset(known)
