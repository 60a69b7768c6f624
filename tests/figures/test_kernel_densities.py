from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from scipy.integrate import trapezoid
from scipy.stats import gaussian_kde, norm

from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures.kernel_densities import _codes, draw_kernel_densities, make_kernel_densities
from unweave.terms.kernel_multiinformation import kernel_multiinformation


@pytest.mark.parametrize("kind", ["gaussian", "quantised"])
def test_densities_equal_those_of_scipy_and_a_loop(kind: str, data: FactorData, request: pytest.FixtureRequest) -> None:
    run: Run = request.getfixturevalue(kind)
    result = make_kernel_densities(run, data, torch.Generator().manual_seed(3), batch=20, most=2)
    images = data.sample(20, torch.Generator().manual_seed(3)).images
    z, continuous = _codes(run, images)
    scale = continuous.numpy().std(0) + 1e-6
    width = (4 / ((run.size + 2) * 20)) ** (1 / (run.size + 4))
    for place, latent in enumerate(result.latents):
        codes = z[:, latent].numpy()
        expected = np.mean([norm.pdf(result.grid[place], c, scale[latent]) for c in codes], axis=0)
        assert result.marginals[place] == pytest.approx(expected, rel=1e-8)
        if codes.std() > 0:
            kde = gaussian_kde(codes, bw_method=width * scale[latent] / codes.std(ddof=1))
            assert result.joint_marginals[place] == pytest.approx(kde(result.grid[place]), rel=1e-8)
    one, other = result.latents
    point = 17, 40
    expected_joint = np.mean(
        [
            norm.pdf(result.grid[0][point[0]], row[one], width * scale[one])
            * norm.pdf(result.grid[1][point[1]], row[other], width * scale[other])
            for row in z.numpy()
        ]
    )
    assert result.joints[0, 1][point] == pytest.approx(expected_joint, rel=1e-8)
    assert result.multiinformation == pytest.approx(
        float(kernel_multiinformation(z, torch.from_numpy(scale))), rel=1e-8
    )


def test_level_sets_are_drawn_with_one_ellipse_per_code(
    gaussian: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = make_kernel_densities(gaussian, data, generator, batch=12, most=3)
    assert trapezoid(result.marginals[0], result.grid[0]) == pytest.approx(1, abs=0.02)
    axes = draw_kernel_densities(result).axes
    assert len(axes) == 9
    ellipses = axes[3].collections[-1]
    assert len(np.asarray(ellipses.get_offsets())) == len(np.unique(result.codes[:, [0, 1]], axis=0))
    line = axes[0].lines[0]
    assert np.asarray(line.get_ydata(), float) == pytest.approx(result.marginals[0])
    assert math.isfinite(result.multiinformation)
    with pytest.raises(InputError, match="most must be a whole number of at least 2"):
        make_kernel_densities(gaussian, data, generator, most=1)
