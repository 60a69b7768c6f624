from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unweave
from tests.questions.tables import noise_table
from unweave import FactorData, Run, Study
from unweave.errors import InputError

PNG = b"\x89PNG"


def shown(figure: Any) -> bytes:
    """Return what a notebook shows of the last value of a cell."""
    return bytes(figure._repr_png_())


def test_a_figure_of_a_run_is_shown_by_a_notebook(gaussian: Run, data: FactorData) -> None:
    assert shown(unweave.figure("traversals", gaussian, data=data, steps=3)).startswith(PNG)
    again = [unweave.figure("reconstructions", gaussian, data=data, seed=seed) for seed in (0, 0, 1)]
    assert shown(again[0]) == shown(again[1]) != shown(again[2])
    assert shown(gaussian.figure("training_curves", data=data)).startswith(PNG)


def test_a_figure_of_a_table_and_of_a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = noise_table("mig")
    drawn = unweave.figure("score_strips", table)
    assert {text.get_text() for text in drawn.axes[-1].get_xticklabels()} == {"β-VAE", "AnnealedVAE", "DIP-VAE-I"}
    study = Study(
        'name = "tiny"\n[titles]\nae = "ours"\n[[grid]]\nrecipe = "ae"\ndata = "xysquares"\nseeds = 2\n', store=tmp_path
    )
    with pytest.raises(InputError, match="no run of tiny is finished"):
        study.figure("score_strips")
    finished = study.table().assign(state="finished", mig=[0.25, 0.75])
    monkeypatch.setattr(study, "table", lambda where=None: finished)
    drawn = study.figure("score_strips")
    assert [text.get_text() for text in drawn.axes[0].get_xticklabels()] == ["ours"]


def test_a_figure_of_scores_has_their_matrix() -> None:
    factors = np.stack(np.meshgrid(range(4), range(3)), axis=-1).reshape(-1, 2)
    scores = unweave.score_codes(factors[:, ::-1].astype(float), factors, metrics=["mig"])
    matrix = scores.figure().axes[0].images[0].get_array()
    assert np.allclose(matrix, scores["mig"].mutual_information.T)
    assert matrix[0, 1] == pytest.approx(np.log(4))
    with pytest.raises(InputError, match="dci_importance needs the score dci, and the scores are mig"):
        scores.figure("dci_importance")
    with pytest.raises(InputError, match="traversals cannot be drawn from scores"):
        scores.figure("traversals")


def test_figures_say_what_they_are_made_from(gaussian: Run, data: FactorData) -> None:
    with pytest.raises(InputError, match="traversals shows one run, encoder or table of codes, not a table"):
        unweave.figure("traversals", noise_table("mig"))
    with pytest.raises(InputError, match="traversals needs one run, encoder or table of codes, got data only"):
        unweave.figure("traversals", data)
    with pytest.raises(InputError, match="traversals needs one run, encoder or table of codes, got int"):
        unweave.figure("traversals", 3)
    with pytest.raises(InputError, match="did you mean 'traversals'"):
        unweave.figure("traversal", gaussian)
    three = unweave.load(np.zeros((3, 16, 16), np.uint8), factors={"x": [0, 0, 1], "y": [0, 1, 0]})
    with pytest.raises(InputError, match="perceived_distances needs data with an image of every combination"):
        unweave.figure("perceived_distances", three)


def test_modules_that_the_docs_name_are_found() -> None:
    code = "import unweave; print(unweave.explore.__name__, unweave.reports.__name__, 'explore' in dir(unweave))"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.split() == ["unweave.explore", "unweave.reports", "True"]
