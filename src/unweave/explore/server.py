"""The web server of the page: find a free port, serve, and open the browser."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

from unweave.errors import InputError, extra
from unweave.explore.run_selection import Selection

LOOPBACK = ("127.0.0.1", "localhost", "::1")
EVERYWHERE = ("0.0.0.0", "::")
PORT = 8420
TRIED = 20  # ports after the first one, if that is taken
PATIENCE = 30.0  # seconds within which a request must have arrived completely


def serve(
    selection: Selection,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    browser: bool = True,
    announce: Callable[[str], None] | None = None,
) -> None:
    """Serve the page of a selection until the process is interrupted.

    Args:
        selection: The runs to show.
        host: The address to listen on; by default, only this machine reaches the page.
        port: The port; by default the first free one from 8420, and 0 takes any free one.
        browser: Whether the page is opened in a browser.
        announce: A function that is called with the address of the page.
    """
    extra("fastapi", "explore")
    uvicorn = extra("uvicorn", "explore")
    import torch

    from unweave.explore.app import make_app

    torch.set_num_threads(1)  # a picture is small; on a busy machine, threads that wait for each other are slow
    listening = listen(host, port)
    address = address_of(host, listening.getsockname()[1])
    config = uvicorn.Config(
        make_app(selection, host=host),
        http=impatient_protocol(),
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    if announce:
        announce(address)
    if browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    with listening:
        server.run(sockets=[listening])


def impatient_protocol(seconds: float = PATIENCE) -> type[Any]:
    """Return a protocol for uvicorn that closes connections whose request does not arrive in time.

    An answer may take longer; the time counts from the beginning of the connection, and from each answer.
    """
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self.deadline = self.loop.call_later(seconds, self.close_half_open)

        def on_response_complete(self) -> None:
            super().on_response_complete()
            self.deadline.cancel()
            self.deadline = self.loop.call_later(seconds, self.close_half_open)

        def connection_lost(self, exc: Exception | None) -> None:
            self.deadline.cancel()
            super().connection_lost(exc)

        def close_half_open(self) -> None:
            if self.cycle is None or self.cycle.response_complete or self.cycle.more_body:
                self.transport.close()

    return Impatient


def address_of(host: str, port: int) -> str:
    """Return an address that opens the page on this machine; 0.0.0.0 and :: cannot be opened themselves."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def listen(host: str, port: int | None) -> socket.socket:
    """Return a socket that listens at a port of a host; a port that was asked for must be free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ports = range(PORT, PORT + TRIED) if port is None else [port]
    problem = ""
    for candidate in ports:
        # asyncio sends small answers without delay only if the protocol is given; otherwise a picture waits for 40 ms
        made = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            made.bind((host, candidate))
            made.listen(128)
            return made
        except (OSError, OverflowError) as error:
            made.close()
            problem = getattr(error, "strerror", None) or str(error)
    where = f"port {port}" if port is not None else f"any port from {PORT} to {PORT + TRIED - 1}"
    raise InputError(f"cannot listen on {where} of {host}: {problem}. Choose another with --port.")
