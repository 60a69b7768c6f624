"""Models that were trained elsewhere, as runs."""

from __future__ import annotations

import hashlib
import json
import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

import unweave
from tests.cli.running import run as typed
from unweave.data import FactorData
from unweave.data.files.downloads import RemoteFile
from unweave.errors import InputError, Unavailable
from unweave.nets import Net
from unweave.store.record import read_record
from unweave.training.adoption import find_weights, public_run, read_weights, renamed
from unweave.zoo import public
from unweave.zoo.public import PUBLIC, PublicModel, find_public

LATENTS = 3
SHAPES = {
    "encoder.conv1": (32, 1, 4, 4),
    "encoder.conv2": (32, 32, 4, 4),
    "encoder.conv3": (32, 32, 4, 4),
    "encoder.conv_64": (32, 32, 4, 4),
    "encoder.lin1": (256, 512),
    "encoder.lin2": (256, 256),
    "encoder.mu_logvar_gen": (20, 256),
    "decoder.lin1": (256, 10),
    "decoder.lin2": (256, 256),
    "decoder.lin3": (512, 256),
    "decoder.convT_64": (32, 32, 4, 4),
    "decoder.convT1": (32, 32, 4, 4),
    "decoder.convT2": (32, 32, 4, 4),
    "decoder.convT3": (32, 1, 4, 4),
}


class Own(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 2 * LATENTS))
        self.decoder = nn.Sequential(nn.Linear(LATENTS, 3 * 16 * 16), nn.Unflatten(1, (3, 16, 16)))


def net(shape: tuple[int, int, int], outputs: int, latents: int) -> Net:
    own = Own()
    return Net(own.encoder, own.decoder)


@pytest.fixture
def data() -> FactorData:
    return unweave.load("xysquares", size=16)


@pytest.fixture
def own() -> Own:
    torch.manual_seed(0)
    return Own()


def adopted(own: Any, data: FactorData, store: Path, **settings: Any) -> unweave.Run:
    return unweave.adopt(own, data, net=f"{__name__}:net", latents=LATENTS, store=store, **settings)


def test_a_model_of_your_own_is_a_run(own: Own, data: FactorData, tmp_path: Path) -> None:
    run = unweave.open("mine", store=adopted(own, data, tmp_path, label="mine").folder.parent)
    images = data.sample(5, torch.Generator().manual_seed(0)).images
    with torch.no_grad():
        mean, logvar = own.encoder(images.float() / 255).chunk(2, dim=1)
        again = own.decoder(mean).sigmoid()
    torch.testing.assert_close(run.posterior(images), (mean, logvar))
    torch.testing.assert_close(run.reconstruct(images), again)
    assert len(run.summary.mean) == LATENTS
    assert unweave.score(run, metrics=["mig"], samples=200).table["mig"] >= 0
    assert read_record(run.folder).state == "finished"


