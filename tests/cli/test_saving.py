"""What was learned is never lost: outputs are checked first, saving is not interrupted, a failure saves elsewhere."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
from test_commands import SMALL, TEXT, run

import embeddings as em
from embeddings.cli import model_output, output_paths
from embeddings.corpora.vocabulary import Vocabulary
from embeddings.errors import OutputError, SettingError


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def model() -> em.Model:
    vectors = em.Vectors(["the", "cat"], np.ones((2, 3)), counts=[5, 2])
    vocabulary = Vocabulary(["the", "cat"], [5, 2])
    return em.Model("skipgram", vectors=vectors, settings={}, tables={}, vocabulary=vocabulary, record={})


@pytest.mark.parametrize(("name", "beside"), [("v", "v.1"), ("v.bin", "v.1.bin")])
def test_an_output_that_appears_while_training_is_kept_and_the_result_saved_beside_it(tmp_path, model, name, beside):
    out = tmp_path / name
    write = model_output.checked(str(out), False)
    out.write_text("another's")
    said = f"{re.escape(str(out))} exists.*; what was learned is saved in {re.escape(str(tmp_path / beside))}$"
    with pytest.raises(OutputError, match=said):
        model_output.save(write, model, str(out), False)
    assert out.read_text() == "another's"
    assert em.load(tmp_path / beside).words == ["the", "cat"]
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, beside])


def test_places_beside_that_are_taken_are_left_alone(tmp_path, model):
    out = tmp_path / "v"
    write = model_output.checked(str(out), False)
    for taken in ("v", "v.1", "v.2"):
        (tmp_path / taken).write_text(taken)
    with pytest.raises(OutputError, match=r"saved in .*/v\.3$"):
        model_output.save(write, model, str(out), False)
    assert [(tmp_path / taken).read_text() for taken in ("v", "v.1", "v.2")] == ["v", "v.1", "v.2"]
    assert em.load(tmp_path / "v.3").words == ["the", "cat"]


def test_a_folder_that_is_gone_sends_the_result_to_the_temporary_folder(tmp_path, model, monkeypatch):
    (tmp_path / "gone").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    out = tmp_path / "gone" / "v.bin"
    write = model_output.checked(str(out), False)
    (tmp_path / "gone").rmdir()
    with pytest.raises(OutputError, match="what was learned is saved in ") as caught:
        model_output.save(write, model, str(out), False)
    place = Path(str(caught.value).rpartition(" saved in ")[2])
    assert place.is_relative_to(tmp_path / "temporary")
    assert em.load(place).words == ["the", "cat"]


def test_a_result_that_can_be_saved_nowhere_is_told(tmp_path, model, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def full(place: str, model: em.Model, force: bool) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OutputError, match="No space left on device; nor could it be saved anywhere else"):
        model_output.save(full, model, str(tmp_path / "v"), False)


def test_a_result_that_is_saved_elsewhere_is_a_failure_of_the_command(text, tmp_path):
    """The output appears when the training is over, after all checks."""
    code = """
import sys
from pathlib import Path
from embeddings.cli import main, train
whole = train.save
def late(write, model, out, force):
    Path(out).write_text("another's")
    whole(write, model, out, force)
