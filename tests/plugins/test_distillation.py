"""Distillation: its start, gradients and steps beside a naive version, and what is read, refused and saved."""

import json
import os
import threading

import naive_distillation as naive
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from commands import expect
from naive import numerical_gradient
from platforms import needs_pipes

import embeddings as em
from embeddings.corpora import VectorFormat, text_vectors
from embeddings.errors import CorpusError, EmbeddingsError, SettingError
from embeddings.kernels.block import LAST, new_cursor
from embeddings.kernels.loss_tally import LOSS
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.plugins.distillation.distillation import fit_ngram_rows
from embeddings.plugins.text_pairs.learn_pairs import PairOperands, learn_text_pairs, new_subword_batch
from embeddings.plugins.text_pairs.pair_objectives import BatchShape, TeacherCosine
from embeddings.plugins.text_pairs.pair_stream import PairBlock, PairTexts
from embeddings.plugins.text_pairs.pair_training import new_text_batch
from embeddings.testing.gradient_rows import GradientRows

WORDS, DIM, TEACHER = 30, 6, 10


def teacher_texts(count=120, seed=1, noise=0.1):
    """Texts of random words, vectors that are about the sums of vectors of their words, and the latter."""
    rng = np.random.default_rng(seed)
    words = rng.normal(size=(WORDS, TEACHER)) * np.linspace(2, 0.1, TEACHER)
    ids = [rng.integers(0, WORDS, rng.integers(2, 7)) for _ in range(count)]
    vectors = np.array([words[text].sum(axis=0) for text in ids]) + noise * rng.normal(size=(count, TEACHER))
    return [" ".join(f"word{number}" for number in text) for text in ids], vectors.astype(np.float32), words


def train(texts, vectors, **settings):
    trainer = em.Distillation(**{"dim": DIM, "batch_size": 16, "max_n": 0, **settings})
    return trainer.train(text_vectors(texts, vectors), threads=1, seed=3)


def save_words(path, words, names=None):
    names = names or [f"word{number}" for number in range(len(words))]
    pq.write_table(text_vectors(names, np.asarray(words, np.float32)), path)
    return str(path)


def test_gradients_in_float64():
    rng = np.random.default_rng(2)
    width, rows, aims = 16, rng.normal(size=(12, DIM)), rng.normal(size=(7, DIM))
    weights = rng.uniform(0.5, 3, 7)
    aims *= (weights / np.linalg.norm(aims, axis=1))[:, None]
    texts = [tuple(rng.integers(0, 12, rng.integers(1, 6)).tolist()) for _ in range(7)]
    numbers = rng.permutation(7)
    targets, table = np.zeros((7, width)), np.zeros((12, width))
    targets[:, :DIM], table[:, :DIM] = aims, rows
    ids, starts = np.array([word for text in texts for word in text], np.int32), np.cumsum([0, *map(len, texts)])
    learned, none = GradientRows(table, np.zeros_like(table)), np.zeros((0, width))
    empty, buffers = GradientRows(none, none), new_step_buffers(1, 1, 16, dtype=np.float64)
    operands = PairOperands(
        PairTexts(ids, starts, 1, 12, 1 << 40, 0),
        new_text_batch(BatchShape(7, 1, width), len(ids), 12, np.float64),
        learned,
        new_subword_batch(empty, np.zeros(1, np.int64), np.empty(0, np.int32), len(ids)),
        DIM,
        TeacherCosine(targets),
    )
    block = PairBlock(new_cursor(), numbers, np.zeros(7, np.uint64))
    block.cursor[LAST] = 7
    learn_text_pairs(block, operands, buffers, 1.0)
    expected = numerical_gradient(lambda: naive.loss(rows, texts, aims, weights), rows)
    assert buffers.tally[LOSS] / 7 == pytest.approx(naive.loss(rows, texts, aims, weights), rel=1e-9)
    np.testing.assert_allclose(learned.moments[:, :DIM], expected, atol=1e-8)


