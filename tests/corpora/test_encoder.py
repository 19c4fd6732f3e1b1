"""The encoder: blocks of every form become ids, sentences, documents, tags and vectors."""

import numpy as np
import pyarrow as pa
from naive_corpora import cells_block, decoded

from embeddings.corpora.encoded_corpus import EncodedCorpus
from embeddings.corpora.encoder import Encoder
from embeddings.corpora.reading.text_block import FILE_END, TextBlock
from embeddings.corpora.word_rules import WordRules

DESCRIPTION = {"sources": ["source"], "settings": {}, "columns": {}, "decoding_errors": 0}


def encode(folder, *blocks):
    """The corpus of blocks of one source."""
    folder.mkdir()
    with Encoder(folder, WordRules("words", "lower"), threads=1) as encoder:
        encoder.add(blocks, "source")
        encoder.finish(DESCRIPTION)
    return EncodedCorpus(folder)


def texts(*cells, **fields):
    block = cells_block([cell.encode() for cell in cells])
    return TextBlock(block.data, block.ends, **fields)


def test_files_have_documents_between_blank_lines_and_rows_are_documents(tmp_path):
    blocks = [TextBlock.of_file(b"a b\nc\n\n"), TextBlock.of_file(b"d"), TextBlock.of_file(b"e\n"), FILE_END]
    with encode(tmp_path / "file", *blocks) as corpus:
        assert decoded(corpus) == [["a", "b"], ["c"], [], ["de"]]
        assert corpus.documents.tolist() == [0, 3, 4]
        assert not corpus.meta["has_items"]
    with encode(tmp_path / "rows", texts("a b\nc", "", "d\n")) as corpus:
        assert decoded(corpus) == [["a", "b"], ["c"], [], ["d"]]
        assert corpus.documents.tolist() == [0, 2, 3, 4]
        assert corpus.meta["has_items"]


def test_tags_become_lists_with_the_first_document_that_has_several(tmp_path):
    single = pa.array(["x", "", None], pa.large_string())
    several = pa.array([["y", "x", "y"], []], pa.large_list(pa.large_string()))
    with encode(tmp_path / "f", texts("a", "b", "c", tags=single), texts("d", "e", tags=several)) as corpus:
        assert corpus.tags.to_pylist() == ["x", None, None, "y", "x", None]
        assert corpus.tag_starts.tolist() == [0, 1, 2, 3, 5, 6]
    with encode(tmp_path / "g", texts("a", "b", "c", tags=single)) as corpus:
        assert corpus.tag_starts is None


def test_vectors_belong_to_rows(tmp_path):
    vectors = np.arange(6, dtype=np.float32).reshape(2, 3)
    folder = tmp_path
    with Encoder(folder, WordRules("words", "lower"), threads=1) as encoder:
        encoder.add([texts("a", "b", vectors=vectors), texts("c", vectors=vectors[:1])], "source")
        assert encoder.vectors.count == 9
        encoder.finish(DESCRIPTION | {"vector_dim": 3})
    with EncodedCorpus(folder) as corpus:
        np.testing.assert_array_equal(corpus.text_vectors, [*vectors, vectors[0]])
