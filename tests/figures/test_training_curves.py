from __future__ import annotations

from pathlib import Path

import pytest
import torch
from matplotlib.text import Text

from tests.training.small import trained
from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures import FIGURES
from unweave.figures.training_curves import Curves, draw_training_curves, make_training_curves


def test_every_term_of_every_run_has_its_curve(gaussian: Run, quantised: Run) -> None:
    result = make_training_curves([gaussian, quantised])
    assert set(result.terms) >= {"loss", "reconstruction", "kl", "quantisation", "commitment"}
    steps, values = result.terms["kl"]["β-VAE"]
    lines = [line for line in gaussian.log if "kl" in line]
    assert (steps, values) == ([line["step"] for line in lines], [line["kl"] for line in lines])
    figure = draw_training_curves(result)
    panels = {panel.get_title(): panel for panel in figure.axes if panel.axison}
    assert set(panels) == {"KL" if name == "kl" else name for name in result.terms}
    assert len(panels["loss"].lines) == 2
    assert len(panels["KL"].lines) == 1
    assert len(result.records()) == sum(len(s) for lines in result.terms.values() for s, _ in lines.values())


def test_panels_above_a_gap_show_their_steps_and_labels_stay_as_given() -> None:
    terms = {f"term{number}": {"qlae": ([1, 2], [1.0, 2.0]), "my_run": ([1, 2], [2.0, 3.0])} for number in range(5)}
    figure = draw_training_curves(Curves("", terms))
    shown = [panel.xaxis.get_tick_params()["labelbottom"] for panel in figure.axes if panel.axison]
    assert shown == [False, False, True, True, True]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["qlae", "my_run"]


def test_runs_are_told_apart_in_grey_print() -> None:
    figure = draw_training_curves(Curves("", {"loss": {name: ([1, 2, 3], [3.0, 2.0, 1.0]) for name in "abcde"}}))
    drawn, legend = (
        [str(vars(line)["_unscaled_dash_pattern"]) for line in lines]
        for lines in (figure.axes[0].lines, figure.legends[0].get_lines())
    )
    assert len(set(drawn)) == 5
    assert drawn == legend


def test_runs_without_a_log_are_left_out_and_named(
    gaussian: Run, quantised: Run, linear: Run, data: FactorData, generator: torch.Generator
) -> None:
    curves = FIGURES["training_curves"]
    for runs in ([gaussian, linear], [gaussian, quantised, linear]):
        result = curves.of_runs(runs, [data] * len(runs), generator)
        assert len(result.terms["loss"]) == len(runs) - 1
        texts = [text.get_text() for text in curves.draw(result).findobj(Text) if isinstance(text, Text)]
        assert any("Without a training log: PCA." in text for text in texts)
    with pytest.raises(InputError, match=f"{linear.name}: training_curves needs a training log"):
        curves.of_runs([linear, linear], [data, data], generator)
    assert make_training_curves([gaussian]).note == ""


def test_a_run_without_a_log_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the log is empty"):
        make_training_curves([trained(tmp_path, "pca", latents=2)])
