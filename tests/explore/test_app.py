from __future__ import annotations

import io
import json
import struct
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import numpy as np
import pytest
import torch
from PIL import Image

from unweave import Run
from unweave.explore.app import QUEUE
from unweave.explore.rgba import MOST_BYTES, to_rgba


def framed(answer: httpx.Response) -> tuple[dict[str, Any], bytes]:
    assert answer.status_code == 200, answer.text
    (length,) = struct.unpack("<I", answer.content[:4])
    return json.loads(answer.content[4 : 4 + length]), answer.content[4 + length :]


def test_pictures_are_those_of_the_decoder(client: httpx.Client, smooth: Run, stepped: Run) -> None:
    for run, latents in ((smooth, 4), (stepped, 3)):
        codes = torch.randn(5, latents, generator=torch.Generator().manual_seed(0))
        answer = client.post(f"/api/runs/{run.name}/decode", content=codes.numpy().tobytes())
        assert answer.content == to_rgba(run.decode(codes))
        assert answer.headers["content-type"] == "application/octet-stream"


def test_the_jacobian_is_that_of_the_run(client: httpx.Client, smooth: Run) -> None:
    code = torch.tensor([[0.1, 0.2, 0.3, 0.4]])
    answer = client.post(f"/api/runs/{smooth.name}/jacobian", content=code.numpy().tobytes())
    columns = np.frombuffer(answer.content, "<f4").reshape(4, 16, 16)
    np.testing.assert_allclose(columns, smooth.jacobian(code)[0, :, 0].numpy(), rtol=1e-5, atol=1e-7)
    two = client.post(f"/api/runs/{smooth.name}/jacobian", content=code.repeat(2, 1).numpy().tobytes())
    assert two.status_code == 400


def test_an_example_has_the_code_of_its_image(client: httpx.Client, smooth: Run) -> None:
    image = smooth.data().images([[7, 1, 1]])
    fields, rgba = framed(client.post(f"/api/runs/{smooth.name}/example", json={"factors": [7, 1, 1]}))
    assert fields["factors"] == [7, 1, 1]
    assert rgba == to_rgba(image)
    torch.testing.assert_close(torch.tensor([fields["codes"]]), smooth.encode(image))
    again, same = framed(client.post(f"/api/runs/{smooth.name}/encode?width=16&height=16", content=rgba))
    assert same == rgba
    assert again["codes"] == fields["codes"]


def test_an_uploaded_file_is_encoded(client: httpx.Client, smooth: Run) -> None:
    image = smooth.data().images([[2, 2, 0]])
    out = io.BytesIO()
    Image.fromarray(image[0, 0].numpy()).save(out, "PNG")
    fields, rgba = framed(client.post(f"/api/runs/{smooth.name}/encode", content=out.getvalue()))
    assert rgba == to_rgba(image)
    torch.testing.assert_close(torch.tensor([fields["codes"]]), smooth.encode(image))


def test_samples_strips_and_reconstructions(client: httpx.Client, stepped: Run) -> None:
    base = f"/api/runs/{stepped.name}"
    fields, rgba = framed(client.post(f"{base}/sample", json={"seed": 5}))
    assert rgba == to_rgba(stepped.decode(torch.tensor([fields["codes"]])))
    fields, rgba = framed(client.post(f"{base}/factor", json={"factor": "width", "factors": [4, 0, 1]}))
    assert fields == {"values": [0, 1, 2]}
    assert rgba == to_rgba(stepped.data().images([[4, 0, 1], [4, 1, 1], [4, 2, 1]]))
    fields, rgba = framed(client.get(f"{base}/reconstructions"))
    half = len(rgba) // 2
    images = torch.from_numpy(np.frombuffer(rgba[:half], np.uint8).reshape(-1, 16, 16, 4)[..., :1].copy())
    images = images.permute(0, 3, 1, 2)
    assert len(images) == fields["n"]
    assert rgba[half:] == to_rgba(stepped.reconstruct(images))


def test_the_page_says_what_it_shows(client: httpx.Client, store: Any, smooth: Run) -> None:
    assert client.get("/api/page").json() | {"version": ""} == {
        "kind": "store",
        "title": "store",
        "run": None,
        "version": "",
    }
    assert client.get(f"/api/runs/{smooth.name}").json()["name"] == smooth.name
    assert client.get(f"/api/runs/{smooth.name}/progress").json()["state"] == "finished"


@pytest.mark.parametrize(
    "name", ["0123456789abcdef", "..", "%2e%2e", "%2e%2e%2f%2e%2e%2fetc", "smooth", "%00", "a" * 3000, "..%5c.."]
)
@pytest.mark.parametrize("path", ["", "/progress", "/reconstructions"])
def test_runs_that_are_not_in_the_store_are_not_found(client: httpx.Client, name: str, path: str) -> None:
    answer = client.get(f"/api/runs/{name}{path}")
    assert answer.status_code == 404
    assert answer.json()["error"]


