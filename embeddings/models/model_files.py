"""The files of a saved model's folder: their names, where a model can be saved, and reading them."""

import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError
from embeddings.support import tensors
from embeddings.support.files import check_own_folder
from embeddings.support.foreign_files import format_errors
from embeddings.support.records import check_fields, read_versioned
from embeddings.vectors.compact_rows import SHAPE, CompactRows
from embeddings.vectors.vectors import Vectors

PACKAGES = ("embeddings-toolkit", "numpy", "numba", "pyarrow")


def package_versions(packages: Iterable[str] = PACKAGES) -> dict[str, str]:
    """The versions of Python and of those packages that are installed, by default those that affect training."""
    versions = {"python": platform.python_version()}
    for package in packages:
        with suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


FORMAT_VERSION = 2
MODEL_JSON, VOCABULARY, TENSORS = "model.json", "vocabulary.arrow", "tensors.safetensors"
GROUP_JSON = "group.json"  # of a folder of models with different seeds
TAGS = "documents.arrow"  # of a model of tagged documents
PHRASES = "phrases.arrow"  # of a model of a corpus with phrases
LABELS = "labels.arrow"  # of a model that predicts labels
FILES = {MODEL_JSON, VOCABULARY, TENSORS, TAGS, PHRASES, LABELS}
VECTORS = "vectors"  # the tensor of the word vectors
INPUTS = "inputs"  # a tensor whose first rows are the word vectors, which then have no tensor of their own
FIELDS = {"model": str, "composes": bool, "settings": dict, "packages": dict, "record": dict}


def check_target(path: str | os.PathLike[str], *, force: bool) -> Path:
    """The path, if a model can be saved there."""
    return check_own_folder(path, MODEL_JSON, FILES, "model", force=force)


WINDOW_MODELS = (  # with the objectives of words
    "skipgram", "cbow", "structured-skipgram", "directional-skipgram", "continuous-window", "fasttext",
    "paragraph-dbow", "paragraph-dm", "given-contexts",
)  # fmt: skip
ANY = object()  # in place of a value: models with any value of the setting remain as they are
REMOVED_SETTINGS: Mapping[str, Mapping[str, Any]] = {  # of earlier versions, with the value that is what remains
    "c2w": {"word_network": "bilstm", "filters": 25, "carry_state": False, "tie": False},
    "text-pairs": {
        "guide": ANY,
        "hidden_size": ANY,
        "linear_map": False,
        "sides": "shared",
        "token_weights": ANY,
        "dims": ANY,
        "margin": ANY,
        "optimizer": ANY,
        "initializer": ANY,
    },
    "tensor-indexing": {"full_tensor": ANY},
    "sembei": {"window": 1, "initializer": ANY},
    "distill": {"initializer": ANY},
    **{name: {"tree": "huffman", "initializer": ANY} for name in WINDOW_MODELS},
}
REMOVED_VALUES: Mapping[str, Mapping[str, tuple[Any, ...]]] = {
    "c2w": {"objective": ("adaptive-softmax",)},
    "text-pairs": {"objective": ("contrastive", "cosine-regression", "rating-distribution")},
}
# of removed settings without which models load, but their unfinished runs would not go on as they began
RUN_DEFAULTS = {"optimizer": "adagrad", "token_weights": "none", "dims": None}


def remaining_settings(path: Path, trainer: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The recorded settings without those that this version has no longer; refuses models of removed variants."""
    # A removed setting with the value that is left changes nothing; another value would change what vectors mean.
    removed, values = REMOVED_SETTINGS.get(trainer, {}), REMOVED_VALUES.get(trainer, {})
    for name, value in settings.items():
        if value in values.get(name, ()) or removed.get(name, value) not in (value, ANY):
            variant = f"{trainer} with {name}={value}"
            raise FormatError(f"{path} is a model of {variant}, which this version no longer supports: train it again")
    return {name: value for name, value in settings.items() if name not in removed}


OTHER_FOLDERS = {  # by the files in them
    "text-index.json": "is an index of texts: use `embeddings search`",
    "*.parquet": "has no model.json; as a folder of Parquet files, pass pyarrow.parquet.read_table(folder) to "
    "Vectors.from_arrow",
}


def read_model_json(folder: Path) -> dict[str, Any]:
    """The fields of model.json."""
    path = folder / MODEL_JSON
    if not path.is_file() and (folder / GROUP_JSON).is_file():
        # The folder of a group looks like that of a model, so the error names a model to give in its place.
        first = min(folder.glob(f"seed-*/{MODEL_JSON}"), default=folder / "seed-1" / MODEL_JSON).parent
        raise FormatError(f"{folder} is a group of models: name one of them, such as {first}")
    if not path.is_file():
        problem = "has no model.json, so it is not a saved model" if folder.is_dir() else "is not a saved model"
        problem = next((advice for names, advice in OTHER_FOLDERS.items() if any(folder.glob(names))), problem)
        raise FormatError(f"{folder} {problem if folder.exists() else 'does not exist'}")
    content = read_versioned(path, FORMAT_VERSION)
    check_fields(path, content, FIELDS)
    content["settings"] = remaining_settings(path, content["model"], content["settings"])
    return {name: content[name] for name in FIELDS}


def read_vocabulary(path: Path) -> Vocabulary:
    """The vocabulary of a folder."""
    with format_errors(path):
        return Vocabulary.load(path)


def read_tensors(folder: Path, vocabulary: Vocabulary) -> tuple[Vectors, dict[str, np.ndarray], dict[str, CompactRows]]:
    """The vectors, the other tables and the compact tables of a folder, memory-mapped."""
    arrays = tensors.load(folder / TENSORS)
    names = [name.removesuffix(SHAPE) for name in arrays if name.endswith(SHAPE)]
    compact = {name: CompactRows.from_tensors(name, arrays) for name in names}
    tables = {name: array for name, array in arrays.items() if name.rpartition(".")[0] not in compact}
    inputs = tables.get(INPUTS)
    # The rows of words come first, those of n-grams follow; the view takes no memory.
    first_inputs = None if inputs is None else inputs[: len(vocabulary)]
    matrix = compact.pop(VECTORS) if VECTORS in compact else tables.pop(VECTORS, first_inputs)
    if not isinstance(matrix, CompactRows) and (matrix is None or matrix.ndim != 2 or matrix.dtype != np.float32):
        raise FormatError(f"{folder / TENSORS} has no float32 matrix {VECTORS!r}")
    with format_errors(folder):  # the vocabulary and the tensors may not fit together
        return Vectors(vocabulary.word_list, matrix, counts=vocabulary.counts), tables, compact
