import gc
import os
import shutil

import pytest
from naive_corpora import decoded
from platforms import needs_limits, resource

from embeddings.corpora import Corpus, EncodedCorpus, corpus_cache
from embeddings.corpora.encoded_corpus import DOCUMENTS, IDS, META, SENTENCES, VOCABULARY
from embeddings.corpora.phrases.phrase_list import PhraseList
from embeddings.errors import CorpusError, FormatError, OutputError
from embeddings.support import cache_folder
from embeddings.support.cache_folder import ABANDONED_AFTER


@pytest.fixture(autouse=True)
def home(own_cache):
    """The cache's folder of encoded corpora, empty."""
    return own_cache / "corpora"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text"
    path.write_text("one two\n\ntwo three")
    return path


def count_reads(monkeypatch):
    """A list with an item for each time that a corpus is really encoded."""
    reads = []
    write_text = Corpus.write_text

    def counted(self, *arguments):
        reads.append(self)
        write_text(self, *arguments)

    monkeypatch.setattr(Corpus, "write_text", counted)
    return reads


def names(home):
    return sorted(path.name for path in home.iterdir())


def test_the_second_run_uses_the_cached_corpus(text, home, monkeypatch):
    reads = count_reads(monkeypatch)
    first, second = Corpus(text).encode(), Corpus(text).encode()
    assert len(reads) == 1
    assert first.folder == second.folder == home / names(home)[0]
    assert decoded(first) == decoded(second) == [["one", "two"], [], ["two", "three"]]
    assert first.fingerprint == second.fingerprint
    first.close()
    assert first.folder.is_dir()


def test_other_settings_are_other_entries(text, home, monkeypatch):
    reads = count_reads(monkeypatch)
    for options in ({}, {"case": "keep"}, {"tokenizer": "whitespace"}, {"encoding_errors": "ignore"}):
        Corpus(text, **options).encode()
    Corpus(text, text).encode()
    assert len(reads) == len(names(home)) == 5


def test_a_changed_source_is_read_again_and_its_outdated_entry_removed(text, home, monkeypatch):
    reads = count_reads(monkeypatch)
    Corpus(text).encode()
    status = text.stat()
    text.write_text("six two\n\ntwo three")
    os.utime(text, ns=(status.st_atime_ns, status.st_mtime_ns + 1))
    assert text.stat().st_size == status.st_size
    assert decoded(Corpus(text).encode())[0] == ["six", "two"]
    assert len(reads) == 2
    assert len(names(home)) == 1


@pytest.mark.parametrize("name", [IDS, SENTENCES, DOCUMENTS, VOCABULARY, META])
@pytest.mark.parametrize("damage", ["missing", "shorter", "empty", "nested"])
def test_a_broken_entry_is_replaced(text, home, name, damage):
    whole = Corpus(text).encode()
    file = whole.folder / name
    if damage == "missing":
        file.unlink()
    elif damage == "nested":
        file.write_bytes(b"[" * 100_000)
    else:
        file.write_bytes(file.read_bytes()[:-1] if damage == "shorter" and name != META else b"")
    with pytest.raises(FormatError, match="not a complete encoded corpus"):
        EncodedCorpus(whole.folder)
    second = Corpus(text).encode()
    assert second.folder == whole.folder
    assert decoded(second) == [["one", "two"], [], ["two", "three"]]
    assert len(names(home)) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, MemoryError])
def test_an_interrupted_run_leaves_nothing(text, home, error):
    def interrupt(done, total):
        raise error

    with pytest.raises(error):
        Corpus(text).encode(progress=interrupt)
    assert names(home) == []


def test_a_source_that_changes_while_it_is_read_is_not_cached(text, home):
    def change(done, total):
        if done == total:
            text.write_text("another")

    with Corpus(text).encode(progress=change) as encoded:
        assert decoded(encoded)[0] == ["one", "two"]
        assert encoded.folder.is_dir()
    assert names(home) == []
    assert decoded(Corpus(text).encode()) == [["another"]]


def test_sources_without_identity_are_not_cached(text, home, tmp_path, monkeypatch):
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    for corpus in (Corpus(["one two"]), Corpus(text, tokenizer=str.split), Corpus(text, ["more"])):
        encoded = corpus.encode()
        assert encoded.folder.parent == tmp_path / "tmp"
        encoded.close()
        assert not encoded.folder.exists()
    encoded = Corpus(["one two"]).encode()
    folder, ids = encoded.folder, encoded.ids
    del encoded
    gc.collect()
    assert not folder.exists()
    assert ids.tolist() == [0, 1]
    assert not home.exists()


def test_a_corpus_reuses_a_temporary_result_until_it_is_closed(text, tmp_path, monkeypatch):
    corpus = Corpus(iter(["one two"]))
    assert corpus.encode() is corpus.encode()
    corpus.encode().close()
    with pytest.raises(CorpusError, match="no words found"):
        corpus.encode()
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(cache_folder.VARIABLE, str(tmp_path / "file"))
    corpus = Corpus(text)
    assert corpus.encode() is corpus.encode()
    text.write_text("changed")
    assert decoded(corpus.encode()) == [["changed"]]


