from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.stats
import torch
from torch import Tensor

from unweave.errors import InputError
from unweave.latents import FSQ, LATENTS, Code, Codebook, Deterministic, Gaussian, Latent, Summary
from unweave.latents.latent import evenly, straight_through
from unweave.metrics import active_units, infomec


@pytest.mark.parametrize("kind", LATENTS.values())
def test_every_latent_codes_a_batch_and_can_be_asked_for_any_size(kind: type[Latent]) -> None:
    latent = kind(size=7)
    code = latent.code(torch.randn(5, latent.outputs), latent.start(), torch.Generator().manual_seed(0))
    assert code.z.shape == code.continuous.shape == code.representation.shape == (5, 7)
    values = latent.values(latent.start())
    assert (values is None) == (code.indices is None)
    with pytest.raises(InputError, match="size must be greater than or equal to 1, got 0"):
        kind(size=0)
    with pytest.raises(InputError, match="did you mean 'size'"):
        kind(sizes=3)  # type: ignore[call-arg]


def test_straight_through_is_exact_in_value() -> None:
    continuous, quantised = torch.randn(1000), torch.randn(1000)
    assert torch.equal(straight_through(continuous, quantised), quantised)


SUMMARY = Summary(mean=[1.0, -2.0], std=[0.5, 3.0], kl=None, usage=[[0.5, 0.0, 0.0, 0.5], [0.0, 1.0, 0.0, 0.0]])


@pytest.mark.parametrize(
    ("name", "discrete", "posterior"),
    [
        ("gaussian", False, True),
        ("deterministic", False, False),
        ("codebook", True, False),
        ("fsq", True, False),
    ],
)
def test_a_latent_knows_its_kind(name: str, discrete: bool, posterior: bool) -> None:
    latent = LATENTS[name](size=3)
    assert (latent.discrete, latent.has_posterior) == (discrete, posterior)


def test_traversals_of_continuous_latents() -> None:
    prior = Gaussian(size=2).traversal(5, 2.0, None, {})
    assert prior.tolist() == [[-2.0, -1.0, 0.0, 1.0, 2.0]] * 2
    measured = replace(SUMMARY, low=[0.0, -4.0], high=[1.0, 10.0])
    assert Deterministic(size=2).traversal(3, 2.0, measured, {}).tolist() == [[0.0, 0.5, 1.0], [-4.0, 3.0, 10.0]]
    before = Deterministic(size=2).traversal(3, 2.0, SUMMARY, {})  # a run without stored quantiles
    normal = [scipy.stats.norm(mean, std).ppf([0.01, 0.5, 0.99]) for mean, std in ((1.0, 0.5), (-2.0, 3.0))]
    torch.testing.assert_close(before, torch.tensor(np.array(normal)).float(), atol=1e-3, rtol=0)
    with pytest.raises(InputError, match="the deterministic latent needs a summary of its codes over the data"):
        Deterministic(size=2).traversal(3, 2.0, None, {})


def test_traversals_of_discrete_latents_take_each_level_at_most_once() -> None:
    codebook = {"codebook": torch.tensor([[3.0, 1.0, 2.0, 0.0], [0.0, 10.0, 30.0, 20.0]])}
    latent = Codebook(size=2, levels=4)
    assert latent.traversal(7, 2.0, None, codebook).tolist() == [[0.0, 1.0, 2.0, 3.0], [0.0, 10.0, 20.0, 30.0]]
    assert latent.traversal(2, 2.0, None, codebook).tolist() == [[0.0, 3.0], [0.0, 30.0]]
    assert FSQ(size=3, levels=144).traversal(9, 2.0, None, {}).shape == (3, 9)


@pytest.mark.parametrize("count", [1, 2, 3, 10, 12, 144, 997])
@pytest.mark.parametrize("at_most", [1, 2, 3, 7, 9, 12, 500])
def test_thinning_is_even_and_repeats_nothing(count: int, at_most: int) -> None:
    chosen = evenly(count, at_most).tolist()
    assert len(chosen) == len(set(chosen)) == min(count, at_most)
    assert chosen == sorted(chosen)
    if len(chosen) > 1:
        assert (chosen[0], chosen[-1]) == (0, count - 1)
        gaps = [b - a for a, b in itertools.pairwise(chosen)]
        assert max(gaps) - min(gaps) <= 1


def test_samples_of_continuous_latents() -> None:
    prior = Gaussian(size=2).sample(20_000, torch.Generator().manual_seed(0), None, {})
    assert prior.mean(0).tolist() == pytest.approx([0, 0], abs=0.03)
    assert prior.std(0).tolist() == pytest.approx([1, 1], abs=0.03)
    around = Deterministic(size=2).sample(20_000, torch.Generator().manual_seed(0), SUMMARY, {})
    assert around.mean(0).tolist() == pytest.approx([1, -2], abs=0.1)
    assert around.std(0).tolist() == pytest.approx([0.5, 3.0], rel=0.03)


