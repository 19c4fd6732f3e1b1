"""Text vectors from pairs: what is read, refused, saved and trained further."""

import itertools

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.vectors.subwords import subwords

THINGS = ["red apple", "green pear", "yellow banana", "blue plum", "ripe cherry", "sour lemon"]


def thing_pairs(count=60, seed=1):
    """Pairs of texts about one of six things."""
    rng = np.random.default_rng(seed)
    numbers = rng.integers(0, len(THINGS), count)
    return [(f"{THINGS[n]} a{rng.integers(3)}", f"the {THINGS[n].split()[0]} b{rng.integers(3)}") for n in numbers]


def rated_pairs(count=40, seed=2):
    rng = np.random.default_rng(seed)
    picks = rng.integers(0, len(THINGS), (count, 2))
    return [(THINGS[a], f"some {THINGS[b]}", 5.0 if a == b else float(rng.integers(0, 2))) for a, b in picks]


def train(pairs, **settings):
    return em.DualEncoder(**{"dim": 8, "epochs": 3, "batch_size": 16, **settings}).train(pairs, threads=1, seed=3)


def cosine(model, left, right):
    a, b = (np.sum([model.vectors[word] for word in text.split()], axis=0) for text in (left, right))
    return a @ b / np.linalg.norm(a) / np.linalg.norm(b)


def test_pairs_become_near_and_others_do_not():
    model = train(thing_pairs(), epochs=40, learning_rate=0.2)
    assert cosine(model, "red apple", "the red") > 0.8
    assert cosine(model, "red apple", "the green") < 0.5
    assert model.record["pairs"] == 60


def test_pairs_without_known_words_are_dropped_and_counted():
    pairs = [*thing_pairs(), ("unheard", "red apple"), ("red apple", "unseen words")]
    model = train(pairs, min_count=2)
    assert (model.record["pairs"], model.record["dropped_pairs"]) == (60, 2)
    assert model.record["words"] == 3 * 60
    with pytest.raises(CorpusError, match="none of 2 pairs has words"):
        train([("a b", "c"), ("a", "d")], min_count=2)


def test_a_model_is_trained_further_by_another_objective():
    model = train(thing_pairs())
    rated = em.continue_training(
        model, rated_pairs(), objective="cosent", batch_size=8, epochs=30, learning_rate=0.01, threads=1
    )
    assert set(model.vectors.words) < set(rated.vectors.words)
    ratings = [rating for _, _, rating in rated_pairs()]
    before, after = (
        np.corrcoef([cosine(one, a, b.removeprefix("some ")) for a, b, _ in rated_pairs()], ratings)[0, 1]
        for one in (model, rated)
    )
    assert after > before + 0.05


def test_ratings_are_scaled_from_the_lowest_to_the_highest():
    shifted = [(a, b, 2 * rating - 7) for a, b, rating in rated_pairs()]
    one, other = (train(pairs, objective="cosent") for pairs in (rated_pairs(), shifted))
    np.testing.assert_allclose(one.vectors.matrix, other.vectors.matrix, atol=1e-6)


def test_line_breaks_in_texts_do_not_separate_sides():
    pairs = thing_pairs()
    broken = [(left.replace(" ", "\r\n"), right.replace(" ", "\n")) for left, right in pairs]
    assert train(pairs).vectors.matrix.tobytes() == train(broken).vectors.matrix.tobytes()


def test_words_are_composed_of_ngrams(tmp_path):
    pairs = thing_pairs()
    model = train(pairs, min_n=2, max_n=4, buckets=50, epochs=5)
    tables, known = model.tables, list(model.vectors.words)
    offsets, rows = subwords([*known, "apples"], min_n=2, max_n=4, buckets=50)
    means = np.array([tables["character_ngrams"][rows[a:b]].mean(axis=0) for a, b in itertools.pairwise(offsets)])
    np.testing.assert_allclose(model.vectors.matrix, tables["words"] + means[:-1], atol=1e-5)
    np.testing.assert_allclose(model.compose(["apples"])[0], means[-1], atol=1e-5)
    model.save(tmp_path / "m")
    loaded = em.load_model(tmp_path / "m")
    np.testing.assert_array_equal(em.embed(loaded, ["apples", "red"]), em.embed(model, ["apples", "red"]))
    assert em.embed(loaded, ["apples"]).any()
    further = em.continue_training(loaded, thing_pairs(seed=5), epochs=1, threads=1)
    assert further.tables["character_ngrams"].shape == (50, 8)
    with pytest.raises(FormatError, match="n-grams"):
        model.export(tmp_path / "m.bin", format="fasttext")


def test_ngrams_start_from_nothing_so_that_given_vectors_are_the_start():
    start = train(thing_pairs()).vectors
    options = em.training.RunOptions(init=em.InitFrom(start))
    trainer = em.DualEncoder(dim=8, epochs=1, batch_size=16, max_n=3, learning_rate=1e-9)
    model = trainer.train(thing_pairs(), threads=1, run_options=options)
    np.testing.assert_allclose(model.vectors.matrix, start.matrix, atol=1e-6)
    assert train(thing_pairs()).composer is None
    with pytest.raises(SettingError, match="cannot freeze"):
        trainer.train(
            thing_pairs(), threads=1, run_options=em.training.RunOptions(init=em.InitFrom(start, freeze=True))
        )


def weighted(pairs, weights):
    """Pairs with weights as a corpus."""
    names = ("left", "right", "score")[: len(pairs[0])]
    rows = [dict(zip(names, pair, strict=True), w=weight) for pair, weight in zip(pairs, weights, strict=True)]
    rating = "score" if len(names) > 2 else None
    return em.Corpus(rows, pairs=em.corpora.PairFormat(left="left", right="right", rating=rating, weight="w"))


@pytest.mark.parametrize(("pairs", "objective"), [(thing_pairs(), "in-batch-negatives"), (rated_pairs(), "cosent")])
def test_only_the_ratios_of_weights_count_and_a_pair_of_weight_zero_is_left_out(pairs, objective):
    plain, others = train(pairs, objective=objective), train(weighted(pairs, [2.5] * len(pairs)), objective=objective)
    np.testing.assert_array_equal(plain.vectors.matrix, others.vectors.matrix)
    some = train(weighted(pairs, [0, 0, 0] + [1] * (len(pairs) - 3)), objective=objective)
    assert (some.record["pairs"], some.record["dropped_pairs"]) == (len(pairs) - 3, 3)


@pytest.mark.parametrize(
    ("pairs", "settings", "message"),
    [
        (thing_pairs(), {"objective": "cosent"}, "requires ratings that differ"),
        ([("a b", "c d", "e f"), ("b", "c", "d")], {"objective": "cosent"}, "requires pairs of 2 texts"),
        (em.Corpus(["a b", "c d"]), {}, "requires a Corpus with pairs=em.corpora.PairFormat"),
        (weighted(thing_pairs(), [0] * 60), {}, r"none of 60 pairs .* weight above 0"),
    ],
)
def test_pairs_that_cannot_be_learned_are_refused(pairs, settings, message):
    with pytest.raises(CorpusError, match=message):
        train(pairs, **settings)