@needs_limits
@pytest.mark.parametrize("room", [0, 200, 3000, 9000, 15_000])
def test_a_full_disk_is_reported_in_one_line_and_leaves_no_files(tmp_path, home, room):
    """A limit on the size of files stands in for a disk that is full after so many bytes."""
    path = tmp_path / "text"
    path.write_text(" ".join(f"word{i}" for i in range(1000)))
    corpus = Corpus(path)
    Corpus([path.read_text()]).encode().close()  # compiles all that is run
    home.mkdir(parents=True)
    assert cache_folder.cache_folder("corpora") == home
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, limits[1]))
    try:
        with pytest.raises(OutputError, match=r"^.* cannot be written.*: File too large(;.*EMBEDDINGS_CACHE.*)?$"):
            corpus.encode()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert names(home) == []
    assert len(corpus.encode().ids) == 1000


def test_the_fingerprint_depends_on_content_not_path(text, tmp_path):
    shutil.copy(text, tmp_path / "copy")
    here, there = Corpus(text).encode(), Corpus(tmp_path / "copy").encode()
    token_lists = Corpus([["one", "two"], [], ["two", "three"]]).encode()
    assert here.fingerprint == there.fingerprint
    assert token_lists.fingerprint != here.fingerprint  # other documents
    assert Corpus(["one two"]).encode().fingerprint != Corpus(["one twi"]).encode().fingerprint
    assert Corpus([["a", "bc"]]).encode().fingerprint != Corpus([["ab", "c"]]).encode().fingerprint


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no owners and modes")
def test_only_the_entry_that_is_used_is_checked(text, tmp_path, home, monkeypatch, caplog):
    """What others could have written to is not read; other entries are neither listed nor checked."""
    (tmp_path / "other").write_text("another text")
    with Corpus(text).encode() as first, Corpus(tmp_path / "other").encode() as second:
        changed, other = first.folder, second.folder
    home.parent.chmod(0o755)
    home.chmod(0o755)
    changed.chmod(0o755)
    (changed / IDS).chmod(0o666)
    reads = count_reads(monkeypatch)
    with Corpus(tmp_path / "other").encode() as encoded:
        assert encoded.folder == other
    assert (reads, caplog.records) == ([], [])
    with Corpus(text).encode() as encoded:
        assert encoded.folder.parent != home
    assert len(reads) == 1
    assert f"other users can write to {changed / IDS}" in caplog.text


def test_partial_folders_of_killed_runs_are_removed_after_a_day(text, home):
    for name, age in (("old", 2 * ABANDONED_AFTER), ("young", 0)):
        folder = home / f".{name}{corpus_cache.PARTIAL}"
        folder.mkdir(parents=True)
        (folder / IDS).write_bytes(b"")
        for path in (folder / IDS, folder):
            time = path.stat().st_mtime - age
            os.utime(path, (time, time))
    Corpus(text).encode()
    assert [name for name in names(home) if name.startswith(".")] == [".young.partial"]


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no owners and modes")
def test_a_cache_that_others_can_write_to_is_not_used(text, home, monkeypatch, caplog):
    """Their entry could contain any text; nothing is read from there or written there."""
    Corpus(text).encode().close()
    Corpus(["two three"], phrases=PhraseList(["two three"])).encode().close()  # load compiled kernels
    home.parent.chmod(0o777)
    before, reads = names(home), count_reads(monkeypatch)
    with Corpus(text).encode() as first, Corpus(text, phrases=PhraseList(["two three"])).encode() as second:
        assert decoded(first) == [["one", "two"], [], ["two", "three"]]
        assert decoded(second) == [["one", "two"], [], ["two_three"]]
        assert not {first.folder.parent, second.folder.parent} & {home}
    assert len(reads) == 2
    assert names(home) == before
    warning = "cannot cache encoded corpora, so every run reads its text again: other users can write to "
    assert [record.getMessage()[: len(warning)] for record in caplog.records if record.levelname == "WARNING"] == [
        warning
    ]
    home.parent.chmod(0o700)
    Corpus(text).encode().close()
    assert len(reads) == 2


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no owners and modes")
def test_a_cache_of_another_user_is_not_used(text, home, monkeypatch, caplog):
    Corpus(text).encode().close()
    monkeypatch.setattr(cache_folder, "ROOT_USER", os.getuid() + 1)
    other = os.getuid() + 2
    monkeypatch.setattr(os, "getuid", lambda: other)
    reads = count_reads(monkeypatch)
    with Corpus(text).encode() as encoded:
        assert encoded.folder.parent != home
    assert len(reads) == 1
    assert f"{home.parent} belongs to another user; remove it, or set EMBEDDINGS_CACHE to a folder" in caplog.text
