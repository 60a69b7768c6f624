"""The function of docs/elsewhere.md that passes the log of a run on to TensorBoard, with TensorBoard itself."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import unweave

PAGE = (Path(__file__).parents[2] / "docs" / "elsewhere.md").read_text()


def adapter(tool: str, **names: Any) -> Callable[[int, dict[str, float]], Any]:
    """The function of a tool as the page has it."""
    found = re.search(rf"^\| {tool} \| `(lambda step, values: [^`]+)`", PAGE, re.MULTILINE)
    assert found is not None
    function: Callable[[int, dict[str, float]], Any] = eval(found[1], names)
    return function


def trained(store: Path, log: Callable[[int, dict[str, float]], Any]) -> list[dict[str, float]]:
    data = unweave.load("xysquares", size=8, square=2, grid=3, squares=2, spacing=2)
    settings: dict[str, Any] = {"steps": 4, "batch": 4, "net": "mlp", "log_steps": 2, "snapshots": 2}
    return unweave.train("vae", data, store=store, log=log, **settings).log


def by_name(lines: list[dict[str, float]]) -> dict[str, list[tuple[int, float]]]:
    """The values of the log by name, each with its step."""
    names = dict.fromkeys(name for line in lines for name in line if name not in ("step", "seconds"))
    return {name: [(int(line["step"]), line[name]) for line in lines if name in line] for name in names}


def test_tensorboard_gets_every_value(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    torch_writers: Any = pytest.importorskip("torch.utils.tensorboard")
    writer = torch_writers.SummaryWriter(str(tmp_path / "events"))
    lines = trained(tmp_path / "store", adapter("TensorBoard", writer=writer))
    writer.close()
    events = EventAccumulator(str(tmp_path / "events")).Reload()
    for name, values in by_name(lines).items():
        got = events.Scalars(name)
        assert [event.step for event in got] == [step for step, _ in values]
        assert [event.value for event in got] == pytest.approx([value for _, value in values], rel=1e-6)


@pytest.mark.filterwarnings("ignore")
def test_mlflow_gets_every_value(tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path / 'mlflow.db'}")
    with mlflow.start_run() as active:
        lines = trained(tmp_path / "store", adapter("MLflow", mlflow=mlflow))
    client = mlflow.MlflowClient()
    for name, values in by_name(lines).items():
        got = client.get_metric_history(active.info.run_id, name)
        assert [(entry.step, entry.value) for entry in got] == values


@pytest.mark.filterwarnings("ignore")
def test_weights_and_biases_gets_every_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of an offline run, only the last value of each name can be read back."""
    wandb = pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_SILENT", "true")
    with wandb.init(project="unweave", dir=tmp_path, mode="offline") as active:
        lines = trained(tmp_path / "store", adapter("Weights & Biases", wandb=wandb))
        active.log({}, step=int(lines[-1]["step"]) + 1)  # a step is kept back until the next one
        summary = dict(active.summary)
    for name, values in by_name(lines).items():
        assert summary[name] == values[-1][1]
