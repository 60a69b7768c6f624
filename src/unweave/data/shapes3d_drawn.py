"""3D Shapes, drawn: a reconstruction of the scene of Burgess & Kim 2018, for use without the official file.

The images are not the official ones, but close to them: see docs/data.md for how close. The scene was recovered by
least squares from 3 lossless official images and the 25 pictures of the official loading example. First the geometry:
the camera, the room, the solids and the shadow were moved until regions of smooth colour, cast by the same rays,
explained the images. Then the light: in the pixels inside each region, brightness as a function of place and normal
gave an ambient light, a light that shines along the view of the camera, and a spot light above. Then the texture: what
was left repeats every eight units. Last, all of these were fitted together, except the texture. The last fit left out
16 of the 25 pictures, but earlier steps had used most of these, so no image is a clean hold-out. Lengths are in units
of a tenth of the distance from the camera to the object.

The geometry of an image depends on scale, shape and orientation only. Colours are cut at full brightness before the
picture is reduced to its size, so that a view is kept as layers: the share of sky, and for each material its brightness
at each of the levels that a channel of a colour can have. An image is the sum of the layers of its colours.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray
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

# The camera looks straight ahead from a circle around the object. At angle 0 the first axis points right, the second
# up, and the third towards the camera.
EYE_DISTANCE, EYE_HEIGHT = 10.0, 2.9925
HALF_VIEW = 0.4637  # half of the width of the picture, at distance 1
TURN = math.radians(30)  # to each side
WALL_DISTANCE, WALL_HEIGHT = 14.0324, 7.9794
SKY = (154 / 255, 226 / 255, 250 / 255)

# at scale 1
CUBE = 1.3942  # half of an edge
CYLINDER = (1.4566, 2.9984)  # radius and height
SPHERE = 1.6854
CAPSULE = (1.2757, 5.1733)

LAMP = (-6.174, 29.2753, -1.9835)  # shines straight down
LAMP_LIGHT, LAMP_EXPONENT = 0.974, 9.8736
AMBIENT, CAMERA_LIGHT = 0.3547, 0.5858
GLOSS = 0.1167  # white, where the lamp reaches the object

# Each surface has a relief of hexagons and blots that repeat every TILE: depth, place, width along each axis, tilt.
TILE = 8.0
HEXAGONS = 0.008
WALL_BLOTS = ((0.058, 0.38, 4.68, 0.525, 0.364, 0.459), (0.058, 0.79, 3.45, 0.575, 0.354, 0.772))
FLOOR_BLOTS = ((0.034, 2.06, -1.86, 0.64, 0.82, -0.18),)

LEVELS = torch.arange(6) / 5  # of a channel of the ten hues
SKY_LAYER, LAYERS = 18, 19  # layers are floor, wall and object at each level, then sky
UNIT = 64 * 255  # of a layer; whole numbers of two bytes hold twice this


class Shapes3DDrawn(FactorData):
    """A cube, cylinder, sphere or capsule in a room under the sky, seen from 15 angles in all colours."""

    name = "shapes3d_drawn"
    card = Card(
        title="a reconstruction of 3D Shapes, drawn here from its recovered scene; not the official images",
        space=Shapes3D.card.space,
        shape=(3, 64, 64),
        licence="MIT (drawn here)",
        citation="a reconstruction of Burgess and Kim, 3D Shapes Dataset, 2018",
        home="https://github.com/google-deepmind/3d-shapes",
    )

    def __init__(self, *, size: int = 64) -> None:
        self.shape = (3, check_image_size(self.name, size), size)

    def prepare(self) -> None:
        """Cast the views, once."""
        _ = self._layers

    @cached_property
    def _layers(self) -> NDArray[np.int16]:
        """The layers (views · 19, H · W) in units of 1 / UNIT."""
        size = self.shape[-1]
        path = data_folder(self.name) / f"layers-v{self.version}-{size}.npy"
        kept = cached_array(path, (VIEWS.size, LAYERS, 2 * size * size), _cast_views)
        return kept.view(np.int16).reshape(VIEWS.size * LAYERS, -1)

    @cached_property
    def _levels(self) -> Tensor:
        hues = torch.tensor([colorsys.hsv_to_rgb(i / 10, 1, 1) for i in range(10)])  # (10, rgb)
        return (hues * 5).round().long()

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        first = VIEWS.index(factors[:, 3:])[:, None] * LAYERS  # (B, 1)
        sky = torch.from_numpy(self._layers[(first[:, 0] + SKY_LAYER).numpy()])  # (B, H·W)
        images = sky[:, None] * (torch.tensor(SKY) / 64)[:, None]  # (B, rgb, H·W)
        for material in range(3):
            rows = first + 6 * material + self._levels[factors[:, material]]  # (B, rgb)
            images.add_(torch.from_numpy(self._layers[rows.numpy()]), alpha=1 / 64)
        return images.round_().clamp_(0, 255).byte().view(-1, *self.shape)


def _cast_views(kept: Bytes) -> None:
    layers = kept.view(np.int16)  # (views, LAYERS, H · W)
    size = math.isqrt(layers.shape[-1])
    reduce = _reduction(size)
    with progress("casting shapes3d_drawn, once", VIEWS.size) as advance:
        for shape, hit in enumerate((_hit_cube, _hit_cylinder, _hit_sphere, _hit_capsule)):
            for orientation in range(15):
                views = torch.tensor([[scale, shape, orientation] for scale in range(8)])
                angle = TURN * (1 - orientation / 7)
                cast = reduce @ _cast(hit, torch.linspace(0.75, 1.25, 8), angle, size * SAMPLES) @ reduce.T
                layers[VIEWS.index(views).numpy()] = cast.mul(UNIT).round().short().flatten(2).numpy()
                advance(8)


def _reduction(size: int) -> Tensor:
    """Return the matrix (size, size · SAMPLES) of the cubic filter by which a line of samples becomes pixels."""
    centers = (torch.arange(size, dtype=torch.float64) + 0.5) * SAMPLES
    x = ((torch.arange(size * SAMPLES, dtype=torch.float64) + 0.5 - centers[:, None]) / SAMPLES).abs()
    weights = torch.where(x < 1, (1.5 * x - 2.5) * x**2 + 1, torch.where(x < 2, ((5 - x) * x - 8) * x / 2 + 2, 0.0))
    return weights / weights.sum(1, keepdim=True)


def _cast(hit: Callable[[Tensor, Tensor, Tensor], Hit], scale: Tensor, angle: float, pixels: int) -> Tensor:
    """Return the layers (V, 19, pixels, pixels) of one shape at every scale (V,), seen from one angle."""
    nearest, surfaces, gloss = _see(hit, scale, angle, pixels)
    shades = [LEVELS[:, None] * surface[:, None] for surface in surfaces]  # (V or 1, 6, R)
    shades[2] = shades[2] + gloss[:, None]
    seen = torch.nn.functional.one_hot(nearest, 4).movedim(-1, 1)  # (V, 4, R)
    layers = [shade.clamp(max=1) * seen[:, material, None] for material, shade in enumerate(shades)]
    return torch.cat([*layers, seen[:, 3:].to(layers[0])], dim=1).view(-1, LAYERS, pixels, pixels)


def _see(
    hit: Callable[[Tensor, Tensor, Tensor], Hit], scale: Tensor, angle: float, pixels: int
) -> tuple[Tensor, tuple[Tensor, Tensor, Tensor], Tensor]:
    """Cast the rays of one shape at every scale (V,), seen from one angle: V views, R rays.

    Returns:
        What each ray meets, (V, R): 0 the floor, 1 a wall, 2 the object, 3 the sky. Then the brightness of floor, wall
        and object, (V or 1, R), which a colour is multiplied with, and the white gloss of the object, (V, R).
    """
    eye, forward, rays = _camera(angle, pixels)  # (1, 1, 3), (3,), (1, R, 3)
    solid = scale[:, None, None]  # (V, 1, 1)
    to_object, normal = hit(eye, rays, solid)  # (V, R), (V, R, 3)
    to_floor = positive(-eye[..., 1] / rays[..., 1])  # (1, R)
    away = torch.stack([rays[..., 0].sign() * WALL_DISTANCE, torch.full_like(to_floor, -WALL_DISTANCE)], dim=-1)
    to_wall, side = positive((away - eye[..., (0, 2)]) / rays[..., (0, 2)]).min(-1)  # (1, R)
    floor, wall = (eye + distance.clamp(max=1e3)[..., None] * rays for distance in (to_floor, to_wall))
    to_wall = torch.where(wall[..., 1] <= WALL_HEIGHT, to_wall, torch.inf)
    to_sky = torch.full_like(to_wall, 1e6)
    nearest = torch.stack(torch.broadcast_tensors(to_floor, to_wall, to_object, to_sky), dim=-1).argmin(-1)

    lamp = torch.tensor(LAMP)
    to_blocker, _ = hit(floor, torch.nn.functional.normalize(lamp - floor, dim=-1), solid)
    up = torch.tensor([0.0, 1.0, 0.0]).expand_as(floor)
    on_floor = AMBIENT + _lamp_light(floor, up) * to_blocker.isinf()
    on_floor = on_floor * _texture(-floor[..., 2], floor[..., 0], FLOOR_BLOTS)

    across = side == 1  # the wall in front of the camera; the others are at its sides
    inward = torch.stack([-rays[..., 0].sign() * ~across, torch.zeros_like(to_wall), across.to(rays)], dim=-1)
    on_wall = AMBIENT + _lamp_light(wall, inward) - CAMERA_LIGHT * (inward @ forward).clamp(max=0)
    on_wall = on_wall * _texture(torch.where(across, wall[..., 0], wall[..., 2]), wall[..., 1], WALL_BLOTS)

    point = eye + to_object.clamp(max=1e3)[..., None] * rays
    on_object = AMBIENT + _lamp_light(point, normal) - CAMERA_LIGHT * (normal @ forward).clamp(max=0)
    gloss = GLOSS * (((lamp - point) * normal).sum(-1) > 0)
    return nearest, (on_floor, on_wall, on_object), gloss


def _camera(angle: float, pixels: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the eye (1, 1, 3), the direction it looks in (3,), and its rays (1, pixels², 3) row by row.

    They are float64, so that pixels do not depend on how a machine rounds.
    """
    forward = torch.tensor([math.sin(angle), 0.0, -math.cos(angle)], dtype=torch.float64)
    right = torch.tensor([math.cos(angle), 0.0, math.sin(angle)], dtype=torch.float64)
    up = torch.tensor([0.0, 1.0, 0.0], dtype=torch.float64)
    eye = EYE_HEIGHT * up - EYE_DISTANCE * forward
    plane = ((torch.arange(pixels, dtype=torch.float64) + 0.5) / pixels * 2 - 1) * HALF_VIEW
    rays = forward + plane[None, :, None] * right - plane[:, None, None] * up  # (rows, columns, 3)
    return eye.view(1, 1, 3), forward, torch.nn.functional.normalize(rays, dim=-1).view(1, -1, 3)


