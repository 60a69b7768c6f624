"""JL1-VAE against β-VAE, PCA and ICA on crops of pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import unweave
from tests.papers.judging import verdicts
from unweave.papers import FINDINGS, study_of
from unweave.papers.natural_patches import mean_area, measure

SMALL = {"steps": 2, "net.width": 0.125, "batch": 8, "latents": 10, "seeds": 2}
FINDING = FINDINGS["natural-patches"]


def areas(jl1: float, beta: float) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for recipe, area in (("jl1_vae", jl1), ("beta_vae", beta)):
        rows += [{"recipe": recipe, "latents": 5, "seed": s, "area": area + 0.01 * s} for s in range(3)]
    rows += [{"recipe": "pca", "latents": 100, "seed": 0, "area": 0.6}]
    rows += [{"recipe": "ica", "latents": 100, "seed": 0, "area": 0.2}]
    return pd.DataFrame(rows).assign(state="finished", seconds=1.0, psnr=20.0, columns=5.0)


def test_smaller_areas_of_all_seeds_show_the_finding() -> None:
    assert set(verdicts(FINDING.answer(areas(0.2, 0.5))).values()) == {"shown"}
    alike = verdicts(FINDING.answer(areas(0.2, 0.3)))
    nearer = "With 5 latents the columns of beta_vae are nearer in area to those of pca than of ica."
    assert alike[nearer] == "not shown"
    evidence = {claim.sentence: claim.evidence for claim in FINDING.answer(areas(0.2, 0.3)).claims}
    assert "with 100 components" in evidence[nearer]
    without = verdicts(FINDING.answer(areas(0.4, 0.4)))
    assert without["With 5 latents JL1-VAE's columns are more local than β-VAE's."] == "not shown"
    assert without["ICA's columns are more local than PCA's."] == "shown"


def test_without_runs_of_a_method_nothing_is_tested() -> None:
    table = areas(0.2, 0.4)
    few = table[table["recipe"] != "beta_vae"]
    assert next(iter(verdicts(FINDING.answer(few)).values())) == "not tested"


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A picture of bright dots on black, whose components are local."""
    random = np.random.default_rng(0)
    folder = tmp_path / "pictures"
    folder.mkdir()
    pixels = np.where(random.random((120, 120)) < 0.02, 255, 0).astype(np.uint8)
    Image.fromarray(pixels).save(folder / "dots.png")
    return folder


def test_a_small_study_is_measured_and_drawn(pictures: Path, tmp_path: Path) -> None:
    pictured = {"data.folder": str(pictures), "data.whiten": True, "data.crops": 300}
    study = study_of("natural-patches", "lite", tmp_path / "store", pictured)
    assert study is not None
    spec = study.spec
    grids = [{**grid, **SMALL} for grid in spec.grid[:2]] + [{**spec.grid[2], "latents": [10, 100]}]
    small = type(study)(spec.model_copy(update={"grid": grids}), store=tmp_path / "store")
    assert small.run(workers=1) == {"finished": 2 + 2 + 4}
    table = measure(small)
    assert table["area"].between(0, 1).all()
    assert (table["columns"] <= table["latents"]).all()
    assert str(tmp_path) not in table.to_csv()
    for view in FINDING.views:
        assert view.draw(small).axes
    assert len(FINDING.answer(table).parts[0].measured) == 6


def test_components_of_single_pixels_are_local(pictures: Path, tmp_path: Path) -> None:
    import unweave

    data = unweave.load("natural", folder=pictures, size=8, crops=2_000)
    run = unweave.train("ica", data, latents=64, store=tmp_path / "store")
    area, columns = mean_area(run)
    assert area < 5 / 64  # a pixel or a few
    assert columns > 32


@pytest.mark.parametrize(
    ("whiten", "recipe", "area"),
    [(False, "pca", 0.478), (False, "ica", 0.451), (True, "pca", 0.461), (True, "ica", 0.248)],
)
def test_ica_is_local_on_whitened_pictures_only(
    whiten: bool, recipe: str, area: float, shared_data: Path, tmp_path: Path
) -> None:
    """Areas of 100 components on 13 pictures of Hoyer and Hyvärinen's ImageICA package, from an audit of the paper."""
    data = unweave.load("natural", folder=shared_data / "natural", size=16, whiten=whiten)
    run = unweave.train(recipe, data, latents=100, store=tmp_path)
    found, columns = mean_area(run)
    assert found == pytest.approx(area, abs=0.005)
    assert columns == 100
