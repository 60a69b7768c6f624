"""Measurements at the end of a run: statistics of each latent, and the quality of reconstructions."""

from __future__ import annotations

import torch

from unweave.data import FactorData
from unweave.latents import Summary
from unweave.metrics import psnr
from unweave.model import Model
from unweave.representation.interface import BATCH
from unweave.streams import stream
from unweave.terms.gaussians import kl_to_prior
from unweave.terms.kl import laplace_kl
from unweave.training.configuration import Configuration

SUMMARISED = 2048  # images that a summary is computed from
MEASURED = 512  # images that the PSNR is computed from
PERFECT = 200.0  # dB, for a reconstruction without error


@torch.no_grad()
def summarise(model: Model, configuration: Configuration, data: FactorData) -> Summary:
    """Return statistics of each latent over a sample of the data."""
    images = data.sample(SUMMARISED, stream(configuration.seed, "summary")).images
    device = next(model.parameters()).device
    codes = [model.code(part.to(device).float() / 255) for part in images.split(BATCH)]
    code = torch.cat([c.representation for c in codes]).cpu()
    kl = None
    if codes[0].logvar is not None:
        logvar = torch.cat([c.logvar for c in codes if c.logvar is not None]).cpu()
        kl = kl_to_prior(code, logvar).mean(0).tolist()
    if codes[0].logscale is not None:
        logscale = torch.cat([c.logscale for c in codes if c.logscale is not None]).cpu()
        kl = laplace_kl(code, logscale).mean(0).tolist()
    return Summary.of_codes(code, kl=kl, levels=None if model.values is None else model.values.cpu())


def measure_baseline(configuration: Configuration, data: FactorData) -> float:
    """Return the mean PSNR of the mean image in place of every reconstruction, in dB."""
    images = data.sample(MEASURED, stream(configuration.seed, "psnr")).images
    mean = images.float().mean(0, keepdim=True) / 255
    return min(psnr(images, mean.expand(images.shape)).score, PERFECT)


@torch.no_grad()
def measure_psnr(model: Model, configuration: Configuration, data: FactorData) -> float:
    """Return the mean PSNR of the reconstructions of a sample of the data, in dB."""
    images = data.sample(MEASURED, stream(configuration.seed, "psnr")).images
    device = next(model.parameters()).device
    again = [model.decode(model.code(part.to(device).float() / 255).representation) for part in images.split(BATCH)]
    return min(psnr(images, torch.cat(again).cpu().clamp(0, 1)).score, PERFECT)
