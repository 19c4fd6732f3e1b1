"""Words, tags, file names and metadata from strangers, in everything that commands print."""

import json
import sys
from unicodedata import category

import numpy as np
import pytest
from commands import expect, run

import embeddings as em

CHARACTERS = [chr(code) for code in range(sys.maxunicode + 1) if category(chr(code)) in {"Cc", "Cf", "Zl", "Zp"}]
WORDS = [f"x{character}y" for character in CHARACTERS]
HOSTILE = "x\x1b]0;t\x07\x9b31m\u202e\u200f\u2028\t\r\n=1+1"  # in names of files, sets, sections and trainers
SMALL = ["--dim", 4, "--epochs", 1, "--threads", 1, "--min-count", 1]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working folder: vectors v.arrow of words with each character, and files with hostile names."""
    monkeypatch.chdir(tmp_path)
    words = ["the", *WORDS, "king", "queen", "dog", "cat"]
    vectors = em.Vectors(words, np.random.default_rng(1).normal(size=(len(words), 4)))
    vectors.save("v.arrow")
    for extension in ("arrow", "npy"):
        vectors.subset(["king", "queen", "dog", "cat"]).save(HOSTILE + f".{extension}")
    texts = [" ".join(f"x{character}y" for character in CHARACTERS if not character.isspace()), "the king " * 50]
    (tmp_path / f"{HOSTILE}.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    (tmp_path / HOSTILE).write_text(f": {HOSTILE}\nking queen dog cat\nking dog queen cat\n".replace("\n=", "="))
    (tmp_path / "pairs.tsv").write_text("king\tqueen\t9\ndog\tcat\t8\nking\tcat\t1\n")
    (tmp_path / "words.txt").write_text(f"king\nx\x1b\x9b\u202e\n{HOSTILE}\n")
    return tmp_path


COMMANDS = [
    ["neighbours", "v.arrow", "the", *[word for word in WORDS if "\0" not in word], "--top", 300],
    ["neighbours", "v.arrow", HOSTILE],
    ["neighbours", "v.arrow", "the", "--index", HOSTILE],
    ["analogy", "v.arrow", WORDS[1], WORDS[2], WORDS[3], "--top", 300],
    ["analogy", "v.arrow", HOSTILE, "king", "dog"],
    ["compose", "v.arrow", WORDS[1], "king", "--function", "additive", "--top", 300],
    ["compose", "v.arrow", HOSTILE, "king", "--function", "additive"],
    ["info", "v.arrow"],
    ["info", f"{HOSTILE}.arrow", "--full"],
    ["info", f"{HOSTILE}.jsonl", "--full"],
    ["info", HOSTILE],
    ["info", "nothing" + HOSTILE],
    ["vocabulary", f"{HOSTILE}.jsonl", "-o", f"{HOSTILE}.voc.arrow", "--tokenizer", "whitespace", "--top", 300],
    ["vocabulary", f"{HOSTILE}.jsonl", "-o", "codepoints.arrow", "--tokenizer", "codepoints", "--top", 300],
    ["phrases", f"{HOSTILE}.jsonl", "--tokenizer", "whitespace", "--min-count", 1, "--threshold", 0, "--top", 300],
    ["train", "skipgram", f"{HOSTILE}.jsonl", "-o", f"{HOSTILE}.model", *SMALL],
    ["train", HOSTILE, "words.txt", "-o", "m"],
    ["train", "skipgram", "words.txt", "-o", "m", "--tokenizer", HOSTILE],
    ["train", "skipgram", "words.txt", "-o", "m", f"--{HOSTILE}"],
    ["evaluate", f"{HOSTILE}.arrow", "--similarity", "pairs.tsv", "--analogy", HOSTILE, "--sections"],
    ["compare", f"{HOSTILE}.arrow", f"{HOSTILE}.npy", "--similarity", "pairs.tsv", "--analogy", HOSTILE],
    ["evaluate", "v.arrow", "--similarity", "words.txt"],
    ["export", f"{HOSTILE}.arrow", f"{HOSTILE}.vec", "--words", "words.txt"],
    ["export", "v.arrow", "w.txt"],
    ["index", "lsh", f"{HOSTILE}.arrow", "-o", f"{HOSTILE}.lsh"],
    ["infer", f"{HOSTILE}.arrow", "words.txt", "-o", "i.arrow"],
    ["fit", f"{HOSTILE}.arrow", "-o", "f"],
    ["cache"],
    ["cache", "--remove", HOSTILE],
    ["warm", HOSTILE],
    [HOSTILE],
]


def run_command(arguments):
    """Run a command; `cache` after a corpus of a hostile name was encoded."""
    if arguments == ["cache"]:
        expect("vocabulary", f"{HOSTILE}.jsonl", "-o", "cached.arrow")
    return run(*arguments)


@pytest.mark.parametrize("arguments", COMMANDS, ids=lambda arguments: arguments[0])
def test_nothing_unprintable_is_printed(folder, arguments):
    result = run_command(arguments)
    assert "unexpected" not in result.stderr
    assert result.output
    for line in result.stderr.split("\n"):
        assert line.isprintable(), line
    lines = result.stdout.split("\n")
    assert all(line.replace("\t", "").isprintable() for line in lines)
    assert len({line.count("\t") for line in lines if line}) <= 1  # every row has the columns of the first


@pytest.mark.parametrize("is_terminal", [True, False])
def test_each_character_of_a_word_is_escaped_in_tables(folder, monkeypatch, is_terminal):
    monkeypatch.setattr("embeddings.cli.output.is_terminal", lambda: is_terminal)
    output = expect("neighbours", "v.arrow", "the", "--top", 300).stdout
    assert output.count("\n") == 1 + len(WORDS) + 4
    for word in WORDS:
        assert word not in output
        assert word.encode("unicode_escape").decode() in output


def test_json_restores_each_character(folder):
    output = expect("neighbours", "v.arrow", "the", "--top", 300, "--json").stdout
    assert output.replace("\n", "").isprintable()
    assert {row["neighbour"] for row in json.loads(output)} >= set(WORDS)


def test_a_traceback_is_printable(folder):
    result = run("--debug", "info", f"nothing{HOSTILE}")
    assert "Traceback" in result.stderr
    assert all(line.isprintable() for line in result.stderr.split("\n"))
