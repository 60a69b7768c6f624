"""Geometry of drawn images: polygons filled at pixel centres, and intersections of rays with upright solids.

Of solids, the second axis points up. Eyes are (V, 1, 3) or (V, R, 3), rays (V, R, 3), lengths (V, 1, 1): V views with R
rays each.
"""

from __future__ import annotations

import torch
from torch import Tensor

SUBPIXELS = 256  # vertices lie on a lattice of 1/256 pixel, so that comparisons with pixel centres are exact
Hit = tuple[Tensor, Tensor]  # distance along each ray (inf: missed) (V, R), and the outward normal (V, R, 3)


def snap(vertices: Tensor) -> Tensor:
    """Round vertices in pixels to the lattice, as int64 lattice steps."""
    return (vertices * SUBPIXELS).round().long()


def fill(vertices: Tensor, size: int) -> Tensor:
    """Draw closed polygons as uint8 0 or 1 (B, size, size); ``vertices`` (B, V, 2) are (x, y) on the lattice, y down.

    A pixel is lit when its centre is inside by the even-odd rule; a centre on a left or bottom edge counts as inside.
    Each edge toggles, in every row it crosses, the first pixel whose centre is not left of it; the parity of a running
    sum along the row is then 1 inside.
    """
    batch = len(vertices)
    x0, y0 = vertices.unbind(-1)  # (B, V)
    x1, y1 = vertices.roll(-1, dims=1).unbind(-1)
    half = SUBPIXELS // 2
    first = (torch.minimum(y0, y1) - half).div(SUBPIXELS, rounding_mode="floor") + 1  # top end exclusive
    last = (torch.maximum(y0, y1) - half).div(SUBPIXELS, rounding_mode="floor")  # bottom end inclusive
    most = int((last - first).max()) + 1 if vertices.numel() else 0
    rows = first[..., None] + torch.arange(most, device=vertices.device)  # (B, V, rows an edge crosses at most)
    crossed = (rows <= last[..., None]) & (rows >= 0) & (rows < size)
    image, edge, step = crossed.nonzero(as_tuple=True)  # one entry per crossing
    row = rows[image, edge, step]
    x0, y0, x1, y1 = (side[image, edge].double() for side in (x0, y0, x1, y1))
    x = x0 + (row * SUBPIXELS + half - y0) * (x1 - x0) / (y1 - y0)
    column = ((x - half) / SUBPIXELS).ceil().clamp(0, size).long()
    toggles = torch.zeros(batch * size * (size + 1), dtype=torch.uint8, device=vertices.device)
    toggles.index_add_(0, (image * size + row) * (size + 1) + column, torch.ones_like(row, dtype=torch.uint8))
    return toggles.view(batch, size, size + 1)[..., :size].cumsum(-1, dtype=torch.uint8) & 1


def positive(distance: Tensor) -> Tensor:
    """Return the distances, infinite where they lie behind the eye."""
    return torch.where(distance > 1e-4, distance, torch.inf)


def nearer(a: Hit, b: Hit) -> Hit:
    """Return what each ray meets first."""
    first = a[0] <= b[0]
    return torch.where(first, a[0], b[0]), torch.where(first[..., None], a[1], b[1])


def hit_ball(eye: Tensor, rays: Tensor, radius: Tensor, height: Tensor) -> Hit:
    """Intersect rays with a ball around the point at ``height`` above the origin.

    Args:
        eye: Where the rays start (V, 1, 3) or (V, R, 3).
        rays: The directions of the rays (V, R, 3), of length 1.
        radius: The radius of each ball (V, 1, 1).
        height: The height of its centre (V, 1, 1).

    Returns:
        The distance along each ray, infinite for rays that miss (V, R), and the outward normal where it hits (V, R, 3).
    """
    center = torch.cat([torch.zeros_like(height), height, torch.zeros_like(height)], dim=-1)  # (V, 1, 3)
    offset = eye - center
    along = (offset * rays).sum(-1)
    under = along**2 - (offset**2).sum(-1) + radius[..., 0] ** 2
    distance = positive(torch.where(under > 0, -along - under.clamp(min=0).sqrt(), torch.inf))
    return distance, (offset + distance[..., None].clamp(max=1e3) * rays) / radius


