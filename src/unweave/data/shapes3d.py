"""3D Shapes: an object in a coloured room, the official renderings (Burgess & Kim 2018)."""

from __future__ import annotations

from pathlib import Path

from unweave.data.factor_data import Card
from unweave.data.files.downloads import RemoteFile
from unweave.data.files.published_set import CHUNK, Published, Rows
from unweave.errors import extra
from unweave.factors import Categorical, Cyclic, FactorSpace


class Shapes3D(Published):
    """Read from ``images`` of ``3dshapes.h5``, which are already in grid order."""

    name = "shapes3d"
    card = Card(
        title="an object in a coloured room: hues, scale, shape and viewing angle",
        space=FactorSpace.of(
            floor_hue=Cyclic(10),
            wall_hue=Cyclic(10),
            object_hue=Cyclic(10),
            scale=8,
            shape=Categorical(4),
            orientation=15,
        ),
        shape=(3, 64, 64),
        licence="Apache-2.0",
        citation="Burgess and Kim, 3D Shapes Dataset, 2018",
        home="https://github.com/google-deepmind/3d-shapes",
        files=(
            RemoteFile(
                "3dshapes.h5",
                "https://storage.googleapis.com/3d-shapes/3dshapes.h5",
                size=267_573_662,
                checksum="sha256:0a0f6ed98baff276a50f3a081a7434d788da63cb135a98189b2a5b5769be1785",
            ),
        ),
    )

    def _convert(self, files: list[Path], out: Rows) -> None:
        with extra("h5py", "hdf5").File(files[0]) as archive:
            images = archive["images"]
            slices = (slice(start, start + CHUNK) for start in range(0, len(images), CHUNK))
            out.put_all(((rows, images[rows]) for rows in slices), len(images))
