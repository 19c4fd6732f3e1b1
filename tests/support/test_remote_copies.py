"""Patterns of remote files."""

import pytest

from embeddings.support.remote.copies import matches


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("*.txt", "a.txt", True),
        ("*.txt", "b/a.txt", False),
        ("**/*.txt", "b/c/a.txt", True),
        ("**/*.txt", "a.txt", True),
        ("b/**", "b/c/a.txt", True),
        ("b*", "bc/d/a.txt", True),
        ("a[0-9]?.txt", "a1x.txt", True),
        ("a[0-9]?.txt", "ax1.txt", False),
    ],
)
def test_patterns_match_as_local_ones_do(tmp_path, pattern, path, expected):
    from embeddings.corpora.reading.sources import find_files

    assert matches(path.split("/"), pattern.split("/")) == expected
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text("x")
    try:
        found = find_files(tmp_path / pattern) == [tmp_path / path]
    except Exception:
        found = False
    assert found == expected
