"""A folder that `SentenceTransformer(path)` loads: a `StaticEmbedding`, so that a text is the mean of its words.

Beside modules.json it holds a folder with model.safetensors and tokenizer.json, as sentence-transformers writes them.
"""

import re
from pathlib import Path
from typing import Any

from embeddings.errors import FormatError
from embeddings.formats import static_embeddings
from embeddings.formats.static_embeddings import TABLES, put_json
from embeddings.formats.tokenizer_json import parsed
from embeddings.vectors.vectors import Vectors

SUMMARY = "a folder that SentenceTransformer loads, with a StaticEmbedding"
ENDINGS: tuple[str, ...] = ()
FOLDER = True
COUNTS = True
MODULES, CONFIG, FIRST = "modules.json", "config_sentence_transformers.json", "0_StaticEmbedding"
TYPE = "sentence_transformers.models.StaticEmbedding"
WITHIN = re.compile(r"[\w.-]*")
HARMLESS = "Normalize"  # brings the vector of a text to length one, which leaves those of words alone


def sniff_folder(path: Path) -> float:
    """Sure if it lists modules."""
    return 1 if (path / MODULES).is_file() else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write all vectors, in their order, and their counts if they are known.

    Raises:
        FormatError: a word is empty or no valid Unicode, or a vector holds a NaN or what float16 cannot hold.
        SettingError: `dtype` is neither float32 nor float16.
    """
    (path / FIRST).mkdir()
    static_embeddings.write(vectors, path / FIRST, table=TABLES[0], dtype=dtype)
    put_json(path / MODULES, [{"idx": 0, "name": "0", "path": FIRST, "type": TYPE}])
    put_json(path / CONFIG, {"prompts": {}, "default_prompt_name": None, "similarity_fn_name": "cosine"})


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of the tokens, mapped read-only if they are float32.

    Raises:
        FormatError: a file is missing or broken, they do not fit together, or the model is no StaticEmbedding; a NaN or
            an infinity.
    """
    return static_embeddings.read(embedding_of(path), errors)


def embedding_of(path: Path) -> Path:
    """The folder of the StaticEmbedding.

    Raises:
        FormatError: the list of modules is broken, or names another module, or a place outside.
    """
    modules = parsed(path / MODULES, "strict")
    if not isinstance(modules, list) or not modules or not all(isinstance(module, dict) for module in modules):
        raise FormatError(f"{path / MODULES} is broken: it lists no modules")
    kinds = [str(module.get("type")).rpartition(".")[2] for module in modules]
    if kinds[0] != "StaticEmbedding" or any(kind != HARMLESS for kind in kinds[1:]):
        found = ", ".join(kinds)
        raise FormatError(f"{path} is made of {found:.200}: only a StaticEmbedding has vectors of words")
    within = modules[0].get("path")
    if not isinstance(within, str) or not WITHIN.fullmatch(within) or within == "..":
        raise FormatError(f"{path / MODULES}: the path of a module must be a folder in it, not {within!r:.80}")
    return path / within


def describe(path: Path) -> dict[str, Any]:
    """What the header of the tensors says."""
    return static_embeddings.facts(embedding_of(path))
