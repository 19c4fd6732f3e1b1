"""Files of the Hugging Face Hub, by way of fsspec, whose file system in memory stands for the Hub."""

import pytest

import embeddings as em
from embeddings.errors import CorpusError, FormatError, OutputError
from embeddings.support.remote import store


@pytest.fixture
def hub():
    """The file system that opens addresses that begin with hf://."""
    fsspec = pytest.importorskip("fsspec", reason="needs fsspec: pip install 'embeddings-toolkit[remote]'")
    from fsspec.implementations.memory import MemoryFileSystem

    fsspec.register_implementation("hf", MemoryFileSystem, clobber=True)
    store.make_store.cache_clear()
    hub = MemoryFileSystem()
    yield hub
    fsspec.register_implementation("hf", "huggingface_hub.HfFileSystem", clobber=True)
    store.make_store.cache_clear()
    hub.rm("/", recursive=True)


def test_files_of_the_hub_are_read_and_written(hub):
    hub.pipe({f"/datasets/owner/name/data/{name}.txt": b"the cat sat\n" * 10 for name in "ab"})
    assert em.Corpus("hf://datasets/owner/name/data/*.txt").encode().meta["tokens"] == 60
    assert em.Corpus("hf://datasets/owner/name").encode().meta["tokens"] == 60
    vectors = em.Vectors(["the", "cat"], [[1.0, 2.0], [3.0, 4.0]])
    vectors.save("hf://owner/name/v.bin")
    assert em.load("hf://owner/name/v.bin").words == ["the", "cat"]
    with pytest.raises(OutputError, match="exists"):
        vectors.save("hf://owner/name/v.bin")
    with pytest.raises(CorpusError, match="does not exist"):
        em.Corpus("hf://datasets/owner/none.txt")


@pytest.mark.parametrize("name", ["../../../x", "a/../../b", "a//b"])
def test_folders_with_names_that_leave_them_are_refused(hub, name):
    hub.pipe({"/owner/name/model.json": b"{}", f"/owner/name/{name}": b"theirs"})
    for read, error in ((em.load, FormatError), (em.Corpus, CorpusError)):
        with pytest.raises(error, match=r"hf://owner/name .*not safe"):
            read("hf://owner/name")


def test_a_missing_library_is_named(monkeypatch):
    store.make_store.cache_clear()
    monkeypatch.setitem(__import__("sys").modules, "fsspec", None)
    with pytest.raises(CorpusError, match=r"pip install 'embeddings-toolkit\[remote\]'"):
        em.Corpus("hf://datasets/owner/none.txt")
