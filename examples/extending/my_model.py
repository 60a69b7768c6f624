"""A model of your own that was trained elsewhere, wrapped by the two functions at the end."""

import torch
from torch import Tensor, nn

from unweave.nets import Net


class Trained(nn.Module):
    """Your model as it is; here the encoder returns two tensors and the decoder pixels in [0, 1]."""

    def __init__(self) -> None:
        super().__init__()
        self.encode = nn.ModuleDict({"mean": nn.Linear(256, 4), "logvar": nn.Linear(256, 4)})
        self.decode = nn.Sequential(nn.Linear(4, 256), nn.Sigmoid(), nn.Unflatten(1, (1, 16, 16)))


class Encoder(nn.Module):
    """Your encoder as Unweave calls it: images (B, 1, 16, 16) to means and then log-variances, (B, 8)."""

    def __init__(self, trained: Trained) -> None:
        super().__init__()
        self.parts = trained.encode

    def forward(self, images: Tensor) -> Tensor:
        """Return both in one tensor."""
        return torch.cat([part(images.flatten(1)) for part in self.parts.values()], dim=1)


def wrap(trained: Trained) -> Net:
    """Return your model as an encoder and a decoder."""
    return Net(Encoder(trained), trained.decode)


def net(shape: tuple[int, int, int], outputs: int, latents: int) -> Net:
    """Build the same layers without weights, so that the run can be opened again."""
    return wrap(Trained())
