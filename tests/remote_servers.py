"""Servers on the loopback address for the tests of remote files."""

import hashlib
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

KEY, SECRET = "AKIAFORTESTS", "hush/hush+hush"


@contextmanager
def s3_server():
    """A server of the protocol of S3; yields its endpoint and a client of boto3."""
    pytest.importorskip("moto.server", reason="needs moto: pip install 'embeddings-toolkit[s3-server]'")
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        endpoint = f"http://{host}:{port}"
        yield (
            endpoint,
            boto3.client(
                "s3",
                endpoint_url=endpoint,
                region_name="us-east-1",
                aws_access_key_id=KEY,
                aws_secret_access_key=SECRET,
            ),
        )
    finally:
        server.stop()


def s3_environment(endpoint):
    """The usual variables of the environment for a server of S3."""
    return {
        "AWS_ENDPOINT_URL": endpoint,
        "AWS_ACCESS_KEY_ID": KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "EMBEDDINGS_REMOTE_TIMEOUT": "10",
    }


class WebServer(ThreadingHTTPServer):
    """Serves `files` (bytes by path), and misbehaves as its attributes say.

    Attributes:
        has_ranges: whether it answers requests of ranges.
        drops: how many answers to break off after half of their bytes.
        excess: bytes that Content-Length claims, but that are not sent.
        is_chunked: send no Content-Length.
        is_silent: accept requests, but do not answer.
        redirect: the address to which all requests are redirected.
        shift: how many bytes later ranges begin than they were requested.
        total: the size that Content-Range claims; by default that of the file.
        requests: the headers of all requests, with their path.
    """

    daemon_threads = True
    shift, total = 0, None
    has_ranges, drops, excess, is_silent, redirect, status, is_chunked = True, 0, 0, False, None, 200, False

    def __init__(self):
        super().__init__(("127.0.0.1", 0), WebHandler)
        self.files, self.requests, self.ended = {}, [], threading.Event()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request, client_address):
        pass  # of a client that has closed its connection


class WebHandler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: WebServer

    def log_message(self, *args):
        pass

    def do_HEAD(self):
        self.do_GET()

    def do_GET(self):
        server = self.server
        server.requests.append((self.path, dict(self.headers)))
        if server.is_silent:
            server.ended.wait(60)
            return
        if server.redirect:
            self.answer(302, {"Location": server.redirect + self.path}, b"")
            return
        data = server.files.get(self.path.partition("?")[0])
        if server.status != 200 or data is None:
            self.answer(server.status if server.status != 200 else 404, {}, b"")
            return
        tag = f'"{hashlib.md5(data).hexdigest()}"'
        wanted = self.headers.get("Range")
        if not (server.has_ranges and wanted):
            self.answer(200, {"ETag": tag}, data)
        elif not data:
            self.answer(416, {"Content-Range": "bytes */0"}, b"")
        elif self.headers.get("If-Match", tag) != tag:
            self.answer(412, {}, b"")
        else:
            first, last = (server.shift + int(one) for one in wanted.removeprefix("bytes=").split("-"))
            part = data[first : last + 1]
            place = f"bytes {first}-{first + len(part) - 1}/{server.total or len(data)}"
            self.answer(206, {"ETag": tag, "Content-Range": place}, part)

    def answer(self, status, headers, data):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if not self.server.is_chunked:
            self.send_header("Content-Length", str(len(data) + self.server.excess))
        self.end_headers()
        if self.server.drops > 0 and len(data) > 1:
            self.server.drops -= 1
            data = data[: len(data) // 2]
        if self.command != "HEAD":
            self.wfile.write(data)


@contextmanager
def web_server(**attributes):
    """A web server with these attributes."""
    with WebServer() as server:
        for name, value in attributes.items():
            setattr(server, name, value)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server
        finally:
            server.ended.set()
            server.shutdown()
            thread.join()
