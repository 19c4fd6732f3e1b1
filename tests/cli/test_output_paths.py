"""No output replaces an input."""

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
