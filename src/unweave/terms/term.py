"""A term of the loss: a formula of one forward pass, which knows neither its weight nor its schedule."""

from __future__ import annotations

from typing import ClassVar

from torch import Tensor, nn

from unweave.latents import Latent
from unweave.model import Forward
from unweave.settings import Settings


class Term(Settings):
    """A scalar of a forward pass. Its settings are its fields; what it cannot be combined with, ``refusal`` says."""

    formula: ClassVar[str] = ""
    paper: ClassVar[str] = ""
    latents: ClassVar[tuple[type[Latent], ...]] = (Latent,)  # the kinds it is defined for
    why: ClassVar[str] = ""  # it is defined for no others: half a sentence

    def __call__(self, batch: Forward) -> Tensor:
        """The term's value, a scalar."""
        raise NotImplementedError

    def refusal(self, latent: Latent) -> str | None:
        """Why this term does not go with a latent; None where it does."""
        return None if isinstance(latent, self.latents) else self.why

    def adversary(self, latents: int) -> nn.Module | None:
        """A network that is trained against the model with an optimiser of its own, where the term needs one."""
        return None

    def adversary_loss(self, batch: Forward, adversary: nn.Module) -> Tensor:
        """What the adversary minimises; nothing of it reaches the model."""
        raise NotImplementedError
