from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cli.running import run as command
from unweave.errors import InputError, MissingExtra
from unweave.explore import find_selection, serve
from unweave.explore.server import PORT, address_of, listen


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