def test_the_start_and_the_steps_are_those_of_the_naive_version(tmp_path):
    """Without shuffling, one epoch is the start in closed form, then one step of AdaGrad for each batch."""
    texts, vectors, words = teacher_texts()
    path = save_words(tmp_path / "words.parquet", words)
    settings = {"epochs": 1, "shuffle": False, "schedule": "constant", "warm_up": None, "learning_rate": 0.05}
    model = train(texts, vectors, word_vectors=path, held_out=0.01, **settings)

    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float16).astype(np.float64)
    row_of = {word: row for row, word in enumerate(model.vectors.words)}
    ids = [[row_of[word] for word in text.split()] for text in texts]
    is_read = np.arange(len(texts)) % 100 > 0
    read = [text for text, one in zip(ids, is_read, strict=True) if one]
    components = naive.principal_components(unit[is_read], DIM)
    aims = naive.targets(unit, components)
    counts = model.vectors.counts
    by_row = np.array([words[int(word.removeprefix("word"))] for word in model.vectors.words])
    ones = np.ones(len(read))
    rows = naive.initial_rows(by_row.astype(np.float32), counts / counts.sum(), read, aims[is_read], ones)
    squares = np.zeros_like(rows)
    for first in range(0, len(read), 16):
        part = slice(first, first + 16)
        naive.adagrad_step(rows, squares, read[part], aims[is_read][part], ones[part], 0.05)
    np.testing.assert_allclose(model.tables["teacher_components"], components, atol=1e-3)
    np.testing.assert_allclose(model.vectors.matrix, rows, atol=2e-3)
    held = [(rows[text].sum(axis=0), aims[number]) for number, text in enumerate(ids) if not is_read[number]]
    cosines = [u @ y / np.linalg.norm(u) / np.linalg.norm(y) for u, y in held]
    assert model.record["held_out_cosine"] == pytest.approx(np.mean(cosines), abs=1e-3)
    assert (model.record["texts"], model.record["held_out_texts"], model.record["teacher_dim"]) == (118, 2, TEACHER)


def test_texts_point_where_the_teacher_does_also_without_word_vectors(tmp_path):
    texts, vectors, words = teacher_texts(2000)
    assert train(texts, vectors, epochs=20, learning_rate=0.05).record["held_out_cosine"] > 0.95
    with_words = train(texts, vectors, word_vectors=save_words(tmp_path / "w.parquet", words), epochs=1)
    assert with_words.record["held_out_cosine"] > 0.97


def test_words_without_a_text_get_vectors_and_no_text_reads_them(tmp_path):
    texts, vectors, words = teacher_texts(400)
    names = [*(f"word{number}" for number in range(WORDS)), "twin", "two words"]
    path = save_words(tmp_path / "w.parquet", np.vstack([words, words[:1], words[:1]]), names)
    model = train(texts, vectors, word_vectors=path)
    assert len(model.vectors) == WORDS + 1
    assert model.vectors.similarity("twin", "word0") > 0.95
    assert model.vectors.counts[model.vectors.words.index("twin")] == 0
    limited = train(texts, vectors, word_vectors=path, max_vocab=10)
    assert len(limited.vectors) == 10


def test_a_model_that_records_one_table_as_a_string_is_trained_further(tmp_path):
    """As earlier versions did, whose models had one table of words at most."""
    texts, vectors, words = teacher_texts()
    pq.write_table(text_vectors(texts, vectors), tmp_path / "t.parquet")
    path = save_words(tmp_path / "w.parquet", words)
    train(texts, vectors, word_vectors=path).save(tmp_path / "model")
    record = json.loads((tmp_path / "model" / "model.json").read_text())
    record["settings"]["word_vectors"] = str(path)
    (tmp_path / "model" / "model.json").write_text(json.dumps(record))
    options = ["--threads", "1", "--epochs", "1", "-o", tmp_path / "further"]
    expect("train", "distill", tmp_path / "t.parquet", "--continue", tmp_path / "model", *options)
    assert list(em.load_model(tmp_path / "further").settings["word_vectors"]) == [str(path)]


