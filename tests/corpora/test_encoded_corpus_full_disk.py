"""A disk that is really full: an error of one line that names the target, and no files left."""

import os
import subprocess
import sys

import pytest

from embeddings.corpora.encoded_corpus import TagFile
from embeddings.errors import OutputError
from embeddings.support.arrow import to_string_array

ROW = '{"text": "word%d and others", "tag": "t"}\n'
CODE = """
import sys, tempfile, warnings
from pathlib import Path
import numpy as np
import embeddings as em
from embeddings.corpora import Corpus
from embeddings.errors import EmbeddingsError
from embeddings.corpora.vocabulary import write_vocabulary_file

what, disk, jsonl = sys.argv[1], Path(sys.argv[2]), sys.argv[3]
model = em.train("cbow", [[f"w{i}" for i in range(4000)]], dim=64, min_count=1, epochs=1)
Corpus(jsonl, tag_column="tag", text_column="text").write_text(Path(tempfile.mkdtemp()), None, 1 << 18)
import os
os.environ["EMBEDDINGS_CACHE"] = str(disk)
os.environ["TMPDIR"], tempfile.tempdir = str(disk), None
home = disk / "corpora"
home.mkdir()
before = sorted(disk.rglob("*"))
try:
    if what in ("corpus", "tags"):
        Corpus(jsonl, text_column="text", tag_column="tag").encode()
    elif what == "vocabulary":
        words = [f"w{i}" for i in range(100_000)]
        Corpus(words[:200], vocabulary=em.corpora.Vocabulary(words, [1] * len(words))).encode()
    elif what == "text":
        write_vocabulary_file(em.corpora.Vocabulary([f"word{i}" for i in range(200000)], [1] * 200000), disk / "v.txt")
    elif what == "model":
        model.save(disk / "model")
    else:
        model.vectors.save(disk / "v.bin")
except EmbeddingsError as error:
    print(error)
assert sorted(disk.rglob("*")) == before, sorted(disk.rglob("*"))
"""


@pytest.mark.parametrize(
    "what",
    [
        "corpus",
        "model",
        *(pytest.param(what, marks=pytest.mark.slow) for what in ("tags", "vocabulary", "text", "vectors")),
    ],
)
def test_a_full_disk_is_reported_and_no_files_are_left(tmp_path, what):
    """A disk of 512 kB in a mount namespace of its own, which goes away with the process."""
    disk, rows = tmp_path / "disk", tmp_path / "rows.jsonl"
    disk.mkdir()
    with rows.open("w") as out:
        row = '{"text": "a", "tag": "%d' + " and so on" * 40 + '"}\n' if what == "tags" else ROW
        out.writelines(row % i for i in range(20_000))
    mount = f'mount -t tmpfs -o size=512k none {disk} && exec {sys.executable} -c "$CODE" {what} {disk} {rows}'
    command = ["unshare", "--mount", "sh", "-c", mount]
    try:
        possible = subprocess.run(
            ["unshare", "--mount", "sh", "-c", f"mount -t tmpfs none {disk}"], capture_output=True
        )
    except FileNotFoundError:
        pytest.skip("unshare is not there")
    if possible.returncode:
        pytest.skip("mounting is not allowed")
    done = subprocess.run(command, env={**os.environ, "CODE": CODE}, capture_output=True, text=True, timeout=300)
    assert done.stderr == ""
    (line,) = done.stdout.splitlines()
    assert "No space left on device" in line
    assert str(disk) in line


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_tags_on_a_full_disk_are_reported(tmp_path):
    (tmp_path / "tags").symlink_to("/dev/full")
    tags = TagFile(tmp_path / "tags")
    with pytest.raises(OutputError, match=f"{tmp_path}.*No space left"):
        tags.append(to_string_array(["a tag"] * 100_000))
    with pytest.raises(OutputError, match="No space left"):
        tags.close()
