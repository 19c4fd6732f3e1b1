"""Files of web servers, which may have no ranges, drop connections, or say wrong sizes."""

import io
import socket
from urllib.parse import quote

import pytest
from remote_servers import web_server

import embeddings as em
from embeddings.errors import CorpusError, FormatError
from embeddings.support.remote import requests, store
from embeddings.support.remote.address import parse_address
from embeddings.support.remote.store import RandomReader, RemoteReader, WebStore, file_status

TEXT = b"".join(b"line %d of the text is here\n" % number for number in range(20_000))  # several ranges


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(requests, "FIRST_WAIT", 0.01)
    monkeypatch.setattr(store, "PART_SIZE", 1 << 16)
    monkeypatch.setenv("EMBEDDINGS_REMOTE_TIMEOUT", "1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


def read(server):
    with RemoteReader(parse_address(f"{server.url}/text.txt")) as reader:
        return b"".join(iter(lambda: reader.read(50_000), b""))


@pytest.mark.parametrize("attributes", [{}, {"has_ranges": False}, {"has_ranges": False, "is_chunked": True}])
def test_a_file_is_read_whole_with_and_without_ranges(attributes):
    with web_server(files={"/text.txt": TEXT}, **attributes) as server:
        assert read(server) == TEXT
        parts = [headers.get("Range") for _, headers in server.requests]
    assert (len([part for part in parts if part and part != "bytes=0-0"]) > 5) == (not attributes)


def test_at_the_end_of_a_file_nothing_is_requested():
    with web_server(files={"/text.txt": TEXT}) as server:
        address = parse_address(f"{server.url}/text.txt")
        reader = RandomReader(address, file_status(address))
        reader.seek(-5, io.SEEK_END)
        assert reader.read(9) == TEXT[-5:]
        count = len(server.requests)
        assert reader.read(9) == b""
        assert len(server.requests) == count


@pytest.mark.parametrize("has_ranges", [True, False])
def test_dropped_connections_are_made_again(has_ranges):
    with web_server(files={"/text.txt": TEXT}, has_ranges=has_ranges, drops=2) as server:
        assert read(server) == TEXT
        assert server.drops <= 0


@pytest.mark.parametrize("attributes", [{"drops": 10**6}, {"drops": 10**6, "has_ranges": False}])
def test_a_connection_that_always_drops_is_one_clear_error(attributes):
    with web_server(files={"/text.txt": TEXT}, **attributes) as server, pytest.raises(CorpusError) as error:
        em.Corpus(f"{server.url}/text.txt").encode()
    assert "truncated" in str(error.value)
    assert server.url in str(error.value)


def test_a_content_length_that_is_too_large_is_a_truncated_transfer():
    served = web_server(files={"/text.txt": TEXT}, excess=10, has_ranges=False)
    with served as server, pytest.raises(CorpusError, match="truncated"):
        em.Corpus(f"{server.url}/text.txt").encode()


@pytest.mark.parametrize(
    ("status", "expected"),
    [(404, "does not exist"), (403, "permission"), (401, "permission"), (407, "proxy"), (503, "503"), (418, "418"),
     (429, "429"), (408, "408")],
)  # fmt: skip
def test_refusals_are_clear_and_only_passing_ones_are_asked_again(status, expected):
    with web_server(files={"/text.txt": TEXT}, status=status) as server, pytest.raises(CorpusError, match=expected):
        em.Corpus(f"{server.url}/text.txt").encode()
    assert len(server.requests) == (requests.ATTEMPTS if status in (408, 429, 503) else 1)


def test_a_server_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setenv("EMBEDDINGS_REMOTE_TIMEOUT", "0.2")
    with web_server(is_silent=True) as server, pytest.raises(CorpusError, match="no answer"):
        em.Corpus(f"{server.url}/text.txt").encode()


def test_a_closed_port_is_one_clear_error():
    with web_server() as server:
        url = server.url
    with pytest.raises(CorpusError, match="refused"):
        em.Corpus(f"{url}/text.txt").encode()


def test_a_file_that_changes_while_it_is_read_is_refused():
    with web_server(files={"/text.txt": TEXT}) as server:
        reader = RemoteReader(parse_address(f"{server.url}/text.txt"))
        reader.read(10)
        server.files["/text.txt"] = TEXT[::-1]
        with reader, pytest.raises(em.EmbeddingsError, match="changed"):
            b"".join(iter(lambda: reader.read(50_000), b""))


def test_the_bytes_of_another_place_are_refused():
    with web_server(files={"/text.txt": TEXT}) as server:
        address = parse_address(f"{server.url}/text.txt")
        status = WebStore().status(address)
        assert WebStore().read_range(address, 2, 5, status) == TEXT[2:5]
        server.shift = 1
        with pytest.raises(OSError, match="bytes from 2 on"):
            WebStore().read_range(address, 2, 5, status)
        with pytest.raises(CorpusError, match="bytes from"):
            em.Corpus(f"{server.url}/text.txt").encode()


@pytest.mark.parametrize("name", ["..", "a/..", "%2e%2e/..", "a\\..\\..\\b", "C:b"])
def test_odd_names_write_no_file_elsewhere(own_cache, name):
    with web_server() as server:
        server.files = {f"/{quote(name, safe='/%:')}": b"1 1\na 1\n", "/v/..%2f..%2fx": b"1 1\na 1\n"}
        with pytest.raises(FormatError, match="not safe"):
            em.load(f"{server.url}/{name}")
        assert em.load(f"{server.url}/v/..%2f..%2fx").words == ["a"]  # an escaped slash separates nothing
    copies = [path for path in own_cache.parent.rglob("*") if path.is_file() and "kernels" not in path.parts]
    assert all(path.is_relative_to(own_cache / "remote") for path in copies)


@pytest.mark.parametrize("scheme", ["ftp", "file", "data"])
def test_redirects_to_other_protocols_are_refused(scheme):
    with socket.create_server(("127.0.0.1", 0)) as other, web_server() as server:
        other.settimeout(0)
        server.redirect = f"{scheme}://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(FormatError, match="answered 302"):
            em.load(f"{server.url}/v.txt")
        with pytest.raises(BlockingIOError):
            other.accept()


def test_the_query_of_an_address_is_in_no_message(tmp_path, caplog):
    with web_server(files={"/text.txt": TEXT}) as other, web_server(redirect=other.url) as server:
        corpus = em.Corpus(f"{server.url}/text.txt?token=signed")
        encoded = corpus.encode()
        assert all("token=signed" in path for path, _ in server.requests)
        server.status, server.redirect = 403, None
        with pytest.raises(CorpusError) as error:
            em.Corpus(f"{server.url}/text.txt?token=signed").encode()
    assert "signed" not in f"{error.value} {corpus!r} {encoded.meta} {corpus.paths} {caplog.text}"
