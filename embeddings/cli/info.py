"""`embeddings info`: describe a file or folder."""

import os
from pathlib import Path
from typing import Any, get_args

import click

from embeddings.cli.command_help import command_by_example
from embeddings.cli.options import ALLOW_PICKLE, JSON, exclude, option
from embeddings.cli.output import print_json, print_pairs
from embeddings.corpora.encoded_corpus import META, TECHNICAL, read_meta
from embeddings.corpora.phrases import phrase_list
from embeddings.corpora.reading.compression import file_compression, read_head
from embeddings.corpora.vocabulary import TOTAL
from embeddings.errors import EmbeddingsError
from embeddings.formats.arrow_ipc import open_arrow
from embeddings.formats.glove import count_trailing_numbers
from embeddings.models.loading import local_copy
from embeddings.models.methods_text import methods_text
from embeddings.models.model_files import INPUTS, MODEL_JSON, TENSORS, VECTORS, VOCABULARY, read_model_json
from embeddings.models.model_group import ModelGroup, is_group
from embeddings.support import tensors
from embeddings.support.system import size_on_disk
from embeddings.text_search.index_folder import INDEX as TEXT_INDEX
from embeddings.training.checkpoints import RECORD as CHECKPOINT
from embeddings.training.checkpoints import Checkpoints, summarize_checkpoints
from embeddings.training.run_log import FIRST_BYTES
from embeddings.vectors import file_format
from embeddings.vectors.compact_rows import SHAPE, CompactRows, Storage
from embeddings.vectors.index import INDEX_FOLDER
from embeddings.vectors.index import RECORD as INDEX

MAX_WORDS, MAX_LENGTH = 10, 120  # shown of words and of characters
STUDY = "study.json"  # of `embeddings tune`


def describe(path: str | os.PathLike[str], *, full: bool = False, allow_pickle: bool = False) -> dict[str, Any]:
    """Describe a file or folder: "what" it is, and its properties by name, as values that JSON can hold."""
    place = Path(local_copy(path))
    if os.path.isdir(place):
        file_format.sniff(place)  # reports a folder without read permission
        return describe_folder(place, full=full, allow_pickle=allow_pickle)
    start = read_head(place)
    properties = {"size": place.stat().st_size, "compression": file_compression(place)}
    name = file_format.sniff(place)
    if name is not None and (name != "glove" or count_trailing_numbers(start.split(b"\n", 1)[0]) >= 2):
        return describe_vectors(place, name, properties, full=full, allow_pickle=allow_pickle)
    if not start or b"\0" in start:
        what = {"what": "unknown binary file" if start else "empty file"}
        return what | properties | ({"first_bytes": start[:16].hex(" ")} if start else {})
    line = start.split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
    kind = "list of phrases" if phrase_list.is_phrase_file(start) else "text"
    kind = "log of a run" if start.startswith(FIRST_BYTES) else kind
    first_line = line if len(line) <= MAX_LENGTH else line[: MAX_LENGTH - 1] + "…"
    return {"what": kind} | properties | {"first_line": first_line}


def describe_vectors(
    path: Path, name: str, properties: dict[str, Any], *, full: bool, allow_pickle: bool
) -> dict[str, Any]:
    """The properties of a file or folder in a vector format; with `full`, every vector is read and checked."""
    format = file_format.load_format(name)
    own = format.describe(path)
    if "columns" in own:
        what = "vocabulary" if {"word", "count"} <= set(own["columns"]) else "table without vectors"
        own = {"what": what} | own
    elif "what" not in own:
        if full and (allow_pickle or not own.get("pickle")):
            vectors = format.read(path, allow_pickle=allow_pickle)
            own |= {"words": len(vectors), "dim": vectors.dim, "counts": vectors.counts is not None, "checked": True}
            own["first_words"] = vectors.words
        if "first_words" in own:
            own["first_words"] = [word[:MAX_LENGTH] for word in own["first_words"][:MAX_WORDS]]
        if own.get("pickle") and not str(own["holds"]).startswith("gensim."):
            own["what"] = "pickle"
    return {"what": own.pop("what", "vectors"), "format": name} | properties | own


