"""`embeddings substitutes`: words that fit a gap."""

from commands import expect, refused, table
from neural_models import context_model


def test_the_command_prints_substitutes(tmp_path):
    context_model().save(tmp_path / "m")
    rows = table(expect("substitutes", tmp_path / "m", "a [] for lunch", "[] ate", "--top", 2).stdout)
    expected = [word for text in ("a [] for lunch", "[] ate") for word, _ in context_model().substitutes(text, top=2)]
    assert [row["substitute"] for row in rows] == expected
    assert "one gap" in refused("substitutes", tmp_path / "m", "no gap here", code=2)
