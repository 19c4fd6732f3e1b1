"""An interrupt ends a program at once, although a server does not answer."""

import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread

import pytest

from embeddings.support.remote import requests

STATUS = "find_status(address)"
READ = "RemoteReader(address).readall()"
CODE = """
import sys
from embeddings.support.remote.address import parse_address
from embeddings.support.remote.store import RemoteReader
from embeddings.support.remote.store import find_status

address = parse_address(sys.argv[1])
"""
SIZE = 50_000_000


class SilentHandler(BaseHTTPRequestHandler):
    """Answers the first requests, and leaves the others without an answer."""

    def log_message(self, *args):
        pass

    def do_GET(self):
        server = self.server
        server.requests += 1
        if server.requests > server.answers:
            server.is_asked.set()
            server.is_over.wait()
            return
        first, last = map(int, re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers["Range"]).groups())
        self.send_response(206)
        self.send_header("Content-Range", f"bytes {first}-{last}/{SIZE}")
        self.send_header("Content-Length", str(last - first + 1))
        self.end_headers()
        self.wfile.write(bytes(last - first + 1))

    do_HEAD = do_GET


@contextmanager
def silent_server(answers):
    """A server that answers some requests, and then none."""
    with ThreadingHTTPServer(("127.0.0.1", 0), SilentHandler) as server:
        server.daemon_threads = True
        server.answers, server.requests, server.is_asked, server.is_over = answers, 0, Event(), Event()
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.is_over.set()
        server.shutdown()


@pytest.mark.skipif(sys.platform == "win32", reason="requires POSIX signals")
@pytest.mark.parametrize(("scheme", "action", "answers"), [("s3", STATUS, 0), ("http", STATUS, 0), ("http", READ, 2)])
def test_a_program_ends_while_a_server_is_silent(scheme, action, answers):
    with silent_server(answers) as server:
        host = f"127.0.0.1:{server.server_port}"
        address = "s3://bucket/x.txt" if scheme == "s3" else f"http://{host}/x.txt"
        environment = {**os.environ, "EMBEDDINGS_REMOTE_TIMEOUT": "600", "AWS_ENDPOINT_URL": f"http://{host}",
                       "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b", "AWS_REGION": "us-east-1"}  # fmt: skip
        program = [sys.executable, "-c", CODE + action, address]
        with subprocess.Popen(program, env=environment, stderr=subprocess.PIPE, text=True) as process:
            try:
                assert server.is_asked.wait(200)
                process.send_signal(signal.SIGINT)
                errors = process.communicate(timeout=100)[1]
            finally:
                process.kill()
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_results_come_in_order_and_errors_where_they_belong():
    ahead, started = 3, []

    def work(number):
        started.append(number)
        if number == 7:
            raise ValueError("seven")
        return number * number

    results = requests.map_ahead(work, range(10), ahead)
    assert next(results) == 0
    assert sorted(started) == [0, 1, 2]
    assert [next(results) for _ in range(6)] == [number * number for number in range(1, 7)]
    with pytest.raises(ValueError, match="seven"):
        next(results)
    assert list(requests.map_ahead(work, [], ahead)) == []
