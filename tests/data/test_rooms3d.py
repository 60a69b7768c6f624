from __future__ import annotations

import math

import pytest
import torch

import unweave
from unweave.data.distances import factor_importance
from unweave.data.rooms3d import (
    EYE_DISTANCE,
    EYE_HEIGHT,
    VIEWS,
    _camera,
    _hit_capsule,
    _hit_cube,
    _hit_cylinder,
    _hit_sphere,
)

FLOOR, WALL, OBJECT = 0, 3, 6  # hues well apart: red, green, blue


def test_factors_rank_by_perceived_distance_as_in_3d_shapes(generator: torch.Generator) -> None:
    """Table A1 of Michlo et al. 2023 on 3D Shapes: wall, floor, object hue, shape, scale, orientation."""
    rows = factor_importance(unweave.load("rooms3d"), generator, pairs=3000)
    published = ["random", "wall_hue", "floor_hue", "object_hue", "shape", "scale", "orientation"]
    assert [row.factor for row in rows] == published


def test_hues_colour_their_own_surface_and_nothing_else() -> None:
    data = unweave.load("rooms3d")
    point = torch.tensor([[FLOOR, WALL, OBJECT, 5, 2, 7]])
    image = data.images(point)[0].float()
    surface = image.argmax(0)  # red floor, green wall, blue object
    assert (surface[-1] == 0).all()  # the floor is at the bottom
    assert (surface[0] == 1).all()  # the wall at the top
    assert surface[34, 32] == 2  # the object in the middle
    layers = torch.tensor(data._layers[VIEWS.index(point[:, 3:])[0]])  # type: ignore[attr-defined]
    for axis in range(3):
        other = point.clone()
        other[0, axis] = 1  # orange
        changed = (data.images(other)[0] != image).any(0)
        assert (layers[axis][changed] > 0).all()
        assert changed[layers[axis] > 8].all()  # a fainter share can be lost in rounding


def test_scale_grows_the_object() -> None:
    data = unweave.load("rooms3d")
    line = data.space.traverse(torch.tensor([FLOOR, WALL, OBJECT, 0, 0, 7]), "scale")
    for shape in range(4):
        line[:, 4] = shape
        areas = (data.images(line).argmax(1) == 2).sum((1, 2))
        assert (areas.diff() > 0).all()


def test_the_views_from_left_and_right_mirror_each_other_in_outline() -> None:
    data = unweave.load("rooms3d")
    line = data.space.traverse(torch.tensor([FLOOR, WALL, OBJECT, 5, 0, 0]), "orientation")
    surfaces = data.images(line).argmax(1)  # (15, 64, 64)
    assert (surfaces == surfaces.flip(0, 2)).float().mean() > 0.99
    assert (surfaces[0] != surfaces[14]).float().mean() > 0.02


@pytest.mark.parametrize(
    ("hit", "inside"),
    [
        (_hit_sphere, lambda x, y, z, r: x**2 + (y - r) ** 2 + z**2 <= r**2),
        (_hit_cylinder, lambda x, y, z, r: (x**2 + z**2 <= (0.9 * r) ** 2) & (y >= 0) & (y <= 2 * r)),
        (_hit_cube, lambda x, y, z, r: (abs(x) <= 0.85 * r) & (abs(z) <= 0.85 * r) & (abs(y - 0.85 * r) <= 0.85 * r)),
        (
            _hit_capsule,
            lambda x, y, z, r: x**2 + (y - y.clamp(0.62 * r, 1.68 * r)) ** 2 + z**2 <= (0.62 * r) ** 2,
        ),
    ],
)
def test_rays_meet_each_solid_where_walking_along_them_does(hit: object, inside: object) -> None:
    """Walk along 24 × 24 rays in small steps and ask each point whether it is inside the solid."""
    assert callable(hit)
    assert callable(inside)
    eye, rays = _camera(0.3, 24)
    steps = torch.linspace(2, 8, 6001)
    points = eye[:, None, None] + rays.T[:, :, None] * steps  # (3, R, steps)
    within = inside(*points, 1.1)
    expected = torch.where(within.any(1), steps[within.int().argmax(1)], torch.inf)
    found, normal = hit(eye.expand(1, 1, 3), rays[None], torch.full((1, 1, 1), 1.1))
    met = expected.isfinite()
    assert 20 < met.sum() < 200
    assert (found[0].isfinite() == met).float().mean() > 0.995  # a ray may graze between two steps
    both = met & found[0].isfinite()
    assert (found[0] - expected)[both].abs().median() < 1e-3
    assert ((normal[0] * rays).sum(-1)[both] < 0.02).all()  # outward is towards the eye
    assert (normal[0][both].norm(dim=-1) - 1).abs().max() < 1e-3


def test_the_eye_circles_the_object() -> None:
    for angle in (-0.5, 0.0, 0.5):
        eye, rays = _camera(angle, 3)
        assert eye[1] == pytest.approx(EYE_HEIGHT)
        assert math.hypot(eye[0], eye[2]) == pytest.approx(EYE_DISTANCE, rel=1e-6)
        assert (rays.norm(dim=-1) - 1).abs().max() < 1e-6


def test_any_size_is_cast_anew() -> None:
    image = unweave.load("rooms3d", size=24).images(torch.tensor([[FLOOR, WALL, OBJECT, 5, 2, 7]]))
    assert image.shape == (1, 3, 24, 24)
    assert image[0, :, 13, 12].argmax() == 2
