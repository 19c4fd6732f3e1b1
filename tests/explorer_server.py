"""The command `embeddings explore` in a process, for the tests of its server."""

import json
import os
import signal
import socket
import subprocess
import sys
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import ProxyHandler, Request, build_opener

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
        self.port, self.token, self.host = parts.port, parts.fragment, f"Host: {parts.netloc}"
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
