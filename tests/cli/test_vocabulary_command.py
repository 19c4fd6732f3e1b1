"""`embeddings vocabulary`."""

import json

from commands import expect, refused

from embeddings.corpora import Vocabulary


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


def test_each_corpus_has_an_equal_share_of_the_words(folder, own_cache):
    """Words of the smaller corpus remain, although they are rarer; counts of a word in both are added."""
    (folder / "en.txt").write_text("die cat dog sun moon sea\n" * 9 + "hund\n")
    (folder / "de.txt").write_text("die katze die hund\n")
    command = ["vocabulary", folder / "en.txt", folder / "de.txt", "--max-vocab", "4", "--quiet", "-o"]
    expect(*command, folder / "all.arrow")
    assert "katze" not in Vocabulary.load(folder / "all.arrow")
    expect(*command, folder / "shares.arrow", "--shares")
    shares = Vocabulary.load(folder / "shares.arrow")
    assert dict(zip(shares.words, shares.counts.tolist(), strict=True)) == {"cat": 9, "die": 11, "hund": 2}
    assert "max-vocab" in refused("vocabulary", folder / "en.txt", "--shares", "-o", folder / "x.arrow", code=2)
