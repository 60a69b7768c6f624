from __future__ import annotations

import numpy as np
import pandas

from unweave.figures.beating import draw_beating_random


def test_the_four_cells_are_those_of_table_1() -> None:
    rows = [("same", "same", 0.773), ("same", "different", 0.55), ("different", "same", 0.518)]
    rows += [("different", "different", np.nan)]
    result = pandas.DataFrame(rows, columns=["metric", "data", "probability"]).assign(chance=0.5139)
    panel = draw_beating_random(result).axes[0]
    texts = [text.get_text().split("\n")[0] for text in panel.texts]
    assert texts == ["–", "51.8%", "55.0%", "77.3%"]  # the paper's order
    assert panel.texts[3].get_text().endswith("chance 51.4%")
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["different metric", "same metric"]
