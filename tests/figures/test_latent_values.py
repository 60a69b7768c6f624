from __future__ import annotations

import pytest
import torch

from unweave import Run
from unweave.errors import InputError
from unweave.figures.drawing.latent_rows import latent_values, moved, ordered_latents


def test_values_are_those_of_the_run_and_are_described(plain: Run, gaussian: Run, quantised: Run) -> None:
    for run, count, phrase in (
        (plain, 11, "1 % to 99 % quantile of the data"),
        (gaussian, 11, "±2 standard deviations of the prior"),
        (quantised, 10, "each level once"),
    ):
        values, text = latent_values(run)
        assert torch.equal(values, run.traversal_values(steps=11))
        assert (values.shape[1], text) == (count, phrase)
    values, text = latent_values(quantised, steps=5, over="quantile")
    assert (values.shape[1], text) == (5, "1 % to 99 % quantile of the data")


def test_fewer_steps_than_levels_are_evenly_spaced(quantised: Run) -> None:
    values, text = latent_values(quantised, steps=4)
    levels = quantised.model.values
    assert levels is not None
    assert torch.equal(values, levels[:, [0, 3, 6, 9]])
    assert text == "4 of 10 levels"


def test_one_latent_is_moved() -> None:
    codes = moved(torch.tensor([1.0, 2.0, 3.0]), 1, torch.tensor([7.0, 8.0]))
    assert codes.tolist() == [[1.0, 7.0, 3.0], [1.0, 8.0, 3.0]]


def test_orders_have_names(gaussian: Run, quantised: Run, plain: Run) -> None:
    assert ordered_latents(gaussian)[1] == "KL"
    assert ordered_latents(gaussian, "kl") == ordered_latents(gaussian)
    assert ordered_latents(quantised)[1] == "entropy"
    assert ordered_latents(quantised, "entropy") == ordered_latents(quantised)
    assert ordered_latents(plain) == ordered_latents(plain, "spread")
    std = gaussian.summary.std
    assert ordered_latents(gaussian, "spread") == (sorted(range(4), key=lambda j: -std[j]), "standard deviation")
    with pytest.raises(InputError, match="order=entropy needs quantised latents"):
        ordered_latents(gaussian, "entropy")
