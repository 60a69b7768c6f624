from __future__ import annotations

import pytest

from unweave.errors import InputError
from unweave.figures.drawing.panels import BLUE, COLOURS, ORANGE, PAGE, RED, Panels, compact, lay_out, style_methods
from unweave.figures.drawing.texts import Labels, shortened, text_width, wrapped


def test_methods_have_their_own_colour_and_marker() -> None:
    styles = style_methods([f"m{number}" for number in (0, 1, 1, *range(2, 20))])
    assert list(styles) == [f"m{number}" for number in range(20)]
    assert len({(style["color"], style["marker"]) for style in styles.values()}) == 20
    assert styles["m0"]["color"] == styles["m8"]["color"] == COLOURS[0]


def test_a_method_has_the_same_colour_in_every_figure() -> None:
    for methods in (["beta_vae", "ada_gvae"], ["ada_gvae", "tripod", "beta_vae"], ["other", "beta_vae", "ada_gvae"]):
        styles = style_methods(methods)
        assert (styles["beta_vae"]["color"], styles["ada_gvae"]["color"]) == (BLUE, ORANGE)
    variants = style_methods(["beta_vae (kl 1)", "beta_vae (kl 4)"])
    assert variants["beta_vae (kl 1)"]["color"] == BLUE
    assert variants["beta_vae (kl 4)"]["color"] != BLUE
    assert style_methods(["a label"], {"a label": "tripod"})["a label"]["color"] == RED


def test_a_table_of_panels_has_titles_a_legend_and_the_width_of_a_page() -> None:
    panels = Panels(["dsprites", "cars3d"], ["mig", "dci.disentanglement", "beta_vae_score"])
    panels.name()
    figure = lay_out(
        panels.figure, panels.axes, height=1.0, label="strength", legend=style_methods(["beta_vae", "vae"])
    )
    assert figure.get_figwidth() == PAGE
    titles = [panel.get_title().replace("\n", " ") for panel in panels.axes[0]]
    assert titles == ["MIG", "DCI disentanglement", "BetaVAE score"]
    assert [panel.get_ylabel() for panel in panels.axes[:, 0]] == ["dSprites", "Cars3D"]
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["β-VAE", "VAE"]
    assert figure.get_supxlabel() == "strength"
    boxes = [panel.get_position() for panel in panels.axes.flat]
    assert all(box.height * figure.get_figheight() == pytest.approx(1.0) for box in boxes)


def test_columns_that_do_not_fit_continue_below() -> None:
    panels = Panels(["a", "b"], [f"m{number}" for number in range(7)])
    assert panels.axes.shape == (4, 4)
    assert panels["a", "m4"] is panels.axes[2, 0]
    assert panels["b", "m6"] is panels.axes[3, 2]
    assert [panel.axison for panel in panels.axes[2]] == [True, True, True, False]


def test_nothing_to_draw_is_an_error() -> None:
    with pytest.raises(InputError, match="nothing to draw: the result has no rows"):
        Panels([], ["mig"])


def test_aligned_panels_have_the_same_limits() -> None:
    panels = Panels(["a", "b"], ["c", "d"])
    for number, panel in enumerate(panels.axes.flat):
        panel.plot([0, number], [0, number])
        panel.set_ylim(-number, 10 * number + 1)
    panels.align(x="all", y="col")
    assert len({panel.get_xlim() for panel in panels.axes.flat}) == 1
    assert panels["a", "c"].get_ylim() == panels["b", "c"].get_ylim() == (-2.0, 21.0)
    assert panels["a", "d"].get_ylim() == panels["b", "d"].get_ylim()
    assert panels["a", "d"].get_ylim() != panels["a", "c"].get_ylim()
    panels.align(y="row")
    assert panels["a", "c"].get_ylim() == panels["a", "d"].get_ylim()


def test_texts_are_wrapped_to_a_width_and_shortened_in_the_middle() -> None:
    text = "words of a label and_one_without_any_space_in_it_at_all"
    lines = wrapped(text, 1.0, 8)
    assert all(text_width(line, 8) <= 1.0 for line in lines)
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    short = shortened(text, 1.0, 8)
    assert text_width(short, 8) <= 1.0
    assert short.startswith("words")
    assert short.endswith("ll")
    assert shortened(text, 9.0, 8) == text


def test_shortened_labels_differ_and_are_written_out() -> None:
    labels, names = Labels(), [f"{'a' * 50}{number}{'b' * 50}" for number in range(3)]
    found = [labels.fit(name, 1.0, 8) for name in names]
    assert len(set(found)) == 3
    assert all(name in labels.caption for name in names)
    assert labels.fit("short", 1.0, 8) == "short"
    assert "short" not in labels.caption


@pytest.mark.parametrize(
    ("value", "text"), [(0.00275, "0.00275"), (-0.5, "−0.5"), (1e-15, "0"), (123456.0, "123.456k"), (2e9, "2e9")]
)
def test_numbers_at_ticks_are_short(value: float, text: str) -> None:
    assert compact(value) == text
