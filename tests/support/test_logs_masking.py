"""No credential reaches the terminal, the log or a file, whatever the address and the way it is passed."""

import logging
import os
from urllib.parse import quote

import numpy as np
import pytest
from commands import process, run
from hypothesis import example, given, settings
from hypothesis import strategies as st
from remote_servers import web_server

import embeddings as em
from embeddings.support import logs
from embeddings.support.remote import address, requests, store

PIECES = ("hushAlpha", "Bravo7hush", "Charlie8x")
JOINTS = st.sampled_from(["", *"/@:%+=&?# é日'\"\\~", "//", "%2F", "%zz"])
SCHEMES = ["s3", "s3a", "gs", "gcs", "hf", "http", "https", "HTTPS", "S3"]
SCHEMES += ["ftp", "sftp", "s3n", "webhdfs", "abfss", "file", "x-odd+1.2"]
HOSTS = ["bucket", "127.0.0.1:1", "[::1]:1", "host.invalid"]


@st.composite
def addresses(draw):
    """An address with a secret as a password, a user, a query or a fragment."""
    secret = PIECES[0] + draw(JOINTS) + PIECES[1] + draw(JOINTS) + PIECES[2]
    if draw(st.booleans()):
        secret = quote(secret, safe="")
    scheme, host = draw(st.sampled_from(SCHEMES)), draw(st.sampled_from(HOSTS))
    slashes = draw(st.sampled_from(["://", "://", "://", ":/", ":///"]))
    path = draw(st.sampled_from(["", "/", "/x", "/x y.txt", "/a/b.parquet", "/*.txt"]))
    user = draw(st.sampled_from(["me", "k", "a b", "ü", ""]))
    kind = draw(st.sampled_from(["password", "user", "query", "fragment"]))
    if kind == "password":
        return f"{scheme}{slashes}{user}:{secret}@{host}{path}{draw(st.sampled_from(['', '/x@y']))}"
    if kind == "user":
        return f"{scheme}{slashes}{secret.replace('/', '')}@{host}{path}"
    mark = "?" if kind == "query" else "#"
    signed = draw(st.sampled_from(["", "x=1&Signature="])) + secret.replace(" ", "").replace("@", "")
    return f"{scheme}{slashes}{host}{path or '/'}{mark}{signed}"


WAYS = [
    ["info", "{}"],
    ["info", "--", "{}"],
    ["neighbours", "{}", "the"],
    ["neighbours", "v.arrow", "{}"],
    ["neighbours", "v.arrow", "the", "--top", "{}"],
    ["neighbours", "v.arrow", "the", "--index", "{}"],
    ["export", "v.arrow", "{}"],
    ["export", "v.arrow", "w.txt", "--words", "{}"],
    ["train", "skipgram", "{}", "-o", "out"],
    ["train", "skipgram", "text.txt", "-o", "{}"],
    ["train", "skipgram", "text.txt", "-o{}"],
    ["train", "skipgram", "text.txt", "-o={}"],
    ["train", "skipgram", "text.txt", "--out={}"],
    ["train", "skipgram", "text.txt", "-o", "out", "--log={}"],
    ["train", "skipgram", "text.txt", "-o", "out", "--{}"],
    ["train", "{}", "text.txt"],
    ["evaluate", "v.arrow", "--similarity", "{}"],
    ["evaluate", "name={}"],
    ["embed", "v.arrow", "{}", "-o", "out.npy"],
    ["--debug", "vocabulary", "text.txt", "--out", "{}"],
    ["cache", "--limit", "{}"],
    ["{}"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The working folder, where stores answer with the credentials that they got, as bad libraries do."""
    place = tmp_path_factory.mktemp("secrets")

    def fail(*arguments):
        raise OSError(f"curl: (7) cannot connect with {arguments}")

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        patch.setattr(requests, "FIRST_WAIT", 0)
        patch.setattr(store, "make_store", fail)
        patch.setattr(store, "build_opener", fail)
        (place / "text.txt").write_text("a b\n" * 9)
        em.Vectors(["the", "of"], np.eye(2)).save(place / "v.arrow")
        yield place
        forget()


def forget():
    for memory in (logs.secrets, address.queries):
        memory.clear()


def shown_pieces(text):
    return [piece for piece in PIECES if piece in text]


class Log(logging.Handler):
    """Collects the log."""

    def __init__(self):
        super().__init__(logging.DEBUG)
        self.lines = []

    def emit(self, record):
        self.lines.append(record.getMessage())


@settings(max_examples=300)
@given(addresses(), st.sampled_from(WAYS))
@example("https://user:hushAlpha/Bravo7hush@host/f", ["info", "{}"])
@example("s3://KEY:hushAlpha@bkt/o", ["train", "skipgram", "text.txt", "-o{}"])
@example("ftp://user:hushAlpha@host/o", ["info", "{}"])
def test_no_secret_is_shown(folder, text, way):
    before = {path.name for path in folder.iterdir()}
    forget()
    handler, logger = Log(), logging.getLogger("embeddings")
    logger.addHandler(handler)
    try:
        result = run(*(word.replace("{}", text) for word in way))
    finally:
        logger.removeHandler(handler)
    assert not shown_pieces(result.output), result.output
    assert not shown_pieces("\n".join(handler.lines)), handler.lines
    assert "unexpected" not in result.output
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.parametrize("location", ["http://me:hushAlpha@127.0.0.1:1/x", "http://h.invalid/?t=hushAlpha"])
def test_a_redirect_with_a_secret_is_not_shown(location):
    with web_server(redirect=location) as server:
        result = process("info", f"{server.url}/x", env={**os.environ, "NO_PROXY": "*"})
    assert result.returncode == 1
    assert "Error: http://127.0.0.1:" in result.stderr
    assert not shown_pieces(result.stderr)


def test_the_login_of_a_proxy_is_not_shown(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://me:hushAlpha@proxy.invalid:3128")
    monkeypatch.setenv("HF_TOKEN", "Bravo7hush")
    message = "cannot connect to http://me:hushAlpha@proxy.invalid:3128 with Bravo7hush"
    assert logs.mask(message) == "cannot connect to http://***@proxy.invalid:3128 with ***"


def test_the_recorded_command_of_a_report_has_no_secret(folder, monkeypatch):
    report = ["--similarity", "pairs.tsv", "--report", "report.html", "--words", "https://host/x?hushAlpha"]
    (folder / "pairs.tsv").write_text("the\tof\t1\nof\tthe\t2\n")
    command = ["evaluate", "v.arrow", *report[:4]]
    monkeypatch.setattr("sys.argv", ["embeddings", *command, "a=https://host/x?t=Bravo7hush"])
    result = run(*command)
    assert result.exit_code == 0, result.output
    assert not shown_pieces((folder / "report.html").read_text(encoding="utf-8"))
