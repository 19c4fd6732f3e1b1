"""`embeddings train`: settings, messages, JSON, reproducibility, corpora."""

import json
import re

import pytest
from commands import SMALL, expect, refused

import embeddings as em

TINY = ["--dim", "4", "--epochs", "1", "--threads", "1", "--min-count", "1", "--subsample", "0"]
WHOLE = ["--dim", "4", "--epochs", "1", "--threads", "1", "--subsample", "0"]


@pytest.mark.parametrize("trainer", ["skipgram", "cbow"])
def test_reports_what_it_reads_and_saves(text, tmp_path, trainer):
    result = expect("train", trainer, text, "-o", tmp_path / "v", *SMALL)
    assert result.stdout == ""
    assert "1,000 words" in result.stderr
    assert "9 distinct" in result.stderr
    assert "200 lines" in result.stderr
    assert f"9 vectors of dimension 10 to {tmp_path / 'v'}" in result.stderr
    assert em.load(tmp_path / "v").words[0] == "the"


def test_a_trainer_that_reads_characters_says_so(text):
    errors = expect("train", "sembei", text, "-o", "v", "--dim", 4, "--epochs", 1, "--threads", 1).stderr
    assert re.search(r"read [\d,]+ characters \(", errors)
    assert "characters/s" in errors
    assert "words" not in errors
    assert em.load_model("v").record["unit"] == "characters"


def test_json_and_quiet(text):
    result = expect("train", "cbow", text, "-o", "v", *SMALL, "--quiet", "--json")
    assert result.stderr == ""
    summary = json.loads(result.stdout)
    assert (summary["out"], summary["model"], summary["words"], summary["dim"]) == ("v", "cbow", 9, 10)
    assert summary["settings"]["epochs"] == 2
    assert summary["interrupted"] is False
    assert summary["seconds"] > 0
    assert summary["loss"] > 0


def test_a_vocabulary_is_trained_whole(folder):
    (folder / "more.csv").write_text("body\n" + "the dog the\n" * 10)
    (folder / "v.txt").write_text("the 100\ncat 50\nmat 50\n")
    result = expect("train", "skipgram", "more.csv", "-o", "m", "--vocabulary", "v.txt", *WHOLE)
    assert "10 words not in the vocabulary" in result.stderr
    assert list(em.load("m").words) == ["the", "cat", "mat"]
    expect("train", "skipgram", "more.csv", "-o", "k", "--vocabulary", "m", *WHOLE)
    message = refused("train", "skipgram", "more.csv", "-o", "l", "--vocabulary", "m", "--min-count", "3", code=2)
    assert "--vocabulary cannot be combined with --min-count" in message


def test_a_folder_keeps_what_a_vector_file_does_not(text):
    documents = ["--dim", "4", "--epochs", "1", "--threads", "1"]
    result = expect("train", "paragraph-dbow", text, "-o", "v.bin", *documents)
    assert "v.bin will contain word vectors only" in result.stderr
    assert "only" not in expect("train", "paragraph-dbow", text, "-o", "m", *documents).stderr


def test_a_folder_may_be_called_model_and_a_small_text_is_told_of_epochs(text):
    epochs = expect("train", "skipgram", text, "-o", "novels.model", "--min-count", 1, "--dim", 5).stderr
    assert em.load_model("novels.model").vectors.dim == 5
    assert "--epochs 20" in epochs
    given = expect("train", "skipgram", text, "-o", "m", "--min-count", 1, "--dim", 5, "--epochs", 1).stderr
    assert "--epochs 20" not in given


def test_a_run_that_is_interrupted_before_the_first_step_saves_nothing(text, tmp_path, monkeypatch):
    def interrupt(work, threads, report):
        raise KeyboardInterrupt

    monkeypatch.setattr("embeddings.training.executor.run_threads", interrupt)
    result = expect("train", "skipgram", text, "-o", "v", *TINY, "--checkpoint-every", "never", code=130)
    assert result.stderr.splitlines()[-1] == "interrupted before the first training step; nothing is saved"
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]
