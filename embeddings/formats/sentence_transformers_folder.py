"""A folder that `SentenceTransformer(path)` loads: a `StaticEmbedding`, which embeds a text as the mean of its words.

modules.json names a subfolder with model.safetensors and tokenizer.json, as sentence-transformers writes them. The
folder is written with `tokenizers` and `safetensors`; sentence-transformers itself is not required.
"""

import os
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.formats import huggingface
from embeddings.formats.huggingface import (
    MODEL,
    README,
    SENTENCE_TRANSFORMERS_TABLE,
    TOKENIZER,
    describe_table,
    write_card,
    write_table,
)
from embeddings.support.foreign_files import format_errors, path_below
from embeddings.support.records import read_json, write_json
from embeddings.vectors.file_format import Format
from embeddings.vectors.vectors import Vectors

MODULES, CONFIG, SUBFOLDER = "modules.json", "config_sentence_transformers.json", "0_StaticEmbedding"
NORMALIZE, NORMALIZE_TYPE = "1_Normalize", "sentence_transformers.models.Normalize"
MODULE_TYPE = "sentence_transformers.models.StaticEmbedding"
NORMALIZING = "Normalize"  # the module that scales the vector of a text, not those of words


def sniff_folder(path: Path) -> float:
    """Certain if the folder lists modules."""
    return 1 if (path / MODULES).is_file() else 0


def write(
    vectors: Vectors, path: Path, *, dtype: str = "float32", normalize: bool = False, note: str | None = None
) -> None:
    """Write all vectors, the counts if known, and a model card.

    Arguments:
        dtype: float32 or float16.
        normalize: append the module that scales vectors of texts to length 1.
        note: how the vectors were made, for the model card.
    """
    (path / SUBFOLDER).mkdir()
    write_table(vectors, path / SUBFOLDER, table=SENTENCE_TRANSFORMERS_TABLE, dtype=dtype)
    modules = [{"idx": 0, "name": "0", "path": SUBFOLDER, "type": MODULE_TYPE}]
    if normalize or vectors.unit_texts:
        (path / NORMALIZE).mkdir()
        modules.append({"idx": 1, "name": "1", "path": NORMALIZE, "type": NORMALIZE_TYPE})
    write_json(path / MODULES, modules)
    write_json(path / CONFIG, {"prompts": {}, "default_prompt_name": None, "similarity_fn_name": "cosine"})
    write_card(vectors, path, "sentence-transformers", dtype, note)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of the tokens, memory-mapped read-only if they are float32."""
    folder, is_normalized = find_embedding(path)
    vectors = huggingface.read(folder, errors=errors)
    vectors.unit_texts = is_normalized
    return vectors


def find_embedding(path: Path) -> tuple[Path, bool]:
    """The folder of the StaticEmbedding, and whether a module scales vectors of texts to length 1.

    Refuses other modules, and paths outside `path`.
    """
    modules_path = path / MODULES
    modules = read_json(modules_path)
    with format_errors(modules_path):
        kinds = [str(module["type"]).rpartition(".")[2] for module in modules]
        subfolder = os.fspath(modules[0]["path"])
        if kinds[0] != "StaticEmbedding" or any(kind != NORMALIZING for kind in kinds[1:]):
            raise FormatError(f"it lists {', '.join(kinds):.200}: only a StaticEmbedding has word vectors")
        return path if subfolder in ("", ".") else path_below(path, subfolder), NORMALIZING in kinds


def describe(path: Path) -> dict[str, Any]:
    """Metadata from the header of the tensors."""
    return describe_table(find_embedding(path)[0])


FORMAT = Format(
    summary="a folder that SentenceTransformer loads, with a StaticEmbedding",
    stores_counts=True,
    stores_pooling=True,
    files=frozenset({MODULES, CONFIG, README, *(f"{SUBFOLDER}/{name}" for name in (MODEL, TOKENIZER))}),
    sniff_folder=sniff_folder,
    read=read,
    write=write,
    describe=describe,
)
