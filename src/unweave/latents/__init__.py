"""Latent spaces between encoder and decoder: Gaussian and Laplace posteriors, deterministic codes, quantised codes."""

from unweave.latents.codebook import Codebook
from unweave.latents.deterministic import Deterministic
from unweave.latents.fsq import FSQ
from unweave.latents.gaussian import Gaussian
from unweave.latents.laplace import Laplace
from unweave.latents.latent import Code, Latent, Summary

LATENTS: dict[str, type[Latent]] = {
    "gaussian": Gaussian,
    "laplace": Laplace,
    "deterministic": Deterministic,
    "codebook": Codebook,
    "fsq": FSQ,
}

__all__ = ["FSQ", "LATENTS", "Code", "Codebook", "Deterministic", "Gaussian", "Laplace", "Latent", "Summary"]
