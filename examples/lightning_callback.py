"""Score your own Lightning module after every epoch with a callback."""

import lightning
import torch

import unweave.interop


class Autoencoder(lightning.LightningModule):
    """Your own module; here a linear autoencoder of images with 768 values."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder, self.decoder = torch.nn.Linear(768, 6), torch.nn.Linear(6, 768)

    def training_step(self, images: torch.Tensor) -> torch.Tensor:
        """Return the squared error of the reconstructions."""
        return torch.nn.functional.mse_loss(self.decoder(self.encoder(images)), images)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        """Return the optimiser."""
        return torch.optim.Adam(self.parameters())


data = unweave.load("xysquares", size=16)
images = data.sample(4_000, torch.Generator().manual_seed(0)).images.flatten(1) / 255
scoring = unweave.interop.ScoreCallback(data, encode=lambda own, x: own.encoder(x.flatten(1)), samples=2_000)
trainer = lightning.Trainer(max_epochs=2, callbacks=[scoring], accelerator="cpu", logger=False)
trainer.fit(Autoencoder(), torch.utils.data.DataLoader(images, batch_size=64, shuffle=True))  # type: ignore[arg-type]
trainer.print(trainer.callback_metrics)
