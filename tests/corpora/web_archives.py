"""Web archives for tests of their readers."""


def warc(records, pack=bytes):
    """A WARC file of records (type, url, content type, payload)."""
    parts = []
    for kind, url, content_type, payload in records:
        if kind == "response":
            status = "404 Not Found" if "missing" in url else "200 OK"
            payload = f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\n\r\n".encode() + payload
        head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {url}\r\nWARC-Date: 2024-01-01T00:00:00Z\r\n"
        head += f"WARC-Record-ID: <urn:uuid:{len(parts)}>\r\nContent-Type: application/http\r\n"
        parts.append(pack(f"{head}Content-Length: {len(payload)}\r\n\r\n".encode() + payload + b"\r\n\r\n"))
    return b"".join(parts)
