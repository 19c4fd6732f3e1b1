"""What a file format must declare."""

import numpy as np
import pytest

from embeddings.formats import Format, glove
from embeddings.vectors.vectors import Vectors


def test_a_format_requires_a_sniffer():
    with pytest.raises(TypeError, match="sniff"):
        Format(summary="", read=glove.read, write=glove.write)


def test_vectors_that_compose_words_are_written_with_a_warning(tmp_path, caplog):
    vectors = Vectors(["a"], np.ones((1, 2)))
    vectors.save(tmp_path / "plain.bin")
    assert not caplog.records
    vectors.compose = lambda words: np.zeros((len(words), 2), np.float32)
    vectors.save(tmp_path / "v.bin")
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert "vocabulary" in caplog.text
