"""The cache as a whole: its size limit, entries in use, other processes, unusable folders."""

import gc
import os
import shutil
import subprocess
import sys
import tempfile
import time

import pytest
from naive_corpora import decoded
from platforms import needs_limits, needs_locks, resource

from embeddings.corpora import Corpus, corpus_cache
from embeddings.corpora.encoded_corpus import IDS
from embeddings.corpora.phrases.phrase_list import PhraseList
from embeddings.errors import CorpusError, OutputError, SettingError
from embeddings.support import cache_folder
from embeddings.support.cache_folder import ABANDONED_AFTER


@pytest.fixture(autouse=True)
def home(own_cache):
    """The cache's folder of encoded corpora, empty."""
    return own_cache / "corpora"


def corpora(tmp_path, count):
    """So many corpora of one size, not encoded yet."""
    for number in range(count):
        (tmp_path / f"text{number}").write_text(f"word{number} " * 2000)
    return [Corpus(tmp_path / f"text{number}") for number in range(count)]


def sources(home):
    """The numbers of the corpora in the cache, the least recently used first."""
    return [int(entry.meta["sources"][0][-1]) for entry in corpus_cache.list_entries(home)]


def age(home, number, seconds):
    """Have an entry last used so long ago."""
    (entry,) = [entry for entry in corpus_cache.list_entries(home) if entry.meta["sources"][0].endswith(str(number))]
    os.utime(entry.folder / "meta.json", (time.time() - seconds,) * 2)
    return entry


def test_the_least_recently_used_entries_are_evicted_first(tmp_path, home, monkeypatch):
    texts = corpora(tmp_path, 4)
    for number in range(3):
        texts[number].encode()
        entry = age(home, number, 1000 - number)
    assert Corpus(tmp_path / "text0").encode().folder.is_dir()
    assert sources(home) == [1, 2, 0]
    monkeypatch.setenv(corpus_cache.VARIABLE, f"{2 * entry.size + 100}")
    assert decoded(texts[3].encode())[0][0] == "word3"
    assert sources(home) == [0, 3]


@needs_locks
def test_entries_in_use_and_the_newest_entry_stay(tmp_path, home, monkeypatch):
    texts = corpora(tmp_path, 3)
    monkeypatch.setenv(corpus_cache.VARIABLE, "1")
    with texts[0].encode() as used:
        age(home, 0, 1000)
        texts[1].encode()
        assert sources(home) == [0, 1]
        assert used.vocabulary.words == ["word0"]
        assert not corpus_cache.remove(used.folder)
    texts[2].encode()
    assert sources(home) == [2]
    assert used.ids.tolist() == [0] * 2000  # mapped before


@needs_locks
def test_an_entry_used_by_another_process_stays(tmp_path, home):
    (text,) = corpora(tmp_path, 1)
    begin = f"from embeddings.corpora import Corpus; e = Corpus({str(tmp_path / 'text0')!r}).encode()"
    code = f"{begin}; print(1, flush=True); input()"
    folder = text.encode().folder
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"1\n"
        assert not corpus_cache.remove(folder)
        process.stdin.write(b"\n")
    assert corpus_cache.remove(folder)
    assert list(home.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "size"), [("20GB", 20 * 10**9), ("1.5 mb", 1_500_000), ("3", 3), ("7k", 7000), (" 2TB ", 2 * 10**12)]
)
def test_sizes(text, size, monkeypatch, tmp_path):
    assert corpus_cache.parse_size(text) == size
    monkeypatch.setenv(corpus_cache.VARIABLE, text)
    assert corpus_cache.size_limit(tmp_path) == size


@pytest.mark.parametrize("text", ["much", "-1", "1 PB", "GB", "1e9", "9" * 400])
def test_an_invalid_limit_is_reported_before_encoding(text, monkeypatch, tmp_path, home):
    monkeypatch.setenv(corpus_cache.VARIABLE, text)
    (tmp_path / "f").write_text("a")
    monkeypatch.setattr(Corpus, "write_text", None)
    with pytest.raises(SettingError, match=f"EMBEDDINGS_CACHE_LIMIT.*20GB.*'{text}'"):
        Corpus(tmp_path / "f").encode()


