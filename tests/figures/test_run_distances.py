from __future__ import annotations

import pytest
import torch

from unweave import FactorData, Run
from unweave.data.distances import distance_matrices
from unweave.figures.run_distances import draw_run_distances, make_run_distances


def test_distances_are_those_of_loops_over_a_traversal(gaussian: Run, data: FactorData) -> None:
    result = make_run_distances([gaussian], [data], torch.Generator().manual_seed(0), traversals=1, factors=["width"])
    ((name, found),) = result.rows
    assert name == "width"
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
    for (name, found), matrices in zip(result.rows, alone, strict=True):
        assert name == matrices.factor
        torch.testing.assert_close(found["perceived"], matrices.perceived)
        assert "KL" not in found  # there is no Gaussian posterior


def test_each_space_is_a_column(gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator) -> None:
    runs = [gaussian, quantised]
    result = make_run_distances(runs, [data, data], generator, traversals=1, factors=["place"])
    figure = draw_run_distances(result)
    titles = [panel.get_title() for panel in figure.axes[:5]]
    assert titles == ["ground truth", "perceived", "latent", "KL", "reconstruction"]
    assert [panel.axison for panel in figure.axes[5:]] == [True, True, True, False, True]
    assert figure.axes[5].get_ylabel() == "QLAE\nplace"
    assert len(result.records()) == 12 * 12 * 9
