"""Public models: trained by others, published with checksums, and opened as runs. ``public:NAME`` names one of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from unweave.data.files import data_folder
from unweave.data.files.downloads import RemoteFile
from unweave.errors import unknown

PREFIX = "public:"
COLLECTION = "disentangling-vae"
REPOSITORY = "YannDubs/disentangling-vae"  # on GitHub
COMMIT = "f0452191bab6d94eba0b4e6a065f74dcfd54ac52"


@dataclass(frozen=True)
class PublicModel:
    """A model that somebody published, and how it was trained, in the terms of our recipes."""

    name: str  # as after ``public:``
    file: RemoteFile
    data: str
    recipe: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    note: str = ""  # what the recipe does not say of their training

    @property
    def label(self) -> str:
        """The last part of the name, which is the label of its run."""
        return self.name.rpartition("/")[2]

    @property
    def folder(self) -> Path:
        """The store of its collection, in the data folder."""
        return data_folder() / "public" / self.name.rpartition("/")[0]


def find_public(name: str) -> PublicModel:
    """Return the public model of a name, with or without ``public:`` in front."""
    plain = name.removeprefix(PREFIX).replace("-", "_")
    found = next((model for key, model in PUBLIC.items() if key.replace("-", "_") == plain), None)
    if found is None:
        raise unknown("public model", name.removeprefix(PREFIX), PUBLIC)
    return found


def _model(label: str, sha256: str, *, recipe: str, note: str = "", **settings: Any) -> PublicModel:
    """Return a dSprites model of disentangling-vae, with the settings of its ``specs.json``."""
    file = RemoteFile(
        f"{label}.pt",
        f"https://github.com/{REPOSITORY}/raw/{COMMIT}/results/{label}/model.pt",
        checksum=f"sha256:{sha256}",
        about="about 2 MB",
    )
    common = {"net": "burgess", "latents": 10, "batch": 64, "steps": 345_600, "lr": 5e-4, "seed": 1234}
    return PublicModel(f"{COLLECTION}/{label}", file, "dsprites", recipe, {**common, **settings}, note)


def _beta_tcvae(alpha: int) -> dict[str, Any]:
    """Return how the four β-TCVAEs were trained, which differ in the weight of the mutual information."""
    mutual = f", and the mutual information weighed {alpha}, which the recipe does not have" if alpha != 1 else ""
    note = (
        f"Log-weights were added to each latent before they were summed, so the total correlation was not one{mutual}."
    )
    ramp = {"total_correlation.schedule": "linear", "total_correlation.over": 10_000}
    return {"recipe": "beta_tcvae", "note": note, "beta": 6.4, "estimator": "stratified", **RAMP, **ramp}


RAMP: dict[str, Any] = {"kl.schedule": "linear", "kl.over": 10_000}  # their weights rise over the first 10,000 steps
PUBLIC = {
    model.name: model
    for model in (
        _model(
            "VAE_dsprites", "d59cf8691ecf38e99784beabfd664c92543bec2232135da8dda07b7d8fb69154", recipe="vae", **RAMP
        ),
        _model(
            "betaH_dsprites",
            "44ba28f86d772e428b592c3131fc690d8ea28f415a842673dfd9b7637bef5203",
            recipe="beta_vae",
            beta=4.0,
            **RAMP,
        ),
        _model(
            "betaB_dsprites",
            "3e00b3aa10c2a8d3e2011a8d454b6447e95a97770f5c70949384b1018813b0ff",
            recipe="annealed_vae",
            gamma=100.0,
            capacity=25.0,
            lr=1e-3,
            **{"capacity.over": 100_000},  # type: ignore[arg-type]
        ),
        _model(
            "factor_dsprites",
            "363af41ccc1ea4000b40659cc325db26c0839b789a9461977403298646cc9e5f",
            recipe="factor_vae",
            note="A batch of 128 was divided: one half trained the model, both the discriminator.",
            gamma=6.4,
            lr=1e-4,
            **RAMP,
            **{
                "total_correlation_discriminator.lr": 1e-4,
                "total_correlation_discriminator.layers": 5,
                "total_correlation_discriminator.permuted": "second",
                "total_correlation_discriminator.schedule": "linear",
                "total_correlation_discriminator.over": 10_000,
            },
        ),
        _model(
            "btcvae_dsprites",
            "ea86d65dbbcfe0534d92a7b152187c8056f1841b0e5e57512937b53b5bb3ed72",
            **_beta_tcvae(1),
        ),
        _model(
            "btcvae_dsprites_a-5",
            "f5f21d802abb7531c7660c29ff02ff0e6c750c9270ebb7039a58bea11b8266ca",
            **_beta_tcvae(-5),
        ),
        _model(
            "btcvae_dsprites_a0",
            "ab605a296b9d681330d235f67663ed69cecb1cdc78161f991bfd836f3f5011cc",
            **_beta_tcvae(0),
        ),
        _model(
            "btcvae_dsprites_a5",
            "091df99bb2b95072a91c0ddf846838d717adbb4dedf06cf74f1be69479f20161",
            **_beta_tcvae(5),
        ),
    )
}
