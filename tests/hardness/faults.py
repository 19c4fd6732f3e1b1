"""Every writer when the disk is full or fails, or the process is killed: a complete old or new file, a one-line error.

    python tests/hardness/faults.py

prints a table: writer, cases, refused, written, killed, defects; then the defects. Each case forks a process that
writes a second version over a first. In it an operation fails (fsync, rename, mkdir), or files are limited to a size;
or the process is killed before or after an operation, or at that size.
"""

import functools
import hashlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import embeddings as em
from embeddings.errors import EmbeddingsError

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

Write = Callable[[Path, int], object]
OPERATIONS = ("fsync", "replace", "mkdir")
SHARES = (0.0, 0.01, 0.5, 0.99)
KILLED, BROKEN = "killed", "broken"


class Fault(NamedTuple):
    """The operation that fails, by its number, or the maximum file size; and whether it kills the process."""

    operation: str
    number: int
    kills: str = ""  # "before" or "after" the operation; "there", at the size

    def __str__(self) -> str:
        return f"{self.operation} {self.number} {self.kills}".strip()


def vectors(version: int) -> em.Vectors:
    words = [f"word{version}{i}" for i in range(300)]
    return em.Vectors(words, np.random.default_rng(version).standard_normal((300, 16)), counts=range(600, 300, -1))


@functools.cache
def model(version: int) -> em.Model:
    import subword_models

    fasttext = subword_models.fasttext_model([f"word{version}{i}" for i in range(300)], 16, seed=version)
    fasttext.phrases, fasttext.record = phrase_table(version), {"loss_by_epoch": [3.0, 2.0 + version]}
    return fasttext


def phrases(version: int) -> em.corpora.PhraseList:
    return em.corpora.PhraseList([(f"new{version}", f"york{i}") for i in range(200)])


def phrase_table(version: int) -> Any:
    from embeddings.corpora.phrases.phrase import to_phrase_table

    return to_phrase_table(phrases(version))


def write_index(path: Path, version: int) -> None:
    index = em.build_index(vectors(version), "lsh", bits=64)
    index.seconds = 1.0
    index.save(path, force=True)


def write_vocabulary(path: Path, version: int) -> None:
    from embeddings.corpora.vocabulary import write_vocabulary_file

    write_vocabulary_file(em.corpora.Vocabulary([f"word{version}{i}" for i in range(999)], [1] * 999), path, force=True)


def write_checkpoint(path: Path, version: int) -> None:
    from embeddings.training.checkpoints import RunState

    arrays = {"table.words": np.full((300, 16), version, np.float32)}
    em.Checkpoints(path, keep=1).write(RunState({"version": version}, {"n": version}, arrays), version)


def text_for(path: Path, version: int) -> Path:
    """A text of this version next to the cache."""
    text = path.parent / "text.txt"
    if not text.exists() or f"word{version} " not in text.read_text():
        text.write_text(f"word{version} again\n" * 4000)
    return text


def write_corpus(path: Path, version: int) -> None:
    """The cache of encoded corpora, of a text that has changed."""
    text = text_for(path, version)
    os.environ["EMBEDDINGS_CACHE"] = str(path)
    with em.Corpus(text).encode() as encoded:
        assert encoded.vocabulary.counts.tolist() == [4000, 4000], "a broken corpus was read"
        assert f"word{version}" in encoded.vocabulary, "an old corpus was read"


def writers() -> dict[str, tuple[str, Write]]:
    """For each writer the name of its file or folder, and a function that writes a version over an existing one."""
    from embeddings.vectors import file_format

    forms = [
        name for name in file_format.names() if file_format.load_format(name).read.__module__.startswith("embeddings.")
    ]
    result: dict[str, tuple[str, Write]] = {
        f"format {name}": ("v.npy" if name == "npy" else "v.out", functools.partial(write_format, name))
        for name in forms
        if name != "gensim" or find_spec("gensim")
    }
    return result | {
        "model": ("m", lambda path, version: model(version).save(path, force=True)),
        "model fasttext": ("m.bin", lambda path, version: model(version).export(path, "fasttext", force=True)),
        "index": ("i", write_index),
        "vocabulary arrow": ("v.arrow", write_vocabulary),
        "vocabulary text": ("v.txt", write_vocabulary),
        "phrase list": ("p.tsv", lambda path, version: phrases(version).save(path, force=True)),
        "checkpoint": ("c", write_checkpoint),
        "encoded corpus": ("cache", write_corpus),
    }


def write_format(name: str, path: Path, version: int) -> None:
    if name == "gensim":  # its files contain the time
        from gensim.utils import SaveLoad

        SaveLoad.add_lifecycle_event = lambda *_, **__: None
    vectors(version).save(path, name, force=True)


