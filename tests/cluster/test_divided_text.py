"""Which text the workers of a cluster read, and in which ranges of files."""

import pytest

import embeddings as em
from embeddings.cluster.divided_text import can_divide, divide_files
from embeddings.corpora.reading.reader import SourceReader
from embeddings.corpora.reading.sources import File
from embeddings.training.run_options import RunOptions


def test_files_that_are_not_plain_text_are_not_cut(tmp_path):
    import gzip

    table, packed, text = tmp_path / "a.jsonl", tmp_path / "b.txt.gz", tmp_path / "c.txt"
    table.write_text('{"text": "a"}\n' * 100)
    packed.write_bytes(gzip.compress(b"a b c\n" * 5000))
    text.write_text("a b c\n" * 200)
    files = [*map(File, (table, packed, text))]
    parts = divide_files(files, 6, "utf-8")
    assert [file for part in parts for file in part if file in files[:2]] == files[:2]
    assert sum(file.path == text for part in parts for file in part) > 1
    assert sum(len(part) for part in divide_files(files, 6, "cp1252")) == 3
    with pytest.raises(em.EmbeddingsError, match="does not exist"):
        divide_files([File(tmp_path / "missing")], 2, "utf-8")


@pytest.mark.parametrize("start", ['{"key": "value"}', "PAR1", "BZh", "%PDF-", "WARC/", '[{"a": 1}]'])
def test_ranges_of_plain_text_are_read_as_text_whatever_they_begin_with(start, tmp_path):
    text = tmp_path / "a.txt"
    text.write_text("a b c\n" + f"{start} d\n" * 100)
    (whole,), parts = divide_files([File(text)], 1, "utf-8"), divide_files([File(text)], 5, "utf-8")
    reader = SourceReader("strict")
    read = [b"".join(block.data for file in files for block in reader.read(file)) for files in (whole, *parts)]
    assert all(read)
    assert b"".join(read[1:]) == read[0] == text.read_bytes()


def test_json_lines_without_an_extension_are_not_cut(tmp_path):
    (tmp_path / "a").write_text('{"text": "a"}\n' * 100)
    files = [File(tmp_path / "a")]
    assert [part for part in divide_files(files, 4, "utf-8") if part] == [files]


@pytest.mark.parametrize(
    ("settings", "is_divided"), [({}, True), ({"lines": "paragraph"}, False), ({"rows": 1}, False)]
)
def test_text_is_divided_only_where_lines_are_read_one_by_one(tmp_path, settings, is_divided):
    (tmp_path / "text.txt").write_text("a b\nc d\n")
    corpus = em.Corpus(tmp_path / "text.txt", **settings)
    assert can_divide(corpus, em.SkipGram(), RunOptions()) == is_divided


@pytest.mark.parametrize(
    ("callback", "is_divided"),
    [(em.Callback(), True), (em.EarlyStopping(score=len), True), (em.EarlyStopping(validation=0.1), False)],
)
def test_text_of_which_a_share_is_held_out_is_not_divided(tmp_path, callback, is_divided):
    (tmp_path / "text.txt").write_text("a b\nc d\n")
    options = RunOptions(callbacks=[callback])
    assert can_divide(em.Corpus(tmp_path / "text.txt"), em.SkipGram(), options) == is_divided
