"""Pieces of a text are encoded apart, and put together they are the text."""

import sys
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import embeddings as em
from embeddings.cluster.distributed_text import TextPiece, hash_at, join_ids, join_lines, send_corpus
from embeddings.cluster.divided_text import divide_files
from embeddings.corpora.reading.reader import BLOCK_SIZE
from embeddings.corpora.reading.sources import File
from embeddings.training.stream import share_bounds

LINES = st.lists(st.sampled_from(["", "", "a", "the cat sat", "Käse a a", "x" * 50, "  ", "b c"]), max_size=40)


def write(folder, number, lines, last):
    path = folder / f"{number}.txt"
    path.write_bytes("\n".join(lines).encode() + b"\n" * last)
    return path


@settings(max_examples=12)
@given(st.lists(st.tuples(LINES, st.booleans()), min_size=1, max_size=4), st.integers(1, 5), st.integers(1, 4))
def test_pieces_are_the_text(tmp_path_factory, texts, parts, shares):
    folder = tmp_path_factory.mktemp("texts")
    paths = [write(folder, number, *text) for number, text in enumerate(texts)]
    paths.append(write(folder, len(paths), ["the last words"], True))
    encoded = em.Corpus(*paths).encode()
    rules = em.Corpus(*paths).text_settings
    pieces = [TextPiece(files, rules, 1) for files in divide_files([*map(File, paths)], parts, "utf-8")]
    vocabulary = pieces[0].vocabulary
    for piece in pieces[1:]:
        vocabulary = vocabulary.merge(piece.vocabulary)
    assert vocabulary.words == encoded.vocabulary.words
    assert (vocabulary.counts == encoded.vocabulary.counts).all()
    assert vocabulary.total == len(encoded.ids)
    offsets = np.append(0, np.cumsum([piece.tokens for piece in pieces])).tolist()
    hashes = [piece.set_position(offset, vocabulary) for piece, offset in zip(pieces, offsets, strict=False)]
    whole = TextPiece([*map(File, paths)], rules, 1)
    assert tuple(sum(one) % 2**64 for one in zip(*hashes, strict=True)) == tuple(
        one % 2**64 for one in whole.set_position(0, vocabulary)
    )
    total = offsets[-1]
    ideal = [total * share // shares for share in range(shares + 1)]
    lines = sorted({total, *(line for piece in pieces for line in piece.lines_near(ideal))})
    bounds = share_bounds(total, np.array(lines), shares)
    assert bounds == share_bounds(total, np.asarray(encoded.sentences), shares)
    for begin, end in pairwise(bounds):
        fragments = [piece.cut(begin, end) for piece in pieces]
        starts, first = join_lines(fragments, begin, end)
        if end > begin:
            assert (join_ids([fragment.ids for fragment in fragments], end - begin) == encoded.ids[begin:end]).all()
            number, last = np.searchsorted(encoded.sentences, [begin, end])
            is_cut = encoded.sentences[number] > begin  # a line began before
            assert starts.tolist() == [*[0] * int(is_cut), *(encoded.sentences[number:last] - begin), end - begin]
            assert first == number - is_cut
    for piece in [*pieces, whole]:
        piece.close()


def test_the_hash_of_a_text_depends_on_the_places_of_words():
    words = np.array([1, 2, 2], np.int32)
    assert len({hash_at(words, 0), hash_at(words[::-1], 0), hash_at(words, 1)}) == 3


def test_a_piece_without_words_remembers_that_its_text_came_as_rows(tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text('text\n""\n')
    piece = TextPiece([File(path)], em.Corpus(path).text_settings, 1)
    assert piece.tokens == 0
    assert piece.meta["has_items"]


def test_a_corpus_that_another_machine_receives_is_the_same(monkeypatch):
    """The object store of Ray returns what was put into it."""
    store = SimpleNamespace(put=lambda value: value, get=lambda value: value)
    monkeypatch.setitem(sys.modules, "ray", store)
    monkeypatch.setattr("embeddings.cluster.distributed_text.PART_BYTES", 100)  # files in several parts
    with em.Corpus(["the cat sat", "a dog"] * 40).encode() as encoded, send_corpus(store, encoded).receive() as other:
        assert other.ids.tolist() == encoded.ids.tolist()
        assert other.vocabulary.words == encoded.vocabulary.words
        assert other.fingerprint == encoded.fingerprint


def test_a_piece_is_read_in_large_blocks_by_the_threads_of_its_worker(tmp_path, monkeypatch):
    readings, write_blocks = [], em.Corpus.write_blocks

    def record(corpus, encoder, report, block_size):
        readings.append((encoder.threads, block_size))
        return write_blocks(corpus, encoder, report, block_size)

    monkeypatch.setattr(em.Corpus, "write_blocks", record)
    path = write(tmp_path, 0, ["a few words"], True)
    TextPiece([File(path)], em.Corpus(path).text_settings, 1).close()
    assert readings == [(1, BLOCK_SIZE)]
