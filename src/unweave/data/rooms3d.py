"""Rooms3D: an object in a coloured room, ray-cast here. A stand-in for 3D Shapes, not the official data set.

It has the six factors of 3D Shapes in the same order and sizes, and the same ranking of factors by perceived distance,
but the scene differs, so that results cannot be compared with published ones on 3D Shapes. For those, use
``unweave data fetch shapes3d``.

The geometry of an image depends on scale, shape and orientation only. Each of these 480 views is cast once into four
layers: the light from floor, walls and object, and white gloss. An image is the layers of its view, coloured.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Callable
from functools import cached_property

import torch
from torch import Tensor

from unweave.data._geometry import Hit, hit_ball, hit_capsule, hit_cube, hit_cylinder, positive
from unweave.data.factor_data import Card, FactorData, check_image_size
from unweave.data.files import data_folder
from unweave.data.files.arrays import Bytes, cached_array
from unweave.data.shapes3d import Shapes3D
from unweave.factors import Categorical, FactorSpace
from unweave.progress import progress

VIEWS = FactorSpace.of(scale=8, shape=Categorical(4), orientation=15)
SAMPLES = 4  # rays along each side of a pixel

EYE_DISTANCE, EYE_HEIGHT = 5.0, 2.6  # the eye moves on a circle around the object
TARGET_HEIGHT = 1.15  # and looks at a point above the centre of the floor
FIELD_OF_VIEW = math.radians(50)
WALL_DISTANCE = 3.0  # from the centre to each of the two walls behind the object
TO_LIGHT = (0.60, 0.65, 0.35)
AMBIENT, DIFFUSE, GLOSS, SHADOW = 0.60, 0.40, 0.35, 0.72


class Rooms3D(FactorData):
    """A cube, cylinder, sphere or capsule on the floor of a room, seen from 15 angles in all colours."""

    name = "rooms3d"
    card = Card(
        title="an object in a coloured room; a stand-in for 3D Shapes, drawn here, not the official set",
        space=Shapes3D.card.space,
        shape=(3, 64, 64),
        licence="MIT (drawn here)",
        citation="Unweave's own scene, with the factors of Burgess and Kim, 3D Shapes Dataset, 2018",
        home="https://github.com/google-deepmind/3d-shapes",
    )

    def __init__(self, *, size: int = 64) -> None:
        self.shape = (3, check_image_size(self.name, size), size)

    def prepare(self) -> None:
        """Cast the views, once."""
        _ = self._layers

    @cached_property
    def _colours(self) -> Tensor:
        return torch.tensor([colorsys.hsv_to_rgb(i / 10, 1, 1) for i in range(10)])  # (10, rgb)

    @cached_property
    def _layers(self) -> Bytes:
        size = self.shape[-1]
        path = data_folder(self.name) / f"layers-v{self.version}-{size}.npy"
        return cached_array(path, (VIEWS.size, 4, size, size), _cast_views)

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        layers = torch.from_numpy(self._layers[VIEWS.index(factors[:, 3:]).numpy()]).flatten(2).float()  # (B, 4, H·W)
        colours = self._colours[factors[:, :3]].transpose(1, 2)  # (B, rgb, floor | wall | object)
        images = torch.baddbmm(layers[:, 3:], colours, layers[:, :3])  # (B, rgb, H·W): gloss is white
        return images.round_().clamp_(max=255).byte().view(-1, *self.shape)


def _cast_views(layers: Bytes) -> None:
    size = layers.shape[-1]
    with progress("casting rooms3d, once", VIEWS.size) as advance:
        for shape, hit in enumerate((_hit_cube, _hit_cylinder, _hit_sphere, _hit_capsule)):
            for orientation in range(15):
                views = torch.tensor([[scale, shape, orientation] for scale in range(8)])
                angle = math.radians(-30 + 60 * orientation / 14)
                cast = _cast(hit, torch.linspace(0.75, 1.25, 8), angle, size)
                layers[VIEWS.index(views).numpy()] = cast.mul(255).round().clamp(0, 255).byte().numpy()
                advance(8)


def _cast(hit: Callable[[Tensor, Tensor, Tensor], Hit], scale: Tensor, angle: float, size: int) -> Tensor:
    """Return the layers (V, 4, size, size) of one shape at every scale (V,), seen from one angle: V views, R rays."""
    eye, rays = _camera(angle, size * SAMPLES)  # (3,), (R, 3)
    radius = scale[:, None, None]  # (V, 1, 1)
    eye, rays = eye.expand(len(scale), 1, 3), rays.expand(len(scale), -1, 3)
    light = torch.nn.functional.normalize(torch.tensor(TO_LIGHT), dim=0)

    to_object, normal = hit(eye, rays, radius)  # (V, R), (V, R, 3)
    to_floor = positive(-eye[..., 1] / rays[..., 1])
    to_walls = positive((-WALL_DISTANCE - eye[..., (0, 2)].expand_as(rays[..., :2])) / rays[..., (0, 2)])  # (V, R, 2)
    to_wall, side = to_walls.min(-1)
    nearest = torch.stack([to_floor, to_wall, to_object], dim=-1).argmin(-1)  # (V, R)

    floor_point = eye + to_floor.clamp(max=1e3)[..., None] * rays
    to_blocker, _ = hit(floor_point, light.expand_as(rays), radius)
    lit = torch.where(to_blocker.isfinite(), SHADOW, 1.0)
    wall_light = torch.where(side == 0, light[0], light[2])
    gloss = (2 * (normal @ light)[..., None] * normal - light).mul(-rays).sum(-1).clamp(min=0) ** 24
    shades = torch.stack(
        [
            (AMBIENT + DIFFUSE * light[1]) * lit,
            AMBIENT + DIFFUSE * wall_light,
            AMBIENT * 0.8 + DIFFUSE * (normal @ light).clamp(min=0),
            GLOSS * gloss,
        ],
        dim=1,
    )  # (V, 4, R)
    seen = torch.nn.functional.one_hot(nearest, 3).movedim(-1, 1)  # (V, 3, R)
    layers = shades * torch.cat([seen, seen[:, 2:]], dim=1)  # gloss is on the object only
    return torch.nn.functional.avg_pool2d(layers.view(*layers.shape[:2], size * SAMPLES, -1), SAMPLES)


def _camera(angle: float, pixels: int) -> tuple[Tensor, Tensor]:
    """Return the eye (3,) and the unit directions (pixels², 3) of its rays, row by row from the top left."""
    around = math.pi / 4 + angle  # between the two walls
    eye = torch.tensor([EYE_DISTANCE * math.cos(around), EYE_HEIGHT, EYE_DISTANCE * math.sin(around)])
    forward = torch.nn.functional.normalize(torch.tensor([0.0, TARGET_HEIGHT, 0.0]) - eye, dim=0)
    right = torch.nn.functional.normalize(torch.linalg.cross(forward, torch.tensor([0.0, 1.0, 0.0])), dim=0)
    up = torch.linalg.cross(right, forward)
    plane = ((torch.arange(pixels) + 0.5) / pixels * 2 - 1) * math.tan(FIELD_OF_VIEW / 2)
    rays = forward + plane[None, :, None] * right - plane[:, None, None] * up  # (rows, columns, 3)
    return eye, torch.nn.functional.normalize(rays, dim=-1).view(-1, 3)


def _hit_sphere(eye: Tensor, rays: Tensor, radius: Tensor) -> Hit:
    return hit_ball(eye, rays, radius, radius)


def _hit_cylinder(eye: Tensor, rays: Tensor, radius: Tensor) -> Hit:
    return hit_cylinder(eye, rays, radius * 0.9, 2 * radius)


def _hit_capsule(eye: Tensor, rays: Tensor, radius: Tensor) -> Hit:
    return hit_capsule(eye, rays, radius * 0.62, 2.3 * radius)


def _hit_cube(eye: Tensor, rays: Tensor, radius: Tensor) -> Hit:
    return hit_cube(eye, rays, radius * 0.85)
