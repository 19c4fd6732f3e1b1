"""The dev and test halves of test sets: a published hash, whatever the order of items and words."""

import re
from hashlib import sha256
from pathlib import Path

from embeddings.corpora.reading.labelled_texts import LabelFormat
from embeddings.corpora.reading.sources import resolve_source
from embeddings.eval.tasks.analogies import read_questions
from embeddings.eval.tasks.word_similarity import read_word_pairs
from embeddings.eval.test_sets import half_of, select_texts

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
