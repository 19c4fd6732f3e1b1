"""Steps of the classifier: gradients of every objective, long texts, and features as in prediction."""

from itertools import pairwise

import numpy as np
import pytest
from naive import numerical_gradient, sigmoid

import embeddings as em
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.kernels.block import LAST
from embeddings.kernels.loss_tally import EXAMPLES, LOSS, UNTIL_SAMPLE
from embeddings.kernels.random_numbers import alias_table
from embeddings.kernels.row_operations import padded
from embeddings.kernels.separate_arrays import read_only, separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers
from embeddings.objectives.huffman import huffman_tree
from embeddings.plugins.classifier.learn_texts import (
    TILE,
    ClassifierOperands,
    LabelSource,
    TextStream,
    learn_texts,
    new_label_objective,
)
from embeddings.training.stream import Chunk
from embeddings.training.training_data import prepare

DIM, LABELS, ROWS, RATE = 5, 6, 40, 0.3
OBJECTIVES = ("softmax", "one-vs-all", "hierarchical-softmax", "negative-sampling")
COUNTS = [9, 7, 4, 4, 2, 1]


def naive_loss(objective, hidden, output, own, label, noise):
    """The loss of one text in float64; `own` are its labels, `label` the one drawn, `noise` negative samples."""
    scores = output @ hidden
    if objective == "softmax":
        return np.mean([np.log(np.exp(scores).sum()) - scores[k] for k in own])
    if objective == "one-vs-all":
        return -sum(np.log(sigmoid(s if k in own else -s)) for k, s in enumerate(scores))
    if objective == "negative-sampling":
        return -np.log(sigmoid(scores[label])) - sum(np.log(sigmoid(-scores[k])) for k in noise if k != label)
    tree, node, total = huffman_tree(np.array(COUNTS)), label, 0.0
    while tree.parents[node] >= 0:
        parent = tree.parents[node]
        total -= np.log(sigmoid(scores[parent] if tree.is_left[node] else -scores[parent]))
        node = LABELS + parent
    return total


class Texts:
    """Random texts with labels, and what the kernel needs to learn from them, in float64."""

    def __init__(self, objective, sizes=(7,), subwords=None, seed=3):
        rng = np.random.default_rng(seed)
        self.own = [rng.permutation(LABELS)[: 3 - n % 3] for n in range(len(sizes))]
        starts = read_only(np.append(0, np.cumsum([len(own) for own in self.own])))
        labels = read_only(np.concatenate(self.own))
        items = rng.integers(ROWS, size=sum(sizes)).astype(np.int32)
        subword_starts, subword_rows = np.zeros(1, np.int64), np.empty(0, np.int32)
        if subwords:
            lengths = rng.integers(1, subwords, 10)
            subword_starts = np.append(0, np.cumsum(lengths))
            subword_rows = rng.integers(ROWS, size=subword_starts[-1]).astype(np.int32)
            items = np.where(rng.random(len(items)) < 0.5, items, ~rng.integers(10, size=len(items)).astype(np.int32))
        ends = np.append(0, np.cumsum(sizes))
        self.rows = [
            [row for item in items[a:b] for row in self.rows_of(item, subword_starts, subword_rows)]
            for a, b in pairwise(ends)
        ]
        settings = em.TextClassification(dim=DIM, objective=objective)
        vocabulary = Vocabulary([f"label{n}" for n in range(LABELS)], COUNTS)
        self.objective = new_label_objective(settings, vocabulary, starts, labels)
        noise = alias_table(vocabulary.noise_weights(0.5))
        stream = TextStream(
            LabelSource(np.arange(len(sizes)), starts, labels, noise), settings.negative_count, np.empty(0)
        )
        self.block = stream.new_block()
        chunk = Chunk(stream.source, 0, len(sizes))
        stream.rewind(self.block, chunk)
        stream.fill(self.block, chunk, np.array([1, 0], np.uint64))
        self.tables = {"inputs": separate_zeros((ROWS, padded(DIM)), np.float64)}
        for name, table in self.objective.tables().items():
            self.tables[name] = separate_zeros((table.rows, padded(DIM)), np.float64)
        for table in self.tables.values():
            table[:, :DIM] = rng.normal(size=(len(table), DIM)) / 2
        self.output = next(name for name in self.tables if name != "inputs")
        arrays = map(read_only, (items, ends, subword_starts, subword_rows))
        operand = self.objective.operand(self.tables)
        self.operands = ClassifierOperands(self.tables["inputs"], *arrays, np.zeros(3, np.int64), operand)
        size = self.objective.max_targets
        self.buffers = new_step_buffers(1, size, padded(DIM), contexts=TILE, rows=2, dtype=np.float64)

    @staticmethod
    def rows_of(item, starts, rows):
        return [item] if item >= 0 else rows[starts[~item] : starts[~item + 1]].tolist()

    def loss(self):
        """The loss of the first text."""
        hidden, output = self.tables["inputs"][self.rows[0], :DIM].mean(axis=0), self.tables[self.output][:, :DIM]
        name = self.objective.settings.objective
        return naive_loss(name, hidden, output, self.own[0], self.block.words[0], self.block.noise[0])

    def learn(self):
        learn_texts(self.block, self.operands, self.buffers, RATE)


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_a_step_follows_the_gradient_of_the_loss(objective):
    texts = Texts(objective)
    before = {name: table.copy() for name, table in texts.tables.items()}
    texts.buffers.tally[UNTIL_SAMPLE] = 0  # this step is sampled
    texts.learn()
    learned, texts.tables = texts.tables, before
    loss = texts.loss()
    for name, table in before.items():
        gradient = numerical_gradient(texts.loss, table[:, :DIM])
        assert np.abs(gradient).max() > 0.01
        np.testing.assert_allclose((table - learned[name])[:, :DIM], RATE * gradient, atol=1e-7)
        assert not learned[name][:, DIM:].any()
    tally = texts.buffers.tally
    np.testing.assert_allclose(tally[LOSS] / tally[EXAMPLES], loss, rtol=1e-6)


