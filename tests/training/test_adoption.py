"""Models that were trained elsewhere, as runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import unweave
from unweave.data import FactorData
from unweave.errors import InputError
from unweave.nets import Net
from unweave.store.record import read_record

LATENTS = 3


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
