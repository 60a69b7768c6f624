from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.cli.running import run as command
from unweave.errors import InputError, MissingExtra
from unweave.explore import find_selection, serve
from unweave.explore.server import PORT, address_of, impatient_protocol, listen


def test_a_port_that_is_taken_is_refused_and_the_next_one_is_found() -> None:
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with pytest.raises(InputError, match=f"cannot listen on port {port} of 127.0.0.1.*--port"):
            listen("127.0.0.1", port)
    with listen("127.0.0.1", None) as one, listen("127.0.0.1", None) as other:
        ports = [made.getsockname()[1] for made in (one, other)]
    assert PORT <= ports[0] < ports[1]


def test_a_host_that_is_not_this_machine_is_refused() -> None:
    with pytest.raises(InputError, match="cannot listen"):
        listen("203.0.113.9", 0)


def test_only_this_machine_can_connect_by_default() -> None:
    with listen("127.0.0.1", 0) as made:
        assert made.getsockname()[0] == "127.0.0.1"
        assert made.family == socket.AF_INET
        assert made.proto == socket.IPPROTO_TCP  # asyncio checks it before it sets TCP_NODELAY


@pytest.mark.parametrize("module", ["fastapi", "uvicorn"])
def test_a_missing_extra_is_named(store: Path, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = __import__("importlib").import_module

    def absent(name: str) -> object:
        if name == module:
            raise ModuleNotFoundError(name)
        return real(name)

    monkeypatch.setattr("unweave.errors.importlib.import_module", absent)
    with pytest.raises(MissingExtra, match=r"pip install -e '\.\[explore\]'"):
        serve(find_selection(None, store=store), browser=False)


def test_the_address_can_be_opened_on_this_machine() -> None:
    assert address_of("0.0.0.0", 8420) == "http://127.0.0.1:8420/"
    assert address_of("::", 8420) == "http://[::1]:8420/"
    assert address_of("localhost", 80) == "http://localhost:80/"


@pytest.mark.parametrize(("host", "warned"), [("0.0.0.0", True), ("127.0.0.1", False)])
def test_a_page_for_other_machines_comes_with_a_warning(
    store: Path, host: str, warned: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("unweave.explore.serve", lambda _, announce, **__: announce("http://127.0.0.1:8420/"))
    assert command(monkeypatch, "explore", "--store", str(store), "--host", host, "--no-browser") == 0
    said = capsys.readouterr().out
    assert "http://127.0.0.1:8420/" in said
    assert ("there is no password" in said) == warned
    assert (f"http://{socket.gethostname()}:8420/" in said) == warned


@pytest.fixture
def slow_server() -> Iterator[int]:
    """The port of a server that reads the whole request, answers after 1.2 seconds, and waits 0.4 for requests."""

    async def answer(scope: dict[str, Any], receive: Callable[[], Any], send: Callable[[Any], Awaitable[None]]) -> None:
        while (message := await receive()).get("more_body"):
            pass
        if message["type"] == "http.disconnect":
            return
        await asyncio.sleep(1.2)
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})

    config = uvicorn.Config(answer, http=impatient_protocol(0.4), log_level="error", ws="none", lifespan="off")
    server = uvicorn.Server(config)
    listening = listen("127.0.0.1", 0)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    yield listening.getsockname()[1]
    server.should_exit = True
    thread.join(10)
    listening.close()


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        ("", b""),
        ("GET / HTTP/1.1\r\nHost: a\r\n", b""),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", b""),
        ("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", b"ok"),
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc", b"ok"),
    ],
)
def test_a_request_that_does_not_arrive_is_closed_and_a_slow_answer_is_not(
    slow_server: int, sent: str, said: bytes
) -> None:
    with socket.create_connection(("127.0.0.1", slow_server), timeout=30) as made:
        begun = time.monotonic()
        made.sendall(sent.encode())
        answer = b""
        while part := made.recv(1000):
            answer += part
    assert answer.endswith(said)
    assert bool(answer) == bool(said)
    assert time.monotonic() - begun >= 0.35
