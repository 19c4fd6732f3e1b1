"""Words of many languages through commands, from the text to the look-up, which is a process of its own."""

import json
import os

import pytest
from commands import expect, process, refused

TEXT = (
    "Café cafe\u0301 and the King don’t pay 3.14 for state-of-the-art tea\nمی\u200cخواهم خانه\u200cها را\n"
    "क्\u200dष हिन्दी\nI ❤\ufe0f 👍🏽 Auf\u00adlage\n"
)
FORMS = {
    "CAFÉ": "café", "cafe\u0301": "café", "King": "king", "don't": "don't", "DON’T": "don't", "3.14": "3.14",
    "state": "state", "می\u200cخواهم": "می\u200cخواهم", "خانه\u200cها": "خانه\u200cها", "क्\u200dष": "क्\u200dष",
    "❤": "❤", "❤\ufe0f": "❤", "👍🏽": "👍🏽", "auf\u00adlage": "auflage",
}  # fmt: skip
MISSES = {
    "state-of-the-art": "in the text it is 4 words: state, of, the, art",
    "خانه ها": "did you mean خانه\u200cها?",
    "cafee": "did you mean café?",
}
WORDS = {
    "café", "and", "the", "king", "don't", "pay", "3.14", "for", "state", "of", "art", "tea", "i", "auflage",
    "می\u200cخواهم", "خانه\u200cها", "را", "क्\u200dष", "हिन्दी", "❤", "👍🏽",
}  # fmt: skip


def neighbours(path, *arguments):
    result = process("neighbours", path, *arguments, env={**os.environ, "PYTHONUTF8": "1"}, encoding="utf-8")
    assert result.returncode == 0, result.stderr
    return result


def exported(path, *options):
    """The words of a model that are exported."""
    expect("export", path, path.parent / "v.vec", "--force", *options)
    return {line.split(" ")[0] for line in (path.parent / "v.vec").read_text("utf-8").splitlines()[1:]}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("languages")
    (folder / "t.txt").write_text(TEXT * 20, "utf-8")
    small = ["--dim", 4, "--epochs", 1, "--threads", 1, "--min-count", 1, "--subsample", 0]
    expect("train", "skipgram", folder / "t.txt", "-o", folder / "model", *small)
    return folder / "model"


def test_words_are_found_as_they_are_typed(model):
    assert exported(model) == WORDS
    others = {word: set() for word in FORMS}
    for row in json.loads(neighbours(model, *FORMS, "--top", len(WORDS), "--json").stdout):
        others[row["word"]].add(row["neighbour"])
    assert {word: WORDS - found for word, found in others.items()} == {word: {form} for word, form in FORMS.items()}
    (model.parent / "words.txt").write_text("\n".join(FORMS), "utf-8")
    assert exported(model, "--words", model.parent / "words.txt") == set(FORMS.values())


def test_other_words_are_answered_with_a_remedy(model):
    for word, answer in MISSES.items():
        assert answer in refused("neighbours", model, word, code=1)


def test_spellings_that_look_alike_are_not_reported(model):
    (note,) = neighbours(model, "cafe\u0301", "❤\ufe0f", "CAFÉ").stderr.splitlines()
    assert "'CAFÉ'" in note
    assert "❤" not in note
    assert "cafe\u0301" not in note


def test_lines_without_spaces_are_reported(tmp_path):
    (tmp_path / "t.txt").write_text("すべての人間は、生まれながらにして自由であり、かつ平等である。\n" * 20, "utf-8")
    message = expect("vocabulary", tmp_path / "t.txt", "-o", tmp_path / "v.txt").stderr
    assert "characters, or the trainer sembei" in message
