from __future__ import annotations

import multiprocessing
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.distributed as dist
from torch import Tensor
from torchmetrics import MeanMetric, MetricCollection

import unweave
from tests.interop.lines import count_lines
from unweave.errors import InputError, MissingExtra
from unweave.interop import CodeScores

METRICS = ["mig", "modularity", "dci"]
EXAMPLE = Path(__file__).parents[2] / "examples" / "torchmetrics_metric.py"


def sample(rows: int = 600, seed: int = 0) -> tuple[Tensor, Tensor]:
    """Codes (rows, 4) that follow three factors (rows, 3) with noise."""
    generator = torch.Generator().manual_seed(seed)
    factors = torch.stack([torch.randint(0, size, (rows,), generator=generator) for size in (4, 3, 5)], dim=1)
    mixed = factors.float() @ torch.randn(3, 4, generator=generator)
    return mixed + 0.3 * torch.randn(rows, 4, generator=generator), factors


def numbers(table: dict[str, Tensor]) -> dict[str, float]:
    return {name: value.item() for name, value in table.items()}


@pytest.mark.parametrize("batch", [600, 250, 1])
def test_batches_together_score_as_one_matrix(batch: int) -> None:
    codes, factors = sample()
    metric = CodeScores(METRICS, settings={"mig": {"bins": 7}}, seed=3)
    for part in zip(codes.split(batch), factors.split(batch), strict=True):
        metric.update(*part)
    expected = unweave.score_codes(codes, factors, metrics=METRICS, settings={"mig": {"bins": 7}}, seed=3)
    assert numbers(metric.compute()) == expected.table
    np.testing.assert_array_equal(metric.scores["mig"].mutual_information, expected["mig"].mutual_information)


def test_a_discrete_code_is_scored_as_one() -> None:
    codes, factors = sample()
    codes = codes.round()
    metric = CodeScores("infomec", discrete=True)
    metric.update(codes, factors)
    expected = unweave.score_codes(codes, factors, metrics="infomec", discrete=True).table
    assert numbers(metric.compute()) == expected
    assert expected != unweave.score_codes(codes, factors, metrics="infomec").table


def test_reset_forgets_everything() -> None:
    metric = CodeScores("mig")
    metric.update(*sample(seed=0))
    metric.compute()
    metric.reset()
    with pytest.raises(InputError, match="call compute"):
        _ = metric.scores
    codes, factors = sample(seed=1)
    metric.update(codes, factors)
    assert numbers(metric.compute()) == unweave.score_codes(codes, factors, metrics="mig").table


def test_it_works_in_a_collection_and_with_one_factor() -> None:
    codes, factors = sample()
    collection = MetricCollection({"codes": CodeScores("mig")})
    collection.update(codes, factors[:, 0])
    assert collection.compute()["mig"].item() == unweave.score_codes(codes, factors[:, 0], metrics="mig").table["mig"]
    assert CodeScores("mig").higher_is_better is None
    assert MeanMetric()(torch.ones(2)) == 1  # the package is the real one


def test_calling_the_metric_scores_the_batch_and_keeps_it() -> None:
    codes, factors = sample()
    metric = CodeScores("mig")
    first = metric(codes[:300], factors[:300])
    metric(codes[300:], factors[300:])
    assert numbers(first) == unweave.score_codes(codes[:300], factors[:300], metrics="mig").table
    assert numbers(metric.compute()) == unweave.score_codes(codes, factors, metrics="mig").table


def test_gradients_are_not_kept() -> None:
    codes, factors = sample()
    metric = CodeScores("mig")
    metric.update(codes.requires_grad_(), factors)
    assert not any(batch.requires_grad for batch in metric.codes)


@pytest.mark.parametrize(
    ("codes", "factors", "message"),
    [
        (torch.zeros(3, 2), torch.zeros(4, 1), "got 3 codes but 4 rows of factors"),
        (torch.zeros(3), torch.zeros(3, 1), r"codes must be \(B, D\), got the shape \(3,\)"),
        (torch.zeros(3, 2, 1), torch.zeros(3, 1), r"codes must be \(B, D\)"),
        (torch.zeros(3, 2), torch.zeros(3, 1, 1), r"factors must be \(B, K\) or \(B,\)"),
        (torch.full((3, 2), torch.nan), torch.zeros(3, 1), "3 of 3 codes are NaN"),
        ([[0.0, 1.0]], torch.zeros(1, 1), "codes must be a tensor, got list"),
        (torch.zeros(3, 5), torch.zeros(3, 3), "codes must have 4 columns as before, got 5"),
        (torch.zeros(3, 4), torch.zeros(3, 2), "factors must have 3 columns as before, got 2"),
    ],
)
def test_wrong_batches_are_refused_and_not_kept(codes: Tensor, factors: Tensor, message: str) -> None:
    metric = CodeScores("mig")
    metric.update(*sample())
    with pytest.raises(InputError, match=message):
        metric.update(codes, factors)
    assert len(metric.codes) == len(metric.factors) == 1


def test_an_unknown_metric_is_refused_before_the_first_batch() -> None:
    with pytest.raises(InputError, match="did you mean 'mig'"):
        CodeScores(["migg"])
    with pytest.raises(InputError, match="psnr"):
        CodeScores(["psnr"])
    with pytest.raises(InputError, match="seed"):
        CodeScores("mig", seed=-1)


def test_nothing_to_compute_is_an_error() -> None:
    with (
        pytest.warns(UserWarning, match="before the ``update`` method"),
        pytest.raises(InputError, match="call update"),
    ):
        CodeScores("mig").compute()


def _worker(rank: int, address: str, out: str) -> None:
    dist.init_process_group("gloo", init_method=address, rank=rank, world_size=2)
    codes, factors = sample()
    metric = CodeScores("mig")
    part = slice(0, 250) if rank == 0 else slice(250, 600)  # unequal parts
    metric.update(codes[part], factors[part])
    Path(out, str(rank)).write_text(repr(metric.compute()["mig"].item()), encoding="utf-8")
    dist.destroy_process_group()


def test_two_processes_score_the_batches_of_both(tmp_path: Path) -> None:
    processes = [
        multiprocessing.get_context("spawn").Process(
            target=_worker, args=(rank, f"file://{tmp_path / 'meeting'}", str(tmp_path))
        )
        for rank in range(2)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    codes, factors = sample()
    expected = unweave.score_codes(codes, factors, metrics="mig").table["mig"]
    assert [float((tmp_path / rank).read_text()) for rank in ("0", "1")] == [expected, expected]


def test_the_example_has_at_most_twenty_lines() -> None:
    assert count_lines(EXAMPLE) <= 20


def test_the_docs_show_the_example() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "elsewhere.md").read_text(encoding="utf-8")
    assert f"```py\n{EXAMPLE.read_text(encoding='utf-8')}```" in page


def test_the_example_runs(capsys: pytest.CaptureFixture[str]) -> None:
    names = runpy.run_path(str(EXAMPLE))
    codes = names["encoder"](names["images"]).detach()
    expected = unweave.score_codes(codes, names["factors"], metrics=["mig", "dci", "modularity"]).table
    shown = dict(line.split() for line in capsys.readouterr().out.strip().splitlines())
    assert {name: float(value) for name, value in shown.items()} == pytest.approx(expected, abs=1e-3)


def test_without_torchmetrics_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchmetrics", None)
    monkeypatch.delitem(sys.modules, "unweave.interop.torchmetrics")
    with pytest.raises(MissingExtra, match=r"pip install -e '\.\[torchmetrics\]'"):
        unweave.interop.CodeScores  # noqa: B018
