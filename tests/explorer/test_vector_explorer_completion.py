"""Completion against a naive search."""

from hypothesis import given
from hypothesis import strategies as st

from embeddings.explorer.vector_explorer import CompletionIndex

LETTERS = st.text(alphabet="abAÄäßs\U0010ffff\ud800-", max_size=4)


@given(st.lists(LETTERS, unique=True, max_size=30), LETTERS, st.integers(1, 5))
def test_completions_are_the_most_frequent_words_with_the_prefix(words, prefix, limit):
    key = prefix.casefold()
    expected = [word for word in words if key and word.casefold().startswith(key)][:limit]
    assert CompletionIndex(words).complete(prefix, limit) == expected
