"""The formats that are tried with broken files, with the settings that they are written with."""

FORMS: dict[str, dict[str, str]] = {
    "arrow": {},
    "arrow int8": {"dtype": "int8"},
    "fasttext": {},
    "glove": {},
    "huggingface": {},
    "npy": {},
    "parquet": {},
    "parquet int8": {"dtype": "int8"},
    "projector": {},
    "safetensors": {},
    "safetensors int8": {"dtype": "int8"},
    "sentence-transformers": {},
    "spacy": {},
    "word2vec-binary": {},
    "word2vec-text": {},
}
