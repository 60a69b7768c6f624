from __future__ import annotations

import pytest
import torch

from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures.drawing.spans import latent_values, moved


def test_a_quantile_range_leaves_out_the_tails(plain: Run, data: FactorData) -> None:
    values, text = latent_values(plain, data, torch.Generator().manual_seed(1), steps=3, over="quantile", tail=0.25)
    codes = plain.encode(data.sample(1_000, torch.Generator().manual_seed(1)).images)
    low, high = (codes.sort(0).values[round(share * 999)] for share in (0.25, 0.75))
    torch.testing.assert_close(values, torch.stack([low, (low + high) / 2, high], dim=1), atol=2e-3, rtol=0)
    assert text == "quantiles 0.25 to 0.75 of the data"


def test_fewer_steps_than_levels_are_evenly_spaced(
    quantised: Run, data: FactorData, generator: torch.Generator
) -> None:
    values, text = latent_values(quantised, data, generator, steps=4)
    levels = quantised.model.values
    assert levels is not None
    assert torch.equal(values, levels[:, [0, 3, 6, 9]])
    assert text == "4 of 10 levels"


def test_one_latent_is_moved() -> None:
    codes = moved(torch.tensor([1.0, 2.0, 3.0]), 1, torch.tensor([7.0, 8.0]))
    assert codes.tolist() == [[1.0, 7.0, 3.0], [1.0, 8.0, 3.0]]


def test_a_tail_of_half_is_refused(plain: Run, data: FactorData, generator: torch.Generator) -> None:
    with pytest.raises(InputError, match=r"tail must be at least 0 and below 0\.5"):
        latent_values(plain, data, generator, tail=0.5)


@pytest.mark.parametrize("span", [0.0, -1.0, float("nan"), float("inf")])
def test_a_span_must_be_positive(span: float, gaussian: Run, data: FactorData, generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="span must be a positive number"):
        latent_values(gaussian, data, generator, span=span)