train.save = late
main()
"""
    command = [sys.executable, "-c", code, "train", "skipgram", str(text), "-o", str(tmp_path / "v"), *SMALL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1
    told = done.stderr.splitlines()[-1]
    assert told.startswith(f"Error: {tmp_path / 'v'} exists")
    assert told.endswith(f"what was learned is saved in {tmp_path / 'v.1'}")
    assert em.load(tmp_path / "v.1").words[0] == "the"


def test_ctrl_c_while_saving_is_put_off(capsys):
    before = signal.getsignal(signal.SIGINT)
    after = []
    with model_output.uninterrupted():
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        after.append("written")
    assert after == ["written"]
    assert signal.getsignal(signal.SIGINT) is before
    assert "saving what was learned" in capsys.readouterr().err


def test_ctrl_c_interrupts_again_when_saving_failed():
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(OSError, match="full"), model_output.uninterrupted():
        raise OSError("full")
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("name", ["text.txt", "folder/../text.txt", "linked.txt"])
def test_the_corpus_is_no_output(text, tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "linked.txt").symlink_to(text)
    with pytest.raises(SettingError, match="is a part of the corpus"):
        output_paths.check_apart(str(tmp_path / name), em.Corpus(text))


@pytest.mark.parametrize("name", ["folder", "folder/v", "folder/deep/v.bin"])
def test_no_output_lies_in_a_folder_of_the_corpus(text, tmp_path, name):
    (tmp_path / "folder" / "deep").mkdir(parents=True)
    text.rename(tmp_path / "folder" / "text.txt")
    with pytest.raises(SettingError, match=f"--out .*{name} is a part of the corpus .*folder; choose another place"):
        output_paths.check_apart(str(tmp_path / name), em.Corpus(tmp_path / "folder"))


def test_an_output_beside_the_corpus_is_apart(text, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.txt").write_text(TEXT)
    output_paths.check_apart(str(tmp_path / "folder2"), em.Corpus(tmp_path / "folder", text))
    output_paths.check_apart(str(tmp_path / "text.bin"), em.Corpus(tmp_path / "folder", text, [["a", "list"]]))


def test_the_corpus_survives_force(text):
    done = run("train", "skipgram", text, "-o", text, "--force", *SMALL)
    assert done.returncode == 2
    assert "is a part of the corpus" in done.stderr
    assert text.read_text() == TEXT


@pytest.mark.parametrize(
    ("corpus", "out", "code", "said"),
    [
        ("text.txt", "", 2, "--out must be the name of a folder or file, not ''"),
        ("", "v", 1, "a corpus is a path, '-' or an iterable of strings or token lists, not ''"),
    ],
)
def test_empty_names_are_refused(text, tmp_path, corpus, out, code, said):
    done = run("train", "skipgram", corpus, "-o", out, *SMALL, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (code, f"Error: {said}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["text.txt"]


def test_a_vector_file_that_exists_is_told_before_the_corpus_is_read_and_force_replaces_it(text, tmp_path):
    out = tmp_path / "v.bin"
    out.write_text("another's")
    done = run("train", "skipgram", text, "-o", out, *SMALL)
    assert done.returncode == 1
    assert done.stderr == f"Error: {out} exists; choose another name, or --force to replace it\n"
    assert out.read_text() == "another's"
    done = run("train", "skipgram", text, "-o", out, *SMALL, "--force")
    assert done.returncode == 0, done.stderr
    assert em.load(out).words[0] == "the"


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGHUP", 129)])
def test_signals_that_end_a_run_save_what_was_learned(text, tmp_path, name, code):
    """The signal comes with the first progress report: the threads are learning then."""
    script = f"""
import os, signal
from embeddings.cli import main, progress
def ended(self, progress):
    os.kill(os.getpid(), signal.{name})
progress.Training.__call__ = ended
main()
"""
    command = [sys.executable, "-c", script, "train", "skipgram", str(text), "-o", str(tmp_path / "v"), *SMALL]
    done = subprocess.run([*command, "--epochs", "1000000"], capture_output=True, text=True, timeout=300)
    assert done.returncode == code, done.stderr
    assert "interrupted after" in done.stderr
    assert em.load(tmp_path / "v").words[0] == "the"


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_signals_that_end_a_run_wait_for_saving(name):
    """In a process of its own, as the handlers belong to the command line."""
    code = """
import os, signal, sys
from embeddings.cli import Ended, saving
Ended()
with model_output.uninterrupted():
    os.kill(os.getpid(), getattr(signal, sys.argv[1]))
    print("written")
