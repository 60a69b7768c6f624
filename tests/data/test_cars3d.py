"""Cars3D, on a fabricated archive of three cars, and on eight genuine ones where these are beside the project."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from scipy.io import savemat

import unweave
from tests.data.fabricated import Shelf, noise, tar, written
from unweave.data import FactorData
from unweave.data.check import PUBLISHED_CONSTANTS
from unweave.data.distances import channel_statistics
from unweave.errors import InputError, Unavailable
from unweave.factors import FactorSpace

GENUINE = Path(__file__).parents[3] / "shared" / "genuine" / "cars3d"


@pytest.mark.parametrize("listed", [True, False])
def test_cars3d_reads_one_matlab_file_a_car(shelf: Shelf, listed: bool) -> None:
    meshes = {f"car_{number:03}_mesh": noise(128, 128, 3, 24, 4) + np.uint8(number) for number in (2, 1, 3)}
    members = {"data/sprites/other.mat": b"not a car"}
    members |= {f"data/cars/{car}.mat": written(lambda s, im=im: savemat(s, {"im": im})) for car, im in meshes.items()}  # type: ignore[misc]
    order = sorted(meshes)
    if listed:
        order = order[::-1]
        members["data/cars/list.txt"] = "\n".join(order).encode()
    shelf.put("cars3d", [tar(members)], FactorSpace.of(elevation=4, azimuth=24, object_type=3))
    data = unweave.load("cars3d", size=128)
    for factors in ([0, 0, 0], [3, 23, 2], [1, 7, 1]):
        elevation, azimuth, car = factors
        expected = torch.from_numpy(meshes[order[car]][:, :, :, azimuth, elevation]).permute(2, 0, 1)
        assert torch.equal(data.images(torch.tensor([factors]))[0], expected)
    assert unweave.load("cars3d").shape == (3, 64, 64)


def put_cars(shelf: Shelf, meshes: dict[str, bytes]) -> Path:
    members = {f"data/cars/{car}.mat": content for car, content in meshes.items()}
    space = FactorSpace.of(elevation=4, azimuth=24, object_type=len(meshes))
    return shelf.put("cars3d", [tar(members)], space)[0]


def one_car(shelf: Shelf) -> tuple[np.ndarray[tuple[int, ...], np.dtype[np.uint8]], Path]:
    views = noise(128, 128, 3, 24, 4)
    return views, put_cars(shelf, {"car_001_mesh": written(lambda stream: savemat(stream, {"im": views}))})


@pytest.mark.parametrize("filter", ["bilinear", "lanczos", "bicubic", "box"])
def test_each_filter_is_that_of_pillow_with_its_own_array_and_identity(shelf: Shelf, filter: str) -> None:
    views, path = one_car(shelf)
    data = unweave.load("cars3d", filter=filter)
    small = Image.fromarray(views[:, :, :, 5, 2]).resize((64, 64), Image.Resampling[filter.upper()])
    assert np.array_equal(data.images(torch.tensor([[2, 5, 0]]))[0].permute(1, 2, 0).numpy(), np.asarray(small))
    assert data.identity.options == {"size": 64, "filter": filter}
    assert (path.parent / f"images-v1-64-{filter}.npy").exists()


def test_an_array_of_another_filter_is_not_used(shelf: Shelf) -> None:
    _, path = one_car(shelf)
    before = unweave.load("cars3d", filter=None)  # means of blocks, as versions without filters stored them
    assert before.identity.options == {"size": 64}
    assert (path.parent / "images-v1-64.npy").exists()
    now = unweave.load("cars3d")
    every = torch.arange(96)
    assert (now.rows(every).int() - before.rows(every).int()).abs().max() > 10
    assert now.identity != before.identity
    opened = unweave.data.open_data(before.identity)  # of a run named before there were filters
    assert torch.equal(opened.rows(every), before.rows(every))
    path.unlink()
    with pytest.raises(Unavailable, match=r"images-v1-64\.npy .* with another size or filter, and is not used"):
        unweave.load("cars3d", filter="lanczos")


def test_an_unknown_filter_is_refused() -> None:
    with pytest.raises(
        InputError, match="cars3d: filter must be 'bilinear', 'lanczos', 'bicubic' or 'box', got 'linear'"
    ):
        unweave.data.identity_of("cars3d", filter="linear")


@pytest.fixture(scope="module")
def genuine() -> dict[str, bytes]:
    if not GENUINE.exists():
        pytest.skip("the shared folder with genuine images is not beside the project")
    return {path.stem: path.read_bytes() for path in sorted(GENUINE.glob("*.mat"))}


def test_genuine_cars_are_reduced_as_pillow_reduces_them(shelf: Shelf, genuine: dict[str, bytes]) -> None:
    put_cars(shelf, {"car_001_mesh": genuine["car_001_mesh"]})
    views = [[elevation, azimuth, 0] for azimuth in (0, 6, 12, 18) for elevation in range(4)]
    with np.load(GENUINE / "resized.npz") as resized:
        for filter in ("bilinear", "lanczos", "bicubic", "box"):
            images = unweave.load("cars3d", filter=filter).images(torch.tensor(views))
            assert np.array_equal(images.permute(0, 2, 3, 1).numpy(), resized[filter].reshape(-1, 64, 64, 3))


def test_genuine_cars_are_as_far_apart_as_published(shelf: Shelf, genuine: dict[str, bytes]) -> None:
    put_cars(shelf, genuine)
    bilinear, blocks = unweave.load("cars3d"), unweave.load("cars3d", filter=None)
    near, far = exact_distances(bilinear), exact_distances(blocks)
    # eight cars of 183: near Table A1 of Michlo et al. 2023
    published = {"random": 0.0519, "azimuth": 0.0355, "elevation": 0.0174}
    assert {factor: near[factor] for factor in published} == pytest.approx(published, rel=0.06)
    # what the filter does to a distance hardly depends on the car: all 183 by both filters
    everything = {
        "random": 0.0521 / 0.0578,
        "azimuth": 0.0354 / 0.0402,
        "object_type": 0.0344 / 0.0393,
        "elevation": 0.0175 / 0.0218,
    }
    assert {factor: near[factor] / far[factor] for factor in near} == pytest.approx(everything, rel=0.03)
    constants, all_cars = channel_statistics(bilinear, torch.Generator()), PUBLISHED_CONSTANTS["cars3d"]
    assert constants.mean.tolist() == pytest.approx(all_cars.mean, abs=0.013)
    assert constants.std.tolist() == pytest.approx(all_cars.std, abs=0.023)


def exact_distances(data: FactorData) -> dict[str, float]:
    """Mean squared differences over all pairs of images, and over all pairs that differ in one factor only."""
    pixels = data.rows(torch.arange(data.num_images)).flatten(1).double() / 255
    apart = torch.cdist(pixels, pixels).square() / pixels.shape[1]
    factors = data.space.at(torch.arange(data.num_images))
    differ = factors[:, None] != factors  # (N, N, K)
    alone = {
        name: float(apart[differ[..., axis] & (differ.sum(-1) == 1)].mean())
        for axis, name in enumerate(data.space.names)
    }
    return {"random": float(apart[differ.any(-1)].mean()), **alone}
