from __future__ import annotations

import numpy as np
import pandas
import pytest

from unweave.errors import InputError
from unweave.figures.score_by_spacing import draw_score_by_spacing, fitted_curve, make_score_by_spacing


def table() -> pandas.DataFrame:
    return pandas.DataFrame(
        [
            {"data": "xysquares", "recipe": "beta_vae", "seed": seed, "data.spacing": spacing, "mig": seed + spacing}
            for spacing in (1, 4)
            for seed in (0, 2)
        ]
        + [{"data": "dsprites", "recipe": "beta_vae", "seed": 0, "data.spacing": np.nan, "mig": 9.0}]
    )


def test_points_are_runs_and_lines_are_means() -> None:
    result = make_score_by_spacing(table())
    assert len(result.frame) == 4  # a run without the setting is left out
    (panel,) = draw_score_by_spacing(result).axes
    points, means = panel.lines
    np.testing.assert_allclose(np.asarray(points.get_xydata(), float), [[1, 1], [1, 3], [4, 4], [4, 6]])
    np.testing.assert_allclose(np.asarray(means.get_xydata(), float), [[1, 2], [4, 5]])
    assert panel.get_xticks().tolist() == [1.0, 4.0]


def test_runs_that_differ_in_another_setting_are_not_pooled() -> None:
    blurred = table().head(2).assign(blur=31, mig=0.0)
    result = make_score_by_spacing(pandas.concat([table(), blurred]))
    means = result.frame.groupby(["method", "value"])["score"].mean().to_dict()
    assert means == {("beta_vae", 1.0): 2.0, ("beta_vae", 4.0): 5.0, ("beta_vae, blur 31", 1.0): 0.0}


def test_values_of_settings_may_be_dictionaries_and_protocols_are_none() -> None:
    plain = table().head(4)
    terms = plain.assign(terms=[{"kl": 1.0}, {"kl": 2.0}] * 2, seed=0, protocol=[{"seed": seed} for seed in range(4)])
    result = make_score_by_spacing(terms)
    assert set(result.frame["method"]) == {"beta_vae, terms {'kl': 1.0}", "beta_vae, terms {'kl': 2.0}"}


def test_a_setting_must_be_a_number_of_the_table() -> None:
    with pytest.raises(InputError, match=r"lacks the column 'data.spacin'. Did you mean 'data.spacing'"):
        make_score_by_spacing(table(), setting="data.spacin")
    with pytest.raises(InputError, match="the column 'recipe' must contain numbers"):
        make_score_by_spacing(table(), setting="recipe")


def test_data_sets_are_not_mixed() -> None:
    rows = [
        {"data": data, "recipe": "beta_vae", "seed": 0, "beta": beta, "mig": score, "sap": 0.0}
        for data, score in (("xysquares", 0.1), ("rooms3d", 0.9))
        for beta in (1, 4)
    ]
    axes = draw_score_by_spacing(make_score_by_spacing(pandas.DataFrame(rows), setting="beta")).axes
    assert [panel.get_title() for panel in axes] == ["MIG", "SAP", "", ""]
    assert [panel.get_ylabel() for panel in axes] == ["XYSquares", "", "Rooms3D", ""]
    assert [np.asarray(panel.lines[1].get_ydata()).tolist() for panel in axes[::2]] == [[0.1, 0.1], [0.9, 0.9]]


def test_the_fitted_curve_is_the_least_squares_polynomial_within_its_band() -> None:
    random = np.random.default_rng(1)
    x = np.repeat(np.arange(1.0, 9.0), 5)
    y = 0.3 - 0.04 * x + 0.002 * x**3 / 10 + 0.01 * random.normal(size=len(x))
    at = np.linspace(1, 8, 15)
    middle, low, high = fitted_curve(x, y, 4, at)
    np.testing.assert_allclose(middle, np.polyval(np.polyfit(x, y, 4), at), atol=1e-9)
    assert ((low < middle) & (middle < high)).all()
    assert (high - low).max() < 0.06
    few, *_ = fitted_curve(np.array([1.0, 1, 2, 2]), np.array([0.0, 2, 3, 5]), 4, np.array([1.0, 1.5, 2.0]))
    np.testing.assert_allclose(few, [1, 2.5, 4], atol=1e-9)  # two values determine a line


def test_a_fit_takes_the_place_of_the_lines_through_means() -> None:
    rows = [
        {"data": "xysquares", "recipe": "beta_vae", "data.spacing": spacing, "mig": 1 / spacing + seed / 100}
        for spacing in range(1, 9)
        for seed in range(3)
    ]
    figure = draw_score_by_spacing(make_score_by_spacing(pandas.DataFrame(rows), metrics=["mig"], fit=4))
    points, curve = figure.axes[0].lines[:2]
    assert (len(np.asarray(points.get_xdata())), len(np.asarray(curve.get_xdata()))) == (24, 60)
    assert len(figure.axes[0].collections) == 1  # the band
    with pytest.raises(InputError, match="fit"):
        make_score_by_spacing(pandas.DataFrame(rows), metrics=["mig"], fit=-1)
