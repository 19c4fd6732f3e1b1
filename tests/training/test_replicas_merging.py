"""Tables of replicas: rules and memory."""

from functools import partial

import pytest
from interrupted_runs import corpus, learn

import embeddings as em
from embeddings.errors import SettingError
from embeddings.models.table import Table
from embeddings.support.mapped_files import memory_mapped_zeros
from embeddings.training import replicas as replicas_module
from embeddings.training.replicas import Replicas, ReplicaTables

THREE = Replicas(3, merge_every=4000)


def test_replicas_that_do_not_fit_into_memory_are_refused(monkeypatch):
    monkeypatch.setattr(replicas_module, "free_memory", lambda: 10_000)
    with pytest.raises(SettingError, match="use fewer replicas"):
        learn("skipgram", corpus("skipgram"), {}, replicas=THREE)


def test_copies_in_mapped_files_require_no_free_memory(monkeypatch):
    monkeypatch.setattr(replicas_module, "free_memory", lambda: 10_000)
    zeros = partial(memory_mapped_zeros, 100, 16, name="documents")
    declared = {"documents": Table(rows=100, dim=16, axis="other", zeros=zeros)}
    replicas = ReplicaTables(Replicas(2), declared, {"documents": zeros()}, threads=1)
    assert replicas.copies["documents"].shape == (2, 100, 16)


def test_a_table_can_declare_its_rule():
    tables = {name: Table(rows=2, dim=3, axis="other", on_merge=rule) for name, rule in (("a", "sum"), ("b", None))}
    merged = {name: table.allocate(1) for name, table in tables.items()}
    replicas = ReplicaTables(Replicas(4, rule="mean"), tables, merged, threads=2)
    for number in range(4):
        for table in replicas.tables(number).values():
            table[0] += 1
    replicas.merge()
    assert (merged["a"][0] == 4).all()
    assert (merged["b"][0] == 1).all()
    with pytest.raises(em.EmbeddingsError, match="on_merge"):
        Table(rows=2, dim=3, axis="other", on_merge="median")
