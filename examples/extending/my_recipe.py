"""A recipe of your own: a function of keyword parameters that returns a Recipe."""

from unweave.latents import FSQ
from unweave.recipes import Recipe, term
from unweave.terms import JacobianL1, Reconstruction


def sparse_levels(*, gamma: float = 0.1, levels: int = 8, latents: int = 6) -> Recipe:
    """Finite scalar quantisation with a sparse Jacobian, which no paper has tried."""
    return Recipe(
        recipe="sparse_levels",
        latent=FSQ(size=latents, levels=levels),
        terms=(term(Reconstruction()), term(JacobianL1(columns=1), gamma)),
    )
