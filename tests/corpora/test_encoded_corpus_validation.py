"""Damaged and hostile cached corpora: each is noticed, reported and encoded again, and training gets the right text."""

import json
import random

import numpy as np
import pyarrow as pa
import pytest

import embeddings as em
from embeddings.corpora import EncodedCorpus, encoded_corpus
from embeddings.corpora.encoded_corpus import (
    DOCUMENTS,
    FORMAT,
    IDS,
    META,
    SENTENCES,
    VOCABULARY,
    is_partition,
    write_meta,
)
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import FormatError

HEADER = 128  # bytes of a .npy file
FILES = (IDS, SENTENCES, DOCUMENTS, VOCABULARY, META)


@pytest.fixture
def text(tmp_path, own_cache):
    """A text in paragraphs of five lines, and an empty cache."""
    draw = random.Random(1)
    lines = (
        " ".join(draw.choices("abcdefghijklmnop", range(1, 17), k=12)) + "\n" * (1 + (i % 5 == 4)) for i in range(60)
    )
    (tmp_path / "text").write_text("".join(lines))
    return tmp_path / "text"


def entries(text):
    return [path for path in (text.parent / "cache" / "corpora").iterdir() if not path.name.startswith(".")]


def assign(name, places, value):
    """A function that changes numbers of an array file of an entry."""

    def damage(entry):
        data = bytearray((entry / name).read_bytes())
        np.frombuffer(data, "<i4" if name == IDS else "<i8", offset=HEADER)[places] = value
        (entry / name).write_bytes(data)

    return damage


def flip_bit(name, place):
    """A function that flips one bit of a file."""

    def damage(entry):
        data = bytearray((entry / name).read_bytes())
        data[place % len(data)] ^= 4
        (entry / name).write_bytes(data)

    return damage


def replace_content(name, change):
    """A function that replaces the content of a file of an entry, or removes the file."""

    def damage(entry):
        content = change((entry / name).read_bytes())
        (entry / name).unlink()
        if content is not None:
            (entry / name).write_bytes(content)

    return damage


CHANGES = {"missing": lambda data: None, "shorter": lambda data: data[:-9], "empty": lambda data: b""}
CHANGES["nested"] = lambda data: b"[" * 100_000


def change_vocabulary(change):
    """A function that replaces the vocabulary of an entry by a valid one."""

    def damage(entry):
        vocabulary = change(Vocabulary.load(entry / VOCABULARY))
        vocabulary.save(entry / VOCABULARY, force=True)

    return damage


HOSTILE = {  # files that are valid by themselves, and may have new digests
    "alternating borders": assign(SENTENCES, slice(2, -1, 2), 0),
    "a distant border": assign(SENTENCES, 7, 2**62),
    "a first border": assign(SENTENCES, 0, -1),
    "alternating documents": assign(DOCUMENTS, slice(2, -1, 2), 0),
    "ids of 2^30": assign(IDS, slice(None, None, 3), 2**30),
    "an id beyond the unknown word": assign(IDS, 5, 17),
    "a shortened vocabulary": change_vocabulary(lambda vocabulary: vocabulary.select(max_vocab=8)),
    "other counts": change_vocabulary(lambda vocabulary: Vocabulary(vocabulary.words, vocabulary.counts + 1)),
}
DAMAGE = {
    **HOSTILE,
    **{f"{name} {how}": replace_content(name, change) for name in FILES for how, change in CHANGES.items()},
    "overwritten ids": assign(IDS, slice(200), 3),
    "a flipped bit in the borders": flip_bit(SENTENCES, HEADER + 8 * 20),
    "a flipped bit in the ids": flip_bit(IDS, HEADER + 4 * 20),
    "a flipped bit in the vocabulary": flip_bit(VOCABULARY, 700),
    "a flipped bit in the header": flip_bit(DOCUMENTS, 100),
}
del DAMAGE[f"{META} missing"]  # which is as if there were no entry


def describe_again(entry):
    """Adjust the sizes and digests in the description."""
    write_meta(entry, json.loads((entry / META).read_text()))


def read(text):
    """What a trainer sees of the text."""
    with em.Corpus(text).encode() as encoded:
        arrays = (encoded.ids, encoded.sentences, encoded.documents, encoded.vocabulary.counts)
        return [encoded.vocabulary.words, *(array.tolist() for array in arrays)]


