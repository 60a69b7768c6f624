"""Codes with factors and, where there are, images: a representation whose encoder is somewhere else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.data.files.factor_tables import Missing, Table
from unweave.data.files.own_sources import load_own, read_factors
from unweave.data.own import LabelTable
from unweave.errors import InputError
from unweave.latents import Summary
from unweave.metrics.scoring.inputs import check_codes
from unweave.names import spelled
from unweave.representation.interface import Drawn, Representation

MOST_LEVELS = 64  # values of a discrete latent that are shown one by one


class Codes(Representation):
    """Codes (N, D), with factors (N, K) and the images that they belong to, as far as there are any.

    Args:
        codes: The codes (N, D), an array or a tensor.
        factors: An array (N, K), a DataFrame, a dictionary of columns, or the path of a CSV, .npy, .npz or .parquet
            file.
        images: The images, or the path of their folder or file, in the order of the codes.
        names: The names of the factors, if they have none.
        kinds: The kind of factors by their name, as in :func:`unweave.load`.
        missing: "error" or "drop", what happens to missing values of factors, as in :func:`unweave.load`.
        discrete: Whether every latent takes one of a few values.
        name: How they are called in titles.
    """

    def __init__(
        self,
        codes: Any,
        factors: Any = None,
        *,
        images: Any = None,
        names: Sequence[str] | None = None,
        kinds: Mapping[str, str] | None = None,
        missing: Missing = "error",
        discrete: bool = False,
        name: str = "codes",
    ) -> None:
        self.values = torch.from_numpy(check_codes("codes", codes))  # (N, D), float64
        self.discrete, self.method, self.label = discrete, name, name
        options: dict[str, Any] = {"names": names, "kinds": kinds, "missing": missing}
        if images is not None:
            self._data: LabelTable = load_own(images, factors=factors, **options)
        else:
            self._data = LabelTable(read_factors(factors, **options), len(self.values), name=name)
        if self._data.num_images != len(self.values):
            what = "images" if images is not None else "rows of factors"
            raise InputError(f"there are {len(self.values):,} codes and {self._data.num_images:,} {what}.")
        self.shape = self._data.shape if images is not None else None
        self.title = name if images is None else f"{name} on {spelled(self._data.identity.label)}"

    @property
    def size(self) -> int:
        """The number of latents."""
        return self.values.shape[1]

    @property
    def factors(self) -> Tensor | None:
        """The factors (N, K), if they are known."""
        return self._data.labels

    @property
    def table(self) -> Table | None:
        """The factors with their names and kinds, if they are known."""
        return self._data.table

    @cached_property
    def summary(self) -> Summary:
        """Statistics of each latent over all codes."""
        return Summary.of_codes(self.values.float(), levels=self.levels)

    @cached_property
    def levels(self) -> Tensor | None:
        """The values of discrete latents, if all have the same number of them."""
        if not self.discrete:
            return None
        found = [column.unique() for column in self.values.float().T]
        same = len({len(column) for column in found}) == 1 and len(found[0]) <= MOST_LEVELS
        return torch.stack(found) if same else None

    def data(self) -> FactorData:
        """Return the factors and images as a data set."""
        return self._data

    def draw(self, n: int, generator: torch.Generator, data: FactorData | None = None) -> Drawn:
        """Return the codes and factors of n random rows, each at most once."""
        if data is not None and data is not self._data:
            raise InputError(f"{self.title} has the codes of its own images only, and no encoder for {data.name}.")
        rows = torch.randperm(len(self.values), generator=generator)[:n]
        return Drawn(self.values[rows].float(), None if self.factors is None else self.factors[rows])