def _lamp_light(point: Tensor, normal: Tensor) -> Tensor:
    """Return the light of the lamp on surfaces (V, R): less to the side of its beam, and on slanted surfaces."""
    to_lamp = torch.nn.functional.normalize(torch.tensor(LAMP) - point, dim=-1)
    return LAMP_LIGHT * to_lamp[..., 1].clamp(min=0) ** LAMP_EXPONENT * (to_lamp * normal).sum(-1).clamp(min=0)


def _texture(u: Tensor, v: Tensor, blots: tuple[tuple[float, ...], ...]) -> Tensor:
    """Return the factor by which the texture of a surface changes its brightness at places ``u``, ``v``."""
    turn = 2 * math.pi / TILE
    hexagons = 2 * torch.cos(turn * 5 * u) * torch.cos(turn * 8 * v) + torch.cos(turn * 10 * u)
    relief = 1 + HEXAGONS * hexagons
    for depth, at_u, at_v, wide, high, tilt in blots:
        x = ((u - at_u + TILE / 2) % TILE - TILE / 2) / wide
        y = ((v - at_v + TILE / 2) % TILE - TILE / 2) / high
        relief = relief - depth * torch.exp(-0.5 * (x**2 + y**2 + 2 * tilt * x * y))
    return relief


def _hit_cube(eye: Tensor, rays: Tensor, scale: Tensor) -> Hit:
    return hit_cube(eye, rays, CUBE * scale)


def _hit_cylinder(eye: Tensor, rays: Tensor, scale: Tensor) -> Hit:
    radius, height = CYLINDER
    return hit_cylinder(eye, rays, radius * scale, height * scale)


def _hit_sphere(eye: Tensor, rays: Tensor, scale: Tensor) -> Hit:
    return hit_ball(eye, rays, SPHERE * scale, SPHERE * scale)


def _hit_capsule(eye: Tensor, rays: Tensor, scale: Tensor) -> Hit:
    radius, height = CAPSULE
    return hit_capsule(eye, rays, radius * scale, height * scale)