def folder_digest(folder: Path) -> str:
    """A digest of all files in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else b"folder"
        digest.update(f"{path.relative_to(folder)} {len(content)} ".encode() + content)
    return digest.hexdigest()


def install_fault(fault: Fault | None, counts: Counter[str]) -> None:
    """Count the operations of this process from now on, and let one of them fail or kill."""

    def wrap(name: str, do: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*args: Any, **kwargs: Any) -> Any:
            counts[name] += 1
            is_faulty = fault is not None and (name, counts[name]) == (fault.operation, fault.number)
            if is_faulty and fault is not None and not fault.kills:
                raise OSError(5, "Input/output error")
            if is_faulty and fault is not None and fault.kills == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = do(*args, **kwargs)
            if is_faulty:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return operation

    for name in OPERATIONS:
        setattr(os, name, wrap(name, getattr(os, name)))


def write_with_fault(write: Write, path: Path, fault: Fault | None) -> tuple[str, Any]:
    """Write version 1 in a process with this fault; how that ended, and the error or the operation counts."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        counts: Counter[str] = Counter()
        signal.alarm(120)
        try:
            install_fault(fault, counts)
            if fault is not None and fault.operation == "size":
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL if fault.kills else signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                resource.setrlimit(resource.RLIMIT_FSIZE, (fault.number, fault.number))
            try:
                write(path, 1)
                outcome: tuple[str, Any] = ("written", dict(counts))
            except EmbeddingsError as error:
                text = str(error)
                outcome = (
                    ("refused", text) if "\n" not in text and text.strip() else (BROKEN, f"not a line: {text!r:.300}")
                )
            except BaseException as error:
                outcome = (BROKEN, f"{type(error).__name__}: {error!s:.300}")
            os.write(writer, json.dumps(outcome).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        data = stream.read()
    os.waitpid(process, 0)
    return tuple(json.loads(data)) if data else (KILLED, "")


def largest_file(folder: Path) -> int:
    return max(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def all_faults(counts: dict[str, int], size: int) -> list[Fault]:
    """All single faults."""
    result = [Fault("size", round(size * share), kills) for share in SHARES for kills in ("", "there")]
    for name in OPERATIONS:
        for number in range(1, counts.get(name, 0) + 1):
            result += [Fault(name, number, kills) for kills in ("", "before", "after")]
    return result


class Trial:
    """One writer in a folder of its own, which contains the first version."""

    def __init__(self, folder: Path, name: str, write: Write) -> None:
        self.folder, self.path, self.write = folder, folder / name, write
        self.expected = [self.write_expected(version) for version in (0, 1)]

    def write_expected(self, version: int) -> str:
        """The state without faults."""
        self.reset()
        self.write(self.path, version)
        return self.state()

    def reset(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.write(self.path, 0)

    def state(self) -> str:
        """A digest of the folder."""
        return folder_digest(self.folder)

    def defect(self, fault: Fault) -> tuple[str, str]:
        """How a case ended, and what is wrong with the result, if anything."""
        self.reset()
        ended, message = write_with_fault(self.write, self.path, fault)
        if ended == BROKEN:
            return ended, str(message)
        state = self.state() if ended != KILLED else self.clean_state()
        if state not in self.expected:
            return ended, f"neither the old nor the new version: {sorted(os.listdir(self.folder))}"
        if ended == "written" and state != self.expected[1]:
            return ended, "reported as written, but it is not"
        self.write(self.path, 1)
        return ended, "" if self.clean_state() == self.expected[1] else "it cannot be written again"

    def clean_state(self) -> str:
        """The state without temporary files of a killed process, and with the files that it had moved aside restored.

        Several files cannot be replaced in one step.
        """
        for old in self.folder.glob(".*.partial/old/*"):
            old.replace(self.folder / old.name)
        for leftover in [*self.folder.rglob(".*.partial"), *self.folder.rglob("scratch/*")]:
            shutil.rmtree(leftover, ignore_errors=True)
        return self.state()


class CheckpointTrial(Trial):
    """Checkpoints: the last one counts; a killed process may leave the one before."""

    def state(self) -> str:
        last = em.Checkpoints(self.path).paths()[-1:]
        return folder_digest(last[0]) if last else "none"


class CorpusCacheTrial(Trial):
    """The cache of encoded corpora may be lost, because it can be recreated, but it must never be wrong."""

    def defect(self, fault: Fault) -> tuple[str, str]:
        self.reset()
        text_for(self.path, 1)
        ended, message = write_with_fault(self.write, self.path, fault)
        if ended == BROKEN:
            return ended, str(message)
        try:
            self.write(self.path, 1)
            self.write(self.path, 1)
        except (AssertionError, EmbeddingsError) as error:
            return ended, f"after that: {error}"
        return ended, ""


TRIALS = {"encoded corpus": CorpusCacheTrial, "checkpoint": CheckpointTrial}


def run_cases(name: str, scratch: Path) -> list[tuple[Fault, str, str]]:
    """The outcome of each fault of a writer."""
    file, write = writers()[name]
    trial = TRIALS.get(name, Trial)(scratch / "folder", file, write)
    trial.reset()
    ended, counts = write_with_fault(write, trial.path, None)
    assert ended == "written", f"{name}: {counts}"
    return [(fault, *trial.defect(fault)) for fault in all_faults(counts, largest_file(trial.folder))]


def main() -> int:
    """Test all writers, or those named on the command line."""
    home = os.environ.get("EMBEDDINGS_CACHE")
    defects = []
    print("writer\tcases\trefused\twritten\tkilled\tdefects")
    for name in sys.argv[1:] or writers():
        with tempfile.TemporaryDirectory() as scratch:
            outcomes = run_cases(name, Path(scratch))
        if home is not None:
            os.environ["EMBEDDINGS_CACHE"] = home
        counts = Counter(ended for _, ended, _ in outcomes)
        wrong = [f"{name}, {fault}: {ended}, {what}" for fault, ended, what in outcomes if what]
        figures = [len(outcomes), *(counts[ended] for ended in ("refused", "written", KILLED)), len(wrong)]
        print(name, *figures, sep="\t", flush=True)
        defects += wrong
    print(*defects, sep="\n")
    return bool(defects)


if __name__ == "__main__":
    sys.exit(main())
