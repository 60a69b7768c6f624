"""A small web server for tests of downloads: it can break off, forget ranges, and change what it serves."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

CHUNK = 100_000


@dataclass
class Site:
    """The content of a server, and its faults."""

    content: bytes
    etag: str | None = None
    ranges: bool = True
    cut_after: int | None = None  # bytes sent in a response before the connection drops
    status: int | None = None
    chunked: bool = False  # send chunks without the length of the file, and no ranges
    redirects: dict[str, str] = field(default_factory=dict)  # by path
    content_type: str = "application/octet-stream"
    url: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)  # what is served at some paths instead of the content
    requests: list[dict[str, str]] = field(default_factory=list)  # headers seen


@contextmanager
def serve(site: Site) -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers = {key.lower(): value for key, value in self.headers.items()}
            site.requests.append(headers)
            if self.path in site.redirects:
                self.send_response(302)
                self.send_header("Location", site.redirects[self.path])
                self.end_headers()
                return
            content = site.pages.get(self.path, site.content)
            if site.chunked:
                self._send_chunks(content)
                return
            start, status = 0, 200
            wanted = headers.get("range", "")
            if site.ranges and wanted:
                start, status = int(wanted.removeprefix("bytes=").removesuffix("-")), 206
                if start >= len(content):
                    status = 416
            body = b"" if status == 416 else content[start:]
            self.send_response(site.status or status)
            self.send_header("Content-Length", str(len(body)))
            if status in (206, 416):
                self.send_header("Content-Range", f"bytes {start}-/{len(content)}")
            self.send_header("Content-Type", site.content_type)
            if site.etag:
                self.send_header("ETag", site.etag)
            self.end_headers()
            self.wfile.write(body[: site.cut_after])

        def _send_chunks(self, content: bytes) -> None:
            self.protocol_version = "HTTP/1.1"
            self.send_response(200)
            self.send_header("Transfer-Encoding", "chunked")
            self.end_headers()
            for start in range(0, len(content), CHUNK):
                if site.cut_after is not None and start >= site.cut_after:
                    return
                chunk = content[start : start + CHUNK]
                self.wfile.write(b"%x\r\n%b\r\n" % (len(chunk), chunk))
            self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}/file.bin"
    try:
        yield site
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
