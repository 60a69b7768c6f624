from __future__ import annotations

import asyncio
import base64
import hashlib
import http.client
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.requests import ClientDisconnect

from unweave.explore.app import STATIC
from unweave.explore.middleware import SecurityMiddleware, is_known_host, policy_of, refusal


@pytest.mark.parametrize("host", ["127.0.0.1:8420", "localhost:9", "localhost", "[::1]:8420", "LOCALHOST:1"])
def test_this_machine_is_answered_under_its_own_names(host: str) -> None:
    assert refusal("127.0.0.1", {"host": host}) == ""
    assert refusal("127.0.0.1", {"host": host, "origin": f"http://{host}"}) == ""


@pytest.mark.parametrize(
    "host", ["", "evil.example", "evil.example:8420", "127.0.0.1.evil.example", "localhost.evil.example", "10.0.0.7"]
)
def test_a_foreign_host_is_refused(host: str) -> None:
    assert "is not served under the host" in refusal("127.0.0.1", {"host": host})


@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://127.0.0.1:1", "http://localhost", ""])
def test_a_foreign_origin_is_refused(origin: str) -> None:
    assert "the origin" in refusal("127.0.0.1", {"host": "127.0.0.1:8420", "origin": origin})


def test_a_request_that_another_site_embeds_is_refused_but_a_link_is_followed() -> None:
    headers = {"host": "localhost:8420", "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    assert "other sites" in refusal("127.0.0.1", headers)
    assert refusal("127.0.0.1", {**headers, "sec-fetch-mode": "navigate"}) == ""


def test_a_server_for_everybody_answers_under_numbers_but_not_under_any_name() -> None:
    assert is_known_host("0.0.0.0", "192.168.1.7")
    assert is_known_host("0.0.0.0", "localhost")
    assert not is_known_host("0.0.0.0", "evil.example")
    assert is_known_host("studio.local", "studio.local")
    assert not is_known_host("studio.local", "localhost")


def test_the_policy_allows_this_server_and_the_import_map_only(client: httpx.Client) -> None:
    page = (STATIC / "index.html").read_text(encoding="utf-8")
    inline = page.split('<script type="importmap">')[1].split("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
    policy = client.get("/").headers["content-security-policy"]
    assert policy == policy_of(page)
    assert policy.startswith(f"default-src 'self'; script-src 'self' 'sha256-{digest}'; ")
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("path", ["", "style.css", "api/page", "api/runs/0000", "nothing"])
def test_every_answer_has_the_headers(client: httpx.Client, path: str) -> None:
    headers = client.get(f"/{path}").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cross-origin-resource-policy"] == "same-origin"
    assert headers["content-security-policy"].startswith("default-src 'self'")
    assert headers["cache-control"] == ("no-store" if path.startswith("api/") else "no-cache")


@pytest.mark.parametrize("header", [{"Host": "evil.example"}, {"Origin": "http://evil.example"}])
def test_the_server_refuses_with_a_sentence(client: httpx.Client, header: dict[str, str]) -> None:
    for path in ("/", "/style.css", "/api/page"):
        answer = client.get(path, headers=header)
        assert answer.status_code == 403
        assert "evil.example" in answer.json()["error"]


def test_a_request_without_a_host_is_refused(address: str) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(address).port or 0)
    connection.putrequest("GET", "/api/page", skip_host=True)
    connection.endheaders()
    assert connection.getresponse().status in (400, 403)
    connection.close()


def test_an_upload_that_is_broken_off_prints_nothing(caplog: pytest.LogCaptureFixture) -> None:
    async def leave(*_: object) -> None:
        raise ClientDisconnect

    async def unused(*_: object) -> None:
        raise AssertionError

    guarded = SecurityMiddleware(leave, host="127.0.0.1", policy="")
    scope = {"type": "http", "headers": [(b"host", b"127.0.0.1")], "path": "/"}
    asyncio.run(guarded(scope, unused, unused))  # type: ignore[arg-type]
    assert not caplog.records
