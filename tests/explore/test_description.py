from __future__ import annotations

import math

import pytest
import torch

from unweave import Run
from unweave.explore.description import describe, facts, summary_of
from unweave.metrics import mig


def test_a_description_has_the_numbers_of_mig_and_of_the_summary(smooth: Run) -> None:
    data = smooth.data()
    found = describe(smooth, data, summary_of(smooth, data))
    kl = smooth.summary.kl
    assert kl is not None
    order = [latent["index"] for latent in found["latents"]]
    assert order == sorted(range(4), key=lambda i: -kl[i])
    assert [latent["importance"] for latent in found["latents"]] == [kl[i] for i in order]
    assert found["order"] == "KL"
    assert found["factors"] == [
        {"name": "place", "size": 12, "kind": "ordered"},
        {"name": "width", "size": 3, "kind": "ordered"},
        {"name": "light", "size": 2, "kind": "ordered"},
    ]
    images = data.rows(torch.arange(72))  # all of them, as the description saw
    entropies = torch.tensor([math.log(12), math.log(3), math.log(2)]).double()
    assert data.labels is not None
    exact = torch.tensor(mig(smooth.encode(images), data.labels).mutual_information) / entropies
    table, chance = (torch.tensor(found["follows"][key]).double() for key in ("share", "chance"))
    assert found["mutualInformation"] == found["follows"]["share"]
    assert table.shape == (4, 3)
    assert (table + chance - exact)[table > 0].abs().max() < 1e-3
    for latent in found["latents"]:
        best = int(table[latent["index"]].argmax())
        share = float(table[latent["index"], best])
        assert latent["factor"] == (("place", "width", "light")[best] if share else None)
        assert (latent["certainty"] or 0) == pytest.approx(share, abs=1e-4)
        assert (latent["low"], latent["high"]) == (-2.0, 2.0)
    assert {latent["index"]: latent["active"] for latent in found["latents"]} == dict(enumerate(smooth.summary.active))
    for latent in found["latents"]:
        assert latent["levels"] is None


def test_the_heading_of_a_run_has_its_label(smooth: Run) -> None:
    before = smooth.label
    try:
        smooth.label = "first"
        assert facts(smooth)[0] == ["label", "first"]
        smooth.label = ""
        assert "label" not in [name for name, _ in facts(smooth)]
    finally:
        smooth.label = before


def test_a_quantised_latent_has_its_levels(stepped: Run) -> None:
    data = stepped.data()
    found = describe(stepped, data, summary_of(stepped, data))
    values = stepped.model.values
    assert values is not None
    for latent in found["latents"]:
        assert latent["levels"] == values[latent["index"]].tolist()
        assert (latent["low"], latent["high"]) == (latent["levels"][0], latent["levels"][-1])
        assert 0 <= latent["importance"] <= math.log(4) + 1e-6
    assert found["order"] == "entropy"


def test_without_data_the_summary_gives_the_ranges(smooth: Run) -> None:
    found = describe(smooth, None, smooth.summary, "the data is elsewhere")
    assert found["can"] == {
        "encode": True,
        "decode": True,
        "data": False,
        "sample": True,
        "jacobian": True,
        "live": True,
    }
    assert found["factors"] is None
    assert found["mutualInformation"] is None
    assert found["note"] == "the data is elsewhere"
    assert {latent["factor"] for latent in found["latents"]} == {None}
    assert found["start"] == {"codes": smooth.summary.mean, "seeds": None}
