"""Text vectors from pairs: what is read, refused, saved and trained further."""

import itertools
from importlib.util import find_spec

import naive_pairs
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


@pytest.mark.parametrize(
    ("pairs", "settings", "message"),
    [
        (thing_pairs(), {"objective": "cosent"}, "requires ratings that differ"),
        (thing_pairs(), {"objective": "triplet-margin"}, "requires pairs of 3 texts"),
        ([("a b", "c d", "e f"), ("b", "c", "d")], {"objective": "cosent"}, "requires pairs of 2 texts"),
        (em.Corpus(["a b", "c d"]), {}, "has no pairs of texts"),
    ],
)
def test_pairs_that_do_not_fit_the_objective_are_refused(pairs, settings, message):
    with pytest.raises(CorpusError, match=message):
        train(pairs, **settings)


def test_a_corpus_of_pairs_excludes_other_ways_to_read_rows():
    with pytest.raises(SettingError, match="cannot be combined with tag_column"):
        em.Corpus([("a", "b")], pairs=em.corpora.PairFormat(), tag_column="1")


def test_leading_components_are_vectors_of_their_own():
    pairs = thing_pairs()
    texts = [*(left for left, _ in pairs), *(right for _, right in pairs)]

    def truncated_loss(dims):
        model = train(pairs, dim=16, dims=dims, epochs=30, learning_rate=0.02)
        vectors = [np.sum([model.vectors[word][:3] for word in text.split()], axis=0) for text in texts]
        return naive_pairs.in_batch_loss(naive_pairs.unit(np.array(vectors)), texts, len(pairs), 0.05)

    assert truncated_loss("16,3") < 0.9 * truncated_loss(None)


def test_weights_and_map_are_part_of_the_vectors():
    model = train(thing_pairs(), token_weights="sif", linear_map=True, epochs=5)
    tables = model.tables
    expected = (tables["words"] * tables["token_weights"]) @ tables["linear_map"]
    np.testing.assert_array_equal(model.vectors.matrix, expected)
    assert len(np.unique(tables["token_weights"])) > 5
    assert not (tables["linear_map"] == np.eye(8)).all()


def test_frozen_words_stay_while_weights_are_learned():
    vectors = train(thing_pairs()).vectors
    options = em.training.RunOptions(init=em.InitFrom(vectors, freeze=True))
    trainer = em.DualEncoder(dim=8, epochs=2, batch_size=16, token_weights="ones")
    model = trainer.train(thing_pairs(), threads=1, run_options=options)
    np.testing.assert_array_equal(model.tables["words"], vectors.matrix)
    assert not (model.tables["token_weights"] == 1).all()


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


def test_ratings_of_pairs_are_predicted(tmp_path):
    pairs = [(a, b, rating - 1) for a, b, rating in rated_pairs()]
    left, right, ratings = zip(*pairs, strict=True)
    model = train(pairs, objective="rating-distribution", epochs=60, learning_rate=0.02, batch_size=8)
    predictor = em.training.RatingPredictor(model)
    predicted = predictor.predict(left, right)
    assert np.corrcoef(predicted, ratings)[0, 1] > 0.9
    assert -1 <= predicted.min() <= predicted.max() <= 4
    assert predictor.distribution(left, right).shape == (len(pairs), 6)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(
        em.training.RatingPredictor(em.load_model(tmp_path / "model")).predict(left, right), predicted
    )
    with pytest.raises(SettingError, match="does not predict ratings"):
        em.training.RatingPredictor(train(thing_pairs()))
    with pytest.raises(SettingError, match="list of texts"):
        predictor.predict("ab", "cd")


def test_the_network_gives_the_recorded_loss():
    """Predictions are those of the kernel: the loss of an epoch without steps is that of the saved model."""
    pairs = rated_pairs()
    left, right, ratings = zip(*pairs, strict=True)
    model = train(pairs, objective="rating-distribution", epochs=1, learning_rate=1e-9)
    rows = em.training.RatingPredictor(model).distribution(left, right)
    loss = np.mean([-np.log(row[int(rating)]) for row, rating in zip(rows, ratings, strict=True)])
    assert model.record["loss_by_epoch"][0] == pytest.approx(loss, rel=1e-4)


def test_negatives_of_pairs_are_candidates_of_the_batch():
    triplets = [(*pair, THINGS[number % 6]) for number, pair in enumerate(thing_pairs())]
    for objective in ("in-batch-negatives", "triplet-margin"):
        model = train(triplets, objective=objective, epochs=20, learning_rate=0.02)
        assert model.record["loss_by_epoch"][-1] < model.record["loss_by_epoch"][0]


