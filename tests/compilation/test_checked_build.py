"""The checked build: kernels raise IndexError instead of accessing memory outside their arrays."""

import json

import pytest

KERNELS = """
import json
import numpy as np
from embeddings.compilation.jit import entry_point, inline
from embeddings.kernels.row_operations import address, scatter_add, score, sum_rows
from embeddings.kernels.separate_arrays import separate_zeros
from embeddings.kernels.step_buffers import new_step_buffers, with_frozen_rows

@inline
def item(array, i):
    return array[i]

@entry_point
def get(array, i):
    return item(array, i)

@entry_point
def add(table, rows, addresses, factor, m, width, offset):
    for i in range(rows.shape[0]):
        addresses[i] = address(table, rows[i]) + offset
    sum_rows(factor, address(table, 0), addresses, m, width)

@entry_point
def add_unknown(factor, addresses, width):
    scatter_add(factor, addresses[0], addresses, 1, width)

@entry_point
def score_all(table, scores, addresses, n):
    addresses[:] = address(table, 0)
    score(scores, addresses, 1, addresses, n, 16)

factor, table, addresses = np.ones(1, np.float32), separate_zeros((4, 16)), np.zeros(2, np.int64)

def outcome(function, *args):
    try:
        function(*args)
    except IndexError as error:
        return str(error)

def add_rows(*rows, m=2, width=16, offset=0):
    return outcome(add, table, np.array(rows), addresses, factor, m, width, offset)

def add_to(address):
    addresses[0] = address
    return outcome(add_unknown, factor, addresses, 16)

buffers = with_frozen_rows(new_step_buffers(1, 1, 16), table, np.ones(4, np.bool_))
results = {
    "an index": outcome(get, table[0], 15),
    "an index beyond the end": outcome(get, table[0], 16),
    "rows": add_rows(1, 3),
    "a row beyond the table": add_rows(1, 4),
    "a row before the table": add_rows(-1, 2),
    "more rows than there are": add_rows(1, 3, m=3),
    "rows that are too long": add_rows(1, 3, width=32),
    "an address inside a row": add_rows(1, 2, offset=4),
    "an address beyond the table": add_rows(1, 3, offset=64),
    "an unknown table": add_to(table.ctypes.data),
    "the row for updates of frozen rows": add_to(int(buffers.frozen_sink[2])),
    "scores": outcome(score_all, table, np.zeros(16, np.float32), addresses, 2),
    "scores beyond their array": outcome(score_all, table, np.zeros(2, np.float32), addresses, 2),
    "targets beyond their array": outcome(score_all, table, np.zeros(16, np.float32), addresses, 3),
}
print(json.dumps({"results": results}))
"""
ACCEPTED = {"an index", "rows", "the row for updates of frozen rows", "scores"}
FOLDER = """
from embeddings.compilation.machine_code_cache import cache_dir
from embeddings.kernels.block import fill_block
print(cache_dir(fill_block))
"""


@pytest.fixture
def run(tmp_path, python):
    """Run a script in a process with the checked build."""
    (tmp_path / "kernels.py").write_text(KERNELS)
    return python(tmp_path / "kernels.py", EMBEDDINGS_CHECKED="1").stdout


def test_only_accesses_outside_of_arrays_are_refused(run):
    results = json.loads(run)["results"]
    assert {name for name, error in results.items() if error is None} == ACCEPTED
    assert set(results.values()) - {None} == {
        "index is out of bounds",
        "a row is outside its table",
        "a row operation exceeds one of its arrays",
        "a row operation exceeds the known rows",
    }


def test_builds_have_separate_caches(python):
    normal, checked = (python("-c", FOLDER, EMBEDDINGS_CHECKED=value).stdout for value in ("0", "1"))
    assert normal != checked
