"""The kinds of representations: a trained model, an encoder of the user's own with data, and codes with factors."""

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
from unweave.errors import InputError, whole
from unweave.factors import check_generator
from unweave.latents import Latent, Summary
from unweave.metrics import kl_per_latent
from unweave.metrics.scoring.encoders import (
    Encode,
    check_callable,
    decoder_of,
    evaluating,
    is_discrete,
    posterior_of,
    reconstruction_of,
)
from unweave.metrics.scoring.factor_kinds import read_kinds
from unweave.metrics.scoring.inputs import check_codes
from unweave.metrics.scoring.sparse_codes import SparseCodes, check_sparse, is_sparse
from unweave.model import Likelihood, Model
from unweave.names import spelled
from unweave.representation.interface import BATCH, DrawnCodes, Representation
from unweave.streams import stream

SUMMARISED = 2048  # images that statistics of latents are computed from
MOST_LEVELS = 64  # values of a discrete latent that are shown one by one


class TrainedModel(Representation):
    """Maps images to codes and back."""

    encodes = decodes = True

    def __init__(self, model: Model, shape: tuple[int, int, int], title: str) -> None:
        self.model = model.eval()
        self.shape, self.title = shape, title

    @property
    def size(self) -> int:
        """The number of latents."""
        return self.model.latent.size

    @property
    def levels(self) -> Tensor | None:
        """The values (D, levels) that each quantised latent can take, in increasing order; None if it is continuous."""
        return None if self.model.values is None else self.model.values.detach().cpu()

    @property
    def discrete(self) -> bool:  # type: ignore[override]
        """Return whether each latent takes one of a few values."""
        return self.model.latent.discrete

    @property
    def has_posterior(self) -> bool:  # type: ignore[override]
        """Return whether an image is encoded to a Gaussian distribution, so that :meth:`posterior` is defined."""
        return self.model.latent.has_posterior

    @property
    def offers(self) -> set[str]:
        """The outputs that metrics can use besides codes: "reconstruction", and "posterior" where there is one."""
        return offers_of(self.model.latent)

    @property
    def likelihood(self) -> Likelihood:
        """The likelihood of the images given a code."""
        return self.model.likelihood

    def sample_codes(self, n: int, generator: torch.Generator, summary: Summary | None = None) -> Tensor:
        """Return n random codes (n, D): from the prior, or each latent from its distribution over the data."""
        n, generator = whole("the number of images", n), check_generator(generator)
        return self.model.latent.sample(n, generator, summary or self._statistics, self._learned)

    def _encode(self, images: Tensor) -> Tensor:
        return self.model.code(images).representation

    def _decode(self, codes: Tensor) -> Tensor:
        return self.model.decode(codes)

    def _posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        code = self.model.code(images)
        assert code.logvar is not None
        return code.continuous, code.logvar

    def _usual_values(self, steps: int, span: float, summary: Summary | None) -> Tensor:
        return self.model.latent.traversal(steps, span, summary or self._statistics, self._learned).cpu()

    @property
    def _statistics(self) -> Summary | None:
        """The summary where the latent needs one; a Gaussian has a prior and needs none."""
        return None if self.has_posterior else self.summary

    @property
    def _learned(self) -> dict[str, Tensor]:
        return {name: value.detach().cpu() for name, value in self.model.learned.items()}

    def _like(self) -> Tensor:
        return torch.empty((), device=next(self.model.parameters()).device)


def offers_of(latent: Latent) -> set[str]:
    """Return what a representation with this latent offers to metrics besides codes."""
    return {"reconstruction", "posterior"} if latent.has_posterior else {"reconstruction"}


