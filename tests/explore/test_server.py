from __future__ import annotations

import socket
from pathlib import Path

import pytest

from unweave.errors import InputError, MissingExtra
from unweave.explore import find_selection, serve
from unweave.explore.server import PORT, listen


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
