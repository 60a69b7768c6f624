"""Encoders of the user's own, with and without a decoder, wherever a run is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import torch
from scipy import sparse
from torch import Tensor, nn

import unweave
from tests.training.small import bars, pictures, trained
from unweave import Run
from unweave.errors import InputError
from unweave.figures import FIGURES
from unweave.streams import stream

IMAGES = pictures()[:6, None]
N = 400
RNG = np.random.default_rng(0)
STAGE = RNG.integers(0, 3, N)
FRAME = pandas.DataFrame(
    {
        "stage": np.array(["egg", "larva", "adult"])[STAGE],
        "age": RNG.gamma(2, 3, N),
        "count": RNG.integers(0, 5, N),
    }
)
VALUES = np.stack([STAGE + RNG.normal(scale=0.1, size=N), np.log(FRAME["age"]), RNG.normal(size=N)], axis=1)


@pytest.fixture(scope="module", params=["beta_vae", "ae", "qlae", "tripod"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return trained(tmp_path_factory.mktemp("store"), request.param, latents=4, steps=30, lr=1e-3)


def test_images_may_be_bytes_or_floats(run: Run) -> None:
    torch.testing.assert_close(run.encode(IMAGES), run.encode(IMAGES.float() / 255))
    torch.testing.assert_close(run(IMAGES), run.encode(IMAGES))
    assert run.reconstruct(IMAGES).shape == IMAGES.shape
    assert 0 <= run.reconstruct(IMAGES).min() <= run.reconstruct(IMAGES).max() <= 1


def test_quantised_codes_are_values_of_the_codebook(run: Run) -> None:
    values = run.model.values
    assert run.discrete == (values is not None)
    if values is not None:
        codes = run.encode(IMAGES)
        assert all(set(codes[:, k].tolist()) <= set(values[k].tolist()) for k in range(4))


def test_the_jacobian_is_what_differences_say(run: Run) -> None:
    codes = run.encode(IMAGES)[:2]
    jacobian = run.jacobian(codes)
    assert jacobian.shape == (2, 4, 1, 16, 16)
    model = run.model.double()
    for latent in range(4):
        step = torch.zeros(4, dtype=torch.float64)
        step[latent] = 1e-6
        with torch.no_grad():
            change = model.decode(codes.double() + step) - model.decode(codes.double() - step)
        torch.testing.assert_close(jacobian[:, latent].double(), change / 2e-6, atol=1e-4, rtol=1e-3)
    model.float()


def test_a_traversal_moves_one_latent_at_a_time(run: Run) -> None:
    code = run.encode(IMAGES)[0]
    grid, values = run.traverse(code, steps=5), run.traversal_values(steps=5)
    assert grid.shape == (4, 5, 1, 16, 16)
    for latent in range(4):
        moved = code.repeat(5, 1)
        moved[:, latent] = values[latent]
        torch.testing.assert_close(grid[latent], run.decode(moved))


def test_any_latent_can_range_over_the_quantiles_of_its_codes(run: Run) -> None:
    values = run.traversal_values(steps=5, over="quantile")
    images = bars().sample(2_048, stream(run.configuration.seed, "summary")).images  # those of the summary
    low, high = np.quantile(run.encode(images).numpy(), [0.01, 0.99], axis=0)
    np.testing.assert_allclose(values[:, 0], low, atol=1e-4)
    np.testing.assert_allclose(values[:, 4], high, atol=1e-4)
    np.testing.assert_allclose(values[:, 2], (low + high) / 2, atol=1e-4)
    assert run.traverse(torch.zeros(4), steps=5, over="quantile").shape == (4, 5, 1, 16, 16)


def test_each_level_of_a_quantised_latent_is_shown_once(run: Run) -> None:
    if run.model.values is not None:
        values = run.traversal_values(steps=50)
        assert values.shape == run.model.values.shape
        assert torch.equal(values, run.model.values)


def test_samples_come_from_the_prior_or_from_the_marginals(run: Run) -> None:
    first, again = (run.sample(7, torch.Generator().manual_seed(1)) for _ in range(2))
    assert first.shape == (7, 1, 16, 16)
    assert torch.equal(first, again)
    assert run.sample(0, torch.Generator()).shape == (0, 1, 16, 16)


def test_wrong_input_is_a_sentence(run: Run) -> None:
    with pytest.raises(InputError, match=r"takes images \(B, 1, 16, 16\), got \(2, 3, 16, 16\)"):
        run.encode(torch.zeros(2, 3, 16, 16))
    with pytest.raises(InputError, match="uint8, or floats"):
        run.encode(torch.zeros(2, 1, 16, 16, dtype=torch.int64))
    with pytest.raises(InputError, match=r"takes codes \(B, 4\), got \(2, 5\)"):
        run.decode(torch.zeros(2, 5))
    with pytest.raises(InputError, match="steps of a traversal"):
        run.traverse(torch.zeros(4), steps=1)
    with pytest.raises(InputError, match=r"must be in \[0, 1\], got 0 to 255"):
        run.encode(IMAGES.float())
    with pytest.raises(InputError, match="must be in"):
        run.encode(torch.full((1, 1, 16, 16), float("nan")))
    with pytest.raises(InputError, match="images must be a tensor, got NoneType"):
        run.encode(None)  # type: ignore[arg-type]
    for span in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(InputError, match="span must be a positive number"):
            run.traverse(torch.zeros(4), span=span)
    with pytest.raises(InputError, match="unknown range 'quantiles'"):
        run.traverse(torch.zeros(4), over="quantiles")  # type: ignore[arg-type]
    if run.model.values is None:
        with pytest.raises(InputError, match="over=levels needs quantised latents"):
            run.traverse(torch.zeros(4), over="levels")
    if not run.has_posterior:
        with pytest.raises(InputError, match="over=prior needs a Gaussian posterior"):
            run.traverse(torch.zeros(4), over="prior")
    assert run.jacobian(torch.zeros(0, 4)).shape == (0, 4, 1, 16, 16)
    if not run.has_posterior:
        with pytest.raises(InputError, match="has no posterior"):
            run.posterior(IMAGES)


def test_standardised_models_decode_to_the_space_of_images(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"standardised": True, "likelihood": "gaussian", "steps": 150, "lr": 2e-3, "batch": 32}
    run = trained(tmp_path, "ae", **settings)
    assert run.state.psnr is not None
    assert run.state.psnr > 18
    assert (run.reconstruct(IMAGES) - IMAGES / 255).abs().mean() < 0.1


def corners(images: Tensor) -> Tensor:
    """Return row and column of the first square, and noise-free brightness."""
    red = images[:, 0]
    return torch.stack([red.amax(2).argmax(1), red.amax(1).argmax(1), images.mean((1, 2, 3))], dim=1).float()


class Linear(nn.Module):
    """An encoder with a decoder: a random projection and its pseudo-inverse."""

    def __init__(self) -> None:
        super().__init__()
        weights = torch.randn(3 * 8 * 8, 4, generator=torch.Generator().manual_seed(0))
        self.weights = nn.Parameter(weights)

    def forward(self, images: Tensor) -> Tensor:
        assert not self.training
        return images.flatten(1) @ self.weights

    def decode(self, codes: Tensor) -> Tensor:
        images: Tensor = (codes @ torch.linalg.pinv(self.weights)).unflatten(1, (3, 8, 8))
        return images


@pytest.fixture(scope="module")
def data() -> unweave.FactorData:
    return unweave.load("xysquares", size=8)


def test_a_callable_with_data_is_a_representation(data: unweave.FactorData) -> None:
    encoder = unweave.Encoder(corners, data)
    assert (encoder.size, encoder.method, encoder.decodes) == (3, "corners", False)
    images = data.sample(5, torch.Generator().manual_seed(0)).images
    torch.testing.assert_close(encoder.encode(images), corners(images.float() / 255))
    found = encoder.follows()
    assert found is not None
    assert {link.factor for link in found.links} == {"x0", "y0"}
    with pytest.raises(InputError, match="corners on XYSquares has no decoder"):
        encoder.decode(torch.zeros(1, 3))


def test_figures_take_it_and_say_what_needs_a_decoder(data: unweave.FactorData) -> None:
    encoder, generator = unweave.Encoder(corners, data, name="mine"), torch.Generator().manual_seed(0)
    drawn = {name for name, figure in FIGURES.items() if figure.source != "table" and not figure.refusal(encoder, data)}
    assert {"mutual_information", "dci_importance", "latent_marginals", "latent_pairs", "distances"} <= drawn
    assert not drawn & {"traversals", "reconstructions", "samples", "jacobian", "curvature", "training_curves"}
    with pytest.raises(InputError, match="traversals needs a decoder: a run, or an encoder with a method decode"):
        FIGURES["traversals"].of_runs([encoder], [data], generator)
    made = FIGURES["latent_marginals"].of_runs([encoder], [data], generator, samples=50)
    assert made.title.startswith("mine on XYSquares: latent marginals")
    assert unweave.figure("mutual_information", corners, data=data) is not None


def test_with_a_decoder_it_is_traversed(data: unweave.FactorData) -> None:
    module = Linear().train()
    encoder = unweave.Encoder(module, data)
    assert encoder.decodes
    images = data.sample(3, torch.Generator().manual_seed(0)).images
    codes = encoder.encode(images)
    assert module.training  # restored
    torch.testing.assert_close(encoder.encode(encoder.decode(codes)).shape, codes.shape)
    low, high = encoder.summary.range
    torch.testing.assert_close(encoder.traversal_values(steps=3)[:, [0, 2]], torch.stack([low, high], 1))
    jacobian = encoder.jacobian(codes[:1])[0]  # (D, C, H, W)
    inverse = torch.linalg.pinv(module.weights.detach()).unflatten(1, (3, 8, 8))
    torch.testing.assert_close(jacobian, inverse, atol=1e-5, rtol=0)
    made = FIGURES["traversals"].of_runs([encoder], [data], torch.Generator().manual_seed(0), steps=3)
    assert len(made.rows) == 4
    module.requires_grad_(False).decode = torch.no_grad()(module.decode)  # type: ignore[method-assign]
    with pytest.raises(InputError, match="the decoder of Linear on XYSquares passes no gradients to its codes"):
        encoder.jacobian(codes[:1])


def test_its_scores_are_those_of_the_callable(data: unweave.FactorData) -> None:
    options: dict[str, Any] = {"metrics": ["mig", "follows"], "samples": 300}
    scores = unweave.score(unweave.Encoder(corners, data), **options)
    assert scores.table == unweave.score(corners, data, **options).table
    assert scores.factors == data.space.names
    assert "→ y0" in str(scores)
    assert "→ y0" in unweave.score(corners, data, **options)["follows"].links[0].__str__()


def test_what_is_no_encoder_is_refused(data: unweave.FactorData) -> None:
    with pytest.raises(InputError, match="an encoder must be callable"):
        unweave.Encoder(np.zeros(3), data)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="an encoder needs data"):
        unweave.Encoder(corners, "xysquares")  # type: ignore[arg-type]


def test_a_report_of_an_encoder_says_what_it_has_separated(data: unweave.FactorData, tmp_path: Path) -> None:
    small = unweave.load(data.rows(torch.arange(0, 4096, 16)), factors=data.space.at(torch.arange(0, 4096, 16))[:, -4:])
    page = unweave.report(corners, tmp_path / "mine.html", data=small).read_text()
    assert "What has it separated?" in page
    assert "corners on" in page


def test_each_column_keeps_its_name_and_kind() -> None:
    scores = unweave.score_codes(VALUES, FRAME, metrics=["follows", "mig", "mcc"])
    assert scores.factors == ("stage", "age", "count")
    assert [link.factor for link in scores["follows"].links] == ["stage", "age"]
    assert scores["follows"].unfollowed == ("count",)
    assert scores.notes["mcc"] == "without stage"
    alone = unweave.metrics.mcc(VALUES, FRAME[["age", "count"]].to_numpy()).score
    assert scores["mcc"].score == alone
    assert "z0 → stage" in str(scores)
    assert "stage" in scores._repr_html_()
    assert unweave.Scores.from_json(scores.to_json()).notes == scores.notes


def test_missing_values_are_named_and_left_out_of_their_factor_only() -> None:
    gaps = FRAME.copy()
    gaps.loc[:49, "stage"] = None
    gaps.loc[30:39, "age"] = np.nan
    with pytest.raises(InputError, match=r"stage has 50, age has 10 of 400 rows, the first in row 1.*missing=\"drop\""):
        unweave.score_codes(VALUES, gaps)
    scores = unweave.score_codes(VALUES, gaps, missing="drop", metrics=["follows", "mcc"])
    expected = unweave.metrics.follows(VALUES[50:], STAGE[50:]).share[:, 0]
    np.testing.assert_allclose(scores["follows"].share[:, 0], expected, atol=0.02)
    assert scores.notes == {
        "mcc": "without stage",
        "rows without a value": "stage 50, age 10 of 400, left out of that factor",
    }
    known = gaps[["age", "count"]].to_numpy()
    assert scores["mcc"].score == unweave.metrics.mcc(VALUES, known).score


def test_codes_are_a_representation() -> None:
    codes = unweave.Codes(VALUES, FRAME, name="mine")
    assert codes.size == 3
    drawn = codes.draw(1000, torch.Generator().manual_seed(0))
    assert len(drawn.codes) == N
    found = codes.follows()
    assert found is not None
    assert found.factors == ("stage", "age", "count")
    assert unweave.score(codes, metrics=["mcc"]).table == unweave.score_codes(VALUES, FRAME, metrics=["mcc"]).table
    with pytest.raises(InputError, match="mine has no encoder"):
        codes.encode(torch.zeros(1, 3, 8, 8))
    with pytest.raises(InputError, match="has factors but no images"):
        codes.data().rows([0])
    with pytest.raises(InputError, match="400 codes and 399 rows of factors"):
        unweave.Codes(VALUES, FRAME[:-1])


def test_figures_of_codes_have_the_names_of_columns(tmp_path: Path) -> None:
    images = RNG.integers(0, 255, (N, 8, 8, 3), dtype=np.uint8)
    codes = unweave.Codes(VALUES, FRAME, images=images, name="mine")
    made = FIGURES["mutual_information"].of_runs([codes], [codes.data()], torch.Generator().manual_seed(0))
    assert made.maps[0].factors == ("stage", "age", "count")
    with pytest.raises(InputError, match="reconstructions needs an encoder, which codes alone do not have"):
        FIGURES["reconstructions"].of_runs([codes], [codes.data()], torch.Generator().manual_seed(0))


def test_sparse_codes_are_a_representation() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 3, (500, 2))
    dense = np.where(factors[:, [0, 0, 1, 1, 1]] == [0, 1, 0, 1, 2], rng.exponential(size=(500, 5)), 0)
    thin, thick = unweave.Codes(sparse.csr_array(dense), factors), unweave.Codes(dense, factors)
    assert (thin.size, len(thin.values)) == (5, 500)
    draws = [codes.draw(100, torch.Generator().manual_seed(0)).codes for codes in (thin, thick)]
    torch.testing.assert_close(*draws, atol=0, rtol=0)
    assert thin.summary.mean == pytest.approx(thick.summary.mean, abs=1e-6)  # fewer rows than are summarised
    found = [codes.follows() for codes in (thin, thick)]
    links = [[str(link) for link in each.links] for each in found if each is not None]
    assert len(links) == 2
    assert links[0] == links[1]


def test_discrete_codes_have_levels() -> None:
    codes = unweave.Codes(np.stack([STAGE, STAGE[::-1]], axis=1), {"stage": FRAME["stage"].to_numpy()}, discrete=True)
    assert codes.levels is not None
    assert codes.levels.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert codes.summary.usage is not None
    np.testing.assert_allclose(codes.summary.usage[0], np.bincount(STAGE) / N)


def test_what_a_latent_follows_is_the_same_on_the_page_and_in_scores() -> None:
    """A column of fractions is continuous in both, also if half of its values are distinct."""
    rng = np.random.default_rng(0)
    age = rng.normal(50, 9, 600).round(1)
    codes = np.stack([age / 10 + 0.2 * rng.normal(size=600), rng.normal(size=600)], axis=1)
    mine = unweave.Codes(codes, {"age": age, "side": rng.choice(["left", "right"], 600)})
    found, scored = mine.follows(), unweave.score(mine, metrics=["follows"])["follows"]
    assert found is not None
    assert found.share[0, 0] == pytest.approx(scored.share[0, 0], abs=0.02)
    assert found.share[0, 0] > 0.3
    assert found.unfollowed == scored.unfollowed == ("side",)
