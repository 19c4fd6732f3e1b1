"""The formats that are tested with broken files, and the options with which the good files are written."""

from importlib.util import find_spec

FORMAT_OPTIONS: dict[str, dict[str, str]] = {
    "arrow": {},
    "arrow int8": {"dtype": "int8"},
    "fasttext": {},
    "glove": {},
    "model2vec": {},
    "npy": {},
    "parquet": {},
    "parquet int8": {"dtype": "int8"},
    "safetensors": {},
    "safetensors int8": {"dtype": "int8"},
    "sentence-transformers": {},
    "spacy": {},
    "word2vec-binary": {},
    "word2vec-text": {},
}
TOKENIZERS = dict.fromkeys(("model2vec", "sentence-transformers"), ("tokenizers",))
LIBRARIES = {**TOKENIZERS, "spacy": ("spacy",), "gensim": ("gensim",)}


def is_installed(name: str) -> bool:
    """Whether the libraries that a format needs are installed."""
    return all(find_spec(library) for library in LIBRARIES.get(name, ()))
