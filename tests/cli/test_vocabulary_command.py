"""`embeddings vocabulary`."""

import json

from commands import expect


def test_counts_are_saved_printed_and_merged(folder, own_cache):
    options = ["--text-column", "text", "-o", "v.txt", "--top", "2", "--min-count", "2"]
    assert expect("vocabulary", "rows.jsonl", *options).stdout == "word\tcount\nthe\t100\ncat\t50\n"
    assert (folder / "v.txt").read_text() == "the 100\ncat 50\nmat 50\non 50\nsat 50\n"
    result = expect("vocabulary", "more.csv", "--merge", "v.txt", "-o", "both.arrow", "--json", "--top", "1")
    assert json.loads(result.stdout) == [{"word": "the", "count": 110}]


def test_the_undercount_of_a_small_table_is_reported(folder, own_cache):
    options = ["--text-column", "text", "-o", "v.txt", "--max-types", "12"]
    result = expect("vocabulary", "rows.jsonl", *options)
    assert "--max-types: counts may be too low by up to" in result.stderr
    assert "not in the vocabulary" in result.stderr
    assert result.stdout.startswith("word\tcount\nthe\t100\n")


def test_documents_that_are_counted(folder, own_cache):
    (folder / "blocks.txt").write_text("the cat\nthe cat\n\nthe dog\n")
    options = ["blocks.txt", "-o", "v.txt", "--force", "--min-documents", 2]
    assert expect("vocabulary", *options).stdout == "word\tcount\nthe\t3\ncat\t2\n"
    assert expect("vocabulary", *options, "--documents", "blocks").stdout == "word\tcount\nthe\t3\n"
