"""A disk that is really full: an error of one line that names the target, and no files left."""

import os

import pytest

from embeddings.corpora.encoded_corpus import TagFile
from embeddings.errors import OutputError
from embeddings.support.arrow import to_string_array


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_tags_on_a_full_disk_are_reported(tmp_path):
    (tmp_path / "tags").symlink_to("/dev/full")
    tags = TagFile(tmp_path / "tags")
    with pytest.raises(OutputError, match=f"{tmp_path}.*No space left"):
        tags.append(to_string_array(["a tag"] * 100_000))
    with pytest.raises(OutputError, match="No space left"):
        tags.close()