def test_only_the_first_words_of_texts_are_read():
    pairs = thing_pairs()
    longer = [(f"{left} tail end", f"{right} tail") for left, right in pairs]
    short, cut, full = train(pairs), train(longer, max_words=3), train(longer)
    shared = [cut.vectors.index(word) for word in short.vectors.words]
    start = train(longer, learning_rate=1e-9).vectors["tail"]
    np.testing.assert_allclose(cut.vectors["tail"], start, atol=1e-6)
    assert np.abs(full.vectors["tail"] - start).max() > 1e-3
    assert len(shared) == len(short.vectors)


def test_line_breaks_in_texts_do_not_separate_sides():
    pairs = thing_pairs()
    broken = [(left.replace(" ", "\r\n"), right.replace(" ", "\n")) for left, right in pairs]
    assert train(pairs).vectors.matrix.tobytes() == train(broken).vectors.matrix.tobytes()


def test_words_are_composed_of_ngrams(tmp_path):
    pairs = thing_pairs()
    model = train(pairs, min_n=2, max_n=4, buckets=50, token_weights="ones", linear_map=True, epochs=5)
    tables, known = model.tables, list(model.vectors.words)
    offsets, rows = subwords([*known, "apples"], min_n=2, max_n=4, buckets=50)
    means = np.array([tables["character_ngrams"][rows[a:b]].mean(axis=0) for a, b in itertools.pairwise(offsets)])
    composed = (tables["words"] + means[:-1]) * tables["token_weights"] @ tables["linear_map"]
    np.testing.assert_allclose(model.vectors.matrix, composed, atol=1e-5)
    np.testing.assert_allclose(model.compose(["apples"])[0], means[-1] @ tables["linear_map"], atol=1e-5)
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
    for settings, message in (
        ({"min_n": 2}, "min_n=2 requires"),
        ({"buckets": 9}, "buckets=9 requires"),
        ({"max_n": 2}, "min_n"),
    ):
        with pytest.raises(SettingError, match=message):
            em.DualEncoder(**settings)
    with pytest.raises(SettingError, match="cannot freeze"):
        trainer.train(
            thing_pairs(), threads=1, run_options=em.training.RunOptions(init=em.InitFrom(start, freeze=True))
        )


