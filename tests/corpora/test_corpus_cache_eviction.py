"""The cache as a whole: its size limit, entries in use, other processes, unusable folders."""

import os
import subprocess
import sys
import tempfile
import time

import pytest
from naive_corpora import decoded
from platforms import needs_locks

from embeddings.corpora import Corpus, corpus_cache
from embeddings.errors import SettingError
from embeddings.support import cache_folder


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


CONCURRENT = """
import sys, time
import embeddings.corpora.corpus as module
from embeddings.corpora import Corpus

Corpus(["compiled before"]).encode().close()
write_text = Corpus.write_text

def slowly(self, *arguments):
    print("encoding", flush=True)
    input()
    write_text(self, *arguments)

Corpus.write_text = slowly
encoded = Corpus(sys.argv[1]).encode()
print(encoded.fingerprint, encoded.ids.sum(), encoded.vocabulary.words, encoded.folder, flush=True)
"""


@pytest.mark.slow
def test_two_concurrent_processes_are_both_right_and_leave_one_entry(tmp_path, home):
    (tmp_path / "f").write_text("a b a c")
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    both = [subprocess.Popen([sys.executable, "-c", CONCURRENT, tmp_path / "f"], **pipes) for _ in range(2)]
    for process in both:
        assert process.stdout.readline() == "encoding\n"
    for process in both:  # both had looked for it before either had it
        process.stdin.write("\n")
        process.stdin.flush()
    outputs = {process.communicate(timeout=60)[0] for process in both}
    assert len(outputs) == 1
    assert "3 ['a', 'b', 'c']" in outputs.pop()
    assert len(list(home.iterdir())) == 1


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
