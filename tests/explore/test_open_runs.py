from __future__ import annotations

import os
import shutil
import struct
from copy import deepcopy
from pathlib import Path

import pytest
import torch

import unweave
from unweave import Run
from unweave.errors import InputError, Unavailable
from unweave.explore import find_selection
from unweave.explore.open_runs import KEPT, MOST_CODES, OpenRun, OpenRuns, most_different, weights_version


@pytest.fixture(scope="module")
def opened(smooth: Run) -> OpenRun:
    return OpenRuns(find_selection(None, store=smooth.folder.parent)).open(smooth.name)


def test_codes_are_read_from_bytes(opened: OpenRun) -> None:
    assert opened.codes(struct.pack("<8f", *range(8))).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "rows of 4 float32 values, got 0 bytes"),
        (b"\0" * 15, "got 15 bytes"),
        (struct.pack("<4f", 0, 0, 0, float("nan")), "finite"),
        (struct.pack("<4f", 0, 0, 0, float("inf")), "finite"),
        (b"\0" * 16 * (MOST_CODES + 1), f"at most {MOST_CODES} codes"),
    ],
)
def test_bytes_that_are_not_codes_are_refused(opened: OpenRun, body: bytes, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        opened.codes(body)


def test_jacobian_columns_are_the_strongest_channel_of_finite_differences(opened: OpenRun) -> None:
    code, step = torch.tensor([0.3, -0.2, 0.5, 0.1]), 1e-6
    assert isinstance(opened.run, Run)
    exact = deepcopy(opened.run.model).double()  # a step of float64 is too small to cross a kink of a ReLU
    columns = opened.columns(code)  # (D, H, W)
    for latent in range(4):
        move = step * torch.eye(4).double()[latent]
        with torch.no_grad():
            up, down = (exact.decode((code.double() + sign * move)[None])[0] for sign in (1, -1))
        difference = ((up - down) / (2 * step))[0]  # the only channel
        torch.testing.assert_close(columns[latent].double(), difference, atol=1e-5, rtol=1e-3)
        assert difference.abs().max() > 0.01


def test_samples_are_of_the_prior_or_of_the_levels(opened: OpenRun, stepped: Run) -> None:
    drawn = opened.sample(torch.Generator().manual_seed(3))
    assert torch.equal(drawn, torch.randn(1, 4, generator=torch.Generator().manual_seed(3)))
    quantised = OpenRuns(find_selection(None, store=stepped.folder.parent)).open(stepped.name)
    codes, values = quantised.sample(torch.Generator().manual_seed(0)), stepped.model.values
    assert values is not None
    assert all(code in row for code, row in zip(codes[0].tolist(), values.tolist(), strict=True))


def test_a_run_is_opened_once_and_again_when_its_weights_change(tmp_path: Path, smooth: Run) -> None:
    folder = tmp_path / smooth.folder.name
    shutil.copytree(smooth.folder, folder)
    runs = OpenRuns(find_selection(None, store=tmp_path))
    assert runs.ready(folder.name) is None
    first = runs.open(folder.name)
    assert runs.open(folder.name) is runs.ready(folder.name) is first
    before = weights_version(folder)
    os.utime(folder / "model.safetensors", ns=(0, before + 1))
    assert weights_version(folder) == before + 1
    assert runs.ready(folder.name) is None
    assert runs.open(folder.name) is not first
    assert len(runs._open) == 1 <= KEPT
    for name in ("model.safetensors", "checkpoint.safetensors"):
        (folder / name).unlink(missing_ok=True)
    assert weights_version(folder) == 0
    with pytest.raises(Unavailable, match="no weights yet"):
        runs.open(folder.name)


def test_scores_that_are_measured_later_are_shown(tmp_path: Path, smooth: Run) -> None:
    folder = tmp_path / smooth.folder.name
    shutil.copytree(smooth.folder, folder)
    opened = OpenRuns(find_selection(None, store=tmp_path)).open(folder.name)
    assert "MIG" not in dict(opened.description()["facts"])
    found = unweave.score(opened.run, opened.needed_data(), metrics=["mig"], samples=60)
    assert dict(opened.description()["facts"])["MIG"] == f"{found.table['mig']:.2f}"


def test_without_its_data_a_run_still_decodes(tmp_path: Path, smooth: Run) -> None:
    folder = tmp_path / smooth.folder.name
    shutil.copytree(smooth.folder, folder)
    text = (folder / "configuration.json").read_text()
    (folder / "configuration.json").write_text(text.replace("bars.npz", "gone.npz"))
    found = OpenRuns(find_selection(None, store=tmp_path)).open(folder.name)
    assert found.description()["can"]["data"] is False
    assert "no longer at" in found.description()["note"]
    with pytest.raises(Unavailable, match=r"gone\.npz"):
        found.needed_data()
    code = torch.zeros(1, 4)
    assert torch.equal(found.run.decode(code), smooth.decode(code))


def test_strips_of_the_list_change_the_picture_in_different_ways() -> None:
    changes = torch.tensor([[3.0, 0, 0], [2.9, 0.1, 0], [0, 1, 0], [0, 0, 0], [0, 0, 2]])
    assert most_different(changes, 3) == [0, 4, 2]  # the second row is like the first
    assert most_different(changes[:2], 3) == [0, 1]
    assert sorted(most_different(torch.zeros(3, 4), 3)) == [0, 1, 2]
