"""fastText models with random rows, and naive versions of their n-grams, hashes and vectors."""

import numpy as np

from embeddings.corpora.vocabulary import Vocabulary
from embeddings.models.model import Model
from embeddings.models.subword_composer import composer
from embeddings.vectors.subwords import SubwordVectors
from embeddings.vectors.vectors import Vectors

WORDS = ["the", "</s>", "where", "naïve", "北海道", "e\u0301\u0301", "👩\u200d👧", "a", "x" * 300, "<b>", "of the"]
TOLERANCE = {"rtol": 1e-3, "atol": 3e-4}  # of a sum of 40,000 rows in float32
UNSEEN = ["wheres", "th", "札幌市", "😀😀", "not there", "y" * 10_000, "<", "whe\0re"]


def naive_hash(data):
    code = 2166136261
    for byte in data:
        code = ((code ^ (byte if byte < 128 else byte | 0xFFFFFF00)) * 16777619) % 2**32
    return code


def naive_characters(data):
    """Bytes split where UTF-8 starts a character; continuation bytes stay with what precedes them."""
    characters = []
    for byte in data:
        if byte & 0xC0 == 0x80 and characters:
            characters[-1] += bytes([byte])
        else:
            characters.append(bytes([byte]))
    return characters


def naive_ngrams(word, min_n, max_n):
    if word == b"</s>":
        return []
    characters = naive_characters(b"<" + word + b">")
    ngrams = []
    for begin in range(len(characters)):
        for n in range(max(1, min_n), max_n + 1):
            if begin + n <= len(characters) and not (n == 1 and begin in (0, len(characters) - 1)):
                ngrams.append(b"".join(characters[begin : begin + n]))
    return ngrams


def fasttext_model(words=WORDS, dim=7, *, min_n=3, max_n=6, buckets=50, name="fasttext", seed=0, **settings):
    rng = np.random.default_rng(seed)
    own, ngrams, output = (rng.standard_normal((rows, dim), np.float32) for rows in (len(words), buckets, len(words)))
    counts = np.arange(len(words), 0, -1) * 3
    vectors = Vectors(list(words), SubwordVectors(ngrams, min_n, max_n).vocabulary_vectors(words, own), counts=counts)
    return Model(
        name,
        vectors=vectors,
        vocabulary=Vocabulary(list(words), counts, total=int(counts.sum()) + 5),
        settings={"dim": dim, "min_n": min_n, "max_n": max_n, "buckets": buckets, **settings},
        tables={"words": own, "ngrams": ngrams, "output": output},
        composer=composer,
    )


def naive_vector(model, word):
    """The mean of a word's own row, if it has one, and its n-grams', in float64."""
    own, ngrams, buckets = model.tables["words"], model.tables["ngrams"], model.settings["buckets"]
    rows = [own[model.vectors.words.index(word)]] if word in model.vectors else []
    for ngram in naive_ngrams(word.encode(), model.settings["min_n"], model.settings["max_n"]):
        code = naive_hash(ngram)
        for _ in range(model.settings.get("hashes", 1)):
            rows.append(ngrams[code % buckets])
            code = (code ^ code >> 16) * 0x85EBCA6B % 2**32
            code ^= code >> 13
    return np.mean(rows, axis=0, dtype=np.float64) if rows else np.zeros(model.vectors.dim)
