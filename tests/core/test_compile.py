"""Compiled code is kept, and never older than its source."""

import os
import shutil

import pytest

from embeddings.kernels.jit import MAX_GENERATIONS, source_digest, remove_old_generations

PART = """
from embeddings.kernels.jit import piece

@piece
def part(x):
    return x + 1
"""
ENTRY = """
from embeddings.kernels.jit import hot, kernel
from room.part import part

@kernel
def entry(x):
    return 10 * part(x)

@hot
def other(x):
    return 100 * part(x)
"""
RUN = """
from room.entry import entry, other
print(entry(1), other(1), sum(entry.stats.cache_hits.values()), sum(other.stats.cache_hits.values()))
"""


@pytest.fixture
def room(tmp_path):
    """A package of another's: a kernel in one file, what it calls in the next."""
    folder = tmp_path / "room"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "part.py").write_text(PART)
    (folder / "entry.py").write_text(ENTRY)
    return folder


@pytest.fixture
def run(tmp_path, python):
    """Run the kernels in a fresh process: their results, and how many came from the disk."""

    def run(code=RUN, cache=tmp_path / "cache"):
        return python("-c", code, path=[tmp_path], EMBEDDINGS_CACHE=str(cache)).stdout.split()

    return run


def test_an_edit_of_a_called_piece_is_never_served_stale(room, run):
    assert run() == ["20", "200", "0", "0"]
    assert run() == ["20", "200", "1", "1"]
    (room / "part.py").write_text(PART.replace("+ 1", "+ 2"))
    assert run() == ["30", "300", "0", "0"]
    (room / "part.py").write_text(PART)
    assert run() == ["20", "200", "1", "1"], "the first generation is still there"


OURS = """
import embeddings, numpy as np
from embeddings.kernels.noise_sampling import alias_table, picks
from embeddings.kernels.random_numbers import bits
from room.entry import entry
print(embeddings.__file__, *picks(alias_table(np.ones(1000)), bits(np.uint64(1), 3)), entry(np.uint64(2**63)))
"""


def test_an_edit_of_our_own_pieces_is_never_served_stale(tmp_path, root, room, run):
    """Neither to `picks`, which stands in another file of kernels than `below`, nor to another's kernel."""
    ignored = shutil.ignore_patterns("__pycache__", "corpora", "eval", "plugins")
    shutil.copytree(root / "embeddings", tmp_path / "embeddings", ignore=ignored)
    entry = ENTRY.replace("room.part import part", "embeddings.kernels.random_numbers import below")
    (room / "entry.py").write_text(entry.replace("part(x)", "below(x, 1000)"))
    where, *first = run(OURS)
    assert where == str(tmp_path / "embeddings" / "__init__.py")
    assert len(set(first[:3])) == 3
    assert first[3] == "5000"
    file = tmp_path / "embeddings" / "kernels" / "random_numbers.py"
    changed = file.read_text().replace("return np.int64(((bits", "return 7 + 0 * np.int64(((bits")
    assert changed != file.read_text()
    file.write_text(changed)
    assert run(OURS)[1:] == ["7", "7", "7", "70"]


def test_runs_where_nothing_can_be_kept(room, run, tmp_path):
    (tmp_path / "file").write_text("")
    assert run(cache=tmp_path / "file" / "cache") == ["20", "200", "0", "0"]
    assert (tmp_path / "file").read_text() == ""


def test_nothing_is_left_beside_the_sources(room, run):
    run()
    assert not list(room.rglob("*.nb[ic]"))


def test_digest_is_of_names_and_contents(room):
    before = source_digest([room])
    assert before == source_digest([room]) == source_digest([room, room])
    (room / "part.py").rename(room / "piece.py")
    renamed = source_digest([room])
    (room / "more.py").write_text("")
    added = source_digest([room])
    (room / "notes.txt").write_text("not a source")
    assert added == source_digest([room])
    assert len({before, renamed, added}) == 3


def test_sweep_keeps_the_latest_generations(tmp_path):
    for age in range(20):
        (tmp_path / str(age)).mkdir()
        (tmp_path / str(age) / "code").write_text("x")
        os.utime(tmp_path / str(age), (10**9 - age, 10**9 - age))
    remove_old_generations(tmp_path / "19")
    assert {path.name for path in tmp_path.iterdir()} == {"19", *map(str, range(MAX_GENERATIONS - 1))}
