"""Runs that start from given vectors: which words get which, and that frozen ones stay as they are."""

import numpy as np
import pytest
from naive import Stream, blocks, loss_of, score, sigmoid, update, window
from resuming import FORMS, arrays, corpus, interrupted_after, learn

import embeddings as em
from embeddings.errors import FormatError, SettingError
from embeddings.kernels.block import BLOCK_SIZE
from embeddings.kernels.matrix_products import UPDATE_TILE
from embeddings.kernels.random_numbers import thread_keys
from embeddings.training.init_vectors import matched, same
from embeddings.training.parameters import random_rows, zero_rows
from embeddings.training.task import prepare

WORDS = [f"w{i}" for i in range(0, 50, 2)]
FREEZABLE = [
    (trainer, settings)
    for trainer, settings in FORMS
    if trainer not in ("fasttext", "sembei") and (trainer != "paragraph-dbow" or settings)
]


def given(words=WORDS, dim=8, seed=9):
    """Vectors for half of the words."""
    return em.Vectors(words, np.random.default_rng(seed).normal(size=(len(words), dim)).astype(np.float32))


def rows_of(model, words=WORDS):
    return np.array([model.vectors[word] for word in words])


@pytest.mark.parametrize(("trainer", "settings"), FREEZABLE, ids=str)
def test_frozen_rows_stay_as_they_are_and_others_learn(trainer, settings):
    start = given()
    model = learn(trainer, corpus(trainer), settings, init=em.InitFrom(start, freeze=True))
    assert rows_of(model).tobytes() == start.matrix.tobytes()
    others = [f"w{i}" for i in range(1, 50, 2)]
    before = learn(trainer, corpus(trainer), {**settings, "learning_rate": 1e-30}, init=em.InitFrom(start))
    assert np.abs(rows_of(model, others) - rows_of(before, others)).min(axis=1).max() > 0
    assert model.tables["output"].any()
    free = learn(trainer, corpus(trainer), settings, init=em.InitFrom(start))
    assert not np.allclose(rows_of(free), start.matrix)
    assert arrays(free)["output"] != arrays(model)["output"]


def test_frozen_with_many_threads():
    start = given()
    model = learn("skipgram", corpus("skipgram"), {"epochs": 5}, threads=3, init=em.InitFrom(start, freeze=True))
    assert rows_of(model).tobytes() == start.matrix.tobytes()


def frozen_skipgram(words, output, choices, rate, frozen):
    """A naive twin of skip-gram whose frozen rows are constants: their steps go nowhere."""
    lost = 0.0
    for centre, contexts, noise in choices:
        if not contexts:
            continue
        targets, weights = window(output, centre, noise)
        read = [words[c] for c in contexts]
        moved = [np.zeros_like(words[c]) if frozen[c] else words[c] for c in contexts]
        scores = score(read, targets)
        steps = rate * np.asarray(weights) * (np.eye(1, len(targets)) - sigmoid(scores))
        assert len(targets) <= UPDATE_TILE
        update(steps, read, moved, targets)
        lost += loss_of(scores, 1, weights)
    return lost


def test_a_frozen_run_is_that_of_the_twin():
    rng, dim, seed = np.random.default_rng(1), 6, 3
    lines = [[f"w{i}" for i in rng.zipf(1.5, n) % 40] for n in (500, 3, 1, 2000, 60)] * 2
    made = em.SkipGram(dim=dim, min_count=1, subsample=0.05, epochs=1, window=3, learning_rate=0.05)
    task = prepare("skipgram", made, em.Corpus(lines), threads=1, seed=seed)
    start, size = given([f"w{i}" for i in range(0, 40, 3)], dim), len(task.vocabulary)
    words, output = (table.astype(np.float64) for table in (random_rows(size, dim, seed), zero_rows(size, dim)))
    frozen = np.array([word in start for word in task.vocabulary.words])
    for place in np.flatnonzero(frozen):
        words[place, :dim] = start[task.vocabulary.words[place]]
    (choices,) = [
        choices
        for choices in blocks(task.source(), 0, task.corpus_words, Stream(int(thread_keys(seed, 1)[0])), BLOCK_SIZE, 5)
        if choices
    ]
    assert frozen_skipgram(words, output, choices, made.learning_rate_at(0, task.corpus_words), frozen) > 0
    run_options = em.RunOptions(init=em.InitFrom(start, freeze=True))
    model = made.train(em.Corpus(lines), threads=1, seed=seed, run_options=run_options)
    np.testing.assert_allclose(model.vectors.matrix, words[:, :dim], atol=2e-3)
    np.testing.assert_allclose(model.tables["output"], output[:, :dim], atol=2e-3)
    assert abs(model.vectors.matrix[~frozen]).max() > 0.1


