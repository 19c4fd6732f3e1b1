"""Every writer while the disk is full, fails, or the process is killed: the old file or the new one, whole; one line.

    python tests/hardness/faults.py

prints a table: writer, cases, refused, written, killed, defects; then the defects. Each case is a process of its own,
forked, that writes a second version over a first. Either an operation fails in it (forcing to the disk, renaming,
making a folder), or no file may grow beyond some size; or it is killed there: before an operation, after it, or at
some byte of a file.
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
    """What goes wrong: an operation, by its number, or a file that grows beyond a size; and whether that kills."""

    operation: str
    number: int
    kills: str = ""  # "before" the operation or "after" it; "there", at a size

    def __str__(self) -> str:
        return f"{self.operation} {self.number} {self.kills}".strip()


def vectors(version: int) -> em.Vectors:
    words = [f"word{version}{i}" for i in range(300)]
    return em.Vectors(words, np.random.default_rng(version).standard_normal((300, 16)), counts=range(600, 300, -1))


@functools.cache
def model(version: int) -> em.Model:
    import subword_models

    made = subword_models.fasttext_model([f"word{version}{i}" for i in range(300)], 16, seed=version)
    made.phrases, made.record = phrase_table(version), {"loss_by_epoch": [3.0, 2.0 + version]}
    return made


def phrases(version: int) -> em.PhraseList:
    return em.PhraseList([(f"new{version}", f"york{i}") for i in range(200)])


def phrase_table(version: int) -> Any:
    from embeddings.corpora.phrases.phrase_table import to_phrase_table

    return to_phrase_table(phrases(version))


def write_index(path: Path, version: int) -> None:
    index = em.build_index(vectors(version), "lsh", bits=64)
    index.seconds = 1.0
    index.save(path, force=True)


def write_vocabulary(path: Path, version: int) -> None:
    from embeddings.corpora.vocabulary_files import write_vocabulary_file

    write_vocabulary_file(em.Vocabulary([f"word{version}{i}" for i in range(999)], [1] * 999), path, force=True)


def write_checkpoint(path: Path, version: int) -> None:
    from embeddings.training.checkpoints import RunState

    arrays = {"table.words": np.full((300, 16), version, np.float32)}
    em.Checkpoints(path, keep=1).write(RunState({"version": version}, {"n": version}, arrays), version)


def text_for(path: Path, version: int) -> Path:
    """A text beside the cache that holds this version."""
    text = path.parent / "text.txt"
    if not text.exists() or f"word{version} " not in text.read_text():
        text.write_text(f"word{version} again\n" * 4000)
    return text


def write_corpus(path: Path, version: int) -> None:
    """The cache of encoded corpora; the text is not what was written before."""
    text = text_for(path, version)
    os.environ["EMBEDDINGS_CACHE"] = str(path)
    with em.Corpus(text).encode() as encoded:
        assert encoded.vocabulary.counts.tolist() == [4000, 4000], "a broken corpus is read"
        assert f"word{version}" in encoded.vocabulary, "an old corpus is read"


def write_curve(path: Path, version: int) -> None:
    from embeddings.training.loss_curve import draw_loss_curve

    log = path.parent.parent / f"log{version}.jsonl"  # not where a fault would strike it too
    if not log.exists():
        lines = [{"event": "progress", "words": i, "loss": i % 3 + version} for i in range(9)]
        log.write_text("".join(json.dumps(line) + "\n" for line in lines))
    draw_loss_curve(log, path, force=True)


def writers() -> dict[str, tuple[str, Write]]:
    """The name of the file or folder that each writes, and how it writes a version over whatever stands there."""
    from embeddings.vectors import format_dispatch

    forms = [
        name for name in format_dispatch.names() if format_dispatch.load_format(name).read.__module__.startswith("embeddings.")
    ]
    found: dict[str, tuple[str, Write]] = {
        f"format {name}": ("v.npy" if name == "npy" else "v.out", functools.partial(write_format, name))
        for name in forms
    }
    return found | {
        "model": ("m", lambda path, version: model(version).save(path, force=True)),
        "model fasttext": ("m.bin", lambda path, version: model(version).export(path, "fasttext", force=True)),
        "index": ("i", write_index),
        "vocabulary arrow": ("v.arrow", write_vocabulary),
        "vocabulary text": ("v.txt", write_vocabulary),
        "phrase list": ("p.tsv", lambda path, version: phrases(version).save(path, force=True)),
        "checkpoint": ("c", write_checkpoint),
        "encoded corpus": ("cache", write_corpus),
        "picture": ("p.png", write_curve),
    }


def write_format(name: str, path: Path, version: int) -> None:
    if name == "gensim":  # it writes down the time
        from gensim.utils import SaveLoad

        SaveLoad.add_lifecycle_event = lambda *_, **__: None
    vectors(version).save(path, name, force=True)


def state(folder: Path) -> str:
    """A digest of all that stands in a folder."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        content = path.read_bytes() if path.is_file() else b"folder"
        whole.update(f"{path.relative_to(folder)} {len(content)} ".encode() + content)
    return whole.hexdigest()


def operations(fault: Fault | None, counted: Counter[str]) -> None:
    """Let the operations be counted, and one of them fail or kill, from now on in this process."""

    def wrapped(name: str, do: Callable[..., Any]) -> Callable[..., Any]:
        def operation(*args: Any, **named: Any) -> Any:
            counted[name] += 1
            struck = fault is not None and (name, counted[name]) == (fault.operation, fault.number)
            if struck and fault is not None and not fault.kills:
                raise OSError(5, "Input/output error")
            if struck and fault is not None and fault.kills == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            result = do(*args, **named)
            if struck:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return operation

    for name in OPERATIONS:
        setattr(os, name, wrapped(name, getattr(os, name)))


