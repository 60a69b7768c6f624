"""Falcor3D and Isaac3D: rendered rooms with many factors, at high resolution (Nie et al. 2020)."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from unweave.data.factor_data import Card
from unweave.data.files.downloads import RemoteFile
from unweave.data.files.published_set import CHUNK, Published, Rows
from unweave.errors import Unavailable
from unweave.factors import Categorical, FactorSpace

CITATION = "Nie et al., Semi-Supervised StyleGAN for Disentanglement Learning, ICML 2020"
DRIVE = "https://drive.usercontent.google.com/download?export=download&confirm=t&id="


class _Nvidia3D(Published):
    """Read from a zip of numbered PNG pictures and an array of labels, one column per factor."""

    pixels = 128
    folder: str
    labels_file: str

    def _convert(self, files: list[Path], out: Rows) -> None:
        try:
            with zipfile.ZipFile(files[0]) as archive:
                labels = np.load(io.BytesIO(archive.read(f"{self.folder}/{self.labels_file}")), allow_pickle=False)
                out.expect(len(labels))
                codes = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in labels.T]
                index = self.grid.index(torch.from_numpy(np.column_stack(codes).astype(np.int64))).numpy()
                for start in range(0, len(labels), CHUNK):
                    numbers = range(start, min(start + CHUNK, len(labels)))
                    names = [f"{self.folder}/images/{number:06}.png" for number in numbers]
                    out.put(index[start : start + CHUNK], np.stack([_picture(archive, name) for name in names]))
        except Unavailable:
            raise
        except (
            zipfile.BadZipFile,
            UnidentifiedImageError,
            OSError,
            KeyError,
            EOFError,
            ValueError,
            zlib.error,
        ) as error:
            raise Unavailable(f"{files[0]} is damaged, or not the archive of {self.name}: {error}") from error


def _picture(archive: zipfile.ZipFile, name: str) -> NDArray[np.uint8]:
    with archive.open(name) as stream, Image.open(stream) as picture:
        return np.array(picture.convert("RGB"))


class Falcor3D(_Nvidia3D):
    """A living room under a moving light and a moving camera; 128 × 128 with ``size=128``."""

    name = "falcor3d"
    folder, labels_file = "Falcor3D_down128", "train-rec.labels"
    card = Card(
        title="a rendered living room: a light and a camera move",
        space=FactorSpace.of(
            lighting_intensity=5, lighting_x=6, lighting_y=6, lighting_z=6, camera_x=6, camera_y=6, camera_z=6
        ),
        shape=(3, 64, 64),
        licence="CC-BY-4.0",
        citation=CITATION,
        home="https://github.com/NVlabs/High-res-disentanglement-datasets",
        files=(RemoteFile("Falcor3D_down128.zip", f"{DRIVE}1XAQfFK1x6cpN1eiovbP0hVfLTm5SsSoJ", about="about 3.7 GB"),),
    )


class Isaac3D(_Nvidia3D):
    """A robot arm in a kitchen; 128 × 128 with ``size=128``."""

    name = "isaac3d"
    folder, labels_file = "Isaac3D_down128", "labels.npy"
    card = Card(
        title="a rendered kitchen: a robot arm, an object, a light and colours",
        space=FactorSpace.of(
            object_shape=Categorical(3),
            robot_x=8,
            robot_y=5,
            camera_height=4,
            object_scale=4,
            lighting_intensity=4,
            lighting_y_dir=6,
            object_color=Categorical(4),
            wall_color=Categorical(4),
        ),
        shape=(3, 64, 64),
        licence="CC-BY-4.0",
        citation=CITATION,
        home="https://github.com/NVlabs/High-res-disentanglement-datasets",
        files=(RemoteFile("Isaac3D_down128.zip", f"{DRIVE}1OmQ1G2wnm6eTsSFGTKFZZAh5D3nQTW1B", about="about 13 GB"),),
    )
