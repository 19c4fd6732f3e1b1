"""Text files that list words."""

import pytest

from embeddings.errors import FormatError
from embeddings.vectors.word_files import read_words


def test_read_words(tmp_path):
    path = tmp_path / "words"
    path.write_bytes("new york\r\n日本\n\nnew york\nking".encode())
    assert read_words(path) == ["new york", "日本", "king"]
    path.write_bytes(b"\n\n")
    with pytest.raises(FormatError, match="no words"):
        read_words(path)
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(FormatError, match=r"line 2:.*UTF-8"):
        read_words(path)
