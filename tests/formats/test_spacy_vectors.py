"""spaCy's folders: the content of the files, folders that spaCy pruned, and broken tables."""

import json
import re

import numpy as np
import pytest
from optional_libraries import needs

from embeddings.corpora.word_rules import WordForm
from embeddings.errors import FormatError
from embeddings.formats.spacy_vectors import punctuation
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors

pytestmark = needs("spacy")
ORTH, LOWER = 65, 66  # spaCy's numbers of these attributes


@pytest.fixture
def small(tmp_path):
    vectors = Vectors(["the", "agent", "日本", "NOUN"], np.arange(8, dtype="f4").reshape(4, 2))
    vectors.save(tmp_path / "v", "spacy")
    return vectors


@pytest.fixture
def vocab(tmp_path, small):
    return tmp_path / "v" / "vocab"


def key(word):
    from spacy.strings import StringStore

    return StringStore()[word]


def pack(table):
    from srsly.msgpack import packb

    return packb(table)


def read_table(vocab):
    from srsly.msgpack import unpackb

    return unpackb((vocab / "key2row").read_bytes(), strict_map_key=False)


def test_the_content_of_the_files(vocab, small):
    assert set(json.loads((vocab / "strings.json").read_text())) >= {"the", "日本"}
    assert np.array_equal(np.load(vocab / "vectors"), small.matrix)
    assert read_table(vocab) == {key(word): row for row, word in enumerate(small.words)}
    assert json.loads((vocab / "vectors.cfg").read_text())["attr"] == ORTH
    small.subset(3).save(vocab.parent, "spacy", force=True)
    assert json.loads((vocab / "vectors.cfg").read_text())["attr"] == LOWER


def test_the_language_is_that_of_the_pipeline(tmp_path, small):
    small.save(tmp_path / "w", "spacy", language="en")
    assert json.loads((tmp_path / "w" / "meta.json").read_text())["lang"] == "en"


def test_punctuation_contains_no_letter():
    pattern = re.compile(f"[{punctuation()}]")
    assert pattern.sub("", "«a-b_c», [d]^\\ e! नमस्ते €5 ~&| x") == "ab_c d e नमस्ते 5  x"


def test_a_vocabulary_without_a_pipeline_is_read(vocab, small):
    assert load(vocab).words == small.words


def test_strings_without_vectors_and_words_that_share_a_row(vocab, small):
    """As in spaCy's own pruned pipelines: further strings, unknown keys, and several words with one vector."""
    (vocab / "strings.json").write_text(json.dumps(["x", "an", "", *small.words, "x"]))
    (vocab / "key2row").write_bytes(pack({key("an"): 0} | read_table(vocab) | {12345: 2}))
    again = load(vocab)
    assert again.words == ["an", "the", "agent", "日本", "NOUN"]
    assert np.array_equal(again.matrix, small.matrix[[0, 0, 1, 2, 3]])


def test_symbols_of_spacy_need_not_be_listed(vocab, small):
    (vocab / "strings.json").write_text(json.dumps(["the", "日本"]))
    assert load(vocab).words == small.words


BROKEN = {
    "truncated": ("key2row", lambda: pack({key("the"): 0})[:-1], "key2row"),
    "more than one": ("key2row", lambda: pack({key("the"): 0}) * 2, "key2row"),
    "a list": ("key2row", lambda: pack([1]), "key2row"),
    "nested lists": ("key2row", lambda: b"\xdd\xff\xff\xff\xff" * 500, "key2row"),
    "a map in a map": ("key2row", lambda: pack({1: {}}), "key2row"),
    "a map as key": ("key2row", lambda: b"\x81\x80\x01", "key2row"),
    "a number": ("key2row", lambda: pack(1), "key2row"),
    "floats": ("key2row", lambda: pack({1: 1.0}), "key2row"),
    "a row too high": ("key2row", lambda: pack({key("the"): 4}), "key2row.* 0 to 3$"),
    "a negative row": ("key2row", lambda: pack({key("the"): -2}), "key2row.* 0 to 3$"),
    "a huge row": ("key2row", lambda: pack({key("the"): 2**64 - 1}), "key2row.* 0 to 3$"),
    "no known string": ("key2row", lambda: pack({12345: 0}), "key2row.*strings.json"),
    "strings of numbers": ("strings.json", lambda: b"[1]", "strings.json"),
    "half a character": ("strings.json", lambda: rb'["\ud800"]', "strings.json.*surrogates"),
    "floret": ("vectors.cfg", lambda: b'{"mode": "floret"}', "vectors.cfg.*floret"),
    "no mode": ("vectors.cfg", lambda: b"[]", "vectors.cfg"),
    "pickle": ("vectors", lambda: b"\x80\x04.", "vectors"),
}


@pytest.mark.parametrize(("name", "data", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_tables(tmp_path, vocab, name, data, message):
    (vocab / name).write_bytes(data())
    with pytest.raises(FormatError, match=message) as caught:
        load(tmp_path / "v")
    assert "\n" not in str(caught.value)


def test_the_expansion_of_shared_rows_is_limited(vocab, monkeypatch):
    monkeypatch.setattr("embeddings.formats.spacy_vectors.SMALL_BYTES", 1 << 20)
    names = [f"w{i}" for i in range(3000)]
    with (vocab / "vectors").open("wb") as stream:
        np.save(stream, np.ones((1, 30_000), "f4"))
    (vocab / "strings.json").write_text(json.dumps(names))
    (vocab / "key2row").write_bytes(pack(dict.fromkeys(map(key, names), 0)))
    with pytest.raises(FormatError, match=r"vocab.* 360000000"):
        load(vocab)


def test_rules_that_spacy_does_not_apply_are_named(tmp_path, caplog):
    rules = {"tokenizer": "words", "case": "lower", "normalize": "nfc", "language": None, "fold": "accents"}
    for number, fold in enumerate(("", "accents")):
        form = WordForm({**rules, "fold": fold})
        Vectors(["cafe"], np.eye(1), word_form=form).save(tmp_path / str(number), "spacy")
        assert ("'cafe'" in caplog.text) == bool(fold)
