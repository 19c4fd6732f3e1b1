"""Results are never lost: outputs are checked first, and a result that cannot be saved there is saved elsewhere."""

import re
import tempfile
from pathlib import Path

import pytest
from commands import SMALL, expect, refused
from small_models import word_model

import embeddings as em
from embeddings.cli import saving
from embeddings.errors import OutputError


@pytest.fixture
def model() -> em.Model:
    return word_model(2)


@pytest.mark.parametrize(("name", "other"), [("v", "v.1"), ("v.bin", "v.1.bin")])
def test_an_output_that_appears_during_training_stays_and_the_result_is_saved_next_to_it(tmp_path, model, name, other):
    out = tmp_path / name
    write = saving.model_writer(str(out), False)
    out.write_text("another's")
    with pytest.raises(
        OutputError,
        match=f"{re.escape(str(out))} .*(exists|not replaced).*; .*saved in {re.escape(str(tmp_path / other))}$",
    ):
        saving.save(write, model, str(out), False)
    assert out.read_text() == "another's"
    assert em.load(tmp_path / other).words == ["w0", "w1"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, other])


def test_without_its_folder_the_result_is_saved_in_a_temporary_one(tmp_path, model, monkeypatch):
    (tmp_path / "gone").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    out = tmp_path / "gone" / "v.bin"
    write = saving.model_writer(str(out), False)
    (tmp_path / "gone").rmdir()
    with pytest.raises(OutputError, match="saved in ") as caught:
        saving.save(write, model, str(out), False)
    place = Path(str(caught.value).rpartition(" saved in ")[2])
    assert place.is_relative_to(tmp_path / "temporary")
    assert em.load(place).words == ["w0", "w1"]


def test_a_result_that_cannot_be_saved_anywhere(tmp_path, model, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def fail(path: str, model: em.Model, force: bool) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match=r"No space left on device; .*failed"):
        saving.save(fail, model, str(tmp_path / "v"), False)


@pytest.mark.parametrize("name", ["v.bin", "v.txt"])
def test_force_does_not_replace_files_next_to_the_output(tmp_path, model, name):
    """The output cannot be replaced: it has become a folder that is not empty."""
    out = tmp_path / name
    write = saving.model_writer(str(out), True)
    out.mkdir()
    (out / "another").write_text("another's")
    other = out.with_name(f"v.1{out.suffix}")
    other.write_text("another's")
    with pytest.raises(OutputError, match="saved in"):
        saving.save(write, model, str(out), True)
    assert other.read_text() == "another's"


def test_saving_elsewhere_is_a_failure_of_the_command(text, tmp_path, monkeypatch):
    """The output appears after training, after all checks."""
    from embeddings.cli import train

    def save_late(write, model, out, force):
        Path(out).write_text("another's")
        return saving.save(write, model, out, force)

    monkeypatch.setattr(train, "save", save_late)
    message = refused("train", "skipgram", text, "-o", tmp_path / "v", *SMALL, code=1)
    assert message.startswith(str(tmp_path / "v"))
    assert message.endswith(f"saved in {tmp_path / 'v.1'}")
    assert em.load(tmp_path / "v.1").words[0] == "the"


def test_only_a_saved_model_is_replaced_and_this_is_checked_before_training(text, tmp_path, model):
    (tmp_path / "file").write_text("another's")
    model.save("v")
    (tmp_path / "link").symlink_to("v")
    (tmp_path / "v" / "notes").write_text("another's")
    (tmp_path / "empty.txt").touch()  # training would refuse it
    for name, fact in (("file", "file"), ("v", "'notes'")):
        assert fact in refused("train", "skipgram", "empty.txt", "-o", name, "--force", *SMALL, code=1)
    assert (tmp_path / "v" / "notes").read_text() == "another's"
    (tmp_path / "v" / "notes").unlink()
    before = (tmp_path / "v" / "model.json").read_bytes()
    expect("train", "cbow", text, "-o", "link", "--force", *SMALL)
    assert (tmp_path / "v" / "model.json").read_bytes() == before
    assert not (tmp_path / "link").is_symlink()
    assert em.load_model("link").name == "cbow"
