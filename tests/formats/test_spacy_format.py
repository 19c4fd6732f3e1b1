"""spaCy's folders: hashes beside a naive twin and known values, what is in the files, tables that are broken."""

import json
import re

import msgpack
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from embeddings.errors import FormatError
from embeddings.formats.spacy_strings import keys, symbols
from embeddings.formats.spacy_vectors import punctuation
from embeddings.models.loading import load
from embeddings.vectors.vectors import Vectors


def murmur(data, seed=1):
    """MurmurHash64A, byte by byte."""
    factor, most = 0xC6A4A7935BD1E995, 2**64 - 1
    code = seed ^ (len(data) * factor & most)
    whole = len(data) - len(data) % 8
    for start in range(0, whole, 8):
        part = int.from_bytes(data[start : start + 8], "little") * factor & most
        part = (part ^ part >> 47) * factor & most
        code = (code ^ part) * factor & most
    if data[whole:]:
        code = (code ^ int.from_bytes(data[whole:], "little")) * factor & most
    code = (code ^ code >> 47) * factor & most
    return code ^ code >> 47


@settings(deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), max_size=10))
def test_hashes_are_those_of_the_naive_twin(words):
    assert keys(words).tolist() == [murmur(word.encode()) for word in words]


def test_hashes_that_spacys_documentation_names():
    assert keys(["coffee", "apple"]).tolist() == [3197928453018144401, 8566208034543834098]


@pytest.fixture
def small(tmp_path):
    vectors = Vectors(["the", "agent", "日本", "NOUN"], np.arange(8, dtype="f4").reshape(4, 2))
    vectors.save(tmp_path / "v", "spacy")
    return vectors


@pytest.fixture
def vocab(tmp_path, small):
    return tmp_path / "v" / "vocab"


def test_what_is_in_the_files(vocab, small):
    assert json.loads((vocab / "strings.json").read_text()) == small.words
    assert np.array_equal(np.load(vocab / "vectors"), small.matrix)
    assert json.loads((vocab / "vectors.cfg").read_text())["attr"] == symbols()["ORTH"]
    small.subset(3).save(vocab.parent, "spacy", force=True)
    assert json.loads((vocab / "vectors.cfg").read_text())["attr"] == symbols()["LOWER"]
    small.save(vocab.parent, "spacy", force=True)
    rows = msgpack.unpackb((vocab / "key2row").read_bytes(), strict_map_key=False)
    hashed = {code: row for row, code in enumerate(keys(small.words).tolist())}
    assert rows == hashed | {symbols()["agent"]: 1, symbols()["NOUN"]: 3}
    assert (symbols()["NOUN"], symbols()["ORTH"]) == (92, 65)


def test_all_punctuation_is_cut_off_and_no_letter():
    pattern = re.compile(f"[{punctuation()}]")
    assert pattern.sub("", "«a-b_c», [d]^\\ e! नमस्ते €5 ~&| x") == "ab_c d e नमस्ते 5  x"


def test_a_vocabulary_by_itself_is_read(vocab, small):
    assert load(vocab).words == small.words


def test_strings_without_vectors_and_words_that_share_a_row(vocab, small):
    """As in spaCy's own pipelines, pruned: strings of other kinds, and several words with one vector."""
    (vocab / "strings.json").write_text(json.dumps(["x", "an", "", *small.words, "x"]))
    table = msgpack.unpackb((vocab / "key2row").read_bytes(), strict_map_key=False)
    (vocab / "key2row").write_bytes(msgpack.packb(table | {int(keys(["an"])[0]): 0, 12345: 2}))
    again = load(vocab)
    assert again.words == ["an", "the", "agent", "日本", "NOUN"]
    assert np.array_equal(again.matrix, small.matrix[[0, 0, 1, 2, 3]])


def test_symbols_need_not_be_listed(vocab, small):
    (vocab / "strings.json").write_text(json.dumps(["the", "日本"]))
    assert load(vocab).words == small.words


def table(**rows):
    return msgpack.packb({int(keys([word])[0]): row for word, row in rows.items()})


BROKEN = {
    "truncated": ("key2row", table(the=0)[:-1], "key2row is truncated or broken: ValueError Unpack failed"),
    "more than one": ("key2row", table(the=0) * 2, "key2row is truncated or broken: ExtraData"),
    "a list": ("key2row", msgpack.packb([1]), "key2row is truncated or broken: ValueError 1 exceeds max_array_len"),
    "nested lists": ("key2row", b"\xdd\xff\xff\xff\xff" * 500, "key2row is truncated or broken: ValueError"),
    "a map in a map": ("key2row", msgpack.packb({1: {}}), "key2row is broken: it must map numbers to numbers"),
    "a map as key": ("key2row", b"\x81\x80\x01", "key2row is truncated or broken: TypeError unhashable"),
    "a number": ("key2row", msgpack.packb(1), "key2row is broken: it must map numbers to numbers"),
    "floats": ("key2row", msgpack.packb({1: 1.0}), "key2row is broken: it must map numbers to numbers"),
    "a row beyond": ("key2row", table(the=4), "key2row: 'the' has the row 4 of 4"),
    "a negative row": ("key2row", table(the=-2), "key2row: 'the' has the row -2 of 4"),
    "a huge row": ("key2row", table(the=2**64 - 1), "key2row: 'the' has the row 18446744073709551615 of 4"),
    "no string known": ("key2row", msgpack.packb({12345: 0}), "do not fit: no string has a vector"),
    "strings of numbers": ("strings.json", b"[1]", "strings.json is broken: it must list strings"),
    "half a character": ("strings.json", rb'["\ud800"]', "is not valid Unicode"),
    "floret": ("vectors.cfg", b'{"mode": "floret"}', "vectors of the mode 'floret' are not read"),
    "no mode": ("vectors.cfg", b"[]", "vectors.cfg: vectors of the mode"),
    "pickle": ("vectors", b"\x80\x04.", "vectors is truncated or no .npy file"),
}


@pytest.mark.parametrize(("name", "data", "message"), BROKEN.values(), ids=BROKEN)
def test_broken_tables(tmp_path, vocab, name, data, message):
    (vocab / name).write_bytes(data)
    with pytest.raises(FormatError, match=message) as caught:
        load(tmp_path / "v")
    assert "\n" not in str(caught.value)


def test_rows_are_not_shared_beyond_measure(vocab, monkeypatch):
    monkeypatch.setattr("embeddings.formats.spacy_vectors.ALWAYS", 1 << 20)
    names = [f"w{i}" for i in range(3000)]
    np.save(vocab / "vectors.npy", np.ones((1, 30_000), "f4"))
    (vocab / "vectors.npy").rename(vocab / "vectors")
    (vocab / "strings.json").write_text(json.dumps(names))
    (vocab / "key2row").write_bytes(msgpack.packb(dict.fromkeys(keys(names).tolist(), 0)))
    with pytest.raises(FormatError, match=r"vocab is broken: \d+ bytes say that they expand to 360000000"):
        load(vocab)
