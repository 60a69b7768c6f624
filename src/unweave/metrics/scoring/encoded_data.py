"""Encoded data: codes of a data set's images, each image of a deterministic grid encoded once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.metrics.scoring.encoders import Encode, evaluating, posterior_of, reconstruction_of
from unweave.metrics.scoring.inputs import Floats, check_codes
from unweave.metrics.scoring.sparse_codes import is_sparse
from unweave.progress import progress
from unweave.streams import stream

T = TypeVar("T")
HELD = 1_000  # images of the sample that are kept in memory and reconstructed, if a metric does not say how many


class CodedSample(NamedTuple):
    """Codes (N, D) and, if they are known, factors (N, K)."""

    codes: Floats
    factors: Tensor | None


@dataclass(frozen=True)
class RandomImages:
    """Random images, identified by their points on the grid (N, K), by their positions (N,) or by both."""

    points: Tensor | None
    index: Tensor | None
    factors: Tensor | None  # (N, K), if they are known

    def __len__(self) -> int:
        named = self.index if self.points is None else self.points
        return 0 if named is None else len(named)

    def part(self, rows: slice) -> RandomImages:
        """Return some of the rows."""
        columns = (self.points, self.index, self.factors)
        return RandomImages(*(None if column is None else column[rows] for column in columns))


def sample_sizes(data: FactorData, samples: int, test_samples: int) -> tuple[int, int]:
    """Return the sizes of the sample and of the test sample: those asked for, unless the images are a finite table."""
    return table_sizes(data.num_images, samples, test_samples) if data.finite_table else (samples, test_samples)


def table_sizes(num_images: int, samples: int, test_samples: int) -> tuple[int, int]:
    """Return the sizes of the two samples of a table: no image is drawn twice, and at most a third is tested."""
    tested = min(test_samples, max(1, num_images // 3))
    return min(samples, num_images - tested), tested


class EncodedData:
    """Codes (n, D) of points (n, K) of a data set; an image is encoded once if it is a function of its factors.

    If the images are a finite table, no image is drawn twice and none is in both samples.

    Args:
        encode: The encoder, from images (B, C, H, W) in [0, 1] to codes (B, D).
        data: The data set whose images are encoded.
        samples: The number of random images that all label metrics share.
        test_samples: The number of further ones for metrics that fit and then test.
        batch: The number of images that are encoded at a time.
        seed: The seed of the images.
    """

    def __init__(
        self,
        encode: Encode,
        data: FactorData,
        *,
        samples: int = 10_000,
        test_samples: int = 5_000,
        batch: int = 256,
        seed: int = 0,
    ) -> None:
        self.encoded = 0  # images that went through the encoder
        self._encode, self._data, self._batch, self._seed = encode, data, batch, seed
        self._samples, self._test_samples = samples, test_samples
        self._latents: int | None = None  # the number of latents in the first batch
        self._known = np.empty(0, np.int64)  # positions on the grid, sorted
        self._codes: Floats | None = None  # their codes
        self.start("points")

    def start(self, purpose: str) -> None:
        """Set the purpose of the next codes; random numbers depend on it and on the seed, not on earlier calls."""
        self._purpose = purpose
        self._generator = stream(self._seed, purpose)

    def __call__(self, factors: Tensor) -> Floats:
        """Return the codes of points of the grid, in their order."""
        if self._data.stochastic or self._data.space.size > 2**63:
            return self._encode_images(len(factors), lambda rows: self._data.images(factors[rows], self._generator))
        wanted, places = np.unique(self._data.space.index(factors).numpy(), return_inverse=True)
        new = wanted[~np.isin(wanted, self._known, assume_unique=True)]
        if len(new):
            points = self._data.space.at(torch.from_numpy(new))
            codes = self._encode_images(len(new), lambda rows: self._data.images(points[rows]))
            known = np.concatenate([self._known, new])
            order = np.argsort(known)
            self._codes = (codes if self._codes is None else np.concatenate([self._codes, codes]))[order]
            self._known = known[order]
        assert self._codes is not None
        return self._codes[np.searchsorted(self._known, wanted)][places.reshape(-1)]

    @cached_property
    def sample(self) -> CodedSample:
        """Codes (N, D) and factors (N, K) of the random images that all label metrics share."""
        return self._encode_drawn("the sample")

    @cached_property
    def test_sample(self) -> CodedSample:
        """Codes and factors of the random images that metrics test on."""
        return self._encode_drawn("the test sample")

    @cached_property
    def pool(self) -> CodedSample:
        """Both samples together, from which samples that share a factor are drawn."""
        (codes, factors), (more, others) = self.sample, self.test_sample
        both = None if factors is None or others is None else torch.cat([factors, others])
        return CodedSample(np.concatenate([codes, more]), both)

    @property
    def joined(self) -> CodedSample:
        """The sample for metrics that split it themselves; of a finite table, both samples up to the size of one."""
        if not self._data.finite_table:
            return self.sample
        codes, factors = self.pool
        return CodedSample(codes[: self._samples], None if factors is None else factors[: self._samples])

    @cached_property
    def images(self) -> Tensor:
        """The first images (n, C, H, W) uint8 of the sample, 1,000 at most."""
        return self._first(HELD)

    @cached_property
    def reconstructions(self) -> Tensor:
        """The reconstructions (n, C, H, W) of :attr:`images`, floats in [0, 1]."""
        return self._reconstruct(self.images)

    def reconstructed(self, most: int) -> tuple[Tensor, Tensor]:
        """Return the first ``most`` images of the sample, and their reconstructions."""
        images = self._first(most)
        return images, self._reconstruct(images)

    def _first(self, most: int) -> Tensor:
        return self._read(self._draw("the sample").part(slice(most)), stream(self._seed, "the images"))

    def _reconstruct(self, images: Tensor) -> Tensor:
        reconstruct = reconstruction_of(self._encode)
        assert reconstruct is not None

        def again(batch: Tensor) -> Tensor:
            made = reconstruct(batch)
            if not isinstance(made, Tensor) or made.shape != batch.shape:
                got = tuple(made.shape) if isinstance(made, Tensor) else type(made).__name__
                raise InputError(f"reconstruct must return images {tuple(batch.shape)} as a tensor, got {got}.")
            return made.float().cpu()

        return torch.cat(self._each_batch(reconstruct, len(images), lambda rows: images[rows], again, "reconstructing"))

    @cached_property
    def posterior(self) -> tuple[Floats, Floats]:
        """Mean and log-variance (N, D) of the posteriors of the whole sample."""
        posterior, drawn, generator = (
            posterior_of(self._encode),
            self._draw("the sample"),
            stream(self._seed, "the images"),
        )
        assert posterior is not None

        def both(batch: Tensor) -> tuple[Floats, Floats]:
            pair = posterior(batch)
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise InputError(f"posterior must return a pair (mean, logvar), got {type(pair).__name__}.")
            mean, logvar = (check_codes("posterior", side, rows=0) for side in pair)
            if mean.shape != logvar.shape or len(mean) != len(batch):
                raise InputError(
                    f"posterior must return mean and logvar (B, D) for {len(batch)} images, "
                    f"got shapes {mean.shape} and {logvar.shape}."
                )
            return mean, logvar

        pairs = self._each_batch(
            posterior, len(drawn), lambda rows: self._read(drawn.part(rows), generator), both, "encoding posteriors"
        )
        return np.concatenate([mean for mean, _ in pairs]), np.concatenate([logvar for _, logvar in pairs])

    def _draw(self, purpose: str) -> RandomImages:
        data, test = self._data, purpose == "the test sample"
        if data.finite_table:
            order = torch.randperm(data.num_images, generator=stream(self._seed, "the images"))
            samples, tested = sample_sizes(data, self._samples, self._test_samples)
            index = order[:tested] if test else order[tested : tested + samples]
            labels = None if data.labels is None else data.labels[index]
            return RandomImages(labels if data.has_factors and not data.stochastic else None, index, labels)
        n, generator = self._test_samples if test else self._samples, stream(self._seed, purpose)
        if data.has_factors and data.can_intervene:
            points = data.space.sample(n, generator)
            return RandomImages(points, None, points)
        return RandomImages(None, torch.randint(data.num_images, (n,), generator=generator), None)

    def _encode_drawn(self, purpose: str) -> CodedSample:
        self.start(purpose)
        drawn = self._draw(purpose)
        if drawn.points is not None:
            return CodedSample(self(drawn.points), drawn.factors)
        assert drawn.index is not None
        index = drawn.index
        codes = self._encode_images(len(index), lambda rows: self._data.rows(index[rows], self._generator))
        return CodedSample(codes, drawn.factors)

    def _read(self, drawn: RandomImages, generator: torch.Generator) -> Tensor:
        if drawn.index is not None:
            return self._data.rows(drawn.index, generator)
        assert drawn.points is not None
        return self._data.images(drawn.points, generator)

    def _encode_images(self, n: int, images: Callable[[slice], Tensor]) -> Floats:
        def codes_of(batch: Tensor) -> Floats:
            made = self._encode(batch)
            if is_sparse(made):
                raise InputError(
                    "encode must return dense codes, got sparse ones; pass sparse codes of all images to "
                    "unweave.score_codes, with their factors."
                )
            codes = check_codes("encode", made, rows=0)
            if len(codes) != len(batch):
                raise InputError(f"encode was given {len(batch)} images but returned {len(codes)} codes.")
            if codes.shape[1] != self._latents:
                if self._latents is not None:
                    raise InputError(f"encode returned {self._latents} latents at first, then {codes.shape[1]}.")
                self._latents = codes.shape[1]
            self.encoded += len(codes)
            return codes

        return np.concatenate(self._each_batch(self._encode, n, images, codes_of, f"encoding {self._purpose}"))

    def _each_batch(
        self, function: Encode, n: int, images: Callable[[slice], Tensor], use: Callable[[Tensor], T], task: str
    ) -> list[T]:
        """Use batches of float images in [0, 1] on the function's device, with its modules in evaluation mode."""
        results = []
        with evaluating(function) as like, progress(task, n) as advance:
            for start in range(0, n, self._batch):
                rows = slice(start, min(start + self._batch, n))
                results.append(use((images(rows).to(like.device).float() / 255).to(like.dtype)))
                advance(rows.stop - rows.start)
        return results
