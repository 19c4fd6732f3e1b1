"""Hard-wrapped text: lines joined to paragraphs, and its detection."""

import gzip
import logging
import textwrap
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from naive_corpora import decoded, encode

from embeddings.corpora import Corpus
from embeddings.corpora.corpus_cache import warn_once
from embeddings.corpora.documents import corpus_documents
from embeddings.corpora.reading import paragraphs
from embeddings.corpora.reading.paragraphs import WHITE_SPACE, is_hard_wrapped, join_paragraphs


def naive_join(text):
    """The lines of each paragraph in one line, by a loop over lines."""
    lines, result = text.replace("\r\n", "\n").split("\n"), []
    for i, line in enumerate(lines):
        follows = i and not is_blank(line) and not is_blank(lines[i - 1])
        result.append((" " if follows else "\n" if i else "") + line)
    return "".join(result)


def is_blank(line):
    return not line or line.isspace()


def cut(text, places):
    borders = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[start:end].encode() for start, end in pairwise(borders)]


PIECES = st.sampled_from(["\n", "\n", "\n", "\r\n", " ", "\t", "\u3000", "\u2029", "a", "é", "の", "word-", "\r"])
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@settings(max_examples=500)
@given(text=TEXTS, places=st.lists(st.integers(0, 100), max_size=6))
def test_lines_of_a_paragraph_are_joined_however_blocks_are_cut(text, places):
    blocks = list(filter(None, cut(text, places)))
    assert b"".join(join_paragraphs(blocks)).decode() == naive_join(text)


@settings(max_examples=60)
@given(text=TEXTS.map(lambda text: text.replace("\r", "")), block_size=st.integers(1, 20))
def test_joined_lines_equal_a_file_with_the_paragraph_in_one_line(tmp_path_factory, text, block_size):
    folder = tmp_path_factory.mktemp("texts")
    (folder / "wrapped.txt").write_bytes((text + " x\n").encode())
    (folder / "joined.txt").write_bytes((naive_join(text + " x\n")).encode())
    with (
        encode(folder / "wrapped.txt", block_size=block_size, lines="paragraph") as wrapped,
        encode(folder / "joined.txt") as joined,
    ):
        assert decoded(wrapped) == decoded(joined)
        assert wrapped.documents.tolist() == joined.documents.tolist()
        assert wrapped.fingerprint == joined.fingerprint


def test_all_white_space_is_recognised():
    assert {chr(point) for point in range(0x110000) if chr(point).isspace()} == set(WHITE_SPACE)


def test_white_space_without_end_takes_bounded_memory(monkeypatch):
    monkeypatch.setattr(paragraphs, "MAX_BLANK", 100)
    blocks = [b"one\n", *[b" " * 60] * 50, b"two\n"]
    parts = list(join_paragraphs(blocks))
    assert b"".join(parts).split() == [b"one", b"two"]
    assert b"".join(parts).count(b"\n") == 1


WRAPPED = "\n\n".join(textwrap.fill(" ".join(f"word{i * j}" for i in range(60)), 70) for j in range(1, 30)) + "\n"
JOINED = naive_join(WRAPPED)


def test_compressed_files_pipes_strings_and_rows(tmp_path):
    (tmp_path / "wrapped.txt.gz").write_bytes(gzip.compress(WRAPPED.replace("\n", "\r\n").encode("utf-16")))
    with encode([JOINED]) as joined, encode([WRAPPED], lines="paragraph") as strings:
        expected = decoded(joined)
        assert decoded(strings) == expected
    with encode(tmp_path / "wrapped.txt.gz", lines="paragraph", encoding="utf-16") as file:
        assert decoded(file) == expected
    with encode(tmp_path / "wrapped.txt.gz", lines="paragraph", encoding="utf-16", rows=3) as file:
        assert decoded(file) == expected[:3]


def test_each_paragraph_is_a_document_unless_lines_are(tmp_path):
    (tmp_path / "wrapped.txt").write_text(WRAPPED)
    with encode(tmp_path / "wrapped.txt", lines="paragraph") as encoded:
        sizes = {unit: corpus_documents(encoded, unit).size for unit in ("auto", "blocks", "lines")}
    assert sizes == {"auto": 29, "blocks": 29, "lines": 57}


SENTENCES = "\n".join(
    f"This sentence has number {i} and {'a few more words ' * (i % 5)}then ends." + "\n" * (i % 7 == 0)
    for i in range(300)
)


def test_hard_wrapped_text_is_noted(tmp_path, caplog):
    (tmp_path / "wrapped.txt").write_text(WRAPPED)
    (tmp_path / "sentences.txt").write_text(SENTENCES)
    caplog.set_level(logging.WARNING)
    for _ in range(2):  # also from the cache
        caplog.clear()
        warn_once.cache_clear()
        Corpus(tmp_path / "wrapped.txt").encode()
        Corpus(tmp_path / "wrapped.txt", case="keep").encode()
        assert ["wrapped.txt" in record.getMessage() for record in caplog.records] == [True]
    caplog.clear()
    Corpus(tmp_path / "sentences.txt").encode()
    Corpus(tmp_path / "wrapped.txt", lines="paragraph").encode()
    Corpus("sample", rows=1000).encode()
    assert not caplog.records


def test_verses_lists_and_long_lines_are_not_hard_wrapped():
    assert is_hard_wrapped(WRAPPED.encode())
    assert is_hard_wrapped(textwrap.fill("Größe und Straße " * 400, 70).replace("\n", "\n\n", 1).encode())
    verses = "\n\n".join("\n".join(["Shall I compare thee to a summer's day so fair", "Thou art more lovely"] * 7)
                         for _ in range(9))  # fmt: skip
    for text in (SENTENCES, verses, JOINED, "", WRAPPED.replace("\n\n", "\n"), "\n" * 500, "item 1\nitem 2\n\n" * 200):
        assert not is_hard_wrapped(text.encode())