@pytest.mark.skipif(find_spec("tokenizers") is None, reason="requires tokenizers")
def test_texts_of_pairs_are_split_by_a_tokenizer_json(tmp_path):
    from tokenizers import Tokenizer, models, pre_tokenizers

    pieces = ["[UNK]", "red", "##dish", "apple", "##s", "green", "pear"]
    tokenizer = Tokenizer(models.WordPiece({piece: n for n, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    rows = [("reddish apples", "red apple", 3.0), ("green pears", "pear", 5.0), ("green apple", "red pear", 1.0)] * 8
    corpus = em.Corpus(
        rows, pairs=em.corpora.PairFormat(), tokenizer=f"huggingface:{tmp_path / 'tokenizer.json'}", case="keep"
    )
    model = train(corpus, objective="cosent")
    assert set(model.vectors.words) == set(pieces[1:])
    assert model.record["pairs"] == 24
    assert model.vocabulary.total == 8 * sum(len(tokenizer.encode(text).ids) for row in rows[:3] for text in row[:2])
    expected = np.mean([model.vectors[piece] for piece in ("red", "##dish", "apple", "##s")], axis=0)
    np.testing.assert_allclose(em.embed(model, ["reddish apples"])[0], expected, rtol=1e-5)


def side_vectors(model, kind):
    """The vectors of words on the left and on the right side, from the tables of a model."""
    words = model.tables["words"]
    return (words @ model.tables["linear_map"], words) if kind == "map" else (words[:, 0], words[:, 1])


@pytest.mark.parametrize("kind", ["map", "tables"])
def test_texts_are_embedded_by_side_and_saved(kind, tmp_path):
    model = train(thing_pairs(), sides=kind, epochs=20, learning_rate=0.2)
    model.save(tmp_path / "m")
    loaded = em.load_model(tmp_path / "m")
    expected = side_vectors(model, kind)
    assert np.abs(expected[0] - expected[1]).max() > 0.1
    for one in (model, loaded):
        np.testing.assert_allclose(one.vectors.matrix, expected[0], atol=1e-6)
        for side, rows in zip(("left", "right"), expected, strict=True):
            known = [rows[one.vectors.index(word)] for word in ("red", "apple")]
            np.testing.assert_allclose(em.embed(one, ["red apple"], side=side)[0], np.mean(known, axis=0), atol=1e-6)
    for side, rows in zip(("left", "right"), expected, strict=True):
        np.testing.assert_allclose(em.load(tmp_path / "m", table=side).matrix, rows, atol=1e-6)
    triplets = em.training.mine_negatives(model, thing_pairs(), max_ratio=1, top=3)
    plain = em.training.mine_negatives(model.sides[0], thing_pairs(), max_ratio=1, top=3)
    assert [one[:2] for one in triplets] == [one[:2] for one in plain]
    assert triplets != plain  # right texts have vectors of their own


def test_a_side_of_composed_words_is_a_model_that_is_trained_further(tmp_path):
    model = train(thing_pairs(), sides="map", min_n=2, max_n=4, buckets=50, token_weights="ones", epochs=5)
    model.save(tmp_path / "m")
    left, right = em.load_model(tmp_path / "m").sides
    np.testing.assert_allclose(left.compose(["apples"])[0], right.compose(["apples"])[0] @ model.tables["linear_map"])
    np.testing.assert_allclose(left.vectors.matrix, model.vectors.matrix, atol=1e-6)
    assert (left.has_sides, left.settings["linear_map"], right.settings["linear_map"]) == (False, True, False)
    for side in (left, right):
        assert em.continue_training(side, thing_pairs(seed=5), epochs=1, threads=1).tables.keys() == side.tables.keys()


@pytest.mark.parametrize("optimizer", ["adam", "adagrad"])
@pytest.mark.parametrize("kind", ["map", "tables"])
def test_a_model_with_two_sides_is_trained_further(kind, optimizer):
    model = train(thing_pairs(), sides=kind, optimizer=optimizer, learning_rate=0.01)
    further = em.continue_training(model, [*thing_pairs(), ("red newword", "the red")], learning_rate=1e-9, threads=1)
    rows = [further.vectors.index(word) for word in model.vectors.words]
    for old, new in zip(side_vectors(model, kind), side_vectors(further, kind), strict=True):
        np.testing.assert_allclose(new[rows], old, atol=1e-6)
    with pytest.raises(SettingError, match="sides"):
        em.continue_training(model, thing_pairs(), sides="shared", threads=1)


def test_both_tables_start_from_given_vectors_and_may_be_frozen():
    start = train(thing_pairs()).vectors
    for freeze in (True, False):
        trainer = em.DualEncoder(dim=8, epochs=2, batch_size=16, sides="tables")
        model = trainer.train(thing_pairs(), threads=1, init=em.InitFrom(start, freeze=freeze))
        is_start = (model.tables["words"] == start.matrix[:, None]).all(axis=(0, 2))
        assert is_start.tolist() == [freeze, freeze]
    first = train(thing_pairs(), sides="tables", learning_rate=1e-9).tables["words"]
    np.testing.assert_allclose(first[:, 0], first[:, 1], atol=1e-6)


def test_sides_that_do_not_fit_are_refused(tmp_path):
    one, two = train(thing_pairs()), train(thing_pairs(), sides="map")
    for settings in ({"sides": "map", "linear_map": True}, {"sides": "tables", "token_weights": "ones"},
                     {"sides": "tables", "max_n": 4}):  # fmt: skip
        with pytest.raises(SettingError, match=r"sides=.* requires"):
            em.DualEncoder(**settings)
    with pytest.raises(SettingError, match="left or right"):
        em.embed(two, ["red apple"])
    for source in (one, one.vectors):
        with pytest.raises(SettingError, match="two sides"):
            em.embed(source, ["red apple"], side="left")
    with pytest.raises(SettingError, match=r"model\.sides"):
        two.quantize()
    two.save(tmp_path / "m")
    broken = em.load_model(tmp_path / "m")
    del broken.tables["linear_map"]
    with pytest.raises(FormatError, match="linear_map"):
        em.embed(broken, ["red apple"], side="right")


def test_ratings_are_predicted_from_both_sides():
    pairs = rated_pairs()
    left, right, ratings = zip(*pairs, strict=True)
    settings = {"objective": "rating-distribution", "sides": "tables", "batch_size": 8}
    model = train(pairs, **settings, epochs=60, learning_rate=0.02)
    predictor = em.training.RatingPredictor(model)
    assert np.corrcoef(predictor.predict(left, right), ratings)[0, 1] > 0.9
    assert np.abs(predictor.predict(left, right) - predictor.predict(right, left)).max() > 0.1


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


def test_a_pair_learns_as_much_as_its_weight():
    """One pair of a rare thing among others that contradict it: the heavier one decides."""
    pairs = [("red apple", "the red", 1.0), ("red apple", "the red", 0.0), ("blue plum", "sour lemon", 0.5)] * 20
    ratings = []
    for weights in ([9, 1, 1], [1, 9, 1]):
        model = train(weighted(pairs, weights * 20), objective="rating-distribution", epochs=60, learning_rate=0.1)
        ratings.append(em.training.RatingPredictor(model).predict(["red apple"], ["the red"])[0])
    np.testing.assert_allclose(ratings, [0.9, 0.1], atol=0.05)


def test_weights_of_pairs_must_not_all_be_zero_nor_differ_from_pair_to_pair_in_presence(tmp_path):
    with pytest.raises(CorpusError, match=r"none of 60 pairs .* weight above 0"):
        train(weighted(thing_pairs(), [0] * 60))
    for name, row in (("a.jsonl", '{"a": "b c", "b": "d", "w": 1}\n'), ("b.jsonl", '{"a": "b c", "b": "e"}\n')):
        (tmp_path / name).write_text(row)
    pairs = em.corpora.PairFormat(left="a", right="b", weight="w")
    with pytest.raises(CorpusError, match=r"b\.jsonl.*'w'"):
        train(em.Corpus(tmp_path / "a.jsonl", tmp_path / "b.jsonl", pairs=pairs))


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


def test_a_data_set_with_a_proportion_must_have_pairs():
    corpus = em.Corpus((thing_pairs(), 1), ([("rare", "words")], 2), pairs=em.corpora.PairFormat())
    with pytest.raises(CorpusError, match="input 2 of 2 has no pair "):
        train(corpus, min_count=2)
    with pytest.raises(SettingError, match="proportion"):
        em.Corpus((thing_pairs(), 0), pairs=em.corpora.PairFormat())


@pytest.mark.parametrize("sides", ["shared", "tables"])
def test_a_guide_leaves_out_candidates_that_it_places_nearer(tmp_path, sides):
    """By the guide, a right text with b0 is nearer to texts about its thing than one with b1 or b2."""
    words = [*" ".join(THINGS).split(), "b1", "b2"]
    rows = np.zeros((len(words), 7), np.float32)
    rows[np.arange(12), np.arange(12) // 2], rows[12:, 6] = 1, (0.5, 1)
    em.Vectors(words, rows).save(tmp_path / "guide.bin")
    settings = {"sides": sides, "batch_size": 32, "epochs": 20, "learning_rate": 0.2}
    plain, guided = (train(thing_pairs(), guide=guide, **settings) for guide in (None, str(tmp_path / "guide.bin")))
    assert guided.record["loss_by_epoch"][-1] < 0.9 * plain.record["loss_by_epoch"][-1]
    further = em.continue_training(guided, rated_pairs(), objective="cosent", guide=None, epochs=1, threads=1)
    assert further.settings["guide"] is None


def test_a_guide_has_the_directions_of_texts_that_embed_has(tmp_path):
    guide = train(thing_pairs(), max_n=3, min_n=3, dim=20)
    guide.save(tmp_path / "guide")
    pairs = [*thing_pairs(seed=4), ("an unseen word", "red apples")]
    encoded = em.Corpus(pairs, pairs=em.corpora.PairFormat()).encode()
    rows = em.DualEncoder(guide=str(tmp_path / "guide")).guide_rows(encoded.vocabulary)
    sums = np.array([rows[encoded.ids[a:b]].sum(axis=0) for a, b in itertools.pairwise(encoded.sentences)])
    expected = em.embed(guide, [text for pair in pairs for text in pair], normalize=True)
    np.testing.assert_allclose(naive_pairs.unit(sums)[:, :20], expected, atol=1e-5)


def test_a_guide_must_exist_and_know_a_word(tmp_path):
    with pytest.raises(FormatError, match=r"missing"):
        train([], guide=str(tmp_path / "missing"))
    em.Vectors(["other"], np.ones((1, 3), np.float32)).save(tmp_path / "guide.bin")
    with pytest.raises(CorpusError, match=r"guide\.bin.*none of"):
        train(thing_pairs(), guide=str(tmp_path / "guide.bin"))
    train(thing_pairs(), sides="tables").save(tmp_path / "two")
    with pytest.raises(SettingError, match=r"guide=.*two has different vectors for left and right"):
        train([], guide=str(tmp_path / "two"))  # before the corpus is read
    (tmp_path / "cut.txt").write_text("3 2\nb0 1 2\n")
    with pytest.raises(FormatError, match=r"cut\.txt"):
        train([], guide=str(tmp_path / "cut.txt"))