@pytest.mark.parametrize("subwords", [None, 9])
@pytest.mark.parametrize("size", [1, TILE - 1, TILE, TILE + 1, 2 * TILE + 100])
def test_texts_of_any_length_learn_in_one_step(size, subwords):
    texts = Texts("softmax", sizes=(size,), subwords=subwords)
    before = {name: table.copy() for name, table in texts.tables.items()}
    texts.learn()
    rows = texts.rows[0]
    hidden, output = before["inputs"][rows].mean(axis=0), before["output"]
    scores = output @ hidden
    own = np.isin(np.arange(LABELS), texts.own[0]) / len(texts.own[0])
    gradient = own - np.exp(scores) / np.exp(scores).sum()
    counts = np.bincount(rows, minlength=ROWS)
    np.testing.assert_allclose(texts.tables["output"], output + RATE * np.outer(gradient, hidden), atol=1e-12)
    expected = before["inputs"] + RATE * np.outer(counts / len(rows), gradient @ output)
    np.testing.assert_allclose(texts.tables["inputs"], expected, atol=1e-12)


def test_texts_are_read_in_proportion_to_their_weights():
    weights = np.array([1.0, 0.5, 3.25, 0.25, 1.0])
    random = np.random.default_rng(1)
    source = LabelSource(np.arange(5), np.arange(6), np.zeros(5, np.int64), np.empty(0, np.uint64))
    stream = TextStream(source, 0, np.cumsum(weights))
    samples = [next(stream.chunks(0, 5, random)).source.order for _ in range(4000)]
    counts = np.array([np.bincount(sample, minlength=5) for sample in samples])
    expected = weights * 5 / weights.sum()
    assert (counts.sum(axis=1) == 5).all()
    assert (np.abs(counts - expected) < 1).all()
    np.testing.assert_allclose(counts.mean(axis=0), expected, atol=0.04)


def test_negative_samples_differ_from_the_label():
    texts = Texts("negative-sampling", sizes=(3,) * 60)
    filled = texts.block.cursor[LAST]
    assert filled == 60
    assert (texts.block.noise[:filled] != texts.block.words[:filled, None]).all()
    assert all(label in own for label, own in zip(texts.block.words, texts.own, strict=False))


LINES = [
    "__label__a The cat sat on the mat",
    "__label__b été où naïve",
    "__label__a dogs </s> unread words",
    "__label__b",
]


@pytest.mark.parametrize("settings", [{}, {"word_ngrams": 3}, {"min_n": 2, "max_n": 4}, {"word_ngrams": 2, "max_n": 3}])
@pytest.mark.parametrize("min_count", [1, 2])
def test_training_and_prediction_have_the_same_features(settings, min_count):
    lines = [*LINES, "__label__b the cat", "__label__a cat où"]
    trainer = em.TextClassification(dim=DIM, epochs=2, min_count=min_count, **settings)
    data = prepare(trainer, lines, threads=1)
    features = trainer.text_features(data, np.arange(len(lines)), None)
    model = trainer.train(lines, threads=1)
    texts = [line.split(" ", 1)[1] if " " in line else "" for line in lines]
    inputs, classifier = model.tables["inputs"], model.classifier
    for number, text in enumerate(texts):
        items = features.items[features.starts[number] : features.starts[number + 1]]
        rows = [row for item in items for row in Texts.rows_of(item, features.subword_starts, features.subword_rows)]
        hidden, counts = classifier._means(text.encode(), np.array([0, len(text.encode())]))
        assert counts[0] == len(rows)
        np.testing.assert_allclose(hidden[0], inputs[rows].mean(axis=0), rtol=1e-4, atol=1e-6)


def test_ngrams_that_never_occurred_count_as_zeros():
    model = em.train("classifier", LINES, dim=DIM, word_ngrams=2, threads=1)
    text = b"cat zzz mat"  # three words with </s>, of which one is unknown; three bigrams, of which one is known
    hidden, counts = model.classifier._means(text, np.array([0, len(text)]))
    assert counts[0] == 6
    rows = [model.vocabulary.index(word) for word in ("cat", "mat", "</s>")]
    buckets = model.tables["ngram_buckets"]
    assert len(np.unique(buckets)) == len(buckets)
    bigram = model.tables["inputs"][len(model.vocabulary) :]
    rest = hidden[0] * 6 - model.tables["inputs"][rows].sum(axis=0)
    assert np.abs(bigram - rest).sum(axis=1).min() < 1e-5
