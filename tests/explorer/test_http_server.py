"""The server of `embeddings explore`: hostile requests, and how it ends, in a process of its own."""

import json
import socket
import sys
import threading
from contextlib import suppress
from http.client import HTTPConnection
from urllib.parse import quote

import pytest
from commands import refused
from explorer_server import HOSTILE, TEXT, Server

import embeddings as em


def test_info_and_completion(server, model):
    info = server.answer("info")
    assert (info["words"], info["dim"], info["corpus"], info["confidence"]) == (len(model), 8, True, 2)
    assert server.answer("complete", prefix="B")["words"] == ["bone"]
    assert server.answer("complete")["words"] == []


@pytest.mark.parametrize("path", ["/", "/style.css", "/main.js", "/icon.svg"])
def test_the_page_allows_no_other_source(server, path):
    status, headers, body = server.get(path)
    assert status == 200
    assert body
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy
    assert "*" not in policy
    assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == ("nosniff", "no-store")
    assert "Access-Control-Allow-Origin" not in headers
    assert server.token not in body.decode()


def test_every_file_of_the_page_is_served_and_no_other(server, root):
    names = {path.name for path in (root / "embeddings" / "explorer" / "page").iterdir()}
    for name in names - {"index.html"}:
        assert server.get(f"/{name}")[0] == 200
    assert server.get("/index.html", Authorization=f"Bearer {server.token}")[0] == 404


@pytest.mark.parametrize("question", ["info", "neighbours?word=king", "map", "nothing"])
@pytest.mark.parametrize("given", ["", "Bearer ", "Bearer wrong", "Basic TOKEN", "Bearer TOKENx", "Bearer \u00e9"])
def test_questions_require_the_token(server, question, given):
    headers = {"Authorization": given.replace("TOKEN", server.token)} if given else {}
    status, _, body = server.get(f"/api/{question}", **headers)
    assert status == 403
    assert "token" in json.loads(body)["error"]


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:PORT", "[::1]:PORT", ""],
)
@pytest.mark.parametrize("path", ["/", "/api/info"])
def test_other_hosts_are_refused(server, host, path):
    """DNS rebinding: a page of another site whose name leads to this computer."""
    status, _, body = server.get(
        path, Host=host.replace("PORT", str(server.port)), Authorization=f"Bearer {server.token}"
    )
    assert status == 421
    assert b"words" not in body


def test_exactly_one_host_is_required(server):
    own, token = server.host, f"Authorization: Bearer {server.token}"
    assert " 421 " in server.send("GET /api/info HTTP/1.1", token)[0]
    assert " 421 " in server.send("GET /api/info HTTP/1.1", own, "Host: evil.example", token)[0]
    assert " 200 " in server.send("GET /api/info HTTP/1.1", own, token, "Connection: close")[0]
    assert " 200 " in server.send("GET /api/info HTTP/1.0", f"Host: localhost:{server.port}", token)[0]


@pytest.mark.parametrize(
    "headers", [{"Origin": "http://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"}]
)
def test_requests_of_other_pages_are_refused(server, headers):
    assert server.get("/api/info", Authorization=f"Bearer {server.token}", **headers)[0] == 403


@pytest.mark.parametrize(
    "query",
    ["", "word=", "word=%20", "word=king&word=dog", "word=king&top=0", "word=king&top=101", "word=king&top=1e1",
     "word=king&top=-1", "word=king&top=%EF%BC%91", "word=king&other=1", "word=%ff%fe", "word=" + "x" * 1001,
     "word=king&" + "&".join(f"a{i}=1" for i in range(100))],
)  # fmt: skip
def test_wrong_parameters_are_refused(server, query):
    status, _, body = server.get(f"/api/neighbours?{query}", Authorization=f"Bearer {server.token}")
    assert status == 400
    assert json.loads(body)["error"]


@pytest.mark.parametrize(
    "path",
    ["/../pyproject.toml", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/page/main.js",
     "/main.js%00", "/main.js/", "/./main.js", "/api/../main.js", "/api/", "/api/__init__", "http://127.0.0.1/main.js"],
)  # fmt: skip
def test_no_other_path_is_served(server, path):
    headers = (server.host, f"Authorization: Bearer {server.token}", "Connection: close")
    status, _ = server.send(f"GET {path} HTTP/1.1", *headers)
    assert status.split()[1] in ("404", "400") or (path.startswith("http://") and " 200 " in status)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_nothing_can_be_written(server, method):
    status, body = server.send(f"{method} /api/info HTTP/1.1", server.host, "Content-Length: 4", body=b"a=1&")
    assert " 501 " in status
    assert "Access-Control" not in body


def test_a_body_ends_the_connection(server):
    """Else what it contains would be read as the next request."""
    smuggled = f"GET /main.js HTTP/1.1\r\n{server.host}\r\n\r\n".encode()
    for header in (f"Content-Length: {len(smuggled)}", "Transfer-Encoding: chunked"):
        status, rest = server.send("GET / HTTP/1.1", server.host, header, body=smuggled)
        assert " 400 " in status
        assert "HTTP/1.1 200" not in rest


