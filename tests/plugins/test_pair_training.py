"""Text vectors from pairs: what is read, refused, saved and trained further."""

import itertools

import numpy as np
import pytest

import embeddings as em
from embeddings.errors import CorpusError, FormatError, SettingError
from embeddings.plugins.text_pairs.pair_objectives import BatchShape
from embeddings.plugins.text_pairs.pair_stream import PairStream, corpus_pairs, draw_rates
from embeddings.plugins.text_pairs.pair_training import max_batch_words
from embeddings.training.training_data import prepare
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


@pytest.mark.parametrize("optimizer", [pytest.param("adam", marks=pytest.mark.slow), "adagrad"])
def test_a_model_is_trained_further_by_another_objective(optimizer):
    model = train(thing_pairs(), optimizer=optimizer)
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
    model = train(pairs, min_n=2, max_n=4, buckets=50, token_weights="sif", epochs=5)
    tables, known = model.tables, list(model.vectors.words)
    offsets, rows = subwords([*known, "apples"], min_n=2, max_n=4, buckets=50)
    means = np.array([tables["character_ngrams"][rows[a:b]].mean(axis=0) for a, b in itertools.pairwise(offsets)])
    composed = (tables["words"] + means[:-1]) * tables["token_weights"]
    np.testing.assert_allclose(model.vectors.matrix, composed, atol=1e-5)
    assert len(np.unique(tables["token_weights"])) > 5
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


def data_sets(*sizes, proportions):
    """A corpus of data sets of pairs with proportions; the words of a pair are its data set and its number."""
    sets = [[(f"l{n}", f"s{n} p{n}x{k}") for k in range(size)] for n, size in enumerate(sizes)]
    return em.Corpus(*zip(sets, proportions, strict=True), pairs=em.corpora.PairFormat())


def drawn_pairs(corpus, shares=1, seed=None):
    """The pairs that an epoch draws, by share."""
    stream = em.DualEncoder(dim=4).plan(prepare(em.DualEncoder(dim=4), corpus, threads=1)).stream
    rng = None if seed is None else np.random.default_rng(seed)
    chunks = [next(stream.chunks(begin, end, rng)) for begin, end in itertools.pairwise(stream.bounds(shares))]
    return [chunk.source[chunk.begin : chunk.end] for chunk in chunks]


@pytest.mark.parametrize("seed", [None, 1])
@pytest.mark.parametrize("shares", [1, 3])
def test_an_epoch_draws_from_data_sets_in_proportion(seed, shares):
    sizes, proportions = [90, 5, 25], [1, 2, 1]
    drawn = drawn_pairs(data_sets(*sizes, proportions=proportions), shares, seed)
    counts = np.bincount(np.concatenate(drawn), minlength=120)
    for part, size, share in zip(np.split(counts, [90, 95]), sizes, [30, 60, 30], strict=True):
        assert part.sum() == pytest.approx(share, abs=shares)
        assert part.min() >= np.floor(share / size) - (shares > 1)
        assert part.max() <= np.ceil(share / size) + (shares > 1)
    is_sorted = all((np.diff(part) >= 0).all() for part in drawn)
    assert is_sorted == (seed is None)
    again = drawn_pairs(data_sets(*sizes, proportions=proportions), shares, seed)
    np.testing.assert_array_equal(np.concatenate(drawn), np.concatenate(again))


@pytest.mark.parametrize("proportion", [1, 9])
def test_batches_have_room_for_the_words_of_repeated_pairs(proportion):
    long = " ".join(f"w{n}" for n in range(300))
    sets = [(f"a{n}", f"b{n} c") for n in range(62)], [(long, "c d"), ("e f", "g h")]
    encoded = em.Corpus((sets[0], 1), (sets[1], proportion), pairs=em.corpora.PairFormat()).encode()
    texts, order, _ = corpus_pairs(encoded, len(encoded.vocabulary), None)
    rates = draw_rates(encoded, order)
    stream = PairStream(order, 16, np.cumsum(rates))
    words = np.diff(texts.starts).reshape(-1, 2).sum(axis=1)
    largest = 0
    for seed in range(20):
        (chunk,) = stream.chunks(0, 64, np.random.default_rng(seed))
        largest = max(largest, *words[chunk.source].reshape(4, 16).sum(axis=1))
    room = max_batch_words(texts, BatchShape(16, 2, 16), order, rates)
    assert largest <= room <= 2 * largest + 2 * 302
    train(em.Corpus((sets[0], 1), (sets[1], proportion), pairs=em.corpora.PairFormat()))


def test_checkpoints_of_other_proportions_are_of_another_corpus():
    fingerprints = [data_sets(3, 4, proportions=one).encode().fingerprint for one in ([1, 2], [1, 3], [1, 2])]
    assert fingerprints[0] == fingerprints[2] != fingerprints[1]


RARE = em.Corpus((thing_pairs(), 1), ([("rare", "words")], 2), pairs=em.corpora.PairFormat())


@pytest.mark.parametrize(
    ("pairs", "settings", "message"),
    [
        (thing_pairs(), {"objective": "cosent"}, "requires ratings that differ"),
        (thing_pairs(), {"objective": "triplet-margin"}, "requires pairs of 3 texts"),
        ([("a b", "c d", "e f"), ("b", "c", "d")], {"objective": "cosent"}, "requires pairs of 2 texts"),
        (em.Corpus(["a b", "c d"]), {}, "has no pairs of texts"),
        (weighted(thing_pairs(), [0] * 60), {}, r"none of 60 pairs .* weight above 0"),
        (RARE, {"min_count": 2}, "input 2 of 2 has no pair "),
    ],
)
def test_pairs_that_cannot_be_learned_are_refused(pairs, settings, message):
    with pytest.raises(CorpusError, match=message):
        train(pairs, **settings)