def check_healing(text, caplog, damage):
    """Damaged entries give the right text after a warning each, and are repaired."""
    expected = read(text)
    before = entries(text)
    for entry in before:
        damage(entry)
        with pytest.raises(FormatError, match=entry.name):
            EncodedCorpus(entry)
    assert read(text) == expected
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert all("the text is encoded again: " in warning for warning in warnings)
    assert [any(entry.name in warning for warning in warnings) for entry in before] == [True] * len(before)
    caplog.clear()
    for entry in before:
        EncodedCorpus(entry).close()
    assert read(text) == expected
    assert not caplog.records


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_damage_is_repaired(text, caplog, damage):
    check_healing(text, caplog, damage)


@pytest.mark.parametrize("damage", HOSTILE.values(), ids=HOSTILE)
def test_hostile_files_with_new_digests_are_repaired(text, caplog, damage):
    def damage_and_describe(entry):
        damage(entry)
        describe_again(entry)

    check_healing(text, caplog, damage_and_describe)


def change_meta(**changes):
    """A function that changes the description, and adjusts its digest."""

    def damage(entry):
        meta = {**json.loads((entry / META).read_text()), **changes}
        (entry / META).write_text(json.dumps({**meta, "digest": encoded_corpus.meta_digest(meta)}))

    return damage


@pytest.mark.parametrize(
    "changes",
    [
        *({"tokens": 5}, {"sentences": 3}, {"types": 15}, {"documents": 1}, {"known_tokens": 0}, {"types": True}),
        *({"has_items": 1}, {"columns": []}, {"sources": ""}, {"settings": None}, {"digests": {}}, {"fingerprint": 7}),
    ],
    ids=str,
)
def test_a_description_that_does_not_fit_is_noticed(text, caplog, changes):
    check_healing(text, caplog, change_meta(**changes))


def test_every_flipped_bit_of_the_description_is_noticed(text):
    folder = em.Corpus(text).encode().folder
    data = (folder / META).read_bytes()
    for place in range(0, len(data), 7):
        (folder / META).write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 7]) + data[place + 1 :])
        with pytest.raises(FormatError):
            encoded_corpus.read_meta(folder)
    (folder / META).write_bytes(data)
    encoded_corpus.read_meta(folder)


@pytest.mark.parametrize("version", [FORMAT - 1, FORMAT + 1])
def test_entries_of_other_versions_are_encoded_anew(text, caplog, version):
    """Earlier ones have no digests."""

    def damage(entry):
        meta = {**json.loads((entry / META).read_text()), "format": version}
        del meta["digests"], meta["digest"]
        (entry / META).write_text(json.dumps(meta))

    folder = em.Corpus(text).encode().folder
    damage(folder)
    with pytest.raises(FormatError, match=rf"has format version {version}, expected {FORMAT}$"):
        EncodedCorpus(folder)
    assert em.Corpus(text).encode().folder == folder
    EncodedCorpus(folder).close()


def test_an_entry_without_its_description_is_replaced(text):
    expected, (entry,) = read(text), entries(text)
    (entry / META).unlink()
    assert read(text) == expected
    EncodedCorpus(entry).close()


def test_tags_are_checked(tmp_path, text, caplog):
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(json.dumps({"text": "a b", "tag": f"t{i}"}) + "\n" for i in range(9)))
    corpus = em.Corpus(rows, text_column="text", tag_column="tag")
    folder = corpus.encode().folder
    table = pa.table({"tag": pa.array(["t"] * 8, pa.large_string())})
    with pa.OSFile(str(folder / "tags.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table)
    describe_again(folder)
    assert em.Corpus(rows, text_column="text", tag_column="tag").encode().tags.to_pylist()[-1] == "t8"
    assert "tags.arrow has 8 tags, expected 9" in caplog.text


def test_a_training_run_checks_its_entry_once(text, monkeypatch):
    em.Corpus(text).encode().close()
    checks = []
    monkeypatch.setattr("embeddings.corpora.encoded_corpus.check_content", lambda encoded: checks.append(1))
    em.SkipGram(dim=4, epochs=1, min_count=1).train(em.Corpus(text), threads=1)
    assert checks == [1]


@pytest.mark.parametrize("length", [2, 4, 5, 9])
def test_every_descent_is_found(length, monkeypatch):
    monkeypatch.setattr("embeddings.corpora.encoded_corpus.BLOCK", 2)
    borders = np.arange(length)
    assert is_partition(borders, length - 1)
    assert not is_partition(borders, length)
    for place in range(length):
        changed = borders.copy()
        changed[place] -= 2
        assert not is_partition(changed, length - 1)
