"""The server of `embeddings explore`: questions, hostile requests, and how it ends, in a process of its own."""

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import suppress
from http.client import HTTPConnection
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

import numpy as np
import pytest
from commands import refused

import embeddings as em

TEXT = "the king rules the land\nthe queen rules the land\nthe dog eats the bone\nthe cat eats the bone\n" * 50
HOSTILE = "\u202e<script>alert(1)</script>\x1b[2J"


class Server:
    """A running command. `ask` sends a request and returns its status and content; it sends the token by default."""

    def __init__(self, *args, **env):
        command = [sys.executable, "-m", "embeddings", "explore", *map(str, args), "--no-browser", "--quiet"]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **env}
        )
        self.address = self.process.stdout.readline().strip()
        assert self.address, self.process.stderr.read()
        parts = urlsplit(self.address)
        self.port, self.token = parts.port, parts.fragment
        self.opener = build_opener(ProxyHandler({}))

    def get(self, path, **headers):
        """The status, headers and body of a request."""
        try:
            with self.opener.open(
                Request(f"http://127.0.0.1:{self.port}{path}", headers=headers), timeout=60
            ) as answer:
                return answer.status, answer.headers, answer.read()
        except HTTPError as error:
            with error:
                return error.code, error.headers, error.read()

    def ask(self, question, **parameters):
        """The status and content of a question."""
        query = f"?{urlencode(parameters)}" if parameters else ""
        status, _, body = self.get(f"/api/{question}{query}", Authorization=f"Bearer {self.token}")
        return status, json.loads(body)

    def answer(self, question, **parameters):
        """The content of a question that must succeed."""
        status, content = self.ask(question, **parameters)
        assert status == 200, content
        return content

    def send(self, *lines, body=b""):
        """The first line and the rest of what the server answers to these bytes, until it closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as connection:
            connection.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + body)
            connection.shutdown(socket.SHUT_WR)
            answer = b""
            while block := connection.recv(65536):
                answer += block
        status, _, rest = answer.partition(b"\r\n")
        return status.decode(), rest.decode()

    def end(self):
        """Interrupt the command as Ctrl-C does, which must end it with code 130 and one line."""
        if os.name == "nt":  # which sends no Ctrl-C to a single process
            self.process.kill()
        else:
            self.process.send_signal(signal.SIGINT)
        _, errors = self.process.communicate(timeout=60)
        assert os.name == "nt" or (self.process.returncode, errors.strip()) == (130, "Interrupted")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A text, a model of it, replicates, and vectors with hostile words."""
    path = tmp_path_factory.mktemp("explore")
    (path / "text.txt").write_text(TEXT)
    corpus = em.Corpus(path / "text.txt")
    model = em.train("skipgram", corpus, dim=8, min_count=1, epochs=2, threads=1)
    model.save(path / "model")
    em.stability(model, corpus, resamples=2, seeds=0, resample_by="lines", threads=1).save(path / "replicates")
    words = [HOSTILE, "Word", "word", "wörter", "日本", "x" * 3000, "a b", "zero"]
    matrix = np.random.default_rng(1).standard_normal((len(words), 5)).astype(np.float32)
    matrix[-1] = 0
    em.Vectors(words, matrix).save(path / "words.parquet")
    (path / "groups.tsv").write_text("king\tpeople\nqueen\tpeople\ndog\tanimals\ncat\tanimals\nunseen\tothers\n")
    return path


@pytest.fixture(scope="module")
def server(folder):
    """The command with everything."""
    running = Server(
        folder / "model", "--corpus", folder / "text.txt", "--confidence", folder / "replicates",
        "--projection", "pca", "--groups", folder / "groups.tsv",
    )  # fmt: skip
    yield running
    running.process.kill()
    running.process.communicate()


@pytest.fixture(scope="module")
def model(folder):
    return em.load(folder / "model")


def test_info_and_completion(server, model):
    info = server.answer("info")
    assert (info["words"], info["dim"], info["corpus"], info["confidence"]) == (len(model), 8, True, 2)
    assert server.answer("complete", prefix="B")["words"] == ["bone"]
    assert server.answer("complete")["words"] == []


def test_neighbours_are_those_of_the_library(server, model):
    answer = server.answer("neighbours", word="King", top=3)
    expected = model.most_similar("king", top=3)
    assert [(row["word"], row["cosine"]) for row in answer["neighbours"]] == expected
    assert (answer["word"], answer["typed"]) == ("king", "King")
    assert answer["count"] == model.counts[model.index("king")]
    for row in answer["neighbours"]:
        assert row["low"] <= row["cosine"] <= row["high"]
        assert model.words[row["row"]] == row["word"]


def test_analogy_and_comparison_are_those_of_the_library(server, model):
    answer = server.answer("analogy", a="king", b="queen", c="dog", method="3cosmul", top=2)
    expected = model.analogy("king", "queen", "dog", method="3cosmul", top=2)
    assert [(row["word"], row["score"]) for row in answer["answers"]] == expected
    compared = server.answer("compare", a="king", b="queen", top=4)
    assert compared["cosine"] == model.similarity("king", "queen")
    assert (compared["rank_of_b"], compared["rank_of_a"]) == (model.rank("king", "queen"), model.rank("queen", "king"))
    both = {word for word, _ in model.most_similar("king", top=4)} & {
        word for word, _ in model.most_similar("queen", top=4)
    }
    assert {row["word"] for row in compared["shared"]} == both
    assert compared["interval"]["low"] <= compared["cosine"]


