"""No output replaces an input."""

from pathlib import Path

import numpy as np
import pytest
from commands import SMALL, TEXT, expect, refused
from small_models import word_model

import embeddings as em
from embeddings.cli import saving
from embeddings.errors import SettingError


@pytest.fixture
def model(text) -> em.Model:
    """A small model, also saved at v."""
    model = word_model(2)
    model.save("v")
    return model


def content(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", ["text.txt", "folder/../text.txt", "linked.txt"])
def test_the_corpus_is_no_output(text, tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "linked.txt").symlink_to(text)
    with pytest.raises(SettingError, match=r"output .*corpus"):
        saving.check_outside_corpus(str(tmp_path / name), em.Corpus(text))


@pytest.mark.parametrize("name", ["folder", "folder/v", "folder/deep/v.bin"])
def test_no_output_lies_in_a_folder_of_the_corpus(text, tmp_path, name):
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    text.rename(tmp_path / "folder" / "text.txt")
    with pytest.raises(SettingError, match=f"output .*{name} .*corpus .*folder"):
        saving.check_outside_corpus(str(tmp_path / name), em.Corpus(tmp_path / "folder"))


def test_an_output_next_to_the_corpus_is_fine(text, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text(TEXT)
    saving.check_outside_corpus(str(tmp_path / "folder2"), em.Corpus(tmp_path / "folder", text))
    saving.check_outside_corpus(str(tmp_path / "text.bin"), em.Corpus(tmp_path / "folder", text, [["a", "list"]]))


@pytest.mark.parametrize(
    "command",
    [
        ["train", "skipgram", "-o", "text.txt"],
        ["train", "skipgram", "-o", "text.npy"],
        ["vocabulary", "-o", "text.txt"],
    ],
    ids=["train", "words of a matrix", "vocabulary"],
)
def test_the_corpus_survives_force(text, command):
    message = refused(*command, "text.txt", "--force", code=2)
    assert "output text.txt" in message
    assert "corpus text.txt" in message
    assert text.read_text() == TEXT


@pytest.mark.parametrize(
    ("log", "conflict"),
    [
        ("v", "--out"),
        ("v/run.jsonl", "--out"),
        ("v.checkpoints", "the checkpoints"),
        ("start.npy", "--init"),
        ("words", "--vocabulary"),
    ],
)
def test_a_log_does_not_replace_inputs_and_outputs(model, tmp_path, log, conflict):
    em.Vectors(["the", "cat"], np.ones((2, 10))).save("start.npy")
    (tmp_path / "words").write_text("the 9\ncat 8\nsat 7\n")
    before = content(tmp_path)
    options = ["--init", "start.npy", "--vocabulary", "words", "--log", log, "--force"]
    message = refused("train", "skipgram", "text.txt", "-o", "v", "--dim", "10", *options, code=2)
    assert message.startswith(f"output {log} would overwrite {conflict} ")
    assert content(tmp_path) == before


def test_a_log_does_not_replace_a_part_of_the_continued_model(model):
    log = Path("v", "model.json")
    message = refused("train", "--continue", "v", "text.txt", "-o", "w", "--log", log, "--force", code=2)
    assert "overwrite --continue v" in message
    assert em.load_model("v").name == "skipgram"


@pytest.mark.parametrize(
    ("options", "output", "conflict"),
    [
        (["--vocabulary", "read.txt", "-o", "read.npy"], "read.txt", "--vocabulary read.txt"),
        (["--vocabulary", "read.txt", "-o", "read.txt"], "read.txt", "--vocabulary read.txt"),
        (["--init", "start.txt", "-o", "start.npy"], "start.txt", "--init start.txt"),
        (["--continue", "v", "-o", "v/tensors.bin"], "v/tensors.bin", "--continue v"),
        (["--config", "c.txt", "-o", "c.npy"], "c.txt", "--config c.txt"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_no_input_is_replaced(model, tmp_path, options, output, conflict):
    (tmp_path / "v" / "tensors.bin").write_bytes(b"a part of it")
    model.vectors.save("start.txt")
    (tmp_path / "read.txt").write_text("the 9\ncat 8\n")
    (tmp_path / "c.txt").write_text("epochs = 1\n")
    before = content(tmp_path)
    message = refused("train", "skipgram", "text.txt", *options, "--force", code=2)
    assert message.startswith(f"output {output} would overwrite {conflict}")
    assert content(tmp_path) == before


def test_companions_of_an_output_replace_nothing_else(model, tmp_path):
    model.vectors.save("w.txt")
    before = (tmp_path / "w.txt").read_bytes()
    for command in (["train", "skipgram", "text.txt", *SMALL, "-o", "w.npy"], ["export", "w.bin", "w.npy"]):
        model.vectors.save("w.bin", force=True)
        assert "w.txt" in refused(*command, "--force", code=1)
        assert (tmp_path / "w.txt").read_bytes() == before
    (tmp_path / "w.txt").unlink()
    for _ in range(2):
        expect("export", "w.bin", "w.npy", "--force")


def test_an_export_replaces_its_input_only_by_name(model, tmp_path):
    model.vectors.save("w.txt")
    before = (tmp_path / "w.txt").read_bytes()
    message = refused("export", "w.txt", "w.npy", "--force", code=2)
    assert "output w.txt would overwrite the input w.txt" in message
    assert (tmp_path / "w.txt").read_bytes() == before
    expect("export", "w.txt", "w.txt", "--force", "--words", "1")
    assert em.load("w.txt").words == ["w0"]
