"""Cars3D: 183 car models seen from 24 azimuths and 4 elevations (Reed et al. 2015)."""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import numpy as np
from numpy.typing import NDArray

from unweave.data.factor_data import Card
from unweave.data.files.downloads import RemoteFile
from unweave.data.files.published_set import Published, Rows
from unweave.errors import Unavailable
from unweave.factors import Categorical, Cyclic, FactorSpace


class Cars3D(Published):
    """Read from one MATLAB file per car, ``im`` (128, 128, 3, azimuth, elevation); resized to 64 × 64 by default.

    Object ids follow ``list.txt`` in the archive, or else the names of the files; in disentanglement_lib they follow
    the order of a folder listing, which differs between machines.
    """

    name = "cars3d"
    pixels = 128
    card = Card(
        title="car models on white from all directions",
        space=FactorSpace.of(elevation=4, azimuth=Cyclic(24), object_type=Categorical(183)),
        shape=(3, 64, 64),
        licence="none stated",
        citation="Reed, Zhang, Zhang and Lee, Deep Visual Analogy-Making, NeurIPS 2015",
        home="http://www.scottreed.info",
        files=(
            RemoteFile(
                "nips2015-analogy-data.tar.gz",
                "http://www.scottreed.info/files/nips2015-analogy-data.tar.gz",
                checksum="md5:4e866a7919c1beedf53964e6f7a23686",
            ),
        ),
    )

    def _convert(self, files: list[Path], out: Rows) -> None:
        elevations, azimuths, cars = self.grid.sizes
        try:
            order = _car_order(files[0])
            out.expect(len(order) * elevations * azimuths)
            rows = np.arange(self.grid.size).reshape(elevations, azimuths, cars)
            for car, views in _meshes(files[0]):
                if views.shape[3:] != (azimuths, elevations):
                    raise Unavailable(
                        f"cars3d: expected {azimuths} by {elevations} views of {car}, found {views.shape[3:]}."
                    )
                images = views.transpose(4, 3, 0, 1, 2)  # (elevation, azimuth, H, W, C)
                out.put(rows[..., order[car]].reshape(-1), images.reshape(-1, *images.shape[2:]))
        except Unavailable:
            raise
        except (tarfile.TarError, EOFError, OSError, KeyError, ValueError, zlib.error) as error:
            raise Unavailable(f"{files[0]} is damaged, or not the archive of Cars3D: {error}") from error


def _car_order(path: Path) -> dict[str, int]:
    """Return the object id of each car."""
    with tarfile.open(path) as archive:
        members = [member for member in archive if PurePosixPath(member.name).parent.name == "cars"]
        cars = sorted(PurePosixPath(m.name).stem for m in members if m.name.endswith(".mat"))
        listed = next((archive.extractfile(m) for m in members if m.name.endswith("/list.txt")), None)
        if listed is not None:
            names = listed.read().decode().split()
            if sorted(names) == cars:
                cars = names
    return {car: position for position, car in enumerate(cars)}


def _meshes(path: Path) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    """Yield the name of each car and its views (H, W, C, azimuth, elevation), in the order of the archive."""
    from scipy.io import loadmat  # slow to import, and needed here only

    with tarfile.open(path) as archive:
        for member in archive:
            place = PurePosixPath(member.name)
            if place.parent.name == "cars" and place.suffix == ".mat":
                stream = archive.extractfile(member)
                assert stream is not None
                yield place.stem, loadmat(io.BytesIO(stream.read()))["im"]
