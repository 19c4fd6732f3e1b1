"""fastText as a trainer: all its forms, a run against the twin, unseen words, and exchange when trained."""

import naive
import numpy as np
import pytest
from naive import Stream, blocks, composed

import embeddings as em
from embeddings.errors import SettingError
from embeddings.kernels.block import POSITION, fill_block, rewind
from embeddings.kernels.matrix_products import UPDATE_TILE
from embeddings.kernels.random_numbers import thread_keys
from embeddings.models.subwords import subwords
from embeddings.plugins import fasttext
from embeddings.testing import check_trainer
from embeddings.training.parameters import random_rows
from embeddings.training.task import prepare


@pytest.mark.parametrize(
    "settings",
    [
        {"architecture": "cbow"},
        {"architecture": "cbow", "position_weights": True},
        {"max_n": 0},
        {"min_n": 0, "max_n": 2},
        {"buckets": 300},
        {"window": 140, "architecture": "cbow"},
        {"window": 140},
        {"negatives": 20},
        {"negative_sharing": "batch"},
    ],
    ids=str,
)
def test_forms(settings):
    check_trainer(em.FastText, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"position_weights": True}, "position_weights are for the architecture cbow, not skipgram"),
        ({"min_n": 6, "max_n": 3}, "min_n must be from 0 to max_n, 3, not 6"),
        ({"max_n": 0, "buckets": 5}, "buckets are for n-grams, of which there are none with max_n 0: leave out 5"),
        ({"buckets": 0}, "buckets must be at least 1"),
        ({"max_n": 101}, "max_n must be .* at most 100, not 101"),
    ],
)
def test_refused(settings, message):
    with pytest.raises(SettingError, match=message):
        em.FastText(**settings)


@pytest.mark.parametrize("architecture", ["skipgram", "cbow"])
def test_a_run_is_that_of_the_twin(architecture):
    """From the first tables to the last, over epochs and blocks of 512 words."""
    rng, dim, seed = np.random.default_rng(1), 6, 3
    words = [f"{'ab' * (i % 3)}{i}" for i in range(40)]
    lines = [[words[i] for i in rng.zipf(1.5, n) % 40] for n in (500, 3, 1, 900, 60)]
    made = em.FastText(
        dim=dim, min_count=3, epochs=2, window=3, architecture=architecture, buckets=25, min_n=2, max_n=3, learning_rate=0.01
    )
    task = prepare("fasttext", made, em.Corpus(lines), threads=1, seed=seed)
    known = task.vocabulary.words
    offsets, rows = subwords(known, min_n=2, max_n=3, buckets=25)
    parts = [rows[offsets[w] : offsets[w + 1]].tolist() for w in range(len(known))]
    own, ngrams = (t.astype(np.float64) for t in (random_rows(len(known), dim, seed), random_rows(25, dim, seed + 2**32)))
    output, learn = np.zeros_like(own), naive.skipgram if architecture == "skipgram" else naive.cbow
    stream, total, done = Stream(int(thread_keys(seed, 1)[0])), task.corpus_words, 0
    for _ in range(2):
        for choices, read in blocks_read(task, total, stream):
            rate = made.learning_rate_at(done, 2 * total)
            learned = lambda t, c=choices, r=rate: learn(t, output, c, r, at_once=UPDATE_TILE)  # noqa: E731
            naive.fasttext(own, ngrams, parts, learned)
            done += read
    model = made.train(em.Corpus(lines), threads=1, seed=seed)
    for name, twin in (("words", own), ("ngrams", ngrams), ("output", output)):
        np.testing.assert_allclose(model.tables[name], twin[:, :dim], atol=4e-3)
    np.testing.assert_allclose(model.vectors.matrix, composed(own, ngrams, parts)[:, :dim], atol=4e-3)
    assert abs(model.tables["ngrams"]).max() > 0.3  # they began below 1 / dim


def blocks_read(task, total, stream):
    """The choices of each block of an epoch, and the words of the corpus that were read for it."""
    source, made, before = task.source(), task.windows(size=fasttext.FASTTEXT_BLOCK_SIZE).block(), 0
    state = np.array([stream.key, stream.counter], np.uint64)
    rewind(made, source, 0, total)
    for choices in blocks(source, 0, total, stream, fasttext.FASTTEXT_BLOCK_SIZE, 5):
        fill_block(made, source, state)
        yield choices, int(made.cursor[POSITION]) - before
        before = int(made.cursor[POSITION])


@pytest.fixture(scope="module")
def trained():
    """A model of a small text in which long words stand in two kinds of company."""
    rng = np.random.default_rng(1)
    kinds = {"government": ["senate", "minister", "parliament"], "mountain": ["summit", "glacier", "valley"]}
    lines = [[name, *rng.permutation(others)] for name, others in kinds.items() for _ in range(400)]
    rng.shuffle(lines)
    return em.FastText(dim=24, min_count=1, epochs=6, subsample=0).train(em.Corpus(lines), threads=1)


def test_misspelt_words_are_near_the_word_that_was_meant(trained):
    near = trained.vectors.most_similar
    assert near("goverment", top=1)[0][0] == "government"
    assert near("mountian", top=1)[0][0] == "mountain"
    assert near("glaciar", top=1)[0][0] == "glacier"


def test_a_trained_model_goes_through_fasttexts_file(trained, tmp_path):
    from gensim.models.fasttext import load_facebook_vectors

    trained.export(tmp_path / "m.bin", "fasttext")
    theirs, again = load_facebook_vectors(str(tmp_path / "m.bin")), em.load(tmp_path / "m.bin")
    for word in [*trained.vectors.words, "goverment", "mountian", "glaciers"]:
        np.testing.assert_allclose(theirs[word], trained.vectors[word], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(again[word], trained.vectors[word], rtol=1e-5, atol=1e-6)
