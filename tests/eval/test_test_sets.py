"""The dev and test halves of test sets: a published hash, whatever the order of items and words."""

import re
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import embeddings as em
from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.reading.sources import resolve_source
from embeddings.eval.tasks.analogies import read_questions
from embeddings.eval.tasks.word_similarity import read_word_pairs
from embeddings.eval.test_sets import half_of, select_texts
from embeddings.vectors.vectors import Vectors

GUIDE = Path(__file__).parents[2] / "docs" / "reference" / "evaluation-protocol.md"


def test_the_guide_publishes_the_hash():
    rows = re.findall(r"^\| `([^`]+)` \| (dev|test) \|$", GUIDE.read_text(), re.MULTILINE)
    assert len(rows) >= 6
    assert {half for _, half in rows} == {"dev", "test"}
    for item, half in rows:
        words = item.split(", ")
        digest = sha256("\n".join(sorted(word.casefold() for word in words)).encode()).digest()
        assert ("test" if digest[0] % 2 else "dev") == half == half_of(words) == half_of(words[::-1])


def test_spellings_of_an_item_are_in_one_half():
    for number in range(40):
        words = [f"Caf\u00e9{number}", "Tea"]
        spellings = ([f"CAFE\u0301{number}", "tea"], ["tea", f"cafe\u0301{number} "])
        assert {half_of(words)} == {half_of(one) for one in spellings}


def test_halves_are_complete_and_mirrored_questions_do_not_leak():
    pairs = read_word_pairs("wordsim353")
    halves = [pairs.select(half) for half in ("dev", "test")]
    assert sorted(pairs.pairs) == sorted(halves[0].pairs + halves[1].pairs)
    assert len(halves[0].pairs) == 174
    assert (
        dict(zip(pairs.pairs, pairs.ratings, strict=True)).items()
        >= dict(zip(halves[1].pairs, halves[1].ratings, strict=True)).items()
    )
    questions = read_questions("google-analogies")
    by_half = {half: questions.select(half) for half in ("dev", "test")}
    words = {half: {frozenset((*q, a[0])) for q, a in zip(one.questions, one.answers, strict=True)}
             for half, one in by_half.items()}  # fmt: skip
    assert not words["dev"] & words["test"]
    assert sum(len(one.questions) for one in by_half.values()) == len(questions.questions)
    assert set(by_half["dev"].sections) == set(questions.sections)


def test_labelled_texts(tmp_path):
    path = tmp_path / "t.txt"
    path.write_text("".join(f"__label__{'ab'[n % 2]} text number {n}\n" for n in range(60)))
    (batch,) = LabelFormat().read(resolve_source(path))
    dev, test = (select_texts(batch, half) for half in ("dev", "test"))
    assert len(dev) + len(test) == 60
    for part in (dev, test):
        for row in range(len(part)):
            number = int(part.data[part.starts[row] : part.starts[row + 1]].split()[-1])
            assert part.labels[row] == ["ab"[number % 2]]
    assert {half_of([f"text number {n}"]) for n in range(60)} == {"dev", "test"}


@pytest.fixture
def vectors():
    words = [f"w{n}" for n in range(40)]
    return Vectors(words, np.random.default_rng(1).standard_normal((40, 5)).astype(np.float32))


def test_evaluate_and_compare_use_a_half(vectors, tmp_path):
    path = tmp_path / "pairs.txt"
    path.write_text("".join(f"w{n} w{n + 1} {n % 7}\n" for n in range(39)))
    by_half = {half: em.evaluate(vectors, similarity=path, half=half)[0] for half in ("dev", "test", "all")}
    assert by_half["dev"].total + by_half["test"].total == by_half["all"].total == 39
    assert {half: result.half for half, result in by_half.items()} == {half: half for half in by_half}
    fewer = Vectors(vectors.words[:30], np.sqrt(np.abs(vectors.matrix[:30])))
    comparison = em.compare(vectors, fewer, similarity=path, half="test")[0]
    pairs = read_word_pairs(path).select("test").pairs
    assert comparison.half == "test"
    assert comparison.total == len(pairs)
    assert comparison.items == sum(one in fewer and other in fewer for one, other in pairs) < comparison.total
