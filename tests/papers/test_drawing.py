"""Pictures of findings that figures of tables make."""

from __future__ import annotations

import pandas as pd

from unweave.papers.drawing import of_table


def test_only_finished_runs_are_drawn() -> None:
    rows = [("finished", "vae", 0.1), ("finished", "ae", 0.2), ("failed", "pca", 0.9)]
    table = pd.DataFrame(rows, columns=["state", "recipe", "mig"]).assign(data="dsprites", seed=0)
    picture = of_table("score_strips", "Every run.", metrics=["mig"])
    assert picture.name == "score-strips"
    figure = picture.draw(table)
    labels = [text.get_text() for axes in figure.axes for text in axes.get_xticklabels() + axes.get_yticklabels()]
    assert any("AE" in label.upper() for label in labels)
    assert not any("PCA" in label.upper() for label in labels)