def test_lines_and_contexts(server):
    lines = server.answer("lines", word="king", lines=5)
    assert (lines["total"], len(lines["lines"])) == (50, 5)
    assert lines["lines"][0]["right"] == "rules the land"
    assert server.answer("lines", word="king", other="bone")["total"] == 0
    evidence = server.answer("evidence", a="king", b="queen")
    assert {context["context"] for context in evidence["contexts"]} <= {"the", "rules", "land"}


def test_the_map_has_all_words_with_their_groups(server, model):
    state = server.answer("map")
    while state["done"] < 1:
        state = server.answer("map")
    state = server.answer("map")
    assert state["words"] == model.words
    assert len(state["points"]) == 2 * len(model)
    assert all(0 <= value <= state["scale"] for value in state["points"])
    groups = dict(zip(state["words"], state["groups"], strict=True))
    assert groups["king"] == groups["queen"] != groups["dog"]
    assert groups["the"] == -1
    assert state["sizes"] == [2, 2]
    assert "points" not in server.answer("map", version=state["version"])


def test_an_unknown_word_is_an_answer(server):
    assert "did you mean king" in server.answer("neighbours", word="kin")["error"]
    assert "same word" in server.answer("evidence", a="king", b="King")["error"]


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
    own = f"Host: 127.0.0.1:{server.port}"
    token = f"Authorization: Bearer {server.token}"
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
    "path",
    ["/../pyproject.toml", "/..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/page/main.js",
     "/main.js%00", "/main.js/", "/./main.js", "/api/../main.js", "/api/", "/api/__init__", "http://127.0.0.1/main.js"],
)  # fmt: skip
def test_no_other_path_is_served(server, path):
    own = f"Host: 127.0.0.1:{server.port}"
    status, _ = server.send(f"GET {path} HTTP/1.1", own, f"Authorization: Bearer {server.token}", "Connection: close")
    assert status.split()[1] in ("404", "400") or (path.startswith("http://") and " 200 " in status)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_nothing_can_be_written(server, method):
    status, body = server.send(
        f"{method} /api/info HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Content-Length: 4", body=b"a=1&"
    )
    assert " 501 " in status
    assert "Access-Control" not in body


def test_a_body_ends_the_connection(server):
    """Else what it contains would be read as the next request."""
    own = f"Host: 127.0.0.1:{server.port}"
    smuggled = f"GET /main.js HTTP/1.1\r\n{own}\r\n\r\n".encode()
    for header in (f"Content-Length: {len(smuggled)}", "Transfer-Encoding: chunked"):
        status, rest = server.send("GET / HTTP/1.1", own, header, body=smuggled)
        assert " 400 " in status
        assert "HTTP/1.1 200" not in rest


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


def test_big_requests_are_refused(server):
    assert server.ask("neighbours", word="x" * 10_000)[0] == 414
    assert server.ask("neighbours", word="x" * 65_600)[0] == 414
    own = f"Host: 127.0.0.1:{server.port}"
    assert " 431 " in server.send("GET / HTTP/1.1", own, f"X-Long: {'x' * 65_600}")[0]
    assert " 431 " in server.send("GET / HTTP/1.1", own, *(f"X-{i}: 1" for i in range(200)))[0]


@pytest.mark.parametrize(
    "line", ["nonsense", "GET", "GET / HTTP/9.9", "GET / FTP/1.0", "\x00\xff", "GET / HTTP/1.1 more"]
)
def test_what_is_no_http_is_refused(server, line):
    status, _ = server.send(line)
    assert " 200 " not in status
    assert server.answer("info")


def test_head_has_no_body(server):
    status, rest = server.send("HEAD / HTTP/1.1", f"Host: 127.0.0.1:{server.port}", "Connection: close")
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
    assert server.answer("neighbours", word="zero")["neighbours"][0]["cosine"] == 0
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


@pytest.mark.parametrize(
    ("options", "code", "facts"),
    [
        (["--groups", "0"], 2, ["--groups"]),
        (["--groups", "101"], 2, ["--groups", "100"]),
        (["--groups", "missing.tsv"], 1, ["missing.tsv"]),
        (["--confidence", "."], 1, ["embeddings stability"]),
        (["--case", "keep"], 2, ["--case", "--corpus"]),
        (["--documents", "--corpus", "text.txt"], 2, ["--documents", "--corpus"]),
        (["--corpus", "missing.txt"], 1, ["missing.txt"]),
        (["--port", "70000"], 2, ["--port"]),
        (["--map-words", "100001"], 2, ["--map-words"]),
    ],
)
def test_wrong_options_are_refused(folder, monkeypatch, options, code, facts):
    monkeypatch.chdir(folder)
    message = refused("explore", "model", "--no-browser", *options, code=code)
    assert all(fact in message for fact in facts), message


def test_replicates_of_other_vectors_are_refused(folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert "other vectors" in refused("explore", "words.parquet", "--confidence", "replicates", code=2)
