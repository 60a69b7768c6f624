"""Runs on the Hugging Face hub, against a small server that speaks the protocol of its client."""

from __future__ import annotations

import base64
import hashlib
import json
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import torch

import unweave
from tests.cli.running import run as typed
from tests.training.small import SMALL, bars
from unweave.errors import InputError, MissingExtra, Unavailable
from unweave.store.folder import CONFIGURATION, SCORES, SUMMARY, WEIGHTS
from unweave.store.remote.hub import LIST

ADDRESS = "hf://somebody/bars"
FIRST = "0" * 40
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")  # of the client about itself


class Hub(ThreadingHTTPServer):
    """Repositories in memory: for each, the files of every commit."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.repositories: dict[str, dict[str, dict[str, bytes]]] = {}
        self.large: dict[str, bytes] = {}  # uploaded by the protocol for large files, by checksum
        self.status = 200  # of every answer, if it is an error
        self.requests: list[str] = []
        self.headers: list[Any] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def files(self, repository: str) -> dict[str, bytes]:
        """The files of the last commit."""
        return list(self.repositories[repository].values())[-1]

    def change(self, repository: str, **files: bytes | None) -> None:
        """Make a commit, as somebody would on the page of the hub; "_" stands for the dot of a name."""
        new = dict(self.files(repository))
        for name, content in files.items():
            new.pop(name.replace("_", "."), None)
            if content is not None:
                new[name.replace("_", ".")] = content
        commits = self.repositories[repository]
        commits[f"{len(commits):040}"] = new


class Handler(BaseHTTPRequestHandler):
    server: Hub

    def log_message(self, *_: Any) -> None:
        """Print nothing."""

    def do_GET(self) -> None:
        self.answer("GET")

    def do_HEAD(self) -> None:
        self.answer("HEAD")

    def do_POST(self) -> None:
        self.answer("POST")

    def do_PUT(self) -> None:
        self.answer("PUT")

    def answer(self, method: str) -> None:
        hub, path = self.server, self.path.partition("?")[0]
        body = self.chunks() if self.headers.get("Transfer-Encoding") == "chunked" else self.sized()
        hub.requests.append(f"{method} {path}")
        hub.headers.append(self.headers)
        if hub.status != 200:
            self.send(b"{}", hub.status)
            return
        parts = path.strip("/").split("/")
        if path == "/api/repos/create":
            made = json.loads(body)
            name = f"{made['organization']}/{made['name']}"
            known = name in hub.repositories
            hub.repositories.setdefault(name, {FIRST: {".gitattributes": b""}})
            self.send_json({"url": f"{hub.url}/{name}", "id": name, "name": name}, 409 if known else 200)
        elif path == "/api/validate-yaml":
            self.send_json({"errors": [], "warnings": []})
        elif path.startswith("/api/models/"):
            self.model("/".join(parts[2:4]), parts[4:], body)
        elif path.endswith(".git/info/lfs/objects/batch"):
            objects = [
                {**each, "actions": {"upload": {"href": f"{hub.url}/large/{each['oid']}"}}}
                for each in json.loads(body)["objects"]
            ]
            self.send_json({"transfer": "basic", "objects": objects})
        elif parts[0] == "large":
            hub.large[parts[1]] = body
            self.send(b"")
        elif "resolve" in parts:
            self.resolve("/".join(parts[:2]), parts[3], "/".join(parts[4:]))
        else:
            self.send(b"{}", 404)

    def sized(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def chunks(self) -> bytes:
        content = b""
        while size := int(self.rfile.readline(), 16):
            content += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return content

    def model(self, name: str, rest: list[str], body: bytes) -> None:
        hub = self.server
        if name not in hub.repositories:
            self.send(b"{}", 404, {"X-Error-Code": "RepoNotFound"})
            return
        commits = hub.repositories[name]
        if rest[:1] == ["preupload"]:
            modes = [
                {"path": each["path"], "uploadMode": "lfs" if each["path"].endswith(".safetensors") else "regular"}
                for each in json.loads(body)["files"]
            ]
            self.send_json({"files": [{**each, "shouldIgnore": False} for each in modes]})
        elif rest[:1] == ["commit"]:
            new = dict(hub.files(name))
            for line in map(json.loads, body.splitlines()):
                value = line["value"]
                if line["key"] == "file":
                    new[value["path"]] = base64.b64decode(value["content"])
                elif line["key"] == "lfsFile":
                    new[value["path"]] = hub.large[value["oid"]]
                elif line["key"] == "deletedFile":
                    del new[value["path"]]
            commit = f"{len(commits):040}"
            commits[commit] = new
            self.send_json({"success": True, "commitOid": commit, "commitUrl": f"{hub.url}/{name}/commit/{commit}"})
        elif rest[:1] == ["tree"]:
            files = hub.files(name)
            self.send_json([{"type": "file", "path": p, "size": len(c), "oid": "1"} for p, c in files.items()])
        else:
            commit = rest[1] if rest[:1] == ["revision"] and rest[1] in commits else list(commits)[-1]
            siblings = [{"rfilename": each} for each in commits[commit]]
            self.send_json({"id": name, "modelId": name, "sha": commit, "siblings": siblings, "private": False})

    def resolve(self, name: str, revision: str, file: str) -> None:
        commits = self.server.repositories.get(name, {})
        content = commits.get(revision, {}).get(file)
        if content is None:
            self.send(b"", 404, {"X-Error-Code": "EntryNotFound"})
            return
        self.send(content, 200, {"ETag": f'"{hashlib.sha1(content).hexdigest()}"', "X-Repo-Commit": revision})

    def send_json(self, value: Any, status: int = 200) -> None:
        self.send(json.dumps(value).encode(), status, {"Content-Type": "application/json"})

    def send(self, content: bytes, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {**(headers or {}), "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, empty_data_root: Path, tmp_path: Path) -> Iterator[Hub]:
    constants = pytest.importorskip("huggingface_hub.constants")
    server = Hub()
    Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("HF_ENDPOINT", server.url)
    monkeypatch.setenv("HF_TOKEN", "secret")
    for name, value in {
        "HF_HUB_DISABLE_XET": True,
        "HF_TOKEN_PATH": str(tmp_path / "t"),
    }.items():
        monkeypatch.setattr(constants, name, value)
    yield server
    server.shutdown()
    server.server_close()


@pytest.fixture
def mine(tmp_path: Path) -> unweave.Run:
    """A run with a score and a label."""
    run = unweave.train("beta_vae", bars(), store=tmp_path / "runs", **{**SMALL, "steps": 2})
    unweave.score(run, bars(), metrics=["mig"], samples=60, test_samples=20, null=9)
    run.label = "bars one"
    return run


def test_a_run_comes_back_as_it_was_with_a_card(hub: Hub, mine: unweave.Run) -> None:
    assert unweave.push(mine, ADDRESS, data=bars()) == f"{hub.url}/somebody/bars"
    files = hub.files("somebody/bars")
    assert files[WEIGHTS] == (mine.folder / WEIGHTS).read_bytes()
    assert hub.large  # weights took the way of large files
    assert all(headers["Authorization"] == "Bearer secret" for headers in hub.headers if headers["Authorization"])
    opened = unweave.open(ADDRESS)
    assert opened.name == mine.name
    assert opened.label == "bars one"
    assert opened.scores.table == mine.scores.table
    images = bars().sample(5, torch.Generator().manual_seed(0)).images
    torch.testing.assert_close(opened.encode(images), mine.encode(images), atol=0, rtol=0)
    card = files["README.md"].decode()
    head = card.split("---")[1]
    assert "library_name: unweave" in head
    index = json.loads(next(line for line in head.splitlines() if line.startswith("model-index: "))[13:])
    assert index[0]["results"][0]["metrics"] == [{"type": "mig", "name": "MIG", "value": mine.scores.table["mig"]}]
    assert f"| MIG | {mine.scores.table['mig']:.3f} | " in card
    assert "| score | value | chance | better |\n| --- | --- | --- | --- |\n" in card
    assert 'unweave.open("hf://somebody/bars")' in card
    assert "![What each latent does](traversals.png)" in card
    assert files["traversals.png"].startswith(b"\x89PNG")
    assert "@inproceedings{higgins2017" in card
    assert "@inproceedings{kingma2014" in card  # of its latent


def test_a_card_without_chance_levels_has_no_column_of_them(hub: Hub, mine: unweave.Run) -> None:
    (mine.folder / SCORES).unlink()
    unweave.score(mine, bars(), metrics=["sap"], samples=60, test_samples=20)
    unweave.push(mine, ADDRESS, data=bars())
    card = hub.files("somebody/bars")["README.md"].decode()
    assert f"| score | value | better |\n| --- | --- | --- |\n| SAP | {mine.scores.table['sap']:.3f} | higher |" in card


def test_a_run_of_the_hub_is_downloaded_once_for_each_commit(hub: Hub, mine: unweave.Run) -> None:
    unweave.push(mine, ADDRESS)
    folder = unweave.open(ADDRESS).folder
    hub.requests.clear()
    assert unweave.open(ADDRESS).folder == folder
    assert hub.requests == ["GET /api/models/somebody/bars"]
    first = list(hub.repositories["somebody/bars"])[-1]
    mine.label = "renamed"
    unweave.push(mine, ADDRESS)
    assert unweave.open(ADDRESS).label == "renamed"
    assert unweave.open(f"{ADDRESS}@{first}").label == "bars one"
    mine.label = ""  # a file that is gone is removed on the hub as well
    unweave.push(mine, ADDRESS)
    assert "label" not in hub.files("somebody/bars")
    hub.status = 503
    assert unweave.open(ADDRESS).name == mine.name  # the copy that is here
    with pytest.raises(Unavailable, match="the hub answered 503 for hf://somebody/other"):
        unweave.open("hf://somebody/other")


@pytest.mark.parametrize("name", [WEIGHTS, CONFIGURATION, SUMMARY, SCORES])
def test_a_file_that_was_changed_is_refused(hub: Hub, mine: unweave.Run, name: str) -> None:
    unweave.push(mine, ADDRESS)
    content = hub.files("somebody/bars")[name]
    hub.change("somebody/bars", **{name: content[:-9] + b"8" + content[-8:]})
    with pytest.raises(Unavailable, match=rf"hf://somebody/bars: {name} was changed after the run was pushed"):
        unweave.open(ADDRESS)


def test_weights_of_another_run_are_refused(hub: Hub, mine: unweave.Run, tmp_path: Path) -> None:
    """The list of checksums can be forged, but weights name their run and the state has their checksum."""
    other = unweave.train("beta_vae", bars(), store=tmp_path / "runs", **{**SMALL, "steps": 2, "seed": 1})
    unweave.push(mine, ADDRESS)
    content = (other.folder / WEIGHTS).read_bytes()
    told = json.loads(hub.files("somebody/bars")[LIST])
    told["files"][WEIGHTS] = hashlib.sha256(content).hexdigest()
    hub.change("somebody/bars", **{WEIGHTS: content, LIST: json.dumps(told).encode()})
    with pytest.raises(InputError, match=f"belongs to another configuration .{other.name}., not to {mine.name}"):
        unweave.open(ADDRESS)


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"config_json": b"{}", "pytorch_model_bin": b"\x80\x02pickle"}, f"it has no {LIST}"),
        ({"unweave_json": b"[]", CONFIGURATION: b"{}"}, "it has no state.json"),
    ],
)
def test_an_unrelated_repository_is_refused(hub: Hub, mine: unweave.Run, files: dict[str, bytes], reason: str) -> None:
    hub.repositories["somebody/bars"] = {FIRST: {}}
    hub.change("somebody/bars", **files)
    with pytest.raises(Unavailable, match=f"hf://somebody/bars is not a run of Unweave: {reason}"):
        unweave.open(ADDRESS)
    if LIST not in hub.files("somebody/bars"):
        with pytest.raises(InputError, match="has files and is not a run of Unweave: choose another name"):
            unweave.push(mine, ADDRESS)
        assert len(hub.repositories["somebody/bars"]) == 2  # nothing was changed


def test_a_list_that_is_none_is_refused(hub: Hub, mine: unweave.Run) -> None:
    unweave.push(mine, ADDRESS)
    hub.change("somebody/bars", unweave_json=json.dumps({"run": "../../etc", "files": {}}).encode())
    with pytest.raises(Unavailable, match=r"its unweave.json is not a list of files \(the name of the run"):
        unweave.open(ADDRESS)


def test_answers_of_the_hub_are_sentences(hub: Hub, mine: unweave.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Unavailable, match="there is no public model hf://somebody/none on the hub"):
        unweave.open("hf://somebody/none")
    for status, sentence in ((401, "log in with hf auth login"), (403, "has no permission for hf://somebody/bars")):
        hub.status = status
        with pytest.raises(Unavailable, match=sentence):
            unweave.push(mine, ADDRESS)
    for wrong in ("hf://bars", "hf://a/b/c", "hf://", "s3://a/b"):
        with pytest.raises(InputError, match="expected hf://OWNER/NAME"):
            unweave.push(mine, wrong)
    with pytest.raises(InputError, match="pushed to the main branch"):
        unweave.push(mine, f"{ADDRESS}@main")
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # nobody listens there
    with pytest.raises(Unavailable, match="the hub cannot be reached for hf://somebody/bars"):
        unweave.open(ADDRESS)


def test_own_images_keep_their_place_to_themselves(hub: Hub, tmp_path: Path) -> None:
    import numpy as np

    np.save(tmp_path / "secret.npy", np.random.default_rng(0).integers(0, 256, (30, 8, 8), dtype=np.uint8))
    run = unweave.train("pca", unweave.load(tmp_path / "secret.npy"), latents=2, store=tmp_path / "runs")
    unweave.push(run, ADDRESS)
    for content in hub.files("somebody/bars").values():
        assert str(tmp_path).encode() not in content
    assert unweave.open(ADDRESS).name == run.name


def test_a_run_of_the_hub_imports_no_code(hub: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pushed_net.py").write_text(
        "from unweave.nets import NETS\n\n\ndef mine(shape, outputs, latents):\n"
        "    return NETS['mlp'](shape, outputs, latents, width=0.125)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    run = unweave.train("ae", bars(), store=tmp_path / "runs", **{**SMALL, "steps": 2, "net": "pushed_net:mine"})
    unweave.push(run, ADDRESS)
    with pytest.raises(InputError, match="pushed_net:mine"):
        unweave.open(ADDRESS)
    assert unweave.open(ADDRESS, trust=True).name == run.name


def test_only_finished_runs_are_pushed(hub: Hub, mine: unweave.Run) -> None:
    state = json.loads((mine.folder / "state.json").read_text())
    (mine.folder / "state.json").write_text(json.dumps({**state, "status": "interrupted"}))
    with pytest.raises(InputError, match="is interrupted; only a finished run can be pushed"):
        unweave.push(unweave.open(mine.folder), ADDRESS)


def test_the_command_line(
    hub: Hub, mine: unweave.Run, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert typed(monkeypatch, "push", mine.name, ADDRESS) == 0
    assert capsys.readouterr().out == f"pushed to {hub.url}/somebody/bars\n"
    assert typed(monkeypatch, "runs", "show", ADDRESS) == 0
    assert mine.name in capsys.readouterr().out
    assert typed(monkeypatch, "push", mine.name, "somewhere") == 2
    assert "expected hf://OWNER/NAME" in capsys.readouterr().err


def test_without_the_extra_there_is_a_sentence(mine: unweave.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    for call in (lambda: unweave.push(mine, ADDRESS), lambda: unweave.open(ADDRESS)):
        with pytest.raises(
            MissingExtra, match=r"needs huggingface_hub, which is not installed; .*pip install -e '.\[hub\]'"
        ):
            call()
