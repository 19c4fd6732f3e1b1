"""The package and its tests on systems without the names of POSIX and without /proc, as they can be simulated."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from commands import SMALL, TEXT, expect

import embeddings as em
from embeddings.support import files

HIDING = Path(__file__).parents[1] / "no_posix"
ROOMS = ["core", "settings", "support", "cli/test_signals.py", "cli/test_options.py", "cli/test_command_line.py"]
ROOMS += ["formats/test_odd_files.py", "training/test_run_log.py", "training/test_training_data.py"]
ROOMS += ["corpora/test_sources.py", "corpora/test_corpus_cache.py"]
pytestmark = pytest.mark.skipif("no_posix" in os.environ.get("PYTHONPATH", ""), reason="runs in itself")


def run_tests(*arguments):
    path = os.pathsep.join(filter(None, [str(HIDING), os.environ.get("PYTHONPATH")]))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n0", *map(str, arguments)]
    result = subprocess.run(
        command, cwd=HIDING.parents[1], env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stdout[-10_000:] + result.stderr


@pytest.mark.slow
def test_all_tests_can_be_collected():
    run_tests("--collect-only", "-m", "slow or not slow", "tests")


@pytest.mark.slow
def test_rooms_pass():
    run_tests(*(HIDING.parent / room for room in ROOMS))


def test_training_needs_no_name_of_posix(python, tmp_path):
    (tmp_path / "text").write_text(TEXT)
    hide = {"path": [HIDING], "EMBEDDINGS_CACHE": os.environ.get("EMBEDDINGS_CACHE", "")}
    train = ["train", "skipgram", "text", "-o", "model", "--min-count", 1, *SMALL]
    python("-m", "embeddings", *train, **hide)
    assert len(em.load(tmp_path / "model")) == 9


def test_a_model_that_is_open_and_cannot_be_moved_stays_and_the_new_one_is_kept(tmp_path, monkeypatch):
    """Windows refuses to move a folder with a file that a process has mapped into memory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text").write_text(TEXT)
    train = ["train", "skipgram", "text", "-o", "model", "--min-count", 1, *SMALL]
    expect(*train)
    before = {path.name: path.read_bytes() for path in Path("model").iterdir()}
    replace = Path.replace

    def refuse(self, target):
        if "model" in (self.name, Path(target).name):
            raise PermissionError(13, "Access is denied", str(self), None, str(target))
        return replace(self, target)

    monkeypatch.setattr(files, "renameat2", lambda *_: 38)
    monkeypatch.setattr(Path, "replace", refuse)
    result = expect(*train, "--dim", 6, "--force", code=1)
    assert {path.name: path.read_bytes() for path in Path("model").iterdir()} == before
    (other,) = (path for path in tmp_path.iterdir() if path.name not in ("text", "model"))
    assert em.load(other).dim == 6
    assert other.name in result.stderr
