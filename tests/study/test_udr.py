"""UDR of a real study."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest
import torch

from tests.cli.running import run as type_words
from tests.study.tiny import SPEC, Dots
from unweave.errors import InputError
from unweave.metrics import udr
from unweave.study import Study
from unweave.study.estimate import Noise
from unweave.study.udr import udr_of


def test_runs_are_compared_with_their_other_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spec.toml").write_text(SPEC, encoding="utf-8")
    study = Study(tmp_path / "spec.toml", store=tmp_path / "store")
    study.run(workers=1)
    found = udr_of(study, samples=200)
    assert len(found) == 6
    pair = study.runs(where={"recipe": "ae"})
    images = Dots().sample(200, torch.Generator().manual_seed(0)).images
    expected = udr([run.encode(images).numpy() for run in pair])
    assert [found[run.name] for run in pair] == pytest.approx(list(expected.per_model))
    words = ["study", "table", str(tmp_path / "spec.toml"), "--store", str(tmp_path / "store"), "--udr"]
    assert type_words(monkeypatch, *words, "--out", str(tmp_path / "table.csv")) == 0
    assert pandas.read_csv(tmp_path / "table.csv")["udr"].notna().all()


def test_workers_cannot_measure_it() -> None:
    with pytest.raises(InputError, match="unweave study table --udr"):
        _ = Study(SPEC.replace('["mig"]', '["mig", "udr"]')).planned


def test_images_are_random_and_a_function_of_their_factors(generator: torch.Generator) -> None:
    data = Noise((3, 8, 8))
    sample = data.sample(64, generator)
    assert sample.images.shape == (64, 3, 8, 8)
    assert 100 < sample.images.float().mean() < 155
    assert sample.factors is not None
    assert torch.equal(data.images(sample.factors), sample.images)
