"""The models that the page has in memory: a few at a time, opened again when training has written new weights."""

from __future__ import annotations

import threading
from collections import OrderedDict
from functools import cached_property
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, MissingExtra, Unavailable, whole
from unweave.explore.description import describe, facts, latents_by_value, summary_of
from unweave.explore.examples import at_random, start_seeds
from unweave.explore.run_selection import Selection
from unweave.latents import Summary
from unweave.latents.latent import evenly
from unweave.representation import Codes, Representation
from unweave.store.folder import CHECKPOINT, WEIGHTS
from unweave.streams import stream
from unweave.training import open_run

ALONG = 11  # images along a latent
RANKED = 3_000  # images that they are chosen from, and those closest to a code
NEAREST = 6  # of them
MOST_ROWS = 10_000_000
KEPT = 6  # runs that are open at a time
STRIP_LATENTS, STRIP_FRAMES = 3, 5  # in the list of runs
STRIP_CANDIDATES = 24  # latents, the most important ones, of which they are chosen
MOST_CODES = 1024  # decoded by one request


class OpenRun:
    """One run with its data, if that can be opened, and its description."""

    def __init__(self, run: Representation, selection: Selection) -> None:
        self.run, self._selection = run, selection
        self._lock = threading.Lock()

    @cached_property
    def data(self) -> FactorData | None:
        """The data that the run was trained on; None if it is not on this machine."""
        try:
            with self._selection.guarded():
                return self.run.data()
        except (InputError, Unavailable, MissingExtra) as error:
            self.no_data = str(error)
            return None

    no_data = ""  # why there is no data

    @cached_property
    def summary(self) -> Summary | None:
        """Statistics of each latent; None for a run in training whose data is not here."""
        return summary_of(self.run, self.data)

    @cached_property
    def _description(self) -> dict[str, Any]:
        return describe(self.run, self.data, self.summary, self.no_data)

    def description(self) -> dict[str, Any]:
        """Return what the page shows of the run; all but its scores is computed once, from a sample of the data."""
        with self._lock:
            return {**self._description, "facts": facts(self.run)}

    def needed_data(self) -> FactorData:
        """Return the data, or raise an error that says why there is none."""
        if self.data is None:
            raise Unavailable(self.no_data)
        return self.data

    def codes(self, body: bytes) -> Tensor:
        """Return the codes (n, D) in the bytes of a request: float32, little-endian."""
        size = self.run.size
        if not body or len(body) % (4 * size):
            raise InputError(f"codes are rows of {size} float32 values, got {len(body)} bytes.")
        codes = torch.frombuffer(bytearray(body), dtype=torch.float32).reshape(-1, size)
        if len(codes) > MOST_CODES:
            raise InputError(f"at most {MOST_CODES} codes are decoded at once, got {len(codes)}.")
        if not torch.isfinite(codes).all():
            raise InputError("codes must be finite numbers.")
        return codes

    def sample(self, generator: torch.Generator) -> Tensor:
        """Return a random code (1, D): from the prior, or from the marginals over the data."""
        return self.run.sample_codes(1, generator, self.summary)

    @cached_property
    def first_image(self) -> Tensor | None:
        """The image (C, H, W) that the page starts from, if any; some data sets take long to draw the first."""
        data = self.data
        return at_random(data, start_seeds(data)[0])[0] if data is not None and data.has_images else None

    @cached_property
    def strip(self) -> tuple[list[int], Tensor]:
        """Latents that change the picture most, each in another way, and images (n, C, H, W) along each in turn.

        They start from the image that the page of the run starts from, or from the mean code without data.
        """
        if not self.run.decodes:
            raise Unavailable("there is no decoder.")
        summary = self.summary
        if self.first_image is not None:
            code = self.run.encode(self.first_image[None])  # (1, D)
        else:
            code = torch.tensor([summary.mean if summary else [0.0] * self.run.size])
        values = self.run.traversal_values(steps=STRIP_FRAMES)  # (D, steps)
        possible = (summary.order if summary else list(range(self.run.size)))[:STRIP_CANDIDATES]
        codes = code.repeat(len(possible), values.shape[1], 1)  # (n, steps, D)
        for place, latent in enumerate(possible):
            codes[place, :, latent] = values[latent].to(codes)
        images = self.run.decode(codes.flatten(0, 1)).unflatten(0, codes.shape[:2])  # (n, steps, C, H, W)
        chosen = most_different(images.double().std(1).flatten(1), STRIP_LATENTS)
        return [possible[place] for place in chosen], images[chosen].flatten(0, 1)

    @cached_property
    def _ranked(self) -> tuple[Tensor, Tensor]:
        """Rows of the data and their codes (n, D), of a random sample."""
        data = self.needed_data()
        index = torch.randperm(min(data.num_images, MOST_ROWS), generator=stream(0, "explore"))[:RANKED]
        if isinstance(self.run, Codes):
            return index, self.run.rows(index)
        return index, self.run.encode(data.rows(index, stream(0, "explore")))

    def along_latent(self, latent: Any) -> tuple[Tensor, list[float]]:
        """Return images (n, C, H, W) of the data at evenly spaced ranks of a latent, and the values of the latent."""
        latent = whole("latent", latent, at_most=self.run.size - 1)
        index, codes = self._ranked
        order = codes[:, latent].argsort()
        rows = order[evenly(len(order), ALONG)]
        images = self.needed_data().rows(index[rows], stream(0, "explore"))
        return images, codes[rows, latent].tolist()

    def nearest(self, code: Tensor) -> tuple[Tensor, list[float]]:
        """Return images (n, C, H, W), of a sample of the data, whose codes are closest to a code, and the distances."""
        index, codes = self._ranked
        distances = (codes - code).norm(dim=1)
        rows = distances.argsort(stable=True)[:NEAREST]
        return self.needed_data().rows(index[rows], stream(0, "explore")), distances[rows].tolist()

    @cached_property
    def by_value(self) -> list[list[list[list[float]]]]:
        """The distribution of each latent given each value of each factor, see :func:`latents_by_value`."""
        return latents_by_value(self.run, self.needed_data())

    def columns(self, code: Tensor) -> Tensor:
        """Return the derivatives (D, H, W) of the image at a code (D,) by each latent, of the strongest channel."""
        jacobian = self.run.jacobian(code[None])[0]  # (D, C, H, W)
        strongest = jacobian.abs().argmax(1, keepdim=True)
        return jacobian.gather(1, strongest)[:, 0].contiguous()


