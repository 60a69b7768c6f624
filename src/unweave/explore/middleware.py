"""Middleware: rejects foreign Host and Origin headers, sets a Content-Security-Policy, and limits waiting requests.

A page of another site could otherwise reach this server through the reader's browser, by requests (a foreign Origin) or
by a domain name that points to this machine (a foreign Host).
"""

from __future__ import annotations

import base64
import hashlib
import ipaddress
import json
import logging
import re
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

from starlette.requests import ClientDisconnect

from unweave.explore.server import EVERYWHERE, LOOPBACK

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class SecurityMiddleware:
    """Reject requests with a foreign Host or Origin, and add the security headers to every response."""

    def __init__(self, application: Application, *, host: str, policy: str) -> None:
        self._application, self._host, self._policy = application, host, policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._application(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        problem = refusal(self._host, headers)
        if problem:
            await self._refuse(problem, send)
            return

        async def restricted(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *self._headers(scope["path"])]
            await send(message)

        try:
            await self._application(scope, receive, restricted)
        except ClientDisconnect:  # an upload that was broken off needs no answer
            pass
        except Exception:  # it has been answered already; raised further, it would end the connection
            logging.getLogger(__name__).exception("a request failed")

    async def _refuse(self, problem: str, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), *self._headers("")]
        await send({"type": "http.response.start", "status": 403, "headers": headers})
        await send({"type": "http.response.body", "body": json.dumps({"error": problem}).encode()})

    def _headers(self, path: str) -> list[tuple[bytes, bytes]]:
        cache = "no-store" if path.startswith("/api/") else "no-cache"
        headers = {
            "content-security-policy": self._policy,
            "x-content-type-options": "nosniff",
            "referrer-policy": "no-referrer",
            "cross-origin-resource-policy": "same-origin",
            "cross-origin-opener-policy": "same-origin",
            "cache-control": cache,
        }
        return [(name.encode(), value.encode()) for name, value in headers.items()]


def refusal(host: str, headers: MutableMapping[str, str]) -> str:
    """Return why a request is refused, "" if it is not."""
    asked = headers.get("host", "")
    if not is_known_host(host, _name(asked)):
        return f"this page is not served under the host {asked[:100]!r}."
    origin = headers.get("origin")
    if origin is not None and origin not in (f"http://{asked}", f"https://{asked}"):
        return f"requests from the origin {origin[:100]!r} are refused."
    if headers.get("sec-fetch-site") == "cross-site" and headers.get("sec-fetch-mode") != "navigate":
        return "requests from other sites are refused."
    return ""


def is_known_host(host: str, asked: str) -> bool:
    """Return whether a name in a Host header means the address that this server listens at."""
    if host not in EVERYWHERE:
        return asked == host or (host in LOOPBACK and asked in LOOPBACK)
    try:
        ipaddress.ip_address(asked)  # a number cannot be made to point elsewhere, as a name can
        return True
    except ValueError:
        return asked in ("localhost", socket.gethostname().lower(), socket.getfqdn().lower())


def policy_of(page: str) -> str:
    """Return the Content-Security-Policy of a page: everything from this server, and its own inline import map."""
    inline = re.findall(r"<script type=\"importmap\">(.*?)</script>", page, flags=re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    scripts = " ".join(["'self'", *(f"'sha256-{digest}'" for digest in hashes)])
    return (
        f"default-src 'self'; script-src {scripts}; object-src 'none'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


def _name(host: str) -> str:
    """Return the name in a Host header, without the port."""
    bracketed = re.match(r"\[([^\]]*)\]", host)
    return bracketed[1].lower() if bracketed else host.partition(":")[0].lower()


class BusyError(RuntimeError):
    """Too many requests are waiting; the message says to try again."""


class RequestQueue:
    """Let ``at_once`` threads compute at a time; a caller is rejected if ``length`` others wait or compute already."""

    def __init__(self, length: int, *, at_once: int = 1) -> None:
        self._length, self._waiting = length, 0
        self._count, self._turn = threading.Lock(), threading.Semaphore(at_once)

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Wait for the turn of this thread."""
        with self._count:
            if self._waiting >= self._length:
                raise BusyError("too many requests at once: try again in a moment.")
            self._waiting += 1
        try:
            with self._turn:
                yield
        finally:
            with self._count:
                self._waiting -= 1
