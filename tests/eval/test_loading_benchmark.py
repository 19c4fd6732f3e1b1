"""The comparison of how fast files are read: every way reads the same vectors."""

from embeddings.eval.benchmark import loading


def test_every_way_reads_a_small_one():
    rows = list(loading.measured(50, 4, 1))
    assert [row[:2] for row in rows] == list(loading.WAYS)
    assert all(float(value) >= 0 for row in rows for value in row[2:])
    assert {row[-1] for row in rows if row[1] == "embeddings"} == {"1.0"}