class OpenRuns:
    """The runs of a selection, opened on first use; the least recently used are closed."""

    def __init__(self, selection: Selection) -> None:
        self.selection = selection
        self._open: OrderedDict[tuple[str, int], OpenRun] = OrderedDict()
        self._given = {each.name: OpenRun(each, selection) for each in selection.given}
        self._paths: dict[str, Path] = {}  # of the runs that were opened
        self._lock = threading.Lock()

    def ready(self, name: str) -> OpenRun | None:
        """Return a run whose latest weights are open already, without waiting for others to be opened."""
        if name in self._given:
            return self._given[name]
        folder = self._paths.get(name)
        return None if folder is None else self._open.get((name, weights_version(folder)))

    def open(self, name: str) -> OpenRun:
        """Return a run of the selection with its latest weights, or a representation that was given."""
        if name in self._given:
            return self._given[name]
        folder = self.selection.folder(name)
        key = (name, weights_version(folder))
        with self._lock:
            if key not in self._open:
                for other in [other for other in self._open if other[0] == name]:
                    del self._open[other]
                self._open[key] = self._load(folder)
                self._paths[name] = folder
            self._open.move_to_end(key)
            while len(self._open) > KEPT:
                self._open.popitem(last=False)
            return self._open[key]

    def _load(self, folder: Path) -> OpenRun:
        return OpenRun(open_run(folder, trust=self.selection.trusted), self.selection)


def most_different(changes: Tensor, count: int) -> list[int]:
    """Return rows of changes (n, P) that are large and unlike one another, the largest first.

    Each next row has the largest part that is orthogonal to the rows before it, as in a QR decomposition with pivots.
    """
    rest, chosen = changes.clone(), list[int]()
    for _ in range(min(count, len(changes))):
        norms = rest.norm(dim=1)
        norms[chosen] = -1.0
        chosen.append(int(norms.argmax()))
        direction = torch.nn.functional.normalize(rest[chosen[-1]], dim=0)  # (P,)
        rest -= (rest @ direction)[:, None] * direction
    return chosen


def weights_version(folder: Path) -> int:
    """Return a number that changes when new weights are written; 0 if there are none."""
    for name in (WEIGHTS, CHECKPOINT):
        try:
            return (folder / name).stat().st_mtime_ns
        except OSError:
            continue
    return 0
