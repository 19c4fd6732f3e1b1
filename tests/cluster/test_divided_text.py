"""Which text the workers of a cluster read."""

import pytest

import embeddings as em
from embeddings.cluster.divided_text import can_divide
from embeddings.training.run_options import RunOptions


@pytest.mark.parametrize(
    ("settings", "is_divided"), [({}, True), ({"lines": "paragraph"}, False), ({"deduplicate": True}, False)]
)
def test_text_is_divided_only_where_lines_are_read_one_by_one(tmp_path, settings, is_divided):
    (tmp_path / "text.txt").write_text("a b\nc d\n")
    corpus = em.Corpus(tmp_path / "text.txt", **settings)
    assert can_divide(corpus, em.SkipGram(), RunOptions()) == is_divided
