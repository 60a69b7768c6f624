"""A term of your own: a scalar function of the forward pass."""

from typing import ClassVar

from pydantic import Field
from torch import Tensor

from unweave.model import Forward
from unweave.terms import Term


class Sparsity(Term):
    """Penalise large codes: the mean absolute value of the code, beyond a margin that is free."""

    title: ClassVar[str] = "the sparsity term"
    formula: ClassVar[str] = "mean of max(0, |z| − margin)"
    margin: float = Field(default=0.0, ge=0)  # settings are fields, with types and limits

    def __call__(self, forward: Forward) -> Tensor:
        """Compute the penalty from the codes of the batch."""
        return (forward.code.z.abs() - self.margin).clamp_min(0).mean()