@needs_pipes
def test_word_vectors_may_be_a_vector_file_or_a_table_in_a_pipe(tmp_path):
    texts, vectors, words = teacher_texts()
    em.Vectors([f"word{number}" for number in range(WORDS)], words.astype(np.float32)).save(tmp_path / "w.txt")
    saved = train(texts, vectors, word_vectors=str(tmp_path / "w.txt"))
    rows = [{"word": f"word{number}", "vector": row} for number, row in enumerate(words.astype(np.float32).tolist())]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    os.mkfifo(tmp_path / "pipe")
    threading.Thread(target=(tmp_path / "pipe").write_text, args=(lines,), daemon=True).start()
    pipe = train(texts, vectors, word_vectors=str(tmp_path / "pipe"))
    np.testing.assert_allclose(pipe.vectors.matrix, saved.vectors.matrix, atol=1e-3)


def test_missing_word_vectors_are_refused_before_the_corpus_is_read(tmp_path, monkeypatch):
    corpus = em.Corpus(text_vectors(["a"], np.ones((1, 3))), vectors=VectorFormat())
    monkeypatch.setattr(em.Corpus, "encode", None)
    with pytest.raises(EmbeddingsError, match=r"missing\.txt"):
        em.Distillation(word_vectors=str(tmp_path / "missing.txt")).train(corpus)


def test_ngrams_reproduce_the_directions_of_words():
    rng = np.random.default_rng(4)
    vectors = rng.normal(size=(50, DIM)).astype(np.float32) * np.linspace(0.1, 2, 50, dtype=np.float32)[:, None]
    offsets = np.arange(0, 50 * 4 + 1, 4)
    buckets = rng.permutation(200).astype(np.int32)
    rows = fit_ngram_rows(vectors, offsets, buckets, 200, seed=1)
    means = rows[buckets].reshape(50, 4, DIM).mean(axis=1)
    unit, aims = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (means, vectors))
    assert ((unit * aims).sum(axis=1) > 0.99).all()
    norm = np.median(np.linalg.norm(vectors[25:], axis=1))
    np.testing.assert_allclose(np.linalg.norm(means, axis=1), norm, rtol=0.2)


