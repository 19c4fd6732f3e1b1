"""A running server of `embeddings explore`."""

import numpy as np
import pytest
from explorer_server import HOSTILE, TEXT, Server

import embeddings as em


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """A text, a model of it, replicates, and vectors with hostile words."""
    path = tmp_path_factory.mktemp("explore")
    (path / "text.txt").write_text(TEXT)
    corpus = em.Corpus(path / "text.txt")
    model = em.train("skipgram", corpus, dim=8, min_count=1, epochs=2, threads=1)
    model.save(path / "model")
    em.analysis.stability(model, corpus, resamples=2, seeds=0, resample_by="lines", threads=1).save(path / "replicates")
    em.TextIndex.build(model, [f"the king {HOSTILE}", "a dog, the DOG!", "x" * 3000], path / "texts.index")
    words = [HOSTILE, "Word", "word", "wörter", "日本", "x" * 3000, "a b", "zero"]
    matrix = np.random.default_rng(1).standard_normal((len(words), 5)).astype(np.float32)
    matrix[-1] = 0
    em.Vectors(words, matrix).save(path / "words.parquet")
    return path


@pytest.fixture(scope="session")
def server(folder):
    """The command with everything."""
    running = Server(
        folder / "model", "--corpus", folder / "text.txt", "--confidence", folder / "replicates",
        "--projection", "pca", "--groups", 3,
        "--texts", folder / "texts.index",
    )  # fmt: skip
    yield running
    running.process.kill()
    running.process.communicate()


@pytest.fixture(scope="session")
def model(folder):
    return em.load(folder / "model")