class Encoder(Representation):
    """A callable from float images (B, C, H, W) in [0, 1] to codes (B, D), with the data that it encodes.

    The callable may have more, as :mod:`unweave.metrics.scoring.encoders` describes: ``decode(codes)`` for figures of
    what latents do, ``reconstruct(images)``, ``posterior(images)`` and ``discrete``.

    Args:
        encode: The callable.
        data: The data set.
        name: How it is called in titles, by default the name of the callable.

    Examples:
        >>> import unweave
        >>> encoder = unweave.Encoder(lambda images: images.mean((1, 2)), unweave.load("xysquares"), name="columns")
        >>> list(unweave.score(encoder, metrics=["mig", "sap"], samples=500).table)
        ['mig', 'sap']
    """

    encodes = True

    def __init__(self, encode: Encode, data: FactorData, *, name: str = "") -> None:
        check_callable(encode)
        if not isinstance(data, FactorData):
            raise InputError(f"an encoder needs data, as unweave.load returns it, got {type(data).__name__}.")
        self.function, self._data = encode, data
        self.method = self.label = name or _name_of(encode)
        self.title = f"{self.method} on {spelled(data.identity.label)}"
        self.shape, self.discrete = data.shape, is_discrete(encode)
        self.has_posterior, self.decodes = posterior_of(encode) is not None, decoder_of(encode) is not None

    @cached_property
    def size(self) -> int:
        """The number of latents, that of the first image."""
        return self.draw(1, stream(0, "summary")).codes.shape[1]

    @cached_property
    def summary(self) -> Summary:
        """Statistics of each latent over a sample of the data."""
        images = self._data.sample(SUMMARISED, stream(0, "summary")).images
        if not self.has_posterior:
            return Summary.of_codes(self.encode(images), discrete=self.discrete)
        mean, logvar = self.posterior(images)
        return Summary.of_codes(mean, kl=kl_per_latent(mean, logvar).per_latent.tolist())

    def data(self) -> FactorData:
        """Return the data set."""
        return self._data

    def reconstruct(self, images: Tensor) -> Tensor:
        """Return the reconstructions by the method of the encoder, or else encode and decode images (B, C, H, W)."""
        reconstruct = reconstruction_of(self.function)
        if reconstruct is None:
            return super().reconstruct(images)
        return self._called(reconstruct, self._images(images)).clamp(0, 1)

    def encode(self, images: Tensor) -> Tensor:
        """Return the codes (B, D) of images (B, C, H, W)."""
        images = self._images(images)
        codes = self._called(self.function, images)
        codes = torch.from_numpy(check_codes("encode", codes, rows=0)).float()
        if len(codes) != len(images):
            raise InputError(f"{self.method} was given {len(images)} images but returned {len(codes)} codes.")
        return codes

    def posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and log-variance (B, D) of the posterior of images (B, C, H, W)."""
        function = posterior_of(self.function)
        if function is None:
            raise InputError(f"{self.title} has no posterior: it has no method posterior.")
        both = self._called(lambda part: torch.cat(list(function(part)), dim=1), self._images(images), of=function)
        mean, logvar = both.chunk(2, dim=1)
        return mean, logvar

    def decode(self, codes: Tensor) -> Tensor:
        """Return images (B, C, H, W) in [0, 1] of codes (B, D)."""
        function = decoder_of(self.function)
        if function is None or not len(codes):
            return super().decode(codes)
        return self._called(function, self._codes(codes)).clamp(0, 1)

    def _decode(self, codes: Tensor) -> Tensor:
        function = decoder_of(self.function)
        assert function is not None
        with evaluating(function) as like, torch.set_grad_enabled(codes.requires_grad):
            images: Tensor = function(codes.to(like))
        return images

    def _called(self, function: Encode, rows: Tensor, of: Encode | None = None) -> Tensor:
        """Call a function on rows, some at a time, with its modules in evaluation mode."""
        parts = []
        with evaluating(of or function) as like:
            for part in rows.split(BATCH):
                parts.append(torch.as_tensor(function(part.to(like))).float().cpu())
        return torch.cat(parts)


def _name_of(encode: Any) -> str:
    name = getattr(encode, "__qualname__", None) or type(encode).__name__
    return "encoder" if "<lambda>" in name else str(name).replace("<locals>.", "")


class Codes(Representation):
    """Codes (N, D), with factors (N, K) and the images that they belong to, as far as there are any.

    Args:
        codes: The codes (N, D), an array or a tensor, or a sparse matrix of scipy or torch.
        factors: An array (N, K), a DataFrame, a dictionary of columns, or the path of a CSV, .npy, .npz or .parquet
            file.
        images: The images, or the path of their folder or file, in the order of the codes.
        names: The names of the factors, if they have none.
        kinds: The kind of factors by their name, as in :func:`unweave.load`.
        missing: "error" or "drop", what happens to missing values of factors, as in :func:`unweave.load`.
        discrete: Whether every latent takes one of a few values.
        name: How they are called in titles.

    Examples:
        >>> import numpy as np, unweave
        >>> factors = np.indices((5, 4)).reshape(2, -1).T.repeat(10, axis=0)  # (200, 2)
        >>> codes = unweave.Codes(-factors, factors, names=["x", "y"])
        >>> unweave.score(codes, metrics=["mig"]).table
        {'mig': 1.0}
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
        self.values: Any = (  # (N, D) float64, a tensor or SparseCodes
            check_sparse("codes", codes) if is_sparse(codes) else torch.from_numpy(check_codes("codes", codes))
        )
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
        return int(self.values.shape[1])

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
        """Statistics of each latent over all codes, or over 2,048 random rows of sparse codes."""
        if isinstance(self.values, SparseCodes):
            codes = self.draw(SUMMARISED, stream(0, "summary")).codes
            return Summary.of_codes(codes, discrete=self.discrete)
        return Summary.of_codes(self.values.float(), levels=self.levels, discrete=self.discrete)

    @cached_property
    def levels(self) -> Tensor | None:
        """The values of discrete latents, if all have the same number of them."""
        if not self.discrete or isinstance(self.values, SparseCodes):
            return None
        found = [column.unique() for column in self.values.float().T]
        same = len({len(column) for column in found}) == 1 and len(found[0]) <= MOST_LEVELS
        return torch.stack(found) if same else None

    def data(self) -> FactorData:
        """Return the factors and images as a data set."""
        return self._data

    def draw(self, n: int, generator: torch.Generator, data: FactorData | None = None) -> DrawnCodes:
        """Return the codes and factors of n random rows, each at most once."""
        if data is not None and data is not self._data:
            raise InputError(f"{self.title} has the codes of its own images only, and no encoder for {data.name}.")
        rows = torch.randperm(len(self.values), generator=generator)[:n]
        return DrawnCodes(self.rows(rows), None if self.factors is None else self.factors[rows])

    def draw_labelled(
        self, n: int, generator: torch.Generator, data: FactorData
    ) -> tuple[DrawnCodes, Mapping[int, str] | None]:
        """Draw codes with their factors as scores take them, numbers as given, and return the kinds of the factors."""
        if self.table is None:
            return super().draw_labelled(n, generator, data)
        numbers, kinds = read_kinds(self.table, None, None, "drop")
        rows = torch.randperm(len(self.values), generator=generator)[:n]
        return DrawnCodes(self.rows(rows), torch.from_numpy(numbers)[rows]), kinds.declared

    def rows(self, index: Tensor) -> Tensor:
        """Return some of the codes (n, D), dense and in single precision."""
        if isinstance(self.values, SparseCodes):
            return torch.from_numpy(self.values[index.numpy()].matrix.astype("float32").toarray())
        codes: Tensor = self.values[index].float()
        return codes
