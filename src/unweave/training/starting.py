"""Where a decoder starts: at the mean image, so that the first steps teach it what differs between images.

From a grey start on mostly black images, the first thing that all gradients say is "darker"; they say it to the codes
too, all in one direction, and latents that saturate there never come back.
"""

from __future__ import annotations

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.model import Model
from unweave.training.configuration import Configuration
from unweave.training.streams import stream

SEEN = 512  # images that the mean is taken of
DARKEST = 1e-3  # a mean nearer to 0 or 1 than this is taken for this


@torch.no_grad()
def start_at_the_mean(model: Model, configuration: Configuration, data: FactorData) -> None:
    """Set the bias of the decoder's output layer to the mean of each channel; a net without one is left as it is."""
    bias = getattr(getattr(model.decoder, "output", None), "bias", None)
    channels = configuration.data.shape[0]
    if not isinstance(bias, Tensor) or bias.shape != (channels,):
        return
    images = data.sample(SEEN, stream(configuration.seed, "start")).images
    mean = images.float().mean((0, 2, 3)) / 255  # (C,)
    bias.copy_(mean.clamp(DARKEST, 1 - DARKEST).logit() if configuration.likelihood == "bernoulli" else mean)
