"""Figures that `reproduction.py` measures itself: short runs on data that comes with the package or with gensim."""

import numpy as np

import embeddings as em
from embeddings.indexes.lsh import LSH
from embeddings.models.subwords import ngram_hashes

PUBLISHED_HASHES = {"команда": 1725507386, "北海道": 4096045468, "札幌": 3909947444, "mysterious": 1903186891}


def lee_corpus(seeds: int = 3) -> tuple[float, int]:
    """How many of the 300 documents of the Lee corpus are nearest to their own inferred vector, and the seeds."""
    from gensim.test.utils import datapath
    from gensim.utils import simple_preprocess

    with open(datapath("lee_background.cor"), encoding="iso-8859-1") as lines:
        documents = [simple_preprocess(line) for line in lines]
    counts = []
    for seed in range(1, seeds + 1):
        trainer = em.ParagraphDM(dim=50, min_count=2, epochs=40, learning_rate=0.025)
        model = trainer.train(em.Corpus(documents), threads=1, seed=seed)
        inferred, own = (normalize(rows) for rows in (model.infer(documents, threads=1), model.documents.matrix))
        counts.append(int((np.argmax(inferred @ own.T, axis=1) == np.arange(len(own))).sum()))
    return float(np.mean(counts)), seeds


def fasttext_hashes() -> tuple[float, int]:
    """How many of four n-grams, some beyond ASCII, have the hash that fastText gives them."""
    count = 0
    for ngram, expected in PUBLISHED_HASHES.items():
        hashes = ngram_hashes([ngram], len(ngram), len(ngram))[1]  # of <..., the word itself, and ...>
        count += int(hashes[1]) == expected
    return count, 1


def fasttext_file() -> tuple[float, int]:
    """The largest difference between vectors of words, known and unknown, in a file of fastText, and gensim's of them.

    Without </s>, which has no n-grams in fastText but has some in gensim.
    """
    from gensim.models.fasttext import load_facebook_vectors
    from gensim.test.utils import datapath

    path = datapath("crime-and-punishment.bin")
    theirs, ours = load_facebook_vectors(path), em.load_model(path).vectors
    words = [*(word for word in ours.words if word != "</s>"), "landlady's", "преступление", "xyzzyx"]
    return max(float(np.abs(np.asarray(ours[word]) - theirs[word]).max()) for word in words), 1


def lsh_rank(bits: int, rerank: int = 0, rows: int = 10_000, dim: int = 128, queries: int = 200) -> tuple[float, int]:
    """The mean true rank of the neighbour that random hyperplanes find first, among independent normal vectors."""
    rng = np.random.default_rng(1)
    matrix, other = (normalize(rng.normal(size=(n, dim))).astype(np.float32) for n in (rows, queries))
    index = LSH(bits=bits, rerank=rerank, orthogonal=False, centre=False).build(matrix)
    best = index.search(other, 1, None)[0][:, 0]
    cosines = other @ matrix.T
    found = np.take_along_axis(cosines, best[:, None], axis=1)
    return float((1 + (cosines > found).sum(axis=1)).mean()), 1


def normalize(rows: np.ndarray) -> np.ndarray:
    """Rows of length 1."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))