def test_unknown_words_are_composed_and_the_vectors_of_words_do_not_depend_on_it(tmp_path):
    texts, vectors, words = teacher_texts()
    path = save_words(tmp_path / "w.parquet", words)
    model, plain = train(texts, vectors, word_vectors=path, max_n=5), train(texts, vectors, word_vectors=path)
    np.testing.assert_array_equal(model.vectors.matrix, plain.vectors.matrix)
    known, unknown = model.vectors["word7"], model.compose(["xword7"])[0]
    assert known @ unknown / np.linalg.norm(known) / np.linalg.norm(unknown) > 0.5
    rare = np.median(np.linalg.norm(model.vectors.matrix[len(model.vectors) // 2 :], axis=1))
    composed = model.compose(["xword7", "words", ""])
    np.testing.assert_allclose(np.linalg.norm(composed, axis=1), [1.25 * rare, 1.25 * rare, 0], rtol=1e-5)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(em.load_model(tmp_path / "model").compose(["xword7"])[0], unknown)
    assert not em.embed(plain, ["xword7"]).any()


def test_weights_of_sources_decide(tmp_path):
    """Two sources disagree about each text: the one with more weight wins."""
    texts, vectors, _ = teacher_texts(200, noise=0)
    one, other = text_vectors(texts, vectors), text_vectors(texts, -vectors[::-1])
    pq.write_table(one, tmp_path / "one.parquet")
    pq.write_table(other, tmp_path / "other.parquet")

    paths = [str(tmp_path / name) for name in ("one.parquet", "other.parquet")]

    def loss(*sources):
        corpus = em.Corpus(*sources, vectors=VectorFormat())
        model = em.Distillation(dim=DIM, max_n=0, epochs=20, batch_size=16, held_out=0.5).train(corpus, threads=1)
        components = model.tables["teacher_components"]
        rows = em.embed(model, texts, normalize=True)
        aims = vectors @ components
        return 1 - float(np.mean((rows * aims).sum(axis=1) / np.linalg.norm(aims, axis=1)))

    assert loss(f"{paths[0]}:10", paths[1]) < loss(*paths) < loss(paths[0], f"{paths[1]}:10")
    assert loss((one, 10), other) == pytest.approx(loss(f"{paths[0]}:10", paths[1]), abs=1e-6)
    with pytest.raises(SettingError, match=r"weight of .*one.parquet must be .*got 0"):
        em.Corpus(f"{paths[0]}:0", vectors=VectorFormat())


def as_list(vectors):
    return [list(map(float, row)) for row in vectors]


def test_arrays_arrow_columns_and_memory_maps_are_read_alike_without_a_copy(tmp_path):
    texts, vectors, _ = teacher_texts()
    np.save(tmp_path / "v.npy", vectors)
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    table = text_vectors(texts, mapped)
    column = table.column("embedding").chunk(0)
    assert column.flatten().buffers()[1].address == mapped.ctypes.data
    models = [train(texts, one).vectors.matrix for one in (vectors, mapped, pa.array(as_list(vectors)))]
    np.testing.assert_array_equal(models[1], models[0])
    np.testing.assert_allclose(models[2], models[0], atol=1e-6)
    with pytest.raises(CorpusError, match="one text for each of 120 vectors, got 2"):
        text_vectors(texts[:2], vectors)


def test_empty_texts_are_dropped_with_their_vectors():
    texts, vectors, _ = teacher_texts()
    with_gap = train([*texts[:50], "", *texts[50:]], np.insert(vectors, 50, 1, axis=0))
    np.testing.assert_array_equal(with_gap.vectors.matrix, train(texts, vectors).vectors.matrix)


def test_a_model_is_continued_in_the_components_of_its_teacher():
    texts, vectors, _ = teacher_texts(400)
    model = train(texts, vectors)
    again = em.continue_training(model, text_vectors([*texts, "word1 fresh"], np.vstack([vectors, vectors[:1]])))
    np.testing.assert_array_equal(again.tables["teacher_components"], model.tables["teacher_components"])
    assert again.record["held_out_cosine"] > model.record["held_out_cosine"] - 0.05
    assert "fresh" in again.vectors.words
    with pytest.raises(CorpusError, match="distilled from vectors of 10 numbers, got 5"):
        em.continue_training(model, text_vectors(texts, vectors[:, :5]))


def test_early_stopping_by_the_held_out_cosine():
    texts, vectors, _ = teacher_texts(400)
    stopping = em.EarlyStopping(validation=0.1, patience=1)
    trainer = em.Distillation(dim=DIM, max_n=0, epochs=200, held_out=0.1, batch_size=16, learning_rate=0.5)
    model = trainer.train(text_vectors(texts, vectors), threads=1, callbacks=[stopping])
    scores = model.record["early_stopping"]["scores"]
    assert len(scores) < 200
    assert model.record["held_out_cosine"] == pytest.approx(max(scores) + 1)
    with pytest.raises(SettingError, match=r"validation must be 0.1, .* got 0.2"):
        trainer.train(text_vectors(texts, vectors), callbacks=[em.EarlyStopping(validation=0.2)])


def table_of(vectors):
    """A table of the texts of `teacher_texts` with other vectors."""
    return text_vectors(teacher_texts()[0], vectors)


TEXTS, GOOD, TEACHER_WORDS = teacher_texts()
AT_5 = np.arange(len(GOOD))[:, None] == 5
MIXED = table_of(GOOD), table_of(GOOD[:, :5])
AMBIGUOUS = table_of(GOOD).rename_columns(["a", "embedding"]).add_column(1, "b", pa.array(TEXTS))


@pytest.mark.parametrize(
    ("source", "settings", "message"),
    [
        (lambda: table_of(np.where(AT_5, np.nan, GOOD)), {}, "row 6: the vector .* not finite"),
        (lambda: table_of(np.where(AT_5, 0, GOOD)), {}, "row 6: the vector .* only zeros"),
        (lambda: table_of(pa.array([*as_list(GOOD[:-1]), [1.0, 2.0]])), {}, "row 120: .* 10 numbers, got 2"),
        (lambda: table_of(pa.array([*as_list(GOOD[:-1]), None])), {}, "row 120: .* 10 numbers, got null"),
        (lambda: table_of(pa.array(["x"] * len(GOOD))), {}, "'embedding' .* must hold lists of numbers, got string"),
        (lambda: text_vectors(pa.nulls(120, pa.string()), GOOD), {}, "all 120 rows have an empty cell"),
        (lambda: text_vectors(TEXTS[:20], np.tile(GOOD[:20], 2)), {"dim": 20}, "19 texts .* at least 20"),
        (lambda: table_of(GOOD), {"dim": 11}, "10 numbers; dim=11 requires"),
        (lambda: em.Corpus(["a b", "c d"]), {}, "requires a Corpus with vectors=em.corpora.VectorFormat"),
        (lambda: "sample", {}, "has no vectors of texts.* embeddings teach"),
        (lambda: em.Corpus(*MIXED, vectors=VectorFormat()), {}, "row 1: expected a vector of 10 numbers, got 5"),
        (lambda: AMBIGUOUS, {}, "set text_column; its columns: a, b, embedding"),
    ],
)  # fmt: skip
def test_tables_that_cannot_be_learned_are_refused_in_one_line(source, settings, message):
    with pytest.raises(CorpusError, match=message) as caught:
        em.Distillation(**{"dim": DIM, "max_n": 0, **settings}).train(source(), threads=1)
    assert "\n" not in str(caught.value)


def test_too_few_texts_and_words_are_refused(tmp_path):
    """Also where only texts that are held out have words with vectors, and where a model is continued."""
    with pytest.raises(CorpusError, match="got 0 texts"):
        em.continue_training(train(TEXTS, GOOD), text_vectors(TEXTS[:1], GOOD[:1]), threads=1)
    for texts, names in ((TEXTS, [f"other{n}" for n in range(WORDS)]), (["rare word1", *TEXTS[1:]], ["rare"])):
        path = save_words(tmp_path / "w.parquet", TEACHER_WORDS[: len(names)], names)
        with pytest.raises(CorpusError, match=r"no text to train on .* word_vectors"):
            train(texts, GOOD, word_vectors=path, held_out=0.01, min_count=1)


@pytest.mark.parametrize(("share", "texts"), [(1e-10, 1), (0.07, 7), (0.5, 50)])
def test_the_share_that_is_held_out_is_the_one_that_was_asked_for(share, texts):
    model = train(TEXTS[:100], GOOD[:100], held_out=share, epochs=1)
    assert (model.record["texts"], model.record["held_out_texts"]) == (100 - texts, texts)
    assert np.isfinite(model.record["held_out_cosine"])


def test_word_vectors_of_several_languages_are_joined(tmp_path, caplog):
    """A word of two tables has the mean of its vectors; a language without a table is named by its words."""
    half = WORDS // 2
    first = save_words(tmp_path / "a.parquet", TEACHER_WORDS[: half + 1])
    names = [f"word{number}" for number in range(half, WORDS)]
    second = save_words(tmp_path / "b.parquet", TEACHER_WORDS[half:], names)
    every = save_words(tmp_path / "all.parquet", TEACHER_WORDS)
    joined = train(TEXTS, GOOD, word_vectors=[first, second])
    assert joined.settings["word_vectors"] == (first, second)
    np.testing.assert_allclose(joined.vectors.matrix, train(TEXTS, GOOD, word_vectors=every).vectors.matrix, atol=1e-6)
    assert not caplog.records
    other = save_words(tmp_path / "c.parquet", 3 * TEACHER_WORDS[:1])
    twice = save_words(tmp_path / "d.parquet", np.vstack([2 * TEACHER_WORDS[:1], TEACHER_WORDS[1:]]))
    mean = train(TEXTS, GOOD, word_vectors=[every, other])
    np.testing.assert_allclose(mean.vectors.matrix, train(TEXTS, GOOD, word_vectors=twice).vectors.matrix, atol=1e-6)
    train(TEXTS, GOOD, word_vectors=[first])
    assert "have no vector" in caplog.text
    assert any(name in caplog.text for name in names)


def test_word_tables_of_other_words_or_dimensions_are_refused(tmp_path):
    every = save_words(tmp_path / "all.parquet", TEACHER_WORDS)
    other = save_words(tmp_path / "other.parquet", TEACHER_WORDS[:1], ["unseen"])
    short = save_words(tmp_path / "short.parquet", TEACHER_WORDS[:, :5])
    for path, message in ((other, "no text .*other.parquet"), (short, "10 numbers as in .*got 5 in .*short.parquet")):
        with pytest.raises(CorpusError, match=message) as caught:
            train(TEXTS, GOOD, word_vectors=[every, path])
        assert "\n" not in str(caught.value)
