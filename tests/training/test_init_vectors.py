"""Training from initial vectors: which words get which vector, and frozen rows do not change."""

import naive
import numpy as np
import pytest
from interrupted_runs import CONFIGURATIONS, corpus, interrupted_after, learn, table_bytes
from kernel_helpers import random_rows

import embeddings as em
from embeddings.kernels.block import BLOCK_SIZE
from embeddings.kernels.random_numbers import thread_keys
from embeddings.models.table import zero_rows
from embeddings.training.init_vectors import match_rows
from embeddings.training.training_data import prepare
from embeddings.vectors.subwords import SubwordVectors

WORDS = [f"w{i}" for i in range(0, 50, 2)]
FREEZABLE = [  # the contract of trainers tests default settings
    pytest.param(trainer, settings, marks=[pytest.mark.slow] * (trainer not in ("skipgram", "cbow")))
    for trainer, settings in CONFIGURATIONS
    if trainer != "sembei" and (trainer != "paragraph-dbow" or "train_words" in settings)
]


def half_vectors(words=WORDS, dim=8, seed=9):
    """Random vectors for half of the words."""
    return em.Vectors(words, np.random.default_rng(seed).normal(size=(len(words), dim)).astype(np.float32))


def vectors_of(model, words=WORDS):
    return np.array([model.vectors[word] for word in words])


@pytest.mark.parametrize(("trainer", "settings"), FREEZABLE, ids=str)
def test_frozen_rows_do_not_change_and_others_learn(trainer, settings):
    start = half_vectors()
    model = learn(trainer, corpus(trainer), settings, init=em.InitFrom(start, freeze=True))
    assert vectors_of(model).tobytes() == start.matrix.tobytes()
    others = [f"w{i}" for i in range(1, 50, 2)]
    before = learn(trainer, corpus(trainer), {**settings, "learning_rate": 1e-30}, init=em.InitFrom(start))
    assert np.abs(vectors_of(model, others) - vectors_of(before, others)).min(axis=1).max() > 0
    assert model.tables["output"].any()
    free = learn(trainer, corpus(trainer), settings, init=em.InitFrom(start))
    assert not np.allclose(vectors_of(free), start.matrix)
    assert table_bytes(free)["output"] != table_bytes(model)["output"]


def test_frozen_rows_with_several_threads():
    start = half_vectors()
    model = learn("skipgram", corpus("skipgram"), {"epochs": 5}, threads=3, init=em.InitFrom(start, freeze=True))
    assert vectors_of(model).tobytes() == start.matrix.tobytes()


@pytest.mark.parametrize("architecture", ["skipgram", "cbow"])
def test_frozen_words_of_fasttext_are_the_means_of_their_rows_and_do_not_teach_their_ngrams(architecture):
    start, settings = half_vectors([f"w{i}" for i in range(50)]), {"buckets": 99, "architecture": architecture}
    first, second = (
        learn("fasttext", corpus("fasttext"), {**settings, "epochs": epochs}, init=em.InitFrom(start, freeze=True))
        for epochs in (1, 2)
    )
    assert table_bytes(first)["ngrams"] == table_bytes(second)["ngrams"]  # no word is free
    assert table_bytes(first)["output"] != table_bytes(second)["output"]
    composer = SubwordVectors(first.tables["ngrams"], first.settings["min_n"], first.settings["max_n"])
    composed = composer.vocabulary_vectors(first.vocabulary.words, first.tables["words"])
    np.testing.assert_allclose(composed, first.vectors.matrix, atol=1e-5)


def frozen_skipgram(words, output, choices, rate, frozen):
    """Naive skip-gram whose frozen rows are constants; returns the loss."""
    lost = 0.0
    for centre, contexts, noise in choices:
        if contexts:
            targets, weights = naive.window_targets(output, centre, noise)
            read = [words[c] for c in contexts]
            moved = [np.zeros_like(words[c]) if frozen[c] else words[c] for c in contexts]
            lost += naive.learn(read, moved, targets, 1, weights, rate)
    return lost


def test_frozen_run_equals_the_naive_implementation():
    rng, dim, seed = np.random.default_rng(1), 6, 3
    lines = [[f"w{i}" for i in rng.zipf(1.5, n) % 40] for n in (500, 3, 1, 2000, 60)] * 2
    trainer = em.SkipGram(dim=dim, min_count=1, subsample=0.05, epochs=1, window=3, learning_rate=0.05)
    data = prepare(trainer, em.Corpus(lines), threads=1, seed=seed)
    start, size = half_vectors([f"w{i}" for i in range(0, 40, 3)], dim), len(data.vocabulary)
    words, output = (table.astype(np.float64) for table in (random_rows(size, dim, seed), zero_rows(size, dim)))
    frozen = np.array([word in start for word in data.vocabulary.words])
    for place in np.flatnonzero(frozen):
        words[place, :dim] = start[data.vocabulary.words[place]]
    source, stream = trainer.plan(data).stream.source, naive.Stream(int(thread_keys(seed, 1)[0]))
    (choices,) = filter(None, naive.blocks(source, 0, len(data.encoded.ids), stream, BLOCK_SIZE, 5))
    assert frozen_skipgram(words, output, choices, trainer.learning_rate_at(0, len(data.encoded.ids)), frozen) > 0
    run_options = em.training.RunOptions(init=em.InitFrom(start, freeze=True))
    model = trainer.train(em.Corpus(lines), threads=1, seed=seed, run_options=run_options)
    np.testing.assert_allclose(model.vectors.matrix, words[:, :dim], atol=2e-3)
    np.testing.assert_allclose(model.tables["output"], output[:, :dim], atol=2e-3)
    assert abs(model.vectors.matrix[~frozen]).max() > 0.1


