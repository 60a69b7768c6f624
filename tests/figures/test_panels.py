from __future__ import annotations

import pytest

from unweave.errors import InputError
from unweave.figures.drawing.panels import COLOURS, add_legend, add_titles, align, panel_grid, style_methods


def test_methods_have_their_own_colour_and_marker() -> None:
    styles = style_methods([f"m{number}" for number in (0, 1, 1, *range(2, 20))])
    assert list(styles) == [f"m{number}" for number in range(20)]
    assert len({(style["color"], style["marker"]) for style in styles.values()}) == 20
    assert styles["m0"]["color"] == styles["m8"]["color"] == COLOURS[0]


def test_a_grid_has_panels_titles_and_a_legend() -> None:
    figure, axes = panel_grid(2, 3, size=(2.0, 1.0), margin=(0.5, 0.25))
    assert tuple(figure.get_size_inches()) == (6.5, 2.25)
    add_titles(axes, ["dsprites", "cars3d"], ["mig", "dci.disentanglement", "beta_vae_score"])
    add_legend(figure, style_methods(["beta_vae", "dip_vae_ii"]), label="strength")
    assert [panel.get_title() for panel in axes[0]] == ["MIG", "DCI disentanglement", "BetaVAE score"]
    assert [panel.get_ylabel() for panel in axes[:, 0]] == ["dSprites", "Cars3D"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["β-VAE", "DIP-VAE-II"]
    assert legend.get_title().get_text() == "strength"


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(InputError, match="nothing to draw: the result has no rows"):
        panel_grid(0, 2)


def test_aligned_panels_have_the_same_limits() -> None:
    _, axes = panel_grid(2, 2)
    for number, panel in enumerate(axes.flat):
        panel.plot([0, number], [0, number])
        panel.set_ylim(-number, 10 * number + 1)
    align(axes, x="all", y="col")
    assert len({panel.get_xlim() for panel in axes.flat}) == 1
    assert axes[0, 0].get_ylim() == axes[1, 0].get_ylim() == (-2.0, 21.0)
    assert axes[0, 1].get_ylim() == axes[1, 1].get_ylim()
    assert axes[0, 1].get_ylim() != axes[0, 0].get_ylim()
    align(axes, y="row")
    assert axes[0, 0].get_ylim() == axes[0, 1].get_ylim()
