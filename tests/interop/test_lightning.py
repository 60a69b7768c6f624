from __future__ import annotations

import runpy
import sys
from pathlib import Path
from typing import Any

import lightning
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader

import unweave
from tests.interop.lines import count_lines
from tests.training.small import bars
from unweave.errors import InputError, MissingExtra
from unweave.interop import ScoreCallback

EXAMPLE = Path(__file__).parents[2] / "examples" / "lightning_callback.py"
pytestmark = pytest.mark.filterwarnings(
    "ignore::lightning.fabric.utilities.warnings.PossibleUserWarning",
    "ignore:.*LeafSpec.*:FutureWarning",  # Lightning uses a name that torch has deprecated
)


class Plain(lightning.LightningModule):
    """A linear autoencoder with dropout; it returns codes when it is called."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(256, 4))
        self.decoder = nn.Linear(4, 256)
        self.modes: list[bool] = []

    def forward(self, images: Tensor) -> Tensor:
        self.modes.append(self.training)
        codes: Tensor = self.encoder(images)
        return codes

    def training_step(self, images: Tensor) -> Tensor:
        reconstructions: Tensor = self.decoder(self.encoder(images))
        return (reconstructions - images.flatten(1)).square().mean()

    def validation_step(self, images: Tensor) -> None:
        self.log("loss", self.training_step(images))

    def test_step(self, images: Tensor) -> None:
        pass

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.SGD(self.parameters(), 0.1)


def loader() -> Any:
    return DataLoader(bars().sample(72, torch.Generator().manual_seed(0)).images / 255, batch_size=24)  # type: ignore[arg-type]


def module() -> Plain:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return Plain()


def fit(callbacks: list[Any], *, epochs: int = 2, validate: bool = False, model: Plain | None = None) -> Any:
    trainer = lightning.Trainer(
        max_epochs=epochs,
        callbacks=callbacks,
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        log_every_n_steps=1,
    )
    with torch.random.fork_rng():
        torch.manual_seed(1)
        trainer.fit(model or module(), loader(), loader() if validate else None)
    return trainer


@pytest.mark.parametrize("validate", [False, True])
def test_logged_scores_are_those_of_score(validate: bool) -> None:
    callback, model = ScoreCallback(bars(), metrics=["mig", "dci"], samples=60, test_samples=12, seed=5), module()
    trainer = fit([callback], validate=validate, model=model)
    expected = unweave.score(model, bars(), metrics=["mig", "dci"], samples=60, test_samples=12, seed=5).table
    logged = {name: float(value) for name, value in trainer.callback_metrics.items() if name.startswith("unweave/")}
    assert logged == pytest.approx({f"unweave/{name}": value for name, value in expected.items()}, abs=1e-6)
    assert callback.scores is not None
    assert callback.scores.table == expected
    assert not any(model.modes)  # dropout was off


def test_training_is_not_affected() -> None:
    without, scored = module(), module()
    fit([], model=without)
    fit([ScoreCallback(bars(), metrics="mig", samples=60)], model=scored)
    for a, b in zip(without.parameters(), scored.parameters(), strict=True):
        assert torch.equal(a, b)


def test_an_encoder_of_the_module_can_be_named() -> None:
    seen = []

    def encode(model: Plain, images: Tensor) -> Tensor:
        seen.append(model.training)
        return images.flatten(1)[:, :100:10]

    callback = ScoreCallback(bars(), encode=encode, metrics="mig", samples=60, prefix="my ")
    trainer = fit([callback], epochs=1)
    expected = unweave.score(lambda images: images.flatten(1)[:, :100:10], bars(), metrics="mig", samples=60).table
    assert float(trainer.callback_metrics["my mig"]) == pytest.approx(expected["mig"], abs=1e-6)
    assert seen
    assert not any(seen)


def test_every_second_epoch() -> None:
    counted = []

    def encode(model: Plain, images: Tensor) -> Tensor:
        counted.append(model.current_epoch)
        return model(images)  # type: ignore[no-any-return]

    callback = ScoreCallback(bars(), encode=encode, metrics="mig", samples=60, every=2)
    fit([callback], epochs=3)
    assert set(counted) == {1}


def test_a_test_is_scored() -> None:
    callback = ScoreCallback(bars(), metrics="mig", samples=60)
    trainer = lightning.Trainer(accelerator="cpu", logger=False, enable_progress_bar=False, callbacks=[callback])
    (logged,) = trainer.test(module(), loader(), verbose=False)
    expected = unweave.score(module(), bars(), metrics="mig", samples=60).table
    assert logged["unweave/mig"] == pytest.approx(expected["mig"], abs=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"metrics": "migg"}, "did you mean 'mig'"),
        ({"encode": 3}, "encode must be a function of the module and images"),
        ({"every": 0}, "every must be a whole number of at least 1"),
    ],
)
def test_wrong_arguments_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ScoreCallback(bars(), **given)


def test_data_must_be_a_data_set() -> None:
    with pytest.raises(InputError, match="data must be a data set"):
        ScoreCallback(torch.zeros(3))  # type: ignore[arg-type]


def test_the_example_has_about_twenty_lines() -> None:
    assert count_lines(EXAMPLE) <= 21  # with docstrings, without empty lines


def test_the_docs_show_the_example() -> None:
    page = (EXAMPLE.parents[1] / "docs" / "elsewhere.md").read_text(encoding="utf-8")
    assert f"```py\n{EXAMPLE.read_text(encoding='utf-8')}```" in page


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = runpy.run_path(str(EXAMPLE))
    logged = names["trainer"].callback_metrics
    encoder = nn.Sequential(nn.Flatten(), names["trainer"].model.encoder)
    expected = unweave.score(encoder, names["data"], metrics=["mig", "dci"], samples=2_000).table
    assert {name.removeprefix("unweave/"): float(value) for name, value in logged.items()} == pytest.approx(
        expected, abs=1e-6
    )


def test_without_lightning_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "lightning.pytorch", None)
    monkeypatch.delitem(sys.modules, "unweave.interop.lightning")
    with pytest.raises(MissingExtra, match=r"pip install -e '\.\[lightning\]'"):
        unweave.interop.ScoreCallback  # noqa: B018
