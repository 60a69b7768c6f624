from __future__ import annotations

import pytest
import torch

from unweave import FactorData, Run
from unweave.data.distances import distance_matrices
from unweave.errors import InputError
from unweave.figures.run_distances import make_run_distances


def test_distances_are_those_of_loops_over_a_traversal(gaussian: Run, data: FactorData) -> None:
    result = make_run_distances([gaussian], [data], torch.Generator().manual_seed(0), traversals=1, factors=["width"])
    ((_, factors),) = result.runs
    assert list(factors) == ["width"]
    found = factors["width"]
    start = data.space.sample(1, torch.Generator().manual_seed(0))
    images = data.images(data.space.traverse(start[0], "width")).float() / 255
    mean, logvar = (side.double() for side in gaussian.posterior(images))
    again = gaussian.reconstruct(images)
    for a in range(3):
        for b in range(3):
            assert found["ground truth"][a, b] == abs(a - b)
            assert float(found["perceived"][a, b]) == pytest.approx(float((images[a] - images[b]).square().mean()))
            assert float(found["latent"][a, b]) == pytest.approx(float((mean[a] - mean[b]).norm()), abs=1e-6)
            posteriors = [torch.distributions.Normal(mean[place], (logvar[place] / 2).exp()) for place in (a, b)]
            kl = torch.distributions.kl_divergence(*posteriors).sum()
            assert float(found["KL"][a, b]) == pytest.approx(float(kl), abs=1e-8)
            expected = float((again[a] - again[b]).square().mean())
            assert float(found["reconstruction"][a, b]) == pytest.approx(expected, abs=1e-8)


def test_perceived_distances_are_those_of_the_data(quantised: Run, data: FactorData) -> None:
    result = make_run_distances([quantised], [data], torch.Generator().manual_seed(4), traversals=3)
    alone = distance_matrices(data, torch.Generator().manual_seed(4), traversals=3)
    for (name, found), matrices in zip(result.runs[0][1].items(), alone, strict=True):
        assert name == matrices.factor
        torch.testing.assert_close(found["perceived"], matrices.perceived)
        assert "KL" not in found  # there is no Gaussian posterior


def test_each_run_can_have_the_loss_that_it_was_trained_with(gaussian: Run, quantised: Run, data: FactorData) -> None:
    runs, sets = [gaussian, quantised], [data, data]
    both = make_run_distances(
        runs, sets, torch.Generator().manual_seed(1), traversals=1, loss=["mse", "blurred_mse:2"]
    ).runs
    for place, loss in enumerate(("mse", "blurred_mse:2")):
        (_, alone), _ = make_run_distances(
            [runs[place]] * 2, sets, torch.Generator().manual_seed(1), traversals=1, loss=loss
        ).runs
        for factor, found in both[place][1].items():
            assert torch.equal(found["perceived"], alone[factor]["perceived"])
        assert both[place][0].endswith(loss)
    with pytest.raises(InputError, match="one for each of the 2 runs, got 3"):
        make_run_distances(runs, sets, torch.Generator(), loss=["mse"] * 3)


def test_runs_on_the_same_data_have_the_same_traversals(gaussian: Run, quantised: Run, data: FactorData) -> None:
    result = make_run_distances([gaussian, quantised], [data, data], torch.Generator().manual_seed(1), traversals=1)
    (_, first), (_, second) = result.runs
    for factor, found in first.items():
        assert torch.equal(found["perceived"], second[factor]["perceived"])
