"""The format model2vec: config.json, model.safetensors, tokenizer.json and tokenizer_config.json, as on Hugging Face.

`transformers.AutoTokenizer` and `tokenizers` load the tokenizer; `model2vec.StaticModel.from_pretrained` loads the
whole folder, which can be uploaded to the Hub unchanged.
"""

from pathlib import Path

from embeddings.formats.static_embeddings import (
    MODEL,
    MODEL2VEC_TABLE,
    TOKENIZER,
    describe_table,
    read_vectors,
    write_card,
    write_table,
)
from embeddings.support.records import write_json
from embeddings.vectors.file_format import Format
from embeddings.vectors.vectors import Vectors

CONFIG, TOKENIZER_CONFIG = "config.json", "tokenizer_config.json"
MAX_TOKENS = 1_000_000  # of a text; there is no limit, but the libraries require a number


def sniff_folder(path: Path) -> float:
    """Nearly certain if the folder has tensors and a tokenizer."""
    return 0.8 if (path / MODEL).is_file() and (path / TOKENIZER).is_file() else 0


def write(
    vectors: Vectors, path: Path, *, dtype: str = "float32", normalize: bool = False, note: str | None = None
) -> None:
    """Write all vectors, the counts if known, and a model card.

    Arguments:
        dtype: float32, float16 or int8; int8 rows have a scale each, as the weight of the token.
        normalize: model2vec scales vectors of texts to length 1.
        note: how the vectors were made, for the model card.
    """
    unknown = write_table(vectors, path, table=MODEL2VEC_TABLE, dtype=dtype)
    config = {
        "model_type": "model2vec",
        "architectures": ["StaticModel"],
        "hidden_dim": vectors.dim,
        "seq_length": MAX_TOKENS,
        "normalize": normalize,
        "embedding_dtype": dtype,
    }
    write_json(path / CONFIG, config)
    tokenizer = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": MAX_TOKENS}
    tokenizer |= {} if unknown is None else {"unk_token": unknown}
    write_json(path / TOKENIZER_CONFIG, tokenizer)
    write_card(vectors, path, "model2vec", dtype, note)


def read(path: Path, *, allow_pickle: bool = False, errors: str = "strict") -> Vectors:
    """The vectors of the tokens, memory-mapped read-only if they are float32."""
    return read_vectors(path, errors)


FORMAT = Format(
    summary="a folder of model2vec: config.json, model.safetensors, tokenizer.json",
    stores_counts=True,
    sniff_folder=sniff_folder,
    read=read,
    write=write,
    describe=describe_table,
)