def test_a_decoder_of_images_has_a_gaussian_likelihood(own: Own, data: FactorData, tmp_path: Path) -> None:
    run = adopted(own.state_dict(), data, tmp_path, likelihood="gaussian")
    codes = torch.randn(4, LATENTS, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(run.decode(codes), own.decoder(codes).clamp(0, 1))


def test_its_name_depends_on_its_weights(own: Own, data: FactorData, tmp_path: Path) -> None:
    first = adopted(own, data, tmp_path)
    assert adopted(Net(own.encoder, own.decoder), data, tmp_path).name == first.name
    with torch.no_grad():
        own.encoder[1].bias[0] += 1  # type: ignore[index, operator]
    second = adopted(own, data, tmp_path)
    assert second.name != first.name
    trained = unweave.train(
        "vae", data, net=f"{__name__}:net", latents=LATENTS, steps=1, start="pytorch", store=tmp_path
    )
    assert trained.name not in (first.name, second.name)


def test_wrong_weights_are_refused(own: Own, data: FactorData, tmp_path: Path) -> None:
    state = own.state_dict()
    with pytest.raises(InputError, match=r"must begin with 'encoder.' or 'decoder.', got 'head.weight'"):
        adopted({"head.weight": torch.zeros(1)}, data, tmp_path)
    with pytest.raises(InputError, match="do not fit the net"):
        adopted({**state, "encoder.1.bias": torch.zeros(5)}, data, tmp_path)
    with pytest.raises(InputError, match=r"'encoder.1.bias' have NaN"):
        adopted({**state, "encoder.1.bias": torch.full((6,), torch.nan)}, data, tmp_path)
    with pytest.raises(InputError, match="a Net, a module or its state_dict, got list"):
        adopted([1], data, tmp_path)
    assert not list(tmp_path.glob("*/configuration.json"))


@pytest.fixture(scope="module")
def theirs() -> dict[str, Tensor]:
    """Random weights under the names that disentangling-vae's ``model.pt`` has."""
    generator = torch.Generator().manual_seed(0)
    weights: dict[str, Tensor] = {}
    for name, shape in SHAPES.items():
        weights[f"{name}.weight"] = torch.randn(shape, generator=generator) / 16
        outputs = shape[1] if "convT" in name else shape[0]
        weights[f"{name}.bias"] = torch.randn(outputs, generator=generator) / 16
    return weights


def plain(weights: dict[str, Tensor], images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, log-variance and logits by the layers that their README and ours describe, one after another."""
    hidden = images
    for layer in ("conv1", "conv2", "conv3", "conv_64"):
        kernel, bias = weights[f"encoder.{layer}.weight"], weights[f"encoder.{layer}.bias"]
        hidden = F.relu(F.conv2d(hidden, kernel, bias, stride=2, padding=1))
    hidden = hidden.flatten(1)
    for layer in ("lin1", "lin2"):
        hidden = F.relu(F.linear(hidden, weights[f"encoder.{layer}.weight"], weights[f"encoder.{layer}.bias"]))
    both = F.linear(hidden, weights["encoder.mu_logvar_gen.weight"], weights["encoder.mu_logvar_gen.bias"])
    mean, logvar = both.view(-1, 10, 2).unbind(-1)
    hidden = mean
    for layer in ("lin1", "lin2", "lin3"):
        hidden = F.relu(F.linear(hidden, weights[f"decoder.{layer}.weight"], weights[f"decoder.{layer}.bias"]))
    hidden = hidden.view(-1, 32, 4, 4)
    for layer in ("convT_64", "convT1", "convT2", "convT3"):
        kernel, bias = weights[f"decoder.{layer}.weight"], weights[f"decoder.{layer}.bias"]
        hidden = F.conv_transpose2d(hidden, kernel, bias, stride=2, padding=1)
        hidden = hidden if layer == "convT3" else F.relu(hidden)
    return mean, logvar, hidden


def pinned(path: Path) -> PublicModel:
    """A public model whose published checksum is that of a file; its data are quickly drawn."""
    checksum = f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"
    model = PUBLIC["disentangling-vae/VAE_dsprites"]
    return replace(model, file=RemoteFile("VAE_dsprites.pt", path.as_uri(), checksum=checksum), data="three_dots")


@pytest.mark.parametrize("zipped", [True, False], ids=["zip", "of 2019"])
def test_a_public_model_is_a_run(
    tmp_path: Path, theirs: dict[str, Tensor], zipped: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "VAE_dsprites" / "model.pt"
    path.parent.mkdir()
    torch.save(theirs, path, _use_new_zipfile_serialization=zipped)
    model = pinned(path)
    monkeypatch.setitem(PUBLIC, model.name, model)
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path / "data"))
    folder = public_run(model, source=tmp_path)
    run = unweave.open(f"public:{model.name}")
    assert run.folder == folder
    assert run.label == "VAE_dsprites"
    assert run.step == 345_600
    images = run.data().sample(3, torch.Generator().manual_seed(0)).images
    mean, logvar, logits = plain(theirs, images.float() / 255)
    torch.testing.assert_close(run.posterior(images), (mean, logvar))
    torch.testing.assert_close(run.reconstruct(images), logits.sigmoid())
    assert unweave.score(run, metrics=["mig"], samples=200).table.keys() == {"mig"}
    assert public_run(model) == folder  # neither downloaded nor read again


def test_a_download_is_pinned_by_its_checksum(
    tmp_path: Path, theirs: dict[str, Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path / "data"))
    path = tmp_path / "model.pt"
    torch.save(theirs, path)
    model = pinned(path)
    assert public_run(model).parent == tmp_path / "data/public/disentangling-vae"
    other = replace(model, name="disentangling-vae/other", file=replace(model.file, name="other.pt"))
    torch.save({**theirs, "encoder.conv1.bias": torch.zeros(32)}, path)
    with pytest.raises(Unavailable, match="is not the published file: its sha256 should be"):
        public_run(other)


class Malicious:
    def __reduce__(self) -> tuple[Callable[..., Any], tuple[str, ...]]:
        return Path.touch, (Path("hacked"),)  # type: ignore[return-value]


@pytest.mark.parametrize("zipped", [True, False])
def test_code_in_a_file_of_weights_is_not_run(tmp_path: Path, zipped: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "VAE_dsprites.pt"
    torch.save({"encoder.conv1.weight": Malicious()}, path, _use_new_zipfile_serialization=zipped)
    with pytest.raises(Unavailable, match="more than weights"):
        read_weights(path, pinned(path))
    array = tmp_path / "VAE_dsprites.npz"
    np.savez(array, weights=np.array([Malicious()], dtype=object))
    with pytest.raises(Unavailable, match="cannot read the weights"):
        read_weights(array, pinned(path))
    path.write_bytes(pickle.dumps({"a": 1}))
    with pytest.raises(Unavailable):
        read_weights(path, pinned(path))
    assert not (tmp_path / "hacked").exists()


def test_weights_of_another_net_are_refused(theirs: dict[str, Tensor]) -> None:
    with pytest.raises(Unavailable, match=r"has no 'decoder.lin3.bias'"):
        renamed({name: value for name, value in theirs.items() if name != "decoder.lin3.bias"})
    with pytest.raises(Unavailable, match=r"has an unknown 'encoder.more.bias'"):
        renamed({**theirs, "encoder.more.bias": torch.zeros(1)})
    with pytest.raises(Unavailable, match=r"'encoder.lin1.weight' has the shape \(256, 5\)"):
        renamed({**theirs, "encoder.lin1.weight": torch.zeros(256, 5)})


def test_files_are_found_in_a_folder_or_in_a_clone(tmp_path: Path) -> None:
    model = PUBLIC["disentangling-vae/btcvae_dsprites_a-5"]
    with pytest.raises(Unavailable, match=r"expected disentangling-vae/btcvae_dsprites_a-5.npz.* https://"):
        find_weights(model, tmp_path)
    for name in ("results/btcvae_dsprites_a-5/model.pt", "disentangling-vae/btcvae_dsprites_a-5.npz"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
        assert find_weights(model, tmp_path) == tmp_path / name


def test_names_and_addresses() -> None:
    assert len(PUBLIC) == 8
    assert len({model.file.checksum for model in PUBLIC.values()}) == 8
    assert all(public.COMMIT in model.file.url for model in PUBLIC.values())
    assert find_public("public:disentangling_vae/btcvae-dsprites").label == "btcvae_dsprites"
    with pytest.raises(InputError, match="did you mean 'disentangling-vae/btcvae_dsprites'"):
        find_public("public:disentangling-vae/btcvae_dsprite")


def test_a_public_model_is_shown_before_it_is_fetched(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, "zoo", "show", "public:disentangling-vae/btcvae_dsprites_a0") == 0
    shown = capsys.readouterr().out
    assert "results/btcvae_dsprites_a0/model.pt" in shown
    assert "the mutual information weighed 0" in shown
    assert typed(monkeypatch, "zoo", "show", "disentangling-vae/betaH_dsprites", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["recipe"], facts["beta"], facts["latents"]) == ("beta_vae", 4.0, 10)
    assert typed(monkeypatch, "zoo", "show", "disentangling-vae/betaG_dsprites") == 2
    assert "did you mean 'disentangling-vae/betaH_dsprites'" in capsys.readouterr().err


def test_a_public_model_is_fetched_by_the_command_line(
    tmp_path: Path, theirs: dict[str, Tensor], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path / "data"))
    np.savez(tmp_path / "VAE_dsprites.npz", **{name: value.numpy() for name, value in theirs.items()})  # type: ignore[arg-type]
    model = replace(PUBLIC["disentangling-vae/VAE_dsprites"], data="three_dots")
    monkeypatch.setitem(PUBLIC, model.name, model)
    assert typed(monkeypatch, "zoo", "fetch", model.name, "--from", str(tmp_path)) == 0
    assert f"unweave explore public:{model.name}" in capsys.readouterr().out
    assert typed(monkeypatch, "runs", "show", f"public:{model.name}") == 0
    assert "VAE_dsprites" in capsys.readouterr().out
    assert typed(monkeypatch, "figure", "traversals", f"public:{model.name}", "--out", str(tmp_path / "a.png")) == 0
    assert (tmp_path / "a.png").stat().st_size > 10_000
    pytest.importorskip("onnx")
    assert typed(monkeypatch, "export", f"public:{model.name}", "--out", str(tmp_path / "onnx")) == 0
    assert {path.name for path in (tmp_path / "onnx").iterdir()} == {"encoder.onnx", "decoder.onnx"}
    capsys.readouterr()
    assert typed(monkeypatch, "zoo", "list") == 0
    assert f"public:{model.name}" in capsys.readouterr().out
