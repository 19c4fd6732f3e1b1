"""Arrays in files that are written block by block."""

import hashlib
import os

import numpy as np
import pytest

from embeddings.corpora import array_file
from embeddings.corpora.array_file import ArrayFile, load_array
from embeddings.corpora.encoded_corpus import TagFile
from embeddings.errors import FormatError, OutputError
from embeddings.kernels.checksum import FileDigest
from embeddings.support.arrow import to_string_array


def written(path, *blocks, dtype=np.int32, **options):
    file = ArrayFile(path, dtype, **options)
    for block in blocks:
        file.append(np.array(block))
    return file


@pytest.mark.parametrize("threads", [1, 3])
def test_all_items_are_replaced(tmp_path, monkeypatch, threads):
    monkeypatch.setattr(array_file, "BLOCK", 8)
    file = written(tmp_path / "a.npy", range(40), is_draft=True, threads=threads)
    for first in (80, 40, 60):
        file.write(np.arange(first, first + 20, dtype=np.int32), first)
    file.count = 100
    file.map(lambda block: 2 * block + np.int32(len(block)))
    file.close()
    expected = np.array([2 * i + (8 if i < 96 else 4) for i in range(100)], "<i4")
    assert np.load(tmp_path / "a.npy").tolist() == expected.tolist()
    assert file.digest.hexdigest() == hashlib.sha256(expected.tobytes()).hexdigest()
    whole = FileDigest()
    whole.add((tmp_path / "a.npy").read_bytes())
    assert file.file_digest == whole.hexdigest()


def test_files_of_other_arrays_are_refused(tmp_path):
    written(tmp_path / "a.npy", [1, 2]).close()
    for dtype, count in (("<i4", 3), ("<i8", 2)):
        with pytest.raises(FormatError, match=r"a\.npy has int32 \(2,\), expected"):
            load_array(tmp_path / "a.npy", dtype, count)
    data = (tmp_path / "a.npy").read_bytes()
    for damaged in (b"", data[:50], data[:-1], data.replace(b"NUMPY", b"PYNUM"), data.replace(b"<i4", b"((4")):
        (tmp_path / "b.npy").write_bytes(damaged)
        with pytest.raises(FormatError, match=r"b\.npy is not a readable \.npy file: "):
            load_array(tmp_path / "b.npy", "<i4", 2)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_tags_on_a_full_disk_are_reported(tmp_path):
    (tmp_path / "tags").symlink_to("/dev/full")
    tags = TagFile(tmp_path / "tags")
    with pytest.raises(OutputError, match=f"{tmp_path}.*No space left"):
        tags.append(to_string_array(["a tag"] * 100_000))
    with pytest.raises(OutputError, match="No space left"):
        tags.close()


def test_errors_of_threads_that_write_are_reported(tmp_path):
    array = ArrayFile(tmp_path / "ids.npy", np.int32)
    array.path = tmp_path / "no folder" / "ids.npy"
    with array.file, pytest.raises(OutputError, match=r"cannot be written"):
        array.write(np.arange(3, dtype=np.int32), 0)
