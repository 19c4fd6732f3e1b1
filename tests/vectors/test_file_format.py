"""What a file format must declare."""

import pytest

from embeddings.formats import Format, glove


def test_a_format_requires_a_sniffer():
    with pytest.raises(TypeError, match="sniff"):
        Format(summary="", read=glove.read, write=glove.write)
