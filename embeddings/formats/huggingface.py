"""A folder as Hugging Face's libraries lay it out: config.json, model.safetensors, tokenizer.json, its configuration.

`transformers.AutoTokenizer` and `tokenizers` load the tokenizer, `model2vec.StaticModel.from_pretrained` the whole;
it can be uploaded to the Hub as it is.
"""

from pathlib import Path
from typing import Any

from embeddings.formats import static_embeddings
from embeddings.formats.static_embeddings import MODEL, TABLES, TOKENIZER, put_json
from embeddings.vectors.vectors import Vectors

SUMMARY = "a Hugging Face folder: config.json, model.safetensors, tokenizer.json"
ENDINGS: tuple[str, ...] = ()
FOLDER = True
COUNTS = True
CONFIG, TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
LONGEST = 1_000_000  # tokens of a text; there is no limit, and the libraries want a number


def sniff_folder(path: Path) -> float:
    """Nearly sure if it holds tensors and a tokenizer, whatever else."""
    return 0.8 if (path / MODEL).is_file() and (path / TOKENIZER).is_file() else 0


def write(vectors: Vectors, path: Path, *, dtype: str = "float32") -> None:
    """Write all vectors, in their order, and their counts if they are known.

    Raises:
        FormatError: a word is empty or no valid Unicode, or a vector holds a NaN or what float16 cannot hold.
        SettingError: `dtype` is neither float32 nor float16.
    """
    unknown = static_embeddings.write(vectors, path, table=TABLES[1], dtype=dtype)
    put_json(
        path / CONFIG,
        {
            "model_type": "model2vec",
            "architectures": ["StaticModel"],
            "hidden_dim": vectors.dim,
            "seq_length": LONGEST,
            "normalize": False,
            "embedding_dtype": dtype,
        },
    )
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": unknown, "model_max_length": LONGEST}
    put_json(path / TOKENIZER_CONFIG, tokenizer)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of the tokens, mapped read-only if they are float32.

    Raises:
        FormatError: a file is missing or broken, they do not fit together, or the model has no static embeddings; a
            NaN or an infinity.
    """
    return static_embeddings.read(path, errors)


def describe(path: Path) -> dict[str, Any]:
    """What the header of the tensors says."""
    return static_embeddings.facts(path)
