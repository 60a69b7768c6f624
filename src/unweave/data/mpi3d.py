"""MPI3D: a robot arm with an object, as simple and realistic renderings and photographs (Gondal et al. 2019)."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import torch
from torch import Tensor

from unweave.data.factor_data import Card, FactorData, check_image_size
from unweave.data.files.arrays import npz_rows, npz_shape
from unweave.data.files.downloads import RemoteFile
from unweave.data.files.pictures import BEFORE_FILTERS, Filter, check_filter, named_filter, resize
from unweave.data.files.published_set import CHUNK, Published, Rows
from unweave.factors import Categorical, FactorSpace

CITATION = (
    "Gondal et al., On the Transfer of Inductive Bias from Simulation to the Real World: "
    "a New Disentanglement Dataset, NeurIPS 2019"
)
# the addresses in older code, under storage.googleapis.com/disentanglement_dataset, have not worked since 2023
ADDRESS = "https://huggingface.co/datasets/waleedgondal/mpi3d/resolve/main"
MIRROR = "https://storage.googleapis.com/mpi3d_disentanglement_dataset/data"  # of the authors


def _card(title: str, values: int, file: RemoteFile) -> Card:
    """Make a card; ``values`` is the number of colours of the object, and of its shapes."""
    return Card(
        title=title,
        space=FactorSpace.of(
            object_color=Categorical(values),
            object_shape=Categorical(values),
            object_size=2,
            camera_height=3,
            background_color=Categorical(3),
            horizontal_axis=40,
            vertical_axis=40,
        ),
        shape=(3, 64, 64),
        licence="CC-BY-4.0",
        citation=CITATION,
        home="https://github.com/rr-learning/disentanglement_dataset",
        files=(file,),
    )


def _file(name: str, md5: str, mirrored: str = "") -> RemoteFile:
    """Return a file with its mirror, where it may have another name."""
    mirrors = (f"{MIRROR}/{mirrored or name}",)
    return RemoteFile(name, f"{ADDRESS}/{name}", checksum=f"md5:{md5}", mirrors=mirrors)


class _MPI3D(Published):
    """Read from ``images`` of the .npz file, which are already in grid order."""

    def _convert(self, files: list[Path], out: Rows) -> None:
        shape = npz_shape(files[0], "images")
        out.put_all(npz_rows(files[0], "images", CHUNK), shape[0])


class MPI3DToy(_MPI3D):
    """Simple renderings."""

    name = "mpi3d_toy"
    card = _card(
        "a robot arm and an object, simply rendered",
        6,
        _file("mpi3d_toy.npz", "55889cb7c7dfc655d6e0277beee88868"),
    )


class MPI3DRealistic(_MPI3D):
    """Realistic renderings."""

    name = "mpi3d_realistic"
    card = _card(
        "a robot arm and an object, realistically rendered",
        6,
        _file("mpi3d_realistic.npz", "59a6225b88b635365f70c91b3e52f70f"),
    )


class MPI3DReal(_MPI3D):
    """Photographs."""

    name = "mpi3d_real"
    card = _card(
        "a robot arm and an object, photographed",
        6,
        _file("mpi3d_real.npz", "0f33f609918fb5c97996692f91129802", mirrored="real.npz"),
    )


class MPI3DRealComplex(_MPI3D):
    """Photographs with four everyday objects in four colours; the "MPI3D" of the QLAE and Tripod papers."""

    name = "mpi3d_real_complex"
    card = _card(
        "a robot arm and an everyday object, photographed",
        4,
        RemoteFile(
            "real3d_complicated_shapes_ordered.npz",
            "https://drive.usercontent.google.com/download?id=1Tp8eTdHxgUMtsZv5uAoYAbJR1BOa_OQm&export=download&confirm=t",
        ),
    )


class MPI3DMulti(FactorData):
    """Four photographed robot arms in one image, moving independently (Rhodes & Lee 2021, sec. 5.1, app. D).

    Each quarter is every other pixel of an MPI3D photograph of the large blue cube, seen from above on salmon. Arms are
    numbered from the top of the left column, then of the right.
    """

    name = "mpi3d_multi"
    newer = BEFORE_FILTERS
    card = Card(
        title="four photographed robot arms in one image, each moving independently",
        space=FactorSpace.of(**{f"{axis}{arm}": 40 for arm in range(4) for axis in ("horizontal", "vertical")}),
        shape=(3, 64, 64),
        licence="CC-BY-4.0",
        citation="Rhodes and Lee, Local Disentanglement in Variational Auto-Encoders Using Jacobian L1 Regularization, "
        f"NeurIPS 2021; after {CITATION}",
        home="https://github.com/travers-rhodes/jlonevae",
        files=MPI3DReal.card.files,
        files_of=MPI3DReal.name,
    )

    def __init__(self, *, size: int = 64, filter: Filter | None = "bilinear") -> None:
        self.shape = (3, check_image_size(self.name, size), size)
        self._filter = check_filter(self.name, filter)
        self.resolved = {"filter": named_filter(self._filter, 64, size)}
        self._real = MPI3DReal()

    def prepare(self) -> None:
        """Read the 1,600 photographs that the images are made of."""
        _ = self._arms

    def fingerprint(self) -> str:
        """Return this version and the fingerprint of the photographs."""
        return f"v{self.version}-{self._real.fingerprint()}"

    @cached_property
    def _arms(self) -> Tensor:
        real = self._real
        blue, cube, large, above, salmon = 3, 1, 1, 0, 2
        start = real.space.index(torch.tensor([blue, cube, large, above, salmon, 0, 0]))
        arms = real.rows(start + torch.arange(40 * 40))  # the last two factors vary fastest
        return arms[:, :, ::2, ::2].contiguous()  # (1600, 3, 32, 32)

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        place = factors[:, 0::2] * 40 + factors[:, 1::2]  # (B, 4)
        arms = self._arms[place].view(-1, 2, 2, 3, 32, 32)  # (B, column, row, C, H, W)
        return resize(arms.permute(0, 3, 2, 4, 1, 5).reshape(-1, 3, 64, 64), self.shape[-1], self._filter)
