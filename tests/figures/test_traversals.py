from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.training.small import bars, trained
from unweave.figures import draw_traversals, make_traversals
from unweave.figures.traversals import Traversals


def test_latents_are_ordered_by_kl_with_their_values_above(tmp_path: Path, generator: torch.Generator) -> None:
    run = trained(tmp_path, steps=30, lr=1e-3, latents=4)
    result = make_traversals(run, bars(), generator, steps=3)
    kl = run.summary.kl
    assert kl is not None
    order = sorted(range(4), key=lambda latent: -kl[latent])
    assert [label for label, _ in result.rows] == [f"z{latent}, {kl[latent]:.2f} nats" for latent in order]
    assert all(images.shape == (3, 1, 16, 16) for _, images in result.rows)
    assert result.values == ((-2.0, 0.0, 2.0),) * 4
    assert result.title.endswith("latents by KL")
    figure = draw_traversals(result)
    assert len(figure.axes) == 4
    assert [text.get_text() for text in figure.texts].count("-2") == 4


@pytest.mark.parametrize(("recipe", "order"), [("qlae", "entropy"), ("ae", "standard deviation")])
def test_other_latents_say_what_orders_them(
    recipe: str, order: str, tmp_path: Path, generator: torch.Generator
) -> None:
    run = trained(tmp_path, recipe, steps=2, latents=3)
    result = make_traversals(run, bars(), generator)
    assert result.title.endswith(f"latents by {order}")
    columns = {"qlae": 10, "ae": 11}[recipe]  # a quantised latent shows each of its ten levels once
    assert all(len(images) == columns for _, images in result.rows)
    assert all(len(set(values)) == columns for values in result.values)


def test_values_that_are_zero_up_to_rounding_are_captioned_zero() -> None:
    images = torch.zeros(4, 1, 8, 8, dtype=torch.uint8)
    rows = (("z0", images), ("z1", images), ("z2", images))
    values = ((-2.0, -3e-08, 0.25, 2.0), (-2e-09, -1e-09, 1e-09, 2e-09), (0.0, -0.0, 0.0, 0.0))
    texts = [text.get_text() for text in draw_traversals(Traversals("title", rows, values)).texts]
    assert texts[2:6] == ["-2", "0", "0.25", "2"]
    assert texts[7:11] == ["-2e-09", "-1e-09", "1e-09", "2e-09"]  # a latent of small values keeps them
    assert texts[12:16] == ["0", "0", "0", "0"]
