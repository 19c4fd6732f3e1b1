"""Serves the page of the explorer to this computer only, and only to clients that know its token.

Every request must name this server in its Host header, against DNS rebinding; questions must carry the token, which
only the address of the page contains, in its fragment: browsers do not send fragments or save them with requests.
"""

import hmac
import inspect
import json
import os
import secrets
from collections.abc import Callable
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from socket import socket
from socketserver import TCPServer
from threading import BoundedSemaphore
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from embeddings.errors import EmbeddingsError
from embeddings.explorer.vector_explorer import ENDPOINTS, VectorExplorer
from embeddings.settings import check_value, split_optional, split_range
from embeddings.support.logs import log

HOST = "127.0.0.1"
MAX_CONNECTIONS, IDLE_SECONDS = 64, 30
TYPES = {"html": "text/html", "css": "text/css", "js": "text/javascript", "svg": "image/svg+xml"}
PAGE = {
    "/": "index.html",
    **{f"/{name}": name for name in ("style.css", "icon.svg", "main.js", "requests.js", "combobox.js", "results.js")},
    **{f"/{name}": name for name in ("map.js", "map_view.js", "queries.js", "tabs.js")},
}
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

MAX_LENGTH = 1000  # characters of a word
MAX_DIGITS = 9


class RequestError(Exception):
    """A refused request, with the HTTP status of the response."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


def parse_query(query: str, answer: Callable[..., Any]) -> dict[str, Any]:
    """The arguments that a query gives to a method: words, integers, or one of several values.

    Raises ValueError or TypeError if a parameter is unknown, missing, set twice, not UTF-8, or out of range.
    """
    signature = inspect.signature(answer)
    pairs = parse_qsl(query, keep_blank_values=True, errors="strict", max_num_fields=len(signature.parameters))
    texts = {name: text for name, text in pairs if text.strip()}  # blank words are missing
    if len(dict(pairs)) < len(pairs) or any(len(text) > MAX_LENGTH for text in texts.values()):
        raise ValueError(f"a parameter is set twice, or has more than {MAX_LENGTH:,} characters")
    signature.bind(None, **texts)
    values: dict[str, Any] = {}
    for name, text in texts.items():
        annotation = signature.parameters[name].annotation
        kind, _ = split_range(split_optional(annotation)[0])
        is_number = kind is int and text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS
        values[name] = check_value(name, int(text) if is_number else text, annotation, {})
    return values


class ExplorerServer(ThreadingHTTPServer):
    """Serves one `VectorExplorer` at 127.0.0.1.

    Arguments:
        port: 0 for any that is free.

    Raises:
        EmbeddingsError: the port cannot be used.
    """

    daemon_threads = True
    request_queue_size = MAX_CONNECTIONS  # more than that at once wait a second or longer for the next attempt
    allow_reuse_address = os.name != "nt"  # on Windows another program could take the port over
    allow_reuse_port = False

    def __init__(self, explorer: VectorExplorer, port: int = 0) -> None:
        self.explorer = explorer
        self.token = secrets.token_urlsafe(24)
        self.connections = BoundedSemaphore(MAX_CONNECTIONS)
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            reason = f"port {port} cannot be used: {error.strerror or error}; choose another one with --port"
            raise EmbeddingsError(reason) from error

    @property
    def address(self) -> str:
        """The address of the page, which contains the token."""
        return f"http://{HOST}:{self.server_port}/#{self.token}"

    def server_bind(self) -> None:
        """Bind, without the look-up of a host name that the base class does."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, int(self.server_address[1])

    def process_request(self, request: Any, client_address: Any) -> None:
        """Answer a connection in a thread of its own, or close it if there are too many."""
        if self.connections.acquire(blocking=False):
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """Answer a connection."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.connections.release()

    def handle_error(self, request: socket | tuple[bytes, socket], client_address: Any) -> None:
        """Ignore connections that break."""


class Handler(BaseHTTPRequestHandler):
    """Answers GET and HEAD."""

    protocol_version = "HTTP/1.1"
    server_version, sys_version = "embeddings", ""
    timeout = IDLE_SECONDS
    wbufsize = -1  # headers and body in one packet: two would wait for each other
    disable_nagle_algorithm = True
    server: ExplorerServer

    def do_GET(self) -> None:
        """Answer with a file of the page or with JSON."""
        try:
            self.check_origin()
            parts = urlsplit(self.path)
            if parts.path in PAGE and not parts.query:
                name = PAGE[parts.path]
                self.answer(200, page_file(name), TYPES[name.rpartition(".")[2]])
                return
            self.answer_json(200, self.question(parts.path, parts.query))
        except RequestError as error:
            self.answer_json(error.status, {"error": str(error)})
        except ConnectionError:
            raise
        except Exception as error:
            log.warning("a request of the page failed: %r", error)
            self.answer_json(500, {"error": f"internal error: {type(error).__name__}"})

    do_HEAD = do_GET

    def check_origin(self) -> None:
        """Refuse requests to other hosts, from other pages, or with a body; whole addresses are requests to a proxy.

        Raises RequestError if it is one.
        """
        own = {f"{name}:{self.server.server_port}" for name in (HOST, "localhost")}
        # two Host headers may be read differently by whatever passed the request on
        host = ", ".join(self.headers.get_all("Host", []))
        is_foreign = self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin")
        is_foreign |= any(origin != f"http://{host}" for origin in self.headers.get_all("Origin", []))
        has_body = "Transfer-Encoding" in self.headers or self.headers.get("Content-Length", "0") != "0"
        self.close_connection |= has_body  # the unread body would be taken for the next request
        for status, is_refused, message in (
            (421, host not in own, "this server is not the host of the request"),
            (403, is_foreign, "requests of other pages are refused"),
            (400, not self.path.startswith("/"), "the address of a request must be a path"),
            (400, has_body, "requests must not have a body"),
        ):
            if is_refused:
                raise RequestError(status, message)

    def question(self, path: str, query: str) -> dict[str, Any]:
        """The answer to a question, or its error as `{"error": message}`.

        Raises RequestError if the token is missing or wrong, the question is unknown, or a parameter is.
        """
        given = self.headers.get("Authorization", "")
        # in constant time: how long a comparison takes must not tell how much of a token is right
        if not hmac.compare_digest(given.encode(errors="replace"), f"Bearer {self.server.token}".encode()):
            raise RequestError(403, "the token is missing or wrong: open the address that the command printed")
        answer = ENDPOINTS.get(path.removeprefix("/api/")) if path.startswith("/api/") else None
        if answer is None:
            raise RequestError(404, "there is no such page")
        try:
            values = parse_query(query, answer)
        except (TypeError, ValueError) as error:
            raise RequestError(400, str(error)) from error
        try:
            return answer(self.server.explorer, **values)
        except EmbeddingsError as error:
            return {"error": str(error)}

    def answer_json(self, status: int, content: dict[str, Any]) -> None:
        """Send a dictionary as JSON, in ASCII."""
        self.answer(status, json.dumps(content, allow_nan=False).encode(), "application/json")

    def answer(self, status: int, body: bytes, kind: str) -> None:
        """Send a body."""
        self.send_response(status)
        for name, value in HEADERS.items():
            self.send_header(name, value)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that is no HTTP, or of another method."""
        self.close_connection = True
        self.command = getattr(self, "command", None) or "GET"
        self.answer_json(code, {"error": message or "bad request"})

    def log_message(self, format: str, *args: Any) -> None:
        """Print nothing."""


@cache
def page_file(name: str) -> bytes:
    """A file of the page."""
    return (files("embeddings.explorer") / "page" / name).read_bytes()
