"""A proxy in front of an S3 server that injects faults and remembers every request."""

from __future__ import annotations

import http.client
import json
import random
import socket
import threading
import time
from collections import Counter
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

FAULTS = ("500", "503", "closed", "lost", "cut", "slow")
SLOW = 0.3  # seconds
ERROR = "<?xml version='1.0'?><Error><Code>{code}</Code><Message>injected</Message></Error>"


class Request(NamedTuple):
    """A request as the proxy saw it."""

    kind: str  # GET, PUT, DELETE, HEAD or LIST
    key: str
    body: bytes
    fault: str  # "" if none
    status: int  # of the answer of the server, 0 if it was not asked


class Proxy:
    """Faults happen with the given rates, by a random generator with a seed.

    500 and 503 are answered without the server; "closed" closes the connection before the server is asked, "lost"
    afterwards, so that it has done what it was asked for; "cut" ends in the middle of an answer; "slow" waits.
    With ``read_only``, every request that would change something is refused.
    """

    def __init__(self, server: str, seed: int = 0) -> None:
        self._server, self._random, self._lock = urlsplit(server).netloc, random.Random(seed), threading.Lock()
        self.rates: Mapping[str, float] = {}
        self.read_only = False
        self.requests: list[Request] = []
        self._port = 0
        self.open()

    @property
    def address(self) -> str:
        """The address to give to clients."""
        return f"http://127.0.0.1:{self._port}"

    def open(self) -> None:
        """Accept connections, again on the same port after :meth:`close`."""
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_one_request(self) -> None:
                try:
                    super().handle_one_request()
                except OSError:  # the client has gone, or this proxy has closed the connection
                    self.close_connection = True

            def __getattr__(self, name: str) -> Any:
                if name.startswith("do_"):
                    return lambda: proxy._answer(self)
                raise AttributeError(name)

            def log_message(self, *_: Any) -> None:
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads, block_on_close, request_queue_size = True, False, 256
            allow_reuse_address = True

        self._listening: Any = Server(("127.0.0.1", self._port), Handler)
        self._port = self._listening.server_address[1]
        self._open: set[Any] = set()
        threading.Thread(target=self._listening.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def close(self) -> None:
        """Refuse connections, and end those that are open."""
        self._listening.shutdown()
        self._listening.server_close()
        with self._lock:
            for connection in self._open:
                _end(connection)

    def counts(self) -> Counter[str]:
        """Return how many requests of each kind there were."""
        return Counter(request.kind for request in list(self.requests))

    def faults(self) -> Counter[str]:
        """Return how many faults of each kind were injected."""
        return Counter(request.fault for request in list(self.requests) if request.fault)

    def delivered(self, status: str = "finished") -> dict[str, set[bytes]]:
        """Return the states with a status that the server has accepted, by run."""
        found: dict[str, set[bytes]] = {}
        for request in list(self.requests):
            accepted = request.kind == "PUT" and request.key.endswith("/state.json") and request.status == 200
            if accepted and json.loads(request.body)["status"] == status:
                found.setdefault(request.key.split("/")[-2], set()).add(request.body)
        return found

    def _fault(self) -> str:
        with self._lock:
            drawn = self._random.random()
        for fault, rate in self.rates.items():
            drawn -= rate
            if drawn < 0:
                return fault
        return ""

    def _answer(self, handler: Any) -> None:
        with self._lock:
            self._open.add(handler.connection)
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        split = urlsplit(handler.path)
        kind = "LIST" if "list-type=" in split.query else handler.command
        key = unquote(split.path).partition("/")[2].partition("/")[2]
        fault = self._fault()
        if fault == "slow":
            time.sleep(SLOW)
        status, headers, content = self._result(handler, kind, body, fault)
        asked = status if headers else 0
        self.requests.append(Request(kind, key, body, fault, asked))  # before the client can go on
        if fault == "closed":
            _end(handler.connection)
        else:
            self._reply(handler, status, headers, content, fault)

    def _result(self, handler: Any, kind: str, body: bytes, fault: str) -> tuple[int, list[tuple[str, str]], bytes]:
        """Return status, headers and content of an answer, of the server if it is asked; others have no headers."""
        if self.read_only and kind not in ("GET", "HEAD", "LIST"):
            return 403, [], ERROR.format(code="AccessDenied").encode()
        if fault in ("500", "503"):
            return int(fault), [], ERROR.format(code={"500": "InternalError", "503": "SlowDown"}[fault]).encode()
        if fault == "closed":
            return 0, [], b""
        upstream = http.client.HTTPConnection(self._server, timeout=60)
        upstream.request(handler.command, handler.path, body or None, dict(handler.headers.items()))
        answer = upstream.getresponse()
        content = answer.read()
        upstream.close()
        return answer.status, answer.getheaders(), content

    @staticmethod
    def _reply(handler: Any, status: int, headers: list[tuple[str, str]], content: bytes, fault: str) -> None:
        if fault == "lost":
            _end(handler.connection)
            return
        handler.send_response_only(status)
        for name, value in headers:
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                handler.send_header(name, value)
        length = {name.lower(): value for name, value in headers}.get("content-length")
        handler.send_header("Content-Length", length if handler.command == "HEAD" and length else str(len(content)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(content[: len(content) // 2] if fault == "cut" and content else content)
        if fault == "cut":
            _end(handler.connection)


def _end(connection: Any) -> None:
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        return
