"""Changes of the use of words between groups of documents."""

import numpy as np
import pytest

import embeddings as em
from embeddings.analysis.usage_change import DocumentGroups, compare_changes, deviation, distances

TOPICS = [[f"{topic}{i}" for i in range(10)] for topic in ("money", "river", "other", "sport")]
AMBIGUOUS = ["bank", "note", "shore"]


def documents(random, number, topic):
    """Documents of one topic each; ambiguous words are used in those of the topic with this number."""
    texts = []
    for i in range(number):
        words = random.choice(TOPICS[i % 4], 24)
        if i % 4 == topic:
            words[::4] = random.choice(AMBIGUOUS, 6)
        texts.append(" ".join(words.tolist()))
    return texts


def topic_of(words):
    """The topic of most of the words that have one."""
    topics = [word.rstrip("0123456789") for word in words if word not in AMBIGUOUS]
    return max(set(topics), key=topics.count)


def compare(texts, groups, **options):
    trainer = em.SkipGram(dim=6, min_count=1, subsample=0, epochs=20, learning_rate=0.05, window=10)
    settings = {"permutations": 12, "occurrences": 10, "threads": 1, **options}
    return em.analysis.compare_usage(em.Corpus(texts), groups, trainer, **settings)


def test_words_with_another_use_are_found():
    random = np.random.default_rng(0)
    texts = documents(random, 240, 0) + documents(random, 240, 1) + ["left out"]
    changed = compare(texts, np.array([0] * 240 + [1] * 240 + [-1]), lines=1)
    assert (changed.n_changed, changed.n_words, changed.documents) == (3, 43, (240, 240))
    assert {one.word for one in changed.words[:3]} == set(AMBIGUOUS)
    for one in changed.words[:3]:
        assert one.q <= 0.05 < changed.words[3].q
        assert one.change > one.expected + 0.2
        assert abs(one.counts[0] - 120) < 40
        assert [topic_of(words) for words in one.neighbours] == ["money", "river"]
        assert [("money" in f"{line.left} {line.right}") for line in one.lines] == [True, False]


@pytest.mark.slow
def test_random_groups_rarely_differ():
    random = np.random.default_rng(1)
    texts = documents(random, 120, 0)
    found = [compare(texts, random.permutation(np.repeat([0, 1], 60)), seed=seed).n_changed for seed in range(20)]
    # a false discovery in 5 % of 20 comparisons; 4 or more have a probability of 1.6 %
    assert sum(number > 0 for number in found) <= 3, found


def test_random_groups_have_as_many_words():
    texts = ["a b " * 50] * 30 + ["a b"] * 300 + ["left out"]
    groups = DocumentGroups.of(em.Corpus(texts).encode(), np.array([0] * 30 + [1] * 300 + [-1]), "blocks")
    observed, *others = groups.divisions(10, 1)
    assert [len(part) for part in observed] == [30, 300]
    sizes = np.array([100] * 30 + [2] * 300)
    for first, second in others:
        assert sorted([*first, *second]) == list(range(330))
        assert 2900 <= sizes[first].sum() <= 3000
    assert len({tuple(first) for first, _ in others}) == 10


def test_p_values_of_random_changes_are_uniform():
    changes = np.random.default_rng(2).gamma(5, size=(21, 20_000)) * np.random.default_rng(3).gamma(9, size=20_000)
    p = compare_changes(changes).p
    for level in (0.01, 0.05, 0.25, 0.5):
        assert np.mean(p <= level) == pytest.approx(level, rel=0.15)
    changes[0, :100] *= 4
    _, z, p, _ = compare_changes(changes)
    assert np.median(p[:100]) < 0.01 < np.median(p[100:])
    assert z[5] == pytest.approx(deviation(changes[0], changes[1:], np.median(changes[1:].std(axis=0, ddof=1)))[5])


def test_distances_do_not_depend_on_a_rotation():
    random = np.random.default_rng(4)
    matrix = random.normal(size=(50, 5)).astype(np.float32)
    rotation = np.linalg.qr(random.normal(size=(5, 5)))[0]
    words = [str(i) for i in range(50)]
    first = em.Vectors(words, matrix).normalize()
    second = em.Vectors(words, matrix @ rotation).normalize()
    assert np.abs(distances([first, second], np.arange(50))).max() < 1e-5


@pytest.mark.parametrize("unit", ["blocks", "lines"])
def test_documents_are_blocks_or_lines_of_a_unit(tmp_path, unit):
    (tmp_path / "f").write_text("one two\nthree\n\n" * 60)
    encoded = em.Corpus(tmp_path / "f").encode()
    lines = len(encoded.sentences) - 1
    groups = np.arange(60 if unit == "blocks" else lines) % 2
    found = DocumentGroups.of(encoded, groups, unit)
    assert len(found.groups) == len(groups)
    is_empty = np.diff(encoded.sentences) == 0
    expected = groups if unit == "blocks" else np.where(is_empty, -1, groups)
    assert found.groups.tolist() == expected.tolist()


def test_a_warning_names_the_lengths_of_the_documents_of_both_groups(caplog):
    encoded = em.Corpus(["short text"] * 30 + ["a much longer text " * 20] * 30).encode()
    DocumentGroups.of(encoded, np.repeat([0, 1], 30), "blocks")
    assert "2 words in the first group and 80 in the second" in caplog.text


def test_impossible_comparisons_are_refused():
    texts = documents(np.random.default_rng(5), 60, 0)
    half = np.repeat([0, 1], 30)
    groups_and_facts = [(half[:-1], "60"), (half * 2, "0, 1 or -1"), (np.append(np.ones(59, int), 0), "too few")]
    for groups, fact in [*groups_and_facts, (("x",), "no document has the tag 'x'")]:
        with pytest.raises(em.EmbeddingsError, match=fact):
            compare(texts, groups)
    for name, value in {"permutations": 3, "occurrences": 0, "top": 0, "lines": -1, "fdr": 1.0}.items():
        with pytest.raises(em.EmbeddingsError, match=name):
            compare(texts, half, **{name: value})
    with pytest.raises(em.EmbeddingsError, match="too few"):
        compare(texts, half, occurrences=10**6)


def test_results_are_reproducible():
    texts, halves = documents(np.random.default_rng(6), 160, 0), np.repeat([0, 1], 80)
    first, second = (compare(texts, halves, permutations=4, lines=1) for _ in range(2))
    assert first.n_words > 40
    assert first == second