def hit_tube(eye: Tensor, rays: Tensor, radius: Tensor, low: Tensor, high: Tensor) -> Hit:
    """Intersect rays with the side of an upright cylinder from ``low`` to ``high``.

    Args:
        eye: Where the rays start (V, 1, 3) or (V, R, 3).
        rays: The directions of the rays (V, R, 3), of length 1.
        radius: The radius of each cylinder (V, 1, 1), whose axis passes through the origin.
        low: The height at which it begins (V, 1, 1).
        high: The height at which it ends (V, 1, 1).

    Returns:
        The distance along each ray, infinite for rays that miss (V, R), and the outward normal where it hits (V, R, 3).
    """
    flat = torch.tensor([1.0, 0.0, 1.0])
    across, direction = eye * flat, rays * flat
    a, b = (direction**2).sum(-1), (across * direction).sum(-1)
    under = b**2 - a * ((across**2).sum(-1) - radius[..., 0] ** 2)
    distance = positive(torch.where(under > 0, (-b - under.clamp(min=0).sqrt()) / a, torch.inf))
    point = eye + distance[..., None].clamp(max=1e3) * rays
    inside = (point[..., 1] >= low[..., 0]) & (point[..., 1] <= high[..., 0])
    return torch.where(inside, distance, torch.inf), point * flat / radius


def hit_cylinder(eye: Tensor, rays: Tensor, radius: Tensor, top: Tensor) -> Hit:
    """Intersect rays with an upright cylinder that stands on the floor; its base is not visible.

    Args:
        eye: Where the rays start (V, 1, 3) or (V, R, 3).
        rays: The directions of the rays (V, R, 3), of length 1.
        radius: The radius of each cylinder (V, 1, 1), whose axis passes through the origin.
        top: The height of its lid (V, 1, 1).

    Returns:
        The distance along each ray, infinite for rays that miss (V, R), and the outward normal where it hits (V, R, 3).
    """
    side = hit_tube(eye, rays, radius, torch.zeros_like(top), top)
    distance = positive((top[..., 0] - eye[..., 1]) / rays[..., 1])
    point = eye + distance[..., None].clamp(max=1e3) * rays
    on_lid = point[..., 0] ** 2 + point[..., 2] ** 2 <= radius[..., 0] ** 2
    lid = torch.where(on_lid, distance, torch.inf), torch.tensor([0.0, 1.0, 0.0]).expand_as(point)
    return nearer(side, lid)


def hit_capsule(eye: Tensor, rays: Tensor, radius: Tensor, top: Tensor) -> Hit:
    """Intersect rays with an upright capsule that stands on the floor.

    Args:
        eye: Where the rays start (V, 1, 3) or (V, R, 3).
        rays: The directions of the rays (V, R, 3), of length 1.
        radius: The radius of each capsule and of the balls at its ends (V, 1, 1).
        top: The height of its highest point (V, 1, 1).

    Returns:
        The distance along each ray, infinite for rays that miss (V, R), and the outward normal where it hits (V, R, 3).
    """
    low, high = radius, top - radius
    ends = nearer(hit_ball(eye, rays, radius, low), hit_ball(eye, rays, radius, high))
    return nearer(hit_tube(eye, rays, radius, low, high), ends)


def hit_cube(eye: Tensor, rays: Tensor, half: Tensor) -> Hit:
    """Intersect rays with a cube on the floor whose edges are twice ``half`` long and parallel to the axes."""
    center = torch.cat([torch.zeros_like(half), half, torch.zeros_like(half)], dim=-1)
    one, other = (center - half - eye) / rays, (center + half - eye) / rays  # (V, R, 3)
    enter, face = torch.minimum(one, other).max(-1)
    leave = torch.maximum(one, other).amin(-1)
    normal = torch.nn.functional.one_hot(face, 3) * -rays.sign()
    return positive(torch.where(enter < leave, enter, torch.inf)), normal