@pytest.mark.parametrize("path", ["../app.py", "..%2fapp.py", "%2e%2e/app.py", "..%5capp.py", "static/../../app.py"])
def test_files_outside_of_the_page_are_not_served(address: str, path: str) -> None:
    import http.client
    from urllib.parse import urlsplit

    connection = http.client.HTTPConnection("127.0.0.1", urlsplit(address).port or 0)
    connection.request("GET", f"/{path}")  # httpx would resolve the dots itself
    answer = connection.getresponse()
    assert answer.status == 404
    assert "error" in json.loads(answer.read())
    connection.close()


@pytest.mark.parametrize(
    ("path", "content", "status"),
    [
        ("decode", b"abc", 400),
        ("decode", b"", 400),
        ("jacobian", b"\xff" * 16, 400),
        ("encode", b"not a picture", 400),
        ("encode?width=4&height=4", b"abc", 400),
        ("encode?width=99999999&height=99999999", b"abc", 400),
        ("encode?width=x&height=4", b"abc", 400),
        ("example", b"{", 400),
        ("example", b"[]", 400),
        ("example", b'{"factors": [99, 0, 0]}', 400),
        ("example", b"{}", 400),
        ("example", b"[" * 100_000, 400),
        ("sample", b'{"seed": -1}', 400),
        ("factor", b'{"factor": "colour", "factors": [0, 0, 0]}', 400),
        ("encode", b"\0" * (MOST_BYTES + 1), 413),
        ("decode", b"\0" * (MOST_BYTES + 1), 413),
        ("nothing", b"", 405),
    ],
)
def test_bad_input_is_answered_with_a_sentence(
    client: httpx.Client, smooth: Run, path: str, content: bytes, status: int
) -> None:
    answer = client.post(f"/api/runs/{smooth.name}/{path}", content=content)
    assert answer.status_code == status
    assert answer.json()["error"]
    assert "Traceback" not in answer.text


def test_many_requests_at_once_are_answered_or_turned_away(client: httpx.Client, smooth: Run) -> None:
    codes = torch.zeros(64, 4).numpy().tobytes()
    with ThreadPoolExecutor(60) as pool:
        answers = list(pool.map(lambda _: client.post(f"/api/runs/{smooth.name}/decode", content=codes), range(240)))
    statuses = [answer.status_code for answer in answers]
    assert set(statuses) <= {200, 503}
    assert statuses.count(200) >= QUEUE
    assert all("try again" in answer.json()["error"] for answer in answers if answer.status_code == 503)
    assert client.get("/api/page").status_code == 200


def test_an_unexpected_failure_is_a_sentence_too(
    client: httpx.Client, smooth: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> object:
        raise ZeroDivisionError

    monkeypatch.setattr("unweave.explore.training_progress.read_record", broken)
    answer = client.get(f"/api/runs/{smooth.name}/progress")
    assert answer.status_code == 500
    assert "ZeroDivisionError" in answer.json()["error"]


def test_there_is_no_other_page(client: httpx.Client) -> None:
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert client.get(path).status_code == 404


def test_the_nearest_images_are_those_of_the_closest_codes(client: httpx.Client, smooth: Run) -> None:
    images = smooth.data().rows(range(72))
    codes = smooth.encode(images)
    away = (codes - codes[5]).norm(dim=1).sort(stable=True)
    fields, rgba = framed(client.post(f"/api/runs/{smooth.name}/nearest", content=codes[5].numpy().tobytes()))
    np.testing.assert_allclose(fields["distances"], away.values[:6], atol=1e-4)
    assert rgba[: len(rgba) // 6] == to_rgba(images[5:6])


def test_a_latent_is_described_for_each_value_of_a_factor(client: httpx.Client, smooth: Run) -> None:
    data = smooth.data()
    codes, place = smooth.encode(data.rows(range(72)))[:, 1].numpy(), data.space.at(torch.arange(72))[:, 0].numpy()
    rows = client.get(f"/api/runs/{smooth.name}/values?latent=1&factor=0").json()["values"]
    wanted = [[v, 6, *np.quantile(codes[place == v], [0.05, 0.25, 0.5, 0.75, 0.95])] for v in range(12)]
    np.testing.assert_allclose(rows, wanted, atol=2e-4)
    assert client.get(f"/api/runs/{smooth.name}/values?latent=9&factor=0").status_code == 400


def test_a_run_is_labelled(client: httpx.Client, smooth: Run) -> None:
    address = f"/api/runs/{smooth.name}/label"
    assert client.post(address, json={"label": "a/b"}).status_code == 400
    assert client.post(address, json={"label": "x"}, headers={"origin": "http://evil.example"}).status_code == 403
    assert client.post(address, json={"label": " other "}).json() == {"label": "other"}
    assert smooth.label == "other"
    assert client.post(address, json={"label": "smooth"}).json() == {"label": "smooth"}
