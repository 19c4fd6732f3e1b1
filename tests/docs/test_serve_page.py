"""The service of the page "Serve searches" answers on the loopback address, and finds texts that are added later."""

import json
import os
import shlex
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from commands import expect
from test_guides import blocks, run_shell

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")
PAGE = "docs/texts/serve.md"


@contextmanager
def running(folder):
    """The address of the service, in a process of its own."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "service:app", "--port", str(port)]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
    try:
        address = f"http://127.0.0.1:{port}"
        wait_for(f"{address}/health", process)
        yield address
    finally:
        process.terminate()
        process.wait(30)


def wait_for(address, process):
    """Wait until a service answers; fails if its process ends, or after two minutes."""
    for _ in range(600):
        assert process.poll() is None, "the service has ended"
        try:
            urlopen(address, timeout=60).close()
        except URLError:
            time.sleep(0.2)
        else:
            return
    pytest.fail("the service does not answer")


def ask(address, **query):
    """The hits of a search."""
    with urlopen(f"{address}/search?{urlencode(query)}", timeout=60) as answer:
        return json.load(answer)


@pytest.mark.skipif(os.name == "nt", reason="the page has lines of a Unix shell")
def test_it_finds_texts_also_those_that_are_added_while_it_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first, added = (one.code for one in blocks(PAGE) if one.language == "sh" and not one.mark)
    for line in first.splitlines():
        words = shlex.split(line)
        if words[:2] == ["embeddings", "train"]:  # one epoch is enough here
            expect(*words[1:], "--epochs", 1, "--dim", 20)
        else:
            run_shell(line)
    (code,) = (one.code for one in blocks(PAGE) if one.title == "service.py")
    (tmp_path / "service.py").write_text(code, encoding="utf-8")
    with running(tmp_path) as address:
        (best,) = ask(address, query="songs and piano", top=1)
        assert best["id"] == "2"
        assert best["text"] == "A concert with songs and piano"
        assert best["cosine"] > ask(address, query="songs and piano")[1]["cosine"]
        assert ask(address, query="songs and piano", min_cosine=1) == []
        assert "4" not in {hit["id"] for hit in ask(address, query="orchestra")}
        run_shell(added)
        assert ask(address, query="orchestra")[0]["id"] == "4"
        assert [hit["id"] for hit in ask(address, query="the", where='id == "3"')] == ["3"]
        for wrong in ({"where": "kind == 1"}, {"top": 0}, {"min_cosine": 2}):
            with pytest.raises(HTTPError, match="422"):
                ask(address, query="orchestra", **wrong)