def attempted(write: Write, path: Path, fault: Fault | None) -> tuple[str, Any]:
    """What a process says that writes a version with this fault: how it ended, and why or what it counted."""
    reader, writer = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(reader)
        counted: Counter[str] = Counter()
        signal.alarm(120)
        try:
            operations(fault, counted)
            if fault is not None and fault.operation == "size":
                signal.signal(signal.SIGXFSZ, signal.SIG_DFL if fault.kills else signal.SIG_IGN)
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                resource.setrlimit(resource.RLIMIT_FSIZE, (fault.number, fault.number))
            try:
                write(path, 1)
                told: tuple[str, Any] = ("written", dict(counted))
            except EmbeddingsError as error:
                text = str(error)
                told = (
                    ("refused", text) if "\n" not in text and text.strip() else (BROKEN, f"not a line: {text!r:.300}")
                )
            except BaseException as error:
                told = (BROKEN, f"{type(error).__name__}: {error!s:.300}")
            os.write(writer, json.dumps(told).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as stream:
        data = stream.read()
    os.waitpid(process, 0)
    return tuple(json.loads(data)) if data else (KILLED, "")


def largest(folder: Path) -> int:
    return max(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def faults(counted: dict[str, int], size: int) -> list[Fault]:
    """All that can go wrong once."""
    found = [Fault("size", round(size * share), kills) for share in SHARES for kills in ("", "there")]
    for name in OPERATIONS:
        for number in range(1, counted.get(name, 0) + 1):
            found += [Fault(name, number, kills) for kills in ("", "before", "after")]
    return found


class Try:
    """One writer in a folder of its own, with the first version there."""

    def __init__(self, folder: Path, name: str, write: Write) -> None:
        self.folder, self.path, self.write = folder, folder / name, write
        self.goods = [self.good(version) for version in (0, 1)]

    def good(self, version: int) -> str:
        """What stands there when all goes well."""
        self.begin()
        self.write(self.path, version)
        return self.state()

    def begin(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir()
        self.write(self.path, 0)

    def state(self) -> str:
        """A digest of what stands there."""
        return state(self.folder)

    def defect(self, fault: Fault) -> tuple[str, str]:
        """How a case ended, and what is wrong with what it left; nothing if all is well."""
        self.begin()
        ended, told = attempted(self.write, self.path, fault)
        if ended == BROKEN:
            return ended, str(told)
        left = self.state() if ended != KILLED else self.swept()
        if left not in self.goods:
            return ended, f"neither the old nor the new one stands there: {sorted(os.listdir(self.folder))}"
        if ended == "written" and left != self.goods[1]:
            return ended, "it is said to be written, and is not"
        self.write(self.path, 1)
        return ended, "" if self.swept() == self.goods[1] else "it cannot be written again"

    def swept(self) -> str:
        """What stands there but for what a killed process could not remove; old files that stepped aside are back.

        Several files cannot take the places of several others in one step.
        """
        for old in self.folder.glob(".*.partial/old/*"):
            old.replace(self.folder / old.name)
        for scrap in [*self.folder.rglob(".*.partial"), *self.folder.rglob("scratch/*")]:
            shutil.rmtree(scrap, ignore_errors=True)
        return self.state()


class Kept(Try):
    """Checkpoints: the last one counts; the one before may still be there, as a process killed in between leaves it."""

    def state(self) -> str:
        last = em.Checkpoints(self.path).paths()[-1:]
        return state(last[0]) if last else "none"


class Corpora(Try):
    """The cache of encoded corpora: nothing there is lost, as it can be made anew; but it must never be wrong."""

    def defect(self, fault: Fault) -> tuple[str, str]:
        self.begin()
        text_for(self.path, 1)
        ended, told = attempted(self.write, self.path, fault)
        if ended == BROKEN:
            return ended, str(told)
        try:
            self.write(self.path, 1)
            self.write(self.path, 1)
        except (AssertionError, EmbeddingsError) as error:
            return ended, f"after that: {error}"
        return ended, ""


TRIES = {"encoded corpus": Corpora, "checkpoint": Kept}


def cases(name: str, scratch: Path) -> list[tuple[Fault, str, str]]:
    """What became of each fault of a writer."""
    file, write = writers()[name]
    one = TRIES.get(name, Try)(scratch / "place", file, write)
    one.begin()
    ended, counted = attempted(write, one.path, None)
    assert ended == "written", f"{name}: {counted}"
    found = []
    for fault in faults(counted, largest(one.folder)):
        found.append((fault, *one.defect(fault)))
    return found


def main() -> int:
    """Try all writers, or those that are named."""
    home = os.environ.get("EMBEDDINGS_CACHE")
    defects = []
    print("writer\tcases\trefused\twritten\tkilled\tdefects")
    for name in sys.argv[1:] or writers():
        with tempfile.TemporaryDirectory() as scratch:
            found = cases(name, Path(scratch))
        if home is not None:
            os.environ["EMBEDDINGS_CACHE"] = home
        counts = Counter(ended for _, ended, _ in found)
        wrong = [f"{name}, {fault}: {ended}, {what}" for fault, ended, what in found if what]
        figures = [len(found), *(counts[ended] for ended in ("refused", "written", KILLED)), len(wrong)]
        print(name, *figures, sep="\t", flush=True)
        defects += wrong
    print(*defects, sep="\n")
    return bool(defects)


if __name__ == "__main__":
    sys.exit(main())
