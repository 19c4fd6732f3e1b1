"""Memory that two workers on one machine share."""

import os

import numpy as np
import pytest

from embeddings.cluster import row_exchange
from embeddings.cluster.row_exchange import PeerMemory, SharedMemory


@pytest.fixture
def own():
    memory = SharedMemory([400, 24])
    if not memory.name:
        pytest.skip("memory cannot be shared on this system")
    return memory


def test_arrays_are_read_by_their_places(own):
    first, second = own.empty((10, 10), np.float32), own.empty((3,), np.int64)
    first[:], second[:] = 0.5, (7, 8, 9)
    other = PeerMemory(own.name)
    assert other.name == own.name
    rows = other.array(own.place_of(first[:4]))
    assert rows.shape == (4, 10)
    assert (rows == 0.5).all()
    assert other.array(own.place_of(second)).tolist() == [7, 8, 9]
    assert other.array(own.place_of(second[:0])).shape == (0,)
    second[0] = 1  # what is written later is seen
    assert other.array(own.place_of(second)).tolist() == [1, 8, 9]


def test_memory_of_another_process_is_not_mistaken(own):
    path, _, token = own.name.partition(":")
    for name in (f"{path}:{'0' * len(token)}", f"/proc/{os.getpid()}/fd/0:{token}", "/proc/0/fd/0:00", ""):
        assert PeerMemory(name).name == ""


def test_without_shared_memory_arrays_are_private(monkeypatch):
    monkeypatch.delattr(row_exchange.os, "memfd_create", raising=False)
    for sizes in ([], [400]):
        memory = SharedMemory(sizes)
        assert memory.empty((10, 10), np.float32).shape == (10, 10)
        assert memory.name == ""