def test_big_requests_are_refused(server):
    assert server.ask("neighbours", word="x" * 10_000)[0] == 400
    assert server.ask("neighbours", word="x" * 65_600)[0] == 414
    assert " 431 " in server.send("GET / HTTP/1.1", server.host, f"X-Long: {'x' * 65_600}")[0]
    assert " 431 " in server.send("GET / HTTP/1.1", server.host, *(f"X-{i}: 1" for i in range(200)))[0]


@pytest.mark.parametrize(
    "line", ["nonsense", "GET", "GET / HTTP/9.9", "GET / FTP/1.0", "\x00\xff", "GET / HTTP/1.1 more"]
)
def test_what_is_no_http_is_refused(server, line):
    status, _ = server.send(line)
    assert " 200 " not in status
    assert server.answer("info")


@pytest.mark.parametrize("address", ["http://[x/", "http://other.example/", "http://127.0.0.1/api/info", "*", "?"])
def test_addresses_that_are_no_path_are_refused(server, address):
    status, _ = server.send(f"GET {address} HTTP/1.1", server.host, "Connection: close")
    assert " 400 " in status


def test_head_has_no_body(server):
    status, rest = server.send("HEAD / HTTP/1.1", server.host, "Connection: close")
    assert " 200 " in status
    assert rest.endswith("\r\n\r\n")


def test_many_requests_at_the_same_time(server, model):
    expected = {word: [row[0] for row in model.most_similar(word, top=5)] for word in model.words}
    wrong = []

    def ask(word):
        connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
        for _ in range(10):
            connection.request(
                "GET", f"/api/neighbours?word={quote(word)}&top=5", headers={"Authorization": f"Bearer {server.token}"}
            )
            rows = json.loads(connection.getresponse().read())["neighbours"]
            if [row["word"] for row in rows] != expected[word]:
                wrong.append(word)
        connection.close()

    threads = [threading.Thread(target=ask, args=[word]) for word in model.words * 2]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not wrong


def test_connections_that_say_nothing_do_not_end_the_server(server):
    idle = [socket.create_connection(("127.0.0.1", server.port), timeout=60) for _ in range(100)]
    try:
        assert server.process.poll() is None
    finally:
        for connection in idle:
            connection.close()
    for _ in range(100):  # until the threads of the closed connections have ended
        try:
            assert server.answer("info")
            return
        except OSError:
            continue
    raise AssertionError("the server does not answer")


def test_only_this_computer_can_connect(server):
    addresses = set()
    with suppress(socket.gaierror):  # the computer has no name that leads to it
        addresses = {row[4][0] for row in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in [*(addresses - {"127.0.0.1"}), *(["127.0.0.2"] if sys.platform == "linux" else [])]:
        with pytest.raises(OSError):  # noqa: PT011  # refused or timed out
            socket.create_connection((address, server.port), timeout=2).close()


def test_replicates_of_other_vectors_are_refused(folder):
    other = ("--confidence", folder / "replicates")
    assert "other vectors" in refused("explore", folder / "words.parquet", *other, code=2)


def test_hostile_words_and_other_formats(folder):
    """Without corpus and confidence, in a format that is not ours; the port is one that was requested."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = Server(folder / "words.parquet", "--port", port, "--projection", "pca", "--groups", 3, "--map-words", 4)
    assert server.port == port
    message = refused("explore", folder / "words.parquet", "--port", port, "--no-browser", "--quiet", code=1)
    assert f"port {port}" in message
    assert "--port" in message
    answer = server.answer("neighbours", word=HOSTILE)
    assert answer["word"] == HOSTILE
    assert server.answer("complete", prefix="W")["words"] == ["Word", "word", "wörter"]
    assert server.answer("neighbours", word=" a b ")["word"] == "a b"
    assert "--corpus" in server.answer("lines", word="Word")["error"]
    assert server.answer("map")["error"] is None
    server.end()


def test_a_word_that_is_not_in_the_vocabulary(folder):
    model = em.train("fasttext", em.Corpus(folder / "text.txt"), dim=8, min_count=1, epochs=1, threads=1, buckets=100)
    model.save(folder / "fasttext")
    server = Server(folder / "fasttext", "--projection", "pca")
    answer = server.answer("neighbours", word="kings", top=2)
    assert answer["row"] is None
    assert [(row["word"], row["cosine"]) for row in answer["neighbours"]] == model.vectors.most_similar("kings", top=2)
    assert server.answer("compare", a="kings", b="queens")["rank_of_b"] is None
    server.end()


def test_documents_by_their_tags(folder):
    (folder / "tagged.jsonl").write_text(
        "".join(f'{{"text": "{line}", "tag": "d{i}"}}\n' for i, line in enumerate(TEXT.splitlines()[:40]))
    )
    em.train(
        "paragraph-dbow", em.Corpus(folder / "tagged.jsonl", text_column="text", tag_column="tag"),
        dim=8, min_count=1, epochs=1, threads=1,
    ).save(folder / "documents")  # fmt: skip
    server = Server(folder / "documents", "--documents", "--projection", "pca")
    assert server.answer("info")["unit"] == "document"
    assert server.answer("complete", prefix="d3")["words"][:2] == ["d3", "d30"]
    assert len(server.answer("neighbours", word="d3")["neighbours"]) == 10
    server.end()