@pytest.mark.parametrize("trainer", ["skipgram", "cbow", "paragraph-dbow", "fasttext"])
def test_initialised_words_start_there_and_others_at_random(trainer):
    start, settings = (
        half_vectors(),
        {"learning_rate": 1e-30, "buckets": 99} if trainer == "fasttext" else {"learning_rate": 1e-30},
    )
    model = learn(trainer, corpus(trainer), settings, init=em.InitFrom(start))
    drawn = learn(trainer, corpus(trainer), settings)
    others = [f"w{i}" for i in range(1, 50, 2)]
    np.testing.assert_allclose(vectors_of(model), start.matrix, atol=1e-6)
    assert vectors_of(model, others).tobytes() == vectors_of(drawn, others).tobytes()
    assert model.record["notes"][0].startswith("25 of 50 words")


CASED = em.Vectors(["the", "The", "THE", "cat", "Dog"], np.arange(10).reshape(5, 2), counts=[5, 9, 2, 3, 1])


@pytest.mark.parametrize(
    ("duplicates", "counts", "expected"),
    [
        ("most-frequent", True, {"the": [2, 3], "cat": [6, 7], "dog": [8, 9]}),
        ("most-frequent", False, {"the": [0, 1], "cat": [6, 7], "dog": [8, 9]}),
        ("average", True, {"the": [2, 3], "cat": [6, 7], "dog": [8, 9]}),
        ("exact", True, {"the": [0, 1], "cat": [6, 7]}),
    ],
)
def test_words_that_match_when_lower_cased(duplicates, counts, expected):
    vectors = CASED if counts else em.Vectors(CASED.words, CASED.matrix)
    words = ["dog", "a", "cat", "the"]
    places, rows = match_rows(vectors, words, duplicates, str.lower)
    assert {words[place]: row.tolist() for place, row in zip(places, rows, strict=True)} == expected


def test_a_cased_corpus_matches_words_exactly():
    places, rows = match_rows(CASED, ["The", "dog"], "average", str)
    assert (places.tolist(), rows.tolist()) == ([0], [[2, 3]])
    text = ["The dog saw the cat"] * 30
    options = {"dim": 2, "min_count": 1, "learning_rate": 1e-30, "threads": 1, "init": em.InitFrom(CASED)}
    kept = em.train("cbow", em.Corpus(text, case="keep"), **options)
    lowered = em.train("cbow", em.Corpus(text), **options)
    np.testing.assert_allclose(kept.vectors["the"], [0, 1])
    np.testing.assert_allclose(kept.vectors["The"], [2, 3])
    np.testing.assert_allclose(lowered.vectors["the"], [2, 3])


def test_resume_requires_the_same_initial_vectors(tmp_path):
    checkpoints, options = em.Checkpoints(tmp_path / "c"), {"init": em.InitFrom(half_vectors(), freeze=True)}
    whole = learn("cbow", corpus("cbow"), {}, **options)
    with interrupted_after(4), pytest.raises(em.training.Interrupted):
        learn("cbow", corpus("cbow"), {}, checkpoints=checkpoints, **options)
    for other in (em.InitFrom(half_vectors(seed=1), freeze=True), em.InitFrom(half_vectors()), None):
        with pytest.raises(em.EmbeddingsError, match="another run"):
            learn("cbow", corpus("cbow"), {}, checkpoints=checkpoints, resume=True, init=other)
    assert table_bytes(
        learn("cbow", corpus("cbow"), {}, checkpoints=checkpoints, resume=True, **options)
    ) == table_bytes(whole)


BROKEN = em.Vectors(["w1", "w2"], np.array([[0.0] * 8, [np.nan] * 8]))


@pytest.mark.parametrize(
    ("trainer", "settings", "init", "message"),
    [
        ("cbow", {}, em.InitFrom(half_vectors(dim=9)), r"dim must be 9.*got 8"),
        ("cbow", {}, em.InitFrom(half_vectors(["x", "y"])), "none of the 50 words"),
        ("cbow", {}, em.InitFrom(BROKEN), r"'w2'.*NaN"),
        ("paragraph-dbow", {}, em.InitFrom(half_vectors(), freeze=True), "freeze"),
        ("cbow", {}, em.InitFrom("no/missing"), "missing"),
        ("cbow", {}, "v.bin", r"embeddings\.InitFrom.*'v\.bin'"),
    ],
)  # fmt: skip
def test_unsuitable_vectors(trainer, settings, init, message):
    with pytest.raises(em.EmbeddingsError, match=message):
        learn(trainer, corpus(trainer), settings, init=init)
