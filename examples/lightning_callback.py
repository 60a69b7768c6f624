"""Score your own Lightning module after every epoch with a callback."""

import lightning
import torch
from rich import print as show
from torch import Tensor, nn
from torch.utils.data import DataLoader

import unweave
from unweave.integrations import ScoreCallback


class Autoencoder(lightning.LightningModule):
    """Your own module; here a linear autoencoder of images with 16 × 16 pixels."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Linear(3 * 16 * 16, 6))
        self.decoder = nn.Sequential(nn.Linear(6, 3 * 16 * 16), nn.Unflatten(1, (3, 16, 16)))

    def training_step(self, images: Tensor) -> Tensor:
        """Return the squared error of the reconstructions."""
        error: Tensor = self.decoder(self.encoder(images)) - images
        return error.square().mean()

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimiser."""
        return torch.optim.Adam(self.parameters(), 1e-3)


data = unweave.load("xysquares", size=16)
images = data.sample(4_000, torch.Generator().manual_seed(0)).images / 255
scoring = ScoreCallback(
    data, encode=lambda module, images: module.encoder(images), metrics=["mig", "dci"], samples=2_000
)
trainer = lightning.Trainer(max_epochs=2, callbacks=[scoring], accelerator="cpu", logger=False)
trainer.fit(Autoencoder(), DataLoader(images, batch_size=64, shuffle=True))  # type: ignore[arg-type]
show({name: round(float(value), 3) for name, value in trainer.callback_metrics.items()})