def test_samples_of_discrete_latents_follow_their_usage() -> None:
    latent = FSQ(size=2, levels=4)
    codes = latent.sample(2000, torch.Generator().manual_seed(0), SUMMARY, {})
    assert codes.shape == (2000, 2)
    assert set(codes[:, 0].tolist()) == {-1.0, 1.0}
    assert codes[:, 0].mean().abs() < 0.1
    torch.testing.assert_close(codes[:, 1], torch.full((2000,), -1 / 3))
    assert latent.sample(0, torch.Generator(), SUMMARY, {}).shape == (0, 2)


def test_a_latent_of_your_own_needs_only_a_code() -> None:
    class Halved(Latent):
        """Codes divided by two."""

        def code(self, outputs: Tensor, learned: Any, generator: torch.Generator | None = None) -> Code:
            return Code(outputs / 2, outputs / 2)

    latent = Halved(size=2)
    assert not latent.discrete
    assert not latent.has_posterior
    measured = replace(SUMMARY, low=[0.0, -4.0], high=[1.0, 10.0])
    assert latent.traversal(2, 1.0, measured, {}).tolist() == [[0.0, 1.0], [-4.0, 10.0]]
    assert latent.sample(4, torch.Generator(), SUMMARY, {}).shape == (4, 2)


def test_a_deterministic_code_is_what_the_encoder_gave() -> None:
    outputs = torch.randn(3, 4)
    code = Deterministic(size=4).code(outputs, {}, torch.Generator())
    assert code.z is outputs
    assert code.representation is outputs


def test_latents_are_ordered_by_what_their_kind_has() -> None:
    by_kl = Summary([0.0] * 3, [5.0, 1.0, 1.0], [0.1, 2.0, 1.0], None)
    assert (by_kl.order, by_kl.order_name) == ([1, 2, 0], "KL")
    usage = [[1.0, 0.0], [0.9, 0.1], [0.5, 0.5]]  # entropies 0, 0.325, 0.693
    by_entropy = Summary([0.0] * 3, [5.0, 1.0, 1.0], None, usage)
    assert (by_entropy.order, by_entropy.order_name) == ([2, 1, 0], "entropy")
    by_spread = Summary([0.0] * 3, [1.0, 5.0, 1.0], None, None)
    assert (by_spread.order, by_spread.order_name) == ([1, 0, 2], "standard deviation")  # ties keep their order


@pytest.mark.parametrize("discrete", [False, True])
def test_active_latents_are_those_that_infomec_counts(discrete: bool) -> None:
    codes = torch.zeros(400, 5)
    codes[:, 0] = torch.arange(400) % 11 / 10
    codes[:80, 1] = 1.0  # a fifth of images: varies, but its quartiles coincide
    codes[:200, 2] = 0.08  # between a tenth of the largest interquartile range (0.5) and 0.1
    codes[:200, 3] = 0.04
    found = Summary.of_codes(codes, discrete=discrete).active
    assert found == [True, False, not discrete, False, False]
    assert found == infomec(codes, torch.arange(400)[:, None] % 11, discrete=discrete).active.tolist()


@pytest.mark.parametrize(
    ("summary", "active"),
    [
        (Summary([0, 0], [1.0, 1.0], None, [[0.5, 0.5, 0.0], [0.8, 0.1, 0.1]]), [True, False]),
        (Summary([0, 0], [10.0, 0.9], None, None), [True, False]),
        (Summary([0, 0], [10.0, 1.1], [0.1, 0.1], None), [True, True]),
    ],
)
def test_active_latents_of_runs_that_were_stored_without_quartiles(summary: Summary, active: list[bool]) -> None:
    assert summary.active == active


def test_no_latent_of_a_collapsed_posterior_is_active() -> None:
    mean = 0.09 * torch.randn(2_000, 4, generator=torch.Generator().manual_seed(0)).clamp(-1, 1)
    assert active_units(mean).score == 0
    summary = Summary.of_codes(mean, kl=[0.0] * 4)
    assert summary.collapsed
    assert not any(summary.active)
    assert all(Summary.of_codes(mean).active)  # without a posterior, small codes are as good as large ones


def test_sparse_codes_are_active_where_they_vary() -> None:
    codes = torch.zeros(100, 3)
    codes[:10, 0] = 1.0
    codes[10:15, 1] = 2.0
    assert Summary.of_codes(codes).active == [True, True, False]