"""
    done = subprocess.run([sys.executable, "-c", code, name], capture_output=True, text=True, timeout=300)
    assert done.stdout == "written\n"


@pytest.mark.parametrize("name", ["v.bin", "v.txt"])
def test_force_does_not_replace_what_lies_beside_the_output(tmp_path, model, name):
    """The output cannot be replaced, as it has become a folder with something in it."""
    out = tmp_path / name
    write = model_output.checked(str(out), True)
    out.mkdir()
    (out / "another").write_text("another's")
    beside = out.with_name(f"v.1{out.suffix}")
    beside.write_text("another's")
    with pytest.raises(OutputError, match="what was learned is saved in"):
        model_output.save(write, model, str(out), True)
    assert beside.read_text() == "another's"


def test_words_beside_a_matrix_do_not_replace_the_corpus(text, tmp_path):
    done = run("train", "skipgram", text, "-o", tmp_path / "text.npy", "--force", *SMALL)
    assert done.returncode == 2
    assert done.stderr == f"Error: --out {text} is a part of the corpus {text}; choose another place\n"
    assert text.read_text() == TEXT


def test_only_a_saved_model_is_replaced_and_that_is_told_before_training(text, tmp_path):
    (tmp_path / "file").write_text("another's")
    assert run("train", "skipgram", text, "-o", "v", *SMALL, cwd=tmp_path).returncode == 0
    (tmp_path / "link").symlink_to("v")
    (tmp_path / "v" / "notes").write_text("another's")
    for name, said in (("file", "file is a file, and a model is saved as a folder"), ("v", "v holds 'notes' beside")):
        done = run("train", "skipgram", "missing", "-o", name, "--force", *SMALL, cwd=tmp_path)
        assert done.returncode == 1
        assert said in done.stderr
    (tmp_path / "v" / "notes").unlink()
    before = (tmp_path / "v" / "model.json").read_bytes()
    assert run("train", "cbow", text, "-o", "link", "--force", *SMALL, cwd=tmp_path).returncode == 0
    assert (tmp_path / "v" / "model.json").read_bytes() == before
    assert not (tmp_path / "link").is_symlink()
    assert em.load_model(tmp_path / "link").name == "cbow"


@pytest.mark.parametrize(
    "command",
    [
        ["vocabulary", "missing", "-o", "out.arrow"],
        ["phrases", "sample", "-o", "out.arrow"],
        ["evaluate", "missing", "--report", "out.arrow"],
    ],
    ids=lambda command: command[0],
)
def test_a_folder_is_not_replaced_by_a_file(tmp_path, command):
    (tmp_path / "out.arrow").mkdir()
    done = run(*command, "--force", cwd=tmp_path)
    assert done.returncode == 1
    assert "out.arrow is a folder, and a file is written" in done.stderr


@pytest.mark.parametrize(
    ("log", "said"),
    [
        ("v", "--out"),
        ("v/run.jsonl", "--out"),
        ("v.checkpoints", "the checkpoints"),
        ("start.npy", "--init"),
        ("words", "--vocab"),
    ],
)
def test_a_log_is_not_written_over_what_is_read_or_saved(text, tmp_path, log, said):
    em.Vectors(["the", "cat"], np.ones((2, 10))).save(tmp_path / "start.npy")
    (tmp_path / "words").write_text("the 9\ncat 8\nsat 7\n")
    if "/" in log:
        assert run("train", "skipgram", text, "-o", tmp_path / "v", *SMALL).returncode == 0
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    small = ["--dim", "10", "--epochs", "1", "--threads", "1"]
    given = ["--init", tmp_path / "start.npy", "--vocab", tmp_path / "words", "--log", tmp_path / log, "--force"]
    done = run("train", "skipgram", text, "-o", tmp_path / "v", *small, *given)
    assert done.returncode == 2
    assert done.stderr.startswith(f"Error: --log {tmp_path / log} is in the place of {said} {tmp_path}")
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_log_is_not_written_over_the_model_that_is_gone_on_with(text, tmp_path):
    assert run("train", "skipgram", text, "-o", tmp_path / "v", *SMALL).returncode == 0
    log = tmp_path / "v" / "model.json"
    done = run("train", "--continue", tmp_path / "v", text, "-o", tmp_path / "w", "--log", log, "--force")
    assert done.returncode == 2
    assert f"is in the place of --continue {tmp_path / 'v'}, or within it" in done.stderr
    assert em.load_model(tmp_path / "v").name == "skipgram"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--vocab", "read.txt", "-o", "read.npy"], "read.txt would be written over --vocab read.txt"),
        (["--vocab", "read.txt", "-o", "read.txt"], "read.txt would be written over --vocab read.txt"),
        (["--init", "start.txt", "-o", "start.npy"], "start.txt would be written over --init start.txt"),
        (["--continue", "v", "-o", "v/tensors.bin"], "v/tensors.bin would be written over --continue v"),
        (["--config", "c.txt", "-o", "c.npy"], "c.txt would be written over --config c.txt"),
    ],
    ids=lambda given: given[0] if isinstance(given, list) else "",
)
def test_nothing_that_is_read_is_replaced_unasked(text, tmp_path, model, given, said):
    model.save(tmp_path / "v")
    (tmp_path / "v" / "tensors.bin").write_bytes(b"a part of it")
    model.vectors.save(tmp_path / "start.txt")
    (tmp_path / "read.txt").write_text("the 9\ncat 8\n")
    (tmp_path / "c.txt").write_text("epochs = 1\n")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    done = run("train", "skipgram", text, *given, "--force", cwd=tmp_path)
    assert done.returncode == 2
    assert said in done.stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_what_goes_beside_an_output_replaces_nothing_else(text, tmp_path, model):
    model.vectors.save(tmp_path / "w.txt")
    before = (tmp_path / "w.txt").read_bytes()
    for given in (["train", "skipgram", text, *SMALL, "-o", "w.npy"], ["export", "w.bin", "w.npy"]):
        model.vectors.save(tmp_path / "w.bin", force=True)
        done = run(*given, "--force", cwd=tmp_path)
        assert (done.returncode, "w.txt, which would go beside w.npy, exists" in done.stderr) == (1, True)
        assert (tmp_path / "w.txt").read_bytes() == before
    (tmp_path / "w.txt").unlink()
    for _ in range(2):
        assert run("export", "w.bin", "w.npy", "--force", cwd=tmp_path).returncode == 0


def test_a_vocabulary_does_not_replace_the_corpus(text):
    done = run("vocabulary", text, "-o", text, "--force")
    assert (done.returncode, f"--out {text} is a part of the corpus" in done.stderr) == (2, True)
    assert text.read_text() == TEXT


def test_an_export_replaces_its_input_only_by_name(tmp_path):
    em.Vectors(["the", "cat"], np.ones((2, 3))).save(tmp_path / "w.txt")
    before = (tmp_path / "w.txt").read_bytes()
    done = run("export", "w.txt", "w.npy", "--force", cwd=tmp_path)
    assert (done.returncode, "w.txt would be written over the input w.txt" in done.stderr) == (2, True)
    assert (tmp_path / "w.txt").read_bytes() == before
    done = run("export", "w.txt", "w.txt", "--force", "--words", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert em.load(tmp_path / "w.txt").words == ["the"]


@pytest.mark.slow
def test_a_log_may_lie_in_a_folder_that_is_read(text, tmp_path):
    assert run("train", "skipgram", text, "-o", tmp_path / "v", *SMALL).returncode == 0
    log = tmp_path / "v" / "run.jsonl"
    for more in ([], ["--force"]):
        done = run("train", "--continue", tmp_path / "v", text, "-o", tmp_path / "w", "--log", log, *more)
        assert done.returncode == 0, done.stderr
        assert len(log.read_text().splitlines()) == 3
    assert em.load_model(tmp_path / "v").name == "skipgram"


@pytest.mark.slow
def test_logs_that_replace_nothing_are_written(text, tmp_path):
    assert run("train", "skipgram", text, "-o", "v", "--log", "v.jsonl", *SMALL, cwd=tmp_path).returncode == 0
    for more in (
        ["skipgram", text, *SMALL, "-o", "v", "--log", "v.jsonl"],
        ["--continue", "v", text, "-o", "v", "--log", "v.jsonl"],
        ["skipgram", text, *SMALL, "-o", "v", "--init", "v", "--log", "v.log"],
        ["skipgram", text, *SMALL, "-o", "w", "--phrases", "auto", "--log", "auto"],
    ):
        done = run("train", *more, "--force", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert '"event": "end"' in (tmp_path / more[-1]).read_text()
    assert em.load_model(tmp_path / "v").name == "skipgram"


@pytest.mark.parametrize("ignored", [True, False])
def test_a_signal_that_nohup_had_ignored_stays_so(ignored):
    code = (
        "import signal, os\n"
        f"signal.signal(signal.SIGHUP, signal.{'SIG_IGN' if ignored else 'SIG_DFL'})\n"
        "from embeddings.cli import Ended\n"
        "Ended()\n"
        "try:\n    os.kill(os.getpid(), signal.SIGHUP)\n    print('goes on')\n"
        "except KeyboardInterrupt:\n    print('ends')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == ("goes on\n" if ignored else "ends\n")