@pytest.mark.parametrize(
    ("platform", "variables", "folder"),
    [
        ("linux", {}, "home/.cache/embeddings"),
        ("linux", {"XDG_CACHE_HOME": "{}/xdg"}, "xdg/embeddings"),
        ("linux", {"XDG_CACHE_HOME": "{}/xdg", "EMBEDDINGS_CACHE": "{}/ours"}, "ours"),
        ("darwin", {}, "home/Library/Caches/embeddings"),
        ("win32", {}, "home/AppData/Local/embeddings/embeddings/Cache"),
        ("win32", {"LOCALAPPDATA": "{}/local"}, "local/embeddings/embeddings/Cache"),
        ("linux", {"HOME": "~"}, None),  # as where the home folder is unknown
        ("linux", {"EMBEDDINGS_CACHE": "~/ours"}, None),
    ],
)
def test_the_cache_is_in_the_folder_of_the_system_or_of_the_user(tmp_path, monkeypatch, platform, variables, folder):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(cache_folder.sys, "platform", platform)
    for name in ("EMBEDDINGS_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in {"HOME": "{}/home", "USERPROFILE": "{}/home", **variables}.items():
        monkeypatch.setenv(name, value.format(tmp_path))
    assert cache_folder.cache_folder("corpora") == (None if folder is None else tmp_path / folder / "corpora")
    created = {path.name for path in tmp_path.iterdir()} - {"cache"}
    assert created == (set() if folder is None else {folder.split("/")[0]})


@pytest.mark.parametrize("place", ["file", "file/x", "/proc/none"])
def test_encoding_works_without_a_cache(tmp_path, monkeypatch, caplog, place):
    (tmp_path / "f").write_text("a b a")
    (tmp_path / "file").write_text("")
    before = {path.name for path in tmp_path.iterdir()}
    Corpus(["compiled before"]).encode().close()
    monkeypatch.setenv(cache_folder.VARIABLE, str(tmp_path / place))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with Corpus(tmp_path / "f").encode() as encoded:
        assert encoded.ids.tolist() == [0, 1, 0]
        assert encoded.folder.parent == tmp_path
    assert {path.name for path in tmp_path.iterdir()} == before
    assert not caplog.records


def test_a_cache_that_is_read_only_is_read(tmp_path, home, monkeypatch):
    (text,) = corpora(tmp_path, 1)
    text.encode()
    before = age(home, 0, 1000)

    def refuse(*arguments, **options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(corpus_cache.os, "utime", refuse)
    assert Corpus(tmp_path / "text0").encode().folder == before.folder


@needs_locks
def test_folders_of_others_in_the_cache_are_no_entries_and_stay(tmp_path, home, monkeypatch):
    """EMBEDDINGS_CACHE may be a folder of data, with a subfolder that is called corpora."""
    texts = corpora(tmp_path, 2)
    texts[0].encode()
    mine = [home / "novels", home / "download.partial", home / "a-b"]
    for folder in mine:
        folder.mkdir()
        (folder / "text.txt").write_text("mine " * 10_000)
        os.utime(folder / "text.txt", (0, 0))
        os.utime(folder, (0, 0))
    assert sources(home) == [0]
    monkeypatch.setenv(corpus_cache.VARIABLE, "1")
    texts[1].encode()
    for entry in corpus_cache.list_entries(home):
        corpus_cache.remove(entry.folder)
    assert [folder for folder in mine if (folder / "text.txt").is_file()] == mine


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


def test_two_that_encode_a_text_at_a_time_are_both_right_and_leave_one_entry(text, home, monkeypatch):
    others, write_text = [], Corpus.write_text

    def slowly(self, *arguments):
        monkeypatch.setattr(Corpus, "write_text", write_text)
        others.append(Corpus(text).encode())  # begins later and ends earlier
        write_text(self, *arguments)

    monkeypatch.setattr(Corpus, "write_text", slowly)
    one = Corpus(text).encode()
    assert decoded(one) == decoded(others[0]) == [["one", "two"], [], ["two", "three"]]
    assert one.fingerprint == others[0].fingerprint
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