@pytest.mark.parametrize("trainer", ["skipgram", "cbow", "paragraph-dbow", "fasttext"])
def test_given_words_start_there_and_others_where_they_would_have(trainer):
    start, settings = given(), {"learning_rate": 1e-30, "buckets": 99} if trainer == "fasttext" else {"learning_rate": 1e-30}
    model = learn(trainer, corpus(trainer), settings, init=em.InitFrom(start))
    drawn = learn(trainer, corpus(trainer), settings)
    others = [f"w{i}" for i in range(1, 50, 2)]
    places = [model.vectors.index(word) for word in WORDS]
    rows = model.tables["words"][places] if trainer == "fasttext" else rows_of(model)
    np.testing.assert_allclose(rows, start.matrix, atol=1e-6)
    assert rows_of(model, others).tobytes() == rows_of(drawn, others).tobytes()
    assert model.record["notes"] == ["25 of 50 words started from the given vectors"]


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
def test_words_that_are_one_when_lower_cased(duplicates, counts, expected):
    vectors = CASED if counts else em.Vectors(CASED.words, CASED.matrix)
    words = ["dog", "a", "cat", "the"]
    places, rows = matched(vectors, words, duplicates, str.lower)
    assert {words[place]: row.tolist() for place, row in zip(places, rows, strict=True)} == expected


def test_a_corpus_that_keeps_case_takes_words_as_they_stand():
    places, rows = matched(CASED, ["The", "dog"], "average", same)
    assert (places.tolist(), rows.tolist()) == ([0], [[2, 3]])
    text = ["The dog saw the cat"] * 30
    how = {"dim": 2, "min_count": 1, "learning_rate": 1e-30, "threads": 1, "init": em.InitFrom(CASED)}
    kept = em.train("cbow", em.Corpus(text, case="keep"), **how)
    lowered = em.train("cbow", em.Corpus(text), **how)
    np.testing.assert_allclose(kept.vectors["the"], [0, 1])
    np.testing.assert_allclose(kept.vectors["The"], [2, 3])
    np.testing.assert_allclose(lowered.vectors["the"], [2, 3])


@pytest.mark.parametrize("name", ["v.bin", "v.txt", "v.kv.npy", "model"])
def test_from_any_file(tmp_path, name):
    start = given()
    if name == "model":
        learn("skipgram", corpus("skipgram"), {}, init=em.InitFrom(start, freeze=True)).save(tmp_path / name)
    else:
        start.save(tmp_path / name)
    model = learn("cbow", corpus("cbow"), {"learning_rate": 1e-30}, init=em.InitFrom(tmp_path / name))
    np.testing.assert_allclose(rows_of(model), start.matrix, atol=1e-5)


def test_it_goes_on_from_a_checkpoint(tmp_path):
    made, how = em.Checkpoints(tmp_path / "c"), {"init": em.InitFrom(given(), freeze=True)}
    whole = learn("cbow", corpus("cbow"), {}, **how)
    with interrupted_after(4), pytest.raises(em.Interrupted):
        learn("cbow", corpus("cbow"), {}, checkpoints=made, **how)
    for other in (em.InitFrom(given(seed=1), freeze=True), em.InitFrom(given()), None):
        with pytest.raises(em.EmbeddingsError, match="is of another run"):
            learn("cbow", corpus("cbow"), {}, checkpoints=made, resume=True, init=other)
    assert arrays(learn("cbow", corpus("cbow"), {}, checkpoints=made, resume=True, **how)) == arrays(whole)


BROKEN = em.Vectors(["w1", "w2"], np.array([[0.0] * 8, [np.nan] * 8]))


@pytest.mark.parametrize(
    ("trainer", "settings", "init", "told"),
    [
        ("cbow", {}, em.InitFrom(given(dim=9)), "have 9 components: dim must be that too"),
        ("cbow", {}, em.InitFrom(given(["x", "y"])), "none of the 50 words of the corpus has a vector to start from"),
        ("cbow", {}, em.InitFrom(BROKEN), "the vector to start 'w2' from holds NaN or infinity"),
        ("fasttext", {"buckets": 9}, em.InitFrom(given(), freeze=True), "no rows of words that could be frozen"),
        ("paragraph-dbow", {}, em.InitFrom(given(), freeze=True), "no rows of words that could be frozen"),
        ("sembei", {"compositional": True}, em.InitFrom(given()), "sembei cannot start from vectors: .* sums of rows"),
        ("cbow", {}, "v.bin", r"init must be embeddings\.InitFrom, not 'v\.bin'"),
    ],
)  # fmt: skip
def test_what_no_run_starts_from(trainer, settings, init, told):
    with pytest.raises(SettingError, match=told):
        learn(trainer, corpus(trainer), settings, init=init)


def test_an_init_that_is_made_wrongly(tmp_path):
    with pytest.raises(SettingError, match="duplicates must be one of most-frequent, average, exact, not 'first'"):
        em.InitFrom(given(), "first")
    with pytest.raises(SettingError, match="freeze must be true or false, not 1"):
        em.InitFrom(given(), freeze=1)
    with pytest.raises(FormatError, match="missing"):
        learn("cbow", corpus("cbow"), {}, init=em.InitFrom(tmp_path / "missing"))
