"""Every command that writes a file or folder, under a limit of the size of files, as on a full disk.

All cases run in one process, `python test_full_disk.py FOLDER`, which forks for each command.
"""

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1]))
from commands import run
from platforms import needs_limits, resource

SHARES = (0, 0.5, 0.99)  # of the largest file that a command writes
TRAIN = "--dim 20 --epochs 1 --min-count 1 --threads 1"
PREPARED = [
    f"train skipgram text.txt -o v {TRAIN}",
    f"train paragraph-dbow text.txt -o d {TRAIN}",
    f"train classifier labelled.txt -o c {TRAIN}",
    "index v text.txt -o i",
    "index remove i 7",
]
REPLACED = [  # commands that replace what they wrote before
    f"train skipgram text.txt -o v2 {TRAIN}",
    f"train classifier labelled.txt -o c2 {TRAIN}",
    *(f"export v {out}" for out in ("v.bin", "v.vec", "v.npy", "v.parquet", "v.safetensors", "v.arrow")),
    "export v f --format model2vec",
    "quantize c -o small.ftz",
    "quantize v -o small",
    "align v v -o aligned.bin --dictionary pairs.txt",
    "phrases text.txt -o phrases.tsv --min-count 1 --threshold 0",
    "vocabulary text.txt -o words.txt",
    "vocabulary text.txt -o words.arrow",
    "infer d text.txt -o documents.bin",
    "induce v unseen.txt new.txt -o extended.bin --min-count 1",
    *(f"embed v text.txt -o e.{end}" for end in ("npy", "parquet", "jsonl")),
    *(f"predict c text.txt -o labels.{end}" for end in ("txt", "parquet")),
    "teach text.txt --model python:teacher:encode -o t.parquet",
    "index v text.txt -o i2",
    "index lsh v -o v.lsh",
    "stability v text.txt -o v.stability --resamples 2 --resample-by lines",
]
CHANGED = ["index add i more.txt", "index remove i 5", "index compact i"]  # commands that change an index


def prepare(folder: Path) -> None:
    """Write what commands read."""
    lines = [f"word{n % 97} word{n % 89} music{n % 7} text number{n}" for n in range(3000)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    (folder / "more.txt").write_text("\n".join(lines[:900]) + "\n")
    (folder / "labelled.txt").write_text("".join(f"__label__{n % 3} {line}\n" for n, line in enumerate(lines)))
    (folder / "pairs.txt").write_text("".join(f"word{n}\tword{n}\n" for n in range(60)))
    (folder / "unseen.txt").write_text("\n".join(f"unseen {line}" for line in lines) + "\n")
    (folder / "new.txt").write_text("unseen\n")
    (folder / "teacher.py").write_text("import numpy as np\ndef encode(texts):\n    return np.ones((len(texts), 8))\n")
    for command in PREPARED:
        code, output = in_child(folder, command)
        assert code == 0, (command, output)


def in_child(folder: Path, command: str, limit: int | None = None) -> tuple[int, str]:
    """The exit code and the output of a command in a process of its own, which can write files of `limit` bytes."""
    reader, writer = os.pipe()
    if (child := os.fork()) == 0:
        os.chdir(folder)
        sys.path.insert(0, "")
        if limit is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        result = run(*command.split())
        trace = "" if result.exception is None or isinstance(result.exception, SystemExit) else repr(result.exception)
        os.write(writer, json.dumps([result.exit_code, result.output[-2000:] + trace]).encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as stream:
        text = stream.read()
    os.waitpid(child, 0)
    return tuple(json.loads(text)) if text else (-1, "killed")


def contents(folder: Path) -> dict[str, tuple[int, str]]:
    """The size and the digest of each file, without those from which `teach` continues."""
    passing = {"__pycache__", "t.parquet.part"}
    files = [path for path in folder.rglob("*") if path.is_file() and not passing.intersection(path.parts)]
    return {
        str(path.relative_to(folder)): (path.stat().st_size, hashlib.sha256(path.read_bytes()).hexdigest())
        for path in files
    }


def defects(folder: Path, command: str) -> list[str]:
    """What is wrong after a command that cannot write its largest file: it must fail and leave all as it was."""
    is_change = command in CHANGED
    base, work = folder / "base", folder / "work"
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(base, work)
    before = contents(work)
    code, output = in_child(work, command)
    if code:
        return [f"without limits: {output}"]
    after = contents(work)
    largest = max(size for name, (size, digest) in after.items() if before.get(name) != (size, digest))
    found = []
    for share in SHARES:
        if is_change:
            shutil.rmtree(work)
            shutil.copytree(base, work)
        before, room = contents(work), int(share * largest)
        code, output = in_child(work, command if is_change else f"{command} --force", room)
        errors = [line for line in output.splitlines() if line.startswith("Error: ")]
        if code != 1 or len(errors) != 1 or "Traceback" in output:
            found.append(f"room for {room} of {largest} bytes: exit code {code}, {output}")
        if (now := contents(work)) != before:
            changed = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
            found.append(f"room for {room} of {largest} bytes: {changed} changed")
    return found


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """The defects of each command."""
    command = [sys.executable, __file__, str(tmp_path_factory.mktemp("limit"))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_limits
@pytest.mark.slow
@pytest.mark.parametrize("command", REPLACED + CHANGED)
def test_a_full_disk_is_an_error_and_leaves_all_as_it_was(results, command):
    assert results[command] == []


if __name__ == "__main__":
    place = Path(sys.argv[1])
    (place / "base").mkdir()
    prepare(place / "base")
    sys.stdout.write(json.dumps({command: defects(place, command) for command in REPLACED + CHANGED}))