def describe_folder(path: Path, *, full: bool, allow_pickle: bool) -> dict[str, Any]:
    """The properties of a saved model, index, map or corpus, of checkpoints, or of a format that writes folders."""
    if (path / INDEX).is_file():
        record = INDEX_FOLDER.read(path)
        keys = ("kind", "rows", "dim", "bytes", "build_seconds", "settings", "vectors")
        return {"what": "saved index", **{key: record.get(key) for key in keys}}
    if (path / TEXT_INDEX).is_file():
        from embeddings.text_search.text_index import TextIndex  # imports numba

        index = TextIndex(path, allow_faiss=True)  # which is not loaded
        settings = {name: index.record[name] for name in ("model", "pooling", "words")}
        try:
            _ = index.record["model"] and index.embedder  # refuses a model or a recipe that is gone
        except EmbeddingsError as error:
            settings["problem"] = str(error)
        return {"what": "index of texts", **index.describe(), **settings}
    if is_group(path):
        group = ModelGroup.load(path)
        return {"what": "group of models", "finished": group.finished, "missing": group.missing, **group.run}
    if (path / STUDY).is_file():
        from embeddings.eval.tuning.study_folder import StudyFolder  # imports numba

        folder = StudyFolder.open(path)
        return {"what": "search for settings", "trials": len(folder.trials), **folder.study}
    if checkpoints := [path] if (path / CHECKPOINT).is_file() else Checkpoints(path).paths():
        return {"what": "checkpoints of a run"} | summarize_checkpoints(checkpoints)
    if not (path / MODEL_JSON).is_file() and (name := file_format.sniff(path)):
        return describe_vectors(path, name, {"size": size_on_disk(path)}, full=full, allow_pickle=allow_pickle)
    if (path / META).is_file():
        meta = read_meta(path)
        return {"what": "encoded corpus", **{key: value for key, value in meta.items() if key not in TECHNICAL}}
    description, tables = read_model_json(path), tensors.load(path / TENSORS)
    with open_arrow(path / VOCABULARY) as batches:
        words = sum(batches.get_batch(number).num_rows for number in range(batches.num_record_batches))
        total = (batches.schema.metadata or {}).get(TOTAL, b"")
    main = tables.get(VECTORS, tables.get(INPUTS))
    names = [name.removesuffix(SHAPE) for name in tables if name.endswith(SHAPE)]
    small = {name: CompactRows.from_tensors(name, tables) for name in names}
    shapes = {name: list(table.shape) for name, table in tables.items() if name.rpartition(".")[0] not in small}
    return {
        "what": "saved model",
        "format": "embeddings model",
        "model": description["model"],
        "words": words,
        "dim": small[VECTORS].shape[1] if VECTORS in small else None if main is None else main.shape[-1],
        "corpus_tokens": int(total) if total.isdigit() else None,
        "tables": shapes | {name: list(table.shape) for name, table in small.items()},
        "storage": {name: kind for name, table in small.items() for kind in get_args(Storage) if kind in table.arrays},
        "stored_rows": {name: len(table.kept) for name, table in small.items() if table.kept is not None},
        "settings": description["settings"],
        "record": description["record"],
        "packages": description["packages"],
    }


@command_by_example(
    "info model",
    params=[
        click.Argument(["path"]),
        option("--full", "Read everything: check every vector.", bool),
        option("--methods", "Print a paragraph for a paper: the model, its settings, corpus and versions.", bool),
        ALLOW_PICKLE,
        JSON,
    ],
)
def command(path: str, full: bool, methods: bool, allow_pickle: bool, as_json: bool) -> None:
    """Describe a file or folder, and how a model was trained.

    PATH may be a model, a training log, checkpoints, a cached corpus, vectors in any format, a vocabulary, a phrase
    list, or text, compressed or not. Without --full, a file of vectors or text is read only at its start.
    """
    exclude("methods", "as_json", why=": it prints a paragraph")
    properties = describe(path, full=full, allow_pickle=allow_pickle)
    if methods:
        if properties["what"] != "saved model":
            raise click.UsageError(f"--methods describes a saved model, but {path} is: {properties['what']}")
        click.echo(methods_text(properties))
        return
    print_json(properties) if as_json else print_pairs(flatten(properties))


def flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested values with dotted names."""
    flat: dict[str, Any] = {}
    for name, value in values.items():
        flat |= flatten(value, f"{prefix}{name}.") if isinstance(value, dict) else {prefix + name: value}
    return flat
